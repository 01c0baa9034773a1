//! The source of the features that a script file names.

use std::collections::hash_map::Entry as MapEntry;
use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::fmt;
use std::ops::Range;
use std::os::unix::ffi::OsStrExt;
use std::sync::Arc;

use seqfeed_core::{
    About, Block, Damage, Element, Error, Extent, Fact, Index, IndexBuilder, JoinReport, Key, Kind,
    Problem, Remark, Result, Severity, Source, Stream, Tolerance,
};
use seqfeed_io::{Beside, Location, Opener, run_of};

use super::files::{Files, Shape};
use crate::param::ReadOptions;
use crate::script::{Entry, Script, Segment};

/// The name of the format in messages.
const FORMAT: &str = "HTK script file";
/// The most errors that are kept.
const FAULTS: usize = 10_000;
/// Bytes of neighbouring sequences to read at once.
const RUN: usize = 8 << 20;

/// Makes keys from names: takes the name of a sequence, returns its key.
pub type Keys<'a> = &'a dyn Fn(&[u8]) -> Result<Vec<u8>>;

/// The treatment of sequences with the same name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Duplicates {
    /// All of them are left out, as in CNTK.
    LeaveOut,
    /// The later ones are errors, like files that cannot be read.
    #[default]
    Wrong,
}

/// Options for opening a source of features.
#[derive(Clone, Debug)]
pub struct HtkOptions {
    /// Name of the stream.
    pub stream: String,
    /// 32 or 64 bits.
    pub element: Element,
    /// The declared number of values of a sample. It is the number for a single frame or, if
    /// `context` is (0, 0), for a frame with as many neighbours as fit.
    pub dim: Option<u64>,
    /// Frames to the left and right of each frame. The feed adds them ([`HtkSource::context`]).
    pub context: (u64, u64),
    /// The number of samples in a sequence, for the feed. With [`Extent::Sequence`] each has one
    /// frame.
    pub extent: Extent,
    /// If given, sequences have one frame. It is repeated as often as the sequence with the same
    /// key has samples here.
    pub expand: Option<Arc<Index>>,
    /// Longer sequences are left out.
    pub max_frames: Option<u64>,
    /// A chunk with more frames than this is full (in CNTK 90,000).
    pub chunk_frames: u64,
    /// The treatment of sequences with the same name.
    pub duplicates: Duplicates,
    /// The rule for entries that cannot be read.
    pub errors: Tolerance,
    /// A further directory to look for files that are not where the script says.
    pub directory: Option<Location>,
    /// Opens files.
    pub opener: Opener,
    /// Options for reading files.
    pub read: ReadOptions,
    /// With readers of CNTK (`traceLevel`): sequences that are left out are not reported, but from
    /// level 1 on there is a warning.
    pub trace_level: Option<i64>,
}

impl Default for HtkOptions {
    /// Single frames as 32-bit floats. Every fault is an error.
    fn default() -> Self {
        Self {
            stream: "features".to_owned(),
            element: Element::F32,
            dim: None,
            context: (0, 0),
            extent: Extent::Samples,
            expand: None,
            max_frames: None,
            chunk_frames: 90_000,
            duplicates: Duplicates::default(),
            errors: Tolerance::Stop,
            directory: None,
            opener: Opener::default(),
            read: ReadOptions { verify: false, ..ReadOptions::default() },
            trace_level: None,
        }
    }
}

/// The features that a script names: parts of archives, or files.
///
/// Keys are the names in the script without their extensions. Bytes are swapped straight into a
/// feed's memory, and neighbours in an archive are read together. Beside the index, 8 bytes an
/// utterance are in memory. At most 128 files are open at a time.
///
/// ```no_run
/// use seqfeed_htk::script::{Script, ScriptOptions};
/// use seqfeed_htk::source::{HtkOptions, HtkSource};
/// use seqfeed_core::Source;
///
/// let script = Script::parse(std::fs::read("train.scp").unwrap(), &ScriptOptions::default())?;
/// let options = HtkOptions::default();
/// let source = HtkSource::open("train.scp", &script, &options, &|name| Ok(name.into()))?;
/// let mut blocks = source.new_blocks();
/// source.load(&[0, 1, 2], &mut blocks)?;
/// # Ok::<(), seqfeed_core::Error>(())
/// ```
pub struct HtkSource {
    name: String,
    streams: Vec<Stream>,
    index: Arc<Index>,
    /// For each sequence its file, and its first frame there.
    places: Vec<(u32, u32)>,
    files: Files,
    columns: usize,
    context: (usize, usize),
    /// Whether single frames stand for whole sequences, with their context in the sample.
    single: bool,
    report: JoinReport,
    faults: Vec<Damage>,
    trace_level: Option<i64>,
}

/// An entry of the script that was found.
struct Found {
    key: Vec<u8>,
    file: u32,
    first: u32,
    frames: u32,
}

impl HtkSource {
    /// Opens the features of a script: finds them, and reads the headers of all files.
    ///
    /// # Errors
    ///
    /// Fails, unless the options allow it, if a file cannot be read, differs from the first one, or
    /// has fewer frames than the script says, or if a name stands twice. Also fails if nothing is
    /// left, or if samples do not have the declared width.
    pub fn open(name: &str, script: &Script, options: &HtkOptions, keys: Keys<'_>) -> Result<Self> {
        let mut opening = SourceBuilder {
            name,
            options,
            keys,
            files: Files::new(options.read.clone(), &options.opener),
            beside: Beside::new(options.directory.clone(), &options.opener.of_contents()),
            numbers: HashMap::new(),
            report: JoinReport::default(),
            faults: Vec::new(),
            wrong: 0,
        };
        let mut found = Vec::with_capacity(script.len());
        for entry in script.iter() {
            match opening.find(&entry) {
                Ok(Some(entry)) => found.push(entry),
                Ok(None) => {}
                Err(error) => opening.wrong(error, &entry)?,
            }
        }
        opening.without_duplicates(&mut found, script)?;
        let SourceBuilder { files, mut report, faults, .. } = opening;
        let Some(shape) = files.shape().filter(|_| !found.is_empty()) else {
            return Err(nothing_left(name, script, &report, faults));
        };
        let (context, dim) = widths(name, shape, options)?;
        let single = options.expand.is_some() || options.extent == Extent::Sequence;
        let (index, places) = index(&found, options, &mut report);
        let stream = Stream {
            name: options.stream.clone(),
            kind: Kind::Dense,
            element: options.element,
            dim: if single { dim } else { shape.columns },
            extent: options.extent,
        };
        Ok(Self {
            name: name.to_owned(),
            streams: vec![stream],
            index: Arc::new(index),
            places,
            files,
            columns: shape.columns,
            context: if single { (0, 0) } else { context },
            single,
            report,
            faults,
            trace_level: options.trace_level,
        })
    }

    /// Frames to the left and right of each frame that a feed has to add.
    #[must_use]
    pub fn context(&self) -> (usize, usize) {
        self.context
    }

    /// Warnings about files that can be read (a sample period of 0, bytes after the data).
    fn warnings(&self) -> Vec<String> {
        let (count, first) = self.files.warnings();
        let more = count.saturating_sub(first.len() as u64);
        let more = (more > 0).then(|| format!("{}: {more} more such warnings", self.name));
        first.iter().cloned().chain(more).collect()
    }

    /// Reads a whole file and verifies its checksum, if it has one.
    fn verify_file(&self, number: u32, remarks: &mut Vec<Remark>) -> Result<()> {
        let file = self.files.get(number)?;
        file.verify()?;
        remarks.extend(file.warnings().iter().map(|warning| Remark {
            severity: Severity::Warning,
            kind: "header",
            error: Error::corpus(warning.to_string()).in_file(file.name()),
        }));
        Ok(())
    }

    /// Loads a run of consecutive sequences in one file.
    fn load_run(
        &self,
        file: u32,
        frames: Range<u64>,
        run: &[u32],
        block: &mut Block,
    ) -> Result<()> {
        let source = self.files.get(file)?;
        let lengths = run.iter().map(|&sequence| self.index.samples(sequence) as usize);
        if block.element() == Element::F32 {
            return source.read_frames_to_bytes(frames, block.push_run(lengths));
        }
        let mut values = Vec::new();
        source.append_frames(frames, &mut values)?;
        let out = block.push_run(lengths);
        for (out, value) in out.as_chunks_mut::<8>().0.iter_mut().zip(values) {
            *out = f64::from(value).to_ne_bytes();
        }
        Ok(())
    }

    /// Loads the frame of a sequence, and repeats it.
    fn load_single(&self, sequence: u32, block: &mut Block) -> Result<()> {
        let (file, first) = self.places[sequence as usize];
        let mut frame = vec![0f32; self.columns];
        let first = u64::from(first);
        self.files.get(file)?.read_frames(first..first + 1, &mut frame)?;
        let times = match self.streams[0].extent {
            Extent::Sequence => 1,
            _ => self.index.samples(sequence) as usize,
        };
        if block.element() == Element::F32 {
            let bytes = bytemuck::cast_slice(&frame);
            block.push_bytes(times).chunks_exact_mut(bytes.len()).for_each(|out| {
                out.copy_from_slice(bytes);
            });
            return Ok(());
        }
        let frame: Vec<u8> = frame.iter().flat_map(|&v| f64::from(v).to_ne_bytes()).collect();
        block.push_bytes(times).chunks_exact_mut(frame.len()).for_each(|out| {
            out.copy_from_slice(&frame);
        });
        Ok(())
    }
}

impl Source for HtkSource {
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
        let mut about = About {
            format: "HTK features".to_owned(),
            report: self.report.clone(),
            faults: self.faults.clone(),
            warnings: self.warnings(),
            ..About::default()
        };
        if let Some(shape) = self.files.shape() {
            about.format += &format!(", {} of {} values", shape.kind, self.columns);
            // Headers count in 100 ns.
            about.frame_shift = (shape.period > 0).then(|| f64::from(shape.period) / 1e7);
            let words = format!(
                "frames are of kind {}, one every {} ms,",
                shape.kind,
                f64::from(shape.period) / 10_000.0
            );
            let options = vec![
                ("htk-kind", shape.kind.to_string()),
                ("htk-period", shape.period.to_string()),
            ];
            about.facts.push(Fact { words, options });
        }
        if let Some(level) = self.trace_level {
            let report = std::mem::take(&mut about.report);
            let left_out = report.dropped.iter().map(|group| format!("{}: {group}", self.name));
            let warnings = left_out.chain(std::mem::take(&mut about.warnings));
            about.warnings = warnings.filter(|_| level >= 1).collect();
        }
        about
    }

    fn examine(&self) -> Result<Vec<Remark>> {
        let mut remarks = Vec::new();
        for number in 0..self.files.len() as u32 {
            if let Err(error) = self.verify_file(number, &mut remarks) {
                let error = error.damage()?.into_error();
                let checksum = error.message().contains("checksum");
                let kind = if checksum { "checksum" } else { "unreadable" };
                remarks.push(Remark { severity: Severity::Error, kind, error });
            }
        }
        Ok(remarks)
    }

    fn load(&self, sequences: &[u32], blocks: &mut [Block]) -> Result<()> {
        let block = &mut blocks[0];
        if self.single {
            return sequences.iter().try_for_each(|&sequence| {
                let loaded = self.load_single(sequence, block);
                loaded.map_err(|error| error.of_key(self.index.key(sequence)))
            });
        }
        block.reserve(sequences.iter().map(|&s| self.index.samples(s) as usize).sum());
        let most = (RUN / (4 * self.columns)).max(1) as u64;
        let mut rest = sequences;
        while let Some(&sequence) = rest.first() {
            let (file, _) = self.places[sequence as usize];
            let frames = rest
                .iter()
                .map(|&sequence| (self.places[sequence as usize], self.index.samples(sequence)))
                .take_while(|((its_file, _), _)| *its_file == file)
                .map(|((_, first), samples)| {
                    u64::from(first)..u64::from(first) + u64::from(samples)
                });
            let (count, frames) = run_of(frames, most, 0);
            let (run, behind) = rest.split_at(count);
            let loaded = self.load_run(file, frames, run, block);
            loaded.map_err(|error| error.of_key(self.index.key(sequence)))?;
            rest = behind;
        }
        Ok(())
    }

    fn loading_bytes(&self) -> u64 {
        // A run as stored in the file, and as floats.
        let longest = self.most_of_one(0).values.saturating_mul(4);
        let all = self.index.total_samples().saturating_mul(4 * self.columns as u64);
        longest.max(RUN as u64).min(all).saturating_mul(3)
    }
}

impl fmt::Debug for HtkSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HtkSource")
            .field("name", &self.name)
            .field("streams", &self.streams)
            .field("index", &self.index)
            .finish_non_exhaustive()
    }
}

/// A source that is being built from a script.
struct SourceBuilder<'a> {
    name: &'a str,
    options: &'a HtkOptions,
    keys: Keys<'a>,
    files: Files,
    beside: Beside,
    /// Numbers of the files, with their numbers of frames; or the error of a file.
    numbers: HashMap<Vec<u8>, Result<(u32, u64)>>,
    report: JoinReport,
    faults: Vec<Damage>,
    wrong: u64,
}

impl SourceBuilder<'_> {
    fn find(&mut self, entry: &Entry<'_>) -> Result<Option<Found>> {
        let said = entry.segment().and_then(Segment::len);
        if self.is_too_long(entry, said.unwrap_or(0)) {
            return Ok(None);
        }
        let physical = entry.physical();
        let (file, in_file) = self.file(&physical)?;
        let (first, frames) = match entry.segment() {
            None => (0, in_file),
            Some(segment) => match segment.frames(in_file) {
                Some(frames) => (frames.start, frames.end - frames.start),
                None => return Err(self.beyond(entry, &physical, in_file)),
            },
        };
        let (Ok(first), Ok(frames)) = (u32::try_from(first), u32::try_from(frames)) else {
            return Err(Error::usage(format!("{frames} frames are too many for a sequence")));
        };
        if (self.options.expand.is_some() || self.options.extent == Extent::Sequence) && frames != 1
        {
            let message = format!(
                "Expanded stream should only contain sequences of length 1, utterance '{}' has {frames}",
                Key(&entry.key())
            );
            return Err(Error::corpus(message)
                .with_help("each entry of such a stream has one frame, [0,0] for instance"));
        }
        if said.is_none() && self.is_too_long(entry, frames) {
            return Ok(None);
        }
        let key = (self.keys)(&entry.key())?;
        Ok(Some(Found { key, file, first, frames }))
    }

    /// Whether a sequence is left out because of its length.
    fn is_too_long(&mut self, entry: &Entry<'_>, frames: u32) -> bool {
        let too_long = self.options.max_frames.is_some_and(|most| u64::from(frames) > most);
        if too_long {
            self.report.add("longer than allowed", Key(&entry.key()).to_string());
        }
        too_long
    }

    fn file(&mut self, physical: &[u8]) -> Result<(u32, u64)> {
        if let Some(found) = self.numbers.get(physical) {
            return found.clone();
        }
        let added = self.files.add(self.location_of(physical));
        self.numbers.insert(physical.to_vec(), added.clone());
        added
    }

    /// The location of a file: where the script says, or else beside the script. There, backslashes
    /// also count as slashes, for scripts that were written on Windows.
    fn location_of(&self, physical: &[u8]) -> Location {
        let location = Location::of_file(OsStr::from_bytes(physical));
        if memchr::memchr(b'\\', physical).is_none() {
            return self.beside.find(&location);
        }
        let slashed: Vec<u8> =
            physical.iter().map(|&byte| if byte == b'\\' { b'/' } else { byte }).collect();
        let slashed = Location::of_file(OsStr::from_bytes(&slashed));
        let found = self.beside.there(&location).or_else(|| self.beside.there(&slashed));
        found.unwrap_or(location)
    }

    fn beyond(&self, entry: &Entry<'_>, physical: &[u8], frames: u64) -> Error {
        let found = entry.segment().and_then(Segment::end).map_or_else(
            || entry.segment().map_or(0, |segment| i64::from(segment.first())),
            |end| i64::from(end) - 1,
        );
        let allowed = format!("frames 0 to {} of {}", frames.saturating_sub(1), Key(physical));
        let problem = Problem::OutOfRange { what: "frame", found, allowed: allowed.into() };
        Error::format(FORMAT, problem)
            .with_help("a range is [first,last] with both included, from 0")
    }

    /// Counts a faulty entry. Returns the error if it is one too many.
    fn wrong(&mut self, error: Error, entry: &Entry<'_>) -> Result<()> {
        let error = match error.place().file {
            Some(_) => error,
            None if entry.line() == 0 => error.in_file(self.name),
            None => error.in_file(self.name).at_line(entry.line()),
        };
        let error = error.of_key(Key(&entry.key()));
        let named = format!("named in {}, line {}", self.name, entry.line());
        let error = match (entry.line(), error.help()) {
            (0, _) | (_, Some(_)) => error,
            _ => error.with_help(named),
        };
        self.wrong += 1;
        let damage = self.options.errors.excuse(self.wrong, error)?;
        let key = Key(&entry.key()).to_string();
        self.report.add("cannot be read", format!("{key} ({})", damage.message()));
        if self.faults.len() < FAULTS {
            self.faults.push(damage);
        }
        Ok(())
    }

    fn without_duplicates(&mut self, found: &mut Vec<Found>, script: &Script) -> Result<()> {
        let mut seen = HashMap::with_capacity(found.len());
        let mut again = HashSet::new();
        for (number, entry) in found.iter().enumerate() {
            match seen.entry(entry.key.as_slice()) {
                MapEntry::Vacant(place) => drop(place.insert(number)),
                MapEntry::Occupied(first) => {
                    again.insert(number);
                    if self.options.duplicates == Duplicates::LeaveOut {
                        again.insert(*first.get());
                    }
                }
            }
        }
        if again.is_empty() {
            return Ok(());
        }
        if self.options.duplicates == Duplicates::Wrong {
            let mut numbers: Vec<usize> = again.iter().copied().collect();
            numbers.sort_unstable();
            for number in numbers {
                let key = &found[number].key;
                let is_it = |entry: &Entry<'_>| {
                    (self.keys)(&entry.key()).is_ok_and(|of_entry| of_entry == *key)
                };
                let entry = script.iter().filter(is_it).nth(1);
                self.wrong += 1;
                let line = entry.map_or(0, |entry| entry.line());
                let error = Error::format(FORMAT, Problem::DuplicateKey)
                    .in_file(self.name)
                    .at_line(line)
                    .of_key(Key(key))
                    .with_help("each sequence needs a name of its own");
                let damage = self.options.errors.excuse(self.wrong, error)?;
                if self.faults.len() < FAULTS {
                    self.faults.push(damage);
                }
            }
        }
        let mut number = 0;
        found.retain(|entry| {
            let twice = again.contains(&number);
            number += 1;
            if twice {
                self.report.add("there twice", Key(&entry.key).to_string());
            }
            !twice
        });
        Ok(())
    }
}

/// The reason why nothing of a script is left.
fn nothing_left(
    name: &str,
    script: &Script,
    report: &JoinReport,
    mut faults: Vec<Damage>,
) -> Error {
    match script.len() {
        0 => Error::corpus(format!("{name} holds no sequences"))
            .with_help("a script file names parameter files, one a line"),
        // If files are faulty, the error of the first one is the one to fix.
        _ if !faults.is_empty() => faults.swap_remove(0).into_error(),
        _ => {
            let reasons: Vec<String> = report.dropped.iter().map(ToString::to_string).collect();
            Error::corpus(format!("of {name} no sequence is left: {}", reasons.join("; ")))
        }
    }
}

/// The context, and the number of values in a sample with it.
fn widths(name: &str, shape: Shape, options: &HtkOptions) -> Result<((usize, usize), usize)> {
    let columns = shape.columns as u64;
    let declared = options.dim.unwrap_or(columns);
    let fail = |message: String, help: &'static str| {
        Err(Error::usage(message).in_file(name).with_help(help))
    };
    let (left, right) = match options.context {
        (0, 0) => {
            let frames = declared / columns;
            if !declared.is_multiple_of(columns) || frames.is_multiple_of(2) {
                return fail(
                    format!(
                        "stream {} is declared with {declared} values, but the files have {columns} a \
                         frame",
                        options.stream
                    ),
                    "without contextWindow, dim is an odd number of frames: 1, 3, 5, ... times the \
                     files' values",
                );
            }
            (frames / 2, frames / 2)
        }
        _ if declared != columns => {
            return fail(
                format!(
                    "stream {} is declared with {declared} values a frame, but the files have \
                     {columns}",
                    options.stream
                ),
                "with contextWindow, dim is the number of values of one frame",
            );
        }
        context => context,
    };
    let frames = left.checked_add(1).and_then(|frames| frames.checked_add(right));
    let dim = frames.and_then(|frames| frames.checked_mul(columns));
    match dim.and_then(|dim| usize::try_from(dim).ok()).filter(|&dim| dim < 1 << 31) {
        Some(dim) => Ok(((left as usize, right as usize), dim)),
        None => fail("the context is too large".to_owned(), "use a smaller contextWindow"),
    }
}

/// The index, and the positions of the sequences.
fn index(
    found: &[Found],
    options: &HtkOptions,
    report: &mut JoinReport,
) -> (Index, Vec<(u32, u32)>) {
    let lengths: Option<HashMap<Key<'_>, u32>> = options
        .expand
        .as_ref()
        .map(|index| (0..index.len() as u32).map(|s| (index.key(s), index.samples(s))).collect());
    let mut builder = IndexBuilder::new(u64::MAX);
    let mut places = Vec::with_capacity(found.len());
    let mut in_chunk = 0;
    for entry in found {
        let mut frames = entry.frames;
        if let Some(lengths) = &lengths {
            match lengths.get(&Key(&entry.key)) {
                Some(&length) => frames = length,
                None => {
                    report.add("for no sequence", Key(&entry.key).to_string());
                    continue;
                }
            }
        }
        if in_chunk > options.chunk_frames {
            builder.end_chunk();
            in_chunk = 0;
        }
        in_chunk += u64::from(entry.frames);
        builder.push(Key(&entry.key), frames);
        places.push((entry.file, entry.first));
    }
    (builder.finish(), places)
}
