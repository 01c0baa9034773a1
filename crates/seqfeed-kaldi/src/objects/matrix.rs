//! Matrices of floats.

use seqfeed_core::{Error, Problem, Result};

use crate::OBJECT;
use crate::holder::{Holder, Mode};
use crate::object_reader::{ObjectReader, is_space};
use crate::objects::compressed_header::CompressedHeader;
use crate::objects::float::{Brackets, Float, read_rows, write_float};
use crate::range::Range;

/// A matrix of floats, row after row: Kaldi's `Matrix`.
///
/// ```text
/// binary   FM SP 04 rows:i32 04 cols:i32 values       (DM: f64)
/// text     SP [ LF SP SP 1 SP 2 SP LF SP SP 3 SP 4 SP ] LF
/// ```
///
/// It can be read from `FM`, `DM`, `CM`, `CM2`, `CM3` and from text.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Matrix<T> {
    /// Number of rows.
    pub rows: usize,
    /// Number of columns.
    pub cols: usize,
    /// `rows * cols` values.
    pub values: Vec<T>,
}

impl<T> Matrix<T> {
    /// A row.
    ///
    /// # Panics
    ///
    /// If there is no such row.
    #[must_use]
    pub fn row(&self, row: usize) -> &[T] {
        &self.values[row * self.cols..(row + 1) * self.cols]
    }
}

impl<T: Float> Matrix<T> {
    /// Reads a matrix as [`Holder::read`] does, and adds its values to the present ones: Kaldi's
    /// `Read` with `add = true`. An empty matrix takes the read values over; reading an empty one
    /// adds nothing.
    ///
    /// ```
    /// use seqfeed_kaldi::{Matrix, Mode, ObjectReader};
    ///
    /// let mut sum = Matrix { rows: 1, cols: 2, values: vec![1.0f32, 2.0] };
    /// let mut reader = ObjectReader::from_bytes("memory", " [\n  10 20 ]\n");
    /// let mode = reader.read_header()?;
    /// sum.read_add(&mut reader, mode)?;
    /// assert_eq!(sum.values, [11.0, 22.0]);
    /// # Ok::<(), seqfeed_core::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`Holder::read`], and if the sizes differ. Nothing was added then.
    pub fn read_add(&mut self, reader: &mut ObjectReader, mode: Mode) -> Result<()> {
        let start = reader.position();
        let read = Self::read(reader, mode)?;
        if self.values.is_empty() {
            *self = read;
        } else if !read.values.is_empty() {
            if (read.rows, read.cols) != (self.rows, self.cols) {
                let what = format!(
                    "a matrix of {} x {} cannot be added to one of {} x {}",
                    read.rows, read.cols, self.rows, self.cols
                );
                return Err(reader.error_at(start, OBJECT, Problem::Unsupported(what.into())));
            }
            add(&mut self.values, &read.values);
        }
        Ok(())
    }

    /// Takes the values of a compressed matrix, whose data stand behind the header.
    pub(super) fn decompress(&mut self, header: &CompressedHeader, data: &[u8]) {
        (self.rows, self.cols) = (header.rows as usize, header.cols as usize);
        // Old values are overwritten, not cleared first.
        self.values.resize(self.rows * self.cols, T::default());
        header.decompress(data, 0..self.rows, 0..self.cols, &mut self.values);
    }

    /// Appends the header before the values.
    fn write_header(&self, out: &mut Vec<u8>) -> Result<()> {
        out.extend_from_slice(&[T::LETTER, b'M', b' ']);
        write_size(out, self.rows)?;
        write_size(out, self.cols)
    }
}

/// Adds values to as many others.
pub(crate) fn add<T: Float>(sums: &mut [T], values: &[T]) {
    for (sum, &value) in sums.iter_mut().zip(values) {
        // For two `f32`, the rounded sum of the wider type is their own sum.
        *sum = T::from_f64(sum.to_f64() + value.to_f64());
    }
}

impl<T: Float> Holder for Matrix<T> {
    const TYPE: &'static str = if T::LETTER == b'F' { "float matrix" } else { "double matrix" };

    fn read(reader: &mut ObjectReader, mode: Mode) -> Result<Self> {
        let mut matrix = Self::default();
        matrix.read_into(reader, mode)?;
        Ok(matrix)
    }

    fn read_into(&mut self, reader: &mut ObjectReader, mode: Mode) -> Result<()> {
        if mode == Mode::Text {
            let read = read_rows(reader, Brackets::Rows, &mut self.values)?;
            (self.rows, self.cols) = (read.rows, read.cols);
            return Ok(());
        }
        match MatrixHeader::read(reader)? {
            MatrixHeader::Full { letter, rows, cols } => {
                (self.rows, self.cols) = (rows, cols);
                read_floats(reader, letter, rows * cols, &mut self.values)
            }
            MatrixHeader::Compressed(token) => {
                let (header, mut data) = (CompressedHeader::read(token, reader)?, Vec::new());
                header.read_data(reader, &mut data)?;
                self.decompress(&header, &data);
                Ok(())
            }
        }
    }

    fn skip(reader: &mut ObjectReader, mode: Mode) -> Result<()> {
        if mode == Mode::Text {
            return read_rows::<T>(reader, Brackets::Rows, &mut Vec::new()).map(drop);
        }
        match MatrixHeader::read(reader)? {
            MatrixHeader::Full { letter, rows, cols } => {
                reader.skip_bytes((rows * cols) as u64 * width(letter), "a matrix")
            }
            MatrixHeader::Compressed(token) => {
                let header = CompressedHeader::read(token, reader)?;
                reader.skip_bytes(header.data_len()?, "data")
            }
        }
    }

    fn read_part(reader: &mut ObjectReader, mode: Mode, range: &Range) -> Result<Option<Self>> {
        if mode == Mode::Text
            || !matches!(reader.ensure(3)?, [b'F' | b'D', b'M', space, ..] if is_space(*space))
        {
            return Ok(None);
        }
        let MatrixHeader::Full { letter, rows, cols } = MatrixHeader::read(reader)? else {
            return Ok(None);
        };
        let place = |error: Error| error.in_file(reader.name()).at_byte(reader.position());
        let (first, wanted) = range.rows_of(rows as u32).map_err(place)?;
        range.cols_of(cols as u32).map_err(place)?;
        reader.skip_bytes(u64::from(first) * cols as u64 * width(letter), "a matrix")?;
        let mut part = Self { rows: wanted as usize, cols, values: Vec::new() };
        read_floats(reader, letter, wanted as usize * cols, &mut part.values)?;
        if range.cols.is_some() {
            part = part.extract(&Range { rows: None, cols: range.cols })?;
        }
        Ok(Some(part))
    }

    fn write(&self, out: &mut Vec<u8>, mode: Mode) -> Result<()> {
        check_shape(self.rows, self.cols, self.values.len())?;
        if mode == Mode::Binary {
            self.write_header(out)?;
            write_values(out, &self.values);
            return Ok(());
        }
        out.extend_from_slice(b" [");
        if self.values.is_empty() {
            out.push(b' ');
        }
        for row in self.values.chunks_exact(self.cols.max(1)) {
            out.extend_from_slice(b"\n  ");
            row.iter().for_each(|&value| write_float(out, value));
        }
        out.extend_from_slice(b"]\n");
        Ok(())
    }

    fn write_start(&self, out: &mut Vec<u8>, mode: Mode) -> Result<&[u8]> {
        if mode == Mode::Text || cfg!(target_endian = "big") {
            self.write(out, mode)?;
            return Ok(&[]);
        }
        check_shape(self.rows, self.cols, self.values.len())?;
        self.write_header(out)?;
        Ok(bytemuck::cast_slice(&self.values))
    }

    fn rows(&self) -> Option<usize> {
        Some(self.rows)
    }

    fn extract(&self, range: &Range) -> Result<Self> {
        let (first_row, rows) = range.rows_of(self.rows as u32)?;
        let (first_col, cols) = range.cols_of(self.cols as u32)?;
        let (first_row, first_col) = (first_row as usize, first_col as usize);
        let (rows, cols) = (rows as usize, cols as usize);
        let mut values = Vec::with_capacity(rows * cols);
        for row in first_row..first_row + rows {
            values.extend_from_slice(&self.row(row)[first_col..first_col + cols]);
        }
        Ok(Self { rows, cols, values })
    }
}

/// The header before the values of a binary matrix.
pub(crate) enum MatrixHeader {
    Full {
        letter: u8,
        rows: usize,
        cols: usize,
    },
    /// The token has been read, the data after it have not.
    Compressed([u8; 3]),
}

impl MatrixHeader {
    pub(crate) fn read(reader: &mut ObjectReader) -> Result<Self> {
        let start = reader.position();
        let token = reader.read_token(Mode::Binary)?;
        match &token[..] {
            [letter @ (b'F' | b'D'), b'M'] => {
                let sizes = reader.position();
                let (rows, cols) =
                    (reader.read_basic(Mode::Binary)?, reader.read_basic(Mode::Binary)?);
                let (rows, cols) = shape(rows, cols)
                    .map_err(|error| error.in_file(reader.name()).at_byte(sizes))?;
                Ok(Self::Full { letter: *letter, rows, cols })
            }
            b"CM" => Ok(Self::Compressed(*b"CM ")),
            b"CM2" => Ok(Self::Compressed(*b"CM2")),
            b"CM3" => Ok(Self::Compressed(*b"CM3")),
            _ => Err(wrong_token(reader, start, "a matrix (FM, DM, CM, CM2 or CM3)", token)),
        }
    }
}

/// The error for an object of another type.
pub(crate) fn wrong_token(
    reader: &ObjectReader,
    start: u64,
    expected: &'static str,
    found: Vec<u8>,
) -> Error {
    let help = match &found[..] {
        b"FV" | b"DV" => "it is a vector",
        b"FM" | b"DM" => "it is a matrix",
        b"CM" | b"CM2" | b"CM3" => "it is a compressed matrix",
        b"SV" => "it is a sparse vector",
        b"SM" => "it is a sparse matrix",
        b"FP" | b"DP" => "it is a packed (symmetric or triangular) matrix",
        b"<Nnet3Eg>" => "it is an example for nnet3",
        b"<Nnet3ChainEg>" => "it is an example for chain training",
        _ => "the object is of another type, or damaged",
    };
    let problem = Problem::Unexpected { expected: expected.into(), found };
    reader.error_at(start, OBJECT, problem).with_help(help)
}

/// Rows and columns that are possible: not negative, both zero or none, and few enough values to
/// count their bytes.
pub(crate) fn shape(rows: i32, cols: i32) -> Result<(usize, usize)> {
    let rows = size("number of rows", rows)?;
    let cols = size("number of columns", cols)?;
    check_shape(rows, cols, rows * cols)?;
    check_count(rows * cols)?;
    Ok((rows, cols))
}

/// Fails if there are too many values to count their bytes.
pub(crate) fn check_count(values: usize) -> Result<()> {
    if values > usize::MAX / 16 {
        let what = format!("{values} values are more than any file can hold");
        return Err(Error::format(OBJECT, Problem::Unsupported(what.into())));
    }
    Ok(())
}

pub(crate) fn check_shape(rows: usize, cols: usize, values: usize) -> Result<()> {
    if (rows == 0) != (cols == 0) || rows.checked_mul(cols) != Some(values) {
        let what = format!("a matrix of {rows} rows, {cols} columns and {values} values cannot be");
        return Err(Error::format(OBJECT, Problem::Unsupported(what.into())));
    }
    Ok(())
}

/// A size or count that must not be negative.
pub(crate) fn size(what: &'static str, value: i32) -> Result<usize> {
    usize::try_from(value).map_err(|_| {
        let allowed = "0 or more".into();
        Error::format(OBJECT, Problem::OutOfRange { what, found: value.into(), allowed })
    })
}

/// Appends a size as a tagged int32.
///
/// # Errors
///
/// Fails if it is too large for one.
pub(crate) fn write_size(out: &mut Vec<u8>, size: usize) -> Result<()> {
    let Ok(size) = i32::try_from(size) else {
        let what =
            format!("{size} rows, columns or elements are more than Kaldi's formats can say");
        return Err(Error::format(OBJECT, Problem::Unsupported(what.into()))
            .with_help("split the object in parts of fewer than 2147483648"));
    };
    out.push(4);
    out.extend_from_slice(&size.to_le_bytes());
    Ok(())
}

/// Appends values in little-endian order.
pub(crate) fn write_values<T: Float>(out: &mut Vec<u8>, values: &[T]) {
    if cfg!(target_endian = "little") {
        out.extend_from_slice(bytemuck::cast_slice(values));
    } else {
        for mut value in values.iter().copied() {
            value.swap();
            out.extend_from_slice(bytemuck::bytes_of(&value));
        }
    }
}

/// Bytes of a value after a token that begins with `F` or `D`.
pub(crate) fn width(letter: u8) -> u64 {
    if letter == b'F' { 4 } else { 8 }
}

/// Reads floats of the type that `letter` gives.
pub(crate) fn read_floats<T: Float>(
    reader: &mut ObjectReader,
    letter: u8,
    count: usize,
    values: &mut Vec<T>,
) -> Result<()> {
    const INSIDE: &str = "data";
    if letter == T::LETTER {
        return reader.read_values(count, values, INSIDE);
    }
    values.clear();
    if letter == b'F' {
        let mut read: Vec<f32> = Vec::new();
        reader.read_values(count, &mut read, INSIDE)?;
        values.extend(read.into_iter().map(|value| T::from_f64(f64::from(value))));
    } else {
        let mut read: Vec<f64> = Vec::new();
        reader.read_values(count, &mut read, INSIDE)?;
        values.extend(read.into_iter().map(T::from_f64));
    }
    Ok(())
}
