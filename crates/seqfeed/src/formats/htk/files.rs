//! Streams named by HTK's files, without CNTK: scripts, parameter files and master label files.

use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::sync::Arc;

use seqfeed_core::{About, Damage, Element, Error, Extent, Index, Problem, Result, Source};
use seqfeed_htk::param::{DamagedIrefc, Layout, ReadOptions};
use seqfeed_htk::script::{PathRule, Script, ScriptOptions, Style};
use seqfeed_htk::source::{Duplicates, HtkOptions, HtkSource, LabelForm, MlfOptions, MlfSource};
use seqfeed_htk::state_list::StateList;
use seqfeed_io::{LineLimit, Location, Opener, name_from_text, name_to_text};

use crate::format::{Candidate, Certainty, Wanted, first_bytes};
use crate::name_text::is_rspecifier;

/// The number of classes of a label file without a list of states, where labels are 16-bit numbers.
const CLASSES: u32 = 1 << 16;
/// The first bytes of binary files of other formats: NumPy's, Zip's, Arrow's, Parquet's, waves.
const OTHERS: [&[u8]; 5] = [b"\x93NUMPY", b"PK\x03\x04", b"ARROW1", b"PAR1", b"RIFF"];

/// How surely a name is one of HTK's files: `htk:NAME`, or a name without a type (`ark:`, `scp:`)
/// for a file with the content of HTK's.
pub(super) fn recognise(name: &Candidate<'_>) -> Option<Certainty> {
    match name.text {
        text if text.starts_with("htk:") => Some(Certainty::Said),
        text if is_rspecifier(text) => None,
        // Nothing else has this extension, whether the file exists or not.
        text if text.to_ascii_lowercase().ends_with(".mlf") => Some(Certainty::Name),
        // A name that can be read only once, such as a pipe, is not read here.
        _ => {
            let kind = HtkFileKind::of(&name.location, name.head(), name.file_bytes()?, false);
            kind.map(|_| Certainty::Content)
        }
    }
}

/// The kind of an HTK file.
#[derive(Clone, Copy, PartialEq, Eq)]
enum HtkFileKind {
    Script,
    Parameters,
    Labels,
    BinaryLabels,
}

impl HtkFileKind {
    /// Finds the kind from a file's first bytes, its length and its name. `said` means that the
    /// name says that it is one of HTK's.
    ///
    /// If the name does not say so, a script is a file `.scp` with one word in its first line.
    /// Kaldi's script files have two.
    fn of(file: &Location, head: &[u8], len: u64, said: bool) -> Option<Self> {
        if head.starts_with(b"MLF\x01\0") || head.starts_with(b"MLF\x02\0") {
            return Some(Self::BinaryLabels);
        }
        let name = name_to_text(file.as_os_str()).to_ascii_lowercase();
        let packed = [".gz", ".bz2", ".zst"].iter().find_map(|end| name.strip_suffix(end));
        let plain_name = packed.unwrap_or(&name);
        if head.starts_with(b"#!MLF!#") || plain_name.ends_with(".mlf") {
            return Some(Self::Labels);
        }
        if !said && OTHERS.iter().any(|magic| head.starts_with(magic)) {
            return None;
        }
        if head.contains(&0) {
            // Short and damaged files must be recognised too: opening them gives the error.
            let options = ReadOptions {
                allow_truncated: true,
                damaged_irefc: DamagedIrefc::Literal,
                ..ReadOptions::default()
            };
            let len = match packed {
                None => len,
                Some(_) => u64::MAX,
            };
            let is_one = said || Layout::find(head, len, &options).is_ok();
            return is_one.then_some(Self::Parameters);
        }
        let mut lines = head.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii);
        let entry = lines.find(|line| !line.is_empty()).is_some_and(|line| {
            let one_word = !line.iter().any(|byte| matches!(byte, b' ' | b'\t'));
            line.starts_with(b"\"") || one_word || has_stray_blank(line)
        });
        (said || plain_name.ends_with(".scp") && entry).then_some(Self::Script)
    }
}

/// Whether a line of a script is an entry `key=file[first,last]` with a blank in it. Kaldi's script
/// files have no such range: their rows and columns have a colon between them.
fn has_stray_blank(line: &[u8]) -> bool {
    let is_blank = |byte: &u8| matches!(byte, b' ' | b'\t');
    let line = line.trim_ascii();
    let word = &line[..line.iter().position(is_blank).unwrap_or(line.len())];
    let Some(range) = line.strip_suffix(b"]").and_then(|line| {
        let bracket = line.iter().rposition(|&byte| byte == b'[')?;
        Some(&line[bracket + 1..])
    }) else {
        return false;
    };
    let numbers = range.iter().all(|byte| byte.is_ascii_digit() || matches!(byte, b',' | b' '));
    word.len() < line.len()
        && !word.starts_with(b"\"")
        && (word.contains(&b'=') || line[word.len()..].trim_ascii().starts_with(b"="))
        && line.iter().filter(|&&byte| byte == b'=').count() == 1
        && numbers
        && range.iter().filter(|&&byte| byte == b',').count() == 1
}

/// Refuses a script with blanks inside its entries, since a blank ends a name.
fn refuse_stray_blanks(text: &[u8], name: &str) -> Result<()> {
    let mut lines = text.split(|&byte| byte == b'\n');
    let Some(at) = lines.position(has_stray_blank) else { return Ok(()) };
    let expected = "an entry without blanks, key=file[first,last]".into();
    let found = text.split(|&byte| byte == b'\n').nth(at).unwrap_or_default();
    let found = found[..found.len().min(200)].to_vec();
    Err(Error::format("HTK script file", Problem::Unexpected { expected, found })
        .in_file(name)
        .at_line(at as u64 + 1)
        .with_help("take the blank out; a name that has one stands in quotes"))
}

/// Opens a stream of HTK's files.
pub(super) fn open(names: &[String], wanted: &Wanted<'_>) -> Result<Arc<dyn Source>> {
    let opener = &wanted.opener;
    let place = |name: &String| wanted.place(name.strip_prefix("htk:").unwrap_or(name));
    let files: Vec<Location> = names.iter().map(place).collect();
    let mut kinds = Vec::new();
    for (name, file) in names.iter().zip(&files) {
        opener.refuse_named_pipe(file)?;
        let head = first_bytes(file, opener)?;
        let len = opener.probe(file).map_or(u64::MAX, |found| found.len);
        let kind = HtkFileKind::of(file, &head, len, name.starts_with("htk:"));
        kinds.push(kind.ok_or_else(|| {
            Error::usage("the file is no HTK script, parameter file or master label file")
                .in_file(file.to_string())
                .with_help("a script of another name than *.scp is named with `htk:` before it")
        })?);
    }
    let label = wanted.kind == Some(seqfeed_core::Kind::Label);
    let all = |kind| kinds.iter().all(|&one| one == kind);
    let of_labels = all(HtkFileKind::Labels) || all(HtkFileKind::BinaryLabels);
    if of_labels && label {
        return labels(&files, all(HtkFileKind::BinaryLabels), wanted);
    }
    if of_labels != label {
        let (is, help) = match of_labels {
            true => ("values, but the file has labels", "it goes with features, as the labels"),
            false => ("labels, but the file is not", "labels stand in master label files"),
        };
        return Err(Error::usage(format!("stream {} is of {is}", wanted.stream()))
            .in_file(files[0].to_string())
            .with_help(help));
    }
    let name = files[0].to_string();
    match &files[..] {
        // Names in a script are looked for beside it. So scripts of one directory can follow one
        // another.
        [first, ..]
            if all(HtkFileKind::Script)
                && files.iter().all(|file| file.parent() == first.parent()) =>
        {
            let options = ScriptOptions {
                style: Style::Htk,
                path_rule: PathRule::beside(bytes_of(first)),
                ..ScriptOptions::default()
            };
            let read = |script: &Location| opener.read_list(script, LineLimit::of_words);
            let mut text = read(first)?;
            for script in &files[1..] {
                text.push(b'\n');
                text.extend(read(script)?);
            }
            refuse_stray_blanks(&text, &name)?;
            let script = Script::parse(text, &options).map_err(|error| error.in_file(&name))?;
            features(&name, &script, first.parent(), wanted)
        }
        files if all(HtkFileKind::Parameters) => {
            let script = Script::of_files(files.iter().map(bytes_of))?;
            features(&name, &script, None, wanted)
        }
        _ => Err(Error::usage(format!(
            "stream {}: give scripts of one directory, or parameter files, or master label files",
            wanted.stream()
        ))),
    }
}

fn bytes_of(file: &Location) -> &[u8] {
    file.as_os_str().as_bytes()
}

fn features(
    name: &str,
    script: &Script,
    directory: Option<Location>,
    wanted: &Wanted<'_>,
) -> Result<Arc<dyn Source>> {
    let options = HtkOptions {
        stream: wanted.stream().to_owned(),
        element: wanted.element.unwrap_or(Element::F32),
        extent: wanted.extent.unwrap_or(Extent::Samples),
        duplicates: Duplicates::Wrong,
        errors: wanted.errors,
        directory,
        opener: wanted.opener.clone(),
        ..HtkOptions::default()
    };
    Ok(Arc::new(HtkSource::open(name, script, &options, &|name| Ok(name.to_vec()))?))
}

/// Keys of features by their names without directories, for names with directories.
///
/// A label file `*/utt1.lab` is for `utt1` in any directory.
struct AnyDirectory<'a> {
    keys: HashSet<&'a [u8]>,
    /// `None` if several keys have the name.
    by_name: HashMap<&'a [u8], Option<&'a [u8]>>,
}

impl<'a> AnyDirectory<'a> {
    fn new(index: &'a Index) -> Self {
        let is_separator = |byte: &u8| matches!(byte, b'/' | b'\\');
        let all = || (0..index.len() as u32).map(|sequence| index.key(sequence).0);
        let (mut keys, mut by_name) = (HashSet::new(), HashMap::new());
        if all().any(|key| key.iter().any(is_separator)) {
            for key in all() {
                let name = key.rsplit(is_separator).next().unwrap_or(key);
                by_name.entry(name).and_modify(|one| *one = None).or_insert(Some(key));
                keys.insert(key);
            }
        }
        Self { keys, by_name }
    }

    /// The key for the name of a label.
    fn key<'b>(&self, name: &'b [u8]) -> &'b [u8]
    where
        'a: 'b,
    {
        match self.by_name.get(name) {
            Some(Some(key)) if !self.keys.contains(name) => key,
            _ => name,
        }
    }
}

/// A list of states, with warnings about it.
fn state_list(name: &str, opener: &Opener) -> Result<(StateList, Vec<String>)> {
    let file = opener.place(name_from_text(name));
    let name = file.to_string();
    let states = StateList::parse(&opener.read_list(&file, LineLimit::of_lines)?);
    let states = states.map_err(|error| error.in_file(&name))?;
    if states.is_empty() {
        let problem = Problem::UnexpectedEnd { inside: "the list of states", missing: None };
        return Err(Error::format("list of states", problem)
            .in_file(name)
            .with_help("it has a name a line, from class 0 on"));
    }
    let warnings = states.warnings(&name);
    Ok((states, warnings))
}

/// The names in a list of states, in its order.
pub(crate) fn state_names(name: &str, opener: &Opener) -> Result<Vec<String>> {
    let (states, _) = state_list(name, opener)?;
    let name = |class| states.name(class).map(|name| name_to_text(OsStr::from_bytes(name)));
    Ok((0..states.len() as u32).filter_map(name).collect())
}

fn labels(files: &[Location], binary: bool, wanted: &Wanted<'_>) -> Result<Arc<dyn Source>> {
    let (states, warnings) = match wanted.states {
        None => (None, Vec::new()),
        Some(name) => {
            let (states, warnings) = state_list(name, &wanted.opener)?;
            (Some(Arc::new(states)), warnings)
        }
    };
    let options = MlfOptions {
        stream: wanted.stream().to_owned(),
        dim: states.is_none().then_some(CLASSES),
        states,
        form: LabelForm::Class,
        extent: Extent::Samples,
        binary,
        warnings,
        opener: wanted.opener.clone(),
        ..MlfOptions::default()
    };
    let keys = wanted.primary.map(|index| AnyDirectory::new(index));
    let key = |name: &[u8]| Ok(keys.as_ref().map_or(name, |keys| keys.key(name)).to_vec());
    let source = MlfSource::open(files, &options, &key)?;
    let About { report, faults, .. } = source.about();
    if report.total() > 0 && !wanted.errors.allows(report.total()) {
        let first = faults.into_iter().next().map(Damage::into_error);
        let error = first.unwrap_or_else(|| Error::corpus("unusable labels"));
        return Err(error.with_help("allow it with `errors = \"skip\"` or a number"));
    }
    Ok(Arc::new(source))
}
