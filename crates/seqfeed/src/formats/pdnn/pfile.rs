//! Writes a corpus as a PFile.

use std::borrow::Cow;

use seqfeed_core::{Block, Error, Key, Kind, Result, Sink, Stream, Written, numbers};
use seqfeed_io::{Opener, WxFilename, name_to_text};
use seqfeed_pdnn::pfile::{PFileLayout, PFileWriter};

use crate::formats::one_stream;

/// Writes a PFile: one stream of 32-bit floats, and all streams of labels side by side.
pub(crate) struct PFileSink {
    name: String,
    writer: PFileWriter,
    features: Option<usize>,
    labels: Vec<usize>,
    /// Labels of several streams, frame by frame.
    together: Vec<i32>,
}

impl PFileSink {
    pub(crate) fn create(name: &WxFilename, streams: &[Stream], opener: &Opener) -> Result<Self> {
        let features = one_stream(streams, "floats", |kind| kind == Kind::Dense)?;
        let labels: Vec<usize> =
            (0..streams.len()).filter(|&number| streams[number].kind == Kind::Label).collect();
        let layout = PFileLayout {
            features: features.map_or(0, |number| streams[number].dim),
            labels: labels.len(),
        };
        let writer = PFileWriter::create(name, layout, opener)?;
        let name = name_to_text(name.name());
        Ok(Self { name, writer, features, labels, together: Vec::new() })
    }
}

impl Sink for PFileSink {
    fn write(&mut self, key: Key<'_>, blocks: &[Block], number: usize) -> Result<()> {
        let Self { writer, features, labels, together, .. } = self;
        let features = features.map(|stream| numbers(blocks[stream].samples(number).bytes()));
        let labels = match labels[..] {
            [] => Cow::Borrowed(&[][..]),
            [one] => numbers::<i32>(blocks[one].samples(number).bytes()),
            _ => {
                let frames = blocks[labels[0]].sequence_len(number);
                together.clear();
                together.resize(frames * labels.len(), 0);
                for (column, &stream) in labels.iter().enumerate() {
                    let values = numbers::<i32>(blocks[stream].samples(number).bytes());
                    if values.len() != frames {
                        let what = format!("{} labels beside {frames}", values.len());
                        return Err(Error::corpus(what).of_key(key));
                    }
                    let cells = together[column..].iter_mut().step_by(labels.len());
                    cells.zip(&*values).for_each(|(cell, &value)| *cell = value);
                }
                Cow::Borrowed(&together[..])
            }
        };
        let features = features.unwrap_or_default();
        writer.write_sentence(&features, &labels).map_err(|error| error.of_key(key))
    }

    fn finish(self: Box<Self>) -> Result<Written> {
        let bytes = self.writer.finish()?;
        Ok(Written { files: vec![self.name], bytes })
    }
}
