//! PFiles for the feed.

use std::ffi::OsStr;
use std::ops::Range;
use std::sync::Arc;

use seqfeed_core::{
    About, Block, Element, Error, Extent, Index, IndexBuilder, Key, Kind, Result, Source, Stream,
};
use seqfeed_io::Opener;

use super::PFile;
use super::decode::columns;
use super::reader::Window;

/// A PFile as a source. Sentences are sequences; their keys are their decimal numbers from 0.
///
/// Streams are `features` (if there are any), then `labels`, or `labels0`, `labels1`, ... if a
/// frame has several.
///
/// ```
/// use seqfeed_core::Source;
/// use seqfeed_io::{Opener, WxFilename};
/// use seqfeed_pdnn::pfile::{PFileLayout, PFileSource, PFileWriter};
/// # let directory = tempfile::tempdir().unwrap();
/// # let path = directory.path().join("train.pfile");
///
/// let layout = PFileLayout { features: 2, labels: 1 };
/// let name = WxFilename::from(path.clone());
/// let mut writer = PFileWriter::create(&name, layout, &Opener::default())?;
/// writer.write_sentence(&[0.5, 1.5, 2.5, 3.5], &[7, 8])?;
/// writer.finish()?;
///
/// let source = PFileSource::open(&path.display().to_string(), &Opener::default())?;
/// let mut blocks = source.new_blocks();
/// source.load(&[0], &mut blocks)?;
/// assert_eq!(blocks[0].samples(0).row(1), [2.5f32, 3.5].map(f32::to_ne_bytes).as_flattened());
/// assert_eq!(blocks[1].samples(0).row(1), 8i32.to_ne_bytes());
/// # Ok::<(), seqfeed_core::Error>(())
/// ```
#[derive(Debug)]
pub struct PFileSource {
    file: PFile,
    streams: Vec<Stream>,
    index: Arc<Index>,
}

/// Samples in a chunk, as in a corpus.
const CHUNK_SAMPLES: u64 = 32_768;

impl PFileSource {
    /// Opens a PFile by any name that can be read.
    ///
    /// # Errors
    ///
    /// As [`PFile::open`]. Also if frames have neither features nor labels.
    pub fn open(name: &(impl AsRef<OsStr> + ?Sized), opener: &Opener) -> Result<Self> {
        Self::new(PFile::open(name, opener)?)
    }

    /// A source of an open PFile.
    ///
    /// # Errors
    ///
    /// Fails if frames have neither features nor labels, or if a sentence has 2^32 frames or more.
    pub fn new(file: PFile) -> Result<Self> {
        let header = file.header();
        let stream = |name: String, kind, element, dim| Stream {
            name,
            kind,
            element,
            dim,
            extent: Extent::Samples,
        };
        let mut streams = Vec::new();
        if header.features > 0 {
            streams.push(stream("features".to_owned(), Kind::Dense, Element::F32, header.features));
        }
        for label in 0..header.labels {
            let name =
                if header.labels == 1 { "labels".to_owned() } else { format!("labels{label}") };
            streams.push(stream(name, Kind::Label, Element::I32, 1));
        }
        if streams.is_empty() {
            return Err(
                Error::corpus("the PFile has neither features nor labels").in_file(file.name())
            );
        }
        let mut builder = IndexBuilder::new(CHUNK_SAMPLES);
        for sentence in 0..file.sentences() {
            let frames = file.sentence(sentence);
            let Ok(samples) = u32::try_from(frames.end - frames.start) else {
                let message = format!("sentence {sentence} has 2^32 frames or more");
                return Err(Error::corpus(message).in_file(file.name()));
            };
            if sentence >= u32::MAX as usize - 1 {
                return Err(
                    Error::corpus("the PFile has 2^32 sentences or more").in_file(file.name())
                );
            }
            builder.push(Key(sentence.to_string().as_bytes()), samples);
        }
        let index = Arc::new(builder.finish());
        Ok(Self { file, streams, index })
    }

    /// The file.
    #[must_use]
    pub fn file(&self) -> &PFile {
        &self.file
    }

    /// Loads `sequences` in order. `each` gets a sentence, and the frame up to which further
    /// sentences follow it.
    fn in_runs(
        &self,
        sequences: &[u32],
        mut each: impl FnMut(u32, u64) -> Result<()>,
    ) -> Result<()> {
        for run in sequences.chunk_by(|a, b| a.checked_add(1) == Some(*b)) {
            let ahead = run.last().map_or(0, |&last| self.file.sentence(last as usize).end);
            run.iter().try_for_each(|&sentence| each(sentence, ahead))?;
        }
        Ok(())
    }

    /// The bytes of a frame for each stream.
    fn places(&self) -> Vec<Range<usize>> {
        let header = self.file.header();
        let with_features = (header.features > 0).then(|| header.feature_bytes());
        let labels = header.label_bytes().step_by(4).map(|start| start..start + 4);
        with_features.into_iter().chain(labels).collect()
    }

    /// Loads a sentence; frames up to `ahead` will be loaded next.
    fn load_sentence(
        &self,
        sentence: u32,
        ahead: u64,
        window: &mut Window,
        places: &[Range<usize>],
        blocks: &mut [Block],
    ) -> Result<()> {
        let header = self.file.header();
        let samples = self.index.samples(sentence) as usize;
        let fill = |block| bytemuck::cast_slice_mut::<u8, u32>(Block::push_bytes(block, samples));
        let mut values: Vec<&mut [u32]> = blocks.iter_mut().map(fill).collect();
        self.file.pieces(sentence as usize, ahead, window, |done, piece| {
            for (values, place) in values.iter_mut().zip(places) {
                let from = done * place.len() / 4;
                columns(piece, header.frame_bytes(), place.clone(), &mut values[from..]);
            }
        })
    }
}

impl Source for PFileSource {
    fn name(&self) -> &str {
        self.file.name()
    }

    fn streams(&self) -> &[Stream] {
        &self.streams
    }

    fn index(&self) -> &Arc<Index> {
        &self.index
    }

    fn about(&self) -> About {
        let first = self.file.first_number();
        let warning = (first > 0)
            .then(|| format!("{}: sentences are counted from {first}", self.file.name()));
        About {
            format: "PFile".to_owned(),
            warnings: warning.into_iter().collect(),
            spooled_bytes: self.file.spooled_bytes(),
            ..About::default()
        }
    }

    fn load(&self, sequences: &[u32], blocks: &mut [Block]) -> Result<()> {
        let samples = sequences.iter().map(|&sequence| self.index.samples(sequence) as usize).sum();
        blocks.iter_mut().for_each(|block| block.reserve(samples));
        let (mut window, places) = (Window::default(), self.places());
        self.in_runs(sequences, |sentence, ahead| {
            self.load_sentence(sentence, ahead, &mut window, &places, blocks)
        })
    }

    fn load_stream(&self, stream: usize, sequences: &[u32], block: &mut Block) -> Result<()> {
        let samples = sequences.iter().map(|&sequence| self.index.samples(sequence) as usize).sum();
        block.reserve(samples);
        let (mut window, places) = (Window::default(), self.places());
        let (places, blocks) = (&places[stream..=stream], std::slice::from_mut(block));
        self.in_runs(sequences, |sentence, ahead| {
            self.load_sentence(sentence, ahead, &mut window, places, blocks)
        })
    }

    fn loading_bytes(&self) -> u64 {
        self.file.piece_bytes()
    }
}
