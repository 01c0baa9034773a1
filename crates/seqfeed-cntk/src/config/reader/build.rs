//! From a reader section to plain data.

use seqfeed_core::{Error, Result};

use super::super::section::Section;
use super::super::value::{Kind, Value};
use super::ctf::{self, Common};
use super::htk;
use super::known::{self, UnknownKey};
use super::{Deserializer, HtkReader, Precision, Randomize, ReadMethod, ReaderConfig, ReaderKind};

const READERS: &str = "supported: CNTKTextFormatReader, HTKMLFReader, HTKDeserializers, and \
                       sections with deserializers";
const DESERIALIZERS: &str = "supported: CNTKTextFormatDeserializer, HTKFeatureDeserializer, \
                             HTKMLFDeserializer, HTKMLFBinaryDeserializer";

pub(super) fn reader(section: &Section) -> Result<ReaderConfig> {
    let kind = kind(section)?;
    let write = section.text("action")?.is_some_and(|action| action.eq_ignore_ascii_case("write"));
    let is_htk = matches!(kind, ReaderKind::HtkMlf | ReaderKind::HtkDeserializers);
    let mut unknown = Vec::new();
    collect_unknown(section, kind, &mut unknown)?;
    let trace_level = section.get("traceLevel")?.filter(|value| !value.is_empty());
    let trace_level = trace_level.map(|value| value.i64()).transpose()?;
    let (frame_mode, truncated) = packing(section, kind)?;
    let sequences = write && kind == ReaderKind::Composite;
    let common = Common {
        frame_mode: frame_mode && !sequences,
        precision: precision(section)?,
        trace_level,
    };
    let randomization = randomization(section, kind)?;
    let htk = if is_htk { Some(htk_options(section, randomization.0, write)?) } else { None };
    let deserializers = match kind {
        ReaderKind::Composite => composite(section, common, &mut unknown)?,
        ReaderKind::Ctf => {
            vec![Deserializer::Ctf(ctf::deserializer(section, common, &mut unknown)?)]
        }
        ReaderKind::HtkMlf | ReaderKind::HtkDeserializers => {
            streams(section, kind, common, &mut unknown)?
        }
    };
    let boolean = |name, default| Ok::<_, Error>(section.boolean(name)?.unwrap_or(default));
    let only_ctf = deserializers.iter().all(|one| match one {
        Deserializer::Ctf(_) => true,
        Deserializer::HtkFeatures(_) => false,
        Deserializer::HtkMlf(mlf) => mlf.binary,
    });
    Ok(ReaderConfig {
        kind,
        directory: None,
        randomize: randomization.0,
        randomization_window: randomization.1,
        sample_based_randomization_window: randomization.2,
        chunk_size_in_bytes: ctf::chunk_size(section, ctf::CHUNK_SIZE)?,
        randomization_seed: section.u64("randomizationSeed")?.unwrap_or(0),
        frame_mode: common.frame_mode,
        truncated: truncated && !sequences,
        truncation_length: match truncated && !sequences {
            true => section.u64("truncationLength")?.unwrap_or(0),
            false => 0,
        },
        right_splice: section.u64("rightSplice")?.unwrap_or(0),
        precision: common.precision,
        max_errors: section.u64("maxErrors")?.unwrap_or(0),
        trace_level: trace_level.unwrap_or(1),
        verbosity: section.i64("verbosity")?.unwrap_or(0),
        keep_data_in_memory: boolean("keepDataInMemory", false)?,
        local_timeline: boolean("localTimeline", true)?,
        multi_threaded_deserialization: boolean("multiThreadedDeserialization", false)?,
        use_numeric_sequence_keys: boolean("useNumericSequenceKeys", only_ctf)?,
        hash_sequence_keys: boolean("hashSequenceKeys", false)?,
        write,
        htk,
        deserializers,
        unknown,
        ignored: Vec::new(),
    })
}

fn kind(section: &Section) -> Result<ReaderKind> {
    if section.has_own("deserializers") {
        return Ok(ReaderKind::Composite);
    }
    let Some(value) = section.get("readerType")? else {
        let message = "the section says neither readerType nor deserializers";
        return Err(section.error(message.into()).with_help(READERS));
    };
    let name = value.text()?;
    let named = |known: &str| name.eq_ignore_ascii_case(known);
    if named("CNTKTextFormatReader") {
        Ok(ReaderKind::Ctf)
    } else if named("HTKMLFReader") {
        Ok(ReaderKind::HtkMlf)
    } else if named("HTKDeserializers") {
        Ok(ReaderKind::HtkDeserializers)
    } else {
        let message = format!("readerType '{name}' is not supported");
        Err(value.error(message).with_help(READERS))
    }
}

fn collect_unknown(
    section: &Section,
    kind: ReaderKind,
    unknown: &mut Vec<UnknownKey>,
) -> Result<()> {
    match kind {
        ReaderKind::Composite => known::collect(section, known::COMPOSITE, unknown),
        ReaderKind::Ctf => known::collect(section, known::CTF_READER, unknown),
        // Its other names may be streams: `streams` goes through them.
        ReaderKind::HtkMlf | ReaderKind::HtkDeserializers => {}
    }
    Ok(())
}

/// `frameMode` and `truncated`.
fn packing(section: &Section, kind: ReaderKind) -> Result<(bool, bool)> {
    let is_htk = matches!(kind, ReaderKind::HtkMlf | ReaderKind::HtkDeserializers);
    let frame_mode = section.boolean("frameMode")?.unwrap_or(is_htk);
    let truncated = section.get("truncated")?;
    let Some(value) = truncated else { return Ok((frame_mode, false)) };
    // The stand-alone CTF reader does not know it.
    let truncated = value.boolean()? && kind != ReaderKind::Ctf;
    if frame_mode && truncated {
        let message = match kind {
            ReaderKind::HtkMlf => {
                "'Truncated' cannot be 'true' in frameMode (i.e. when 'frameMode' is 'true')"
            }
            _ => "frameMode and truncated BPTT are mutually exclusive.",
        };
        return Err(value.error(message.into()).with_help("set frameMode=false"));
    }
    if truncated
        && kind == ReaderKind::Composite
        && section.u64("truncationLength")?.unwrap_or(0) == 0
    {
        let message = "Truncation length cannot be 0.";
        return Err(value.error(message.into()).with_help("add truncationLength=..."));
    }
    Ok((frame_mode, truncated))
}

fn precision(section: &Section) -> Result<Precision> {
    let Some(value) = section.get("precision")? else { return Ok(Precision::Float) };
    match value.text()? {
        text if text.eq_ignore_ascii_case("float") => Ok(Precision::Float),
        text if text.eq_ignore_ascii_case("double") => Ok(Precision::Double),
        text => {
            let message =
                format!("Not supported precision '{text}'. Expected 'double' or 'float'.");
            Err(value.error(message).with_help("write precision=float"))
        }
    }
}

type Randomization = (Randomize, Option<u64>, Option<bool>);

/// `randomize`, the window, and whether it counts samples.
fn randomization(section: &Section, kind: ReaderKind) -> Result<Randomization> {
    let is_htk = matches!(kind, ReaderKind::HtkMlf | ReaderKind::HtkDeserializers);
    let randomize = match section.get("randomize")? {
        None => Randomize::On,
        Some(value) => randomize(&value, is_htk)?,
    };
    if is_htk {
        return Ok((randomize, None, None));
    }
    if kind == ReaderKind::Composite
        && let Some(randomization) = minibatch_source_windows(section, randomize)?
    {
        return Ok(randomization);
    }
    let sample_based = section.boolean("sampleBasedRandomizationWindow")?;
    let mut window = section.u64("randomizationWindow")?;
    if kind == ReaderKind::Composite && has_ctf(section)? {
        // Here CNTK does not look further out.
        if !section.has_own("randomizationWindow") {
            window = None;
        }
        let explicit = section.has_own("sampleBasedRandomizationWindow");
        if window.is_none() && explicit && sample_based == Some(true) && randomize != Randomize::Off
        {
            let message = "'sampleBasedRandomizationWindow' (== 'true') requires that the \
                           'randomizationWindow' is explicitly specified.";
            return Err(section.error(message.into()).with_help("add randomizationWindow=..."));
        }
        if window.is_none() && !explicit {
            return Ok((randomize, None, Some(false)));
        }
    }
    Ok((randomize, window, sample_based))
}

/// The windows as CNTK's `MinibatchSource` names them: the one in samples, if it is not 0, else
/// the one in chunks, else nothing is shuffled.
fn minibatch_source_windows(
    section: &Section,
    randomize: Randomize,
) -> Result<Option<Randomization>> {
    let chunks = section.u64("randomizationWindowInChunks")?;
    let samples = section.u64("randomizationWindowInSamples")?;
    match (chunks, samples) {
        (None, None) => Ok(None),
        (Some(1..), Some(1..)) => Err(section
            .error(
                "randomizationWindowInChunks and randomizationWindowInSamples are mutually \
                 exclusive."
                    .into(),
            )
            .with_help("set one of them to 0")),
        (_, Some(samples @ 1..)) => Ok(Some((randomize, Some(samples), Some(true)))),
        (Some(chunks @ 1..), _) => Ok(Some((randomize, Some(chunks), Some(false)))),
        _ => Ok(Some((Randomize::Off, None, None))),
    }
}

fn randomize(value: &Value, is_htk: bool) -> Result<Randomize> {
    let text = value.text()?;
    if text.eq_ignore_ascii_case("auto") {
        return Ok(Randomize::On);
    }
    if text.eq_ignore_ascii_case("none") {
        return Ok(Randomize::Off);
    }
    if is_htk {
        let frames = value.u64().map_err(|error| error.with_help("auto, none, or a number"));
        return Ok(Randomize::Frames(frames?));
    }
    match value.boolean() {
        Ok(true) => Ok(Randomize::On),
        Ok(false) => Ok(Randomize::Off),
        Err(_) => Err(value
            .error(format!("ConfigValue (bool): boolean argument expected, found '{text}'"))
            .with_help("true or false; a window goes into randomizationWindow")),
    }
}

fn htk_options(section: &Section, randomize: Randomize, write: bool) -> Result<HtkReader> {
    if section.boolean("legacyMode")?.unwrap_or(false) {
        let message = "legacy mode has been deprecated";
        return Err(section.error(message.into()).with_help("remove legacyMode"));
    }
    let read_method = match section.get("readMethod")? {
        None => ReadMethod::BlockRandomize,
        Some(value) => read_method(&value, kind(section)?)?,
    };
    if write && read_method != ReadMethod::None {
        let message = "'readMethod' must be 'none' for write action.";
        return Err(section.error(message.into()).with_help("write readMethod=none"));
    }
    let off = matches!(randomize, Randomize::Off | Randomize::Frames(0));
    if read_method == ReadMethod::BlockRandomize && off {
        let message = "'randomize' cannot be 'none' when 'readMethod' is 'blockRandomize'.";
        return Err(section.error(message.into()).with_help("write readMethod=none"));
    }
    let parallel_utterances = match section.get("nbruttsineachrecurrentiter")? {
        None => vec![1],
        Some(value) => parallel_utterances(&value)?,
    };
    let mode = section.text("minibatchMode")?;
    let partial_minibatches = mode.is_none_or(|mode| mode.eq_ignore_ascii_case("partial"));
    Ok(HtkReader {
        read_method,
        partial_minibatches,
        parallel_utterances,
        mersenne_twister: section.boolean("useMersenneTwisterRand")?.unwrap_or(false),
        page_file_path: section.text("pageFilePath")?.filter(|path| !path.is_empty()),
    })
}

fn read_method(value: &Value, kind: ReaderKind) -> Result<ReadMethod> {
    let text = value.text()?;
    let named = |known: &str| text.eq_ignore_ascii_case(known);
    if named("blockRandomize") {
        Ok(ReadMethod::BlockRandomize)
    } else if named("none") {
        Ok(ReadMethod::None)
    } else if named("rollingWindow") && kind == ReaderKind::HtkMlf {
        Ok(ReadMethod::RollingWindow)
    } else {
        let message = "readMethod must be 'blockRandomize' or 'none'.";
        Err(value
            .error(message.into())
            .with_help("rollingWindow is for readerType=HTKMLFReader only"))
    }
}

fn parallel_utterances(value: &Value) -> Result<Vec<u64>> {
    let numbers = value.array()?.iter().map(Value::u64).collect::<Result<Vec<_>>>()?;
    if numbers.is_empty() || numbers.contains(&0) {
        let message = "nbrUttsInEachRecurrentIter cannot be less than 1.";
        return Err(value.error(message.into()).with_help("one number, or one for each epoch"));
    }
    Ok(numbers)
}

/// The sections in `deserializers`.
pub(super) fn deserializer_sections(section: &Section) -> Result<Vec<Section>> {
    let Some(value) = section.own("deserializers")? else { return Ok(Vec::new()) };
    let mut elements = value.array()?;
    // One section without the brackets of an array.
    if value.kind() == Kind::Section && elements.iter().any(|one| one.kind() != Kind::Section) {
        elements = vec![value];
    }
    elements.iter().map(Value::section).collect()
}

fn has_ctf(section: &Section) -> Result<bool> {
    for one in deserializer_sections(section)? {
        let is_ctf = |name: String| name.eq_ignore_ascii_case("CNTKTextFormatDeserializer");
        if one.text("type")?.is_some_and(is_ctf) {
            return Ok(true);
        }
    }
    Ok(false)
}

fn composite(
    section: &Section,
    common: Common,
    unknown: &mut Vec<UnknownKey>,
) -> Result<Vec<Deserializer>> {
    let kind = ReaderKind::Composite;
    let mut deserializers = Vec::new();
    for one in deserializer_sections(section)? {
        let value = one.require("type")?;
        let name = value.text()?;
        let named = |known: &str| name.eq_ignore_ascii_case(known);
        let primary = deserializers.is_empty();
        if named("CNTKTextFormatDeserializer") {
            known::collect(&one, known::CTF_DESERIALIZER, unknown);
            deserializers.push(Deserializer::Ctf(ctf::deserializer(&one, common, unknown)?));
            continue;
        }
        let binary = named("HTKMLFBinaryDeserializer");
        if !binary && !named("HTKFeatureDeserializer") && !named("HTKMLFDeserializer") {
            let message = format!("deserializer '{name}' is not supported");
            return Err(value.error(message).with_help(DESERIALIZERS));
        }
        known::collect(&one, known::HTK_DESERIALIZER, unknown);
        let input = htk::input(&one, unknown)?;
        if named("HTKFeatureDeserializer") {
            deserializers.push(htk::features(&input, kind, common, primary, unknown)?);
        } else if primary {
            let message = "MLFDeserializer currently does not support primary mode.";
            return Err(value.error(message.into()).with_help("let the features come first"));
        } else {
            deserializers.push(htk::labels(&input, kind, binary, common, unknown)?);
        }
    }
    if deserializers.is_empty() {
        let message = "Could not find deserializers in the reader config.";
        return Err(section.error(message.into()).with_help(DESERIALIZERS));
    }
    Ok(deserializers)
}

/// The sub-sections of the readers of HTK files: features first, then labels.
fn streams(
    section: &Section,
    kind: ReaderKind,
    common: Common,
    unknown: &mut Vec<UnknownKey>,
) -> Result<Vec<Deserializer>> {
    let mut features = Vec::new();
    let mut labels = Vec::new();
    for name in section.names() {
        let Some(value) = section.own(name)? else { continue };
        let known = known::HTK_READER.iter().flat_map(|list| *list);
        if known.clone().any(|known| known.eq_ignore_ascii_case(name)) {
            continue;
        }
        let inner = match value.kind() {
            Kind::Section => Some(value.section()?),
            _ => None,
        };
        let has = |name: &str| inner.as_ref().is_some_and(|inner| inner.has_own(name));
        if has("scpFile") {
            features.push(value);
        } else if has("mlfFile") || has("mlfFileList") {
            labels.push(value);
        } else if has("phoneFile") || has("denlatTocFile") {
            let message = format!("{name}: lattices and phone models are not supported");
            return Err(value.error(message).with_help("supported: features and labels"));
        } else {
            unknown.push(known::key(section, name, known::HTK_READER));
        }
    }
    if features.is_empty() {
        let message = "Network needs at least 1 feature specified.";
        return Err(section
            .error(message.into())
            .with_help("add features = [ dim = 33 ; scpFile = \"a.scp\" ]"));
    }
    let mut streams = Vec::new();
    for value in &features {
        streams.push(htk::features(value, kind, common, streams.is_empty(), unknown)?);
    }
    for value in &labels {
        streams.push(htk::labels(value, kind, false, common, unknown)?);
    }
    Ok(streams)
}
