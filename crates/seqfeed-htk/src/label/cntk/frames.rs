//! The classes of an utterance's frames.

use seqfeed_core::{Error, ErrorKind, Problem, Result};

use super::Utterance;
use super::times::{Times, read_times};
use crate::label::MLF_FORMAT;
use crate::state_list::StateList;

/// The default for the longest utterance, in frames: 46 hours. A short line can claim more frames
/// than fit in memory.
pub const MAX_FRAMES: u32 = 1 << 24;

/// Gives the classes of utterances.
#[derive(Clone, Copy, Debug)]
pub struct FrameParser<'a> {
    /// The list with the classes of the names in the third column. A name is looked up as written
    /// and, if that fails, without quotes around it. Without a list, lines have four columns, and
    /// the fourth is the class.
    pub states: Option<&'a StateList>,
    /// The number of classes.
    pub dim: u32,
    /// The longest utterance, in frames.
    pub max_frames: u32,
}

/// Without a list, CNTK's classes are 16-bit numbers.
const MAX_CLASS: u32 = 65_535;

impl<'a> FrameParser<'a> {
    /// A parser for `dim` classes with the names of a list.
    #[must_use]
    pub fn new(states: Option<&'a StateList>, dim: u32) -> Self {
        Self { states, dim, max_frames: MAX_FRAMES }
    }

    /// Appends the class of each frame of an utterance. `bytes` are those that the index gives. To
    /// `values`, if given, it appends the values of CNTK's `phoneBoundaries`: 2 in the first frame
    /// of each line, else 1.
    ///
    /// # Errors
    ///
    /// Fails if a line does not start where the one before ended, or the first one not at 0; if a
    /// line ends before its start, does not have three or four columns, or has an unknown state; if
    /// a class is not below `dim`; if the number of frames differs from the index, or is too large.
    /// The error has key, file and line. Nothing is appended then.
    pub fn parse(
        &self,
        utterance: &Utterance<'_>,
        bytes: &[u8],
        classes: &mut Vec<i32>,
        values: Option<&mut Vec<f32>>,
    ) -> Result<()> {
        let had = classes.len();
        if utterance.frames > self.max_frames {
            let (wanted, limit) = (utterance.frames.into(), self.max_frames.into());
            let kind = ErrorKind::Limit { what: "frames of an utterance", wanted, limit };
            return Err(place(Error::new(kind), utterance, utterance.line));
        }
        let mut starts = values.is_some().then(Vec::new);
        let result = self.lines(utterance, bytes, classes, starts.as_mut());
        if let Err((problem, at)) = result {
            classes.truncate(had);
            let line = utterance.line + memchr::memchr_iter(b'\n', &bytes[..at]).count() as u64;
            return Err(place(problem, utterance, line));
        }
        if let (Some(values), Some(starts)) = (values, starts) {
            let first = values.len();
            values.resize(first + classes.len() - had, 1.0);
            for start in starts {
                if let Some(value) = values.get_mut(first + start as usize) {
                    *value = 2.0;
                }
            }
        }
        Ok(())
    }

    /// Reads the lines. An error comes with the offset of its line.
    fn lines(
        &self,
        utterance: &Utterance<'_>,
        bytes: &[u8],
        classes: &mut Vec<i32>,
        mut starts: Option<&mut Vec<u32>>,
    ) -> Result<(), (Error, usize)> {
        let mut at = next_line(bytes, 0).1;
        let mut frames = 0;
        loop {
            let (line, behind) = next_line(bytes, at);
            if behind == at || line == b"." {
                break;
            }
            if !line.is_empty() {
                let (end, class) =
                    self.line(line, frames, utterance.frames).map_err(|e| (e, at))?;
                if let Some(starts) = starts.as_deref_mut()
                    && end > frames
                {
                    starts.push(frames);
                }
                classes.extend(std::iter::repeat_n(class, (end - frames) as usize));
                frames = end;
            }
            at = behind;
        }
        if frames == utterance.frames {
            return Ok(());
        }
        let (expected, found) = (utterance.frames.into(), frames.into());
        let problem = Problem::CountMismatch { what: "frames of the utterance", expected, found };
        Err((
            Error::format(MLF_FORMAT, problem)
                .with_help("has the file changed since it was indexed?"),
            0,
        ))
    }

    /// The end and the class of a line, which must begin at `frames`.
    #[inline]
    fn line(&self, line: &[u8], frames: u32, most: u32) -> Result<(u32, i32)> {
        let Times { start, end, rest } = read_times(line).map_err(|problem| {
            Error::format(MLF_FORMAT, problem)
                .with_help("a line is `start end name`, with single blanks between them")
        })?;
        if end < start || start != i64::from(frames) || end > i64::from(most) {
            return Err(misplaced(start, end, frames, most));
        }
        let class = self.class(rest.unwrap_or_default(), line)?;
        Ok((end as u32, class as i32))
    }

    #[inline]
    fn class(&self, rest: &[u8], line: &[u8]) -> Result<u32> {
        let class = if let Some(states) = self.states {
            let name = &rest[..memchr::memchr(b' ', rest).unwrap_or(rest.len())];
            states.get(name).or_else(|| states.get(in_quotes(rest)?)).ok_or_else(|| {
                let expected = "the name of a state".into();
                let problem = Problem::Unexpected { expected, found: excerpt(name) };
                Error::format(MLF_FORMAT, problem).with_help("the list of states does not have it")
            })?
        } else {
            class_column(rest, line)?
        };
        if class < self.dim {
            return Ok(class);
        }
        let allowed = format!("a class below {}, the dimension of the labels", self.dim).into();
        let problem = Problem::OutOfRange { what: "the class", found: class.into(), allowed };
        Err(Error::format(MLF_FORMAT, problem))
    }
}

/// The line at a position, and the start of the next one. Lines end with `\n` or `\r`.
#[inline]
fn next_line(bytes: &[u8], at: usize) -> (&[u8], usize) {
    let rest = &bytes[at..];
    match memchr::memchr2(b'\n', b'\r', rest) {
        Some(len) => (&rest[..len], at + len + 1),
        None => (rest, bytes.len()),
    }
}

/// The name in quotes at the beginning of a text. HTK quotes names with blanks, or that look like
/// numbers. CNTK looks them up with their quotes, and does not find them.
#[cold]
fn in_quotes(rest: &[u8]) -> Option<&[u8]> {
    let (&quote, name) = rest.split_first()?;
    let end = memchr::memchr(quote, name).filter(|_| matches!(quote, b'"' | b'\''))?;
    // After the quote the line ends, or another column begins.
    matches!(name.get(end + 1), None | Some(b' ')).then_some(&name[..end])
}

/// The class in the last of four columns.
fn class_column(rest: &[u8], line: &[u8]) -> Result<u32> {
    let mut columns = rest.split(|&byte| byte == b' ');
    let (Some(_), Some(class), None) = (columns.next(), columns.next(), columns.next()) else {
        let expected = "four columns: start, end, name and class".into();
        let problem = Problem::Unexpected { expected, found: excerpt(line) };
        return Err(Error::format(MLF_FORMAT, problem)
            .with_help("a list of states (labelMappingFile) gives classes to names"));
    };
    match seqfeed_core::number_text::parse_integer::<i64>(class) {
        Some((value, len)) if len == class.len() => {
            u32::try_from(value).ok().filter(|&value| value <= MAX_CLASS).ok_or_else(|| {
                let allowed = "0 to 65535".into();
                let problem = Problem::OutOfRange { what: "the class", found: value, allowed };
                Error::format(MLF_FORMAT, problem)
            })
        }
        _ => {
            let problem = Problem::InvalidNumber { what: "the class", found: excerpt(class) };
            Err(Error::format(MLF_FORMAT, problem))
        }
    }
}

/// An error for times that do not continue the previous line.
#[cold]
fn misplaced(start: i64, end: i64, frames: u32, most: u32) -> Error {
    let (what, found, allowed) = if start != i64::from(frames) {
        let wanted = format!("{frames}, where the line before ends").into();
        (
            "the first frame",
            start,
            if frames == 0 { "0, where an utterance starts".into() } else { wanted },
        )
    } else if end < start {
        ("the end", end, format!("at least the start, frame {start}").into())
    } else {
        ("the end", end, format!("at most {most}, where the utterance ends").into())
    };
    Error::format(MLF_FORMAT, Problem::OutOfRange { what, found, allowed })
        .with_help("times less than 10 ms apart are taken for frame numbers")
}

fn place(error: Error, utterance: &Utterance<'_>, line: u64) -> Error {
    error.in_file(utterance.file).at_line(line).of_key(utterance.key)
}

fn excerpt(bytes: &[u8]) -> Vec<u8> {
    bytes.iter().take(40).copied().collect()
}
