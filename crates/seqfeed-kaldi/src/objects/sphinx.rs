//! Matrices in the form of Sphinx's feature files.

use seqfeed_core::{Error, Problem, Result};

use crate::holder::{Holder, Mode};
use crate::object_reader::ObjectReader;
use crate::objects::matrix::Matrix;
use crate::range::Range;

/// The name of the format in messages.
const SPHINX: &str = "Sphinx file";

/// A matrix of features in Sphinx's form: the number of values, and the values.
///
/// ```text
/// values:i32 values     big-endian
/// ```
///
/// The file does not have the number of columns: it is `COLS`. Its byte order is that of the
/// machine where it was made. Kaldi reads big-endian files but makes little-endian ones. Here
/// either is read, and big-endian ones are written. The order is the one in which the count is a
/// multiple of `COLS` and fits the length: exactly, or at most (in archives). If both orders fit,
/// the one with the lower count is taken.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SphinxMatrix<const COLS: usize = 13>(
    /// A row for each frame.
    pub Matrix<f32>,
);

impl<const COLS: usize> From<Matrix<f32>> for SphinxMatrix<COLS> {
    fn from(matrix: Matrix<f32>) -> Self {
        Self(matrix)
    }
}

impl<const COLS: usize> Holder for SphinxMatrix<COLS> {
    const TYPE: &'static str = "Sphinx matrix";
    const HEADER: bool = false;

    fn read(reader: &mut ObjectReader, _: Mode) -> Result<Self> {
        let start = reader.position();
        let bytes: [u8; 4] = reader.read_array("the header of a Sphinx file")?;
        let (big, little) = (i32::from_be_bytes(bytes), i32::from_le_bytes(bytes));
        let mut fits = |count: i32| -> Option<(bool, usize)> {
            let count = usize::try_from(count).ok()?;
            let bytes = count as u64 * 4;
            if count.checked_rem(COLS)? != 0 || reader.check_there(bytes, "").is_err() {
                return None;
            }
            // No further byte follows.
            let exact = reader.check_there(bytes + 1, "").is_err();
            Some((!exact, count))
        };
        let (as_big, as_little) = (fits(big), fits(little));
        let best = [as_big, as_little].into_iter().flatten().min();
        let Some((_, count)) = best else {
            let allowed = format!("a multiple of {COLS}, with as many values behind it");
            let problem = Problem::OutOfRange {
                what: "number of values",
                found: big.into(),
                allowed: allowed.into(),
            };
            return Err(reader.error_at(start, SPHINX, problem));
        };
        let big_endian = as_big == best;
        let mut stored: Vec<u32> = Vec::new();
        reader.read_values(count, &mut stored, "the data of a Sphinx file")?;
        let value = |bits: u32| f32::from_bits(if big_endian { bits.swap_bytes() } else { bits });
        let values: Vec<f32> = stored.into_iter().map(value).collect();
        let rows = count / COLS;
        Ok(Self(Matrix { rows, cols: if rows == 0 { 0 } else { COLS }, values }))
    }

    fn write(&self, out: &mut Vec<u8>, mode: Mode) -> Result<()> {
        let refuse = |what: String| Err(Error::format(SPHINX, Problem::Unsupported(what.into())));
        if mode == Mode::Text {
            return refuse("a Sphinx file as text".into());
        }
        let Matrix { rows, cols, values } = &self.0;
        if *rows > 0 && *cols != COLS || rows.checked_mul(*cols) != Some(values.len()) {
            return refuse(format!("{cols} columns in a file of {COLS}"));
        }
        let Ok(count) = i32::try_from(values.len()) else {
            return refuse(format!("{} values", values.len()));
        };
        out.reserve(4 + 4 * values.len());
        out.extend_from_slice(&count.to_be_bytes());
        values.iter().for_each(|value| out.extend_from_slice(&value.to_be_bytes()));
        Ok(())
    }

    fn extract(&self, range: &Range) -> Result<Self> {
        self.0.extract(range).map(Self)
    }
}
