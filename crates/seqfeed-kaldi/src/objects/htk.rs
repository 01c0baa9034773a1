//! Matrices in the form of HTK's parameter files.

use seqfeed_core::{Error, Problem, Result};

use crate::holder::{Holder, Mode};
use crate::object_reader::ObjectReader;
use crate::objects::matrix::Matrix;
use crate::range::Range;

/// The name of the format in messages.
const HTK: &str = "HTK file";

/// Bits of a kind: compressed to 16 bits, with a checksum, with indexes into a codebook.
const COMPRESSED: u16 = 0o2000;
const CHECKSUM: u16 = 0o10000;
const INDEXED: u16 = 0o40000;

/// The modulus of the checksum.
const MODULUS: u32 = 36897;

/// A matrix of features with the header of an HTK file.
///
/// ```text
/// rows:i32 sample_period:i32 bytes of a row:i16 kind:u16 values [checksum:u16]     all big-endian
/// ```
///
/// Only files of floats are read. Compressed files, and kinds with 16-bit integers (waveforms,
/// IREFC, discrete), are refused, as by Kaldi.
///
/// Kinds with the bit 010000 (`_K`) have a checksum after the values. It is read, checked and
/// written; Kaldi does none of this. A stream that ends without a checksum is accepted, since Kaldi
/// writes such files.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HtkMatrix {
    /// A row for each frame.
    pub matrix: Matrix<f32>,
    /// The time from one frame to the next, in units of 100 ns: 100000 for 10 ms.
    pub sample_period: i32,
    /// The kind of the values (6 for MFCC, 9 for user-defined), with bits for qualifiers.
    pub kind: u16,
}

impl From<Matrix<f32>> for HtkMatrix {
    /// With Kaldi's defaults: 10 ms, kind 9 (USER).
    fn from(matrix: Matrix<f32>) -> Self {
        Self { matrix, sample_period: 100_000, kind: 9 }
    }
}

impl Holder for HtkMatrix {
    const TYPE: &'static str = "HTK matrix";
    const HEADER: bool = false;

    fn read(reader: &mut ObjectReader, _: Mode) -> Result<Self> {
        let start = reader.position();
        let header: [u8; 12] = reader.read_array("the header of an HTK file")?;
        let [a, b, c, d, e, f, g, h, i, j, k, l] = header;
        let rows = i32::from_be_bytes([a, b, c, d]);
        let sample_period = i32::from_be_bytes([e, f, g, h]);
        let row_bytes = i16::from_be_bytes([i, j]);
        let kind = u16::from_be_bytes([k, l]);
        let wrong = |what, found: i64, allowed: &'static str| {
            let problem = Problem::OutOfRange { what, found, allowed: allowed.into() };
            reader.error_at(start, HTK, problem)
        };
        let Ok(rows) = usize::try_from(rows) else {
            return Err(wrong("number of frames", rows.into(), "0 or more"));
        };
        check_kind(kind).map_err(|error| error.in_file(reader.name()).at_byte(start + 10))?;
        let cols = match usize::try_from(row_bytes) {
            Ok(bytes) if bytes % 4 == 0 && (bytes > 0 || rows == 0) => bytes / 4,
            _ => return Err(wrong("bytes of a frame", row_bytes.into(), "a multiple of 4")),
        };
        let mut stored: Vec<u32> = Vec::new();
        reader.read_values(rows.saturating_mul(cols), &mut stored, "the data of an HTK file")?;
        if kind & CHECKSUM != 0 {
            let expected = checksum(stored.iter().map(|&value| value.swap_bytes()));
            read_checksum(reader, expected)?;
        }
        let values = stored.into_iter().map(|value| f32::from_bits(value.swap_bytes())).collect();
        let cols = if rows == 0 { 0 } else { cols };
        Ok(Self { matrix: Matrix { rows, cols, values }, sample_period, kind })
    }

    fn write(&self, out: &mut Vec<u8>, mode: Mode) -> Result<()> {
        let refuse = |what: String| Err(Error::format(HTK, Problem::Unsupported(what.into())));
        if mode == Mode::Text {
            return refuse("an HTK file as text".into());
        }
        check_kind(self.kind)?;
        let Matrix { rows, cols, values } = &self.matrix;
        if rows.checked_mul(*cols) != Some(values.len()) {
            return refuse(format!(
                "a matrix of {rows} rows, {cols} columns, {} values",
                values.len()
            ));
        }
        let Ok(count) = i32::try_from(*rows) else {
            return refuse(format!("{rows} frames"));
        };
        let row_bytes = cols.checked_mul(4).and_then(|bytes| i16::try_from(bytes).ok());
        let Some(row_bytes) = row_bytes else {
            return refuse(format!("frames of {cols} values (8191 are the most)"));
        };
        out.reserve(12 + 4 * values.len() + 2);
        out.extend_from_slice(&count.to_be_bytes());
        out.extend_from_slice(&self.sample_period.to_be_bytes());
        out.extend_from_slice(&row_bytes.to_be_bytes());
        out.extend_from_slice(&self.kind.to_be_bytes());
        values.iter().for_each(|value| out.extend_from_slice(&value.to_be_bytes()));
        if self.kind & CHECKSUM != 0 {
            let sum = checksum(values.iter().map(|value| value.to_bits()));
            out.extend_from_slice(&sum.to_be_bytes());
        }
        Ok(())
    }

    fn extract(&self, range: &Range) -> Result<Self> {
        Ok(Self { matrix: self.matrix.extract(range)?, ..*self })
    }
}

/// Fails if the values of a kind are not floats.
fn check_kind(kind: u16) -> Result<()> {
    let what = match kind & 0o77 {
        _ if kind & COMPRESSED != 0 => "compressed values (_C)",
        _ if kind & INDEXED != 0 => "indexes into a codebook (_V)",
        0 => "a waveform (kind 0)",
        5 => "16-bit reflection coefficients (kind 5, IREFC)",
        10 => "discrete symbols (kind 10)",
        _ => return Ok(()),
    };
    Err(Error::format(HTK, Problem::Unsupported(what.into()))
        .with_help("convert the file to uncompressed floats, with HCopy for instance"))
}

/// HTK's checksum of values, given by their bits.
fn checksum(values: impl Iterator<Item = u32>) -> u16 {
    // No term is too large: 65536 * 36896 + 65535 < 2^32.
    let add = |sum: u32, word: u32| (sum * 65536 + word) % MODULUS;
    values.fold(0, |sum, bits| add(add(sum, bits >> 16), bits & 0xffff)) as u16
}

fn read_checksum(reader: &mut ObjectReader, expected: u16) -> Result<()> {
    let at = reader.position();
    if reader.peek()?.is_none() {
        return Ok(());
    }
    let found = u16::from_be_bytes(reader.read_array("the checksum of an HTK file")?);
    if found == expected {
        return Ok(());
    }
    let allowed = format!("{expected}, by the values").into();
    let problem = Problem::OutOfRange { what: "checksum", found: found.into(), allowed };
    Err(reader.error_at(at, HTK, problem).with_help("the file is damaged"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_make_the_checksum() {
        // Worked out by hand: 65536 % 36897 = 28639.
        assert_eq!(checksum([0x0001_0002].into_iter()), 28641);
        assert_eq!(checksum([].into_iter()), 0);
    }

    #[test]
    fn kinds_without_floats_are_refused() {
        for kind in [0, 5, 10, 9 | COMPRESSED, 9 | INDEXED, 6 | 0o100 | COMPRESSED | CHECKSUM] {
            assert!(check_kind(kind).is_err(), "{kind:o}");
        }
        for kind in [1, 6, 9, 6 | 0o100 | CHECKSUM, 0o100_006] {
            assert!(check_kind(kind).is_ok(), "{kind:o}");
        }
    }
}
