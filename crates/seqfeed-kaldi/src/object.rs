//! Objects in memory: decoding them, and writing them as Kaldi does.

use std::ops::Range;

use seqfeed_core::float_text::write_g;
use seqfeed_core::{Element, Error, Extent, Problem, Result};

use crate::OBJECT;
use crate::header::Object;

/// Digits that Kaldi writes floats with.
const DIGITS: usize = 7;

/// A matrix, row after row.
#[derive(Clone, Debug, PartialEq)]
pub struct Matrix<T> {
    /// Number of rows.
    pub rows: usize,
    /// Number of columns.
    pub cols: usize,
    /// `rows * cols` values.
    pub values: Vec<T>,
}

/// An object that can be written, binary or as text, byte for byte as Kaldi writes it.
///
/// Implemented for [`Matrix`] and `Vec` of `f32` and `f64`, and for `Vec<i32>` and `i32`.
pub trait Write {
    /// Appends the binary form with its header, from `\0B` on.
    fn write_binary(&self, out: &mut Vec<u8>);
    /// Appends the text form, with its line's end.
    fn write_text(&self, out: &mut Vec<u8>);
}

macro_rules! floats {
    ($type:ty, $letter:literal) => {
        impl Write for Matrix<$type> {
            fn write_binary(&self, out: &mut Vec<u8>) {
                out.extend_from_slice(concat!("\0B", $letter, "M ").as_bytes());
                write_size(out, self.rows);
                write_size(out, self.cols);
                self.values.iter().for_each(|value| out.extend_from_slice(&value.to_le_bytes()));
            }

            fn write_text(&self, out: &mut Vec<u8>) {
                out.extend_from_slice(b" [");
                for row in self.values.chunks_exact(self.cols.max(1)) {
                    out.extend_from_slice(b"\n  ");
                    for &value in row {
                        write_g(out, f64::from(value), DIGITS);
                        out.push(b' ');
                    }
                }
                out.extend_from_slice(if self.values.is_empty() { b" ]\n" } else { b"]\n" });
            }
        }

        impl Write for Vec<$type> {
            fn write_binary(&self, out: &mut Vec<u8>) {
                out.extend_from_slice(concat!("\0B", $letter, "V ").as_bytes());
                write_size(out, self.len());
                self.iter().for_each(|value| out.extend_from_slice(&value.to_le_bytes()));
            }

            fn write_text(&self, out: &mut Vec<u8>) {
                out.extend_from_slice(b" [ ");
                for &value in self {
                    write_g(out, f64::from(value), DIGITS);
                    out.push(b' ');
                }
                out.extend_from_slice(b"]\n");
            }
        }
    };
}
floats!(f32, "F");
floats!(f64, "D");

impl Write for Vec<i32> {
    fn write_binary(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(b"\0B");
        write_size(out, self.len());
        for value in self {
            out.push(4);
            out.extend_from_slice(&value.to_le_bytes());
        }
    }

    fn write_text(&self, out: &mut Vec<u8>) {
        for value in self {
            out.extend_from_slice(value.to_string().as_bytes());
            out.push(b' ');
        }
        out.push(b'\n');
    }
}

impl Write for i32 {
    fn write_binary(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(b"\0B\x04");
        out.extend_from_slice(&self.to_le_bytes());
    }

    fn write_text(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(self.to_string().as_bytes());
        out.extend_from_slice(b" \n");
    }
}

fn write_size(out: &mut Vec<u8>, size: usize) {
    out.push(4);
    // Kaldi's sizes are int32; larger objects cannot be said in its format.
    out.extend_from_slice(&(size as u32).to_le_bytes());
}

/// A part of an object: rows and columns. Elements of a vector are rows of one column, or one row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Part {
    pub(crate) rows: Range<usize>,
    pub(crate) cols: Range<usize>,
}

/// The bytes of an object's data that hold some of its rows.
pub(crate) fn bytes_of_rows(
    object: &Object,
    data_len: u64,
    rows: &Range<usize>,
    extent: Extent,
) -> Range<u64> {
    let row = match *object {
        Object::Matrix { width, cols, .. } => u64::from(width) * u64::from(cols),
        Object::Vector { width, .. } if extent == Extent::Samples => u64::from(width),
        Object::Integers { .. } => 5,
        Object::Vector { .. } | Object::Compressed(_) | Object::Scalar { .. } => {
            return 0..data_len;
        }
    };
    row * rows.start as u64..row * rows.end as u64
}

/// Decodes a part of an object into `out`. `data` begins at `part.rows.start`, except for compressed
/// matrices, of which all data are needed.
///
/// # Errors
///
/// Fails if an integer does not have its size byte.
pub(crate) fn decode(
    object: &Object,
    data: &[u8],
    part: &Part,
    element: Element,
    out: &mut [u8],
) -> Result<()> {
    match *object {
        Object::Matrix { width, cols, .. } => {
            let row_bytes = width as usize * cols as usize;
            let out_row = part.cols.len() * element.size();
            for (row, out) in data.chunks_exact(row_bytes.max(1)).zip(out.chunks_exact_mut(out_row))
            {
                let width = width as usize;
                convert(&row[part.cols.start * width..part.cols.end * width], width, element, out);
            }
        }
        // One row of all elements, or one row an element.
        Object::Vector { width, .. } if part.rows.len() == 1 => {
            let width = width as usize;
            convert(&data[part.cols.start * width..part.cols.end * width], width, element, out);
        }
        Object::Vector { width, .. } => convert(data, width as usize, element, out),
        Object::Compressed(header) => {
            let (rows, cols) = (part.rows.clone(), part.cols.clone());
            if element == Element::F64 {
                let out: &mut [f64] = bytemuck::cast_slice_mut(out);
                header.decompress(data, rows, cols, |at, value| out[at] = f64::from(value));
            } else {
                let out: &mut [f32] = bytemuck::cast_slice_mut(out);
                header.decompress(data, rows, cols, |at, value| out[at] = value);
            }
        }
        Object::Integers { .. } => {
            for (tagged, out) in data.chunks_exact(5).zip(out.chunks_exact_mut(4)) {
                if tagged[0] != 4 {
                    let expected = "the size byte 4 of an int32".into();
                    let found = tagged.to_vec();
                    return Err(Error::format(OBJECT, Problem::Unexpected { expected, found }));
                }
                let value = i32::from_le_bytes([tagged[1], tagged[2], tagged[3], tagged[4]]);
                out.copy_from_slice(&value.to_ne_bytes());
            }
        }
        Object::Scalar { value } => out.copy_from_slice(&value.to_ne_bytes()),
    }
    Ok(())
}

/// Converts little-endian floats of `width` bytes.
fn convert(data: &[u8], width: usize, element: Element, out: &mut [u8]) {
    match (width, element) {
        (4, Element::F64) => {
            for (bytes, out) in data.chunks_exact(4).zip(out.chunks_exact_mut(8)) {
                let value = f32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
                out.copy_from_slice(&f64::from(value).to_ne_bytes());
            }
        }
        (4, _) => {
            for (bytes, out) in data.chunks_exact(4).zip(out.chunks_exact_mut(4)) {
                let value = f32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
                out.copy_from_slice(&value.to_ne_bytes());
            }
        }
        (_, element) => {
            let size = element.size();
            for (bytes, out) in data.chunks_exact(8).zip(out.chunks_exact_mut(size)) {
                let mut word = [0; 8];
                word.copy_from_slice(bytes);
                let value = f64::from_le_bytes(word);
                match size {
                    8 => out.copy_from_slice(&value.to_ne_bytes()),
                    _ => out.copy_from_slice(&(value as f32).to_ne_bytes()),
                }
            }
        }
    }
}
