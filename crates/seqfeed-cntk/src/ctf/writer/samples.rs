//! The samples for the writer.

use seqfeed_core::{Error, Problem, Result};

use super::WriterStream;
use super::line::{MOST_BYTES, push_number};
use crate::ctf::CTF;

/// Values of either precision.
#[derive(Clone, Copy, Debug)]
pub enum Floats<'a> {
    /// 32-bit values.
    F32(&'a [f32]),
    /// 64-bit values.
    F64(&'a [f64]),
}

impl Floats<'_> {
    fn len(self) -> usize {
        match self {
            Self::F32(values) => values.len(),
            Self::F64(values) => values.len(),
        }
    }
}

impl<'a> From<&'a [f32]> for Floats<'a> {
    fn from(values: &'a [f32]) -> Self {
        Self::F32(values)
    }
}

impl<'a> From<&'a [f64]> for Floats<'a> {
    fn from(values: &'a [f64]) -> Self {
        Self::F64(values)
    }
}

impl<'a, const N: usize> From<&'a [f32; N]> for Floats<'a> {
    fn from(values: &'a [f32; N]) -> Self {
        Self::F32(values)
    }
}

impl<'a, const N: usize> From<&'a [f64; N]> for Floats<'a> {
    fn from(values: &'a [f64; N]) -> Self {
        Self::F64(values)
    }
}

impl<'a> From<&'a Vec<f32>> for Floats<'a> {
    fn from(values: &'a Vec<f32>) -> Self {
        Self::F32(values)
    }
}

impl<'a> From<&'a Vec<f64>> for Floats<'a> {
    fn from(values: &'a Vec<f64>) -> Self {
        Self::F64(values)
    }
}

/// The samples of one stream in one sequence.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum WriterSamples<'a> {
    /// Values, sample after sample: samples × dimension.
    Dense(Floats<'a>),
    /// Some of the values of each sample.
    Sparse {
        /// The given values, sample after sample.
        values: Floats<'a>,
        /// The indices of the values in their samples, from 0.
        indices: &'a [u32],
        /// For each sample, the number of values up to its end.
        sample_ends: &'a [u32],
    },
}

impl<'a> WriterSamples<'a> {
    /// Dense samples: samples × dimension values.
    pub fn dense(values: impl Into<Floats<'a>>) -> Self {
        Self::Dense(values.into())
    }

    /// Sparse samples: values, the index of each, and for each sample the number of values up to
    /// its end. A sample may have none, and indices may come in any order.
    pub fn sparse(
        values: impl Into<Floats<'a>>,
        indices: &'a [u32],
        sample_ends: &'a [u32],
    ) -> Self {
        Self::Sparse { values: values.into(), indices, sample_ends }
    }

    /// The number of samples, if they fit the stream.
    pub(super) fn check(&self, stream: &WriterStream) -> Result<usize> {
        let wrong = |what: &str| Err(Error::usage(format!("stream {}: {what}", stream.alias)));
        let samples = match *self {
            Self::Dense(_) if stream.is_sparse => {
                return wrong("it is sparse, its samples are not");
            }
            Self::Sparse { .. } if !stream.is_sparse => {
                return wrong("it is dense, its samples are not");
            }
            Self::Dense(values) if values.len() % stream.dim != 0 => {
                let (values, dim) = (values.len(), stream.dim);
                return wrong(&format!("{values} values are not whole samples of {dim}"));
            }
            Self::Dense(values) => values.len() / stream.dim,
            Self::Sparse { values, indices, sample_ends } => {
                let last = sample_ends.last().map_or(0, |&end| end as usize);
                if values.len() != indices.len() || last != values.len() {
                    return wrong("values, indices and ends of samples are not as many");
                }
                if !sample_ends.is_sorted() {
                    return wrong("a sample ends before it begins");
                }
                // Dimensions of sparse streams are below 2^31.
                if let Some(&index) = indices.iter().find(|&&index| index as usize >= stream.dim) {
                    let (what, found) = ("an index of a sparse stream", i64::from(index));
                    let allowed = format!("below {} in stream {}", stream.dim, stream.alias).into();
                    return Err(Error::format(CTF, Problem::OutOfRange { what, found, allowed }));
                }
                sample_ends.len()
            }
        };
        if samples == 0 {
            let what = format!("stream {} has no samples, which CTF cannot say", stream.alias);
            return Err(Error::format(CTF, Problem::Unsupported(what.into())).with_help(
                "leave the sequence out, or give the stream a sample that means nothing",
            ));
        }
        Ok(samples)
    }

    /// Appends a sample, if there is one with this number.
    pub(super) fn push(
        &self,
        number: usize,
        stream: &WriterStream,
        text: &mut Vec<u8>,
    ) -> Result<()> {
        let (values, indices, range) = match *self {
            Self::Dense(values) => {
                let start = number * stream.dim;
                (values, &[][..], start..start + stream.dim)
            }
            Self::Sparse { values, indices, sample_ends } => {
                let Some(&end) = sample_ends.get(number) else { return Ok(()) };
                let start = number.checked_sub(1).map_or(0, |before| sample_ends[before]);
                (values, indices, start as usize..end as usize)
            }
        };
        if range.end > values.len() {
            return Ok(());
        }
        text.extend_from_slice(b" |");
        text.extend_from_slice(stream.alias.as_bytes());
        text.reserve(range.len() * MOST_BYTES);
        match values {
            Floats::F32(values) => push_values(&values[range.clone()], indices, range.start, text),
            Floats::F64(values) => push_values(&values[range.clone()], indices, range.start, text),
        }
        .map_err(|value| {
            let what = format!("stream {}: a value is {value}, which CTF cannot say", stream.alias);
            Error::format(CTF, Problem::Unsupported(what.into()))
                .with_help("its numbers are of digits")
        })
    }
}

/// Appends the values of a sample; `start` is its first one in the sequence. Returns the first
/// value for which CTF has no text.
fn push_values<T: zmij::Float + Into<f64> + Copy>(
    values: &[T],
    indices: &[u32],
    start: usize,
    text: &mut Vec<u8>,
) -> Result<(), f64> {
    let mut digits = itoa::Buffer::new();
    let mut indices = indices.get(start..).unwrap_or_default().iter();
    for &value in values {
        let wide: f64 = value.into();
        if !wide.is_finite() {
            return Err(wide);
        }
        text.push(b' ');
        if let Some(&index) = indices.next() {
            text.extend_from_slice(digits.format(index).as_bytes());
            text.push(b':');
        }
        push_number(value, text);
    }
    Ok(())
}
