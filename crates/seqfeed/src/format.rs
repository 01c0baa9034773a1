//! The trait of a format: names it recognises, sources it opens, sinks it makes.

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

use crate::description::TextKeys;
use crate::loss::{Loss, LossKind};

/// The number of first bytes by which a file is recognised.
const HEAD: u64 = 4096;

/// A format of corpora, for reading, writing, or both.
///
/// A format says in [`Capabilities`] what it can hold. A conversion reads these and knows no format
/// by name. File names come as text ([`name_to_text`](seqfeed_io::name_to_text)). You can
/// [register](crate::register) formats of your own; see the example `own_format`.
pub trait Format: Send + Sync {
    /// Its name in messages and before a colon: `pfile`.
    fn name(&self) -> &'static str;

    /// What it can hold.
    fn capabilities(&self) -> &Capabilities;

    /// Whether it recognises a name, and how surely: by the prefix before a colon, by the first
    /// bytes of the file, or by the extension (the default).
    fn recognise(&self, name: &Candidate<'_>) -> Option<Certainty> {
        self.capabilities().has_end(name.text).then_some(Certainty::Name)
    }

    /// The keys of a description that mean the same as a name. By default `corpus`.
    fn description(&self, name: &str) -> Table {
        Table::from_iter([("corpus".to_owned(), Value::String(name.to_owned()))])
    }

    /// Opens files that follow one another as one source.
    ///
    /// # Errors
    ///
    /// Fails if a file cannot be read, or has none of the wanted streams.
    fn open(&self, names: &[String], wanted: &Wanted<'_>) -> Result<Arc<dyn Source>> {
        let _ = wanted;
        Err(Error::usage(format!("{} is written, not read in this way", self.name()))
            .in_file(names.first().map_or("", String::as_str)))
    }

    /// Whether a text names a target in this format, and the name without the mark of the format:
    /// behind `NAME:`, or with a known extension.
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
    /// Fails if the value is invalid.
    fn check_option(&self, option: &str, value: &str) -> Result<()> {
        let _ = (option, value);
        Ok(())
    }

    /// Refuses a name that cannot be written to. Returns the name to use from then on.
    ///
    /// # Errors
    ///
    /// Fails if the format cannot write to such a name.
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
    /// Fails if it cannot be divided.
    fn numbered(&self, name: &str, number: usize, count: usize) -> Result<String> {
        numbered(name, number, count, !self.capabilities().several_files)
    }

    /// The files that a name alone stands for.
    ///
    /// # Errors
    ///
    /// Fails if the name is invalid.
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

    /// Plans what its capabilities do not cover: further losses, targets of streams.
    ///
    /// # Errors
    ///
    /// Fails if it cannot hold the requested data.
    fn plan(&self, draft: &mut Draft<'_>) -> Result<()> {
        let _ = draft;
        Ok(())
    }

    /// The files that will be written, as far as they are known before.
    ///
    /// # Errors
    ///
    /// Fails if a name is invalid.
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

    /// The reason why values are rounded on purpose, if they are.
    fn rounds(&self, name: &str, options: &BTreeMap<String, String>) -> Option<&'static str> {
        let _ = (name, options);
        None
    }

    /// The last step, after all parts are written.
    ///
    /// # Errors
    ///
    /// Fails if the environment fails.
    fn complete(&self, parts: &[String]) -> Result<()> {
        let _ = parts;
        Ok(())
    }

    /// The description that opens the written files. `None` if no description can.
    fn describe(&self, written: &WrittenParts<'_>) -> Option<Table> {
        let capabilities = self.capabilities();
        let names = written.names()?;
        let told = |name: &String| capabilities.has_end(name) && !name.contains('#');
        let described = capabilities.reads_corpora && names.iter().all(told);
        described.then(|| Table::from_iter([("corpus".to_owned(), one_or_all(names))]))
    }
}

/// How surely a format recognises a name. The surest format takes it; among equals, the first one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Certainty {
    /// If no other format takes it. Its errors then explain what is wrong with the name.
    Otherwise,
    /// By the form of the name.
    Name,
    /// By the first bytes of the file.
    Content,
    /// By a prefix of the name: `htk:x`.
    Said,
}

/// A name, shown to each format.
pub struct Candidate<'a> {
    /// The name.
    pub text: &'a str,
    /// The file, if it is one. Relative names are relative to the description.
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

    /// The length of the file, if it can be read again. `None` for pipes and the like.
    pub fn file_bytes(&self) -> Option<u64> {
        let found = self.found.get_or_init(|| self.opener.probe(&self.location).ok());
        found.filter(|found| found.kind == FileKind::Regular).map(|found| found.len)
    }

    /// The first 4,096 bytes, decompressed. Empty if it can be read only once, such as a pipe.
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

/// The capabilities of a format: what it can hold.
#[derive(Clone, Copy, Debug)]
pub struct Capabilities {
    /// Extensions of its file names, without the dot.
    pub ends: &'static [&'static str],
    /// Whether [`Format::open`] opens single streams: `[streams.NAME]`.
    pub reads_streams: bool,
    /// Whether [`Format::open`] opens whole corpora: the key `corpus`.
    pub reads_corpora: bool,
    /// The most streams of floats.
    pub dense: usize,
    /// The most streams of labels, and of sparse samples.
    pub labels: usize,
    /// Whether samples may be sparse. Otherwise sparse samples must be classes, and become labels.
    pub sparse: bool,
    /// Whether a stream may have one sample for the whole sequence.
    pub per_sequence: bool,
    /// The kind of stream that it needs.
    pub needs: Option<Kind>,
    /// Whether floats may have 64 bits.
    pub float64: bool,
    /// Whether streams keep their names.
    pub stream_names: bool,
    /// The keys that it keeps.
    pub keys: Keys,
    /// Whether it consists of several files with a common prefix.
    pub several_files: bool,
    /// Whether a name is for one stream, and other streams have names of their own.
    pub file_a_stream: bool,
    /// Whether the file may be compressed as a whole: `.gz`.
    pub packed: bool,
    /// Whether streams can be sound, with its sample rate.
    pub sound: bool,
    /// Whether it is text, whose symbols become labels.
    pub text: bool,
    /// Whether a file may state the lengths of its sequences.
    pub lengths: bool,
    /// Its options for writing.
    pub options: &'static [&'static str],
    /// Its contents, in words.
    pub words: &'static str,
    /// The name of its files.
    pub called: &'static str,
}

/// The keys that a format keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keys {
    /// All.
    Any,
    /// Numbers. Other keys stand in comments.
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
        text: false,
        lengths: false,
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

    /// Whether a name has one of the extensions, also before `.gz` if that is allowed.
    #[must_use]
    pub fn has_end(&self, name: &str) -> bool {
        let lower = name.to_ascii_lowercase();
        let plain = lower.strip_suffix(".gz").unwrap_or(&lower);
        let end = Path::new(plain).extension().and_then(|end| end.to_str());
        end.is_some_and(|end| self.ends.contains(&end))
    }
}

/// A request for a source.
pub struct Wanted<'a> {
    /// The name of the single stream. `None` means all streams.
    pub stream: Option<&'a str>,
    /// Its kind, if given.
    pub kind: Option<Kind>,
    /// Its type.
    pub element: Option<Element>,
    /// Its extent, if given.
    pub extent: Option<Extent>,
    /// The number of possible values of sparse samples, if given.
    pub dim: Option<usize>,
    /// The list of states that turns names of labels into numbers.
    pub states: Option<&'a str>,
    /// The file that states the lengths of sequences.
    pub lengths: Option<&'a str>,
    /// How text becomes labels.
    pub text: TextKeys<'a>,
    /// The rule for sequences that cannot be read.
    pub errors: Tolerance,
    /// The most samples in a chunk.
    pub chunk_samples: u64,
    /// Whether files are to be mapped.
    pub map: bool,
    /// Opens files. Names are relative to its directory.
    pub opener: Opener,
    /// The index of the first source, for others.
    pub primary: Option<&'a Arc<Index>>,
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

/// The change to the values of a written stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// They stay.
    None,
    /// 64-bit floats become 32-bit ones.
    Narrow,
    /// 32-bit floats become 64-bit ones.
    Widen,
    /// Sparse samples with a single value, which is 1, become labels.
    Classes,
}

/// A conversion that is being planned.
pub struct Draft<'a> {
    /// The target.
    pub name: &'a str,
    /// The names of streams that do not go to `name`.
    pub others: &'a BTreeMap<String, String>,
    /// All streams of the corpus.
    pub streams: &'a [Stream],
    /// The type of floats, if one is requested.
    pub dtype: Option<Element>,
    /// The options of the format.
    pub options: &'a BTreeMap<String, String>,
    /// Sample rates of streams that are sound.
    pub sample_rates: &'a BTreeMap<String, SampleRates>,
    /// The streams to write, by their numbers, with their changes.
    pub picks: Vec<(usize, Change)>,
    /// The targets of picks, by their numbers, if each has a name of its own.
    pub names: Vec<(usize, String)>,
    /// Picks to write as sound, by their numbers.
    pub sound: BTreeMap<usize, SampleRates>,
    /// The target that does not hold the rates of other sound. By default the name of the format.
    pub silent: Option<&'static str>,
    /// The data that would be lost.
    pub losses: Vec<Loss>,
    /// Notes for the user.
    pub notes: Vec<String>,
}

impl Draft<'_> {
    /// Adds a loss, and a way to avoid it.
    pub fn lose(&mut self, kind: LossKind, what: String, cure: Option<&'static str>) {
        self.losses.push(Loss::new(kind, what, cure));
    }

    /// The number of the corpus' stream with a name.
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

/// The whole corpus, or one of its parts, to write.
pub struct Writing<'a> {
    /// The target of this part.
    pub name: &'a str,
    /// The targets of streams that have names of their own, by their numbers.
    pub names: Vec<(usize, String)>,
    /// The streams in the form in which they are written.
    pub streams: &'a [Stream],
    /// Streams that are sound, by their numbers.
    pub sound: &'a BTreeMap<usize, SampleRates>,
    /// The keys and lengths of the whole corpus.
    pub index: &'a Index,
    /// The samples of this part.
    pub samples: u64,
    /// Whether the files keep the keys.
    pub keeps_keys: bool,
    /// Whether losses are allowed.
    pub allow_lossy: bool,
    /// The options of the format, including those for facts that the source states.
    pub options: &'a BTreeMap<String, String>,
    /// Names of labels, the first one for label 0.
    pub states: &'a [String],
    /// Opens names.
    pub opener: &'a Opener,
    /// The files that were read and must not be overwritten.
    pub inputs: &'a InputFiles,
}

impl Writing<'_> {
    /// The parsed value of an option.
    ///
    /// # Errors
    ///
    /// Fails if the value is invalid.
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

/// The written parts, for a description.
pub struct WrittenParts<'a> {
    /// Its parts, in order.
    pub parts: &'a [Writing<'a>],
    /// The streams in the form in which they were written.
    pub streams: &'a [Stream],
    /// For each stream the largest label.
    pub largest: Vec<Option<i32>>,
    /// The directory that names are relative to.
    pub base: &'a Path,
}

impl WrittenParts<'_> {
    /// The names of the parts, relative to the directory. `None` if one is not a file.
    #[must_use]
    pub fn names(&self) -> Option<Vec<String>> {
        self.parts.iter().map(|part| self.relative(part.name)).collect()
    }

    /// A name relative to the directory: the bare name for a file in it, otherwise an absolute one.
    /// `None` if it is not a file.
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

/// A single name as text, several as a list.
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
