//! From values to codes.

use seqfeed_core::{Error, Problem, Result};

use crate::OBJECT;
use crate::objects::compressed_matrix::decompress::Curve;
use crate::objects::compressed_matrix::{CompressedHeader, CompressedMatrix};
use crate::objects::float::Float;
use crate::objects::matrix::Matrix;

/// How a matrix is compressed, numbered as in Kaldi's `--compression-method`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum CompressionMethod {
    /// `Speech` for more than 8 rows, else `TwoByteAuto`.
    #[default]
    Auto = 1,
    /// One byte a value, on a scale of its own for each column (`CM`): for features.
    Speech = 2,
    /// Two bytes a value, from the smallest to the largest (`CM2`).
    TwoByteAuto = 3,
    /// Two bytes a value, for integers from -32768 to 32767 (`CM2`).
    TwoByteSigned = 4,
    /// One byte a value, from the smallest to the largest (`CM3`).
    OneByteAuto = 5,
    /// One byte a value, for integers from 0 to 255 (`CM3`).
    OneByteUnsigned = 6,
    /// One byte a value, from 0 to 1 (`CM3`).
    OneByteZeroOne = 7,
}

impl TryFrom<i32> for CompressionMethod {
    type Error = Error;

    fn try_from(number: i32) -> Result<Self> {
        Ok(match number {
            1 => Self::Auto,
            2 => Self::Speech,
            3 => Self::TwoByteAuto,
            4 => Self::TwoByteSigned,
            5 => Self::OneByteAuto,
            6 => Self::OneByteUnsigned,
            7 => Self::OneByteZeroOne,
            _ => {
                return Err(Error::usage(format!("there is no compression method {number}"))
                    .with_help("the methods are 1 (auto) to 7"));
            }
        })
    }
}

impl CompressedMatrix {
    /// Compresses a matrix, to the same bytes as Kaldi.
    ///
    /// # Errors
    ///
    /// Fails if the matrix holds infinities or NaN and the method takes its range from the values, or
    /// if there are more rows or columns than the format can say.
    pub fn compress<T: Float>(matrix: &Matrix<T>, method: CompressionMethod) -> Result<Self> {
        if matrix.values.is_empty() {
            return Ok(Self::default());
        }
        let too_large = || {
            let what = "the matrix is too large for Kaldi's format".into();
            Error::format(OBJECT, Problem::Unsupported(what))
        };
        let size =
            |size: usize| i32::try_from(size).map_err(|_| too_large()).map(|size| size as u32);
        let (rows, cols) = (size(matrix.rows)?, size(matrix.cols)?);
        let method = match method {
            CompressionMethod::Auto if rows > 8 => CompressionMethod::Speech,
            CompressionMethod::Auto => CompressionMethod::TwoByteAuto,
            method => method,
        };
        let (format, (min, range)) = match method {
            CompressionMethod::Auto | CompressionMethod::Speech => (1, range_of(&matrix.values)?),
            CompressionMethod::TwoByteAuto => (2, range_of(&matrix.values)?),
            CompressionMethod::TwoByteSigned => (2, (-32768.0, 65535.0)),
            CompressionMethod::OneByteAuto => (3, range_of(&matrix.values)?),
            CompressionMethod::OneByteUnsigned => (3, (0.0, 255.0)),
            CompressionMethod::OneByteZeroOne => (3, (0.0, 1.0)),
        };
        let header = CompressedHeader { format, min, range, rows, cols };
        let values = &matrix.values;
        let data = match format {
            1 => header.compress_columns(values),
            2 => {
                let mut data = vec![0; 2 * values.len()];
                for (out, &value) in data.chunks_exact_mut(2).zip(values) {
                    out.copy_from_slice(&header.code16(value.to_f32()).to_le_bytes());
                }
                data
            }
            _ => values.iter().map(|&value| header.code8(value.to_f32())).collect(),
        };
        Ok(Self { header, data })
    }
}

/// The smallest value, and how much larger the largest is.
fn range_of<T: Float>(values: &[T]) -> Result<(f32, f32)> {
    // Sixteen at a time: minima of halves can be taken side by side.
    let (mut low, mut high, mut odd) = ([f32::INFINITY; 16], [f32::NEG_INFINITY; 16], 0.0f32);
    let mut see = |chunk: &[T]| {
        for ((&value, low), high) in chunk.iter().zip(&mut low).zip(&mut high) {
            let value = value.to_f32();
            *low = if value < *low { value } else { *low };
            *high = if value > *high { value } else { *high };
            // Zero, unless a value is infinite or no number.
            odd += value - value;
        }
    };
    let chunks = values.chunks_exact(16);
    see(chunks.remainder());
    chunks.for_each(see);
    let min = low.into_iter().fold(f32::INFINITY, f32::min);
    let max = high.into_iter().fold(f32::NEG_INFINITY, f32::max);
    if odd != 0.0 {
        let what = "a matrix with infinite values or NaN cannot be compressed this way".into();
        return Err(Error::format(OBJECT, Problem::Unsupported(what)).with_help(
            "take a method with a fixed range (4, 6 or 7), or do not compress this matrix",
        ));
    }
    let max = match max == min {
        true => (f64::from(min) + (1.0 + f64::from(min.abs()))) as f32,
        false => max,
    };
    Ok((min, max - min))
}

impl CompressedHeader {
    /// Where in the range a value lies, from 0 to 1. NaN stays NaN.
    #[inline]
    fn place(&self, value: f32) -> f32 {
        let place = (value - self.min) / self.range;
        let place = if place > 1.0 { 1.0 } else { place };
        if place < 0.0 { 0.0 } else { place }
    }

    #[inline]
    fn code16(&self, value: f32) -> u16 {
        // Converting takes NaN to 0, as Kaldi's conversion does on its machines.
        (f64::from(self.place(value) * 65535.0) + 0.499) as i32 as u16
    }

    #[inline]
    fn code8(&self, value: f32) -> u8 {
        (f64::from(self.place(value) * 255.0) + 0.499) as i32 as u8
    }

    fn compress_columns<T: Float>(&self, values: &[T]) -> Vec<u8> {
        /// Columns that are taken apart at a time: a line of the cache.
        const COLUMNS: usize = 16;
        let (rows, cols) = (self.rows as usize, self.cols as usize);
        let mut data = vec![0; 8 * cols + rows * cols];
        let (headers, codes) = data.split_at_mut(8 * cols);
        let mut columns = vec![0.0f32; COLUMNS * rows];
        let mut codes16 = vec![0u16; rows];
        for first in (0..cols).step_by(COLUMNS) {
            let count = COLUMNS.min(cols - first);
            for (row, values) in values.chunks_exact(cols).enumerate() {
                for (col, &value) in values[first..first + count].iter().enumerate() {
                    columns[col * rows + row] = value.to_f32();
                }
            }
            for (at, column) in columns.chunks_exact(rows).take(count).enumerate() {
                for (code, &value) in codes16.iter_mut().zip(column) {
                    *code = self.code16(value);
                }
                let percentiles = percentiles(&codes16);
                let col = first + at;
                for (out, code) in
                    headers[8 * col..8 * col + 8].chunks_exact_mut(2).zip(percentiles)
                {
                    out.copy_from_slice(&code.to_le_bytes());
                }
                let [p0, p25, p75, p100] = percentiles.map(|code| self.percentile(code));
                let curve = Curve { p0, p25, p75, p100 };
                for (out, &value) in codes[col * rows..(col + 1) * rows].iter_mut().zip(column) {
                    *out = curve.code(value);
                }
            }
        }
        data
    }
}

impl Curve {
    /// The code of a value.
    #[inline]
    fn code(&self, value: f32) -> u8 {
        let low = value < self.p25;
        let middle = value < self.p75;
        // One division for whichever line it is.
        let (start, end, steps, first, last) = if low {
            (self.p0, self.p25, 64.0, 0, 64)
        } else if middle {
            (self.p25, self.p75, 128.0, 64, 192)
        } else {
            (self.p75, self.p100, 63.0, 192, 255)
        };
        let step = f64::from((value - start) / (end - start) * steps) + 0.5;
        (first + step as i32).clamp(first, last) as u8
    }
}

/// The codes of the smallest, the quarter, the three-quarter and the largest value, made to be
/// different from one another.
///
/// Kaldi sorts the values and takes the codes of four of them. Codes rise with values, so the codes of
/// the four are the four of the codes; and those are found by counting.
fn percentiles(codes: &[u16]) -> [u16; 4] {
    let count = codes.len();
    if count < 5 {
        let mut sorted = [0; 4];
        let sorted = &mut sorted[..count];
        sorted.copy_from_slice(codes);
        sorted.sort_unstable();
        let at = |i: usize| sorted.get(i).copied();
        return apart(at(0), at(1), at(2), at(3));
    }
    let quarter = count / 4;
    // Four tables, so that equal codes that follow one another do not wait for each other.
    let mut tables = [[0u32; 256]; 4];
    let fours = codes.chunks_exact(4);
    for &code in fours.remainder() {
        tables[0][usize::from(code >> 8)] += 1;
    }
    for four in fours {
        for (table, &code) in tables.iter_mut().zip(four) {
            table[usize::from(code >> 8)] += 1;
        }
    }
    let mut high = tables[0];
    for table in &tables[1..] {
        high.iter_mut().zip(table).for_each(|(sum, count)| *sum += count);
    }
    let ranked = |rank: usize| {
        let (page, rank) = find(&high, rank);
        let mut low = [0u32; 256];
        for &code in codes {
            // Added where it counts, without a branch that could be guessed wrong.
            low[usize::from(code & 0xff)] += u32::from(usize::from(code >> 8) == page);
        }
        (page << 8 | find(&low, rank).0) as u16
    };
    let (min, max) =
        codes.iter().fold((u16::MAX, 0), |(min, max), &code| (min.min(code), max.max(code)));
    apart(Some(min), Some(ranked(quarter)), Some(ranked(3 * quarter)), Some(max))
}

/// In which of the counted places a rank lies, and which rank it is there.
fn find(counts: &[u32; 256], mut rank: usize) -> (usize, usize) {
    for (place, &count) in counts.iter().enumerate() {
        let count = count as usize;
        if rank < count {
            return (place, rank);
        }
        rank -= count;
    }
    (255, 0)
}

/// Percentiles that rise by one at least; missing ones stand right above the one before.
fn apart(p0: Option<u16>, p25: Option<u16>, p75: Option<u16>, p100: Option<u16>) -> [u16; 4] {
    let above = |code: Option<u16>, before: u16| {
        let least = before.saturating_add(1);
        code.map_or(least, |code| code.max(least))
    };
    let p0 = p0.unwrap_or(0).min(65532);
    let p25 = above(p25, p0).min(65533);
    let p75 = above(p75, p25).min(65534);
    [p0, p25, p75, above(p100, p75)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_those_of_the_sorted_codes() {
        let mut state = 7u64;
        for count in [5, 6, 7, 8, 100, 999] {
            for spread in [1, 3, 300, 65536u64] {
                let codes: Vec<u16> = (0..count)
                    .map(|_| {
                        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                        ((state >> 33) % spread) as u16
                    })
                    .collect();
                let mut sorted = codes.clone();
                sorted.sort_unstable();
                let quarter = count / 4;
                let expected = apart(
                    Some(sorted[0]),
                    Some(sorted[quarter]),
                    Some(sorted[3 * quarter]),
                    Some(sorted[count - 1]),
                );
                assert_eq!(percentiles(&codes), expected);
            }
        }
    }
}
