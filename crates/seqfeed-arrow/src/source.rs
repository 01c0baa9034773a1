//! Tables as a source of sequences.

use std::ffi::OsStr;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use arrow_array::ArrayRef;
use seqfeed_core::{
    About, Block, Error, Extent, Index, IndexBuilder, Key, Kind, Most, Problem, Result, Source,
    Stream,
};
use seqfeed_io::{DataFile, Opener, Spool};

use crate::ARROW;
use crate::ipc;
use crate::keys::{each_key, lengths};
use crate::piece::Piece;
use crate::row_groups::{MOST_ROWS, RowGroups};
use crate::schema::{ArrowOptions, Column, Columns};

/// Row groups with more chunks than this are decoded once, into a temporary file.
const MOST_CHUNKS: u64 = 2;
/// If lengths are not known, this holds for row groups with more bytes than this.
const MOST_BYTES: u64 = 16 << 20;

/// An Arrow IPC file or stream, or a Parquet file, as a [`Source`]: a row is a sequence, a
/// column a stream.
///
/// The [crate's documentation](crate) describes the columns.
///
/// ```
/// use seqfeed_arrow::{ArrowOptions, ArrowSource, KeyType, ParquetWriter, WriteOptions};
/// use seqfeed_core::{Block, Element, Extent, Key, Kind, Source, Stream};
/// use seqfeed_io::{Opener, WxFilename};
/// # let directory = tempfile::tempdir().unwrap();
/// # let path = directory.path().join("train.parquet");
///
/// let stream = Stream {
///     name: "features".into(),
///     kind: Kind::Dense,
///     element: Element::F32,
///     dim: 2,
///     extent: Extent::Samples,
/// };
/// let mut blocks = vec![Block::of(&stream)];
/// blocks[0].push_f32(3).copy_from_slice(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
/// let name = WxFilename::from(path.clone());
/// let (options, opener) = (WriteOptions::default(), Opener::default());
/// let mut writer = ParquetWriter::create(&name, &[stream], KeyType::Text, &options, &opener)?;
/// writer.write(Key(b"utt1"), &blocks, 0)?;
/// writer.finish()?;
///
/// let source = ArrowSource::open(path.to_str().unwrap(), &ArrowOptions::default(), &opener)?;
/// let mut loaded = source.new_blocks();
/// source.load(&[0], &mut loaded)?;
/// assert_eq!(loaded[0].samples(0).bytes(), blocks[0].samples(0).bytes());
/// # Ok::<(), seqfeed_core::Error>(())
/// ```
pub struct ArrowSource {
    name: String,
    streams: Vec<Stream>,
    columns: Vec<Column>,
    index: Arc<Index>,
    /// The first sequence of each piece, and the number of all sequences.
    firsts: Vec<u32>,
    pieces: Pieces,
    format: String,
    spooled_bytes: u64,
}

enum Pieces {
    /// Samples can be read in place.
    Placed(Vec<Arc<Piece>>),
    /// Each row group is a piece.
    Groups(Box<RowGroups>),
}

impl ArrowSource {
    /// Opens a file by any name that can be read. The first bytes tell its format. Data that cannot
    /// be read in place (pipes, compressed files) are copied into a temporary file first.
    ///
    /// # Errors
    ///
    /// Fails if the file cannot be read, is damaged, or has no samples; if a requested column is
    /// missing or has another type; or if the data have nulls.
    pub fn open(
        name: &(impl AsRef<OsStr> + ?Sized),
        options: &ArrowOptions,
        opener: &Opener,
    ) -> Result<Self> {
        let name = opener.rxfilename(name)?;
        let file = DataFile::decoded(&name, opener)?;
        let copied = file.spooled_bytes();
        let mut source = Self::from_data(file.with_name(name.to_string()), options)?;
        source.spooled_bytes += copied;
        Ok(source)
    }

    /// A source from an open file, with its name.
    ///
    /// # Errors
    ///
    /// As [`open`](Self::open).
    pub fn from_data(file: DataFile, options: &ArrowOptions) -> Result<Self> {
        let file = Arc::new(file);
        let mut head = [0; 6];
        let found = file.read_at(&mut head, 0)?;
        let opened = match &head[..found] {
            [b'P', b'A', b'R', b'1', ..] => SourceBuilder::new(options).parquet(&file),
            [b'P', b'A', b'R', b'E', ..] => Err(not_supported("an encrypted Parquet file")),
            [b'F', b'E', b'A', b'1', ..] => Err(not_supported("version 1 of Feather")
                .with_help("pyarrow.feather.write_feather writes version 2 unless told otherwise")),
            head if ipc::is_file(head) || ipc::is_stream(head) => {
                SourceBuilder::new(options).ipc(&file)
            }
            head => {
                let problem = Problem::Unexpected {
                    expected: "the beginning of an Arrow or Parquet file".into(),
                    found: head.to_vec(),
                };
                Err(Error::format(ARROW, problem).at_byte(0))
            }
        };
        let mut source = opened.map_err(|error| error.in_file(file.name()))?;
        source.name = file.name().to_owned();
        Ok(source)
    }

    /// The piece of a sequence.
    fn piece_of(&self, sequence: u32) -> usize {
        self.firsts.partition_point(|&first| first <= sequence) - 1
    }

    /// Calls `each` with runs of consecutive rows in a piece.
    fn runs(
        &self,
        sequences: &[u32],
        mut each: impl FnMut(&Piece, Range<usize>) -> Result<()>,
    ) -> Result<()> {
        let follow = |&a: &u32, &b: &u32| {
            a.checked_add(1) == Some(b) && self.piece_of(a) == self.piece_of(b)
        };
        let mut last: Option<(usize, Arc<Piece>)> = None;
        for run in sequences.chunk_by(follow) {
            let number = self.piece_of(run[0]);
            let piece = match &last {
                Some((found, piece)) if *found == number => Arc::clone(piece),
                _ => match &self.pieces {
                    Pieces::Placed(pieces) => Arc::clone(&pieces[number]),
                    Pieces::Groups(groups) => groups.group(number)?,
                },
            };
            last = Some((number, Arc::clone(&piece)));
            let first = (run[0] - self.firsts[number]) as usize;
            each(&piece, first..first + run.len()).map_err(|error| {
                let error = error.in_file(&self.name);
                if run.len() == 1 { error.of_key(self.index.key(run[0])) } else { error }
            })?;
        }
        Ok(())
    }
}

impl Source for ArrowSource {
    fn name(&self) -> &str {
        &self.name
    }

    fn streams(&self) -> &[Stream] {
        &self.streams
    }

    fn index(&self) -> &Arc<Index> {
        &self.index
    }

    fn about(&self) -> About {
        let (format, spooled_bytes) = (self.format.clone(), self.spooled_bytes);
        About { format, spooled_bytes, ..About::default() }
    }

    fn load(&self, sequences: &[u32], blocks: &mut [Block]) -> Result<()> {
        self.runs(sequences, |piece, rows| {
            let columns = self.columns.iter().zip(&piece.columns).zip(blocks.iter_mut());
            for ((column, found), block) in columns {
                found.load(column, rows.clone(), block)?;
            }
            Ok(())
        })
    }

    fn load_stream(&self, stream: usize, sequences: &[u32], block: &mut Block) -> Result<()> {
        self.runs(sequences, |piece, rows| {
            piece.columns[stream].load(&self.columns[stream], rows, block)
        })
    }

    fn fault(&self, sequence: u32) -> Option<Error> {
        let Pieces::Placed(pieces) = &self.pieces else { return None };
        let number = self.piece_of(sequence);
        let row = (sequence - self.firsts[number]) as usize;
        let expected = u64::from(self.index.samples(sequence));
        let wrong = |(stream, found): (&Stream, u64)| {
            let what = format!("{} has {found} samples, but {expected} are expected", stream.name);
            let key = self.index.key(sequence);
            Error::corpus(what).in_file(&self.name).of_key(key)
        };
        let columns = self.streams.iter().zip(&pieces[number].columns);
        let mut lengths = columns
            .filter(|(stream, _)| stream.extent == Extent::Samples)
            .map(|(stream, column)| (stream, column.samples(row)));
        lengths.find(|&(_, found)| found != expected).map(wrong)
    }

    fn most(&self, stream: usize, sequences: Range<u32>) -> Most {
        let described = &self.streams[stream];
        let samples = match described.extent {
            Extent::Sequence => u64::from(sequences.end - sequences.start),
            Extent::Samples | Extent::Own => {
                self.index.start(sequences.end) - self.index.start(sequences.start)
            }
        };
        let all = Most::all_of(described, samples);
        if described.kind != Kind::Sparse || sequences.is_empty() {
            return all;
        }
        // The number of values is known for whole pieces.
        let pieces = self.piece_of(sequences.start)..=self.piece_of(sequences.end - 1);
        let values = pieces.map(|piece| self.values_of(piece, stream)).fold(0, u64::saturating_add);
        Most { samples, values: values.min(all.values) }
    }

    fn most_of_one(&self, stream: usize) -> Most {
        let each = (0..self.index.len() as u32).map(|s| self.most(stream, s..s + 1));
        each.fold(Most::default(), Most::or)
    }

    fn kept_bytes(&self) -> u64 {
        match &self.pieces {
            Pieces::Placed(_) => 0,
            Pieces::Groups(groups) => groups.most_kept().saturating_mul(self.piece_bytes()),
        }
    }

    fn loading_bytes(&self) -> u64 {
        // The bytes of a piece that are read at once, and converted. For a row group, also the
        // encoded bytes.
        self.piece_bytes().saturating_mul(3)
    }
}

impl ArrowSource {
    /// The most values that a sparse stream has in a piece.
    fn values_of(&self, piece: usize, stream: usize) -> u64 {
        match &self.pieces {
            Pieces::Placed(pieces) => pieces[piece].columns[stream].values.len(),
            Pieces::Groups(groups) => groups.values(piece, stream),
        }
    }

    /// Bytes of the largest piece, decoded.
    fn piece_bytes(&self) -> u64 {
        let streams = self.streams.iter().enumerate();
        let bytes = |ends: &[u32]| {
            let each = streams.clone().map(|(n, s)| self.most(n, ends[0]..ends[1]).block_bytes(s));
            // Numbers may be wider in the file.
            each.fold(0, u64::saturating_add).saturating_mul(2)
        };
        self.firsts.windows(2).map(bytes).max().unwrap_or(0)
    }
}

impl fmt::Debug for ArrowSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ArrowSource")
            .field("name", &self.name)
            .field("format", &self.format)
            .field("streams", &self.streams)
            .field("index", &self.index)
            .finish_non_exhaustive()
    }
}

/// A source that is being built.
struct SourceBuilder<'a> {
    options: &'a ArrowOptions,
    keys: Vec<u8>,
    /// The end of each key.
    key_ends: Vec<usize>,
    /// The contents of the column of lengths.
    lengths: Vec<u32>,
    firsts: Vec<u32>,
    pieces: Vec<Piece>,
}

impl<'a> SourceBuilder<'a> {
    fn new(options: &'a ArrowOptions) -> Self {
        let (keys, key_ends, lengths) = (Vec::new(), Vec::new(), Vec::new());
        Self { options, keys, key_ends, lengths, firsts: vec![0], pieces: Vec::new() }
    }

    /// Adds the keys of `rows` rows.
    fn keys(&mut self, rows: usize, keys: Option<&ArrayRef>) -> Result<()> {
        let before = self.key_ends.len();
        if before + rows >= u32::MAX as usize {
            return Err(Error::corpus("there are 2^32 - 1 rows or more"));
        }
        match keys {
            Some(keys) => each_key(keys, &mut |key| {
                self.keys.extend_from_slice(key.0);
                self.key_ends.push(self.keys.len());
                Ok(())
            }),
            None => {
                for row in before..before + rows {
                    self.keys.extend_from_slice(row.to_string().as_bytes());
                    self.key_ends.push(self.keys.len());
                }
                Ok(())
            }
        }?;
        match self.key_ends.len() - before {
            found if found == rows => Ok(()),
            found => {
                let (expected, found) = (rows as u64, found as u64);
                let problem = Problem::CountMismatch { what: "keys", expected, found };
                Err(Error::format(ARROW, problem))
            }
        }
    }

    fn ipc(mut self, file: &Arc<DataFile>) -> Result<ArrowSource> {
        let mut spool = None;
        let ipc::Found { mut columns, batches, compressed } =
            ipc::scan(file, self.options, &mut spool)?;
        let count = batches.len();
        for batch in batches {
            self.keys(batch.piece.rows, batch.keys.as_ref())?;
            self.lengths.extend(batch.lengths.into_iter().flatten());
            self.firsts.push(self.key_ends.len() as u32);
            self.pieces.push(batch.piece);
        }
        let spooled_bytes = self.settle(spool, file.name())?;
        self.widths(&mut columns)?;
        let plural = if count == 1 { "" } else { "es" };
        let how = if compressed { ", compressed" } else { "" };
        let format = format!("arrow, {count} record batch{plural}{how}");
        self.finish(columns, None, format, spooled_bytes)
    }

    fn parquet(mut self, file: &Arc<DataFile>) -> Result<ArrowSource> {
        let groups = RowGroups::open(file, self.options)?;
        let count = groups.len();
        let plural = if count == 1 { "" } else { "s" };
        let format = format!("parquet, {count} row group{plural}");
        let mut columns = groups.columns.clone();
        let open = columns.streams.iter().any(|column| column.open_dim);
        let known = columns.length.is_some() && !open;
        if known {
            groups.read_index(|batch, fields| self.batch(&groups, batch, fields))?;
            let mut rows = 0;
            for group in 0..count {
                rows += groups.rows(group);
                self.firsts.push(rows as u32);
            }
            let found = self.key_ends.len().min(self.lengths.len());
            rows_agree(rows, found)?;
        }
        let small = (0..count).all(|group| {
            groups.rows(group) <= MOST_ROWS
                && if known {
                    let rows = self.firsts[group] as usize..self.firsts[group + 1] as usize;
                    let samples: u64 =
                        self.lengths[rows.clone()].iter().map(|&n| u64::from(n)).sum();
                    rows.len() <= 1 || samples <= MOST_CHUNKS * self.options.chunk_samples
                } else {
                    groups.bytes(group) <= MOST_BYTES
                }
        });
        if known && small {
            return self.finish(columns, Some(groups), format, 0);
        }
        let mut opening = SourceBuilder::new(self.options);
        if small {
            // Only lengths and widths of the decoded data are kept.
            for group in 0..count {
                let piece = groups.group(group)?;
                let starts = piece.columns.iter().map(|column| column.starts.clone());
                let kept =
                    starts.zip(&piece.columns).map(|(starts, column)| crate::piece::PieceColumn {
                        starts,
                        inner: column.inner.clone(),
                        indices: None,
                        values: crate::store::Store::Memory(Vec::<u8>::new().into()),
                    });
                let mut piece = Piece { rows: piece.rows, columns: kept.collect() };
                widths(&mut columns, &piece)?;
                piece.columns.iter_mut().for_each(|column| column.inner = None);
                opening.firsts.push(opening.firsts[group] + piece.rows as u32);
                opening.pieces.push(piece);
            }
            groups.read_index(|batch, fields| opening.batch(&groups, batch, fields))?;
            let rows = opening.pieces.iter().map(|piece| piece.rows).sum();
            rows_agree(rows, opening.key_ends.len())?;
            return opening.finish(columns, Some(groups), format, 0);
        }
        let mut spool = Spool::new()?;
        groups.read_all(|batch, fields| {
            opening.batch(&groups, batch, fields)?;
            let mut piece = groups.piece(batch)?;
            widths(&mut columns, &piece)?;
            piece.columns.iter_mut().try_for_each(|column| column.spool(&mut spool))?;
            opening.firsts.push(opening.key_ends.len() as u32);
            opening.pieces.push(piece);
            Ok(())
        })?;
        let spooled_bytes = opening.settle(Some(spool), file.name())?;
        opening.finish(columns, None, format, spooled_bytes)
    }

    /// Adds the keys and lengths of a batch.
    fn batch(
        &mut self,
        groups: &RowGroups,
        batch: &arrow_array::RecordBatch,
        fields: &[usize],
    ) -> Result<()> {
        let key = groups.columns.key.map(|key| groups.field(batch, fields, key)).transpose()?;
        self.keys(batch.num_rows(), key)?;
        if let Some(length) = groups.columns.length {
            self.lengths.extend(lengths(groups.field(batch, fields, length)?)?);
        }
        Ok(())
    }

    /// Ends the spool. Returns its size.
    fn settle(&mut self, spool: Option<Spool>, name: &str) -> Result<u64> {
        let Some(spool) = spool else { return Ok(0) };
        let file = Arc::new(spool.into_data_file()?.with_name(name));
        for piece in &mut self.pieces {
            piece.columns.iter_mut().for_each(|column| column.settle(&file));
        }
        Ok(file.len())
    }

    fn widths(&self, columns: &mut Columns) -> Result<()> {
        self.pieces.iter().try_for_each(|piece| widths(columns, piece))
    }

    fn finish(
        self,
        mut columns: Columns,
        groups: Option<RowGroups>,
        format: String,
        spooled_bytes: u64,
    ) -> Result<ArrowSource> {
        self.own_lengths(&mut columns.streams);
        let index = self.index(&columns)?;
        let mut columns = columns.streams;
        columns.iter_mut().for_each(|column| column.open_dim = false);
        let streams = columns.iter().map(|column| column.stream.clone()).collect();
        let pieces = match groups {
            Some(groups) => Pieces::Groups(Box::new(groups)),
            None => Pieces::Placed(self.pieces.into_iter().map(Arc::new).collect()),
        };
        let (name, firsts) = (String::new(), self.firsts);
        let index = Arc::new(index);
        Ok(ArrowSource { name, streams, columns, index, firsts, pieces, format, spooled_bytes })
    }

    /// If a stream's lists differ in number from those of the first dense stream, and nothing else
    /// is given, the stream gets lengths of its own.
    fn own_lengths(&self, columns: &mut [Column]) {
        let Some(first) = measure(columns) else { return };
        let differs = |number: usize| {
            self.pieces.iter().any(|piece| {
                let (own, other) = (&piece.columns[number], &piece.columns[first]);
                (0..piece.rows).any(|row| own.samples(row) != other.samples(row))
            })
        };
        for (number, column) in columns.iter_mut().enumerate() {
            let open = !column.marked && column.stream.extent == Extent::Samples;
            if number != first && open && differs(number) {
                column.stream.extent = Extent::Own;
            }
        }
    }

    fn index(&self, columns: &Columns) -> Result<Index> {
        let mut builder = IndexBuilder::new(self.options.chunk_samples);
        let streams = &columns.streams;
        let lists = streams.iter().any(|column| column.stream.extent != Extent::Sequence);
        let first = measure(streams);
        let mut start = 0;
        let mut push = |builder: &mut IndexBuilder, samples: u64| {
            let end = self.key_ends[builder.len()];
            let key = Key(&self.keys[start..end]);
            start = end;
            match u32::try_from(samples) {
                Ok(samples) => builder.push(key, samples),
                Err(_) => {
                    return Err(Error::corpus("the sequence has 2^32 samples or more").of_key(key));
                }
            }
            Ok(())
        };
        if columns.length.is_some() && lists && self.lengths.len() == self.key_ends.len() {
            for &samples in &self.lengths {
                push(&mut builder, samples.into())?;
            }
        } else if !lists {
            (0..self.key_ends.len()).try_for_each(|_| push(&mut builder, 1))?;
        } else {
            for piece in &self.pieces {
                for row in 0..piece.rows {
                    let samples = match first {
                        Some(first) => piece.columns[first].samples(row),
                        None => {
                            let each = streams.iter().zip(&piece.columns);
                            let own = each.filter(|(c, _)| c.stream.extent == Extent::Own);
                            own.map(|(_, column)| column.samples(row)).max().unwrap_or(1)
                        }
                    };
                    push(&mut builder, samples)?;
                }
            }
        }
        Ok(builder.finish())
    }
}

/// The stream that gives the lengths: the first dense one with a sample a time step, or the first
/// of any kind.
fn measure(columns: &[Column]) -> Option<usize> {
    let steps = |column: &Column| column.stream.extent == Extent::Samples;
    let dense = |column: &Column| steps(column) && column.stream.kind == Kind::Dense;
    columns.iter().position(dense).or_else(|| columns.iter().position(steps))
}

/// Takes the width of lists that are samples from the first one.
fn widths(columns: &mut Columns, piece: &Piece) -> Result<()> {
    for (column, found) in columns.streams.iter_mut().zip(&piece.columns) {
        if column.open_dim
            && let Some(width) = found.first_width(column)?
        {
            let Some(width) =
                usize::try_from(width).ok().filter(|width| (1..1 << 31).contains(width))
            else {
                let name = &column.stream.name;
                return Err(Error::corpus(format!("the first sample of {name} has no values")));
            };
            (column.stream.dim, column.open_dim) = (width, false);
        }
    }
    Ok(())
}

/// Columns of a damaged file may have different numbers of rows.
fn rows_agree(expected: usize, found: usize) -> Result<()> {
    if expected == found {
        return Ok(());
    }
    let (expected, found) = (expected as u64, found as u64);
    Err(Error::format(crate::PARQUET, Problem::CountMismatch { what: "rows", expected, found }))
}

fn not_supported(what: &'static str) -> Error {
    Error::format(ARROW, Problem::Unsupported(what.into()))
}
