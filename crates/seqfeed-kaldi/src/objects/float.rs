//! The two types of floats in matrices and vectors, and their text.

use std::ops::Neg;

use seqfeed_core::float_text::write_g;
use seqfeed_core::number_text::{parse_f32, parse_f64};
use seqfeed_core::{Problem, Result};
use seqfeed_io::too_long;

use crate::OBJECT;
use crate::object_reader::{LittleEndian, ObjectReader, is_space};
use crate::objects::basic::{Basic, DIGITS, float_word};

/// `f32` or `f64`.
///
/// Matrices and vectors of either type can be read from files of both, converted as by Kaldi.
pub trait Float: LittleEndian + Basic + PartialOrd + Neg<Output = Self> {
    /// `F` or `D`, as in the tokens `FM`, `DV`.
    const LETTER: u8;
    /// Positive infinity.
    const INFINITY: Self;
    /// Not a number.
    const NAN: Self;
    /// Converts, rounding to the nearest.
    fn from_f64(value: f64) -> Self;
    /// Converts.
    fn to_f64(self) -> f64;
    /// Converts.
    fn from_f32(value: f32) -> Self;
    /// Converts, rounding to the nearest.
    fn to_f32(self) -> f32;
    /// Reads a number at the front of `text` as C++'s `>>` does, correctly rounded. Returns its
    /// value and length.
    fn parse_text(text: &[u8]) -> Option<(Self, usize)>;
}

macro_rules! float {
    ($type:ty, $letter:literal, $parse:path) => {
        impl Float for $type {
            const LETTER: u8 = $letter;
            const INFINITY: Self = <$type>::INFINITY;
            const NAN: Self = <$type>::NAN;

            fn from_f64(value: f64) -> Self {
                value as $type
            }

            fn to_f64(self) -> f64 {
                f64::from(self)
            }

            fn from_f32(value: f32) -> Self {
                value as $type
            }

            fn to_f32(self) -> f32 {
                self as f32
            }

            fn parse_text(text: &[u8]) -> Option<(Self, usize)> {
                $parse(text)
            }
        }
    };
}
float!(f32, b'F', parse_f32);
float!(f64, b'D', parse_f64);

/// Appends a float and a space.
pub(crate) fn write_float<T: Float>(out: &mut Vec<u8>, value: T) {
    write_g(out, value.to_f64(), DIGITS);
    out.push(b' ');
}

/// The first step of looking for the end of a long word; further steps grow.
const STEP: usize = 1 << 16;

/// The arrangement of floats between brackets.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Brackets {
    /// Rows, each ended by the end of a line or a semicolon.
    Rows,
    /// One row, on one line.
    OneRow,
    /// One row, on any number of lines.
    Flat,
}

/// Floats in brackets.
pub(crate) struct TextRows {
    pub(crate) rows: usize,
    pub(crate) cols: usize,
    /// Whether a line ended right after the opening bracket, as in matrices.
    pub(crate) is_matrix: bool,
}

/// Reads floats in brackets, and replaces the contents of `values`.
///
/// It reads all that Kaldi reads, and also `-inf` and `-nan`, which Kaldi writes but does not read.
pub(crate) fn read_rows<T: Float>(
    reader: &mut ObjectReader,
    brackets: Brackets,
    values: &mut Vec<T>,
) -> Result<TextRows> {
    values.clear();
    reader.skip_space()?;
    let mut parsing = Parsing { brackets, values, rows: 0, cols: 0, row_start: 0, first: true };
    let opened = reader.ensure(2)?;
    let (opening, is_matrix) = match opened {
        [b'[', b']', ..] => (1, false),
        [b'[', b'\n' | b'\r', ..] => (1, true),
        [b'[', byte, ..] if is_space(*byte) => (1, false),
        [b'['] => (1, false),
        _ => {
            return Err(reader.unexpected(OBJECT, "\"[\" and a space, or a binary object"));
        }
    };
    reader.consume(opening);
    // No more bytes are asked for than are available, if possible. Behind the text of a live pipe
    // nothing may come for a while.
    let (mut want, limit) = (1, reader.line_limit());
    loop {
        let buffer = reader.ensure(want)?;
        let at_end = buffer.len() < want;
        let (used, found) = parsing.go_on(buffer, at_end);
        if used == 0 && buffer.len() > limit {
            let error = too_long("bytes of a number", buffer.len(), limit);
            return Err(error.in_file(reader.name()).at_byte(reader.position()));
        }
        want = match used {
            0 if buffer.len() < STEP => buffer.len() + 1,
            0 => 2 * buffer.len(),
            _ => 1,
        };
        reader.consume(used);
        match found {
            Found::More if at_end => {
                let error = reader.unexpected_end("a matrix or vector as text", None);
                return Err(error.with_help("there is no closing \"]\""));
            }
            Found::More => {}
            Found::Wrong(problem) => return Err(reader.error(OBJECT, problem)),
            Found::End => break,
        }
    }
    let (rows, cols) = (parsing.rows, parsing.cols);
    // The end of the line belongs to the object. Anything else is the next key.
    match reader.peek()? {
        Some(b'\n') => reader.consume(1),
        Some(b'\r') => {
            reader.consume(1);
            if reader.peek()? == Some(b'\n') {
                reader.consume(1);
            }
        }
        _ => {}
    }
    Ok(TextRows { rows, cols, is_matrix })
}

struct Parsing<'a, T> {
    brackets: Brackets,
    values: &'a mut Vec<T>,
    rows: usize,
    cols: usize,
    /// The start of the current row in `values`.
    row_start: usize,
    first: bool,
}

enum Found {
    /// More bytes are needed.
    More,
    /// The closing bracket.
    End,
    Wrong(Problem),
}

impl<T: Float> Parsing<'_, T> {
    /// Reads as much of the buffer as is clear without further bytes. Returns its length.
    fn go_on(&mut self, buffer: &[u8], at_end: bool) -> (usize, Found) {
        let mut at = 0;
        while let Some(&byte) = buffer.get(at) {
            match byte {
                b' ' | b'\t' => at += 1,
                b'0'..=b'9' | b'-' => {
                    let rest = &buffer[at..];
                    let parsed = T::parse_text(rest);
                    if let Some((value, len)) = parsed
                        && (len < rest.len() || at_end)
                        && self.may_follow(rest.get(len))
                    {
                        self.values.push(value);
                        at += len;
                        continue;
                    }
                    match self.word(rest, at_end) {
                        Ok(Some(len)) => at += len,
                        Ok(None) => return (at, Found::More),
                        Err(problem) => return (at, Found::Wrong(problem)),
                    }
                }
                b']' => {
                    return match self.end_row() {
                        Ok(()) => (at + 1, Found::End),
                        Err(problem) => (at, Found::Wrong(problem)),
                    };
                }
                b'\n' | b';' if self.brackets == Brackets::Rows => {
                    if let Err(problem) = self.end_row() {
                        return (at, Found::Wrong(problem));
                    }
                    at += 1;
                }
                byte if is_space(byte) && self.brackets != Brackets::OneRow => at += 1,
                b'\n' | b'\r' => {
                    let expected =
                        "a number or \"]\" (a vector stands on one line; is it a matrix?)";
                    return (at, Found::Wrong(self.unexpected(expected, &buffer[at..])));
                }
                _ => match self.word(&buffer[at..], at_end) {
                    Ok(Some(len)) => at += len,
                    Ok(None) => return (at, Found::More),
                    Err(problem) => return (at, Found::Wrong(problem)),
                },
            }
        }
        (at, Found::More)
    }

    /// Whether a byte may follow a number: any byte in a matrix (`1-2` are two numbers), white
    /// space or the bracket in a vector.
    fn may_follow(&self, byte: Option<&u8>) -> bool {
        self.brackets != Brackets::OneRow || byte.is_none_or(|&byte| is_space(byte) || byte == b']')
    }

    fn unexpected(&self, expected: &'static str, found: &[u8]) -> Problem {
        Problem::Unexpected {
            expected: expected.into(),
            found: found[..found.len().min(16)].into(),
        }
    }

    /// A word instead of digits: `inf`, `infinity` or `nan` in any case, with or without a minus.
    /// Returns its length, or `None` if the buffer may not hold all of it.
    fn word(&mut self, rest: &[u8], at_end: bool) -> Result<Option<usize>, Problem> {
        let Some(len) =
            rest.iter().position(|&byte| is_space(byte)).or(at_end.then_some(rest.len()))
        else {
            return Ok(None);
        };
        let word = &rest[..len];
        match float_word(word, T::INFINITY, T::NAN) {
            // Kaldi writes no plus.
            Some((value, _)) if word[0] != b'+' => self.values.push(value),
            _ => {
                let found = word[..len.min(32)].to_vec();
                return Err(Problem::InvalidNumber { what: "a value", found });
            }
        }
        Ok(Some(len))
    }

    fn end_row(&mut self) -> Result<(), Problem> {
        let cols = self.values.len() - self.row_start;
        if cols == 0 {
            return Ok(());
        }
        if !self.first && cols != self.cols {
            let (expected, found) = (self.cols as u64, cols as u64);
            return Err(Problem::CountMismatch { what: "columns of a row", expected, found });
        }
        self.first = false;
        (self.rows, self.cols) = (self.rows + 1, cols);
        self.row_start = self.values.len();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, brackets: Brackets) -> Result<(usize, usize, Vec<f32>, bool)> {
        let mut values = Vec::new();
        let mut reader = ObjectReader::from_bytes("text", text);
        let TextRows { rows, cols, is_matrix } = read_rows(&mut reader, brackets, &mut values)?;
        Ok((rows, cols, values, is_matrix))
    }

    #[test]
    fn reads_what_kaldi_reads() {
        let cases: [(&str, usize, usize, &[f32]); 11] = [
            (" [\n  1 2 \n  3 4 ]\n", 2, 2, &[1., 2., 3., 4.]),
            (" [\r\n  1 2 \r\n  3 4 ]\r\n", 2, 2, &[1., 2., 3., 4.]),
            (" [ ]\n", 0, 0, &[]),
            ("[]\n", 0, 0, &[]),
            ("[ 1 2]", 1, 2, &[1., 2.]),
            ("[ 1 2;;3 4;]", 2, 2, &[1., 2., 3., 4.]),
            ("[ 1 2\n\n\n3 4\n\n]", 2, 2, &[1., 2., 3., 4.]),
            ("[ 1-2 ]", 1, 2, &[1., -2.]),
            ("[ 1e-5\t5. -.5 ]", 1, 3, &[1e-5, 5., -0.5]),
            ("[ inf -Infinity ]", 1, 2, &[f32::INFINITY, f32::NEG_INFINITY]),
            ("[ 1 2 \x0b 3 ]", 1, 3, &[1., 2., 3.]),
        ];
        for (text, rows, cols, values) in cases {
            let (r, c, v, _) = read(text, Brackets::Rows).unwrap();
            assert_eq!((r, c, &v[..]), (rows, cols, values), "{text}");
        }
        assert!(read("[ nan ]", Brackets::Rows).unwrap().2[0].is_nan());
        assert!(read("[\n 1 ]", Brackets::Rows).unwrap().3);
        assert!(!read("[ 1 ]", Brackets::OneRow).unwrap().3);
    }

    #[test]
    fn refuses_what_kaldi_refuses() {
        let both = [
            "1 2", "[1 2]", "[ +1 ]", "[ .5 ]", "[ 1e ]", "[ 0x10 ]", "[ 1e40 ]", "[ a ]", "[ 1 2",
            "", "[ 1,2 ]", "[ inf]",
        ];
        for text in both {
            assert!(read(text, Brackets::Rows).is_err(), "{text}");
            assert!(read(text, Brackets::OneRow).is_err(), "{text}");
        }
        assert!(read("[ 1 2\n 3 ]", Brackets::Rows).is_err());
        for text in ["[ 1\n2 ]", "[ 1-2 ]", "[ 1;2 ]", "[ 1\x0b2 ]", "[\n1 ]", "[ 1\r\n ]"] {
            assert!(read(text, Brackets::OneRow).is_err(), "{text}");
        }
    }

    #[test]
    fn reads_numbers_across_buffers() {
        let numbers: Vec<f32> = (0..50_000).map(|n| (n as f32).sin() * 1e-3).collect();
        let text: String = numbers.iter().map(|n| format!("{n} ")).collect();
        let (rows, cols, values, _) = read(&format!("[ {text}]\n"), Brackets::Rows).unwrap();
        assert_eq!((rows, cols), (1, 50_000));
        assert_eq!(values, numbers);
    }
}
