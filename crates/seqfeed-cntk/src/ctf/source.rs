//! A CTF file as a source.

use std::ffi::OsStr;
use std::fmt;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use seqfeed_core::{
    About, Block, Element, Error, Extent, Index, IndexBuilder, Key, Kind, Most, Offsets, Problem,
    Remark, Result, Severity, Source, Stream,
};
use seqfeed_io::{DataFile, Opener, run_of, shown_name};

use super::cache::{self, Stamp};
use super::lines::{self, LineColumn};
use super::{
    CTF, CtfFloat, CtfIncidents, CtfIndex, CtfInput, CtfSequence, KeyKind, Names, Parser,
    ParserOptions, ScanOptions, SequenceSamples, UndeclaredInput, scan_in_parallel,
};

/// Bytes to read at once, if sequences are consecutive.
const RUN: u64 = 4 << 20;
/// A gap between two sequences that is read, not skipped.
const GAP: u64 = 64 << 10;
/// The most warnings to show for a file.
const SHOWN: usize = 10;

/// The fewest bytes of text for a value with its index: ` 1:2`.
const VALUE_BYTES: u64 = 4;

/// Options for reading a CTF file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CtfOptions {
    /// Its inputs, in the order of the streams.
    pub inputs: Vec<CtfInput>,
    /// Type of values: `F32` (the default) or `F64`.
    pub element: Element,
    /// Whether each line is a sequence, whatever its id.
    pub skip_sequence_ids: bool,
    /// The number of errors to pass over. One more ends reading.
    pub max_errors: u64,
    /// Bytes of the file in a chunk; 32 MiB in CNTK.
    pub chunk_bytes: u64,
    /// Whether it is an error if a sequence does not have exactly one sample.
    pub frame_mode: bool,
    /// The kind of keys.
    pub keys: KeyKind,
    /// Whether to keep the index in a file beside the data, and to use an existing one.
    pub cache_index: bool,
    /// Whether sequences may have more lines than the longest input has samples.
    pub longer_than_inputs: bool,
    /// Threads that make the index.
    pub threads: usize,
    /// The messages to give (`traceLevel`): 0 errors, 1 warnings, 2 also inputs that nobody
    /// declares.
    pub trace_level: i64,
}

impl Default for CtfOptions {
    fn default() -> Self {
        Self {
            inputs: Vec::new(),
            element: Element::F32,
            skip_sequence_ids: false,
            max_errors: 0,
            chunk_bytes: 32 << 20,
            frame_mode: false,
            keys: KeyKind::Numeric,
            cache_index: false,
            longer_than_inputs: false,
            threads: std::thread::available_parallelism().map_or(1, |n| n.get().min(8)),
            trace_level: 1,
        }
    }
}

/// A CTF file: an index of its sequences. Their samples are parsed on demand.
///
/// Its chunks are CNTK's: runs of sequences with a number of bytes. Each stream has its own number
/// of samples in a sequence ([`Extent::Own`]). The length in the index is the one in CNTK's index,
/// in lines.
///
/// ```
/// use seqfeed_cntk::ctf::{CtfInput, CtfOptions, CtfSource, Names};
/// use seqfeed_core::Source;
/// use seqfeed_io::Opener;
/// # let directory = tempfile::tempdir().unwrap();
/// # let path = directory.path().join("x.ctf");
/// # std::fs::write(&path, "7 |x 1 2 |y 3:1\n7 |x 4 5\n").unwrap();
/// # let path = path.display().to_string();
///
/// let inputs = vec![CtfInput::dense("x", 2), CtfInput::sparse("y", 5)];
/// let options = CtfOptions { inputs, ..CtfOptions::default() };
/// let source = CtfSource::open(&path, &options, &mut Names::new(), &Opener::default())?;
/// let mut blocks = source.new_blocks();
/// source.load(&[0], &mut blocks)?;
/// assert_eq!((blocks[0].sequence_len(0), blocks[1].sequence_len(0)), (2, 1));
/// assert_eq!(blocks[1].sparse_samples(0).indices, [3]);
/// # Ok::<(), seqfeed_core::Error>(())
/// ```
#[derive(Debug)]
pub struct CtfSource {
    name: String,
    data: DataFile,
    streams: Vec<Stream>,
    index: Arc<Index>,
    places: SequenceRanges,
    incidents: Arc<CtfIncidents>,
    parser: Parser,
    free: Free,
    frame_mode: bool,
    held_bytes: u64,
    cache: CacheUse,
    repeated: Option<Repeated>,
    trace_level: i64,
    /// The cache that is being written. Dropping the source waits for it.
    _writing: Option<cache::Writing>,
}

/// The use of the index cache.
#[derive(Clone, Debug, PartialEq, Eq)]
enum CacheUse {
    /// None: it was not asked for, or there is no file beside which it could be.
    No,
    /// The index came from this file.
    Read(PathBuf),
    /// The file was scanned, since there was no cache, or no usable one for the given reason. A
    /// cache is being written.
    Made(Option<String>),
}

/// Ids that occur again after others, which CNTK's documentation does not allow. Each time it is
/// another sequence with the same key.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Repeated {
    /// The key of one of them.
    key: String,
    /// The number of ids that occur more than once.
    ids: u64,
}

impl fmt::Display for Repeated {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let others = match self.ids {
            1 => String::new(),
            2 => ", and so does one other".to_owned(),
            ids => format!(", and so do {} others", ids - 1),
        };
        write!(
            f,
            "sequence ids must be unique, but {} comes again behind other sequences{others}: each time it is a \
             sequence of its own",
            self.key
        )
    }
}

impl Repeated {
    fn find(sequences: &[CtfSequence], index: &Index) -> Option<Self> {
        // They mostly ascend, as numbers of lines do.
        if sequences.is_sorted_by(|one, next| one.key < next.key) {
            return None;
        }
        let mut keys: Vec<u64> = sequences.iter().map(|sequence| sequence.key).collect();
        keys.sort_unstable();
        let again = keys.chunk_by(|one, next| one == next).filter(|equal| equal.len() > 1);
        let again: Vec<u64> = again.map(|equal| equal[0]).collect();
        let position =
            sequences.iter().position(|sequence| Some(&sequence.key) == again.first())?;
        let key = index.key(u32::try_from(position).ok()?).to_string();
        Some(Self { key, ids: again.len() as u64 })
    }
}

/// The positions of sequences in the file. The scanned index has them too, but takes much more
/// memory.
#[derive(Debug)]
struct SequenceRanges {
    /// The start of each sequence, and the end of the last one.
    starts: Offsets,
    /// The end of each sequence, if not all end where the next one begins.
    ends: Option<Offsets>,
}

impl SequenceRanges {
    fn new(found: &CtfIndex) -> Self {
        let sequences = &found.sequences;
        let end = |sequence: &CtfSequence| sequence.offset + u64::from(sequence.bytes);
        let mut starts: Offsets = sequences.iter().map(|sequence| sequence.offset).collect();
        starts.push(sequences.last().map_or(0, end));
        starts.shrink_to_fit();
        let gaps = sequences.windows(2).any(|pair| end(&pair[0]) != pair[1].offset);
        let ends = gaps.then(|| sequences.iter().map(end).collect());
        Self { starts, ends }
    }

    fn get(&self, sequence: u32) -> Range<u64> {
        let start = self.starts.get(sequence as usize);
        match &self.ends {
            None => start..self.starts.get(sequence as usize + 1),
            Some(ends) => start..ends.get(sequence as usize),
        }
    }
}

/// The idle parser buffers of the threads, for values of either precision.
#[derive(Debug)]
enum Free {
    F32(Mutex<Vec<Work<f32>>>),
    F64(Mutex<Vec<Work<f64>>>),
}

/// The parser and the buffers of a thread.
#[derive(Debug)]
struct Work<T> {
    parser: Parser,
    samples: SequenceSamples<T>,
    bytes: Vec<u8>,
}

impl CtfSource {
    /// Opens a file and makes or finds its index.
    ///
    /// Data that cannot be read twice in place (compressed files, streams, commands) are decoded
    /// once into a temporary file. `names` numbers symbolic ids; files that are joined share it.
    /// The index of a file in the file system is kept beside it, if `options` ask for it.
    ///
    /// # Errors
    ///
    /// Fails if the file cannot be read, or if it cannot be indexed, in CNTK's words: it is empty,
    /// or its beginning is wrong.
    pub fn open(
        name: &(impl AsRef<OsStr> + ?Sized),
        options: &CtfOptions,
        names: &mut Names,
        opener: &Opener,
    ) -> Result<Self> {
        let rxfilename = opener.rxfilename(name)?;
        let name = &rxfilename.to_string();
        let path = rxfilename.location().path().filter(|_| rxfilename.offset().is_none());
        // It is taken before the file is opened. If a file is replaced in between, no cache of it
        // is kept.
        let stamp = path.filter(|_| options.cache_index).and_then(|path| Stamp::of(path).ok());
        let data = DataFile::decoded(&rxfilename, opener)?;
        let path = path.filter(|_| data.spooled_bytes() == 0);
        let scan = ScanOptions {
            skip_sequence_ids: options.skip_sequence_ids,
            main_alias: CtfInput::main(&options.inputs)?.map(|input| input.alias.clone()),
            keys: options.keys,
        };
        let beside = path.zip(stamp);
        let (found, cache, writing) = index(&data, beside, &scan, options.threads, names)?;
        let streams = streams(options);
        let mut builder = IndexBuilder::new(u64::MAX);
        for chunk in found.chunks(options.chunk_bytes) {
            for number in chunk.sequences {
                let sequence = &found.sequences[number as usize];
                push(&mut builder, sequence, options.keys, names);
            }
            builder.end_chunk();
        }
        let incidents = Arc::new(CtfIncidents::new(options.max_errors));
        let parser =
            ParserOptions { keys: options.keys, longer_than_inputs: options.longer_than_inputs };
        let parser = Parser::new(name, &options.inputs, &parser, Arc::clone(&incidents))?;
        let free = match options.element {
            Element::F64 => Free::F64(Mutex::default()),
            _ => Free::F32(Mutex::default()),
        };
        let index = Arc::new(builder.finish());
        let held_bytes = held_bytes(&streams, found.file_bytes, index.total_samples());
        let repeated = Repeated::find(&found.sequences, &index);
        Ok(Self {
            name: name.to_owned(),
            data,
            streams,
            index,
            places: SequenceRanges::new(&found),
            incidents,
            parser,
            free,
            frame_mode: options.frame_mode,
            held_bytes,
            cache,
            repeated,
            trace_level: options.trace_level,
            _writing: writing,
        })
    }

    /// Errors that were passed over, and warnings.
    #[must_use]
    pub fn incidents(&self) -> &CtfIncidents {
        &self.incidents
    }

    /// Lines and columns of positions in the (decompressed) file, such as those of warnings; `None`
    /// for very large positions. The file is read again up to the last one.
    ///
    /// # Errors
    ///
    /// If the file cannot be read.
    pub fn lines_of(&self, offsets: &[u64]) -> Result<Vec<Option<LineColumn>>> {
        let mut order: Vec<usize> = (0..offsets.len()).collect();
        order.sort_by_key(|&number| offsets[number]);
        let ascending: Vec<u64> = order.iter().map(|&number| offsets[number]).collect();
        let mut lines = vec![None; offsets.len()];
        for (number, line) in order.into_iter().zip(lines::find(&self.data, &ascending)?) {
            lines[number] = line;
        }
        Ok(lines)
    }

    /// The errors that were passed over so far, and other warnings.
    fn warnings(&self) -> Vec<String> {
        let mut warnings = Vec::new();
        if let CacheUse::Made(Some(reason)) = &self.cache {
            warnings.push(format!("the index was made anew: {reason}"));
        }
        let (name, incidents) = (&self.name, &self.incidents);
        warnings.extend(self.repeated.iter().map(|repeated| format!("{name}: {repeated}")));
        let first = incidents.first_warnings();
        let first = &first[..first.len().min(SHOWN)];
        let offsets: Vec<u64> = first.iter().map(|one| one.offset).collect();
        let lines = self.lines_of(&offsets).unwrap_or_else(|_| vec![None; first.len()]);
        warnings.extend(first.iter().zip(lines).map(|(one, line)| match line {
            Some(at) => format!("{name}:{}:{}: {}", at.line, at.column, one.message),
            None => format!("{name} @ {}: {}", one.offset, one.message),
        }));
        let more = incidents.warnings().saturating_sub(SHOWN as u64);
        if more > 0 {
            warnings.push(format!("{name}: {more} more warnings"));
        }
        if incidents.errors() > 0 {
            warnings.push(format!("{name}: {} errors were passed over", incidents.errors()));
        }
        if self.trace_level >= 2 {
            warnings.extend(incidents.undeclared().into_iter().map(|input| {
                format!(
                    "{name} @ {}: input |{} is not declared: its samples are passed over",
                    input.offset, input.name
                )
            }));
        }
        warnings
    }

    fn load_with<T: CtfFloat>(
        &self,
        free: &Mutex<Vec<Work<T>>>,
        sequences: &[u32],
        blocks: &mut [Block],
    ) -> Result<()> {
        let waiting = free.lock().ok().and_then(|mut free| free.pop());
        let mut work = waiting.unwrap_or_else(|| Work {
            parser: self.parser.clone(),
            samples: SequenceSamples::new(),
            bytes: Vec::new(),
        });
        let loaded = self.load_runs(&mut work, sequences, blocks);
        if let Ok(mut free) = free.lock() {
            free.push(work);
        }
        loaded
    }

    fn load_runs<T: CtfFloat>(
        &self,
        work: &mut Work<T>,
        sequences: &[u32],
        blocks: &mut [Block],
    ) -> Result<()> {
        // In most files there are as many samples as lines. So memory is taken only once.
        let samples = sequences.iter().map(|&number| self.index.samples(number) as usize).sum();
        for block in blocks.iter_mut().filter(|block| !block.is_sparse()) {
            block.reserve(samples);
        }
        let mut rest = sequences;
        while !rest.is_empty() {
            let (count, Range { start, end }) =
                run_of(rest.iter().map(|&number| self.places.get(number)), RUN, GAP);
            let (run, after) = rest.split_at(count);
            rest = after;
            // The index was checked against the length of the file, so these bytes exist.
            let len = (end - start) as usize;
            if work.bytes.len() < len {
                work.bytes.resize(len, 0);
            }
            self.data.read_exact_at(&mut work.bytes[..len], start, "a sequence")?;
            for &number in run {
                let place = self.places.get(number);
                let bytes =
                    &work.bytes[(place.start - start) as usize..(place.end - start) as usize];
                let lines = self.index.samples(number);
                work.parser.parse(bytes, place.start, lines, &mut work.samples).map_err(
                    |error| lines::locate(&self.data, error).of_key(self.index.key(number)),
                )?;
                self.push(&work.samples, number, blocks)?;
            }
        }
        Ok(())
    }

    fn push<T: CtfFloat>(
        &self,
        samples: &SequenceSamples<T>,
        number: u32,
        blocks: &mut [Block],
    ) -> Result<()> {
        for (stream, block) in samples.streams.iter().zip(blocks) {
            if self.frame_mode && stream.samples != 1 {
                let problem = Problem::CountMismatch {
                    what: "number of samples of a sequence in frame mode",
                    expected: 1,
                    found: u64::from(stream.samples),
                };
                let error = Error::format(CTF, problem)
                    .in_file(&self.name)
                    .at_byte(self.places.get(number).start);
                return Err(lines::locate(&self.data, error)
                    .of_key(self.index.key(number))
                    .with_help("frameMode is for files in which each sequence has one sample"));
            }
            let values: &[u8] = bytemuck::cast_slice(&stream.values);
            if block.is_sparse() {
                let indices = bytemuck::cast_slice(&stream.indices);
                block.push_sparse(values, indices, &stream.sample_ends);
            } else {
                block.push_bytes(stream.samples as usize).copy_from_slice(values);
            }
        }
        Ok(())
    }
}

impl Source for CtfSource {
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
        let format = match &self.cache {
            CacheUse::No => "CTF".to_owned(),
            CacheUse::Read(path) => format!("CTF, index from {}", shown_name(path)),
            CacheUse::Made(_) => "CTF, index cache being made".to_owned(),
        };
        let warnings = if self.trace_level < 1 { Vec::new() } else { self.warnings() };
        About { format, warnings, spooled_bytes: self.data.spooled_bytes(), ..About::default() }
    }

    fn examine(&self) -> Result<Vec<Remark>> {
        let remark = |input: UndeclaredInput| {
            let name = input.name;
            let what = format!("input |{name} is not declared: its samples are passed over");
            let cure = "is it an alias of an input (`alias = \"...\"`), or misspelt?";
            let error = Error::corpus(what).in_file(&self.name).at_byte(input.offset);
            let severity = Severity::Warning;
            Remark { severity, kind: "undeclared-input", error: error.with_help(cure) }
        };
        Ok(self.incidents.undeclared().into_iter().map(remark).collect())
    }

    fn load(&self, sequences: &[u32], blocks: &mut [Block]) -> Result<()> {
        match &self.free {
            Free::F32(free) => self.load_with(free, sequences, blocks),
            Free::F64(free) => self.load_with(free, sequences, blocks),
        }
    }

    fn held_bytes(&self) -> u64 {
        self.held_bytes
    }

    fn most(&self, stream: usize, sequences: Range<u32>) -> Most {
        // An input has at most one sample a line.
        let samples = self.index.start(sequences.end) - self.index.start(sequences.start);
        let stream = &self.streams[stream];
        if stream.kind != Kind::Sparse || sequences.is_empty() {
            return Most::all_of(stream, samples);
        }
        let start = self.places.get(sequences.start).start;
        let bytes = self.places.get(sequences.end - 1).end.saturating_sub(start);
        Most { samples, values: bytes / VALUE_BYTES + 1 }
    }

    fn most_of_one(&self, stream: usize) -> Most {
        let each = (0..self.index.len() as u32).map(|s| self.most(stream, s..s + 1));
        each.fold(Most::default(), Most::or)
    }

    fn loading_bytes(&self) -> u64 {
        // The text that is read at once, and the samples of one sequence. Their memory grows from
        // one to the next.
        let place = |sequence| self.places.get(sequence);
        let longest = (0..self.index.len() as u32).map(|s| place(s).end - place(s).start).max();
        let text = longest.unwrap_or(0).max(RUN + GAP).min(self.data.len());
        let streams = self.streams.iter().enumerate();
        let samples = streams.map(|(number, stream)| self.most_of_one(number).block_bytes(stream));
        samples.fold(text, |sum, bytes| sum.saturating_add(bytes.saturating_mul(3)))
    }
}

/// The index of a file: from its cache, or by scanning it.
fn index(
    data: &DataFile,
    path: Option<(&Path, Stamp)>,
    options: &ScanOptions,
    threads: usize,
    names: &mut Names,
) -> Result<(Arc<CtfIndex>, CacheUse, Option<cache::Writing>)> {
    // The cache lacks names that another file numbered before this one.
    let path = path.filter(|_| options.keys != KeyKind::Symbolic || names.is_empty());
    let Some((path, stamp)) = path else {
        return Ok((Arc::new(scan(data, options, threads, names)?), CacheUse::No, None));
    };
    let settings = cache::Settings {
        main: options.main_alias.clone().map(String::into_bytes),
        skip_ids: options.skip_sequence_ids,
        keys: options.keys,
    };
    let refused = match cache::read(path, &settings) {
        Ok(Some(found)) => {
            for name in &found.index.names {
                names.number(name);
            }
            return Ok((Arc::new(found.index), CacheUse::Read(found.cache), None));
        }
        Ok(None) => None,
        Err(refused) => Some(refused.to_string()),
    };
    let made = Arc::new(scan(data, options, threads, names)?);
    let writing = cache::write_in_background(Arc::clone(&made), path.to_owned(), settings, stamp);
    Ok((made, CacheUse::Made(refused), Some(writing)))
}

fn scan(
    data: &DataFile,
    options: &ScanOptions,
    threads: usize,
    names: &mut Names,
) -> Result<CtfIndex> {
    let read = |offset: u64, buffer: &mut [u8]| data.read_at(buffer, offset);
    scan_in_parallel(read, data.len(), threads, options, names)
        .map_err(|error| lines::locate(data, error).in_file(data.name()))
}

fn streams(options: &CtfOptions) -> Vec<Stream> {
    let stream = |input: &CtfInput| Stream {
        name: input.name.clone(),
        kind: if input.sparse { Kind::Sparse } else { Kind::Dense },
        element: options.element,
        dim: input.dim as usize,
        extent: Extent::Own,
    };
    options.inputs.iter().map(stream).collect()
}

fn push(builder: &mut IndexBuilder, sequence: &CtfSequence, keys: KeyKind, names: &Names) {
    match (keys, names.name(sequence.key)) {
        (KeyKind::Symbolic, Some(name)) => builder.push(Key(name), sequence.samples),
        (KeyKind::Hashed, _) => {
            let name = format!("<Unknown, hash {}>", sequence.key);
            builder.push(Key(name.as_bytes()), sequence.samples);
        }
        _ => {
            let mut text = itoa::Buffer::new();
            builder.push(Key(text.format(sequence.key).as_bytes()), sequence.samples);
        }
    }
}

/// Bytes of a sample in memory. A value with its index takes at least four bytes of text. So sparse
/// streams take no more than the file's bytes allow.
fn held_bytes(streams: &[Stream], file_bytes: u64, samples: u64) -> u64 {
    let dense = streams.iter().filter(|stream| stream.kind != Kind::Sparse);
    let dense: u64 = dense.map(|stream| stream.sample_bytes() as u64).sum();
    let mut sparse = streams.iter().filter(|stream| stream.kind == Kind::Sparse).peekable();
    let Some(first) = sparse.peek() else { return dense };
    let value = (first.element.size() + size_of::<i32>()) as u64;
    let starts = sparse.count() as u64 * size_of::<usize>() as u64;
    dense + starts + (file_bytes * value).div_ceil(4 * samples.max(1))
}
