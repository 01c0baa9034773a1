//! The headers of binary objects.

use seqfeed_core::{Error, Problem, Result};

use crate::OBJECT;
use crate::object_reader::is_space;
use crate::objects::compressed_header::{CompressedHeader, count, data_len, sizes};

/// The longest header of the objects here: `\0BCM2 ` and 16 bytes.
pub(crate) const LONGEST_HEADER: usize = 22;

/// The kind and the size of a binary object.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Header {
    /// The kind.
    pub(crate) object: Object,
    /// Bytes from `\0B` to the data.
    pub(crate) len: usize,
    /// Bytes of data.
    pub(crate) data_len: u64,
}

/// The kinds of binary objects that a source reads.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Object {
    /// `FM`, `DM`: rows of 4- or 8-byte floats.
    Matrix {
        /// Bytes a value.
        width: u32,
        /// Number of rows.
        rows: u32,
        /// Number of columns.
        cols: u32,
    },
    /// `FV`, `DV`: a vector of floats.
    Vector {
        /// Bytes a value.
        width: u32,
        /// Number of elements.
        dim: u32,
    },
    /// `CM`, `CM2`, `CM3`.
    Compressed(CompressedHeader),
    /// A vector of int32: 5 bytes an element; the first byte is its size.
    Integers {
        /// Number of elements.
        count: u32,
    },
    /// An int32.
    Scalar {
        /// Its value.
        value: i32,
    },
}

impl Object {
    /// Such an object with another number of rows; `None` if it has none.
    pub(crate) fn of_rows(self, rows: u32) -> Option<Self> {
        match self {
            Self::Matrix { width, cols, .. } => Some(Self::Matrix { width, rows, cols }),
            Self::Compressed(header) => Some(Self::Compressed(CompressedHeader { rows, ..header })),
            Self::Vector { width, .. } => Some(Self::Vector { width, dim: rows }),
            Self::Integers { .. } => Some(Self::Integers { count: rows }),
            Self::Scalar { .. } => None,
        }
    }
}

impl Header {
    /// Parses a header from the first bytes of an object. `scalar` says that a single integer is
    /// expected, where a vector could stand too.
    ///
    /// # Errors
    ///
    /// Fails if there is no header, if the object is of another kind, or if its sizes are
    /// impossible.
    pub(crate) fn parse(bytes: &[u8], scalar: bool) -> Result<Self> {
        let Some(after_mark) = bytes.strip_prefix(b"\0B") else {
            return Err(unexpected("a binary object (\"\\0B\")", bytes));
        };
        if after_mark.first() == Some(&4) {
            let value = sized(after_mark, 0, "size")?;
            check_next(bytes, value, scalar)?;
            if scalar {
                return Ok(Self { object: Object::Scalar { value }, len: 7, data_len: 0 });
            }
            let count = count("number of elements", value)?;
            let data_len = u64::from(count) * 5;
            return Ok(Self { object: Object::Integers { count }, len: 7, data_len });
        }
        let Some(space) = after_mark.iter().take(5).position(|&byte| is_space(byte)) else {
            let expected = "the type of an object (\"FM \", \"CM \", \"FV \" ...)";
            return Err(unexpected(expected, after_mark));
        };
        let (token, rest) = (&after_mark[..space], &after_mark[space + 1..]);
        let before = 2 + space + 1;
        match token {
            b"FM" | b"DM" => {
                let width = if token[0] == b'F' { 4 } else { 8 };
                let (rows, cols) = (sized(rest, 0, "rows")?, sized(rest, 5, "columns")?);
                let (rows, cols) = sizes(rows, cols)?;
                let data_len = data_len(rows, cols, width)?;
                let object = Object::Matrix { width, rows, cols };
                Ok(Self { object, len: before + 10, data_len })
            }
            b"FV" | b"DV" => {
                let width = if token[0] == b'F' { 4 } else { 8 };
                let dim = count("dimension", sized(rest, 0, "dimension")?)?;
                let data_len = u64::from(dim) * u64::from(width);
                Ok(Self { object: Object::Vector { width, dim }, len: before + 5, data_len })
            }
            b"CM" | b"CM2" | b"CM3" => {
                let header = CompressedHeader::parse(token, rest)?;
                let data_len = header.data_len()?;
                Ok(Self { object: Object::Compressed(header), len: before + 16, data_len })
            }
            _ => {
                let what = format!(
                    "it holds an object of type \"{}\", which is none of FM, DM, CM, CM2, CM3, FV, DV",
                    token.escape_ascii()
                );
                Err(Error::format(OBJECT, Problem::Unsupported(what.into())))
            }
        }
    }
}

/// A single integer and the count of a vector look alike. The next byte, if there is one, tells
/// them apart: the size byte of an element. No key begins with it.
fn check_next(bytes: &[u8], value: i32, scalar: bool) -> Result<()> {
    let element = bytes.get(7) == Some(&4);
    let (what, help) = match scalar {
        true if element && value == 1 => (
            "a vector of one integer",
            "write the integer alone (in Python `int(label)`, no array), as Kaldi's tables of int32 hold it",
        ),
        true if element => ("a vector", "take extent = \"samples\" for one integer a time step"),
        false if value > 0 && bytes.len() > 7 && !element => {
            ("an integer alone", "take extent = \"sequence\" for one integer a sequence")
        }
        _ => return Ok(()),
    };
    let what = format!("this is {what}").into();
    Err(Error::format(OBJECT, Problem::Unsupported(what)).with_help(help))
}

fn unexpected(expected: &'static str, found: &[u8]) -> Error {
    let found = found[..found.len().min(16)].to_vec();
    Error::format(OBJECT, Problem::Unexpected { expected: expected.into(), found })
}

/// A number with its size byte.
fn sized(bytes: &[u8], at: usize, what: &'static str) -> Result<i32> {
    let Some(bytes) = bytes.get(at..at + 5) else {
        let missing = Some((at + 5 - bytes.len()) as u64);
        return Err(Error::format(OBJECT, Problem::UnexpectedEnd { inside: "a header", missing }));
    };
    if bytes[0] != 4 {
        let expected = format!("the {what} as a 4-byte integer (size byte 4)");
        let found = bytes[..1].to_vec();
        return Err(Error::format(
            OBJECT,
            Problem::Unexpected { expected: expected.into(), found },
        ));
    }
    Ok(i32::from_le_bytes([bytes[1], bytes[2], bytes[3], bytes[4]]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_headers() {
        let header = Header::parse(b"\0BFM \x04\x02\0\0\0\x04\x03\0\0\0rest", false).unwrap();
        assert_eq!(header.object, Object::Matrix { width: 4, rows: 2, cols: 3 });
        assert_eq!((header.len, header.data_len), (15, 24));
        let header = Header::parse(b"\0BDV \x04\x02\0\0\0", false).unwrap();
        assert_eq!((header.len, header.data_len), (10, 16));
        let bytes = b"\0B\x04\x02\0\0\0";
        assert_eq!(Header::parse(bytes, false).unwrap().object, Object::Integers { count: 2 });
        assert_eq!(Header::parse(bytes, true).unwrap().object, Object::Scalar { value: 2 });
        // What follows tells a scalar from a vector.
        assert!(Header::parse(b"\0B\x04\x02\0\0\0\x04\x01\0\0\0", true).is_err());
        assert!(Header::parse(b"\0B\x04\x02\0\0\0utt2 \0B", false).is_err());
    }

    #[test]
    fn refuses_what_cannot_be() {
        let cases: [(&[u8], &str); 8] = [
            (b"RIFF", "expected a binary object"),
            (b"\0B", "expected the type of an object"),
            (b"\0BFM \x04\x02\0", "2 bytes are missing"),
            (b"\0BFM \x08\x02\0\0\0\x04\x03\0\0\0", "size byte 4"),
            (b"\0BFM \x04\xff\xff\xff\xff\x04\x03\0\0\0", "number of rows is -1"),
            (b"\0BFM \x04\0\0\0\0\x04\x03\0\0\0", "0 rows and 3 columns"),
            (b"\0BSM \x04\0\0\0\0", "type \"SM\""),
            (b"\0B<Nnet3Eg> ", "the type of an object"),
        ];
        for (bytes, expected) in cases {
            let message = Header::parse(bytes, false).unwrap_err().message();
            assert!(message.contains(expected), "{message}");
        }
    }
}
