//! Floating-point numbers of 32 and 64 bits.

use std::fmt::Debug;
use std::ops::{Add, AddAssign, Mul, MulAssign};

use bytemuck::Pod;
use ndarray::LinalgScalar;

/// `f32` and `f64`. A stream is computed with the type of its values.
pub trait Float:
    Pod + Debug + PartialOrd + LinalgScalar + Send + Sync + Add + AddAssign + Mul + MulAssign
{
    /// The nearest number of this type.
    fn from_f64(value: f64) -> Self;

    /// The same number with 64 bits.
    fn to_f64(self) -> f64;

    /// The natural logarithm.
    #[must_use]
    fn ln(self) -> Self;
}

impl Float for f32 {
    fn from_f64(value: f64) -> Self {
        value as f32
    }

    fn to_f64(self) -> f64 {
        self.into()
    }

    fn ln(self) -> Self {
        self.ln()
    }
}

impl Float for f64 {
    fn from_f64(value: f64) -> Self {
        value
    }

    fn to_f64(self) -> f64 {
        self
    }

    fn ln(self) -> Self {
        self.ln()
    }
}
