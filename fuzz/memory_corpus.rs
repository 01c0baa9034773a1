//! A corpus whose values say which sample they are.

use std::sync::Arc;

use seqfeed_core::{
    Block, Element, Extent, Index, IndexBuilder, Key, Kind, Result, Source, Stream,
};

/// Labels of one sequence and of the next differ by so much.
pub const STEP: i32 = 1 << 10;

/// Features of dim 2 (`[sequence, sample]`), labels (`sequence * STEP + sample`), one label a
/// sequence; and, where asked for, a stream with a length of its own.
pub struct MemoryCorpus {
    streams: Vec<Stream>,
    index: Arc<Index>,
}

impl MemoryCorpus {
    /// Sequences of these lengths, below [`STEP`], in chunks of so many samples.
    pub fn new(lengths: &[u32], chunk_samples: u64, own: bool) -> Arc<Self> {
        let mut builder = IndexBuilder::new(chunk_samples);
        for (number, &length) in lengths.iter().enumerate() {
            builder.push(Key(format!("utt{number:03}").as_bytes()), length);
        }
        let stream = |name: &str, kind, element, dim, extent| Stream {
            name: name.to_owned(),
            kind,
            element,
            dim,
            extent,
        };
        let mut streams = vec![
            stream("features", Kind::Dense, Element::F32, 2, Extent::Samples),
            stream("labels", Kind::Label, Element::I32, 1, Extent::Samples),
            stream("speaker", Kind::Label, Element::I32, 1, Extent::Sequence),
        ];
        if own {
            streams.push(stream("words", Kind::Label, Element::I32, 1, Extent::Own));
        }
        Arc::new(Self { streams, index: Arc::new(builder.finish()) })
    }

    /// Samples in all.
    pub fn samples(&self) -> u64 {
        self.index.total_samples()
    }
}

impl Source for MemoryCorpus {
    fn name(&self) -> &str {
        "memory"
    }

    fn streams(&self) -> &[Stream] {
        &self.streams
    }

    fn index(&self) -> &Arc<Index> {
        &self.index
    }

    fn load(&self, sequences: &[u32], blocks: &mut [Block]) -> Result<()> {
        for &sequence in sequences {
            let samples = self.index.samples(sequence) as usize;
            for (t, row) in blocks[0].push_f32(samples).chunks_exact_mut(2).enumerate() {
                row.copy_from_slice(&[sequence as f32, t as f32]);
            }
            for (t, label) in blocks[1].push_i32(samples).iter_mut().enumerate() {
                *label = sequence as i32 * STEP + t as i32;
            }
            blocks[2].push_i32(1)[0] = sequence as i32;
            if let Some(words) = blocks.get_mut(3) {
                words.push_i32(sequence as usize % 4).fill(sequence as i32);
            }
        }
        Ok(())
    }
}
