//! Corpora named by a reader of CNTK (its configuration), or by a bare CTF file.

use std::collections::BTreeMap;
use std::io::BufRead;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use seqfeed_cntk::config::{
    self, CtfDeserializer, CtfFormat, Deserializer, ReaderConfig, ReaderKind,
};
use seqfeed_cntk::ctf::{
    CacheUse, CtfInput, CtfOptions, CtfSource, FoundInput, InputFinder, KeyKind, Names,
};
use seqfeed_core::{
    Chunking, Corpus, Element, Error, JoinPolicy, Kept, LengthRule, Problem, Result, Source,
    Tolerance,
};
use seqfeed_feed::{Cut, Layout, Order, Settings, Truncation, Unit, Window};
use seqfeed_io::{Input, Policy, RxFilename};

use crate::description::{FormatName, InputDescription};

/// Bytes in a chunk of a bare CTF file: as its window of 32 chunks is kept as parsed.
const CHUNK_BYTES: u64 = 1 << 20;

/// A corpus as its reader opened it.
pub(crate) struct OpenedReader {
    pub(crate) corpus: Corpus,
    pub(crate) settings: Settings,
    pub(crate) files: Vec<ReaderFile>,
    /// Names in the configuration that no reader knows, or that have no effect.
    pub(crate) unknown: Vec<String>,
}

/// A file of a reader.
#[derive(Debug)]
pub(crate) struct ReaderFile {
    pub(crate) source: Arc<CtfSource>,
    /// Whether its warnings are wanted (`traceLevel`).
    pub(crate) warns: bool,
}

impl ReaderFile {
    /// What it is: "CTF, index from x.cache".
    pub(crate) fn format(&self) -> String {
        match self.source.cache() {
            CacheUse::No => "CTF".to_owned(),
            CacheUse::Read(path) => format!("CTF, index from {}", path.display()),
            CacheUse::Made(_) => "CTF, index cache being made".to_owned(),
        }
    }

    /// What is worth a warning so far.
    pub(crate) fn warnings(&self) -> Vec<String> {
        let incidents = self.source.incidents();
        let mut warnings = Vec::new();
        if !self.warns {
            return warnings;
        }
        if let CacheUse::Made(Some(reason)) = self.source.cache() {
            warnings.push(format!("the index was made anew: {reason}"));
        }
        let name = self.source.name();
        let first = incidents.first_warnings();
        let first = &first[..first.len().min(10)];
        let offsets: Vec<u64> = first.iter().map(|one| one.offset).collect();
        let lines = self.source.lines_of(&offsets).unwrap_or_else(|_| vec![None; first.len()]);
        warnings.extend(first.iter().zip(lines).map(|(one, line)| match line {
            Some(at) => format!("{name}:{}:{}: {}", at.line, at.column, one.message),
            None => format!("{name} @ {}: {}", one.offset, one.message),
        }));
        let (errors, more) = (incidents.errors(), incidents.warnings().saturating_sub(10));
        if more > 0 {
            warnings.push(format!("{name}: {more} more warnings"));
        }
        if errors > 0 {
            warnings.push(format!("{name}: {errors} errors were passed over"));
        }
        warnings
    }
}

/// Opens the corpus of a name: `train.cntk#section`, `reader.json` or a CTF file with inputs as given,
/// or as found.
pub(crate) fn open(
    name: &str,
    inputs: &BTreeMap<String, InputDescription>,
    policy: &Policy,
) -> Result<OpenedReader> {
    let (file, section) = config::path::split(name);
    let is = |end: &str| file.to_ascii_lowercase().ends_with(end);
    let reader = if is(".json") {
        read_json(file)?
    } else if is(".cntk") || is(".config") || !section.is_empty() {
        ReaderConfig::load(file, section, &[])?
    } else {
        return open_file(name, inputs, policy);
    };
    if !inputs.is_empty() {
        return Err(Error::usage("inputs are named for bare CTF files; a reader names its own"));
    }
    open_reader(&reader, policy, !is(".json"))
}

fn read_json(file: &str) -> Result<ReaderConfig> {
    let text =
        std::fs::read_to_string(file).map_err(|error| Error::io("opening", error).in_file(file))?;
    let json = serde_json::from_str(&text).map_err(|error| {
        let problem = Problem::Unsupported(error.to_string().into());
        Error::format("reader", problem).in_file(file).at_line(error.line() as u64)
    })?;
    ReaderConfig::from_json(&json, Path::new(file).parent()).map_err(|error| error.in_file(file))
}

/// Opens what a configuration says; `by_program` if its settings are those of CNTK's program, not of
/// its Python package.
fn open_reader(reader: &ReaderConfig, policy: &Policy, by_program: bool) -> Result<OpenedReader> {
    let keys = match (reader.use_numeric_sequence_keys, reader.hash_sequence_keys) {
        (true, false) => KeyKind::Numeric,
        (false, true) => KeyKind::Hashed,
        (false, false) => KeyKind::Symbolic,
        (true, true) => {
            return Err(Error::usage("Hashing should not be used with numeric sequence keys.")
                .with_help("set useNumericSequenceKeys=false as well"));
        }
    };
    let mut names = Names::new();
    let mut files = Vec::new();
    let mut sources: Vec<Arc<dyn Source>> = Vec::new();
    for deserializer in &reader.deserializers {
        let Deserializer::Ctf(ctf) = deserializer else {
            return Err(Error::usage("HTK features and labels cannot be read yet")
                .with_help("this version reads CNTKTextFormatDeserializer"));
        };
        let name = find(&ctf.file, reader.directory.as_deref());
        let source = Arc::new(CtfSource::open(&name, &options(ctf, keys), &mut names, policy)?);
        let kept = ctf.keep_data_in_memory || reader.keep_data_in_memory;
        sources.push(match kept {
            true => Arc::new(Kept::new(Arc::clone(&source) as Arc<dyn Source>)),
            false => Arc::clone(&source) as Arc<dyn Source>,
        });
        files.push(ReaderFile { source, warns: ctf.trace_level >= 1 });
    }
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
    let join = JoinPolicy {
        missing: Tolerance::Skip,
        errors: Tolerance::Stop,
        chunks: Chunking::Primary,
        length,
    };
    let unknown = reader.unknown.iter().map(|key| match &key.suggestion {
        Some(known) => format!("unknown name {} in the reader; is {known} meant?", key.path),
        None => format!("unknown name {} in the reader", key.path),
    });
    let ignored = reader.ignored.iter();
    let ignored = ignored.map(|key| format!("{} has no effect: {}", key.path, key.reason));
    Ok(OpenedReader {
        corpus: Corpus::join(sources, &join)?,
        settings: settings(reader, by_program),
        files,
        unknown: unknown.chain(ignored).collect(),
    })
}

fn options(ctf: &CtfDeserializer, keys: KeyKind) -> CtfOptions {
    let input = |input: &config::CtfInput| CtfInput {
        name: input.name.clone(),
        alias: input.alias.clone(),
        // Checked when the section was read for sparse ones; nothing has so many dense values.
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
        ..CtfOptions::default()
    }
}

fn settings(reader: &ReaderConfig, by_program: bool) -> Settings {
    let order = match reader.window() {
        None => Order::Sequential,
        Some(config::Window::Samples(samples)) => Order::Shuffle(Window::Samples(samples)),
        Some(config::Window::Chunks(chunks)) => Order::Shuffle(Window::Chunks(chunks)),
    };
    let truncated = reader.truncated.then_some(Truncation {
        length: reader.truncation_length,
        right_splice: reader.right_splice,
    });
    Settings {
        unit: Unit::Sequence,
        order,
        seed: reader.randomization_seed,
        layout: if reader.frame_mode { Layout::Concatenated } else { Layout::Packed },
        cut: Cut::Worker {
            // Readers that stand alone count all workers' samples.
            local_timeline: reader.kind == ReaderKind::Composite && reader.local_timeline,
            cross_sweeps: !by_program,
        },
        truncated,
        ..Settings::default()
    }
}

/// A file that a configuration names: relative to the working directory, as with CNTK; where there is
/// none, to the configuration's own.
fn find(name: &str, directory: Option<&Path>) -> String {
    let beside: Option<PathBuf> = directory.map(|directory| directory.join(name));
    match beside {
        Some(beside) if !Path::new(name).exists() && beside.exists() => {
            beside.display().to_string()
        }
        _ => name.to_owned(),
    }
}

/// Opens a bare CTF file.
fn open_file(
    name: &str,
    inputs: &BTreeMap<String, InputDescription>,
    policy: &Policy,
) -> Result<OpenedReader> {
    let inputs: Vec<CtfInput> = match inputs.is_empty() {
        true => find_inputs(name, policy)?.iter().map(found).collect::<Result<_>>()?,
        false => inputs.iter().map(|(name, input)| described(name, input)).collect(),
    };
    let options = CtfOptions { inputs, chunk_bytes: CHUNK_BYTES, ..CtfOptions::default() };
    let source = Arc::new(CtfSource::open(name, &options, &mut Names::new(), policy)?);
    let join = JoinPolicy {
        chunks: Chunking::Primary,
        length: LengthRule::Longest,
        ..JoinPolicy::default()
    };
    let sources = vec![Arc::clone(&source) as Arc<dyn Source>];
    let settings = Settings { unit: Unit::Sequence, layout: Layout::Padded, ..Settings::default() };
    Ok(OpenedReader {
        corpus: Corpus::join(sources, &join)?,
        settings,
        files: vec![ReaderFile { source, warns: true }],
        unknown: Vec::new(),
    })
}

fn find_inputs(name: &str, policy: &Policy) -> Result<Vec<FoundInput>> {
    let rxfilename = RxFilename::parse(name)?;
    if rxfilename == RxFilename::Stdin {
        return Err(Error::usage("the inputs of standard input cannot be found: it is read once")
            .with_help("name them, in a description or in a reader's section"));
    }
    let mut input = Input::open(&rxfilename, policy)?;
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

fn described(name: &str, input: &InputDescription) -> CtfInput {
    CtfInput {
        name: name.to_owned(),
        alias: input.alias.clone().unwrap_or_else(|| name.to_owned()),
        dim: input.dim,
        sparse: input.format == FormatName::Sparse,
        defines_mb_size: input.defines_mb_size,
    }
}
