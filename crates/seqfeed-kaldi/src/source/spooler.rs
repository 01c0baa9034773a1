//! Objects that cannot be read twice in place: decoded once, into the spool.

use seqfeed_core::{Block, Element, Error, Extent, Key, Problem, Result};
use seqfeed_io::Spool;

use super::archive::header_at;
use super::decode::{bytes_of_rows, decode};
use super::entry::{Expected, part};
use super::header::{Header, LONGEST_HEADER};
use super::options::Role;
use crate::OBJECT;
use crate::holder::{Holder, Mode};
use crate::object_reader::ObjectReader;
use crate::objects::float::{Brackets, Float, read_rows};
use crate::range::Range;

/// A decoded object in the spool.
pub(crate) struct Spooled {
    pub(crate) offset: u64,
    pub(crate) rows: u32,
    pub(crate) cols: u32,
}

/// Decodes objects from streams of bytes into a spool.
pub(crate) struct Spooler {
    expected: Expected,
    element: Element,
    spool: Option<Spool>,
    data: Vec<u8>,
    integers: Vec<i32>,
}

impl Spooler {
    pub(crate) fn new(expected: Expected, element: Element) -> Self {
        Self { expected, element, spool: None, data: Vec::new(), integers: Vec::new() }
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.spool.as_ref().map_or(0, Spool::position)
    }

    /// The spool, if anything was spooled.
    pub(crate) fn finish(self) -> Option<Spool> {
        self.spool
    }

    /// Decodes the object at the position of `reader`.
    pub(crate) fn read(
        &mut self,
        reader: &mut ObjectReader,
        range: Option<&Range>,
    ) -> Result<Spooled> {
        let start = reader.position();
        let name = reader.name().to_owned();
        let place = |error: Error| error.in_file(name.as_str()).at_byte(start);
        let block = match reader.peek()? {
            Some(0) => self.read_binary(reader, range)?,
            _ if self.expected.role == Role::Labels => self.read_labels(reader, range)?,
            _ => self.read_text(reader, range)?,
        };
        let samples = block.samples(0);
        let spool = match &mut self.spool {
            Some(spool) => spool,
            none => none.insert(Spool::new()?),
        };
        let offset = spool.position();
        spool.write_all(samples.bytes())?;
        let rows =
            u32::try_from(samples.bytes().len() / (block.dim() * self.element.size()).max(1));
        let rows = rows.map_err(|_| place(Error::usage("the object is too large")))?;
        Ok(Spooled { offset, rows, cols: if rows == 0 { 0 } else { block.dim() as u32 } })
    }

    fn read_binary(&mut self, reader: &mut ObjectReader, range: Option<&Range>) -> Result<Block> {
        let start = reader.position();
        let header = read_header(reader, self.expected.is_scalar())?;
        let name = reader.name().to_owned();
        let place = |error: Error| error.in_file(name.as_str()).at_byte(start);
        let shape = self.expected.shape(&header.object).map_err(place)?;
        let part = part(shape, range, self.expected.extent).map_err(place)?;
        let mut data = std::mem::take(&mut self.data);
        reader.check_there(header.data_len, "data")?;
        let data_len = usize::try_from(header.data_len).unwrap_or(usize::MAX);
        reader.read_values(data_len, &mut data, "data")?;
        let bytes =
            bytes_of_rows(&header.object, header.data_len, &part.rows, self.expected.extent);
        let bytes = &data[bytes.start as usize..bytes.end as usize];
        let mut block = Block::new(self.element, part.cols.len().max(1));
        if !part.rows.is_empty() {
            let out = block.push_bytes(part.rows.len());
            decode(&header.object, bytes, &part, self.element, out).map_err(place)?;
        } else {
            block.push_bytes(0);
        }
        self.data = data;
        Ok(block)
    }

    fn read_labels(&mut self, reader: &mut ObjectReader, range: Option<&Range>) -> Result<Block> {
        let start = reader.position();
        self.integers.read_into(reader, Mode::Text)?;
        let name = reader.name().to_owned();
        let place = |error: Error| error.in_file(name.as_str()).at_byte(start);
        if self.expected.is_scalar() && self.integers.len() != 1 {
            let (expected, found) = (1, self.integers.len() as u64);
            let problem = Problem::CountMismatch { what: "integers a sequence", expected, found };
            return Err(place(Error::format(OBJECT, problem)));
        }
        let part = part((self.integers.len() as u32, 1), range, Extent::Samples).map_err(place)?;
        let mut block = Block::new(Element::I32, 1);
        block.push_i32(part.rows.len()).copy_from_slice(&self.integers[part.rows]);
        Ok(block)
    }

    fn read_text(&mut self, reader: &mut ObjectReader, range: Option<&Range>) -> Result<Block> {
        match self.element {
            Element::F64 => {
                self.text_block::<f64>(reader, range, |block, rows| block.push_f64(rows))
            }
            _ => self.text_block::<f32>(reader, range, |block, rows| block.push_f32(rows)),
        }
    }

    fn text_block<T: Float>(
        &mut self,
        reader: &mut ObjectReader,
        range: Option<&Range>,
        push: impl Fn(&mut Block, usize) -> &mut [T],
    ) -> Result<Block> {
        let start = reader.position();
        let mut values = Vec::new();
        let floats = read_rows::<T>(reader, Brackets::Rows, &mut values)?;
        let name = reader.name().to_owned();
        let place = |error: Error| error.in_file(name.as_str()).at_byte(start);
        let (rows, cols) = (floats.rows as u32, floats.cols as u32);
        let shape = if floats.is_matrix || rows != 1 {
            self.expected.matrix(rows, cols).map_err(place)?
        } else if self.expected.extent == Extent::Samples {
            (cols, 1)
        } else {
            (1, cols)
        };
        let part = part(shape, range, self.expected.extent).map_err(place)?;
        let width = part.cols.len();
        let mut block = Block::new(self.element, width.max(1));
        let out = push(&mut block, part.rows.len());
        let all = (shape.1 as usize).max(1);
        let wanted = values.chunks_exact(all).skip(part.rows.start).take(part.rows.len());
        for (row, out) in wanted.zip(out.chunks_exact_mut(width.max(1))) {
            out.copy_from_slice(&row[part.cols.clone()]);
        }
        Ok(block)
    }
}

/// The header of a binary object.
fn read_header(reader: &mut ObjectReader, scalar: bool) -> Result<Header> {
    let start = reader.position();
    let bytes = reader.ensure(LONGEST_HEADER)?;
    let bytes = &bytes[..bytes.len().min(LONGEST_HEADER)];
    let header = header_at(bytes, scalar);
    let header = header.map_err(|error| error.in_file(reader.name()).at_byte(start))?;
    reader.consume(header.len);
    Ok(header)
}

/// Reads all objects of an archive. `each` gets each key with the result for its object. After an
/// object that cannot be read nothing more can be found.
pub(crate) fn read_archive(
    reader: &mut ObjectReader,
    spooler: &mut Spooler,
    mut each: impl FnMut(Key<'_>, Result<Spooled>) -> Result<()>,
) -> Result<()> {
    let mut key = Vec::new();
    loop {
        let spooled = match reader.read_key(&mut key) {
            Ok(false) => return Ok(()),
            Ok(true) => spooler.read(reader, None),
            Err(error) => Err(error),
        };
        let failed = spooled.is_err();
        each(Key(&key), spooled)?;
        if failed {
            return Ok(());
        }
    }
}
