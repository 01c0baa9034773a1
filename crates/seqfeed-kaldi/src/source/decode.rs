//! Decodes parts of binary objects into a block.

use std::ops::Range;

use seqfeed_core::{Element, Error, Extent, Problem, Result};

use super::header::Object;
use crate::OBJECT;

/// A part of an object: rows and columns. A vector has rows of one column, or a single row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Region {
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

/// Decodes a part of an object into `out`. `data` begins at `part.rows.start`; compressed matrices
/// need all data.
///
/// # Errors
///
/// Fails if an integer lacks its size byte.
pub(crate) fn decode(
    object: &Object,
    data: &[u8],
    part: &Region,
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
        // One row of all elements; otherwise one row for each element.
        Object::Vector { width, .. } if part.rows.len() == 1 => {
            let width = width as usize;
            convert(&data[part.cols.start * width..part.cols.end * width], width, element, out);
        }
        Object::Vector { width, .. } => convert(data, width as usize, element, out),
        Object::Compressed(header) => {
            let (rows, cols) = (part.rows.clone(), part.cols.clone());
            if element == Element::F64 {
                header.decompress::<f64>(data, rows, cols, bytemuck::cast_slice_mut(out));
            } else {
                header.decompress::<f32>(data, rows, cols, bytemuck::cast_slice_mut(out));
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
