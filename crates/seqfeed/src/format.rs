//! What a format is to the front door: names it recognises, sources it opens, sinks it makes.

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use seqfeed_core::{
    Element, Error, Extent, Index, Kind, Result, SampleRates, Sink, Source, Stream, Tolerance,
};
use seqfeed_io::{
    FileKind, Input, InputFiles, Location, Opener, Probe, WxFilename, name_from_text,
};
use toml::{Table, Value};

use crate::loss::{Loss, LossKind};

/// What is looked at of a file to tell what it holds.
const HEAD: u64 = 4096;

/// A format of corpora: what is read, written, or both.
///
/// A format says in [`Capabilities`] what it can hold; a conversion reads these and knows no format
/// by name. Names of files come as text ([`name_to_text`](seqfeed_io::name_to_text)). Formats of
/// your own are [registered](crate::register), see the example `own_format`.
pub trait Format: Send + Sync {
    /// What it is called in messages and before a colon: `pfile`.
    fn name(&self) -> &'static str;

    /// What it can hold.
    fn capabilities(&self) -> &Capabilities;

    /// Whether a name is that of its files: by what stands before a colon, by the first bytes of
    /// the file, or by the end of the name (as here).
    fn recognise(&self, name: &Candidate<'_>) -> Option<Certainty> {
        self.capabilities().has_end(name.text).then_some(Certainty::Name)
    }

    /// The keys of a description that a name alone stands for: `corpus`, unless it says otherwise.
    fn description(&self, name: &str) -> Table {
        Table::from_iter([("corpus".to_owned(), Value::String(name.to_owned()))])
    }

    /// Opens files that follow one another.
    ///
    /// # Errors
    ///
    /// Fails if a file cannot be read, or holds nothing of what is wanted.
    fn open(&self, names: &[String], wanted: &Wanted<'_>) -> Result<Arc<dyn Source>> {
        let _ = wanted;
        Err(Error::usage(format!("{} is written, not read in this way", self.name()))
            .in_file(names.first().map_or("", String::as_str)))
    }

    /// Whether a text names something to be written in this format, and the name without what says
    /// so: behind `NAME:`, or with an end of its own.
    fn target<'a>(&self, text: &'a str) -> Option<(Certainty, &'a str)> {
        match text.split_once(':') {
            Some((before, name)) if before == self.name() => Some((Certainty::Said, name)),
            _ => self.capabilities().has_end(text).then_some((Certainty::Name, text)),
        }
    }

    /// Refuses a value of one of its [options](Capabilities::options).
    ///
    /// # Errors
    ///
    /// Fails if the value means nothing.
    fn check_option(&self, option: &str, value: &str) -> Result<()> {
        let _ = (option, value);
        Ok(())
    }

    /// Refuses a name that cannot be written to; the name as it is used from then on.
    ///
    /// # Errors
    ///
    /// Fails if it can be no name of what the format writes.
    fn check_target<'a>(&self, name: &'a str) -> Result<&'a str> {
        if self.capabilities().several_files {
            if name == "-" || name.ends_with('/') || name.starts_with('|') {
                return Err(Error::usage(format!("{name}: several files begin with this name"))
                    .with_help("give what their names begin with, such as out/train"));
            }
        } else {
            WxFilename::parse(&name_from_text(name))?;
        }
        Ok(name)
    }

    /// The name of part `number` (from 0) of `count`.
    ///
    /// # Errors
    ///
    /// Fails if there cannot be several of it.
    fn numbered(&self, name: &str, number: usize, count: usize) -> Result<String> {
        numbered(name, number, count, !self.capabilities().several_files)
    }

    /// The files that a name alone stands for.
    ///
    /// # Errors
    ///
    /// Fails if it is no name.
    fn files(&self, name: &str) -> Result<Vec<WxFilename>> {
        match self.capabilities().several_files {
            true => Ok(Vec::new()),
            false => Ok(vec![WxFilename::parse(&name_from_text(name))?]),
        }
    }

    /// The file beside which others are put, such as a description.
    fn main_file(&self, name: &str) -> Option<OsString> {
        Some(name_from_text(name))
    }

    /// Plans what its capabilities do not say: what else is lost, where streams go.
    ///
    /// # Errors
    ///
    /// Fails if it cannot hold what is asked for.
    fn plan(&self, draft: &mut Draft<'_>) -> Result<()> {
        let _ = draft;
        Ok(())
    }

    /// The files that are written, as far as they are known before.
    ///
    /// # Errors
    ///
    /// Fails if a name is none.
    fn outputs(&self, writing: &Writing<'_>) -> Result<Vec<WxFilename>> {
        self.files(writing.name)
    }

    /// Starts writing.
    ///
    /// # Errors
    ///
    /// Fails if files cannot be made.
    fn sink(&self, writing: &Writing<'_>) -> Result<Box<dyn Sink>> {
        Err(Error::usage(format!("{} is not written", self.name())).in_file(writing.name))
    }

    /// Why values are meant to be others when they are read back, if they are.
    fn rounds(&self, name: &str, options: &BTreeMap<String, String>) -> Option<&'static str> {
        let _ = (name, options);
        None
    }

    /// What is left to be done when all parts are written.
    ///
    /// # Errors
    ///
    /// Fails if the environment does.
    fn complete(&self, parts: &[String]) -> Result<()> {
        let _ = parts;
        Ok(())
    }

    /// The description that opens what was written; nothing, where none can.
    fn describe(&self, written: &WrittenParts<'_>) -> Option<Table> {
        let capabilities = self.capabilities();
        let names = written.names()?;
        let told = |name: &String| capabilities.has_end(name) && !name.contains('#');
        let described = capabilities.reads_corpora && names.iter().all(told);
        described.then(|| Table::from_iter([("corpus".to_owned(), one_or_all(names))]))
    }
}

/// How surely a name is recognised. The surest format takes it, the first one among equals.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Certainty {
    /// Where no other takes it: its errors say what is wrong with the name.
    Otherwise,
    /// By the form of the name.
    Name,
    /// By the first bytes of the file.
    Content,
    /// The name says so: `htk:x`.
    Said,
}

/// A name that formats are asked about.
pub struct Candidate<'a> {
    /// The name.
    pub text: &'a str,
    /// The file, if it is one: relative names are seen from the description.
    pub location: Location,
    opener: &'a Opener,
    found: OnceCell<Option<Probe>>,
    head: OnceCell<Vec<u8>>,
}

impl<'a> Candidate<'a> {
    pub(crate) fn new(text: &'a str, opener: &'a Opener) -> Self {
        let location = opener.place(name_from_text(text));
        Self { text, location, opener, found: OnceCell::new(), head: OnceCell::new() }
    }

    /// The length of the file, if it is one that can be read again. Pipes and the like cannot.
    pub fn file_bytes(&self) -> Option<u64> {
        let found = self.found.get_or_init(|| self.opener.probe(&self.location).ok());
        found.filter(|found| found.kind == FileKind::Regular).map(|found| found.len)
    }

    /// The first 4,096 bytes, decompressed; nothing of what is read once, such as a pipe.
    pub fn head(&self) -> &[u8] {
        self.head.get_or_init(|| match self.file_bytes() {
            Some(_) => first_bytes(&self.location, self.opener).unwrap_or_default(),
            None => Vec::new(),
        })
    }
}

/// The first bytes of a file, decompressed.
pub(crate) fn first_bytes(location: &Location, opener: &Opener) -> Result<Vec<u8>> {
    let mut head = Vec::new();
    let mut input = Input::open(&location.clone().into(), opener)?;
    let read = (&mut input).take(HEAD).read_to_end(&mut head);
    read.map_err(|error| input.error(error))?;
    Ok(head)
}

/// What a format can hold.
#[derive(Clone, Copy, Debug)]
pub struct Capabilities {
    /// Ends of its files' names, behind a dot.
    pub ends: &'static [&'static str],
    /// Whether [`Format::open`] opens single streams: `[streams.NAME]`.
    pub reads_streams: bool,
    /// Whether [`Format::open`] opens whole corpora: the key `corpus`.
    pub reads_corpora: bool,
    /// Most streams of floats.
    pub dense: usize,
    /// Most streams of labels, and of sparse samples.
    pub labels: usize,
    /// Whether samples may be sparse. Otherwise they must be classes, and become labels.
    pub sparse: bool,
    /// Whether a stream may have one sample for the whole sequence.
    pub per_sequence: bool,
    /// The kind of stream without which there is nothing to be written.
    pub needs: Option<Kind>,
    /// Whether floats may have 64 bits.
    pub float64: bool,
    /// Whether streams keep their names.
    pub stream_names: bool,
    /// Which keys are kept.
    pub keys: Keys,
    /// Whether it is several files, named by what they begin with.
    pub several_files: bool,
    /// Whether a name is that of one stream, and others have names of their own.
    pub file_a_stream: bool,
    /// Whether the file may be compressed as a whole: `.gz`.
    pub packed: bool,
    /// Whether streams can be sound, with its sample rate.
    pub sound: bool,
    /// The options that it takes when it is written.
    pub options: &'static [&'static str],
    /// What it holds, in words.
    pub words: &'static str,
    /// What its files are called.
    pub called: &'static str,
}

/// Which keys a format keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keys {
    /// All.
    Any,
    /// Numbers; others stand in comments.
    Numbers,
    /// Numbers that count from 0.
    Ordinals,
    /// None: all sequences become one.
    OneSequence,
}

impl Capabilities {
    /// One file that holds everything and takes no options.
    pub const EVERYTHING: Self = Self {
        ends: &[],
        reads_streams: true,
        reads_corpora: true,
        dense: usize::MAX,
        labels: usize::MAX,
        sparse: true,
        per_sequence: true,
        needs: None,
        float64: true,
        stream_names: true,
        keys: Keys::Any,
        several_files: false,
        file_a_stream: false,
        packed: false,
        sound: false,
        options: &[],
        words: "any",
        called: "such files",
    };

    /// One file with one stream of labels, a class a sample.
    pub const LABELS: Self = Self {
        dense: 0,
        labels: 1,
        sparse: false,
        per_sequence: false,
        needs: Some(Kind::Label),
        words: "one stream of labels",
        ..Self::EVERYTHING
    };

    /// Whether a name has one of the ends, also before `.gz` where that may be.
    #[must_use]
    pub fn has_end(&self, name: &str) -> bool {
        let lower = name.to_ascii_lowercase();
        let plain = lower.strip_suffix(".gz").unwrap_or(&lower);
        let end = Path::new(plain).extension().and_then(|end| end.to_str());
        end.is_some_and(|end| self.ends.contains(&end))
    }
}

/// What a source is asked for.
pub struct Wanted<'a> {
    /// The name of the one stream; nothing, if all are wanted.
    pub stream: Option<&'a str>,
    /// Its kind, if that is said.
    pub kind: Option<Kind>,
    /// Its type.
    pub element: Option<Element>,
    /// Its extent, if that is said.
    pub extent: Option<Extent>,
    /// The number of possible values of sparse samples, if that is said.
    pub dim: Option<usize>,
    /// The list of states that gives labels their numbers.
    pub states: Option<&'a str>,
    /// What becomes of sequences that cannot be read.
    pub errors: Tolerance,
    /// Most samples in a chunk.
    pub chunk_samples: u64,
    /// Whether files are to be mapped.
    pub map: bool,
    /// What opens files. Names are relative to its directory.
    pub opener: Opener,
    /// The index of the first source, for others.
    pub primary: Option<&'a Index>,
}

impl Wanted<'_> {
    /// The file of a name.
    #[must_use]
    pub fn place(&self, name: &str) -> Location {
        self.opener.place(name_from_text(name))
    }

    /// The stream's name, for messages.
    pub(crate) fn stream(&self) -> &str {
        self.stream.unwrap_or_default()
    }

    pub(crate) fn refuse(&self, refused: bool, what: &str, help: &'static str) -> Result<()> {
        match refused {
            true => Err(Error::usage(format!("stream {}: {what}", self.stream())).with_help(help)),
            false => Ok(()),
        }
    }
}

/// What becomes of the values of a stream that is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// They stay.
    None,
    /// 64-bit floats become 32-bit ones.
    Narrow,
    /// 32-bit floats become 64-bit ones.
    Widen,
    /// Sparse samples with one value, which is 1, become labels.
    Classes,
}

/// A conversion being planned.
pub struct Draft<'a> {
    /// What is written to.
    pub name: &'a str,
    /// Names for other streams than that which goes to `name`.
    pub others: &'a BTreeMap<String, String>,
    /// All streams of the corpus.
    pub streams: &'a [Stream],
    /// The type of floats, if one is asked for.
    pub dtype: Option<Element>,
    /// The options of the format.
    pub options: &'a BTreeMap<String, String>,
    /// Sample rates of streams that are sound.
    pub sample_rates: &'a BTreeMap<String, SampleRates>,
    /// The streams that are written, by their numbers, and what becomes of them.
    pub picks: Vec<(usize, Change)>,
    /// Where picks are written, by their numbers, if each has a name of its own.
    pub names: Vec<(usize, String)>,
    /// Picks that are written as sound, by their numbers.
    pub sound: BTreeMap<usize, SampleRates>,
    /// What does not hold the rates of other sound; the format's name, if nothing is said.
    pub silent: Option<&'static str>,
    /// What would be lost.
    pub losses: Vec<Loss>,
    /// What is worth knowing.
    pub notes: Vec<String>,
}

impl Draft<'_> {
    /// Notes a loss, and how to keep it.
    pub fn lose(&mut self, kind: LossKind, what: String, cure: Option<&'static str>) {
        self.losses.push(Loss::new(kind, what, cure));
    }

    /// The number of the corpus' stream of a name.
    ///
    /// # Errors
    ///
    /// Fails if there is none.
    pub fn find(&self, name: &str) -> Result<usize> {
        self.streams.iter().position(|stream| stream.name == *name).ok_or_else(|| {
            let names: Vec<&str> = self.streams.iter().map(|stream| stream.name.as_str()).collect();
            Error::usage(format!("the corpus has no stream `{name}`"))
                .with_help(format!("it has {}", names.join(", ")))
        })
    }
}

/// What is written: a whole, or one of its parts.
pub struct Writing<'a> {
    /// The name of the target, of this part.
    pub name: &'a str,
    /// Where streams go that have names of their own, by their numbers.
    pub names: Vec<(usize, String)>,
    /// The streams as they are written.
    pub streams: &'a [Stream],
    /// Streams that are sound, by their numbers.
    pub sound: &'a BTreeMap<usize, SampleRates>,
    /// The keys and lengths of the whole corpus.
    pub index: &'a Index,
    /// The samples of this part.
    pub samples: u64,
    /// Whether keys stand in the files as they are.
    pub keeps_keys: bool,
    /// Whether what would be lost may be lost.
    pub allow_lossy: bool,
    /// The options of the format, also those that make it say what the source says.
    pub options: &'a BTreeMap<String, String>,
    /// Names of labels, the first one for label 0.
    pub states: &'a [String],
    /// What opens names.
    pub opener: &'a Opener,
    /// What was read: not to be overwritten.
    pub inputs: &'a InputFiles,
}

impl Writing<'_> {
    /// The value of an option, as what it is.
    ///
    /// # Errors
    ///
    /// Fails if it is none.
    pub fn option<T: std::str::FromStr>(&self, name: &str) -> Result<Option<T>> {
        let Some(text) = self.options.get(name) else { return Ok(None) };
        let wrong = || Error::usage(format!("--{name}: `{text}` is no such value"));
        text.parse().map(Some).map_err(|_| wrong())
    }

    /// The target as the name of a file.
    pub(crate) fn file(&self) -> Result<WxFilename> {
        WxFilename::parse(&name_from_text(self.name))
    }
}

/// What was written, to be described.
pub struct WrittenParts<'a> {
    /// Its parts, in order.
    pub parts: &'a [Writing<'a>],
    /// The streams as they were written.
    pub streams: &'a [Stream],
    /// By stream, the largest label.
    pub largest: Vec<Option<i32>>,
    /// The directory that names are relative to.
    pub base: &'a Path,
}

impl WrittenParts<'_> {
    /// The names of the parts, as seen from the directory; nothing, where one is no file.
    #[must_use]
    pub fn names(&self) -> Option<Vec<String>> {
        self.parts.iter().map(|part| self.relative(part.name)).collect()
    }

    /// A name as seen from the directory: the name alone for what lies in it, else an absolute
    /// one. Nothing for what is no file.
    #[must_use]
    pub fn relative(&self, name: &str) -> Option<String> {
        let name = WxFilename::parse(&name_from_text(name)).ok()?;
        let absolute = std::path::absolute(name.path()?).ok()?;
        let base = std::path::absolute(self.base).ok()?;
        let inside = absolute.strip_prefix(&base).ok();
        let inside = inside.filter(|inside| !inside.as_os_str().is_empty());
        Some(seqfeed_io::name_to_text(inside.unwrap_or(&absolute)))
    }
}

/// One name as it is, several as a list.
pub(crate) fn one_or_all(mut names: Vec<String>) -> Value {
    match names.len() {
        1 => Value::String(names.remove(0)),
        _ => Value::Array(names.into_iter().map(Value::String).collect()),
    }
}

/// The name of one of several files: `out-00003-of-00008.ctf`.
pub(crate) fn numbered(name: &str, number: usize, count: usize, with_end: bool) -> Result<String> {
    if WxFilename::parse(&name_from_text(name))?.path().is_none() {
        return Err(Error::usage(format!("`{name}` is no file, so there cannot be several of it"))
            .with_help("give the name of a file, or leave out --shards"));
    }
    let number = format!("{:05}-of-{count:05}", number + 1);
    if name.contains("JOB") {
        return Ok(name.replace("JOB", &number));
    }
    let start = name.rfind('/').map_or(0, |slash| slash + 1);
    let packed = if with_end && is_packed(name) { 3 } else { 0 };
    let end = match name[start..name.len() - packed].rfind('.') {
        Some(dot) if with_end && dot > 0 => start + dot,
        _ => name.len(),
    };
    Ok(format!("{}-{number}{}", &name[..end], &name[end..]))
}

/// Whether a name says that its file is compressed as a whole.
#[must_use]
pub fn is_packed(name: &str) -> bool {
    name.to_ascii_lowercase().ends_with(".gz")
}
