//! The readers and deserializers of HTK's files.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use seqfeed_cntk::config::{
    Deserializer, HtkFeatures, HtkMlf, MlfFiles, Precision, ReaderConfig, ReaderKind,
};
use seqfeed_cntk::ctf::{KeyKind, hash_of_name};
use seqfeed_core::{
    Chunking, Corpus, Element, Error, Extent, Index, JoinPolicy, Key, LengthRule, Result, Source,
    Tolerance,
};
use seqfeed_feed::Context;
use seqfeed_htk::script::{Script, ScriptOptions};
use seqfeed_htk::source::{Duplicates, HtkOptions, HtkSource, LabelForm, MlfOptions, MlfSource};
use seqfeed_htk::state_list::StateList;

use super::{FileSource, ReaderFile, find};

/// A deserializer that is open.
pub(super) struct Opened {
    pub(super) source: Arc<dyn Source>,
    pub(super) file: ReaderFile,
    pub(super) context: Option<Context>,
}

/// Whether a reader reads HTK's files.
pub(super) fn is_read(reader: &ReaderConfig) -> bool {
    reader.deserializers.iter().any(|one| !matches!(one, Deserializer::Ctf(_)))
}

/// Refuses what does not go together.
pub(super) fn check(reader: &ReaderConfig) -> Result<()> {
    let has_ctf = reader.deserializers.iter().any(|one| matches!(one, Deserializer::Ctf(_)));
    if reader.frame_mode && has_ctf && is_read(reader) {
        return Err(Error::usage("CTF files have no frames that go with those of HTK files")
            .with_help("set frameMode=false, or give the data as HTK files"));
    }
    Ok(())
}

/// How the sources of a reader are joined.
pub(super) fn join(reader: &ReaderConfig, length: LengthRule) -> JoinPolicy {
    let errors = match reader.max_errors {
        0 => Tolerance::Stop,
        most => Tolerance::SkipUpTo(most),
    };
    let policy = JoinPolicy {
        missing: Tolerance::Skip,
        errors,
        chunks: Chunking::Primary,
        length,
        keep_places: true,
    };
    match reader.kind {
        // It leaves out what does not fit, if that is not too much.
        ReaderKind::HtkMlf => JoinPolicy {
            length: LengthRule::Agreed,
            errors: Tolerance::Skip,
            keep_places: false,
            ..policy
        },
        _ if reader.frame_mode && is_read(reader) => {
            JoinPolicy { length: LengthRule::Primary, ..policy }
        }
        _ => policy,
    }
}

/// Refuses a corpus of which the older reader has left out more than half.
pub(super) fn check_left_out(reader: &ReaderConfig, corpus: &Corpus, sequences: u64) -> Result<()> {
    let left_out = corpus.report().total();
    if reader.kind != ReaderKind::HtkMlf || left_out <= sequences / 2 {
        return Ok(());
    }
    let reasons: Vec<String> = corpus.report().dropped.iter().map(ToString::to_string).collect();
    let reasons = reasons.join("; ");
    Err(Error::corpus(format!(
        "{left_out} of {sequences} utterances do not fit, more than half: {reasons}"
    ))
    .in_file(corpus.name())
    .with_help("have the files of features and labels been mixed up?"))
}

/// Opens features or labels. `primary` is the index of the first deserializer, if this is another one.
pub(super) fn open(
    deserializer: &Deserializer,
    reader: &ReaderConfig,
    primary: Option<&Arc<Index>>,
    keys: KeyKind,
) -> Result<Opened> {
    match deserializer {
        Deserializer::HtkFeatures(features) => open_features(features, reader, primary, keys),
        Deserializer::HtkMlf(mlf) => open_labels(mlf, reader, keys),
        Deserializer::Ctf(_) => Err(Error::usage("a CTF file is no HTK file")),
    }
}

fn open_features(
    features: &HtkFeatures,
    reader: &ReaderConfig,
    primary: Option<&Arc<Index>>,
    keys: KeyKind,
) -> Result<Opened> {
    let name = find(&features.scp_file, reader.directory.as_deref());
    let places = match &features.prefix_path_in_scp {
        Some(prefix) => ScriptOptions::cntk_with_prefix(prefix.as_bytes()),
        None => ScriptOptions::cntk(name.as_bytes()),
    };
    let script = Script::parse(read(&name)?, &places).map_err(|error| error.in_file(&name))?;
    let expand = features.expand_to_utterance;
    let options = HtkOptions {
        stream: features.name.clone(),
        element: element(features.precision),
        dim: Some(features.dim),
        context: features.context_window,
        extent: match (features.frame_mode, expand) {
            (true, true) => Extent::Sequence,
            (true, false) => Extent::Samples,
            (false, _) => own(reader),
        },
        expand: primary.filter(|_| expand && !features.frame_mode).cloned(),
        max_frames: features.max_sequence_size,
        chunk_frames: features.frames_per_chunk,
        duplicates: Duplicates::LeaveOut,
        ..HtkOptions::default()
    };
    let source = Arc::new(HtkSource::open(&name, &script, &options, &|name| key(name, keys))?);
    let context = match source.context() {
        (0, 0) => None,
        (left, right) => Some(Context { stream: features.name.clone(), left, right }),
    };
    let file =
        ReaderFile { source: FileSource::Htk(Arc::clone(&source)), warns: reader.trace_level >= 1 };
    Ok(Opened { source, file, context })
}

fn open_labels(mlf: &HtkMlf, reader: &ReaderConfig, keys: KeyKind) -> Result<Opened> {
    if mlf.label_to_target_mapping_file.is_some() || mlf.target_dim.is_some() {
        let message = format!("{}: labelToTargetMappingFile is not supported", mlf.name);
        return Err(Error::usage(message).with_help("labels are given as classes"));
    }
    let directory = reader.directory.as_deref();
    let mut warnings = Vec::new();
    let states = match &mlf.label_mapping_file {
        None => None,
        Some(file) => {
            let name = find(file, directory);
            let states = StateList::parse(&read(&name)?).map_err(|error| error.in_file(&name))?;
            warnings = states.warnings(&name);
            Some(Arc::new(states))
        }
    };
    let files: Vec<PathBuf> = match &mlf.files {
        MlfFiles::Files(files) => files.iter().map(|file| find(file, directory).into()).collect(),
        MlfFiles::List(list) => listed(&find(list, directory), directory)?,
    };
    let options = MlfOptions {
        stream: mlf.name.clone(),
        dim: Some(u32::try_from(mlf.dim).unwrap_or(u32::MAX)),
        states,
        form: LabelForm::OneHot(element(mlf.precision)),
        phone_boundaries: mlf.phone_boundaries,
        extent: if mlf.frame_mode { Extent::Samples } else { own(reader) },
        binary: mlf.binary,
    };
    let source = Arc::new(MlfSource::open(&files, &options, &|name| key(name, keys))?);
    let read = FileSource::Mlf(Arc::clone(&source), warnings);
    let file = ReaderFile { source: read, warns: reader.trace_level >= 1 };
    Ok(Opened { source, file, context: None })
}

/// Streams may differ in length, except in the reader that leaves such sequences out.
fn own(reader: &ReaderConfig) -> Extent {
    if reader.kind == ReaderKind::HtkMlf { Extent::Samples } else { Extent::Own }
}

/// The label files that a file lists.
fn listed(list: &str, directory: Option<&Path>) -> Result<Vec<PathBuf>> {
    let text = read(list)?;
    let text = String::from_utf8_lossy(&text);
    let names = text.lines().map(str::trim).filter(|name| !name.is_empty());
    let files: Vec<PathBuf> = names.map(|name| find(name, directory).into()).collect();
    if files.is_empty() {
        return Err(Error::usage("no label files are listed")
            .in_file(list)
            .with_help("mlfFileList names a file with one name a line"));
    }
    Ok(files)
}

fn read(name: &str) -> Result<Vec<u8>> {
    fs::read(name).map_err(|error| Error::io("opening", error).in_file(name))
}

fn element(precision: Precision) -> Element {
    match precision {
        Precision::Float => Element::F32,
        Precision::Double => Element::F64,
    }
}

/// The key that stands for a name, as with CTF files.
fn key(name: &[u8], keys: KeyKind) -> Result<Vec<u8>> {
    match keys {
        KeyKind::Symbolic => Ok(name.to_vec()),
        KeyKind::Hashed => Ok(format!("<Unknown, hash {}>", hash_of_name(name)).into_bytes()),
        KeyKind::Numeric => {
            let text = String::from_utf8_lossy(name);
            let text = text.trim_start().trim_start_matches('+');
            let digits = text.bytes().take_while(u8::is_ascii_digit).count();
            text[..digits].parse::<u64>().map(|number| number.to_string().into_bytes()).map_err(
                |_| {
                    let message = format!("Invalid numeric sequence id '{}'", Key(name));
                    Error::usage(message).with_help("set useNumericSequenceKeys=false")
                },
            )
        }
    }
}
