//! Arrays of numbers.

use seqfeed_core::{Error, Problem, Result};

use super::convert;
use super::{Bytes, Dtype, Number};

/// An array of numbers, as it was written: its bytes are in the order of its type, its elements in
/// C order (the last dimension varies fastest) or Fortran order (the first one does).
///
/// A clone shares the bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Array {
    shape: Vec<usize>,
    dtype: Dtype,
    fortran: bool,
    data: Bytes,
}

/// The most dimensions in numpy.
const MOST_DIMENSIONS: usize = 64;

impl Array {
    /// An array from bytes that were read or made elsewhere.
    ///
    /// # Errors
    ///
    /// Fails if the number of bytes does not fit shape and type, or with more than 64 dimensions.
    pub fn new(shape: Vec<usize>, dtype: Dtype, fortran: bool, data: Bytes) -> Result<Self> {
        let size = dtype.number.size();
        if shape.len() > MOST_DIMENSIONS {
            let text =
                format!("an array of {} dimensions; there may be {MOST_DIMENSIONS}", shape.len());
            return Err(Error::format("array", Problem::Unsupported(text.into())));
        }
        let bytes = shape.iter().try_fold(size, |bytes, &dim| bytes.checked_mul(dim));
        if bytes != Some(data.len()) {
            let text = format!(
                "{} bytes for an array of shape {} and type {dtype}",
                data.len(),
                Shape(&shape)
            );
            return Err(Error::format("array", Problem::Unsupported(text.into())));
        }
        Ok(Self { shape, dtype, fortran, data })
    }

    /// An array of 32-bit floats.
    ///
    /// # Errors
    ///
    /// Fails if the number of values does not fit the shape.
    pub fn from_f32(shape: Vec<usize>, values: &[f32]) -> Result<Self> {
        Self::new(shape, Dtype::native(Number::F32), false, bytemuck::cast_slice(values).into())
    }

    /// An array of 32-bit integers.
    ///
    /// # Errors
    ///
    /// Fails if the number of values does not fit the shape.
    pub fn from_i32(shape: Vec<usize>, values: &[i32]) -> Result<Self> {
        Self::new(shape, Dtype::native(Number::I32), false, bytemuck::cast_slice(values).into())
    }

    /// Its dimensions; empty for a single number.
    #[must_use]
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// The type of its elements.
    #[must_use]
    pub fn dtype(&self) -> Dtype {
        self.dtype
    }

    /// Whether its first dimension varies fastest.
    #[must_use]
    pub fn is_fortran(&self) -> bool {
        self.fortran
    }

    /// Its bytes, as they were written.
    #[must_use]
    pub fn data(&self) -> &Bytes {
        &self.data
    }

    /// Number of elements.
    #[must_use]
    pub fn len(&self) -> usize {
        self.data.len() / self.dtype.number.size()
    }

    /// Whether there are no elements.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.data.is_empty()
    }

    /// The elements as 32-bit floats in the machine's order, in C order. Wider ones are rounded.
    ///
    /// They take the memory of the elements, unless a clone of this array exists. Arrays in Fortran
    /// order with more than two dimensions are copied.
    #[must_use]
    pub fn into_f32(self) -> Bytes {
        let Self { shape, dtype, fortran, data } = self;
        let values = convert::to_f32(data, dtype);
        if fortran { convert::transposed(values, &shape) } else { values }
    }

    /// The elements of a vector or a single number as 64-bit floats. `None` for types of numbers
    /// that are not integers or floats of 32 or 64 bits, and for more dimensions.
    #[must_use]
    pub fn to_f64(&self) -> Option<Vec<f64>> {
        let size = self.dtype.number.size();
        let number = |bytes: &[u8]| {
            let mut bytes = bytes.to_vec();
            if !self.dtype.is_native() {
                bytes.reverse();
            }
            Some(match self.dtype.number {
                Number::F64 => bytemuck::pod_read_unaligned(&bytes),
                Number::F32 => bytemuck::pod_read_unaligned::<f32>(&bytes).into(),
                Number::I64 => bytemuck::pod_read_unaligned::<i64>(&bytes) as f64,
                Number::I32 => bytemuck::pod_read_unaligned::<i32>(&bytes).into(),
                _ => return None,
            })
        };
        let elements = (self.shape.len() <= 1).then(|| self.data.as_slice().chunks_exact(size))?;
        elements.map(number).collect()
    }

    /// The elements as 32-bit integers, in C order.
    ///
    /// # Errors
    ///
    /// Fails with the first element that does not fit: too large, or with a fraction.
    pub fn to_i32(&self) -> Result<Vec<i32>> {
        let values = convert::to_i32(self.data.as_slice(), self.dtype)?;
        if self.fortran && self.shape.len() > 1 {
            let values: Bytes = bytemuck::cast_slice::<i32, u8>(&values).into();
            let values = convert::transposed(values, &self.shape);
            return Ok(bytemuck::cast_slice(values.as_slice()).to_vec());
        }
        Ok(values)
    }

    /// A description for messages: `float32 of shape (3, 4)`.
    pub(super) fn description(&self) -> String {
        format!("an array of type {} and shape {}", self.dtype, Shape(&self.shape))
    }
}

/// A shape in Python's notation.
pub(super) struct Shape<'a, T>(pub(super) &'a [T]);

impl<T: std::fmt::Display> std::fmt::Display for Shape<'_, T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.0 {
            [one] => write!(f, "({one},)"),
            dims => {
                let dims: Vec<String> = dims.iter().map(ToString::to_string).collect();
                write!(f, "({})", dims.join(", "))
            }
        }
    }
}
