//! Standard output for people and for programs that read JSON. All data in it are escaped.

use std::fmt::Write as _;
use std::io::{self, BufWriter, StdoutLock, Write};

use anyhow::Result;
use seqfeed::{Printable, is_hidden};
use serde::Serialize;

use crate::terminal::Color;

/// Standard output that escapes control characters of data, whoever writes them.
///
/// Each write must hold whole letters, as from `write!` and serializers: a letter is never split.
pub(crate) struct Screen {
    out: BufWriter<StdoutLock<'static>>,
    json: bool,
}

/// Prints a value as JSON.
pub(crate) fn print_json(value: &impl Serialize) -> Result<()> {
    let mut out = Screen::json();
    serde_json::to_writer_pretty(&mut out, value)?;
    writeln!(out)?;
    Ok(out.flush()?)
}

impl Screen {
    /// For people: escapes as [`Printable`] does, but line ends stay.
    pub(crate) fn text() -> Self {
        Self { out: BufWriter::new(io::stdout().lock()), json: false }
    }

    /// For JSON, where `\u202e` means the same as the letter itself. The output must be JSON.
    pub(crate) fn json() -> Self {
        Self { json: true, ..Self::text() }
    }

    /// As [`json`](Self::json), for large output.
    pub(crate) fn much_json() -> Self {
        Self { out: BufWriter::with_capacity(1 << 20, io::stdout().lock()), json: true }
    }

    /// Writes coloured text, on terminals that show colours: `1;31` is a bold red.
    pub(crate) fn paint(&mut self, text: &str, code: &str) -> io::Result<()> {
        match Color::Auto.draws() {
            true => write!(self.out, "\x1b[{code}m{}\x1b[0m", Printable(text)),
            false => write!(self.out, "{}", Printable(text)),
        }
    }

    /// Writes a picture for the terminal, which consists of escape sequences. Names in it are
    /// escaped.
    pub(crate) fn picture(&mut self, picture: &str) -> io::Result<()> {
        self.out.write_all(picture.as_bytes())
    }

    fn escaped(&self, letter: char, out: &mut String) {
        let _ = match self.json {
            false => write!(out, "{}", Printable(letter)),
            true => letter
                .encode_utf16(&mut [0; 2])
                .iter()
                .try_for_each(|unit| write!(out, "\\u{unit:04x}")),
        };
    }
}

impl Write for Screen {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let shown = |letter: char| letter == '\n' || !is_hidden(letter);
        match std::str::from_utf8(bytes) {
            Ok(text) if text.chars().all(shown) => self.out.write_all(bytes)?,
            _ => {
                let mut out = String::with_capacity(2 * bytes.len());
                for part in bytes.utf8_chunks() {
                    for letter in part.valid().chars() {
                        match shown(letter) {
                            true => out.push(letter),
                            false => self.escaped(letter, &mut out),
                        }
                    }
                    // JSON has no bytes.
                    match self.json {
                        true if part.invalid().is_empty() => {}
                        true => out.push(char::REPLACEMENT_CHARACTER),
                        false => out.extend(part.invalid().escape_ascii().map(char::from)),
                    }
                }
                self.out.write_all(out.as_bytes())?;
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}
