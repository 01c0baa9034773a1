//! The types of numbers in columns, and their conversion to those of blocks.

use arrow_array::types::{ArrowPrimitiveType, Float16Type};
use arrow_schema::DataType;
use seqfeed_core::{Element, Error, Problem, Result};

type Half = <Float16Type as ArrowPrimitiveType>::Native;

/// The type of a number in a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Number {
    F16,
    F32,
    F64,
    I8,
    I16,
    I32,
    I64,
    U8,
    U16,
    U32,
    U64,
}

impl Number {
    pub(crate) fn of(data_type: &DataType) -> Option<Self> {
        Some(match data_type {
            DataType::Float16 => Number::F16,
            DataType::Float32 => Number::F32,
            DataType::Float64 => Number::F64,
            DataType::Int8 => Number::I8,
            DataType::Int16 => Number::I16,
            DataType::Int32 => Number::I32,
            DataType::Int64 => Number::I64,
            DataType::UInt8 => Number::U8,
            DataType::UInt16 => Number::U16,
            DataType::UInt32 => Number::U32,
            DataType::UInt64 => Number::U64,
            _ => return None,
        })
    }

    pub(crate) fn size(self) -> usize {
        match self {
            Number::I8 | Number::U8 => 1,
            Number::F16 | Number::I16 | Number::U16 => 2,
            Number::F32 | Number::I32 | Number::U32 => 4,
            Number::F64 | Number::I64 | Number::U64 => 8,
        }
    }

    pub(crate) fn is_float(self) -> bool {
        matches!(self, Number::F16 | Number::F32 | Number::F64)
    }

    /// The element that holds it without loss; integers are labels.
    pub(crate) fn element(self) -> Element {
        match self {
            Number::F16 | Number::F32 => Element::F32,
            Number::F64 => Element::F64,
            _ => Element::I32,
        }
    }

    /// Whether it has the same bytes as an element.
    pub(crate) fn is(self, element: Element) -> bool {
        matches!(
            (self, element),
            (Number::F32, Element::F32) | (Number::F64, Element::F64) | (Number::I32, Element::I32)
        )
    }

    /// Converts numbers as stored in a file (little-endian) to elements in the machine's order.
    ///
    /// Integers beyond 32 bits are errors; floats are rounded.
    pub(crate) fn convert(self, bytes: &[u8], element: Element, out: &mut [u8]) -> Result<()> {
        match (self, element) {
            (Number::F16, _) => real(bytes, element, out, |b| f64::from(Half::from_le_bytes(b))),
            (Number::F32, _) => real(bytes, element, out, |b| f64::from(f32::from_le_bytes(b))),
            (Number::F64, _) => real(bytes, element, out, f64::from_le_bytes),
            (Number::I8, _) => whole(bytes, element, out, |b| i8::from_le_bytes(b).into()),
            (Number::U8, _) => whole(bytes, element, out, |b| u8::from_le_bytes(b).into()),
            (Number::I16, _) => whole(bytes, element, out, |b| i16::from_le_bytes(b).into()),
            (Number::U16, _) => whole(bytes, element, out, |b| u16::from_le_bytes(b).into()),
            (Number::I32, _) => whole(bytes, element, out, |b| i32::from_le_bytes(b).into()),
            (Number::U32, _) => whole(bytes, element, out, |b| u32::from_le_bytes(b).into()),
            (Number::I64, _) => whole(bytes, element, out, i64::from_le_bytes),
            (Number::U64, _) => whole(bytes, element, out, |b| {
                i64::try_from(u64::from_le_bytes(b)).unwrap_or(i64::MAX)
            }),
        }
    }
}

fn real<const N: usize>(
    bytes: &[u8],
    element: Element,
    out: &mut [u8],
    decode: impl Fn([u8; N]) -> f64,
) -> Result<()> {
    let values = bytes.as_chunks::<N>().0.iter().map(|&bytes| decode(bytes));
    match element {
        Element::F32 => fill(out, values.map(|value| (value as f32).to_ne_bytes())),
        Element::F64 => fill(out, values.map(f64::to_ne_bytes)),
        _ => return Err(Error::corpus("floats cannot be labels")),
    }
    Ok(())
}

fn whole<const N: usize>(
    bytes: &[u8],
    element: Element,
    out: &mut [u8],
    decode: impl Fn([u8; N]) -> i64,
) -> Result<()> {
    let mut values = bytes.as_chunks::<N>().0.iter().map(|&bytes| decode(bytes));
    match element {
        Element::F32 => fill(out, values.map(|value| (value as f32).to_ne_bytes())),
        Element::F64 => fill(out, values.map(|value| (value as f64).to_ne_bytes())),
        _ => {
            let wrong = |value: &i64| i32::try_from(*value).is_err();
            if let Some(found) = values.clone().find(wrong) {
                let allowed = "a number of 32 bits".into();
                let problem = Problem::OutOfRange { what: "a label", found, allowed };
                return Err(Error::format(crate::ARROW, problem));
            }
            fill(out, values.by_ref().map(|value| (value as i32).to_ne_bytes()));
        }
    }
    Ok(())
}

fn fill<const N: usize>(out: &mut [u8], values: impl Iterator<Item = [u8; N]>) {
    for (out, value) in out.as_chunks_mut::<N>().0.iter_mut().zip(values) {
        *out = value;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_become_elements() {
        let mut out = [0; 8];
        Number::F64.convert(&1.5f64.to_le_bytes(), Element::F32, &mut out[..4]).unwrap();
        assert_eq!(out[..4], 1.5f32.to_ne_bytes());
        Number::F16.convert(&[0, 0x3e], Element::F64, &mut out).unwrap();
        assert_eq!(out, 1.5f64.to_ne_bytes());
        Number::I16.convert(&(-7i16).to_le_bytes(), Element::F32, &mut out[..4]).unwrap();
        assert_eq!(out[..4], (-7f32).to_ne_bytes());
        Number::I64.convert(&(-7i64).to_le_bytes(), Element::I32, &mut out[..4]).unwrap();
        assert_eq!(out[..4], (-7i32).to_ne_bytes());
        for number in [(Number::I64, i64::MIN.to_le_bytes()), (Number::U64, [0xff; 8])] {
            let error = number.0.convert(&number.1, Element::I32, &mut out[..4]).unwrap_err();
            assert!(error.message().contains("32 bits"), "{error}");
        }
    }
}
