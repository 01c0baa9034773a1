//! Arrays in memory as pieces.

use arrow_array::{Array, ArrayRef};
use arrow_buffer::Buffer;
use arrow_data::ArrayData;
use seqfeed_core::{Offsets, Result};

use crate::number::Number;
use crate::piece::{PieceColumn, null_in};
use crate::schema::{Column, Sample};
use crate::store::{Store, beyond, offsets};

/// Finds the samples of a column's array. Nulls are errors.
pub(crate) fn piece_column(column: &Column, name: &str, array: &ArrayRef) -> Result<PieceColumn> {
    let data = array.to_data();
    let mut found = Finder { name }.rows(column, &data)?;
    if let Some(starts) = &mut found.starts {
        starts.shrink_to_fit();
    }
    Ok(found)
}

struct Finder<'a> {
    name: &'a str,
}

impl Finder<'_> {
    fn rows(&self, column: &Column, data: &ArrayData) -> Result<PieceColumn> {
        self.no_nulls(data)?;
        let Some(long) = column.form.list else {
            return self.samples(column, data, data.offset()..data.offset() + data.len());
        };
        let mut starts = Offsets::new();
        let child = &data.child_data()[0];
        let bytes = list_offsets(data, long)?;
        offsets(&bytes, long, child.len() as u64, |start| starts.push(start))?;
        if starts.is_empty() {
            starts.push(0);
        }
        self.no_nulls(child)?;
        let all = child.offset()..child.offset() + child.len();
        Ok(PieceColumn { starts: Some(starts), ..self.samples(column, child, all)? })
    }

    /// The samples in a range of an array.
    fn samples(
        &self,
        column: &Column,
        data: &ArrayData,
        range: std::ops::Range<usize>,
    ) -> Result<PieceColumn> {
        let number = column.form.number;
        let found = |inner, indices, values| PieceColumn { starts: None, inner, indices, values };
        match column.form.sample {
            Sample::One => Ok(found(None, None, self.numbers(data, range, number)?)),
            Sample::Fixed(len) => {
                let child = &data.child_data()[0];
                self.no_nulls(child)?;
                let first = child.offset() + range.start * len;
                let values = self.numbers(child, first..first + range.len() * len, number)?;
                Ok(found(None, None, values))
            }
            Sample::List { long } => {
                let child = &data.child_data()[0];
                self.no_nulls(child)?;
                let inner = Store::Memory(list_offsets(data, long)?);
                let all = child.offset()..child.offset() + child.len();
                Ok(found(Some(inner), None, self.numbers(child, all, number)?))
            }
            Sample::Pairs { long, index, index_at, value_at } => {
                let child = &data.child_data()[0];
                self.no_nulls(child)?;
                let inner = Store::Memory(list_offsets(data, long)?);
                let part = |at: usize, number| {
                    let field = &child.child_data()[at];
                    self.no_nulls(field)?;
                    let first = field.offset() + child.offset();
                    self.numbers(field, first..first + child.len(), number)
                };
                Ok(found(Some(inner), Some(part(index_at, index)?), part(value_at, number)?))
            }
        }
    }

    fn numbers(
        &self,
        data: &ArrayData,
        range: std::ops::Range<usize>,
        number: Number,
    ) -> Result<Store> {
        let (buffer, size) = (&data.buffers()[0], number.size());
        let (start, len) = (range.start * size, range.len() * size);
        if start + len > buffer.len() {
            return Err(beyond("values", buffer.len() as u64, (start + len) as u64));
        }
        Ok(Store::Memory(buffer.slice_with_length(start, len)))
    }

    fn no_nulls(&self, data: &ArrayData) -> Result<()> {
        if data.null_count() > 0 { Err(null_in(self.name)) } else { Ok(()) }
    }
}

/// The offsets of an array's lists: one more entry than lists.
fn list_offsets(data: &ArrayData, long: bool) -> Result<Buffer> {
    let (buffer, size) = (&data.buffers()[0], if long { 8 } else { 4 });
    let (start, len) = (data.offset() * size, (data.len() + 1) * size);
    if data.is_empty() && buffer.len() < start + len {
        return Ok(Buffer::from(vec![0u8; size]));
    }
    if start + len > buffer.len() {
        return Err(beyond("offsets", buffer.len() as u64, (start + len) as u64));
    }
    Ok(buffer.slice_with_length(start, len))
}
