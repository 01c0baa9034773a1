//! A run of rows, and how its samples are loaded into blocks.

use std::ops::Range;
use std::sync::Arc;

use seqfeed_core::{Block, Error, Key, Offsets, Problem, Result};
use seqfeed_io::{DataFile, Spool};

use crate::ARROW;
use crate::schema::{Column, Sample};
use crate::store::{Store, beyond, offsets};

/// A run of rows: a record batch of an Arrow file, or a row group of a Parquet file.
#[derive(Debug)]
pub(crate) struct Piece {
    pub(crate) rows: usize,
    /// Its part of each stream.
    pub(crate) columns: Vec<PieceColumn>,
}

/// The positions of a piece's samples in one stream.
#[derive(Debug)]
pub(crate) struct PieceColumn {
    /// The number of samples before each row, and in all; `None` if each row is a sample.
    pub(crate) starts: Option<Offsets>,
    /// If a sample is a list: the offsets of samples, one more entry than samples.
    pub(crate) inner: Option<Store>,
    /// If a sample is a list of pairs: their indices.
    pub(crate) indices: Option<Store>,
    pub(crate) values: Store,
}

impl PieceColumn {
    /// Number of samples in a row.
    pub(crate) fn samples(&self, row: usize) -> u64 {
        self.starts.as_ref().map_or(1, |starts| starts.get(row + 1) - starts.get(row))
    }

    /// The samples of a run of rows.
    fn span(&self, rows: &Range<usize>) -> Range<u64> {
        match &self.starts {
            None => rows.start as u64..rows.end as u64,
            Some(starts) => starts.get(rows.start)..starts.get(rows.end),
        }
    }

    /// Moves data from memory to the spool.
    pub(crate) fn spool(&mut self, spool: &mut Spool) -> Result<()> {
        self.stores().try_for_each(|store| store.spool(spool))
    }

    /// Sets the file that the spool has become.
    pub(crate) fn settle(&mut self, spool: &Arc<DataFile>) {
        self.stores().for_each(|store| store.settle(spool));
    }

    fn stores(&mut self) -> impl Iterator<Item = &mut Store> {
        self.inner.iter_mut().chain(&mut self.indices).chain([&mut self.values])
    }

    /// The width of its first sample, if samples are lists; `None` if there are no samples.
    pub(crate) fn first_width(&self, column: &Column) -> Result<Option<u64>> {
        let Sample::List { long } = column.form.sample else { return Ok(None) };
        let mut found = Vec::new();
        let rows = self.starts.as_ref().map_or(usize::MAX, |starts| starts.last() as usize);
        let width = if long { 8 } else { 4 };
        let there = self.inner.as_ref().map_or(0, |inner| inner.len() / width);
        if rows == 0 || there < 2 {
            return Ok(None);
        }
        // The samples of the first row that has any.
        let first = self.starts.as_ref().map_or(0, |starts| starts.get(0));
        self.inner_offsets(first..first + 1, long, &mut found)?;
        Ok(Some(found[1] - found[0]))
    }

    /// Reads the starts and ends of samples that are lists.
    fn inner_offsets(&self, samples: Range<u64>, long: bool, out: &mut Vec<u64>) -> Result<()> {
        let (width, count) = (if long { 8 } else { 4 }, samples.end - samples.start + 1);
        let inner = self.inner.as_ref().ok_or_else(|| beyond("offsets", 0, 1))?;
        let at = samples.start * width;
        if at + count * width > inner.len() {
            return Err(beyond("offsets", inner.len(), at + count * width));
        }
        let mut bytes = vec![0; (count * width) as usize];
        inner.read(at, &mut bytes)?;
        out.clear();
        out.reserve(count as usize);
        offsets(&bytes, long, i64::MAX as u64, |offset| out.push(offset))
    }

    /// Adds the sequences of a run of rows to a block.
    pub(crate) fn load(
        &self,
        column: &Column,
        rows: Range<usize>,
        block: &mut Block,
    ) -> Result<()> {
        let lengths = rows.clone().map(|row| self.samples(row));
        if let Some(long) = lengths.clone().find(|&samples| u32::try_from(samples).is_err()) {
            return Err(out_of_range("samples in a sequence", long, "fewer than 2^32"));
        }
        let lengths = lengths.map(|samples| samples as usize);
        let (dim, span) = (column.stream.dim as u64, self.span(&rows));
        let values = match column.form.sample {
            Sample::One | Sample::Fixed(_) => span.start * dim..span.end * dim,
            Sample::List { long } => {
                let mut found = Vec::new();
                self.inner_offsets(span.clone(), long, &mut found)?;
                if let Some(wrong) = found.windows(2).find(|pair| pair[1] - pair[0] != dim) {
                    let problem = Problem::CountMismatch {
                        what: "values in a sample (the number of the first sample is expected)",
                        expected: dim,
                        found: wrong[1] - wrong[0],
                    };
                    return Err(Error::format(ARROW, problem));
                }
                found[0]..found[0] + (span.end - span.start) * dim
            }
            Sample::Pairs { .. } => return self.load_pairs(column, &rows, span, block),
        };
        let (number, element) = (column.form.number, column.stream.element);
        // Missing data must not take memory.
        let size = number.size() as u64;
        let bytes = self.check(&self.values, &values, size)?;
        let out = block.push_run(lengths);
        if number.is(element) && cfg!(target_endian = "little") {
            return self.values.read(values.start * size, out);
        }
        let mut read = vec![0; bytes];
        self.values.read(values.start * size, &mut read)?;
        number.convert(&read, element, out)
    }

    /// Checks that values exist. Returns their size in bytes.
    fn check(&self, store: &Store, values: &Range<u64>, size: u64) -> Result<usize> {
        match values.end.checked_mul(size) {
            Some(end) if end <= store.len() => Ok(((values.end - values.start) * size) as usize),
            _ => Err(beyond("values", store.len(), values.end.saturating_mul(size))),
        }
    }

    fn load_pairs(
        &self,
        column: &Column,
        rows: &Range<usize>,
        samples: Range<u64>,
        block: &mut Block,
    ) -> Result<()> {
        let Sample::Pairs { long, index, .. } = column.form.sample else {
            return Err(Error::usage("the column is not sparse"));
        };
        let mut found = Vec::new();
        self.inner_offsets(samples, long, &mut found)?;
        let all = found[0]..*found.last().unwrap_or(&found[0]);
        let (number, element) = (column.form.number, column.stream.element);
        let index_store = self.indices.as_ref().ok_or_else(|| beyond("indices", 0, 1))?;
        let count = (all.end - all.start) as usize;

        let mut read = vec![0; self.check(index_store, &all, index.size() as u64)?];
        index_store.read(all.start * index.size() as u64, &mut read)?;
        let mut indices = vec![0i32; count];
        let as_labels = seqfeed_core::Element::I32;
        index.convert(&read, as_labels, bytemuck::cast_slice_mut(&mut indices))?;
        let dim = column.stream.dim;
        if let Some(&wrong) = indices.iter().find(|&&i| i < 0 || i as usize >= dim) {
            let allowed = format!("between 0 and {}", dim - 1).into();
            let problem = Problem::OutOfRange { what: "an index", found: wrong.into(), allowed };
            return Err(Error::format(ARROW, problem));
        }

        let mut read = vec![0; self.check(&self.values, &all, number.size() as u64)?];
        self.values.read(all.start * number.size() as u64, &mut read)?;
        let mut values = vec![0; count * element.size()];
        number.convert(&read, element, &mut values)?;

        let mut sample = 0;
        for row in rows.clone() {
            let (first, count) = (found[sample], self.samples(row) as usize);
            let ends = &found[sample + 1..=sample + count];
            let ends: Vec<u32> = ends.iter().map(|&end| (end - first) as u32).collect();
            let own = (first - all.start) as usize
                ..(first - all.start) as usize + ends.last().map_or(0, |&end| end as usize);
            let bytes = own.start * element.size()..own.end * element.size();
            block.push_sparse(&values[bytes], &indices[own], &ends);
            sample += count;
        }
        Ok(())
    }
}

fn out_of_range(what: &'static str, found: u64, allowed: &'static str) -> Error {
    let found = i64::try_from(found).unwrap_or(i64::MAX);
    Error::format(ARROW, Problem::OutOfRange { what, found, allowed: allowed.into() })
}

/// The error for a null where none may be.
pub(crate) fn null_in(column: &str) -> Error {
    let what = format!("column {column} has null values, which no sample is").into();
    Error::format(ARROW, Problem::Unsupported(what)).with_help("fill them, or leave those rows out")
}

/// A callback for keys, in the form for messages and for the index.
pub(crate) type EachKey<'a> = dyn FnMut(Key<'_>) -> Result<()> + 'a;
