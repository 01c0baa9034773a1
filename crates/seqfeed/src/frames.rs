//! Frames out of a corpus whose streams have lengths of their own.

use std::ops::Range;
use std::sync::Arc;

use seqfeed_core::{
    About, Block, Element, Error, Extent, Index, Key, Kind, Most, Remark, Result, Source, Stream,
};

/// A source all of whose streams have one sample for each frame; a sequence where that is not so is
/// an error when it is loaded. One-hot vectors may become labels.
pub(crate) struct FrameSource {
    source: Arc<dyn Source>,
    streams: Vec<Stream>,
    /// The sparse stream that becomes one of labels.
    one_hot: Option<usize>,
}

impl FrameSource {
    /// `labels` names the stream of labels that is asked for. If there are no labels at all, the
    /// sparse stream of that name (or the only one) becomes one.
    pub(crate) fn new(source: Arc<dyn Source>, labels: Option<&str>) -> Result<Self> {
        let mut streams = source.streams().to_vec();
        let mut one_hot = None;
        if let Some(labels) = labels
            && streams.iter().all(|stream| stream.kind != Kind::Label)
        {
            let sparse: Vec<usize> =
                (0..streams.len()).filter(|&n| streams[n].kind == Kind::Sparse).collect();
            let named = sparse.iter().copied().find(|&n| streams[n].name == labels);
            let only = if let [only] = sparse[..] { Some(only) } else { None };
            one_hot = named.or(only);
        }
        for (number, stream) in streams.iter_mut().enumerate() {
            if stream.extent == Extent::Own {
                stream.extent = Extent::Samples;
            }
            if one_hot == Some(number) {
                (stream.kind, stream.element, stream.dim) = (Kind::Label, Element::I32, 1);
            }
        }
        Ok(Self { source, streams, one_hot })
    }

    fn check(&self, stream: &Stream, sequence: u32, found: usize) -> Result<()> {
        let expected = self.source.index().samples(sequence) as usize;
        if stream.extent != Extent::Samples || found == expected {
            return Ok(());
        }
        Err(Error::corpus(format!(
            "stream {} has {found} samples, but the sequence has {expected} frames",
            stream.name
        ))
        .in_file(self.source.name())
        .of_key(self.source.index().key(sequence))
        .with_help("frames can be dealt out where all streams have a sample for each of them"))
    }
}

/// Adds the labels of a sequence of one-hot vectors.
fn push_labels(from: &Block, place: usize, key: Key<'_>, to: &mut Block) -> Result<()> {
    let samples = from.sparse_samples(place);
    let size = from.element().size();
    let labels = to.push_i32(samples.len());
    for (row, label) in labels.iter_mut().enumerate() {
        let values = samples.values_in(row..row + 1);
        let bytes = &samples.values[values.start * size..values.end * size];
        let one = match from.element() {
            Element::F32 => bytes == 1f32.to_ne_bytes(),
            Element::F64 => bytes == 1f64.to_ne_bytes(),
            _ => bytes == 1i32.to_ne_bytes(),
        };
        if values.len() != 1 || !one {
            return Err(Error::corpus(format!("sample {row} is no label: it is not one-hot"))
                .of_key(key)
                .with_help("labels of sparse streams have one value in each sample, 1"));
        }
        *label = samples.indices[values.start];
    }
    Ok(())
}

impl seqfeed_core::Wrapper for FrameSource {
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
        let mut loaded = self.source.new_blocks();
        // Blocks that are the same in both are filled in place.
        for (number, (inner, out)) in loaded.iter_mut().zip(blocks.iter_mut()).enumerate() {
            if self.one_hot != Some(number) {
                std::mem::swap(inner, out);
            }
        }
        let already =
            blocks.first().map_or(0, Block::len).max(loaded.first().map_or(0, Block::len));
        let result = self.source.load(sequences, &mut loaded);
        for (number, (inner, out)) in loaded.iter_mut().zip(blocks.iter_mut()).enumerate() {
            if self.one_hot != Some(number) {
                std::mem::swap(inner, out);
            }
        }
        result?;
        for (number, stream) in self.streams.iter().enumerate() {
            for (place, &sequence) in sequences.iter().enumerate() {
                if self.one_hot == Some(number) {
                    let key = self.source.index().key(sequence);
                    push_labels(&loaded[number], place, key, &mut blocks[number])?;
                }
                self.check(stream, sequence, blocks[number].sequence_len(already + place))?;
            }
        }
        Ok(())
    }

    fn load_stream(&self, stream: usize, sequences: &[u32], block: &mut Block) -> Result<()> {
        let already = block.len();
        if self.one_hot == Some(stream) {
            let mut one_hot = Block::of(&self.source.streams()[stream]);
            self.source.load_stream(stream, sequences, &mut one_hot)?;
            for (place, &sequence) in sequences.iter().enumerate() {
                push_labels(&one_hot, place, self.source.index().key(sequence), block)?;
            }
        } else {
            self.source.load_stream(stream, sequences, block)?;
        }
        let mut loaded = sequences.iter().enumerate();
        loaded.try_for_each(|(place, &sequence)| {
            self.check(&self.streams[stream], sequence, block.sequence_len(already + place))
        })
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
        self.source.held_bytes()
    }

    fn most(&self, stream: usize, sequences: Range<u32>) -> Most {
        let most = self.source.most(stream, sequences);
        match self.one_hot == Some(stream) {
            true => Most { samples: most.samples, values: most.samples },
            false => most,
        }
    }

    fn most_of_one(&self, stream: usize) -> Most {
        let most = self.source.most_of_one(stream);
        match self.one_hot == Some(stream) {
            true => Most { samples: most.samples, values: most.samples },
            false => most,
        }
    }

    fn is_held(&self, stream: usize) -> bool {
        self.one_hot == Some(stream) || self.source.is_held(stream)
    }

    fn kept_bytes(&self) -> u64 {
        self.source.kept_bytes()
    }

    fn loading_bytes(&self) -> u64 {
        // One-hot vectors are loaded before they become labels.
        let one_hot = self.one_hot.map_or(0, |number| {
            let index = self.source.index();
            let chunks = (0..index.chunk_count()).map(|chunk| index.chunk(chunk));
            let stream = &self.source.streams()[number];
            let bytes = chunks.map(|chunk| self.source.most(number, chunk).block_bytes(stream));
            bytes.max().unwrap_or(0)
        });
        one_hot.saturating_add(self.source.loading_bytes())
    }
}
