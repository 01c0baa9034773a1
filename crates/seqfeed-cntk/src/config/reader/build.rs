//! Converts a reader section to plain data.

use seqfeed_core::{Error, Result};

use super::super::section::Section;
use super::super::section::{Value, ValueForm};
use super::ctf::{self, Common};
use super::htk;
use super::known::{self, WithoutEffect};
use super::words::one_of;
use super::{Deserializer, HtkReader, Precision, Randomize, ReadMethod, ReaderConfig, ReaderKind};

const READERS: &str = "supported: CNTKTextFormatReader, HTKMLFReader, HTKDeserializers, and \
                       sections with deserializers";
const DESERIALIZERS: &str = "supported: CNTKTextFormatDeserializer, HTKFeatureDeserializer, \
                             HTKMLFDeserializer, HTKMLFBinaryDeserializer";

pub(super) fn reader(section: &Section) -> Result<ReaderConfig> {
    let kind = kind(section)?;
    let write = section.text("action")?.is_some_and(|action| action.eq_ignore_ascii_case("write"));
    let is_htk = matches!(kind, ReaderKind::HtkMlf | ReaderKind::HtkDeserializers);
    let mut names = WithoutEffect::default();
    match kind {
        ReaderKind::Composite => names.collect(section, known::COMPOSITE)?,
        ReaderKind::Ctf => names.collect(section, known::CTF_READER)?,
        // Its other names may be streams. `streams` checks them.
        ReaderKind::HtkMlf | ReaderKind::HtkDeserializers => {}
    }
    let trace_level = section.get("traceLevel")?.filter(|value| !value.is_empty());
    let trace_level = trace_level.map(|value| value.i64()).transpose()?;
    let (frame_mode, truncated) = packing(section, kind)?;
    // For writing, whole sequences are read.
    let sequences = write && kind != ReaderKind::Ctf && kind != ReaderKind::HtkDeserializers;
    let common = Common {
        frame_mode: frame_mode && !sequences,
        precision: precision(section)?,
        trace_level,
    };
    let randomization = randomization(section, kind)?;
    let mut notes = Vec::new();
    let htk = match is_htk {
        true => Some(htk_options(section, kind, randomization.0, write, &mut notes)?),
        false => None,
    };
    let deserializers = match kind {
        ReaderKind::Composite => composite(section, common, &mut names)?,
        ReaderKind::Ctf => {
            vec![Deserializer::Ctf(ctf::deserializer(section, common, &mut names)?)]
        }
        ReaderKind::HtkMlf | ReaderKind::HtkDeserializers => {
            let only_features = write && kind == ReaderKind::HtkMlf;
            streams(section, kind, common, only_features, &mut names)?
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
        right_splice: match truncated && !sequences {
            true => section.u64("rightSplice")?.unwrap_or(0),
            false => 0,
        },
        precision: common.precision,
        max_errors: section.u64("maxErrors")?.unwrap_or(0),
        trace_level: trace_level.unwrap_or(1),
        keep_data_in_memory: boolean("keepDataInMemory", false)?,
        local_timeline: boolean("localTimeline", true)?,
        use_numeric_sequence_keys: boolean("useNumericSequenceKeys", only_ctf)?,
        hash_sequence_keys: boolean("hashSequenceKeys", false)?,
        write,
        htk,
        deserializers,
        unknown: names.unknown,
        ignored: names.ignored,
        notes,
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
        // Here CNTK does not look in outer sections.
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

/// The windows by the names of CNTK's `MinibatchSource`: the one in samples, if it is not 0, else
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

fn htk_options(
    section: &Section,
    kind: ReaderKind,
    randomize: Randomize,
    write: bool,
    notes: &mut Vec<String>,
) -> Result<HtkReader> {
    if section.boolean("legacyMode")?.unwrap_or(false) {
        let message = "legacy mode has been deprecated";
        return Err(section.error(message.into()).with_help("remove legacyMode"));
    }
    let mut read_method = match section.get("readMethod")? {
        None => ReadMethod::BlockRandomize,
        Some(value) => read_method(&value, kind)?,
    };
    // The older reader ignores it when it writes.
    if write && kind == ReaderKind::HtkDeserializers && read_method != ReadMethod::None {
        let message = "'readMethod' must be 'none' for write action.";
        return Err(section.error(message.into()).with_help("write readMethod=none"));
    }
    let off = matches!(randomize, Randomize::Off | Randomize::Frames(0));
    if read_method == ReadMethod::BlockRandomize && off && !write {
        read_method = ReadMethod::None;
        notes.push(
            "randomize=none: utterances come in the order of the script, as CNTK's document says; \
             CNTK itself wants readMethod=none too"
                .to_owned(),
        );
    }
    let parallel_utterances = match section.get("nbruttsineachrecurrentiter")? {
        None => vec![1],
        Some(value) => parallel_utterances(&value)?,
    };
    let partial_minibatches = match section.get("minibatchMode")? {
        None => true,
        Some(value) => {
            let modes = [("partial", true), ("full", false)];
            one_of(&value, &modes, "minibatchMode must be 'partial' or 'full'.")?
        }
    };
    Ok(HtkReader {
        read_method,
        partial_minibatches,
        parallel_utterances,
        mersenne_twister: section.boolean("useMersenneTwisterRand")?.unwrap_or(false),
    })
}

fn read_method(value: &Value, kind: ReaderKind) -> Result<ReadMethod> {
    let methods = [
        ("blockRandomize", ReadMethod::BlockRandomize),
        ("none", ReadMethod::None),
        ("rollingWindow", ReadMethod::RollingWindow),
    ];
    if kind == ReaderKind::HtkMlf {
        let message = "readMethod must be 'blockRandomize', 'rollingWindow' or 'none'.";
        return one_of(value, &methods, message);
    }
    let message = "readMethod must be 'blockRandomize' or 'none'.";
    if value.text()?.eq_ignore_ascii_case("rollingWindow") {
        let error = value.error(message.into());
        return Err(error.with_help("rollingWindow is for readerType=HTKMLFReader only"));
    }
    one_of(value, &methods[..2], message)
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
    // A single section without the brackets of an array.
    if value.form() == ValueForm::Section
        && elements.iter().any(|one| one.form() != ValueForm::Section)
    {
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
    names: &mut WithoutEffect,
) -> Result<Vec<Deserializer>> {
    let kind = ReaderKind::Composite;
    let mut deserializers = Vec::new();
    for one in deserializer_sections(section)? {
        let value = one.require("type")?;
        let name = value.text()?;
        let named = |known: &str| name.eq_ignore_ascii_case(known);
        let primary = deserializers.is_empty();
        if named("CNTKTextFormatDeserializer") {
            names.collect(&one, known::CTF_DESERIALIZER)?;
            deserializers.push(Deserializer::Ctf(ctf::deserializer(&one, common, names)?));
            continue;
        }
        let binary = named("HTKMLFBinaryDeserializer");
        if !binary && !named("HTKFeatureDeserializer") && !named("HTKMLFDeserializer") {
            let message = format!("deserializer '{name}' is not supported");
            return Err(value.error(message).with_help(DESERIALIZERS));
        }
        names.collect(&one, known::HTK_DESERIALIZER)?;
        let input = htk::input(&one, names)?;
        let common = common.of_deserializer(&one)?;
        if named("HTKFeatureDeserializer") {
            deserializers.push(htk::features(&input, kind, common, primary, names)?);
        } else if primary {
            let message = "MLFDeserializer currently does not support primary mode.";
            return Err(value.error(message.into()).with_help("let the features come first"));
        } else {
            deserializers.push(htk::labels(&input, kind, binary, common, names)?);
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
    only_features: bool,
    names: &mut WithoutEffect,
) -> Result<Vec<Deserializer>> {
    let mut features = Vec::new();
    let mut labels = Vec::new();
    for name in section.names() {
        if names.add_known(section, name, known::HTK_READER)? {
            continue;
        }
        let Some(value) = section.own(name)? else { continue };
        let inner = match value.form() {
            ValueForm::Section => Some(value.section()?),
            _ => None,
        };
        let has = |name: &str| inner.as_ref().is_some_and(|inner| inner.has_own(name));
        if has("scpFile") {
            features.push(value);
        } else if has("mlfFile") || has("mlfFileList") {
            if only_features {
                names.add_ignored(section, name, "with action=write only features are read");
            } else {
                labels.push(value);
            }
        } else if has("phoneFile") || has("denlatTocFile") {
            let message = format!("{name}: lattices and phone models are not supported");
            return Err(value.error(message).with_help("supported: features and labels"));
        } else {
            names.add_unknown(section, name, known::HTK_READER);
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
        streams.push(htk::features(value, kind, common, streams.is_empty(), names)?);
    }
    for value in &labels {
        streams.push(htk::labels(value, kind, false, common, names)?);
    }
    Ok(streams)
}
