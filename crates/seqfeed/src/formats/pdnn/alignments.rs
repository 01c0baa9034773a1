//! Writes labels as PDNN's alignments: a line for each utterance.

use std::io::Write;

use seqfeed_core::{Block, Error, Key, Kind, Result, Sink, Stream, Written, numbers};
use seqfeed_io::{CompressedOutput, Opener, WxFilename};

use crate::formats::{finished, one_stream};

/// Writes the labels of each sequence as a line behind its key.
pub(crate) struct AlignmentSink {
    output: CompressedOutput,
    labels: usize,
    line: Vec<u8>,
}

impl AlignmentSink {
    pub(crate) fn create(name: &WxFilename, streams: &[Stream], opener: &Opener) -> Result<Self> {
        let Some(labels) = one_stream(streams, "labels", |kind| kind == Kind::Label)? else {
            return Err(Error::usage("there is no stream of labels to be written as alignments"));
        };
        let output = CompressedOutput::create(name, opener)?;
        Ok(Self { output, labels, line: Vec::new() })
    }
}

impl Sink for AlignmentSink {
    fn write(&mut self, key: Key<'_>, blocks: &[Block], number: usize) -> Result<()> {
        let Self { output, line, .. } = self;
        if key.0.is_empty() || key.0.iter().any(u8::is_ascii_whitespace) {
            let help = "names of utterances have no blanks";
            return Err(Error::corpus("alignments cannot say this key")
                .of_key(key)
                .with_help(help));
        }
        line.clear();
        line.extend_from_slice(key.0);
        for label in &*numbers::<i32>(blocks[self.labels].samples(number).bytes()) {
            line.push(b' ');
            seqfeed_core::number_text::write_integer(line, *label);
        }
        line.push(b'\n');
        output.write_all(line).map_err(|error| output.error(error))
    }

    fn finish(self: Box<Self>) -> Result<Written> {
        finished(self.output.into_output()?)
    }
}
