//! The lengths of objects that a file states, so that their headers need not be read.

use std::ffi::OsStr;

use hashbrown::HashMap;
use seqfeed_core::{Error, Key, Result};
use seqfeed_io::Opener;

use crate::object_reader::ObjectReader;
use crate::script::ScriptLine;

/// A file with a key and a number of rows in each line: Kaldi's `utt2num_frames`, or the
/// `feats_shape` of other toolkits (`KEY ROWS,COLUMNS`).
///
/// It is read in step with a script file. Only if the two have another order, the rest of it is
/// kept in memory.
pub(crate) struct Lengths {
    lines: ObjectReader,
    line: Vec<u8>,
    number: u64,
    rest: Option<HashMap<Vec<u8>, u32>>,
}

impl Lengths {
    pub(crate) fn open(name: &OsStr, opener: &Opener) -> Result<Self> {
        let lines = ObjectReader::open(&opener.rxfilename(name)?, opener)?;
        Ok(Self { lines, line: Vec::new(), number: 0, rest: None })
    }

    /// The number of rows of an object; `None` if the file does not state it.
    pub(crate) fn of(&mut self, key: Key<'_>) -> Result<Option<u32>> {
        if let Some(rest) = &self.rest {
            return Ok(rest.get(key.0).copied());
        }
        let mut rest = HashMap::new();
        while let Some((found, rows)) = self.next()? {
            if found == key && rest.is_empty() {
                return Ok(Some(rows));
            }
            rest.insert(found.0.to_vec(), rows);
        }
        let rows = rest.get(key.0).copied();
        self.rest = Some(rest);
        Ok(rows)
    }

    fn next(&mut self) -> Result<Option<(Key<'_>, u32)>> {
        self.number += 1;
        let (file, number) = (self.lines.name().to_owned(), self.number);
        let place = |error: Error| error.in_line_of(file.as_str(), number);
        if !self.lines.read_script_line(&mut self.line).map_err(place)? {
            return Ok(None);
        }
        let wrong = |line: &[u8]| {
            let found = Key(&line[..line.len().min(40)]);
            let what = format!("expected a key and its number of frames, found `{found}`");
            Error::corpus(what)
                .with_help("a file of lengths is made by `feat-to-len ... ark,t:FILE`")
        };
        let (key, rest) = ScriptLine::split(&self.line).map_err(|_| place(wrong(&self.line)))?;
        let digits = rest.split(|&byte| byte == b',').next().unwrap_or(rest);
        let rows = std::str::from_utf8(digits).ok().and_then(|digits| digits.parse().ok());
        match rows {
            Some(rows) => Ok(Some((key, rows))),
            None => Err(place(wrong(&self.line))),
        }
    }
}
