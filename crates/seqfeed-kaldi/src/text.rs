//! Objects as text.
//!
//! Numbers are read as C++'s `>>` reads them, one correctly rounded conversion each. Kaldi cannot
//! read back the `-inf` and `-nan` that it writes; we can.

use std::str::FromStr;

use fast_float2::FastFloat;
use seqfeed_core::{Problem, Result};

use crate::OBJECT;
use crate::object_reader::{ObjectReader, is_space};

/// A float type that text is read into.
pub(crate) trait Float: FastFloat + Copy {
    const INF: Self;
    const NOT_A_NUMBER: Self;
    fn overflows(self) -> bool;
    fn negated(self) -> Self;
}

macro_rules! float {
    ($type:ty) => {
        impl Float for $type {
            const INF: Self = <$type>::INFINITY;
            const NOT_A_NUMBER: Self = <$type>::NAN;
            fn overflows(self) -> bool {
                <$type>::is_infinite(self)
            }
            fn negated(self) -> Self {
                -self
            }
        }
    };
}
float!(f32);
float!(f64);

/// Rows and columns of text floats.
pub(crate) struct TextFloats<T> {
    pub(crate) rows: usize,
    pub(crate) cols: usize,
    pub(crate) values: Vec<T>,
    /// It began on a line of its own, as matrices do; vectors stand on one line.
    pub(crate) is_matrix: bool,
}

impl ObjectReader {
    /// A matrix or vector as text, to its end (with the line's end, if that follows).
    pub(crate) fn read_floats<T: Float>(&mut self) -> Result<TextFloats<T>> {
        self.skip_space()?;
        if self.peek()? != Some(b'[') {
            return Err(self.unexpected(OBJECT, "\"[\" or a binary object")?);
        }
        self.consume(1);
        let mut floats = TextFloats { rows: 0, cols: 0, values: Vec::new(), is_matrix: false };
        match self.peek()? {
            Some(b']') => {}
            Some(byte) if is_space(byte) => {}
            _ => return Err(self.unexpected(OBJECT, "a space behind \"[\"")?),
        }
        let mut line = Vec::new();
        for number in 0u64.. {
            let start = self.position();
            let end = self.read_row(&mut line)?;
            let place = |error: seqfeed_core::Error| error.in_file(self.name()).at_byte(start);
            for row in line.split(|&byte| byte == b';') {
                push_row(row, &mut floats).map_err(place)?;
            }
            match end {
                RowEnd::Object => break,
                RowEnd::Line if number == 0 => {
                    floats.is_matrix = true;
                }
                RowEnd::Line => {}
            }
        }
        // The line's end belongs to the object; anything else is the next key.
        match self.peek()? {
            Some(b'\n') => self.consume(1),
            Some(b'\r') => {
                self.consume(1);
                if self.peek()? == Some(b'\n') {
                    self.consume(1);
                }
            }
            _ => {}
        }
        Ok(floats)
    }

    /// Reads to the end of a line or to the closing bracket, without it.
    fn read_row(&mut self, line: &mut Vec<u8>) -> Result<RowEnd> {
        line.clear();
        loop {
            let buffer = self.fill()?;
            if buffer.is_empty() {
                let problem = Problem::UnexpectedEnd { inside: "a matrix as text", missing: None };
                return Err(self.error(OBJECT, problem).with_help("there is no closing \"]\""));
            }
            match memchr::memchr2(b'\n', b']', buffer) {
                Some(at) => {
                    line.extend_from_slice(&buffer[..at]);
                    let end = if buffer[at] == b']' { RowEnd::Object } else { RowEnd::Line };
                    self.consume(at + 1);
                    return Ok(end);
                }
                None => {
                    line.extend_from_slice(buffer);
                    let taken = buffer.len();
                    self.consume(taken);
                }
            }
        }
    }

    /// The integers on the rest of the line.
    pub(crate) fn read_integers(&mut self, values: &mut Vec<i32>) -> Result<()> {
        values.clear();
        let start = self.position();
        let mut line = Vec::new();
        loop {
            let buffer = self.fill()?;
            let end = memchr::memchr(b'\n', buffer);
            line.extend_from_slice(&buffer[..end.unwrap_or(buffer.len())]);
            let taken = end.map_or(buffer.len(), |end| end + 1);
            self.consume(taken);
            if end.is_some() || taken == 0 {
                break;
            }
        }
        for word in line.split(|&byte| is_space(byte)).filter(|word| !word.is_empty()) {
            let number = std::str::from_utf8(word).ok().and_then(|word| i32::from_str(word).ok());
            let Some(number) = number else {
                let problem = Problem::InvalidNumber { what: "an integer", found: word.to_vec() };
                let error = seqfeed_core::Error::format(OBJECT, problem);
                return Err(error.in_file(self.name()).at_byte(start));
            };
            values.push(number);
        }
        Ok(())
    }
}

enum RowEnd {
    Line,
    Object,
}

fn push_row<T: Float>(row: &[u8], floats: &mut TextFloats<T>) -> Result<()> {
    let before = floats.values.len();
    let mut rest = row;
    loop {
        let space = rest.iter().take_while(|&&byte| is_space(byte)).count();
        rest = &rest[space..];
        if rest.is_empty() {
            break;
        }
        let (value, len) = number(rest)?;
        floats.values.push(value);
        rest = &rest[len..];
    }
    let cols = floats.values.len() - before;
    if cols == 0 {
        return Ok(());
    }
    if floats.rows > 0 && cols != floats.cols {
        let (expected, found) = (floats.cols as u64, cols as u64);
        let problem = Problem::CountMismatch { what: "columns of a row", expected, found };
        return Err(seqfeed_core::Error::format(OBJECT, problem));
    }
    (floats.rows, floats.cols) = (floats.rows + 1, cols);
    Ok(())
}

/// A number at the front of `text`, and its length.
fn number<T: Float>(text: &[u8]) -> Result<(T, usize)> {
    let word = || text.split(|&byte| is_space(byte)).next().unwrap_or_default();
    let bad = || {
        let problem = Problem::InvalidNumber { what: "a value", found: word().to_vec() };
        seqfeed_core::Error::format(OBJECT, problem)
    };
    let negative = text[0] == b'-';
    let digits = &text[usize::from(negative)..];
    if digits.first().is_some_and(|&byte| byte.is_ascii_digit() || (negative && byte == b'.')) {
        let (value, len) = fast_float2::parse_partial::<T, _>(text).map_err(|_| bad())?;
        if value.overflows() {
            return Err(bad());
        }
        return Ok((value, len));
    }
    let word = word();
    let name = &word[usize::from(negative)..];
    let value = if name.eq_ignore_ascii_case(b"inf") || name.eq_ignore_ascii_case(b"infinity") {
        T::INF
    } else if name.eq_ignore_ascii_case(b"nan") {
        T::NOT_A_NUMBER
    } else {
        return Err(bad());
    };
    Ok((if negative { value.negated() } else { value }, word.len()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use seqfeed_io::Input;

    fn read(text: &str) -> Result<(usize, usize, Vec<f32>, bool)> {
        let input = Input::from_reader("text", std::io::Cursor::new(text.to_owned()));
        let floats = ObjectReader::new(input).read_floats::<f32>()?;
        Ok((floats.rows, floats.cols, floats.values, floats.is_matrix))
    }

    #[test]
    fn reads_what_kaldi_reads() {
        let cases: [(&str, usize, usize, &[f32]); 9] = [
            (" [\n  1 2 \n  3 4 ]\n", 2, 2, &[1., 2., 3., 4.]),
            (" [ ]\n", 0, 0, &[]),
            ("[]\n", 0, 0, &[]),
            ("[ 1 2]", 1, 2, &[1., 2.]),
            ("[ 1 2;;3 4;]", 2, 2, &[1., 2., 3., 4.]),
            ("[ 1 2\n\n\n3 4\n\n]", 2, 2, &[1., 2., 3., 4.]),
            ("[ 1-2 ]", 1, 2, &[1., -2.]),
            ("[ 1e-5\t5. -.5 ]", 1, 3, &[1e-5, 5., -0.5]),
            ("[ inf -Infinity ]", 1, 2, &[f32::INFINITY, f32::NEG_INFINITY]),
        ];
        for (text, rows, cols, values) in cases {
            let (r, c, v, _) = read(text).unwrap();
            assert_eq!((r, c, &v[..]), (rows, cols, values), "{text}");
        }
        assert!(read("[ nan ]").unwrap().2[0].is_nan());
        assert!(read("[\n 1 ]").unwrap().3 && !read("[ 1 ]").unwrap().3);
    }

    #[test]
    fn refuses_what_kaldi_refuses() {
        for text in [
            "1 2",
            "[1 2]",
            "[ +1 ]",
            "[ .5 ]",
            "[ 1e ]",
            "[ 0x10 ]",
            "[ 1e40 ]",
            "[ a ]",
            "[ 1 2\n 3 ]",
            "[ 1 2",
            "",
            "[ 1,2 ]",
        ] {
            assert!(read(text).is_err(), "{text}");
        }
    }
}
