//! Corpora named by a reader of CNTK (its configuration), or by a bare CTF file.

use std::collections::BTreeMap;
use std::io::BufRead;
use std::sync::Arc;

use seqfeed_cntk::config::{self, CtfDeserializer, CtfFormat, Deserializer, ReaderConfig};
use seqfeed_cntk::ctf::{CtfInput, CtfOptions, CtfSource, FoundInput, InputFinder, KeyKind, Names};
use seqfeed_core::{
    Chunking, Corpus, Element, Error, JoinPolicy, Kept, LengthRule, Problem, Result, Source,
};
use seqfeed_feed::{Layout, Settings, Shuffle, Unit};
use seqfeed_io::{Beside, FileKind, Input, Location, Opener, name_from_text};

use crate::corpus_key::refuse_overrides;
use crate::description::{FormatName, InputSpec, Text};
use crate::name_text::joined;

mod frames;
mod htk;
mod key;
mod names;
mod overrides;
mod settings;

pub(crate) use key::Reader;
pub(crate) use names::{is_bare_ctf, is_reader};
use settings::{Rows, find, settings};

/// Bytes in a chunk of a bare CTF file. It is small, since a window of 32 parsed chunks is in
/// memory.
const CHUNK_BYTES: u64 = 1 << 20;
/// The most bytes of a reader's dictionary.
const LARGEST_READER: u64 = 64 << 20;

/// A corpus as its reader opened it.
struct OpenedReader {
    corpus: Corpus,
    settings: Settings,
    /// The shuffle to use if a description asks for one.
    shuffle: Shuffle,
    /// The rows, on which the batch size depends beside the settings.
    rows: Option<Rows>,
    /// Names in the configuration that are unknown or have no effect.
    unknown: Vec<String>,
}

/// Opens the corpus of a name: `train.cntk#section`, `reader.json`, or a CTF file with the given
/// inputs or those found in it.
fn open(
    name: &str,
    inputs: &BTreeMap<String, InputSpec>,
    overrides: &BTreeMap<String, Text>,
    opener: &Opener,
) -> Result<OpenedReader> {
    if is_bare_ctf(name) {
        refuse_overrides(overrides)?;
        return open_file(name, inputs, opener);
    }
    // A section may stand behind the file's name.
    let name = &joined(opener.directory(), name);
    let opener = &opener.clone().in_directory(None);
    let (file, section) = config::path::split(name);
    let is_json = file.to_ascii_lowercase().ends_with(".json");
    let (reader, warnings) = match is_json {
        true => {
            refuse_overrides(overrides)?;
            (read_json(file, opener)?, Vec::new())
        }
        false => overrides::load(file, section, overrides, opener)?,
    };
    if !inputs.is_empty() {
        return Err(Error::usage("inputs are named for bare CTF files; a reader names its own"));
    }
    let mut opened = open_reader(&reader, opener, !is_json)?;
    opened.unknown.extend(warnings);
    Ok(opened)
}

/// The inputs found in the data of a bare CTF file; `None` for any other reader.
fn inputs_of(name: &str, opener: &Opener) -> Result<Option<BTreeMap<String, InputSpec>>> {
    if !is_bare_ctf(name) {
        return Ok(None);
    }
    let describe = |input: FoundInput| {
        let CtfInput { name, dim, sparse, .. } = found(&input)?;
        let format = if sparse { FormatName::Sparse } else { FormatName::Dense };
        Ok((name, InputSpec { dim: Some(dim), format: Some(format), ..InputSpec::default() }))
    };
    find_inputs(name, opener)?.into_iter().map(describe).collect::<Result<_>>().map(Some)
}

fn read_json(file: &str, opener: &Opener) -> Result<ReaderConfig> {
    let location = Location::of_file(name_from_text(file));
    let text = opener.read_settings(&location, "bytes of a reader", LARGEST_READER)?;
    let json = serde_json::from_slice(&text).map_err(|error| {
        let problem = Problem::Unsupported(error.to_string().into());
        Error::format("reader", problem).in_file(file).at_line(error.line() as u64)
    })?;
    ReaderConfig::from_json(&json, location.parent()).map_err(|error| error.in_file(file))
}

/// Opens the corpus of a configuration. `by_program` means the settings of CNTK's program;
/// otherwise those of its Python package.
fn open_reader(reader: &ReaderConfig, opener: &Opener, by_program: bool) -> Result<OpenedReader> {
    let keys = match (reader.use_numeric_sequence_keys, reader.hash_sequence_keys) {
        (true, false) => KeyKind::Numeric,
        (false, true) => KeyKind::Hashed,
        (false, false) => KeyKind::Symbolic,
        (true, true) => {
            return Err(Error::usage("Hashing should not be used with numeric sequence keys.")
                .with_help("set useNumericSequenceKeys=false as well"));
        }
    };
    let beside = Beside::new(reader.directory.clone(), opener);
    let mut names = Names::new();
    let mut contexts = Vec::new();
    let mut sources: Vec<Arc<dyn Source>> = Vec::new();
    for deserializer in &reader.deserializers {
        let Deserializer::Ctf(ctf) = deserializer else {
            let primary = sources.first().map(|source| Arc::clone(source.index()));
            let opened = htk::open(deserializer, reader, primary.as_ref(), keys, &beside, opener)?;
            contexts.extend(opened.context);
            sources.push(opened.source);
            continue;
        };
        let name = find(&ctf.file, &beside).into_name();
        let opener = opener.of_contents();
        let source = CtfSource::open(&name, &options(ctf, keys), &mut names, &opener)?;
        let source: Arc<dyn Source> = Arc::new(source);
        let kept = ctf.keep_data_in_memory || reader.keep_data_in_memory;
        sources.push(if kept { Arc::new(Kept::new(source)) } else { source });
    }
    htk::check(reader)?;
    let main: Vec<usize> = (0..reader.deserializers.len())
        .filter(|&number| reader.deserializers[number].defines_mb_size())
        .collect();
    let length = match main[..] {
        [] => LengthRule::Longest,
        [only] => LengthRule::Source(only),
        _ => {
            return Err(Error::usage(
                "Only a single deserializer is allowed to define minibatch size, at least two found.",
            )
            .with_help("set definesMBSize in one of them"));
        }
    };
    let (join, sequences) = (htk::join(reader, length), sources[0].index().len() as u64);
    let corpus = Corpus::join(sources, &join)?;
    htk::check_left_out(reader, &corpus, sequences)?;
    Ok(OpenedReader {
        corpus,
        settings: settings(reader, contexts, by_program),
        shuffle: settings::shuffle(reader),
        rows: settings::rows(reader),
        unknown: remarks(reader),
    })
}

/// Warnings about a reader's settings: unknown ones, those without effect, and differences from
/// CNTK.
fn remarks(reader: &ReaderConfig) -> Vec<String> {
    let unknown = reader.unknown.iter().map(|key| match &key.suggestion {
        Some(known) => format!("unknown name {} in the reader; is {known} meant?", key.path),
        None => format!("unknown name {} in the reader", key.path),
    });
    let mut remarks: Vec<String> = unknown.collect();
    // Many may have the same reason.
    let mut ignored: Vec<(&str, Vec<&str>)> = Vec::new();
    for key in &reader.ignored {
        match ignored.iter_mut().find(|(reason, _)| *reason == key.reason) {
            Some((_, paths)) => paths.push(&key.path),
            None => ignored.push((key.reason, vec![&key.path])),
        }
    }
    remarks.extend(ignored.into_iter().map(|(reason, paths)| {
        let have = if paths.len() == 1 { "has" } else { "have" };
        format!("{} {have} no effect: {reason}", paths.join(", "))
    }));
    remarks.extend(reader.notes.iter().cloned());
    remarks
}

fn options(ctf: &CtfDeserializer, keys: KeyKind) -> CtfOptions {
    let input = |input: &config::CtfInput| CtfInput {
        name: input.name.clone(),
        alias: input.alias.clone(),
        // For sparse inputs this was checked when the section was read. No dense input has so many
        // values.
        dim: u32::try_from(input.dim).unwrap_or(u32::MAX),
        sparse: input.format == CtfFormat::Sparse,
        defines_mb_size: input.defines_mb_size,
    };
    CtfOptions {
        inputs: ctf.inputs.iter().map(input).collect(),
        element: match ctf.precision {
            config::Precision::Float => Element::F32,
            config::Precision::Double => Element::F64,
        },
        skip_sequence_ids: ctf.skip_sequence_ids,
        max_errors: ctf.max_errors,
        chunk_bytes: ctf.chunk_size_in_bytes,
        frame_mode: ctf.frame_mode,
        keys,
        cache_index: ctf.cache_index,
        longer_than_inputs: ctf.longer_than_inputs,
        trace_level: ctf.trace_level,
        ..CtfOptions::default()
    }
}

/// Opens a bare CTF file.
fn open_file(
    name: &str,
    inputs: &BTreeMap<String, InputSpec>,
    opener: &Opener,
) -> Result<OpenedReader> {
    let inputs: Vec<CtfInput> = match inputs.is_empty() {
        true => find_inputs(name, opener)?.iter().map(found).collect::<Result<_>>()?,
        false => inputs.iter().map(|(name, input)| described(name, input)).collect(),
    };
    let options = CtfOptions { inputs, chunk_bytes: CHUNK_BYTES, ..CtfOptions::default() };
    let source = CtfSource::open(&name_from_text(name), &options, &mut Names::new(), opener)?;
    let join = JoinPolicy {
        chunks: Chunking::Primary,
        length: LengthRule::Longest,
        ..JoinPolicy::default()
    };
    let settings = Settings { unit: Unit::Sequence, layout: Layout::Padded, ..Settings::default() };
    Ok(OpenedReader {
        corpus: Corpus::join(vec![Arc::new(source)], &join)?,
        settings,
        shuffle: Shuffle::default(),
        rows: None,
        unknown: Vec::new(),
    })
}

fn find_inputs(name: &str, opener: &Opener) -> Result<Vec<FoundInput>> {
    let rxfilename = opener.rxfilename(&name_from_text(name))?;
    let name = &rxfilename.to_string();
    let location = rxfilename.location();
    if location.is_standard() {
        return Err(Error::usage("the inputs of standard input cannot be found: it is read once")
            .with_help("name them, in a description or in a reader's section"));
    }
    // The file is read again for its samples.
    let whole_file = rxfilename.file_and_offset().filter(|_| rxfilename.offset().is_none());
    let found = whole_file.and_then(|(file, _)| opener.probe(file).ok());
    if found.is_some_and(|found| found.kind == FileKind::NamedPipe) {
        return Err(Error::usage("the inputs of a pipe cannot be found: it is read once")
            .in_file(name)
            .with_help("copy it into a file first, or name the inputs: in a description or in a reader's section"));
    }
    let mut input = Input::open(&rxfilename, opener)?;
    if whole_file.is_some() {
        // A device may have no end.
        opener.open(location)?;
    }
    let mut finder = InputFinder::new();
    loop {
        let piece = input.fill_buf().map_err(|error| Error::io("reading", error).in_file(name))?;
        if piece.is_empty() {
            break;
        }
        finder.push(piece);
        let len = piece.len();
        input.consume(len);
    }
    input.finish()?;
    finder.finish().map_err(|error| error.in_file(name))
}

fn found(input: &FoundInput) -> Result<CtfInput> {
    let Ok(dim) = u32::try_from(input.dim) else {
        let what = format!("input {} has {} values or an index of so much", input.name, input.dim);
        return Err(Error::usage(what));
    };
    let (name, sparse) = (input.name.clone(), input.sparse);
    Ok(CtfInput { alias: name.clone(), name, dim, sparse, defines_mb_size: false })
}

fn described(name: &str, input: &InputSpec) -> CtfInput {
    CtfInput {
        name: name.to_owned(),
        alias: input.alias.clone().unwrap_or_else(|| name.to_owned()),
        // A description has both.
        dim: input.dim.unwrap_or(0),
        sparse: input.format == Some(FormatName::Sparse),
        defines_mb_size: input.defines_mb_size.unwrap_or(false),
    }
}
