//! One entry of a script.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::ops::Range;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use memchr::memmem;

use super::{PathRule, Script, Style};

/// The position of an entry in its script. Parts are offsets from its start.
#[derive(Clone, Copy, Debug)]
pub(super) struct Spans {
    pub(super) start: u32,
    pub(super) logical_len: u32,
    pub(super) physical: u32,
    pub(super) physical_len: u32,
    pub(super) segment: Option<Segment>,
    pub(super) line: u32,
}

/// A range of frames of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    first: u32,
    /// The last frame plus one, so that a range may be empty; [`u32::MAX`] means the end of the
    /// file.
    end: u32,
}

impl Segment {
    /// Frames `first` to `last`, both included; up to the end of the file if `last` is `None`.
    ///
    /// For an empty range, `last` is the frame before `first`. `None` if it is less, or too large.
    #[must_use]
    pub fn new(first: u32, last: Option<u32>) -> Option<Self> {
        let end = match last {
            None => u32::MAX,
            Some(last) => last.checked_add(1).filter(|&end| end < u32::MAX && end >= first)?,
        };
        Some(Self { first, end })
    }

    /// The first frame, from 0.
    #[must_use]
    pub fn first(self) -> u32 {
        self.first
    }

    /// The frame after the last, or `None` for the end of the file.
    #[must_use]
    pub fn end(self) -> Option<u32> {
        (self.end < u32::MAX).then_some(self.end)
    }

    /// Number of frames, if the script gives it.
    #[must_use]
    pub fn len(self) -> Option<u32> {
        self.end().map(|end| end - self.first)
    }

    /// Whether the script gives an empty range.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.len() == Some(0)
    }

    /// The frames in a file with `of` frames, or `None` if they reach beyond it.
    ///
    /// Only frames that can be read count. HTK compares with the header, which has 4 more for
    /// compressed files.
    #[must_use]
    pub fn frames(self, of: u64) -> Option<Range<u64>> {
        let range = self.first.into()..self.end().map_or(of, u64::from);
        (range.start <= range.end && range.end <= of).then_some(range)
    }
}

/// One entry of a script: the name of a sequence, a file, and an optional range of frames.
///
/// Names are bytes, as in file systems. Backslashes stay.
#[derive(Clone, Copy, Debug)]
pub struct Entry<'a> {
    pub(super) script: &'a Script,
    pub(super) spans: Spans,
}

impl<'a> Entry<'a> {
    /// The logical name: the text before `=`, or else the name of the file.
    #[must_use]
    pub fn logical(&self) -> Cow<'a, [u8]> {
        let bytes = self.bytes();
        let logical = &bytes[..self.spans.logical_len as usize];
        let before_file = self.spans.physical > 0;
        match (self.dots(), &self.script.path_rule) {
            (Some((at, directory)), _) if at < logical.len() => {
                Cow::Owned(replaced(logical, at, directory))
            }
            (None, PathRule::Prefix(prefix)) if !before_file => {
                Cow::Owned([prefix, logical].concat())
            }
            _ => Cow::Borrowed(logical),
        }
    }

    /// The key: the logical name without extension.
    ///
    /// In HTK's style, the extension is the last `.` of the last component (after the last `/` or
    /// `\`) and the text after it; the names of label files are made from the rest. In CNTK's style
    /// it begins at the last `.` anywhere, except in the names of whole files.
    #[must_use]
    pub fn key(&self) -> Cow<'a, [u8]> {
        match self.logical() {
            Cow::Borrowed(logical) => Cow::Borrowed(self.stem(logical)),
            Cow::Owned(mut logical) => {
                logical.truncate(self.stem(&logical).len());
                Cow::Owned(logical)
            }
        }
    }

    fn stem<'b>(&self, logical: &'b [u8]) -> &'b [u8] {
        let in_last_component = |&dot: &usize| {
            self.script.style == Style::Cntk && self.spans.segment.is_some()
                || memchr::memchr2(b'/', b'\\', &logical[dot..]).is_none()
        };
        let dot = memchr::memrchr(b'.', logical).filter(in_last_component);
        &logical[..dot.unwrap_or(logical.len())]
    }

    /// The name of the file, with `...` replaced or a prefix added, by the
    /// [options](super::ScriptOptions).
    #[must_use]
    pub fn physical(&self) -> Cow<'a, [u8]> {
        let start = self.spans.physical as usize;
        let physical = &self.bytes()[start..start + self.spans.physical_len as usize];
        match (self.dots(), &self.script.path_rule) {
            (Some((at, directory)), _) if at >= start && at - start < physical.len() => {
                Cow::Owned(replaced(physical, at - start, directory))
            }
            (_, PathRule::Prefix(prefix)) => Cow::Owned([prefix, physical].concat()),
            _ => Cow::Borrowed(physical),
        }
    }

    /// The name of the file, as a path.
    #[must_use]
    pub fn path(&self) -> PathBuf {
        PathBuf::from(OsStr::from_bytes(&self.physical()))
    }

    /// The frames; `None` for all.
    #[must_use]
    pub fn segment(&self) -> Option<Segment> {
        self.spans.segment
    }

    /// The line where it begins, from 1; 0 if it has none ([`Script::of_files`]).
    #[must_use]
    pub fn line(&self) -> u64 {
        self.spans.line.into()
    }

    /// The entry's text, up to the end of the file's name.
    fn bytes(&self) -> &'a [u8] {
        let Spans { start, logical_len, physical, physical_len, .. } = self.spans;
        let len = logical_len.max(physical + physical_len) as usize;
        &self.script.text[start as usize..start as usize + len]
    }

    /// The first position of `...`, and the directory for it.
    fn dots(&self) -> Option<(usize, &'a [u8])> {
        let PathRule::Dots(directory) = &self.script.path_rule else { return None };
        memmem::find(self.bytes(), b"...").map(|at| (at, directory.as_slice()))
    }
}

/// A name with `...` replaced.
fn replaced(name: &[u8], at: usize, directory: &[u8]) -> Vec<u8> {
    [&name[..at], directory, &name[name.len().min(at + 3)..]].concat()
}
