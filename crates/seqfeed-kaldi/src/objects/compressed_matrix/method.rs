//! The methods of compressing a matrix.

use seqfeed_core::{Error, Problem, Result};

use crate::OBJECT;

/// A method of compression: Kaldi's `CompressionMethod`, with the same numbers (the
/// `--compression-method` of its tools).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(i32)]
pub enum CompressionMethod {
    /// [`Speech`](Self::Speech) for more than 8 rows, else [`TwoByteAuto`](Self::TwoByteAuto).
    #[default]
    Auto = 1,
    /// A byte a value, between quartiles of its column (`CM`).
    Speech = 2,
    /// Two bytes a value, from the least to the greatest (`CM2`).
    TwoByteAuto = 3,
    /// Two bytes a value, integers from -32768 to 32767 (`CM2`).
    TwoByteSignedInteger = 4,
    /// A byte a value, from the least to the greatest (`CM3`).
    OneByteAuto = 5,
    /// A byte a value, integers from 0 to 255 (`CM3`).
    OneByteUnsignedInteger = 6,
    /// A byte a value, from 0 to 1 (`CM3`).
    OneByteZeroOne = 7,
}

impl CompressionMethod {
    /// All methods, by their numbers.
    pub const ALL: [Self; 7] = [
        Self::Auto,
        Self::Speech,
        Self::TwoByteAuto,
        Self::TwoByteSignedInteger,
        Self::OneByteAuto,
        Self::OneByteUnsignedInteger,
        Self::OneByteZeroOne,
    ];
}

impl TryFrom<i32> for CompressionMethod {
    type Error = Error;

    /// The method of a number.
    ///
    /// # Errors
    ///
    /// Fails if it is not 1 to 7.
    fn try_from(number: i32) -> Result<Self> {
        Self::ALL.into_iter().find(|&method| method as i32 == number).ok_or_else(|| {
            let (what, found) = ("compression method", i64::from(number));
            Error::format(OBJECT, Problem::OutOfRange { what, found, allowed: "1 to 7".into() })
        })
    }
}
