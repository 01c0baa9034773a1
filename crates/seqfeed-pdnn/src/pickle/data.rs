//! The training data of PDNN: features and labels.

use std::ffi::OsStr;
use std::io::{self, BufRead};

use seqfeed_core::{Error, Problem, Result};
use seqfeed_io::{Compression, Input, Opener};

use super::{Array, Bytes, Limits, Value, load, read_npy};

/// The features and labels of a pickle: one sequence, one row a sample.
#[derive(Clone, Debug, PartialEq)]
pub struct PickledData {
    rows: usize,
    dim: usize,
    features: Bytes,
    labels: Option<Vec<i32>>,
}

impl PickledData {
    /// Reads a pickle or a `.npy` file by any name that can be read.
    ///
    /// The first object of a pickle must be (features, labels), a tuple or a list, or a matrix of
    /// features alone. More may follow. A compressed file is read to its end, so that damage is
    /// noticed.
    ///
    /// # Errors
    ///
    /// As [`load`] and [`from_value`](Self::from_value).
    pub fn open(name: &(impl AsRef<OsStr> + ?Sized), opener: &Opener) -> Result<Self> {
        let name = opener.rxfilename(name)?;
        let mut input = Input::open(&name, opener)?;
        let name = &name.to_string();
        let numpy = input
            .ensure(6)
            .map_err(|error| Error::io("reading", error).in_file(name))?
            .starts_with(b"\x93NUMPY");
        let value = match numpy {
            true => read_npy(&mut input).map(Value::Array),
            false => load(&mut input, &Limits::default()),
        };
        // Damage of the compressed data explains any other error.
        if input.compression() != Compression::None {
            drain(&mut input).map_err(|error| input.error(error))?;
        }
        let value = value?;
        input.finish()?;
        Self::from_value(value).map_err(|error| error.in_file(name))
    }

    /// The data from a value: a tuple or list of features and labels, or features alone.
    ///
    /// Features are a matrix of any numbers, which become 32-bit floats. Labels are the same number
    /// of integers, or of whole numbers.
    ///
    /// # Errors
    ///
    /// Fails with the shape and type of the value if it has another form.
    pub fn from_value(value: Value) -> Result<Self> {
        const HELP: &str = "PDNN's pickles hold a tuple of two numpy arrays: features (a matrix) and labels (a vector)";
        let (features, labels) = match &value {
            Value::Array(features) => (features.clone(), None),
            Value::Tuple(items) | Value::List(items) => match &items[..] {
                [Value::Array(features), Value::Array(labels)] => {
                    (features.clone(), Some(labels.clone()))
                }
                [features, labels] => {
                    let text = format!(
                        "expected features and labels, found {} and {}",
                        features.description(),
                        labels.description()
                    );
                    return Err(unfit(text).with_help(HELP));
                }
                _ => {
                    let text =
                        format!("expected features and labels, found {}", value.description());
                    return Err(unfit(text).with_help(HELP));
                }
            },
            _ => {
                let text = format!("expected features and labels, found {}", value.description());
                return Err(unfit(text).with_help(HELP));
            }
        };
        // Only after this its features are not shared, and not copied.
        drop(value);
        Self::from_arrays(features, labels.as_ref())
    }

    /// The data from two arrays.
    ///
    /// # Errors
    ///
    /// Fails if features are not a matrix, if labels are not a vector, if they differ in number, or
    /// if a label is not a 32-bit integer.
    pub fn from_arrays(features: Array, labels: Option<&Array>) -> Result<Self> {
        let &[rows, dim] = features.shape() else {
            return Err(unfit(format!(
                "features are {}, expected two dimensions",
                features.description()
            )));
        };
        if dim == 0 {
            return Err(unfit(format!("features are {}, without columns", features.description())));
        }
        let labels = match labels {
            None => None,
            Some(labels) => {
                let &[count] = labels.shape() else {
                    return Err(unfit(format!(
                        "labels are {}, expected one dimension",
                        labels.description()
                    )));
                };
                if count != rows {
                    let what = "number of labels, one for each row of features";
                    let problem =
                        Problem::CountMismatch { what, expected: rows as u64, found: count as u64 };
                    return Err(Error::format("features and labels", problem));
                }
                Some(labels.to_i32()?)
            }
        };
        Ok(Self { rows, dim, features: features.into_f32(), labels })
    }

    /// Number of samples.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of features of a sample.
    #[must_use]
    pub fn dim(&self) -> usize {
        self.dim
    }

    /// The features, row after row.
    #[must_use]
    pub fn features(&self) -> &[f32] {
        bytemuck::cast_slice(self.features.as_slice())
    }

    /// The features as bytes in the machine's order, for sharing.
    #[must_use]
    pub fn feature_bytes(&self) -> &Bytes {
        &self.features
    }

    /// The labels, one for each sample, if there are any.
    #[must_use]
    pub fn labels(&self) -> Option<&[i32]> {
        self.labels.as_deref()
    }
}

fn unfit(what: String) -> Error {
    Error::format("features and labels", Problem::Unsupported(what.into()))
}

/// Reads on to the end.
fn drain(input: &mut Input) -> io::Result<()> {
    loop {
        match input.fill_buf() {
            Ok([]) => return Ok(()),
            Ok(bytes) => {
                let count = bytes.len();
                input.consume(count);
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}
