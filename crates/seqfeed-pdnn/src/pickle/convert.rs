//! Converts numbers of one type to another.

use seqfeed_core::{Error, Problem, Result};

use super::bytes::BytesBuilder;
use super::element::half;
use super::{Bytes, Dtype, Number};

/// One number as a wider one. Integers of 64 bits keep their value in `i128`.
#[derive(Clone, Copy)]
enum Wide {
    Integer(i128),
    Float(f64),
}

/// Calls a body with a function from the bytes of an element to its value, for each type.
macro_rules! by_type {
    ($dtype:expr, $value:ident, $body:expr) => {{
        macro_rules! number {
            ($type:ty, $wide:expr) => {
                if $dtype.big_endian {
                    let $value =
                        |bytes: [u8; size_of::<$type>()]| $wide(<$type>::from_be_bytes(bytes));
                    $body
                } else {
                    let $value =
                        |bytes: [u8; size_of::<$type>()]| $wide(<$type>::from_le_bytes(bytes));
                    $body
                }
            };
        }
        match $dtype.number {
            Number::Bool => number!(u8, |v: u8| Wide::Integer((v != 0).into())),
            Number::I8 => number!(i8, |v: i8| Wide::Integer(v.into())),
            Number::I16 => number!(i16, |v: i16| Wide::Integer(v.into())),
            Number::I32 => number!(i32, |v: i32| Wide::Integer(v.into())),
            Number::I64 => number!(i64, |v: i64| Wide::Integer(v.into())),
            Number::U8 => number!(u8, |v: u8| Wide::Integer(v.into())),
            Number::U16 => number!(u16, |v: u16| Wide::Integer(v.into())),
            Number::U32 => number!(u32, |v: u32| Wide::Integer(v.into())),
            Number::U64 => number!(u64, |v: u64| Wide::Integer(v.into())),
            Number::F16 => number!(u16, |v: u16| Wide::Float(half(v).into())),
            Number::F32 => number!(f32, |v: f32| Wide::Float(v.into())),
            Number::F64 => number!(f64, |v: f64| Wide::Float(v)),
        }
    }};
}

impl Wide {
    fn to_f32(self) -> f32 {
        match self {
            Wide::Integer(value) => value as f32,
            Wide::Float(value) => value as f32,
        }
    }

    fn to_i32(self) -> Option<i32> {
        match self {
            Wide::Integer(value) => i32::try_from(value).ok(),
            Wide::Float(value) => {
                let integer = value as i32;
                (f64::from(integer) == value).then_some(integer)
            }
        }
    }
}

/// Elements as 32-bit floats in the machine's order, in place.
pub(super) fn to_f32(mut data: Bytes, dtype: Dtype) -> Bytes {
    if dtype.number == Number::F32 {
        if !dtype.is_native() {
            let (values, _) = data.make_mut().as_chunks_mut::<4>();
            values.iter_mut().for_each(|value| value.reverse());
        }
        return data;
    }
    let size = dtype.number.size();
    let count = data.len() / size;
    by_type!(dtype, value, {
        let convert = |bytes: &mut [u8], i: usize| {
            if let Some(element) = bytes[i * size..].first_chunk() {
                let float = value(*element).to_f32();
                bytes[4 * i..4 * i + 4].copy_from_slice(&float.to_ne_bytes());
            }
        };
        if size >= 4 {
            let bytes = data.make_mut();
            (0..count).for_each(|i| convert(bytes, i));
            data.resize(4 * count);
        } else {
            // From the last one on, so that none is overwritten before it is read.
            data.resize(4 * count);
            let bytes = data.make_mut();
            (0..count).rev().for_each(|i| convert(bytes, i));
        }
    });
    data
}

/// Elements as 32-bit integers.
pub(super) fn to_i32(data: &[u8], dtype: Dtype) -> Result<Vec<i32>> {
    let mut integers = Vec::with_capacity(data.len() / dtype.number.size());
    by_type!(dtype, value, {
        let (elements, _) = data.as_chunks();
        for element in elements {
            let wide = value(*element);
            let Some(integer) = wide.to_i32() else {
                let text = match wide {
                    Wide::Integer(value) => value.to_string(),
                    Wide::Float(value) => value.to_string(),
                };
                let text =
                    format!("element {} is {text}, which is no 32-bit integer", integers.len());
                return Err(Error::format("array", Problem::Unsupported(text.into())));
            };
            integers.push(integer);
        }
    });
    Ok(integers)
}

/// One number from its bytes, as `i64` or `f64`.
pub(super) fn scalar(data: &[u8], dtype: Dtype) -> Option<Result<i64, f64>> {
    by_type!(dtype, value, {
        let element = data.first_chunk().filter(|element| element.len() == data.len())?;
        match value(*element) {
            Wide::Integer(integer) => i64::try_from(integer).ok().map(Ok),
            Wide::Float(float) => Some(Err(float)),
        }
    })
}

/// Converts elements of four bytes from Fortran order to C order. A matrix is converted in place,
/// with a sixteenth of it as working memory.
pub(super) fn transposed(mut data: Bytes, shape: &[usize]) -> Bytes {
    match shape {
        _ if data.is_empty() => data,
        [] | [_] | [1, _] | [_, 1] => data,
        [rows, cols] => {
            let (values, _) = data.make_mut().as_chunks_mut();
            transpose(values, *rows, *cols, rows_at_once(*rows, values.len()));
            data
        }
        _ => permuted(&data, shape),
    }
}

/// The number of rows of a matrix that are made at once, from a copy.
fn rows_at_once(rows: usize, values: usize) -> usize {
    // A small matrix is made at once.
    if values <= 1 << 18 { rows } else { (rows / 32).clamp(1, 1024) }
}

/// Makes rows from columns, `step` rows at once: first their parts of all columns are brought
/// together.
fn transpose(values: &mut [[u8; 4]], rows: usize, cols: usize, step: usize) {
    let steps = rows / step;
    let whole = steps * step;
    let mut copy = vec![[0; 4]; step * cols];
    // The last rows, which do not fill a step, are kept aside.
    let mut rest = vec![[0; 4]; (rows - whole) * cols];
    for col in 0..cols {
        let column = &values[col * rows..][whole..rows];
        for (row, value) in column.iter().enumerate() {
            rest[row * cols + col] = *value;
        }
        values.copy_within(col * rows..col * rows + whole, col * whole);
    }
    transpose_pieces(values, cols, steps, &mut copy[..step]);
    for rows in values[..whole * cols].chunks_exact_mut(step * cols) {
        copy.copy_from_slice(rows);
        transpose_copy(&copy, rows, step, cols);
    }
    values[whole * cols..].copy_from_slice(&rest);
}

/// Transposes a matrix of blocks in place, along the cycles of the permutation.
fn transpose_pieces(values: &mut [[u8; 4]], rows: usize, cols: usize, piece: &mut [[u8; 4]]) {
    let len = piece.len();
    let mut done = vec![0u64; (rows * cols).div_ceil(64)];
    for first in 0..rows * cols {
        if done[first / 64] >> (first % 64) & 1 == 1 {
            continue;
        }
        piece.copy_from_slice(&values[first * len..][..len]);
        let mut to = first;
        loop {
            done[to / 64] |= 1 << (to % 64);
            let from = to % rows * cols + to / rows;
            if from == first {
                break;
            }
            values.copy_within(from * len..(from + 1) * len, to * len);
            to = from;
        }
        values[to * len..][..len].copy_from_slice(piece);
    }
}

/// Makes rows from columns in other memory.
fn transpose_copy(from: &[[u8; 4]], to: &mut [[u8; 4]], rows: usize, cols: usize) {
    // The side of square blocks: two of them fit the cache.
    const SIDE: usize = 32;
    for row in (0..rows).step_by(SIDE) {
        for col in (0..cols).step_by(SIDE) {
            for r in row..rows.min(row + SIDE) {
                for c in col..cols.min(col + SIDE) {
                    to[r * cols + c] = from[c * rows + r];
                }
            }
        }
    }
}

/// The same for any number of dimensions.
fn permuted(data: &Bytes, shape: &[usize]) -> Bytes {
    let (from, _) = data.as_slice().as_chunks::<4>();
    let mut builder = BytesBuilder::with_capacity(data.len());
    let mut place = vec![0; shape.len()];
    for _ in 0..from.len() {
        let mut index = 0;
        for (at, dim) in place.iter().zip(shape).rev() {
            index = index * dim + at;
        }
        builder.push(&from[index]);
        for (at, dim) in place.iter_mut().zip(shape).rev() {
            *at += 1;
            if *at < *dim {
                break;
            }
            *at = 0;
        }
    }
    builder.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn matrices_are_transposed_in_place() {
        for (rows, cols) in [(2, 2), (7, 3), (3, 7), (64, 5), (65, 11), (1, 4), (100, 1)] {
            for step in 1..=rows.min(9) {
                // Column after column: row times 1000 and column.
                let value = |at: usize| ((at % rows) * 1000 + at / rows) as u32;
                let mut values: Vec<[u8; 4]> =
                    (0..rows * cols).map(|at| value(at).to_ne_bytes()).collect();
                transpose(&mut values, rows, cols, step);
                let found: Vec<u32> = values.into_iter().map(u32::from_ne_bytes).collect();
                let expected: Vec<u32> =
                    (0..rows * cols).map(|at| (at / cols * 1000 + at % cols) as u32).collect();
                assert_eq!(found, expected, "{rows} x {cols}, {step} at once");
            }
        }
    }

    #[test]
    fn large_and_small_matrices_are_transposed() {
        for (rows, cols) in [(33_000, 8), (8, 33_000), (513, 512), (300, 2)] {
            let values: Vec<u32> = (0..(rows * cols) as u32).collect();
            let found = transposed(bytemuck::cast_slice(&values).into(), &[rows, cols]);
            let found: &[u32] = bytemuck::cast_slice(found.as_slice());
            let same = |(at, &value): (usize, &u32)| value as usize == at % cols * rows + at / cols;
            assert!(found.iter().enumerate().all(same), "{rows} x {cols}");
        }
    }

    #[test]
    fn clones_keep_their_values() {
        let halves: Bytes = [0x00u8, 0x3c, 0x00, 0xc0].as_slice().into();
        let floats = to_f32(halves.clone(), Dtype::little(Number::F16));
        assert_eq!(bytemuck::cast_slice::<u8, f32>(floats.as_slice()), [1.0, -2.0]);
        assert_eq!(halves.len(), 4);
    }
}
