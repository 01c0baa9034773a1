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

/// A reader section: the data, and their order.
///
/// Fields have CNTK's names. If neither the section nor the sections around it give a value, it is
/// CNTK's default. File names stay as written, with variables replaced.
#[derive(Clone, Debug, PartialEq)]
pub struct ReaderConfig {
    /// The kind of CNTK's reader.
    pub kind: ReaderKind,
    /// Directory of the configuration file; `None` if there is no file. File names in it are
    /// relative to the directory where CNTK was started, which often is this one.
    pub directory: Option<Location>,
    /// `randomize`: on by default. [`window`](ReaderConfig::window) has the result.
    pub randomize: Randomize,
    /// `randomizationWindow`, if given (0 for the whole corpus in the readers of HTK files).
    pub randomization_window: Option<u64>,
    /// `sampleBasedRandomizationWindow`, if given: the window counts samples, not chunks.
    pub sample_based_randomization_window: Option<bool>,
    /// `chunkSizeInBytes` of the reader section; 32 MiB. The default window depends on it.
    pub chunk_size_in_bytes: u64,
    /// `randomizationSeed`; 0. Every sweep adds 1.
    pub randomization_seed: u64,
    /// `frameMode`: every frame is a sequence of its own. Off; in the readers of HTK files on.
    pub frame_mode: bool,
    /// `truncated`: sequences are cut into pieces for truncated back-propagation. Off.
    pub truncated: bool,
    /// `truncationLength`, the samples of a piece; 0 unless `truncated`. In the readers of HTK
    /// files 0 means the number of samples in a minibatch.
    pub truncation_length: u64,
    /// `rightSplice`: samples that pieces share with the next piece; 0 unless `truncated`.
    pub right_splice: u64,
    /// `precision` of values; float.
    pub precision: Precision,
    /// `maxErrors`: the number of invalid sequences to pass over; 0. In [`ReaderKind::Ctf`] it is
    /// the deserializer's.
    pub max_errors: u64,
    /// `traceLevel`: 0 errors, 1 warnings, 2 everything; 1.
    pub trace_level: i64,
    /// `keepDataInMemory`: chunks that were read stay. Off.
    pub keep_data_in_memory: bool,
    /// `localTimeline`: each worker counts minibatch sizes for itself. On.
    pub local_timeline: bool,
    /// `useNumericSequenceKeys`: keys are numbers. On, unless there are HTK deserializers.
    pub use_numeric_sequence_keys: bool,
    /// `hashSequenceKeys`: keys that are not numbers become hashes. Off.
    pub hash_sequence_keys: bool,
    /// `action=write` here or further out: nothing is shuffled, and (except in
    /// [`ReaderKind::HtkDeserializers`]) sequences come whole. [`ReaderKind::HtkMlf`] reads
    /// features only.
    pub write: bool,
    /// Settings of the readers of HTK files only; `None` for the others.
    pub htk: Option<HtkReader>,
    /// The deserializers. The first one defines sequences and chunks. Never empty.
    pub deserializers: Vec<Deserializer>,
    /// Names in reader, deserializer, and input sections that are unknown to CNTK.
    pub unknown: Vec<UnknownKey>,
    /// Settings without effect, except those that ask for the normal behaviour.
    pub ignored: Vec<IgnoredKey>,
    /// Differences from CNTK, with reasons.
    pub notes: Vec<String>,
}

/// CNTK's readers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReaderKind {
    /// Several deserializers: a section with `deserializers`.
    Composite,
    /// `readerType=CNTKTextFormatReader`: the section is the deserializer too.
    Ctf,
    /// `readerType=HTKMLFReader`: sub-sections are the streams.
    HtkMlf,
    /// `readerType=HTKDeserializers`: the same sections in the newer reader.
    HtkDeserializers,
}

/// The type in which values are computed and delivered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Precision {
    /// 32 bits.
    Float,
    /// 64 bits.
    Double,
}

/// Settings of the readers of HTK files only.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HtkReader {
    /// `readMethod`; block randomization.
    pub read_method: ReadMethod,
    /// `minibatchMode=partial`, the default: the last minibatch may be shorter. `full`: it is left
    /// out. Only `HTKMLFReader` uses it.
    pub partial_minibatches: bool,
    /// `nbruttsineachrecurrentiter`: the number of utterances to read side by side, for each epoch;
    /// the last number stays. 1.
    pub parallel_utterances: Vec<u64>,
    /// `useMersenneTwisterRand`, off: the generator with which `HTKMLFReader` shuffles: `rand()`,
    /// or a Mersenne twister. `HTKDeserializers` always has the latter.
    pub mersenne_twister: bool,
}

/// The order in which the readers of HTK files read their corpus.
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
    /// Reads a section of files: `path::load`, with overrides. The empty path means the outermost
    /// section, or the only reader.
    ///
    /// # Errors
    ///
    /// Fails if the files cannot be read, if the section does not exist, or as
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

    /// Reads a dictionary as CNTK's Python users build it. Objects are sections, arrays are arrays,
    /// `null` is nothing. Case does not matter in names. Texts are literal, without variables.
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

    /// Reads a reader section.
    ///
    /// # Errors
    ///
    /// Fails in the same cases as CNTK, with its words: a value cannot be parsed, a required value
    /// is missing, or options exclude each other. Also fails for a reader or deserializer that is
    /// not supported.
    pub fn from_section(section: &Section) -> Result<Self> {
        let mut reader = build::reader(section)?;
        checks::check(&reader, section)?;
        ignored::collect(section, &mut reader)?;
        Ok(reader)
    }
}
