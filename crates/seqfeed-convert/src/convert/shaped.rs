//! A corpus as it shall be written: some of its streams, some with other types.

use std::ops::Range;
use std::sync::Arc;

use seqfeed_core::{
    About, Block, Element, Error, Extent, Index, Key, Kind, Most, Remark, Result, Source, Stream,
};

use seqfeed::Change;

/// Some streams of a source, changed.
pub(crate) struct Shaped<'a> {
    source: &'a dyn Source,
    /// The numbers of the streams, and what becomes of them.
    picks: Vec<(usize, Change)>,
    streams: Vec<Stream>,
}

impl<'a> Shaped<'a> {
    pub(crate) fn new(source: &'a dyn Source, picks: Vec<(usize, Change)>) -> Self {
        let shape = |&(stream, change): &(usize, Change)| {
            let stream = source.streams()[stream].clone();
            match change {
                Change::None => stream,
                Change::Narrow => Stream { element: Element::F32, ..stream },
                Change::Widen => Stream { element: Element::F64, ..stream },
                Change::Classes => {
                    Stream { kind: Kind::Label, element: Element::I32, dim: 1, ..stream }
                }
            }
        };
        let streams = picks.iter().map(shape).collect();
        Self { source, picks, streams }
    }
}

impl seqfeed_core::Wrapper for Shaped<'_> {
    fn name(&self) -> &str {
        self.source.name()
    }

    fn streams(&self) -> &[Stream] {
        &self.streams
    }

    fn index(&self) -> &Arc<Index> {
        self.source.index()
    }

    fn load(&self, sequences: &[u32], blocks: &mut [Block]) -> Result<()> {
        let unchanged = |pick: usize| self.picks[pick].1 == Change::None;
        // One of several streams can be loaded without the others.
        if let ([(stream, Change::None)], [block]) = (&self.picks[..], &mut *blocks) {
            return self.source.load_stream(*stream, sequences, block);
        }
        let mut whole = self.source.new_blocks();
        let swap = |whole: &mut [Block], blocks: &mut [Block]| {
            for (pick, block) in blocks.iter_mut().enumerate().filter(|(pick, _)| unchanged(*pick))
            {
                std::mem::swap(&mut whole[self.picks[pick].0], block);
            }
        };
        swap(&mut whole, blocks);
        let loaded = match self.picks[..] {
            [(stream, _)] => self.source.load_stream(stream, sequences, &mut whole[stream]),
            _ => self.source.load(sequences, &mut whole),
        };
        swap(&mut whole, blocks);
        loaded?;
        for ((&(stream, change), block), shaped) in self.picks.iter().zip(blocks).zip(&self.streams)
        {
            for (number, &sequence) in sequences.iter().enumerate() {
                let key = self.source.index().key(sequence);
                push(change, &whole[stream], number, block, shaped, key)?;
            }
        }
        Ok(())
    }

    fn load_stream(&self, stream: usize, sequences: &[u32], block: &mut Block) -> Result<()> {
        let (number, change) = self.picks[stream];
        if change == Change::None {
            return self.source.load_stream(number, sequences, block);
        }
        let mut from = Block::of(&self.source.streams()[number]);
        self.source.load_stream(number, sequences, &mut from)?;
        for (place, &sequence) in sequences.iter().enumerate() {
            let key = self.source.index().key(sequence);
            push(change, &from, place, block, &self.streams[stream], key)?;
        }
        Ok(())
    }

    fn about(&self) -> About {
        self.source.about()
    }

    fn examine(&self) -> Result<Vec<Remark>> {
        self.source.examine()
    }

    fn fault(&self, sequence: u32) -> Option<Error> {
        self.source.fault(sequence)
    }

    fn files(&self) -> Vec<u32> {
        self.source.files()
    }

    fn held_bytes(&self) -> u64 {
        // What is changed is loaded as it is first.
        let samples = self.streams.iter().filter(|stream| stream.extent != Extent::Sequence);
        let shaped: u64 = samples.map(|stream| stream.sample_bytes() as u64).sum();
        shaped + self.source.held_bytes()
    }

    fn most(&self, stream: usize, sequences: Range<u32>) -> Most {
        // What becomes a label is one value of one.
        self.source.most(self.picks[stream].0, sequences)
    }

    fn most_of_one(&self, stream: usize) -> Most {
        self.source.most_of_one(self.picks[stream].0)
    }

    fn is_held(&self, stream: usize) -> bool {
        let (number, change) = self.picks[stream];
        change != Change::None || self.source.is_held(number)
    }

    fn kept_bytes(&self) -> u64 {
        self.source.kept_bytes()
    }

    fn loading_bytes(&self) -> u64 {
        // All streams of what is loaded together, before some are picked and changed.
        let index = self.source.index();
        let chunks = (0..index.chunk_count()).map(|chunk| index.chunk(chunk));
        let bytes = |chunk: Range<u32>| -> u64 {
            let streams = self.source.streams().iter().enumerate();
            let bytes = streams.map(|(n, s)| self.source.most(n, chunk.clone()).block_bytes(s));
            bytes.fold(0, u64::saturating_add)
        };
        chunks.map(bytes).max().unwrap_or(0).saturating_add(self.source.loading_bytes())
    }
}

/// Adds a sequence of one block to another, changed.
fn push(
    change: Change,
    from: &Block,
    number: usize,
    to: &mut Block,
    stream: &Stream,
    key: Key<'_>,
) -> Result<()> {
    match change {
        Change::None => {}
        Change::Classes => {
            let samples = from.sparse_samples(number);
            let ones = samples.values.chunks_exact(from.element().size());
            let is_one = |value: &[u8]| match from.element() {
                Element::F64 => value == 1f64.to_ne_bytes(),
                Element::F32 => value == 1f32.to_ne_bytes(),
                Element::I32 => value == 1i32.to_ne_bytes(),
                _ => false,
            };
            let single =
                (0..samples.len()).all(|sample| samples.values_in(sample..sample + 1).len() == 1);
            if !single || !ones.into_iter().all(is_one) {
                let what = format!(
                    "a sample of the sparse stream {} has not one value that is 1, so it is no label",
                    stream.name
                );
                let help = "write a format that holds sparse streams (CTF, or posteriors of Kaldi)";
                return Err(Error::corpus(what).of_key(key).with_help(help));
            }
            to.push_i32(samples.len()).copy_from_slice(samples.indices);
        }
        Change::Narrow | Change::Widen => {
            if from.is_sparse() {
                let samples = from.sparse_samples(number);
                let count = samples.indices.len();
                let mut values = vec![0; count * to.element().size()];
                floats(change, samples.values, &mut values);
                let ends = (1..=samples.len()).map(|end| samples.values_in(0..end).end as u32);
                to.push_sparse(&values, samples.indices, &ends.collect::<Vec<u32>>());
            } else {
                let samples = from.samples(number);
                floats(change, samples.bytes(), to.push_bytes(samples.len()));
            }
        }
    }
    Ok(())
}

fn floats(change: Change, from: &[u8], to: &mut [u8]) {
    if change == Change::Narrow {
        for (from, to) in from.as_chunks::<8>().0.iter().zip(to.as_chunks_mut::<4>().0) {
            *to = (f64::from_ne_bytes(*from) as f32).to_ne_bytes();
        }
    } else {
        for (from, to) in from.as_chunks::<4>().0.iter().zip(to.as_chunks_mut::<8>().0) {
            *to = f64::from(f32::from_ne_bytes(*from)).to_ne_bytes();
        }
    }
}
