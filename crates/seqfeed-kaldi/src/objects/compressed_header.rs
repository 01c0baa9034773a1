//! The headers of compressed matrices, and what they say of the bytes behind them.

mod decompress;
pub(crate) mod levels;

use seqfeed_core::{Error, Problem, Result};

use crate::OBJECT;
use crate::object_reader::ObjectReader;
use levels::LEVEL_BYTES;

/// The header of a compressed matrix.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CompressedHeader {
    /// 1 for `CM`, 2 for `CM2`, 3 for `CM3`.
    pub format: u8,
    /// The smallest value.
    pub min: f32,
    /// The difference between the largest and the smallest value.
    pub range: f32,
    /// Number of rows.
    pub rows: u32,
    /// Number of columns.
    pub cols: u32,
}

impl CompressedHeader {
    /// The header of an empty matrix.
    pub(crate) const EMPTY: Self = Self { format: 1, min: 0.0, range: 0.0, rows: 0, cols: 0 };

    pub(crate) fn parse(token: &[u8], bytes: &[u8]) -> Result<Self> {
        let Some(bytes) = bytes.get(..16) else {
            let missing = Some((16 - bytes.len()) as u64);
            let problem = Problem::UnexpectedEnd { inside: "a header", missing };
            return Err(Error::format(OBJECT, problem));
        };
        let word = |i: usize| [bytes[i], bytes[i + 1], bytes[i + 2], bytes[i + 3]];
        let (rows, cols) = (i32::from_le_bytes(word(8)), i32::from_le_bytes(word(12)));
        if cols == 0 {
            // For Kaldi, a matrix without columns is empty, whatever the rest says.
            return Ok(Self::EMPTY);
        }
        let (rows, cols) = sizes(rows, cols)?;
        let format = match token {
            b"CM" => 1,
            b"CM2" => 2,
            _ => 3,
        };
        let (min, range) = (f32::from_le_bytes(word(0)), f32::from_le_bytes(word(4)));
        Ok(Self { format, min, range, rows, cols })
    }

    /// Bytes of data after the header.
    pub(crate) fn data_len(&self) -> Result<u64> {
        let codes = data_len(self.rows, self.cols, if self.format == 2 { 2 } else { 1 })?;
        let levels = if self.format == 1 { u64::from(self.cols) * LEVEL_BYTES as u64 } else { 0 };
        Ok(codes + levels)
    }

    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(match self.format {
            1 => b"CM ",
            2 => b"CM2 ",
            _ => b"CM3 ",
        });
        out.extend_from_slice(&self.min.to_le_bytes());
        out.extend_from_slice(&self.range.to_le_bytes());
        out.extend_from_slice(&self.rows.to_le_bytes());
        out.extend_from_slice(&self.cols.to_le_bytes());
    }

    /// Reads what stands behind the token (`CM `, `CM2`, `CM3`) and before the data.
    pub(crate) fn read(token: [u8; 3], reader: &mut ObjectReader) -> Result<Self> {
        let start = reader.position();
        let bytes: [u8; 16] = reader.read_array("a header")?;
        let header = Self::parse(token.trim_ascii_end(), &bytes)
            .map_err(|error| error.in_file(reader.name()).at_byte(start))?;
        if header.cols == 0 && bytes[4..] == [0; 12] && reader.ensure(4)?.starts_with(SURPLUS) {
            reader.consume(SURPLUS.len());
        }
        Ok(header)
    }

    /// Reads the data behind the header, in the place of what `data` holds.
    pub(crate) fn read_data(&self, reader: &mut ObjectReader, data: &mut Vec<u8>) -> Result<()> {
        let len = self.data_len()?;
        reader.check_there(len, "data")?;
        reader.read_values(usize::try_from(len).unwrap_or(usize::MAX), data, "data")
    }
}

/// The surplus end of an empty matrix as Kaldi writes it: a number of arbitrary value and 16 zero
/// bytes, of which it reads only 16. No key and no object inside another one begins with these.
pub(crate) const SURPLUS: &[u8] = &[0; 4];

pub(crate) fn count(what: &'static str, value: i32) -> Result<u32> {
    u32::try_from(value).map_err(|_| {
        let allowed = "0 or more".into();
        Error::format(OBJECT, Problem::OutOfRange { what, found: value.into(), allowed })
    })
}

/// Rows and columns that are possible: not negative, and both zero or none.
pub(crate) fn sizes(rows: i32, cols: i32) -> Result<(u32, u32)> {
    let (rows, cols) = (count("number of rows", rows)?, count("number of columns", cols)?);
    if (rows == 0) != (cols == 0) {
        let what = format!("a matrix of {rows} rows and {cols} columns cannot be");
        return Err(Error::format(OBJECT, Problem::Unsupported(what.into())));
    }
    Ok((rows, cols))
}

pub(crate) fn data_len(rows: u32, cols: u32, width: u32) -> Result<u64> {
    (u64::from(rows) * u64::from(cols)).checked_mul(u64::from(width)).ok_or_else(|| {
        let what = format!("a matrix of {rows} rows and {cols} columns is too large");
        Error::format(OBJECT, Problem::Unsupported(what.into()))
    })
}
