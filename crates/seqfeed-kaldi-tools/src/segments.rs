//! Lines of segments files: `segment recording start end [channel]`.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

use seqfeed_io::name_to_text;

use crate::call::{Call, Stop};
use crate::number::{integer, real};
use crate::reading::{Lines, fields};

/// A part of a recording.
pub(crate) struct Segment {
    /// The line, for messages.
    pub(crate) line: String,
    pub(crate) key: Vec<u8>,
    pub(crate) recording: Vec<u8>,
    /// In seconds.
    pub(crate) start: f64,
    /// In seconds. -1 may mean the end of the recording.
    pub(crate) end: f64,
    pub(crate) channel: Option<usize>,
}

/// The segments in a file. Invalid lines are skipped with a warning.
pub(crate) struct Segments {
    lines: Lines,
    /// The place of Kaldi's warnings about lines.
    place: &'static str,
    /// Whether an end of -1 means the end of the recording.
    open_end: bool,
    /// The number of lines read.
    pub(crate) count: u64,
}

impl Segments {
    pub(crate) fn open(
        call: &Call<'_>,
        name: &str,
        place: &'static str,
        open_end: bool,
    ) -> Result<Self, Stop> {
        Ok(Self { lines: call.lines(name)?, place, open_end, count: 0 })
    }

    pub(crate) fn next(&mut self, call: &mut Call<'_>) -> Result<Option<Segment>, Stop> {
        while let Some(line) = self.lines.next()? {
            self.count += 1;
            match parse(line, self.open_end) {
                Ok(segment) => return Ok(Some(segment)),
                Err(what) => {
                    let line = name_to_text(OsStr::from_bytes(line));
                    let message = format!("Invalid line in segments file{what}: {line}");
                    call.warn(self.place, message);
                }
            }
        }
        Ok(None)
    }
}

fn parse(line: &[u8], open_end: bool) -> Result<Segment, &'static str> {
    let words = fields(line);
    let (&[key, recording, start, end], channel) = match words.split_first_chunk() {
        Some((four, rest)) if rest.len() <= 1 => (four, rest.first()),
        _ => return Err(""),
    };
    let text = |word| std::str::from_utf8(word).ok();
    let start = text(start).and_then(real).ok_or(" [bad start]")?;
    let end = text(end).and_then(real).ok_or(" [bad end]")?;
    let whole = open_end && end == -1.0;
    // Written in this way to refuse NaN too.
    if !(start >= 0.0 && (whole || (end > 0.0 && start < end))) {
        return Err(" [empty or invalid segment]");
    }
    let channel = match channel {
        None => None,
        Some(word) => {
            let number = text(word).and_then(integer).and_then(|number| number.try_into().ok());
            Some(number.ok_or(" [bad channel]")?)
        }
    };
    Ok(Segment {
        line: name_to_text(OsStr::from_bytes(line)),
        key: key.to_vec(),
        recording: recording.to_vec(),
        start,
        end,
        channel,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines() {
        let Ok(segment) = parse(b"s1 rec\t0.5 2 1\r", false) else { panic!("no segment") };
        assert_eq!((segment.start, segment.end, segment.channel), (0.5, 2.0, Some(1)));
        assert!(parse(b"s1 rec 0.5 -1", true).is_ok());
        for (bad, what) in [
            (&b""[..], ""),
            (b"s1 rec 0", ""),
            (b"s1 rec 0 1 0 0", ""),
            (b"s1 rec x 1", " [bad start]"),
            (b"s1 rec 0 1s", " [bad end]"),
            (b"s1 rec 2 1", " [empty or invalid segment]"),
            (b"s1 rec -1 1", " [empty or invalid segment]"),
            (b"s1 rec 0 nan", " [empty or invalid segment]"),
            (b"s1 rec 0.5 -1", " [empty or invalid segment]"),
            (b"s1 rec 0 1 -1", " [bad channel]"),
        ] {
            assert_eq!(parse(bad, false).err(), Some(what));
        }
    }
}
