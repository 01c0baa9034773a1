//! The bytes before the first line: a byte order mark and blank lines.

use seqfeed_core::{Error, Problem, Result};

use super::ScanOptions;
use crate::ctf::{CTF, KeyKind, is_space};

const UTF8_MARK: [u8; 3] = [0xef, 0xbb, 0xbf];

/// Skips the head of a file.
#[derive(Debug, Default)]
pub(super) struct Head {
    /// The number of skipped bytes.
    offset: u64,
    /// Skipped bytes of the mark. After any other byte, it counts as complete.
    mark: usize,
    /// The number of line feeds among them.
    lines: u64,
    /// Whether the first byte is 0xff. With 0xfe after it, it would be UTF-16.
    half_mark: bool,
}

/// The start and the mode of the lines.
#[derive(Clone, Debug)]
pub(super) struct Start {
    /// The start of the first line, or of the rest of it.
    pub offset: u64,
    /// The number of skipped line feeds.
    pub lines: u64,
    /// Whether each line is a sequence.
    pub line_mode: bool,
    /// Whether a first byte 0xff of the file has been consumed already.
    held: bool,
}

impl Start {
    /// Bytes of the first line that are no longer in the part in which the head ended.
    pub(super) fn held(&self) -> &'static [u8] {
        if self.held { b"\xff" } else { b"" }
    }

    /// The position of the first byte that has not been consumed.
    pub(super) fn position(&self) -> u64 {
        self.offset + u64::from(self.held)
    }
}

impl Head {
    /// Takes the next bytes. `None` if the head has not ended, else the number of bytes that belong
    /// to it.
    pub(super) fn push(
        &mut self,
        bytes: &[u8],
        options: &ScanOptions,
    ) -> Result<Option<(Start, usize)>> {
        for (used, &byte) in bytes.iter().enumerate() {
            if self.half_mark {
                if byte == 0xfe {
                    return Err(utf16());
                }
                return self.end(0xff, options).map(|start| Some((start, used)));
            }
            if UTF8_MARK.get(self.mark) == Some(&byte) {
                // A partial mark is skipped too.
                self.mark += 1;
            } else {
                self.mark = UTF8_MARK.len();
                if byte == 0xff && self.offset == 0 {
                    self.half_mark = true;
                    continue;
                }
                if !is_space(byte) {
                    return self.end(byte, options).map(|start| Some((start, used)));
                }
                self.lines += u64::from(byte == b'\n');
            }
            self.offset += 1;
        }
        Ok(None)
    }

    /// The end of the file.
    pub(super) fn finish(&self, options: &ScanOptions) -> Result<Start> {
        if self.half_mark {
            return self.end(0xff, options);
        }
        Err(problem("Input file is empty", self.offset))
    }

    fn end(&self, first: u8, options: &ScanOptions) -> Result<Start> {
        let line_mode = options.skip_sequence_ids || first == b'|';
        if line_mode && options.keys != KeyKind::Numeric {
            return Err(problem(
                "Corpus expects non-numeric sequence keys present but the input file does not have \
                 them.",
                self.offset,
            )
            .with_help("start each line with an id, or use numeric sequence keys"));
        }
        Ok(Start { offset: self.offset, lines: self.lines, line_mode, held: self.half_mark })
    }
}

fn utf16() -> Error {
    problem("Found a UTF-16 BOM at the beginning of the input file", 0)
        .with_help("CTF is ASCII: convert it, for example with `iconv -f UTF-16 -t UTF-8`")
}

/// An error that CNTK reports too, in its words.
pub(super) fn problem(what: impl Into<String>, byte: u64) -> Error {
    Error::format(CTF, Problem::Unsupported(what.into().into())).at_byte(byte)
}
