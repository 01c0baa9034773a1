//! Sections for HTK's files.

use seqfeed_core::Result;

use super::super::section::Section;
use super::super::section::{Value, ValueForm};
use super::ctf::Common;
use super::known::{self, WithoutEffect};
use super::words::positive;
use super::{Deserializer, HtkFeatures, HtkMlf, MlfFiles, ReaderKind};

/// The stream of a deserializer's `input` section. As in CNTK, only the first one counts.
pub(super) fn input(section: &Section, names: &mut WithoutEffect) -> Result<Value> {
    let input = section.require("input")?.section()?;
    let mut first = None;
    for name in input.names() {
        if names.add_known(&input, name, known::HTK_INPUT)? {
            continue;
        }
        match input.own(name)? {
            Some(value) if first.is_none() && value.form() == ValueForm::Section => {
                first = Some(value);
            }
            _ => names.add_unknown(&input, name, known::HTK_INPUT),
        }
    }
    first.ok_or_else(|| {
        section
            .error("the \"input\" section names no stream".into())
            .with_help("input = [ features = [ dim = 33 ; scpFile = \"a.scp\" ] ]")
    })
}

/// The most frames of a chunk: after more, CNTK begins a new chunk.
const FRAMES_PER_CHUNK: u64 = 90_000;

fn frames_per_chunk(section: &Section) -> Result<u64> {
    section.get("framesPerChunk")?.map_or(Ok(FRAMES_PER_CHUNK), |value| positive(&value))
}

/// Reads a stream of features. `primary` says that its deserializer is the first one.
pub(super) fn features(
    value: &Value,
    kind: ReaderKind,
    common: Common,
    primary: bool,
    names: &mut WithoutEffect,
) -> Result<Deserializer> {
    let section = value.section()?;
    let name = value.name().to_owned();
    names.collect(&section, known::HTK_FEATURES)?;
    if kind != ReaderKind::Composite {
        check_type(&section, &["type"], "real", "Feature type must be of type 'real'.")?;
    }
    let context_window = context_window(&section)?;
    let expand_to_utterance = section.boolean("expandToUtterance")?.unwrap_or(false);
    if expand_to_utterance && primary {
        let message = format!(
            "Cannot expand utterances of the primary stream {name}, please change your \
             configuration."
        );
        return Err(value.error(message).with_help("let another stream come first"));
    }
    let Some(dim) = section.get("dim")? else {
        let message = "Features must specify dimension: 'dim' property is missing.";
        return Err(value.error(message.into()).with_help(format!("add dim=... to {name}")));
    };
    let dim = positive(&dim)?;
    let max_sequence_size = match kind {
        ReaderKind::HtkMlf => Some(section.u64("maxUtteranceLength")?.unwrap_or(10_000)),
        _ => around(&section, |section| section.u64("maxSequenceSize"))?,
    };
    let features = HtkFeatures {
        scp_file: section.require("scpFile")?.text()?,
        dim,
        context_window,
        expand_to_utterance,
        prefix_path_in_scp: prefix_path(&section)?,
        defines_mb_size: defines_mb_size(&section)?,
        max_sequence_size,
        frames_per_chunk: frames_per_chunk(&section)?,
        frame_mode: common.frame_mode,
        precision: common.precision,
        trace_level: common.trace_level.unwrap_or(1),
        name,
    };
    let (left, right) = context_window;
    let frames = left.checked_add(right).and_then(|sum| sum.checked_add(1));
    if frames.and_then(|frames| frames.checked_mul(dim)).is_none() {
        let message = format!("{dim} values in a window of {left}:{right} are too many");
        return Err(value.error(message).with_help("make dim or contextWindow smaller"));
    }
    Ok(Deserializer::HtkFeatures(features))
}

/// `contextWindow` as frames to the left and to the right.
fn context_window(section: &Section) -> Result<(u64, u64)> {
    let Some(value) = section.get("contextWindow")? else { return Ok((0, 0)) };
    let numbers = value.array()?.iter().map(Value::u64).collect::<Result<Vec<_>>>()?;
    match numbers[..] {
        [odd] if odd % 2 == 1 => Ok((odd / 2, odd / 2)),
        [even] => Err(value
            .error(format!("Neighbor expansion of input features to {even} is not symmetrical."))
            .with_help("one number must be odd; two (left:right) may be any")),
        [left, right] => Ok((left, right)),
        _ => {
            let found = numbers.len();
            let message =
                format!("contextWindow must have 1 or 2 values specified, found {found}.");
            Err(value.error(message).with_help("contextWindow=11, or contextWindow=5:5"))
        }
    }
}

fn prefix_path(section: &Section) -> Result<Option<String>> {
    let Some(text) = section.text("prefixPathInSCP")? else { return Ok(None) };
    let slashes = text.replace('\\', "/");
    let path = slashes.trim_end_matches('/');
    Ok((!path.is_empty()).then(|| format!("{path}/")))
}

/// Reads a stream of labels.
pub(super) fn labels(
    value: &Value,
    kind: ReaderKind,
    binary: bool,
    common: Common,
    names: &mut WithoutEffect,
) -> Result<Deserializer> {
    const CLASSES: u64 = 65_535;
    let section = value.section()?;
    let name = value.name().to_owned();
    names.collect(&section, known::HTK_LABELS)?;
    if kind != ReaderKind::Composite {
        let names: &[&str] = if section.has("labelType") { &["labelType"] } else { &["type"] };
        check_type(&section, names, "category", "Label type must be of type 'category'.")?;
    }
    let dim_name = if section.has("labelDim") { "labelDim" } else { "dim" };
    let Some(dim) = section.get(dim_name)? else {
        let message = "Labels must specify dimension: 'dim/labelDim' property is missing.";
        return Err(value.error(message.into()).with_help(format!("add labelDim=... to {name}")));
    };
    let dim = positive(&dim)?;
    if dim > CLASSES {
        let message =
            format!("Label dimension ({dim}) exceeds the maximum allowed value ({CLASSES})");
        return Err(value.error(message).with_help("labelDim is the number of classes"));
    }
    let phone_boundaries = section.boolean("phoneBoundaries")?.unwrap_or(false);
    if phone_boundaries && common.frame_mode {
        let message = "frameMode and phoneBoundaries are mutually exclusive options.";
        return Err(value.error(message.into()).with_help("set frameMode=false"));
    }
    Ok(Deserializer::HtkMlf(HtkMlf {
        name,
        files: mlf_files(value, &section)?,
        binary,
        dim,
        label_mapping_file: not_empty(section.text("labelMappingFile")?),
        phone_boundaries,
        label_to_target_mapping_file: not_empty(section.text("labelToTargetMappingFile")?),
        target_dim: section.u64("targetDim")?,
        defines_mb_size: defines_mb_size(&section)?,
        frame_mode: common.frame_mode,
        precision: common.precision,
        trace_level: common.trace_level.unwrap_or(1),
    }))
}

fn mlf_files(value: &Value, section: &Section) -> Result<MlfFiles> {
    if section.has_own("mlfFile") {
        return Ok(MlfFiles::Files(vec![section.require("mlfFile")?.text()?]));
    }
    if !section.has_own("mlfFileList") {
        let message = "Either mlfFile or mlfFileList must exist in the reader configuration.";
        return Err(value.error(message.into()).with_help("add mlfFile=..."));
    }
    let list = section.require("mlfFileList")?;
    if list.form() == ValueForm::Text {
        let text = list.text()?;
        // A colon after a single letter belongs to a Windows drive.
        let drive = text.as_bytes().get(1) == Some(&b':') && !text[2..].contains(':');
        if !text.contains(':') || drive {
            return Ok(MlfFiles::List(text));
        }
    }
    let files = list.array()?.iter().map(Value::text).collect::<Result<Vec<_>>>()?;
    if files.is_empty() {
        return Err(list.error("mlfFileList names no files".into()).with_help("(a.mlf : b.mlf)"));
    }
    Ok(MlfFiles::Files(files))
}

fn defines_mb_size(section: &Section) -> Result<bool> {
    Ok(around(section, |section| section.boolean("definesMBSize"))?.unwrap_or(false))
}

/// Reads an option from the sections around a stream's section. CNTK does not look in the stream's
/// own.
fn around<T>(section: &Section, read: impl Fn(&Section) -> Result<Option<T>>) -> Result<Option<T>> {
    section.around().map_or(Ok(None), read)
}

/// Checks that the first given one of these names has the only possible value.
fn check_type(section: &Section, names: &[&str], only: &str, message: &str) -> Result<()> {
    for name in names {
        if let Some(value) = section.get(name)?
            && !value.text()?.eq_ignore_ascii_case(only)
        {
            return Err(value.error(message.into()).with_help(format!("write {name}={only}")));
        }
    }
    Ok(())
}

fn not_empty(text: Option<String>) -> Option<String> {
    text.filter(|text| !text.is_empty())
}
