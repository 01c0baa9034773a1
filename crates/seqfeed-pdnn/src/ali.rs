//! Alignments: a line for each utterance, with its name and a label for each frame.
//!
//! ```text
//! utt01 0 51 51 51 48 48 7
//! ```

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::ffi::OsStr;
use std::io::BufRead;
use std::mem::take;
use std::sync::Arc;

use seqfeed_core::{
    About, Block, Element, Error, Extent, Index, IndexBuilder, JoinReport, Key, Kind, Problem,
    Remark, Result, Severity, Source, Stream,
};
use seqfeed_io::{Input, Opener, too_long};

/// The name of the format in messages.
const ALIGNMENT: &str = "alignment";

/// Samples in a chunk.
const CHUNK_SAMPLES: u64 = 32_768;

/// Alignments as a source of labels, all in memory: 4 bytes a label.
///
/// Of several lines with one name the last counts, at the position of the first.
#[derive(Debug)]
pub struct AlignmentSource {
    name: String,
    streams: Vec<Stream>,
    index: Arc<Index>,
    labels: Vec<i32>,
    /// The start of each utterance's labels.
    starts: Vec<usize>,
    /// Repeated names.
    report: JoinReport,
}

impl AlignmentSource {
    /// Reads alignments by any name that can be read, compressed or not, as a stream with the name
    /// `stream`. Lines may have any length; names and labels have the [limit](Opener::line_limit).
    ///
    /// # Errors
    ///
    /// Fails if the file cannot be read, or at a word that is not a label. That error has the line.
    pub fn open(
        name: &(impl AsRef<OsStr> + ?Sized),
        stream: &str,
        opener: &Opener,
    ) -> Result<Self> {
        let name = opener.rxfilename(name)?;
        let mut input = Input::open(&name, opener)?;
        let name = &name.to_string();
        let limit = input.line_limit();
        let (mut reading, mut line, mut word) = (Reading::default(), 1, Vec::new());
        loop {
            let bytes = match input.fill_buf() {
                Ok(bytes) => bytes,
                Err(error) => return Err(input.error(error)),
            };
            let place = |error: Error| error.in_file(name).at_line(line);
            let at_end = bytes.is_empty();
            let end = bytes.iter().position(u8::is_ascii_whitespace);
            let part = &bytes[..end.unwrap_or(bytes.len())];
            if word.len() + part.len() > limit {
                let found = word.len() + part.len();
                return Err(place(too_long("bytes of a word", found, limit)));
            }
            word.extend_from_slice(part);
            if end.is_some() || at_end {
                reading.word(&word).map_err(place)?;
                word.clear();
            }
            let ends_line = end.is_some_and(|end| bytes[end] == b'\n');
            if ends_line || at_end {
                reading.end_line().map_err(place)?;
            }
            if at_end {
                break;
            }
            line += u64::from(ends_line);
            let taken = part.len() + usize::from(end.is_some());
            input.consume(taken);
        }
        input.finish()?;
        let mut builder = IndexBuilder::new(CHUNK_SAMPLES);
        for (key, range) in &reading.lines {
            builder.push(Key(key), (range.end - range.start) as u32);
        }
        let stream = Stream {
            name: stream.to_owned(),
            kind: Kind::Label,
            element: Element::I32,
            dim: 1,
            extent: Extent::Samples,
        };
        Ok(Self {
            name: name.to_owned(),
            streams: vec![stream],
            index: Arc::new(builder.finish()),
            labels: reading.labels,
            starts: reading.lines.iter().map(|(_, range)| range.start).collect(),
            report: reading.report,
        })
    }
}

#[derive(Default)]
struct Reading {
    /// The name of the current utterance, and the start of its labels.
    key: Option<(Vec<u8>, usize)>,
    labels: Vec<i32>,
    lines: Vec<(Vec<u8>, std::ops::Range<usize>)>,
    numbers: HashMap<Vec<u8>, usize>,
    report: JoinReport,
}

impl Reading {
    /// A word of a line: the name, or a label. Between two blanks it is empty.
    fn word(&mut self, word: &[u8]) -> Result<()> {
        if word.is_empty() {
            return Ok(());
        }
        let Some((key, _)) = &self.key else {
            self.key = Some((word.to_vec(), self.labels.len()));
            return Ok(());
        };
        let label = integer(word).ok_or_else(|| {
            let found = word[..word.len().min(32)].to_vec();
            Error::format(ALIGNMENT, Problem::InvalidNumber { what: "a label", found })
                .of_key(Key(key))
                .with_help("labels are integers of 32 bits")
        })?;
        self.labels.push(label);
        Ok(())
    }

    fn end_line(&mut self) -> Result<()> {
        let Some((key, start)) = take(&mut self.key) else { return Ok(()) };
        let range = start..self.labels.len();
        if range.len() >= u32::MAX as usize || self.lines.len() >= u32::MAX as usize - 1 {
            let problem = Problem::Unsupported("2^32 labels or lines, or more".into());
            return Err(Error::format(ALIGNMENT, problem));
        }
        match self.numbers.entry(key) {
            Entry::Vacant(free) => {
                self.lines.push((free.key().clone(), range));
                free.insert(self.lines.len() - 1);
            }
            Entry::Occupied(taken) => {
                self.lines[*taken.get()].1 = range;
                self.report.add("alignments given again", Key(taken.key()).to_string());
            }
        }
        Ok(())
    }
}

/// A decimal integer of 32 bits.
fn integer(word: &[u8]) -> Option<i32> {
    std::str::from_utf8(word).ok()?.parse().ok()
}

impl Source for AlignmentSource {
    fn name(&self) -> &str {
        &self.name
    }

    fn streams(&self) -> &[Stream] {
        &self.streams
    }

    fn index(&self) -> &Arc<Index> {
        &self.index
    }

    fn about(&self) -> About {
        About { format: "alignments".to_owned(), report: self.report.clone(), ..About::default() }
    }

    fn examine(&self) -> Result<Vec<Remark>> {
        let remark = |group| Remark {
            severity: Severity::Error,
            kind: "unreadable",
            error: Error::corpus(format!("left out: {group}")),
        };
        Ok(self.report.dropped.iter().map(remark).collect())
    }

    fn load(&self, sequences: &[u32], blocks: &mut [Block]) -> Result<()> {
        for &sequence in sequences {
            let (start, samples) =
                (self.starts[sequence as usize], self.index.samples(sequence) as usize);
            blocks[0].push_i32(samples).copy_from_slice(&self.labels[start..start + samples]);
        }
        Ok(())
    }

    fn kept_bytes(&self) -> u64 {
        (self.labels.capacity() * size_of::<i32>()) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open(text: &str) -> Result<AlignmentSource> {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("x.ali");
        std::fs::write(&path, text).unwrap();
        AlignmentSource::open(&path.display().to_string(), "labels", &Opener::default())
    }

    #[test]
    fn the_last_line_of_a_name_counts() {
        let source = open("a 1 2 3\n\n  b\t-4\r\na 5 6\nc").unwrap();
        let mut blocks = source.new_blocks();
        source.load(&[1, 0, 2], &mut blocks).unwrap();
        assert_eq!(blocks[0].samples(0).bytes(), (-4i32).to_ne_bytes());
        assert_eq!(blocks[0].samples(1).row(1), 6i32.to_ne_bytes());
        assert_eq!((source.index().len(), blocks[0].samples(2).len()), (3, 0));
        assert_eq!(source.about().report.dropped[0].to_string(), "1 alignments given again: a");
    }

    #[test]
    fn says_where_something_else_stands() {
        for (text, line) in [("a 1\nb 1 2.5 3\n", ":2"), ("a one", ":1"), ("a 3000000000", ":1")] {
            let error = open(text).unwrap_err();
            assert!(error.place().to_string().contains(line), "{error}");
            assert!(error.place().key.is_some());
        }
    }
}
