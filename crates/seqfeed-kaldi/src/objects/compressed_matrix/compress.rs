//! Compression, byte for byte as by Kaldi.
//!
//! Kaldi computes the codes in double precision and truncates them. Here they are computed in
//! single precision, in loops that compilers turn into vector instructions. The comments below show
//! that the result is the same for every value.

use bytemuck::Zeroable;
use seqfeed_core::{Error, Problem, Result};

use super::{CompressedMatrix, CompressionMethod};
use crate::OBJECT;
use crate::objects::compressed_header::CompressedHeader;
use crate::objects::compressed_header::levels::{self, LEVEL_BYTES};
use crate::objects::float::Float;
use crate::objects::matrix::{Matrix, check_shape};

/// The number of columns that are taken out of the rows at a time: few enough to stay in the cache.
const COLUMNS: usize = 8;

/// Adding this to a number below 2^22 leaves the nearest integer in the last bits of the sum.
const ROUNDING: f32 = (1u32 << 23) as f32;

pub(super) fn compress<T: Float>(
    matrix: &Matrix<T>,
    method: CompressionMethod,
) -> Result<CompressedMatrix> {
    check_shape(matrix.rows, matrix.cols, matrix.values.len())?;
    if matrix.values.is_empty() {
        return Ok(CompressedMatrix::default());
    }
    let sizes = (u32::try_from(matrix.rows), u32::try_from(matrix.cols));
    let (Ok(rows @ 0..0x8000_0000), Ok(cols @ 0..0x8000_0000)) = sizes else {
        let (rows, cols) = (matrix.rows, matrix.cols);
        return Err(unsupported(format!("{rows} rows and {cols} columns are too many")));
    };
    let narrowed: Vec<f32>;
    let values = if T::LETTER == b'F' {
        bytemuck::cast_slice(&matrix.values)
    } else {
        narrowed = matrix.values.iter().map(|value| value.to_f64() as f32).collect();
        &narrowed
    };
    let (format, fixed) = match method {
        CompressionMethod::Auto if rows > 8 => (1, None),
        CompressionMethod::Speech => (1, None),
        CompressionMethod::Auto | CompressionMethod::TwoByteAuto => (2, None),
        CompressionMethod::TwoByteSignedInteger => (2, Some((-32768.0, 65535.0))),
        CompressionMethod::OneByteAuto => (3, None),
        CompressionMethod::OneByteUnsignedInteger => (3, Some((0.0, 255.0))),
        CompressionMethod::OneByteZeroOne => (3, Some((0.0, 1.0))),
    };
    let (min, range) = match fixed {
        Some(fixed) => fixed,
        None => extent(values)?,
    };
    let header = CompressedHeader { format, min, range, rows, cols };
    let data = match format {
        1 => columns(&header, values),
        2 => {
            let mut data = vec![0; 2 * values.len()];
            for (&value, out) in values.iter().zip(data.as_chunks_mut::<2>().0) {
                *out = (code(value, min, range, 65535.0) as u16).to_le_bytes();
            }
            data
        }
        _ => {
            let mut data = vec![0; values.len()];
            for (&value, out) in values.iter().zip(&mut data) {
                *out = code(value, min, range, 255.0) as u8;
            }
            data
        }
    };
    Ok(CompressedMatrix { header, data })
}

fn unsupported(what: String) -> Error {
    Error::format(OBJECT, Problem::Unsupported(what.into()))
}

/// The least value, and the difference to the greatest.
///
/// # Errors
///
/// Fails if these make no scale, because of infinite values or NaN.
fn extent(values: &[f32]) -> Result<(f32, f32)> {
    const LANES: usize = 8;
    let first = values[0];
    let (mut low, mut high, mut check) = ([first; LANES], [first; LANES], [0.0; LANES]);
    let (chunks, rest) = values.as_chunks::<LANES>();
    let mut take = |lane: usize, value: f32| {
        low[lane] = if value < low[lane] { value } else { low[lane] };
        high[lane] = if value > high[lane] { value } else { high[lane] };
        // Stays 0 as long as all values are finite.
        check[lane] += value * 0.0;
    };
    for chunk in chunks {
        for (lane, &value) in chunk.iter().enumerate() {
            take(lane, value);
        }
    }
    rest.iter().enumerate().for_each(|(lane, &value)| take(lane, value));
    if check.iter().any(|&check| check != 0.0) {
        let at = values.iter().position(|value| !value.is_finite()).unwrap_or(0);
        let what = format!("value {at} is {}, which cannot be compressed", values[at]);
        return Err(unsupported(what)
            .with_help("store the matrix uncompressed, or find out where the value comes from"));
    }
    let mut min = low.iter().fold(first, |a, &b| if b < a { b } else { a });
    let mut max = high.iter().fold(first, |a, &b| if b > a { b } else { a });
    if min == 0.0 {
        // Kaldi keeps the first of equal values. This shows in the sign of a zero.
        min = values.iter().copied().find(|&value| value == 0.0).unwrap_or(min);
    }
    if max == min {
        max = (f64::from(min) + (1.0 + f64::from(min.abs()))) as f32;
    }
    let range = max - min;
    if !range.is_finite() {
        let what = format!("from {min} to {max} it is too far for 32-bit floats to compress");
        return Err(unsupported(what).with_help("store the matrix uncompressed"));
    }
    Ok((min, range))
}

/// The code of a value: `trunc(y + 0.499)` with 64 bits, where `y` is its position on the scale
/// times the highest code. 0 for NaN.
#[inline]
fn code(value: f32, min: f32, range: f32, top: f32) -> u32 {
    let place = (value - min) / range;
    let place = if place > 0.0 { place } else { 0.0 };
    let place = if place < 1.0 { place } else { 1.0 };
    truncate_499(place * top)
}

/// `trunc(y + 0.499)`, the sum in 64 bits, for 0 to 65535.
///
/// The sum with 2^23 rounds to the nearest integer. That is wrong only if it rounds up a fraction
/// less than 0.501 (as a 32-bit float, 0.499 is a bit more). The difference is exact, since both
/// lie within a factor of 2, or `y` is below 1.
#[inline]
fn truncate_499(y: f32) -> u32 {
    let sum = y + ROUNDING;
    let over = y - (sum - ROUNDING);
    (sum.to_bits() & 0x003f_ffff).wrapping_sub(u32::from(over <= -0.499))
}

/// `trunc(x + 0.5)`, the sum in 64 bits, for 0 to 255: ties are rounded up.
#[inline]
fn truncate_half(x: f32) -> u32 {
    let sum = x + ROUNDING;
    let over = x - (sum - ROUNDING);
    (sum.to_bits() & 0x003f_ffff).wrapping_add(u32::from(over >= 0.5))
}

/// The data of the format `CM`.
fn columns(header: &CompressedHeader, values: &[f32]) -> Vec<u8> {
    let (rows, cols) = (header.rows as usize, header.cols as usize);
    let mut data = vec![0; cols * LEVEL_BYTES + values.len()];
    let (levels, bytes) = data.split_at_mut(cols * LEVEL_BYTES);
    let mut block = vec![0.0; rows * COLUMNS.min(cols)];
    let mut codes = vec![0; rows];
    let mut columns =
        levels.as_chunks_mut::<LEVEL_BYTES>().0.iter_mut().zip(bytes.chunks_exact_mut(rows));
    for first in (0..cols).step_by(COLUMNS) {
        let count = COLUMNS.min(cols - first);
        transpose(values, cols, first, &mut block, rows, count);
        for (column, (levels, bytes)) in block.chunks_exact(rows).zip(&mut columns).take(count) {
            for (&value, out) in column.iter().zip(&mut codes) {
                *out = code(value, header.min, header.range, 65535.0) as u16;
            }
            let level_codes = levels::of_column(&codes);
            *levels = bytemuck::cast(level_codes.map(u16::to_le_bytes));
            column_bytes(column, levels::values(header, level_codes), bytes);
        }
    }
    data
}

/// Copies `count` columns out of rows, from column `first` on.
fn transpose(
    values: &[f32],
    cols: usize,
    first: usize,
    block: &mut [f32],
    rows: usize,
    count: usize,
) {
    if count == COLUMNS {
        let mut columns = block.chunks_exact_mut(rows);
        let mut column = || columns.next().unwrap_or_default();
        let mut columns: [&mut [f32]; COLUMNS] = std::array::from_fn(|_| column());
        for (at, row) in values.chunks_exact(cols).enumerate() {
            let mut part = <[f32; COLUMNS]>::zeroed();
            part.copy_from_slice(&row[first..first + COLUMNS]);
            for (column, value) in columns.iter_mut().zip(part) {
                column[at] = value;
            }
        }
        return;
    }
    for (number, column) in block.chunks_exact_mut(rows).take(count).enumerate() {
        for (out, row) in column.iter_mut().zip(values.chunks_exact(cols)) {
            *out = row[first + number];
        }
    }
}

/// The bytes of a column: the positions of its values between its levels.
fn column_bytes(column: &[f32], [least, lower, upper, greatest]: [f32; 4], bytes: &mut [u8]) {
    // If levels coincide (a range too narrow for 32 bits), Kaldi's quotient is infinite or NaN. Its
    // conversion to an integer gives the end of the range, as 0 does here.
    let width = |low: f32, high: f32| if high == low { f32::NAN } else { high - low };
    let widths = [width(least, lower), width(lower, upper), width(upper, greatest)];
    for (&value, byte) in column.iter().zip(bytes) {
        let (first, second) = (value < lower, value < upper);
        let select = |a, b, c| if first { a } else { if second { b } else { c } };
        let base = select(least, lower, upper);
        let width = select(widths[0], widths[1], widths[2]);
        let steps = select(64.0, 128.0, 63.0);
        let start = if first { 0 } else { if second { 64 } else { 192 } };
        let place = (value - base) / width * steps;
        let place = if place > 0.0 { place } else { 0.0 };
        let place = if place < steps { place } else { steps };
        *byte = (truncate_half(place) + start) as u8;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn truncates_as_in_double_precision() {
        let check = |y: f32| {
            assert_eq!(truncate_499(y), (f64::from(y) + 0.499) as u32, "{y}");
            if y <= 255.0 {
                assert_eq!(truncate_half(y), (f64::from(y) + 0.5) as u32, "{y}");
            }
        };
        check(0.0);
        check(f32::MIN_POSITIVE);
        // Around every place where the outcome changes.
        for integer in 0..65535u16 {
            for fraction in [0.0, 0.499, 0.5, 0.501] {
                let bits = (f32::from(integer) + fraction).to_bits();
                (bits.saturating_sub(40)..bits + 40).map(f32::from_bits).for_each(check);
            }
        }
        check(65535.0);
    }

    #[test]
    #[ignore = "a minute without the optimizer; run with --release"]
    fn truncates_every_value_as_in_double_precision() {
        for bits in 0..=65535f32.to_bits() {
            let y = f32::from_bits(bits);
            assert_eq!(truncate_499(y), (f64::from(y) + 0.499) as u32, "{y}");
            assert!(y > 255.0 || truncate_half(y) == (f64::from(y) + 0.5) as u32, "{y}");
        }
    }
}
