//! Finds the columns of a record batch among its buffers.

use arrow_array::{Array as _, ArrayRef};
use arrow_buffer::Buffer;
use arrow_data::ArrayData;
use arrow_schema::{DataType, Field};
use seqfeed_core::{Error, Offsets, Problem, Result};
use seqfeed_io::Spool;

use super::body::Body;
use crate::ARROW;
use crate::number::Number;
use crate::piece::{PieceColumn, null_in};
use crate::schema::{Column, Sample};
use crate::store::{Store, beyond, offsets};

/// The position of an array: its node, its first buffer, and its number among arrays of views.
pub(crate) type ArrayPosition = (usize, usize, usize);

/// A walk over the arrays of a record batch, depth first, in the written order.
pub(crate) struct Cursor<'a> {
    body: Body,
    spool: &'a mut Option<Spool>,
    place: ArrayPosition,
}

impl<'a> Cursor<'a> {
    pub(crate) fn new(body: Body, spool: &'a mut Option<Spool>) -> Self {
        Self { body, spool, place: (0, 0, 0) }
    }

    pub(crate) fn rows(&self) -> usize {
        self.body.rows
    }

    pub(crate) fn place(&self) -> ArrayPosition {
        self.place
    }

    pub(crate) fn go_to(&mut self, place: ArrayPosition) {
        self.place = place;
    }

    /// Length and nulls of the next array, and the first of its `buffers` buffers.
    fn node(&mut self, buffers: usize) -> Result<(u64, u64, usize)> {
        let (node, buffer, _) = self.place;
        let Some(&(len, nulls)) = self.body.nodes.get(node) else {
            let found = self.body.nodes.len() as u64;
            let what = "arrays of a record batch";
            let problem = Problem::CountMismatch { what, expected: node as u64 + 1, found };
            return Err(Error::format(ARROW, problem).in_file(self.body.file.name()));
        };
        (self.place.0, self.place.1) = (node + 1, buffer + buffers);
        Ok((len, nulls, buffer))
    }

    /// Skips an array.
    pub(crate) fn skip(&mut self, data_type: &DataType) -> Result<()> {
        match data_type {
            DataType::Null => self.node(0).map(drop),
            DataType::Utf8 | DataType::Binary | DataType::LargeUtf8 | DataType::LargeBinary => {
                self.node(3).map(drop)
            }
            DataType::Utf8View | DataType::BinaryView => {
                let data = self.variadic()?;
                self.node(2 + data).map(drop)
            }
            DataType::List(item) | DataType::LargeList(item) | DataType::Map(item, _) => {
                self.node(2)?;
                self.skip(item.data_type())
            }
            DataType::ListView(item) | DataType::LargeListView(item) => {
                self.node(3)?;
                self.skip(item.data_type())
            }
            DataType::FixedSizeList(item, _) => {
                self.node(1)?;
                self.skip(item.data_type())
            }
            DataType::Struct(fields) => {
                self.node(1)?;
                fields.iter().try_for_each(|field| self.skip(field.data_type()))
            }
            DataType::RunEndEncoded(ends, values) => {
                self.node(0)?;
                self.skip(ends.data_type())?;
                self.skip(values.data_type())
            }
            DataType::Union(..) => {
                let what = "a column of a union type stands before others".into();
                Err(Error::format(ARROW, Problem::Unsupported(what)).in_file(self.body.file.name()))
            }
            // Numbers of all kinds, and dictionaries, whose indices are here.
            _ => self.node(2).map(drop),
        }
    }

    fn variadic(&mut self) -> Result<usize> {
        let count = self.body.variadic.get(self.place.2).copied();
        self.place.2 += 1;
        let most = self.body.buffers.len() as u64;
        count
            .filter(|&count| count <= most)
            .map(|count| count as usize)
            .ok_or_else(|| beyond("views", most, count.unwrap_or(0)))
    }

    /// Reads a column of keys or lengths, or a dictionary, into memory.
    pub(crate) fn array(
        &mut self,
        name: &str,
        data_type: &DataType,
        rows: usize,
        dictionary: Option<&ArrayRef>,
    ) -> Result<ArrayData> {
        let offsets = |long: bool| (rows as u64 + 1) * if long { 8 } else { 4 };
        let wide = Number::of(match data_type {
            DataType::Dictionary(index, _) => index,
            other => other,
        });
        let sizes: Vec<Option<u64>> = match data_type {
            DataType::Utf8 | DataType::Binary => vec![Some(offsets(false)), None],
            DataType::LargeUtf8 | DataType::LargeBinary => vec![Some(offsets(true)), None],
            DataType::Utf8View | DataType::BinaryView => {
                let data = self.variadic()?;
                let mut sizes = vec![None; data + 1];
                sizes[0] = Some(rows as u64 * 16);
                sizes
            }
            _ => match wide {
                Some(number) => vec![Some((rows * number.size()) as u64)],
                None => return Err(Error::usage(format!("keys cannot be of type {data_type}"))),
            },
        };
        let (len, nulls, first) = self.node(1 + sizes.len())?;
        if nulls > 0 {
            return Err(null_in(name).in_file(self.body.file.name()));
        }
        if len != rows as u64 {
            return Err(self.count(name, rows as u64, len));
        }
        let mut builder = ArrayData::builder(data_type.clone()).len(rows);
        for (number, &size) in sizes.iter().enumerate() {
            let mut bytes = self.body.bytes(first + 1 + number, size)?;
            if rows == 0 && number == 0 && bytes.is_empty() {
                // An array without rows may have no offsets.
                bytes = Buffer::from(vec![0u8; size.unwrap_or(0) as usize]);
            }
            builder = builder.add_buffer(bytes);
        }
        if let DataType::Dictionary(..) = data_type {
            let Some(dictionary) = dictionary else {
                return Err(beyond("a dictionary", 0, 1).in_file(self.body.file.name()));
            };
            builder = builder.add_child_data(dictionary.to_data());
        }
        // This checks everything.
        builder.build().map_err(|error| {
            let what = format!("column {name} is damaged: {error}").into();
            Error::format(ARROW, Problem::Unsupported(what)).in_file(self.body.file.name())
        })
    }

    /// Finds the samples of a stream.
    pub(crate) fn column(
        &mut self,
        column: &Column,
        field: &Field,
        rows: usize,
    ) -> Result<PieceColumn> {
        let found = self.samples_of(column, field, rows as u64);
        found.map_err(|error| error.in_file(self.body.file.name()))
    }

    fn samples_of(&mut self, column: &Column, field: &Field, rows: u64) -> Result<PieceColumn> {
        let name = field.name();
        let (mut samples, mut starts, mut data_type) = (rows, None, field.data_type());
        if let Some(long) = column.form.list {
            let list = self.list(name, rows, long)?;
            let mut found = Offsets::new();
            (samples, data_type) = (self.next_len()?, item_of(data_type));
            offsets(&list, long, samples, |start| found.push(start))?;
            if found.is_empty() {
                found.push(0);
            }
            found.shrink_to_fit();
            starts = Some(found);
        }
        let number = column.form.number;
        let found = |inner, indices, values| Ok(PieceColumn { starts, inner, indices, values });
        match column.form.sample {
            Sample::One => found(None, None, self.numbers(name, samples, number)?),
            Sample::Fixed(len) => {
                let (found_len, nulls, _) = self.node(1)?;
                self.check(name, samples, found_len, nulls)?;
                let Some(values) = samples.checked_mul(len as u64) else {
                    return Err(beyond("values", 0, u64::MAX));
                };
                found(None, None, self.numbers(name, values, number)?)
            }
            Sample::List { long } => {
                let inner = self.inner(name, samples, long)?;
                let values = self.next_len()?;
                found(Some(inner), None, self.numbers(name, values, number)?)
            }
            Sample::Pairs { long, index, index_at, value_at } => {
                let inner = self.inner(name, samples, long)?;
                let (pairs, nulls, _) = self.node(1)?;
                self.check(name, pairs, pairs, nulls)?;
                let (mut indices, mut values) = (None, None);
                if let DataType::Struct(fields) = item_of(data_type) {
                    for (at, field) in fields.iter().enumerate() {
                        if at == index_at {
                            indices = Some(self.numbers(name, pairs, index)?);
                        } else if at == value_at {
                            values = Some(self.numbers(name, pairs, number)?);
                        } else {
                            self.skip(field.data_type())?;
                        }
                    }
                }
                match values {
                    Some(values) => found(Some(inner), indices, values),
                    None => Err(beyond("values", 0, 1)),
                }
            }
        }
    }

    /// The offsets of `rows` lists, in memory.
    fn list(&mut self, name: &str, rows: u64, long: bool) -> Result<Buffer> {
        let (len, nulls, first) = self.node(2)?;
        self.check(name, rows, len, nulls)?;
        let needed = offset_bytes(rows, long)?;
        let bytes = self.body.bytes(first + 1, Some(needed))?;
        match bytes.len() as u64 {
            found if found < needed && rows > 0 => Err(beyond("offsets", found, needed)),
            _ => Ok(bytes),
        }
    }

    /// The positions of the offsets of `lists` lists.
    fn inner(&mut self, name: &str, lists: u64, long: bool) -> Result<Store> {
        let (len, nulls, first) = self.node(2)?;
        self.check(name, lists, len, nulls)?;
        if lists == 0 {
            return Ok(Store::Memory(Buffer::from(vec![0u8; 8])));
        }
        self.body.store(first + 1, offset_bytes(lists, long)?, self.spool)
    }

    /// The positions of `count` numbers.
    fn numbers(&mut self, name: &str, count: u64, number: Number) -> Result<Store> {
        let (len, nulls, first) = self.node(2)?;
        self.check(name, count, len, nulls)?;
        let Some(bytes) = count.checked_mul(number.size() as u64) else {
            return Err(beyond("values", 0, u64::MAX));
        };
        self.body.store(first + 1, bytes, self.spool)
    }

    /// The length of the next array.
    fn next_len(&self) -> Result<u64> {
        self.body.nodes.get(self.place.0).map(|node| node.0).ok_or_else(|| beyond("arrays", 0, 1))
    }

    fn check(&self, name: &str, expected: u64, found: u64, nulls: u64) -> Result<()> {
        match () {
            () if nulls > 0 => Err(null_in(name)),
            () if found < expected => Err(self.count(name, expected, found)),
            () => Ok(()),
        }
    }

    fn count(&self, name: &str, expected: u64, found: u64) -> Error {
        let what = "rows or values of a column";
        let error = Error::format(ARROW, Problem::CountMismatch { what, expected, found });
        error.in_file(self.body.file.name()).with_help(format!("column {name} is damaged"))
    }
}

fn offset_bytes(lists: u64, long: bool) -> Result<u64> {
    let size = if long { 8 } else { 4 };
    let bytes = lists.checked_add(1).and_then(|count| count.checked_mul(size));
    bytes.ok_or_else(|| beyond("offsets", 0, u64::MAX))
}

fn item_of(data_type: &DataType) -> &DataType {
    match data_type {
        DataType::List(item) | DataType::LargeList(item) => item.data_type(),
        other => other,
    }
}
