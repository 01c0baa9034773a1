//! The lines of a script file, one after another.

use std::ffi::OsStr;

use seqfeed_core::{Error, Key, Problem, Result};

use crate::object_reader::ObjectReader;
use crate::tables::options::ReadOptions;
use crate::{SCRIPT, ScriptLine};

/// The lines of a script file, read on demand.
pub(crate) struct ScriptLines {
    reader: Option<ObjectReader>,
    name: String,
    line: Vec<u8>,
    number: u64,
}

impl ScriptLines {
    pub(crate) fn open(rxfilename: &OsStr, options: &ReadOptions) -> Result<Self> {
        let mut reader = options.open(&options.opener.rxfilename(rxfilename)?)?;
        let name = reader.name().to_owned();
        if reader.peek()? == Some(0) {
            let problem = Problem::Unsupported("this is binary data, not lines of text".into());
            return Err(Error::format(SCRIPT, problem)
                .in_file(name)
                .at_byte(0)
                .with_help("is this an archive? open it with `ark:` instead of `scp:`"));
        }
        Ok(Self { reader: Some(reader), name, line: Vec::new(), number: 0 })
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// The next line, checked; `None` at the end.
    pub(crate) fn next(&mut self) -> Result<Option<ScriptLine<'_>>> {
        self.next_by(ScriptLine::parse)
    }

    /// The line that was read last.
    pub(crate) fn current(&self) -> Result<ScriptLine<'_>> {
        ScriptLine::parse(&self.line)
    }

    /// The key and the name of the next line. A part in brackets is not taken as a range.
    pub(crate) fn next_pair(&mut self) -> Result<Option<(Key<'_>, &[u8])>> {
        self.next_by(ScriptLine::split)
    }

    fn next_by<'a, L>(&'a mut self, parse: fn(&'a [u8]) -> Result<L>) -> Result<Option<L>> {
        let Some(reader) = &mut self.reader else { return Ok(None) };
        let number = self.number + 1;
        let any = reader
            .read_script_line(&mut self.line)
            .map_err(|error| error.in_file(self.name.as_str()).at_line(number))?;
        if !any {
            // A command that wrote the lines may have failed before it was done.
            return self.reader.take().map_or(Ok(()), ObjectReader::finish).map(|()| None);
        }
        self.number = number;
        parse(&self.line)
            .map(Some)
            .map_err(|error| error.in_file(self.name.as_str()).at_line(number))
            .map_err(|error| error.with_help("correct the line, or take it out"))
    }
}
