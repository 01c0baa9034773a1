//! Row and column ranges of script files: `[10:19]`, `[10:19,0:12]`.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

use seqfeed_core::{Error, Problem, Result};

use crate::SCRIPT;
use crate::object_reader::is_space;

/// The number of rows (or elements) that a range may reach beyond the end, as in Kaldi. They are
/// left out.
const TOLERANCE: u64 = 3;

/// First and last row or column, both included; `None` means all.
pub type Span = Option<(u32, u32)>;

/// A range of rows and columns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Range {
    /// Rows of a matrix, elements of a vector.
    pub rows: Span,
    /// Columns of a matrix.
    pub cols: Span,
}

impl Range {
    /// The name in the error for a range of rows that begins behind the end, but ends near enough
    /// to pass Kaldi's own check.
    pub const FIRST_ROW: &'static str = "first row of the range";

    /// Parses the text between the brackets: `rows` or `rows,cols`. Each is `a:b` (inclusive), `:`
    /// (all), or empty (all; Kaldi's documentation allows this, its programs refuse it).
    ///
    /// # Errors
    ///
    /// Fails if it has another form.
    pub fn parse(text: &str) -> Result<Self> {
        let mut parts = text.split(',');
        let (rows, cols) = (parts.next().unwrap_or_default(), parts.next());
        if text.is_empty() || cols == Some("") || parts.next().is_some() {
            return Err(bad(text));
        }
        let span = |part: &str| -> Result<Span> {
            if part.is_empty() || part == ":" {
                return Ok(None);
            }
            let (first, last) = part.split_once(':').ok_or_else(|| bad(text))?;
            let number = |text: &str| text.trim_start().parse::<u32>().ok();
            match (number(first), number(last)) {
                (Some(first), Some(last)) if first <= last => Ok(Some((first, last))),
                _ => Err(bad(text)),
            }
        };
        Ok(Self { rows: span(rows)?, cols: cols.map_or(Ok(None), span)? })
    }

    /// Splits a name from the range in brackets behind it, if there is one.
    ///
    /// ```
    /// use seqfeed_kaldi::Range;
    ///
    /// let (name, range) = Range::split_name("feats.ark:119[0:4]".as_ref())?;
    /// assert_eq!((name, range.unwrap().rows), ("feats.ark:119".as_ref(), Some((0, 4))));
    /// # Ok::<(), seqfeed_core::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Fails if a name ends with a bracket, but has no range.
    pub fn split_name(name: &OsStr) -> Result<(&OsStr, Option<Self>)> {
        let unexpected = || {
            let expected = "a name with one range in brackets behind it".into();
            Error::format(SCRIPT, Problem::Unexpected { expected, found: name.as_bytes().to_vec() })
        };
        let (alone, range) =
            split_range(name.as_bytes().trim_ascii_end()).ok_or_else(unexpected)?;
        let range = match range.map(std::str::from_utf8) {
            None => return Ok((name, None)),
            Some(Ok(range)) => Self::parse(range)?,
            Some(Err(_)) => return Err(unexpected()),
        };
        Ok((OsStr::from_bytes(alone), Some(range)))
    }

    /// The rows for an object with `rows` rows: the first one and their number.
    ///
    /// # Errors
    ///
    /// Fails if the range begins beyond the end, or ends more than 3 rows beyond it.
    pub fn rows_of(&self, rows: u32) -> Result<(u32, u32)> {
        clip(self.rows, rows, TOLERANCE, [Self::FIRST_ROW, "last row of the range"])
    }

    /// The columns for an object with `cols` columns: the first one and their number.
    ///
    /// # Errors
    ///
    /// Fails if the range does not lie inside.
    pub fn cols_of(&self, cols: u32) -> Result<(u32, u32)> {
        clip(self.cols, cols, 0, ["first column of the range", "last column of the range"])
    }
}

/// A name and the text in the brackets behind it, if there are any. `None` if the brackets are
/// wrong.
pub(crate) fn split_range(name: &[u8]) -> Option<(&[u8], Option<&[u8]>)> {
    let Some(inner) = name.strip_suffix(b"]") else { return Some((name, None)) };
    let open = inner.iter().position(|&byte| byte == b'[').filter(|&open| open > 0)?;
    let (name, range) = (&inner[..open], &inner[open + 1..]);
    (!range.contains(&b'[')).then(|| (trim(name), Some(range)))
}

/// Removes white space, by C's definition, from both ends.
pub(crate) fn trim(mut text: &[u8]) -> &[u8] {
    while let [first, rest @ ..] = text
        && is_space(*first)
    {
        text = rest;
    }
    while let [rest @ .., last] = text
        && is_space(*last)
    {
        text = rest;
    }
    text
}

fn clip(span: Span, size: u32, tolerance: u64, names: [&'static str; 2]) -> Result<(u32, u32)> {
    let Some((first, last)) = span else { return Ok((0, size)) };
    let beyond = |what, found: u32| {
        let allowed = format!("less than the {size} that the object has").into();
        Err(Error::format(SCRIPT, Problem::OutOfRange { what, found: found.into(), allowed }))
    };
    match () {
        () if u64::from(last) >= u64::from(size) + tolerance => beyond(names[1], last),
        () if first >= size => beyond(names[0], first),
        () => Ok((first, last.min(size - 1) - first + 1)),
    }
}

fn bad(text: &str) -> Error {
    let expected = "a range such as 0:9, 0:9,0:12 or :,0:12".into();
    Error::format(SCRIPT, Problem::Unexpected { expected, found: text.as_bytes().to_vec() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_ranges() {
        let cases = [
            ("0:9", Some((0, 9)), None),
            (":,2:3", None, Some((2, 3))),
            (",89:100", None, Some((89, 100))),
            ("1:1,:", Some((1, 1)), None),
            (" 1: 2", Some((1, 2)), None),
        ];
        for (text, rows, cols) in cases {
            assert_eq!(Range::parse(text).unwrap(), Range { rows, cols }, "{text}");
        }
        for text in ["", "3", "0:1,", ",", "a:b", "3:", ":3", "4:3", "0:1,0:1,0:1", "-1:2", "1:2 "]
        {
            assert!(Range::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn clips_three_rows_as_kaldi() {
        let range = |last| Range { rows: Some((5, last)), cols: None };
        assert_eq!(range(9).rows_of(10).unwrap(), (5, 5));
        assert_eq!(range(12).rows_of(10).unwrap(), (5, 5));
        assert!(range(13).rows_of(10).is_err());
        assert!(range(6).rows_of(5).is_err());
        let cols = Range { rows: None, cols: Some((0, 3)) };
        assert!(cols.cols_of(4).is_ok() && cols.cols_of(3).is_err());
    }
}
