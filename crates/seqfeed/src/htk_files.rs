//! Streams named by HTK's files, without CNTK: scripts, parameter files and master label files.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use seqfeed_core::{Element, Error, Extent, JoinReport, Key, Result, Source, Tolerance};
use seqfeed_htk::param::ParamKind;
use seqfeed_htk::script::{Places, Script, ScriptOptions, Style};
use seqfeed_htk::source::{
    Duplicates, HtkOptions, HtkSource, LabelForm, MlfOptions, MlfSource, open_text,
};
use seqfeed_htk::state_list::StateList;

/// Classes of a label file without a list of states, where they are 16-bit numbers.
const CLASSES: u32 = 1 << 16;
/// What is looked at to tell a file's kind.
const HEAD: usize = 4096;

/// A stream that is open.
pub(crate) struct OpenedStream {
    pub(crate) source: Arc<dyn Source>,
    pub(crate) format: String,
    pub(crate) report: JoinReport,
    pub(crate) spooled_bytes: u64,
    /// Its values are wider in the files than as opened.
    pub(crate) doubles: bool,
    /// Kind and frame period of HTK's features.
    pub(crate) parameters: Option<(ParamKind, i32)>,
}

/// What a stream of HTK's files is asked for.
pub(crate) struct Wanted<'a> {
    pub(crate) stream: &'a str,
    pub(crate) label: bool,
    pub(crate) element: Element,
    pub(crate) extent: Option<Extent>,
    pub(crate) errors: Tolerance,
    pub(crate) states: Option<&'a str>,
    pub(crate) base: Option<&'a Path>,
}

/// Whether names are those of HTK's files: `htk:NAME`, or a name without a type (`ark:`, `scp:`) of a file
/// with the content of one.
pub(crate) fn is_htk(names: &[String], base: Option<&Path>) -> bool {
    names.first().is_some_and(|name| match name.strip_prefix("htk:") {
        Some(_) => true,
        None if is_rspecifier(name) => false,
        // Whatever it holds, it can be nothing else.
        None if name.to_ascii_lowercase().ends_with(".mlf") => true,
        None => Kind::of(&found(name, base)).is_ok_and(|kind| kind.is_some()),
    })
}

fn is_rspecifier(name: &str) -> bool {
    let kind = name.split(':').next().unwrap_or_default();
    name.contains(':') && kind.split(',').any(|word| word == "ark" || word == "scp")
}

/// What a file holds.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Script,
    Parameters,
    Labels,
}

impl Kind {
    /// Tells it from a file's first bytes. A script of Kaldi's has two words a line, one of HTK's one.
    fn of(path: &Path) -> std::io::Result<Option<Self>> {
        let mut head = Vec::with_capacity(HEAD);
        File::open(path)?.take(HEAD as u64).read_to_end(&mut head)?;
        let text = std::str::from_utf8(&head).ok().filter(|text| !text.contains('\0'));
        let ends =
            |end: &str| path.extension().is_some_and(|found| found.eq_ignore_ascii_case(end));
        if head.starts_with(b"#!MLF!#") || head.starts_with(b"MLF") && ends("bmlf") {
            return Ok(Some(Self::Labels));
        }
        let Some(text) = text else {
            let header = seqfeed_htk::param::Layout::find(
                &head,
                path.metadata()?.len(),
                &seqfeed_htk::param::ReadOptions::default(),
            );
            return Ok(header.is_ok().then_some(Self::Parameters));
        };
        let line = text.lines().map(str::trim).find(|line| !line.is_empty());
        let one_word = |line: &str| line.starts_with('"') || !line.contains([' ', '\t']);
        Ok((ends("scp") && line.is_some_and(one_word)).then_some(Self::Script))
    }
}

fn found(name: &str, base: Option<&Path>) -> PathBuf {
    base.map_or_else(|| PathBuf::from(name), |base| base.join(name))
}

/// Opens a stream of HTK's files.
pub(crate) fn open(names: &[String], wanted: &Wanted<'_>) -> Result<OpenedStream> {
    let paths: Vec<PathBuf> = names
        .iter()
        .map(|name| found(name.strip_prefix("htk:").unwrap_or(name), wanted.base))
        .collect();
    let mut kinds = Vec::new();
    for path in &paths {
        let shown = path.display().to_string();
        let kind = Kind::of(path).map_err(|error| Error::io("opening", error).in_file(&shown))?;
        kinds.push(kind.ok_or_else(|| {
            Error::usage("the file is no HTK script, parameter file or master label file")
                .in_file(&shown)
                .with_help("a script names one file a line; label files begin with #!MLF!#")
        })?);
    }
    let all = |kind| kinds.iter().all(|&one| one == kind);
    if all(Kind::Labels) {
        return labels(&paths, wanted);
    }
    if wanted.label {
        return Err(Error::usage(format!(
            "stream {} is of labels, but the file is not",
            wanted.stream
        ))
        .in_file(paths[0].display().to_string())
        .with_help("labels stand in master label files"));
    }
    match &paths[..] {
        // Names in a script are looked for beside it: scripts of one directory can follow one another.
        [first, ..]
            if all(Kind::Script) && paths.iter().all(|path| path.parent() == first.parent()) =>
        {
            let mut text = Vec::new();
            for script in &paths {
                File::open(script).and_then(|mut file| file.read_to_end(&mut text)).map_err(
                    |error| Error::io("reading", error).in_file(script.display().to_string()),
                )?;
                text.push(b'\n');
            }
            features(&first.display().to_string(), text, first.parent(), wanted)
        }
        files if all(Kind::Parameters) => {
            let quoted = files.iter().map(|path| format!("\"{}\"\n", path.display()));
            let text: String = quoted.collect();
            features(&paths[0].display().to_string(), text.into_bytes(), None, wanted)
        }
        _ => Err(Error::usage(format!(
            "stream {}: give scripts of one directory, or parameter files, or master label files",
            wanted.stream
        ))),
    }
}

fn features(
    name: &str,
    text: Vec<u8>,
    directory: Option<&Path>,
    wanted: &Wanted<'_>,
) -> Result<OpenedStream> {
    let options = ScriptOptions {
        style: Style::Htk,
        extended_names: true,
        places: Places::beside(name.as_bytes()),
    };
    let script = Script::parse(text, &options).map_err(|error| error.in_file(name))?;
    let options = HtkOptions {
        stream: wanted.stream.to_owned(),
        element: wanted.element,
        extent: wanted.extent.unwrap_or(Extent::Samples),
        duplicates: Duplicates::Wrong,
        errors: wanted.errors,
        directory: directory.map(Path::to_owned),
        ..HtkOptions::default()
    };
    let source = HtkSource::open(name, &script, &options, &|name| Ok(name.to_vec()))?;
    Ok(OpenedStream {
        format: source.format(),
        report: source.report().clone(),
        spooled_bytes: 0,
        doubles: false,
        parameters: source.parameters(),
        source: Arc::new(source),
    })
}

fn state_list(name: &str, base: Option<&Path>) -> Result<StateList> {
    let file = open_text(&found(name, base))?;
    let mut text = vec![0; usize::try_from(file.len()).unwrap_or(usize::MAX)];
    file.read_exact_at(&mut text, 0, "the list of states")?;
    StateList::parse(&text).map_err(|error| error.in_file(file.name()))
}

/// The names in a list of states, in its order.
pub(crate) fn state_names(name: &str, base: Option<&Path>) -> Result<Vec<String>> {
    let states = state_list(name, base)?;
    let name = |class| states.name(class).map(|name| String::from_utf8_lossy(name).into_owned());
    Ok((0..states.len() as u32).filter_map(name).collect())
}

fn labels(files: &[PathBuf], wanted: &Wanted<'_>) -> Result<OpenedStream> {
    let states = match wanted.states {
        None => None,
        Some(name) => Some(Arc::new(state_list(name, wanted.base)?)),
    };
    let options = MlfOptions {
        stream: wanted.stream.to_owned(),
        dim: states.is_none().then_some(CLASSES),
        states,
        form: LabelForm::Class,
        extent: Extent::Samples,
        binary: files.iter().all(|file| file.extension().is_some_and(|end| end == "bmlf")),
        ..MlfOptions::default()
    };
    let source = MlfSource::open(files, &options, &|name| Ok(name.to_vec()))?;
    let mut report = JoinReport::default();
    let (count, first) = source.incidents();
    for error in first {
        let key = error.place().key.clone().unwrap_or_default();
        report.add("unusable labels", format!("{key} ({}: {})", error.place(), error.message()));
    }
    for _ in first.len() as u64..count {
        report.add("unusable labels", Key(b"").to_string());
    }
    if count > 0 && !wanted.errors.allows(count) {
        let error = first.first().cloned().unwrap_or_else(|| Error::corpus("unusable labels"));
        return Err(error.with_help("allow it with `errors = \"skip\"` or a number"));
    }
    let format = source.format();
    Ok(OpenedStream {
        source: Arc::new(source),
        format,
        report,
        spooled_bytes: 0,
        doubles: false,
        parameters: None,
    })
}
