//! Numbers of one type as numbers of another.

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

/// Elements as 32-bit floats in the machine's order; in the place of the old ones where they are as wide
/// or wider.
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
        if size >= 4 {
            let bytes = data.make_mut();
            for i in 0..count {
                if let Some(element) = bytes[i * size..].first_chunk() {
                    let float = value(*element).to_f32();
                    bytes[4 * i..4 * i + 4].copy_from_slice(&float.to_ne_bytes());
                }
            }
            data.truncate(4 * count);
        } else {
            let mut floats = BytesBuilder::with_capacity(4 * count);
            let (elements, _) = data.as_slice().as_chunks();
            for (out, element) in floats.spare(4 * count).chunks_exact_mut(4).zip(elements) {
                out.copy_from_slice(&value(*element).to_f32().to_ne_bytes());
            }
            floats.advance(4 * count);
            data = floats.finish();
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

/// One number out of its bytes, as `i64` or `f64`.
pub(super) fn scalar(data: &[u8], dtype: Dtype) -> Option<Result<i64, f64>> {
    by_type!(dtype, value, {
        let element = data.first_chunk().filter(|element| element.len() == data.len())?;
        match value(*element) {
            Wide::Integer(integer) => i64::try_from(integer).ok().map(Ok),
            Wide::Float(float) => Some(Err(float)),
        }
    })
}

/// Elements of four bytes in the order of C, from the order of Fortran.
pub(super) fn transposed(data: Bytes, shape: &[usize]) -> Bytes {
    let (rows, cols) = match shape {
        _ if data.is_empty() => return data,
        [] | [_] | [1, _] | [_, 1] => return data,
        [rows, cols] => (*rows, *cols),
        _ => return permuted(&data, shape),
    };
    let (from, _) = data.as_slice().as_chunks::<4>();
    let mut builder = BytesBuilder::with_capacity(data.len());
    let (to, _) = builder.spare(data.len()).as_chunks_mut::<4>();
    // Squares: both sides of one fit the cache.
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
    builder.advance(data.len());
    builder.finish()
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
