//! Tables of posteriors and of sparse matrices as a source of sequences.

use std::ffi::OsStr;
use std::ops::Range;
use std::sync::Arc;

use seqfeed_core::{
    About, Block, Damage, Element, Error, Extent, Index, IndexBuilder, JoinReport, Key, Kind, Most,
    Problem, Remark, Result, Source, Stream, Tolerance,
};
use seqfeed_io::{DataFile, Spool, shown_name};

use super::entry::Skips;
use super::examined::TableNames;
use super::options::{TableOptions, shown};
use crate::OBJECT;
use crate::holder::{Holder, Mode};
use crate::object_reader::ObjectReader;
use crate::objects::posterior::Posterior;
use crate::objects::sparse::SparseMatrix;
use crate::specifier::Rspecifier;
use crate::{ReadOptions, SequentialReader};

/// Bytes of a number in the spool: an end, an index, a value.
const WORD: usize = 4;

/// One or more tables of posteriors or of sparse matrices that follow one another, as a [`Source`]
/// of one sparse stream of 32-bit floats. Each frame or row is a sample.
///
/// A posterior does not have the number of possible values. So the dimension is given, or else it
/// is the highest number plus one. Opening reads all objects once, into an unnamed temporary file;
/// they are loaded from there.
///
/// ```
/// use seqfeed_core::{Element, Source};
/// use seqfeed_kaldi::{Role, SparseSource, TableOptions};
/// # let directory = tempfile::tempdir().unwrap();
/// # let path = directory.path().join("post.ark");
///
/// std::fs::write(&path, "utt1 [ 3 1 ] [ 3 0.5 7 0.5 ] [ ] \n").unwrap();
/// let options = TableOptions::new("post", Role::Features, Element::F32);
/// let source = SparseSource::open(&[format!("ark:{}", path.display())], None, &options)?;
/// assert_eq!((source.index().samples(0), source.streams()[0].dim), (3, 8));
/// let mut blocks = source.new_blocks();
/// source.load(&[0], &mut blocks)?;
/// assert_eq!(blocks[0].sparse_samples(0).indices, [3, 3, 7]);
/// # Ok::<(), seqfeed_core::Error>(())
/// ```
pub struct SparseSource {
    name: String,
    streams: Vec<Stream>,
    index: Arc<Index>,
    entries: Vec<Entry>,
    file: Option<DataFile>,
    format: String,
    report: JoinReport,
    faults: Vec<Damage>,
    names: TableNames,
}

/// The position of a sequence in the spool: the end of each frame, then indices, then values.
#[derive(Clone, Copy)]
struct Entry {
    offset: u64,
    values: u32,
}

impl SparseSource {
    /// Opens tables by their rspecifiers. Type and role of `options` are ignored. `dim` is the
    /// number of possible values.
    ///
    /// # Errors
    ///
    /// Fails if a name is wrong or not allowed, if a file cannot be read, or if too many objects
    /// are faulty: damaged, with numbers that are negative or not below `dim`, or without the
    /// single frame that was asked for.
    pub fn open(
        rspecifiers: &[impl AsRef<OsStr>],
        dim: Option<usize>,
        options: &TableOptions,
    ) -> Result<Self> {
        let extent = options.extent.unwrap_or(Extent::Samples);
        let mut opening = SourceBuilder {
            dim,
            highest: 0,
            extent,
            builder: IndexBuilder::like(options.like.as_ref(), options.chunk_samples),
            entries: Vec::new(),
            spool: None,
            bytes: Vec::new(),
            posteriors: 0,
        };
        let mut skips = Skips::new(options.errors);
        for text in rspecifiers {
            let rspecifier = Rspecifier::parse(text)?;
            skips.tolerance = if rspecifier.permissive { Tolerance::Skip } else { options.errors };
            let read = ReadOptions::with_opener(&options.opener);
            let rxfilename = options.opener.rxfilename(&rspecifier.rxfilename)?.name();
            let text = shown_name(Rspecifier { rxfilename, ..rspecifier.clone() }.name());
            let mut reader = SequentialReader::<Frames>::open_with(&rspecifier.name(), &read)?;
            let (mut key, mut frames) = (Vec::new(), Frames::default());
            loop {
                match reader.next_into(&mut key, &mut frames) {
                    Ok(false) => break,
                    Ok(true) => match opening.check(&frames) {
                        Ok(()) => opening.add(Key(&key), &frames)?,
                        Err(error) => skips.absorb(Key(&key), error.in_file(text.as_str()))?,
                    },
                    // After it an archive cannot be read on. The reader ends then.
                    Err(error) => skips.absorb(Key(&key), error)?,
                }
            }
            for error in &reader.report().errors {
                skips.report.add("unreadable", error.to_string());
                skips.faults.push(error.clone());
            }
        }
        let matrices = opening.entries.len() as u64 - opening.posteriors;
        let counts = [(opening.posteriors, "posteriors"), (matrices, "sparse matrices")];
        let named = counts.iter().filter(|(count, _)| *count > 0);
        let named: Vec<String> = named.map(|(count, what)| format!("{count} {what}")).collect();
        let stream = Stream {
            name: options.stream.clone(),
            kind: Kind::Sparse,
            element: Element::F32,
            dim: dim.unwrap_or(opening.highest.max(1)),
            extent,
        };
        Ok(Self {
            name: shown(rspecifiers),
            streams: vec![stream],
            index: Arc::new(opening.builder.finish()),
            entries: opening.entries,
            file: opening.spool.map(Spool::into_data_file).transpose()?,
            format: format!("kaldi tables, {}", named.join(", ")),
            report: skips.report,
            faults: skips.faults,
            names: TableNames::new(rspecifiers, options),
        })
    }
}

impl Source for SparseSource {
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
        About {
            format: self.format.clone(),
            report: self.report.clone(),
            faults: self.faults.clone(),
            spooled_bytes: self.file.as_ref().map_or(0, DataFile::len),
            ..About::default()
        }
    }

    fn examine(&self) -> Result<Vec<Remark>> {
        self.names.examine(self)
    }

    fn load(&self, sequences: &[u32], blocks: &mut [Block]) -> Result<()> {
        let (mut bytes, mut ends, mut indices) = (Vec::new(), Vec::new(), Vec::new());
        for &sequence in sequences {
            let Entry { offset, values } = self.entries[sequence as usize];
            let (frames, values) = (self.index.samples(sequence) as usize, values as usize);
            bytes.resize((frames + 2 * values) * WORD, 0);
            if let Some(file) = &self.file {
                file.read_exact_at(&mut bytes, offset, "a posterior")
                    .map_err(|error| error.of_key(self.index.key(sequence)))?;
            }
            let (of_ends, rest) = bytes.split_at(frames * WORD);
            let (of_indices, of_values) = rest.split_at(values * WORD);
            ends.clear();
            ends.extend(of_ends.as_chunks().0.iter().map(|&bytes| u32::from_ne_bytes(bytes)));
            indices.clear();
            indices.extend(of_indices.as_chunks().0.iter().map(|&bytes| i32::from_ne_bytes(bytes)));
            blocks[0].push_sparse(of_values, &indices, &ends);
        }
        Ok(())
    }

    fn most(&self, _stream: usize, sequences: Range<u32>) -> Most {
        let samples = self.index.start(sequences.end) - self.index.start(sequences.start);
        let entries = &self.entries[sequences.start as usize..sequences.end as usize];
        Most { samples, values: entries.iter().map(|entry| u64::from(entry.values)).sum() }
    }

    fn most_of_one(&self, stream: usize) -> Most {
        let each = (0..self.index.len() as u32).map(|s| self.most(stream, s..s + 1));
        each.fold(Most::default(), Most::or)
    }

    fn loading_bytes(&self) -> u64 {
        // A posterior in the spool's form, and its indices and ends. Their memory grows from one to
        // the next.
        let Most { samples, values } = self.most_of_one(0);
        (2 * samples + 3 * values) * 2 * WORD as u64
    }
}

impl std::fmt::Debug for SparseSource {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SparseSource")
            .field("name", &self.name)
            .field("format", &self.format)
            .field("index", &self.index)
            .finish_non_exhaustive()
    }
}

/// A source that is being built.
struct SourceBuilder {
    dim: Option<usize>,
    /// The highest number so far, plus one.
    highest: usize,
    extent: Extent,
    builder: IndexBuilder,
    entries: Vec<Entry>,
    spool: Option<Spool>,
    bytes: Vec<u8>,
    posteriors: u64,
}

impl SourceBuilder {
    fn check(&mut self, frames: &Frames) -> Result<()> {
        let wrong = |problem| Err(Error::format(OBJECT, problem));
        let count = frames.posterior.0.len();
        if self.extent == Extent::Sequence && count != 1 {
            let what = format!("one frame a sequence is expected, but this has {count}");
            return wrong(Problem::Unsupported(what.into()));
        }
        let pairs = frames.posterior.0.iter().flatten();
        let (mut least, mut most) = (0, -1);
        for &(number, _) in pairs {
            least = least.min(number);
            most = most.max(number);
        }
        let dim = self.dim.unwrap_or(1 << 31);
        if least < 0 || usize::try_from(most).is_ok_and(|most| most >= dim) {
            let found = i64::from(if least < 0 { least } else { most });
            let allowed = format!("0 or more and below {dim}").into();
            return wrong(Problem::OutOfRange { what: "a number", found, allowed });
        }
        let above = usize::try_from(i64::from(most) + 1).unwrap_or(0);
        self.highest = self.highest.max(above).max(frames.dim);
        Ok(())
    }

    fn add(&mut self, key: Key<'_>, frames: &Frames) -> Result<()> {
        let spool = match &mut self.spool {
            Some(spool) => spool,
            None => self.spool.insert(Spool::new()?),
        };
        let offset = spool.position();
        let (frames, is_matrix) = (&frames.posterior.0, frames.is_matrix);
        let mut end = 0usize;
        self.bytes.clear();
        for frame in frames {
            end += frame.len();
            // A number that does not fit is refused below.
            self.bytes.extend((end as u32).to_ne_bytes());
        }
        let (Ok(values), Ok(samples)) = (u32::try_from(end), u32::try_from(frames.len())) else {
            let problem = Problem::Unsupported("an object of 2^32 values or more".into());
            return Err(Error::format(OBJECT, problem).of_key(key));
        };
        self.bytes.extend(frames.iter().flatten().flat_map(|pair| pair.0.to_ne_bytes()));
        self.bytes.extend(frames.iter().flatten().flat_map(|pair| pair.1.to_ne_bytes()));
        spool.write_all(&self.bytes)?;
        self.posteriors += u64::from(!is_matrix);
        self.entries.push(Entry { offset, values });
        self.builder.push(key, samples);
        Ok(())
    }
}

/// The frames of a posterior, or of a sparse matrix.
#[derive(Default)]
struct Frames {
    posterior: Posterior,
    /// The columns of a matrix; 0 for a posterior.
    dim: usize,
    is_matrix: bool,
}

impl Holder for Frames {
    const TYPE: &'static str = "posterior or sparse matrix";

    fn read(reader: &mut ObjectReader, mode: Mode) -> Result<Self> {
        let begins = match mode {
            Mode::Binary => &b"SM "[..],
            Mode::Text => &b"rows="[..],
        };
        if !reader.ensure(begins.len())?.starts_with(begins) {
            return Ok(Self { posterior: Posterior::read(reader, mode)?, ..Self::default() });
        }
        let matrix = SparseMatrix::<f32>::read(reader, mode)?;
        let dim = matrix.rows.first().map_or(0, |row| row.dim);
        let rows = matrix.rows.into_iter().map(|row| row.pairs);
        Ok(Self { posterior: Posterior(rows.collect()), dim, is_matrix: true })
    }

    fn write(&self, out: &mut Vec<u8>, mode: Mode) -> Result<()> {
        self.posterior.write(out, mode)
    }
}
