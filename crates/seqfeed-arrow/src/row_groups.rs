//! Parquet files: row groups, decoded on demand.

use std::error;
use std::io::{self, Read};
use std::sync::{Arc, Mutex, PoisonError};

use arrow_array::RecordBatch;
use bytes::Bytes;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader,
    ParquetRecordBatchReaderBuilder,
};
use parquet::errors::ParquetError;
use parquet::file::reader::{ChunkReader, Length};
use seqfeed_core::panics::caught;
use seqfeed_core::{Error, Problem, Result};
use seqfeed_io::DataFile;

use crate::PARQUET;
use crate::arrays::piece_column;
use crate::piece::Piece;
use crate::schema::{ArrowOptions, Columns};

/// The number of decoded row groups that are kept.
const KEPT: usize = 4;
/// The most rows to decode at once.
pub(crate) const MOST_ROWS: usize = 1 << 16;
/// The approximate number of bytes to decode at once.
const STEP: u64 = 16 << 20;

/// A Parquet file.
pub(crate) struct RowGroups {
    file: Arc<DataFile>,
    metadata: ArrowReaderMetadata,
    pub(crate) columns: Columns,
    /// Numbers of the columns that are read, ascending.
    fields: Vec<usize>,
    /// The last decoded row groups; the last used one comes last.
    kept: Mutex<Vec<(usize, Arc<Piece>)>>,
}

impl RowGroups {
    pub(crate) fn open(file: &Arc<DataFile>, options: &ArrowOptions) -> Result<Self> {
        let metadata = guarded(file, || {
            ArrowReaderMetadata::load(&Chunks(Arc::clone(file)), ArrowReaderOptions::new())
        })?;
        let columns = Columns::find(metadata.schema(), options)
            .map_err(|error| error.in_file(file.name()))?;
        let fields = columns.fields();
        let groups = Self {
            file: Arc::clone(file),
            metadata,
            columns,
            fields,
            kept: Mutex::new(Vec::new()),
        };
        let rows = (0..groups.len()).try_fold(0usize, |sum, group| {
            let rows = groups.metadata.metadata().row_group(group).num_rows();
            sum.checked_add(usize::try_from(rows).ok()?).filter(|&rows| rows < u32::MAX as usize)
        });
        match rows {
            Some(_) => Ok(groups),
            None => Err(groups.wrong("2^32 rows or more, or less than none")),
        }
    }

    fn wrong(&self, what: &str) -> Error {
        Error::format(PARQUET, Problem::Unsupported(what.to_owned().into()))
            .in_file(self.file.name())
    }

    /// Number of row groups.
    pub(crate) fn len(&self) -> usize {
        self.metadata.metadata().num_row_groups()
    }

    /// Rows in a row group.
    pub(crate) fn rows(&self, group: usize) -> usize {
        // This was checked at opening.
        self.metadata.metadata().row_group(group).num_rows() as usize
    }

    /// Bytes of a row group's wanted columns by the metadata, encoded but not compressed.
    pub(crate) fn bytes(&self, group: usize) -> u64 {
        let group = self.metadata.metadata().row_group(group);
        let parquet = self.metadata.parquet_schema();
        let columns = group.columns().iter().enumerate();
        let wanted = columns.filter(|(leaf, _)| {
            self.fields.binary_search(&parquet.get_column_root_idx(*leaf)).is_ok()
        });
        wanted.map(|(_, column)| u64::try_from(column.uncompressed_size()).unwrap_or(0)).sum()
    }

    /// The most row groups that are kept.
    pub(crate) fn most_kept(&self) -> u64 {
        KEPT.min(self.len()) as u64
    }

    /// The most values of a stream in a row group.
    pub(crate) fn values(&self, group: usize, stream: usize) -> u64 {
        let group = self.metadata.metadata().row_group(group);
        let parquet = self.metadata.parquet_schema();
        let field = self.columns.streams[stream].field;
        let columns = group.columns().iter().enumerate();
        let own = columns.filter(|(leaf, _)| parquet.get_column_root_idx(*leaf) == field);
        own.map(|(_, column)| u64::try_from(column.num_values()).unwrap_or(0)).max().unwrap_or(0)
    }

    /// The wanted columns of a batch.
    pub(crate) fn piece(&self, batch: &RecordBatch) -> Result<Piece> {
        let columns = self.columns.streams.iter().map(|column| {
            let array = self.field(batch, &self.fields, column.field)?;
            piece_column(column, self.metadata.schema().field(column.field).name(), array)
        });
        let columns = columns.collect::<Result<_>>();
        let columns = columns.map_err(|error| error.in_file(self.file.name()))?;
        Ok(Piece { rows: batch.num_rows(), columns })
    }

    /// The column of a batch for a column of the file.
    pub(crate) fn field<'a>(
        &self,
        batch: &'a RecordBatch,
        fields: &[usize],
        field: usize,
    ) -> Result<&'a arrow_array::ArrayRef> {
        let at = fields.binary_search(&field).ok();
        at.and_then(|at| batch.columns().get(at)).ok_or_else(|| self.wrong("a column is missing"))
    }

    /// Reads all row groups with all wanted columns, some rows at a time.
    pub(crate) fn read_all(
        &self,
        mut each: impl FnMut(&RecordBatch, &[usize]) -> Result<()>,
    ) -> Result<()> {
        let (mut bytes, mut rows) = (0, 0);
        for group in 0..self.len() {
            bytes += self.bytes(group);
            rows += self.rows(group) as u64;
        }
        let at_once = STEP.saturating_mul(rows) / bytes.max(1);
        let at_once = (at_once as usize).clamp(1, MOST_ROWS);
        self.read((0..self.len()).collect(), &self.fields, at_once, |batch| {
            each(batch, &self.fields)
        })
    }

    /// Reads only keys and lengths.
    pub(crate) fn read_index(
        &self,
        mut each: impl FnMut(&RecordBatch, &[usize]) -> Result<()>,
    ) -> Result<()> {
        let mut fields: Vec<usize> =
            self.columns.key.into_iter().chain(self.columns.length).collect();
        fields.sort_unstable();
        let groups = (0..self.len()).collect();
        self.read(groups, &fields, MOST_ROWS, |batch| each(batch, &fields))
    }

    /// A row group, decoded.
    pub(crate) fn group(&self, group: usize) -> Result<Arc<Piece>> {
        {
            let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(at) = kept.iter().position(|(number, _)| *number == group) {
                let found = kept.remove(at);
                let piece = Arc::clone(&found.1);
                kept.push(found);
                return Ok(piece);
            }
        }
        let streams: Vec<usize> = self.columns.streams.iter().map(|c| c.field).collect();
        let mut fields = streams;
        fields.sort_unstable();
        fields.dedup();
        let mut found = None;
        self.read(vec![group], &fields, MOST_ROWS, |batch| {
            let columns = self.columns.streams.iter().map(|column| {
                let array = self.field(batch, &fields, column.field)?;
                piece_column(column, self.metadata.schema().field(column.field).name(), array)
            });
            found =
                Some(Piece { rows: batch.num_rows(), columns: columns.collect::<Result<_>>()? });
            Ok(())
        })?;
        let piece = found.filter(|piece| piece.rows == self.rows(group));
        let piece = Arc::new(piece.ok_or_else(|| self.wrong("a row group lacks rows"))?);
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() >= KEPT {
            kept.remove(0);
        }
        kept.push((group, Arc::clone(&piece)));
        Ok(piece)
    }

    fn read(
        &self,
        groups: Vec<usize>,
        fields: &[usize],
        rows: usize,
        mut each: impl FnMut(&RecordBatch) -> Result<()>,
    ) -> Result<()> {
        let mask = ProjectionMask::roots(self.metadata.parquet_schema(), fields.iter().copied());
        let mut reader: ParquetRecordBatchReader = guarded(&self.file, || {
            let chunks = Chunks(Arc::clone(&self.file));
            ParquetRecordBatchReaderBuilder::new_with_metadata(chunks, self.metadata.clone())
                .with_projection(mask)
                .with_row_groups(groups)
                .with_batch_size(rows)
                .build()
        })?;
        loop {
            let next = guarded(&self.file, || {
                reader.next().transpose().map_err(|error| ParquetError::External(Box::new(error)))
            })?;
            let Some(batch) = next else { return Ok(()) };
            each(&batch).map_err(|error| error.in_file(self.file.name()))?;
        }
    }
}

/// Runs code of the `parquet` crate. A file that makes it panic is damaged; its unfinished work is
/// dropped.
fn guarded<T>(file: &DataFile, run: impl FnOnce() -> parquet::errors::Result<T>) -> Result<T> {
    let damaged = |what: String| {
        let what = what.lines().next().unwrap_or_default().to_owned();
        Error::format(PARQUET, Problem::Unsupported(what.into()))
            .in_file(file.name())
            .with_help("the file is damaged, or cut short, or uses what is not supported")
    };
    match caught(run) {
        Ok(Ok(value)) => Ok(value),
        // An error of reading the file is the cause, however the crate has wrapped it.
        Ok(Err(error)) => Err(of_reading(&error).unwrap_or_else(|| damaged(error.to_string()))),
        Err(panic) => Err(damaged(format!("it cannot be decoded: {panic}"))),
    }
}

/// This library's error among the causes of another error.
fn of_reading(error: &(dyn error::Error + 'static)) -> Option<Error> {
    let mut next = Some(error);
    while let Some(error) = next {
        let wrapped = error.downcast_ref::<io::Error>().and_then(|error| error.get_ref());
        let wrapped = wrapped.and_then(|inner| inner.downcast_ref::<Error>());
        if let Some(own) = error.downcast_ref::<Error>().or(wrapped) {
            return Some(own.clone());
        }
        next = error.source();
    }
    None
}

/// The bytes of a file, for the `parquet` crate.
struct Chunks(Arc<DataFile>);

impl Length for Chunks {
    fn len(&self) -> u64 {
        self.0.len()
    }
}

impl ChunkReader for Chunks {
    type T = From;

    fn get_read(&self, start: u64) -> parquet::errors::Result<From> {
        Ok(From { file: Arc::clone(&self.0), at: start })
    }

    fn get_bytes(&self, start: u64, length: usize) -> parquet::errors::Result<Bytes> {
        let external = |error: Error| ParquetError::External(Box::new(error));
        // Missing data must not take memory.
        let there = self.0.len().saturating_sub(start);
        if length as u64 > there {
            let missing = Some(length as u64 - there);
            let problem = Problem::UnexpectedEnd { inside: "a column", missing };
            let error = Error::format(PARQUET, problem).in_file(self.0.name()).at_byte(start);
            return Err(external(error));
        }
        let mut bytes = vec![0; length];
        self.0.read_exact_at(&mut bytes, start, "a column").map_err(external)?;
        Ok(bytes.into())
    }
}

/// A file from a position on.
struct From {
    file: Arc<DataFile>,
    at: u64,
}

impl Read for From {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let count = self.file.read_at(buf, self.at).map_err(io::Error::other)?;
        self.at += count as u64;
        Ok(count)
    }
}
