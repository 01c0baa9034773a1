//! Loads sequences: straight into place if they lie in their final form, otherwise decoded.

use std::collections::HashMap;
use std::sync::Arc;

use seqfeed_core::{Block, Error, Problem, Result};
use seqfeed_io::DataFile;

use super::super::archive::{header_at, inside};
use super::super::decode::{Region, bytes_of_rows, decode};
use super::super::entry::{Entry, SPOOL};
use super::super::header::{Header, LONGEST_HEADER, Object};
use super::TableSource;
use crate::OBJECT;

/// Loads sequences into a block.
pub(crate) struct Loader<'a> {
    table: &'a TableSource,
    block: &'a mut Block,
    /// The file of the last sequence. Mostly the next one lies in it too.
    file: Option<(u32, Arc<DataFile>)>,
    /// The numbers in the block of the maps that were used so far.
    mapped: HashMap<u32, u32>,
    data: Vec<u8>,
}

impl<'a> Loader<'a> {
    pub(crate) fn new(table: &'a TableSource, block: &'a mut Block) -> Self {
        Self { table, block, file: None, mapped: HashMap::new(), data: Vec::new() }
    }

    pub(crate) fn load(&mut self, sequence: u32) -> Result<()> {
        let entry = self.table.table.get(sequence);
        let rows = self.table.index.samples(sequence) as usize;
        if rows == 0 {
            self.block.push_bytes(0);
            return Ok(());
        }
        let row_bytes = self.block.dim() * self.block.element().size();
        if entry.file == SPOOL {
            return self.read_rows(entry, entry.offset, rows, row_bytes);
        }
        let file = self.file(entry.file)?;
        let mut bytes = [0; LONGEST_HEADER];
        let read = file.read_at(&mut bytes, entry.offset)?;
        let place = |error: Error| error.in_file(file.name()).at_byte(entry.offset);
        let header = header_at(&bytes[..read], self.table.expected.is_scalar()).map_err(place)?;
        let part = self.part(sequence, (entry.first_row, rows), &header).map_err(place)?;
        let range =
            bytes_of_rows(&header.object, header.data_len, &part.rows, self.table.expected.extent);
        let start = entry.offset + header.len as u64 + range.start;
        let whole = !self.table.table.cols.contains_key(&sequence);
        if let Object::Matrix { width, .. } = header.object
            && width as usize == self.block.element().size()
            && whole
        {
            return self.read_rows(entry, start, rows, row_bytes);
        }
        inside(&file, &header, entry.offset)?;
        self.data.resize((range.end - range.start) as usize, 0);
        file.read_exact_at(&mut self.data, start, "data")?;
        let element = self.block.element();
        let out = self.block.push_bytes(rows);
        decode(&header.object, &self.data, &part, element, out).map_err(place)
    }

    /// The wanted part of the object. The object must not have changed since it was indexed.
    fn part(
        &self,
        sequence: u32,
        (first_row, wanted): (Option<u32>, usize),
        header: &Header,
    ) -> Result<Region> {
        let (rows, cols) = self.table.expected.shape(&header.object)?;
        let is_other = first_row.is_none() && wanted != rows as usize;
        if is_other && self.table.stated_lengths {
            let expected = wanted as u64;
            let what = "rows (the number in the file of lengths is expected)";
            let problem = Problem::CountMismatch { what, expected, found: rows.into() };
            return Err(Error::format(OBJECT, problem)
                .with_help("make the file of lengths again, or leave `lengths` out"));
        }
        let first_row = first_row.unwrap_or(0) as usize;
        let of_table = self.table.table.cols.get(&sequence);
        let (first_col, width) = of_table.copied().unwrap_or((0, cols));
        let (first_col, width) = (first_col as usize, width as usize);
        let part =
            Region { rows: first_row..first_row + wanted, cols: first_col..first_col + width };
        if is_other
            || part.rows.end > rows as usize
            || part.cols.end > cols as usize
            || width != self.block.dim()
        {
            let what = "the object is not what it was when the table was opened";
            return Err(Error::format(OBJECT, Problem::Unsupported(what.into()))
                .with_help("do not write a file while it is read"));
        }
        Ok(part)
    }

    /// Reads rows that lie in the file in their final form.
    fn read_rows(&mut self, entry: Entry, start: u64, rows: usize, row_bytes: usize) -> Result<()> {
        if self.table.map && cfg!(target_endian = "little") {
            return self.map_rows(entry.file, start, rows, row_bytes);
        }
        let file = self.file(entry.file)?;
        let size = self.block.element().size();
        let out = self.block.push_bytes(rows);
        file.read_exact_at(out, start, "data")?;
        if cfg!(target_endian = "big") && entry.file != SPOOL {
            // Kaldi's files are little-endian.
            out.chunks_exact_mut(size).for_each(<[u8]>::reverse);
        }
        Ok(())
    }

    fn map_rows(&mut self, file: u32, start: u64, rows: usize, row_bytes: usize) -> Result<()> {
        let map = self.table.files.map(file)?;
        let end = (rows * row_bytes) as u64 + start;
        if end > map.len() as u64 {
            let missing = Some(end - map.len() as u64);
            let problem = Problem::UnexpectedEnd { inside: "data", missing };
            return Err(Error::format(OBJECT, problem).at_byte(start));
        }
        let buffer = match self.mapped.get(&file) {
            Some(&buffer) => buffer,
            None => {
                // Once for each file and chunk: a file that was cut short must not be touched.
                map.check()?;
                let buffer = self.block.share(map);
                self.mapped.insert(file, buffer);
                buffer
            }
        };
        self.block.push_shared(buffer, start as usize, rows);
        Ok(())
    }

    fn file(&mut self, number: u32) -> Result<Arc<DataFile>> {
        if let Some((last, file)) = &self.file
            && *last == number
        {
            return Ok(Arc::clone(file));
        }
        let file = self.table.files.get(number)?;
        self.file = Some((number, Arc::clone(&file)));
        Ok(file)
    }
}
