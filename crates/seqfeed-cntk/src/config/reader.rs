//! Reader sections as plain data.

use seqfeed_core::{Error, Result};
use seqfeed_io::{Location, Opener};

use super::Config;
use super::files::{directory_of, names_of};
use super::section::Section;

mod build;
mod checks;
mod ctf;
mod deserializer;
mod htk;
mod ignored;
mod known;
mod window;
mod words;

pub use deserializer::{
    CtfDeserializer, CtfFormat, CtfInput, Deserializer, HtkFeatures, HtkMlf, MlfFiles,
};
pub use known::{IgnoredKey, UnknownKey};
pub use window::{Randomize, WHOLE_DATA, Window};

/// A reader section: what is read, and in what order it comes.
///
/// Fields have CNTK's names and, where the section and those around it say nothing, CNTK's
/// defaults. File names stay as written, variables put in.
#[derive(Clone, Debug, PartialEq)]
pub struct ReaderConfig {
    /// Which of CNTK's readers it is for.
    pub kind: ReaderKind,
    /// Directory of the configuration file; file names in it are relative to the directory that
    /// CNTK was started in, which often is this one. `None` if there is no file.
    pub directory: Option<Location>,
    /// `randomize`: on by default. See [`window`](ReaderConfig::window) for what comes of it.
    pub randomize: Randomize,
    /// `randomizationWindow`, if given (0 for the whole corpus in the readers of HTK files).
    pub randomization_window: Option<u64>,
    /// `sampleBasedRandomizationWindow`, if given: the window counts samples, not chunks.
    pub sample_based_randomization_window: Option<bool>,
    /// `chunkSizeInBytes` of the reader section, from which the default window follows; 32 MiB.
    pub chunk_size_in_bytes: u64,
    /// `randomizationSeed`; 0. Every sweep adds 1.
    pub randomization_seed: u64,
    /// `frameMode`: every frame is a sequence of its own. Off; in the readers of HTK files on.
    pub frame_mode: bool,
    /// `truncated`: sequences are cut into pieces for truncated back-propagation. Off.
    pub truncated: bool,
    /// `truncationLength`, the samples of a piece; 0 unless `truncated`. In the readers of HTK
    /// files 0 means: as many as a minibatch has.
    pub truncation_length: u64,
    /// `rightSplice`: samples that pieces share with the piece behind; 0 unless `truncated`.
    pub right_splice: u64,
    /// `precision` of values; float.
    pub precision: Precision,
    /// `maxErrors`: how many invalid sequences the reader passes over; 0. In
    /// [`ReaderKind::Ctf`] it is the deserializer's.
    pub max_errors: u64,
    /// `traceLevel`: 0 errors, 1 warnings, 2 everything; 1.
    pub trace_level: i64,
    /// `keepDataInMemory`: chunks that were read stay. Off.
    pub keep_data_in_memory: bool,
    /// `localTimeline`: minibatch sizes are counted by each worker for itself. On.
    pub local_timeline: bool,
    /// `useNumericSequenceKeys`: keys are numbers. On, unless there are HTK deserializers.
    pub use_numeric_sequence_keys: bool,
    /// `hashSequenceKeys`: keys that are not numbers become hashes. Off.
    pub hash_sequence_keys: bool,
    /// `action=write` here or further out: nothing is shuffled, and (except in
    /// [`ReaderKind::HtkDeserializers`]) sequences come as a whole; [`ReaderKind::HtkMlf`] reads
    /// features only.
    pub write: bool,
    /// What only the readers of HTK files have; `None` for the others.
    pub htk: Option<HtkReader>,
    /// What reads the files; the first one defines sequences and chunks. Never empty.
    pub deserializers: Vec<Deserializer>,
    /// Names in reader, deserializer, and input sections that CNTK does not know.
    pub unknown: Vec<UnknownKey>,
    /// Settings that have no effect, but for those that ask for what is done anyway.
    pub ignored: Vec<IgnoredKey>,
    /// What is done otherwise than in CNTK, and why.
    pub notes: Vec<String>,
}

/// CNTK's readers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReaderKind {
    /// Several deserializers: a section with `deserializers`.
    Composite,
    /// `readerType=CNTKTextFormatReader`: the section is the deserializer.
    Ctf,
    /// `readerType=HTKMLFReader`: sub-sections are the streams.
    HtkMlf,
    /// `readerType=HTKDeserializers`: the same sections in the newer reader.
    HtkDeserializers,
}

/// How values are computed and delivered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Precision {
    /// 32 bits.
    Float,
    /// 64 bits.
    Double,
}

/// What only the readers of HTK files have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HtkReader {
    /// `readMethod`; block randomization.
    pub read_method: ReadMethod,
    /// `minibatchMode=partial`, the default: the last minibatch may be shorter; `full`: it is
    /// left out. Only `HTKMLFReader` heeds it.
    pub partial_minibatches: bool,
    /// `nbruttsineachrecurrentiter`: how many utterances are read side by side, by epoch; the
    /// last number holds on. 1.
    pub parallel_utterances: Vec<u64>,
    /// `useMersenneTwisterRand`, off: which generator `HTKMLFReader` shuffles with, `rand()` or
    /// a Mersenne twister. `HTKDeserializers` has only the latter.
    pub mersenne_twister: bool,
}

/// How the readers of HTK files go through their corpus.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadMethod {
    /// `blockRandomize`: chunks are shuffled, and sequences or frames within a window.
    BlockRandomize,
    /// `rollingWindow`: frames of the whole corpus are shuffled within a window; `HTKMLFReader`
    /// only.
    RollingWindow,
    /// `none`: in the order of the files.
    None,
}

impl ReaderConfig {
    /// Reads a section of files: `path::load`, with overrides. The empty path takes the
    /// outermost section, or the only reader there is.
    ///
    /// # Errors
    ///
    /// Fails if the files cannot be read, the section is not there, or as
    /// [`from_section`](ReaderConfig::from_section).
    pub fn load(files: &str, dotted: &str, overrides: &[&str], opener: &Opener) -> Result<Self> {
        let config = Config::load(files, overrides, opener)?;
        let readers = config.readers();
        let dotted = match (dotted, &readers[..]) {
            ("", [only]) => only,
            ("", [_, _, ..]) => {
                return Err(Error::usage("which of the reader sections?")
                    .in_file(files)
                    .with_help(format!("one of {}", readers.join(", "))));
            }
            (dotted, _) => dotted,
        };
        let mut reader = Self::from_section(&config.section_at(dotted)?)?;
        reader.directory = names_of(files, opener).first().and_then(|name| directory_of(name));
        Ok(reader)
    }

    /// Takes over a dictionary as CNTK's Python users build it: objects are sections, arrays are
    /// arrays, `null` is nothing. Names are the same in any case; texts are taken as they are,
    /// without variables.
    ///
    /// ```
    /// use seqfeed_cntk::config::{ReaderConfig, Window};
    ///
    /// let reader = ReaderConfig::from_json(
    ///     &serde_json::json!({
    ///         "randomizationWindow": 128,
    ///         "sampleBasedRandomizationWindow": false,
    ///         "deserializers": [{
    ///             "type": "CNTKTextFormatDeserializer",
    ///             "file": "x.txt",
    ///             "inptu": {},
    ///             "input": { "features": { "dim": 5, "format": "dense", "alias": "F0" } },
    ///         }],
    ///     }),
    ///     None,
    /// )?;
    /// assert_eq!(reader.window(), Some(Window::Chunks(128)));
    /// assert_eq!(reader.unknown[0].path, "reader.deserializers[0].inptu");
    /// assert_eq!(reader.unknown[0].suggestion.as_deref(), Some("input"));
    /// # Ok::<(), seqfeed_core::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`from_section`](ReaderConfig::from_section).
    pub fn from_json(json: &serde_json::Value, directory: Option<Location>) -> Result<Self> {
        let Some(object) = json.as_object() else {
            return Err(Error::usage("a reader must be a dictionary")
                .with_help("{\"deserializers\": [...], ...}"));
        };
        let section = Section::from_json("reader".into(), object, None)?;
        let mut reader = Self::from_section(&section)?;
        reader.directory = directory;
        Ok(reader)
    }

    /// Takes over a reader section.
    ///
    /// # Errors
    ///
    /// Fails where CNTK does, with its words: a value cannot be read as what it must be, a
    /// required one is missing, or options exclude each other; and if it asks for a reader or
    /// deserializer that is not supported.
    pub fn from_section(section: &Section) -> Result<Self> {
        let mut reader = build::reader(section)?;
        checks::check(&reader, section)?;
        ignored::collect(section, &mut reader)?;
        Ok(reader)
    }
}
