//! Extended names: `logical=physical[first,last]`.

use seqfeed_core::{Error, Problem, Result};

use super::entry::{Segment, Spans};
use super::{FORMAT, unexpected};

/// A literal name, where `=` and brackets have no meaning.
pub(super) fn plain(start: usize, name: &[u8], line: u32) -> Spans {
    let len = name.len() as u32;
    Spans {
        start: start as u32,
        logical_len: len,
        physical: 0,
        physical_len: len,
        segment: None,
        line,
    }
}

/// Finds the parts of an extended name at `start` of the script.
///
/// The first `=` splits it. A range is the last bracket, at the end of the name, so names may
/// contain commas and brackets. (HTK takes the first of each, wherever it is.)
pub(super) fn extended(start: usize, name: &[u8], line: u32) -> Result<Spans> {
    let mut spans = plain(start, name, line);
    if let [.., b']'] = name {
        let Some(bracket) = memchr::memrchr(b'[', name) else {
            return Err(unexpected(line, "a `[` before the `]`", name));
        };
        spans.segment = segment(&name[bracket + 1..name.len() - 1], line)?;
        spans.logical_len = bracket as u32;
        spans.physical_len = bracket as u32;
    } else if let Some(bracket) = memchr::memrchr(b'[', name) {
        check_no_range(&name[bracket..], line)?;
    }
    let rest = &name[..spans.logical_len as usize];
    if let Some(equals) = memchr::memchr(b'=', rest) {
        spans.logical_len = equals as u32;
        spans.physical = equals as u32 + 1;
        spans.physical_len -= equals as u32 + 1;
    }
    if spans.logical_len == 0 || spans.physical_len == 0 {
        return Err(unexpected(line, "a name (file, or logical=file[first,last])", name));
    }
    Ok(spans)
}

/// Parses `first,last`. As in HTK, a `last` below 0 is the end of the file, and a `first` below 0
/// means the whole file.
fn segment(range: &[u8], line: u32) -> Result<Option<Segment>> {
    let split = memchr::memchr(b',', range).map(|comma| (&range[..comma], &range[comma + 1..]));
    let Some((first, last)) = split else {
        return Err(unexpected(line, "a range [first,last]", range));
    };
    let (first, last) = (number(first, line)?, number(last, line)?);
    if first < 0 {
        return Ok(None);
    }
    let end = (last >= 0).then_some(last as u32);
    Segment::new(first as u32, end).map(Some).ok_or_else(|| {
        let allowed = format!("{first} or more: both ends are included").into();
        let what = "the last frame";
        Error::format(FORMAT, Problem::OutOfRange { what, found: last, allowed })
            .at_line(line.into())
    })
}

/// Parses a number of a range. In CNTK's scripts blanks may stand around it.
fn number(text: &[u8], line: u32) -> Result<i64> {
    let text = text.trim_ascii();
    let (negative, digits) = match text {
        [b'-', digits @ ..] => (true, digits),
        [b'+', digits @ ..] => (false, digits),
        digits => (false, digits),
    };
    let mut value = 0_i64;
    for &digit in digits {
        // Far beyond any plausible number, but the number would not fit.
        if !digit.is_ascii_digit() || value >= i64::from(i32::MAX) {
            value = i64::MAX;
            break;
        }
        value = value * 10 + i64::from(digit - b'0');
    }
    if digits.is_empty() || value > i64::from(i32::MAX) {
        let found = text[..text.len().min(33)].to_vec();
        let what = "a frame number";
        return Err(
            Error::format(FORMAT, Problem::InvalidNumber { what, found }).at_line(line.into())
        );
    }
    Ok(if negative { -value } else { value })
}

/// Fails if a bracket does not end its name but looks like a range. HTK takes it for one, and drops
/// the text after it.
fn check_no_range(bracket: &[u8], line: u32) -> Result<()> {
    let Some(end) = memchr::memchr(b']', bracket) else {
        return Err(unexpected(line, "a `]` behind the range, in the same word", bracket)
            .with_help("ranges are written without blanks: file[first,last]"));
    };
    if memchr::memchr(b',', &bracket[..end]).is_some() {
        return Err(unexpected(line, "the end of the name behind the range", &bracket[end + 1..]));
    }
    Ok(())
}
