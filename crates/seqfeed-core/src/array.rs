//! A growable buffer of one element type.

use std::io;

use crate::{Element, Error, Result, bf16, f16};

/// A buffer of values of one [`Element`] type that can be used again.
///
/// [`resize`](Array::resize) never gives memory back, and never clears old values. So using a
/// buffer again costs nothing.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Array {
    /// 32-bit floats.
    F32(Vec<f32>),
    /// 64-bit floats.
    F64(Vec<f64>),
    /// 32-bit signed integers.
    I32(Vec<i32>),
    /// 16-bit floats.
    F16(Vec<f16>),
    /// The upper 16 bits of 32-bit floats.
    BF16(Vec<bf16>),
    /// 64-bit signed integers.
    I64(Vec<i64>),
}

fn no_memory(len: usize, size: usize) -> Error {
    let bytes = len as u128 * size as u128;
    let error = io::Error::new(io::ErrorKind::OutOfMemory, format!("{bytes} bytes are not there"));
    Error::system("taking memory for a minibatch", error).with_help(
        "give `memory`, so that it is refused before; smaller minibatches, `bucket`, less context, or a layout without padding take less",
    )
}

macro_rules! each {
    ($array:expr, $values:ident => $body:expr) => {
        match $array {
            Array::F32($values) => $body,
            Array::F64($values) => $body,
            Array::I32($values) => $body,
            Array::F16($values) => $body,
            Array::BF16($values) => $body,
            Array::I64($values) => $body,
        }
    };
}

impl Array {
    /// An empty buffer.
    #[must_use]
    pub fn new(element: Element) -> Self {
        match element {
            Element::F32 => Array::F32(Vec::new()),
            Element::F64 => Array::F64(Vec::new()),
            Element::I32 => Array::I32(Vec::new()),
            Element::F16 => Array::F16(Vec::new()),
            Element::BF16 => Array::BF16(Vec::new()),
            Element::I64 => Array::I64(Vec::new()),
        }
    }

    /// The type of the values.
    #[must_use]
    pub fn element(&self) -> Element {
        match self {
            Array::F32(_) => Element::F32,
            Array::F64(_) => Element::F64,
            Array::I32(_) => Element::I32,
            Array::F16(_) => Element::F16,
            Array::BF16(_) => Element::BF16,
            Array::I64(_) => Element::I64,
        }
    }

    /// Number of values.
    #[must_use]
    pub fn len(&self) -> usize {
        each!(self, values => values.len())
    }

    /// Whether there are no values.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Number of values that fit without new memory.
    #[must_use]
    pub fn capacity(&self) -> usize {
        each!(self, values => values.capacity())
    }

    /// Makes the buffer `len` values long. New values are zero, old ones stay.
    ///
    /// # Errors
    ///
    /// Fails if there is not enough memory; the buffer is then unchanged.
    pub fn resize(&mut self, len: usize) -> Result<()> {
        let size = self.element().size();
        each!(self, values => {
            if len > values.capacity() {
                let more = len - values.len();
                values.try_reserve_exact(more).map_err(|_| no_memory(len, size))?;
            }
            values.resize(len, Default::default());
        });
        Ok(())
    }

    /// The values as bytes in the machine's order.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        each!(self, values => bytemuck::cast_slice(values))
    }

    /// The values as bytes in the machine's order, to write to.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        each!(self, values => bytemuck::cast_slice_mut(values))
    }

    /// The values, if they are 32-bit floats.
    #[must_use]
    pub fn as_f32(&self) -> Option<&[f32]> {
        if let Array::F32(values) = self { Some(values) } else { None }
    }

    /// The values, if they are 64-bit floats.
    #[must_use]
    pub fn as_f64(&self) -> Option<&[f64]> {
        if let Array::F64(values) = self { Some(values) } else { None }
    }

    /// The values, if they are 32-bit integers.
    #[must_use]
    pub fn as_i32(&self) -> Option<&[i32]> {
        if let Array::I32(values) = self { Some(values) } else { None }
    }

    /// The values, if they are 16-bit floats.
    #[must_use]
    pub fn as_f16(&self) -> Option<&[f16]> {
        if let Array::F16(values) = self { Some(values) } else { None }
    }

    /// The values, if they are the upper 16 bits of 32-bit floats.
    #[must_use]
    pub fn as_bf16(&self) -> Option<&[bf16]> {
        if let Array::BF16(values) = self { Some(values) } else { None }
    }

    /// The values, if they are 64-bit integers.
    #[must_use]
    pub fn as_i64(&self) -> Option<&[i64]> {
        if let Array::I64(values) = self { Some(values) } else { None }
    }
}
