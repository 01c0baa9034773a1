//! Lines of script files.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

use seqfeed_core::{Error, Key, Problem, Result};

use crate::SCRIPT;
use crate::object_reader::is_space;
use crate::range::{Range, split_range, trim};

/// A line of a script file: key, rxfilename, and an optional range.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScriptLine<'a> {
    /// The key.
    pub key: Key<'a>,
    /// The name of the object, without the range.
    pub rxfilename: &'a OsStr,
    /// The part of the object.
    pub range: Option<Range>,
    /// Name and range as in the line.
    pub(crate) rest: &'a [u8],
}

impl<'a> ScriptLine<'a> {
    /// Parses a line, with or without its end (`\n` or `\r\n`).
    ///
    /// # Errors
    ///
    /// Fails if the line is blank, has no second field, or has an invalid range.
    pub fn parse(line: &'a [u8]) -> Result<Self> {
        let (key, rest) = Self::split(line)?;
        let unexpected = |expected: &'static str| {
            let found = trim(line).to_vec();
            Error::format(SCRIPT, Problem::Unexpected { expected: expected.into(), found })
        };
        let one_range = || unexpected("a name with one range in brackets behind it");
        let (rxfilename, range) = split_range(rest).ok_or_else(one_range)?;
        let range = match range.map(std::str::from_utf8) {
            None => None,
            Some(Ok(range)) => Some(Range::parse(range)?),
            Some(Err(_)) => return Err(one_range()),
        };
        Ok(Self { key, rxfilename: OsStr::from_bytes(rxfilename), range, rest })
    }

    /// The key and the rest of the line.
    pub(crate) fn split(line: &'a [u8]) -> Result<(Key<'a>, &'a [u8])> {
        let line = trim(line);
        let end = line.iter().position(|&byte| is_space(byte)).unwrap_or(line.len());
        let (key, rest) = line.split_at(end);
        let unexpected = |expected: &'static str| {
            let found = line.to_vec();
            Error::format(SCRIPT, Problem::Unexpected { expected: expected.into(), found })
        };
        if line.contains(&0) {
            return Err(unexpected("a line of text, not binary data")
                .with_help("is this an archive? open it with `ark:` instead of `scp:`"));
        }
        let rest = trim(rest);
        if rest.is_empty() {
            return Err(unexpected("a key and a name (key, space, rxfilename)"));
        }
        Ok((Key(key), rest))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_lines() {
        let line = ScriptLine::parse(b" utt1 \t my file.ark:12[0:3] \r\n").unwrap();
        assert_eq!((line.key, line.rxfilename), (Key(b"utt1"), "my file.ark:12".as_ref()));
        assert_eq!(line.range.unwrap().rows, Some((0, 3)));
        let line = ScriptLine::parse(b"u sox a.wav -t wav - |").unwrap();
        assert_eq!((line.rxfilename, line.range), ("sox a.wav -t wav - |".as_ref(), None));
        for bad in
            [&b""[..], b"  ", b"key", b"key ", b"k x[1:2", b"k x[]", b"k [1:2]", b"k x[1:2][3:4]"]
        {
            let parsed = ScriptLine::parse(bad);
            let fine = parsed.as_ref().is_ok_and(|line| line.rxfilename == "x[1:2");
            assert!(fine || parsed.is_err(), "{}", bad.escape_ascii());
        }
    }
}
