//! The readers and deserializers for HTK's files.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::sync::Arc;

use seqfeed_cntk::config::{
    Deserializer, HtkFeatures, HtkMlf, MlfFiles, Precision, ReadMethod, ReaderConfig, ReaderKind,
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
use seqfeed_io::{Beside, LineLimit, Location, Opener, name_from_text, name_to_text};

use super::find;

/// A deserializer that is open.
pub(super) struct Opened {
    pub(super) source: Arc<dyn Source>,
    pub(super) context: Option<Context>,
}

/// Whether a reader reads HTK's files.
pub(super) fn is_read(reader: &ReaderConfig) -> bool {
    reader.deserializers.iter().any(|one| !matches!(one, Deserializer::Ctf(_)))
}

/// Whether frames of a whole corpus are shuffled in a rolling window.
pub(super) fn rolls(reader: &ReaderConfig) -> bool {
    reader.htk.as_ref().is_some_and(|htk| htk.read_method == ReadMethod::RollingWindow)
}

/// Refuses settings that do not go together.
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
    let rules = JoinPolicy {
        missing: Tolerance::Skip,
        errors,
        chunks: Chunking::Primary,
        length,
        // CNTK counts faulty utterances in its order, and does not deliver them.
        mask_wrong: true,
    };
    match reader.kind {
        // This reader leaves out sequences that do not fit, up to a limit.
        ReaderKind::HtkMlf => JoinPolicy {
            length: LengthRule::Agreed,
            errors: Tolerance::Skip,
            mask_wrong: false,
            ..rules
        },
        _ if reader.frame_mode && is_read(reader) => {
            JoinPolicy { length: LengthRule::Primary, ..rules }
        }
        _ => rules,
    }
}

/// Refuses a corpus if the older reader has left out more than half of it.
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

/// Opens features or labels. `primary` is the index of the first deserializer; `None` if this is
/// the first one.
pub(super) fn open(
    deserializer: &Deserializer,
    reader: &ReaderConfig,
    primary: Option<&Arc<Index>>,
    keys: KeyKind,
    beside: &Beside,
    opener: &Opener,
) -> Result<Opened> {
    match deserializer {
        Deserializer::HtkFeatures(features) => {
            open_features(features, reader, primary, keys, beside, opener)
        }
        Deserializer::HtkMlf(mlf) => open_labels(mlf, reader, keys, beside, opener),
        Deserializer::Ctf(_) => Err(Error::usage("a CTF file is no HTK file")),
    }
}

fn open_features(
    features: &HtkFeatures,
    reader: &ReaderConfig,
    primary: Option<&Arc<Index>>,
    keys: KeyKind,
    beside: &Beside,
    opener: &Opener,
) -> Result<Opened> {
    // All fields are listed, so that none is forgotten.
    let HtkFeatures {
        name: stream,
        scp_file,
        dim,
        context_window,
        expand_to_utterance: expand,
        prefix_path_in_scp,
        // The join asks all deserializers for it.
        defines_mb_size: _,
        max_sequence_size,
        frames_per_chunk,
        frame_mode,
        precision,
        trace_level,
    } = features;
    let expand = *expand;
    let file = find(scp_file, beside);
    let name = &file.to_string();
    let places = match prefix_path_in_scp {
        Some(prefix) => ScriptOptions::cntk_with_prefix(name_from_text(prefix).as_bytes()),
        None => ScriptOptions::cntk(file.as_os_str().as_bytes()),
    };
    // The frames are those of the whole files.
    let whole_files = rolls(reader);
    let places = ScriptOptions { whole_files, ..places };
    let script =
        Script::parse(read(&file, opener)?, &places).map_err(|error| error.in_file(name))?;
    let options = HtkOptions {
        stream: stream.clone(),
        element: element(*precision),
        dim: Some(*dim),
        context: *context_window,
        extent: match (*frame_mode, expand) {
            (true, true) => Extent::Sequence,
            (true, false) => Extent::Samples,
            (false, _) => own(reader),
        },
        expand: primary.filter(|_| expand && !frame_mode).cloned(),
        max_frames: *max_sequence_size,
        chunk_frames: *frames_per_chunk,
        duplicates: Duplicates::LeaveOut,
        opener: opener.of_contents(),
        trace_level: Some(*trace_level),
        ..HtkOptions::default()
    };
    let source = Arc::new(HtkSource::open(name, &script, &options, &|name| key(name, keys))?);
    let context = match source.context() {
        (0, 0) => None,
        (left, right) => Some(Context { stream: stream.clone(), left, right }),
    };
    Ok(Opened { source, context })
}

fn open_labels(
    mlf: &HtkMlf,
    reader: &ReaderConfig,
    keys: KeyKind,
    beside: &Beside,
    opener: &Opener,
) -> Result<Opened> {
    // All fields are listed, so that none is forgotten.
    let HtkMlf {
        name: stream,
        files,
        binary,
        dim,
        label_mapping_file,
        phone_boundaries,
        label_to_target_mapping_file,
        target_dim,
        // The join asks all deserializers for it.
        defines_mb_size: _,
        frame_mode,
        precision,
        trace_level,
    } = mlf;
    if label_to_target_mapping_file.is_some() || target_dim.is_some() {
        let message = format!("{stream}: labelToTargetMappingFile is not supported");
        return Err(Error::usage(message).with_help("labels are given as classes"));
    }
    let mut warnings = Vec::new();
    let states = match label_mapping_file {
        None => None,
        Some(file) => {
            let file = find(file, beside);
            let name = file.to_string();
            let states =
                StateList::parse(&read(&file, opener)?).map_err(|error| error.in_file(&name))?;
            warnings = states.warnings(&name);
            Some(Arc::new(states))
        }
    };
    let files: Vec<Location> = match files {
        MlfFiles::Files(files) => files.iter().map(|file| find(file, beside)).collect(),
        MlfFiles::List(list) => listed(&find(list, beside), beside, opener)?,
    };
    let options = MlfOptions {
        stream: stream.clone(),
        dim: Some(u32::try_from(*dim).unwrap_or(u32::MAX)),
        states,
        form: LabelForm::OneHot(element(*precision)),
        phone_boundaries: *phone_boundaries,
        extent: if *frame_mode { Extent::Samples } else { own(reader) },
        binary: *binary,
        trace_level: Some(*trace_level),
        warnings,
        opener: opener.clone(),
    };
    let source = Arc::new(MlfSource::open(&files, &options, &|name| key(name, keys))?);
    Ok(Opened { source, context: None })
}

/// Streams may differ in length, except in the reader that leaves out such sequences.
fn own(reader: &ReaderConfig) -> Extent {
    if reader.kind == ReaderKind::HtkMlf { Extent::Samples } else { Extent::Own }
}

/// The label files in a list.
fn listed(list: &Location, beside: &Beside, opener: &Opener) -> Result<Vec<Location>> {
    let text = name_to_text(OsStr::from_bytes(&read(list, opener)?));
    let names = text.lines().map(str::trim).filter(|name| !name.is_empty());
    let files: Vec<Location> = names.map(|name| find(name, beside)).collect();
    if files.is_empty() {
        return Err(Error::usage("no label files are listed")
            .in_file(list.to_string())
            .with_help("mlfFileList names a file with one name a line"));
    }
    Ok(files)
}

fn read(list: &Location, opener: &Opener) -> Result<Vec<u8>> {
    opener.read_list(list, LineLimit::of_lines)
}

fn element(precision: Precision) -> Element {
    match precision {
        Precision::Float => Element::F32,
        Precision::Double => Element::F64,
    }
}

/// The key for a name, as with CTF files.
fn key(name: &[u8], keys: KeyKind) -> Result<Vec<u8>> {
    match keys {
        KeyKind::Symbolic => Ok(name.to_vec()),
        KeyKind::Hashed => Ok(format!("<Unknown, hash {}>", hash_of_name(name)).into_bytes()),
        KeyKind::Numeric => {
            let text = name_to_text(OsStr::from_bytes(name));
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
