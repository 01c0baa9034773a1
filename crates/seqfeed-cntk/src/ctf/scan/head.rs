//! What stands before the first line: a byte order mark and blank lines.

use seqfeed_core::{Error, Problem, Result};

use super::ScanOptions;
use crate::ctf::{CTF, KeyKind, is_space};

const UTF8_MARK: [u8; 3] = [0xef, 0xbb, 0xbf];

/// Reads over the head of a file.
#[derive(Debug, Default)]
pub(super) struct Head {
    /// Bytes read over.
    offset: u64,
    /// Bytes of the mark read over; all that can be, once something else came.
    mark: usize,
    /// Line feeds among them.
    lines: u64,
    /// Whether the first byte is 0xff: with 0xfe behind it, it would be UTF-16.
    half_mark: bool,
}

/// Where and how the lines start.
#[derive(Clone, Debug)]
pub(super) struct Start {
    /// Where the first line starts, or what is left of it.
    pub offset: u64,
    /// How many line feeds were read over.
    pub lines: u64,
    /// Whether each line is a sequence.
    pub line_mode: bool,
    /// Whether a byte 0xff, the first of the file, was taken already.
    held: bool,
}

impl Start {
    /// Bytes of the first line that are no longer in the piece the head ended in.
    pub(super) fn held(&self) -> &'static [u8] {
        if self.held { b"\xff" } else { b"" }
    }

    /// The position of the first byte that was not taken yet.
    pub(super) fn position(&self) -> u64 {
        self.offset + u64::from(self.held)
    }
}

impl Head {
    /// Takes the next bytes: nothing if the head has not ended; else how many of them belong to it.
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
                // A part of a mark is read over, too.
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

    /// The file ends here.
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

/// Something that CNTK does not accept, in its words.
pub(super) fn problem(what: impl Into<String>, byte: u64) -> Error {
    Error::format(CTF, Problem::Unsupported(what.into().into())).at_byte(byte)
}
