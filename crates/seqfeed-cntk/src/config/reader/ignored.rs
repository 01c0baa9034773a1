//! Names that readers know, but that have no effect because of other settings.

use seqfeed_core::Result;

use super::super::section::Section;
use super::super::section::{Value, ValueForm};
use super::build::deserializer_sections;
use super::known::WithoutEffect;
use super::{Deserializer, Precision, Randomize, ReadMethod, ReaderConfig, ReaderKind};

/// Randomization, which belongs to the reader.
const RANDOMIZATION: [&str; 4] =
    ["randomize", "randomizationWindow", "sampleBasedRandomizationWindow", "randomizationSeed"];
/// The settings of shuffle windows, beside CNTK's newer names for them.
const WINDOW: [&str; 3] =
    ["randomizationWindow", "sampleBasedRandomizationWindow", "randomizationSeed"];

const READERS_OWN: &str = "that of the reader's own section counts";
const NOT_TRUNCATED: &str = "sequences are not truncated: truncated is not true";

/// Adds the settings of a reader that have no effect.
pub(super) fn collect(section: &Section, reader: &mut ReaderConfig) -> Result<()> {
    let mut names = WithoutEffect::default();
    shuffle(section, reader, &mut names)?;
    truncation(section, reader, &mut names)?;
    match reader.kind {
        ReaderKind::Composite => composite(section, reader, &mut names)?,
        ReaderKind::Ctf => {}
        ReaderKind::HtkMlf | ReaderKind::HtkDeserializers => {
            htk_reader(section, reader, &mut names)?;
            for name in section.names() {
                if let Some(value) = section.own(name)?
                    && value.form() == ValueForm::Section
                {
                    htk_stream(&value.section()?, reader, &mut names)?;
                }
            }
        }
    }
    reader.ignored.append(&mut names.ignored);
    Ok(())
}

/// Settings of a shuffle, if nothing is shuffled.
fn shuffle(section: &Section, reader: &ReaderConfig, names: &mut WithoutEffect) -> Result<()> {
    let is_given = |name: &str| Ok::<_, seqfeed_core::Error>(section.own(name)?.is_some());
    if reader.write && reader.randomize != Randomize::Off && is_given("randomize")? {
        names.add_ignored(section, "randomize", "with action=write nothing is shuffled");
    }
    if reader.window().is_none() {
        for name in WINDOW {
            if let Some(value) = section.own(name)?
                && !is_off(&value)
            {
                names.add_ignored(section, name, "nothing is shuffled");
            }
        }
    }
    let newer = ["randomizationWindowInChunks", "randomizationWindowInSamples"];
    if reader.kind == ReaderKind::Composite {
        let mut newer_given = false;
        for name in newer {
            newer_given |= section.get(name)?.is_some();
        }
        if newer_given {
            let reason = "randomizationWindowInChunks and randomizationWindowInSamples count";
            for name in &WINDOW[..2] {
                if is_given(name)? {
                    names.add_ignored(section, name, reason);
                }
            }
        }
        let sizes_window = reader.window().is_some()
            && reader.randomization_window.is_none()
            && reader.deserializers.iter().any(|one| matches!(one, Deserializer::Ctf(_)));
        if is_given("chunkSizeInBytes")? && !sizes_window {
            let reason = "in a reader's section only the default window of CTF files follows from it; \
                          the size of chunks is the deserializer's";
            names.add_ignored(section, "chunkSizeInBytes", reason);
        }
    }
    Ok(())
}

/// Whether a value turns the window off.
fn is_off(value: &Value) -> bool {
    value.u64().is_ok_and(|number| number == 0) || value.boolean().is_ok_and(|truth| !truth)
}

/// Settings of truncation, if nothing is truncated.
fn truncation(section: &Section, reader: &ReaderConfig, names: &mut WithoutEffect) -> Result<()> {
    if reader.kind == ReaderKind::Ctf {
        let truncated = section.own("truncated")?.map(|value| value.boolean()).transpose()?;
        if truncated == Some(true) {
            let reason = "readers that stand alone do not truncate sequences: one with deserializers \
                          does";
            names.add_ignored(section, "truncated", reason);
        }
    }
    for name in ["truncationLength", "rightSplice"] {
        if !reader.truncated && section.own(name)?.map(|value| value.u64()).transpose()? > Some(0) {
            names.add_ignored(section, name, NOT_TRUNCATED);
        }
    }
    // For writing, whole sequences are read.
    if reader.write && !reader.frame_mode && !reader.truncated && reader.kind != ReaderKind::Ctf {
        for name in ["frameMode", "truncated"] {
            if section.own(name)?.map(|value| value.boolean()).transpose()? == Some(true) {
                names.add_ignored(section, name, "with action=write whole sequences are read");
            }
        }
    }
    Ok(())
}

fn composite(section: &Section, reader: &ReaderConfig, names: &mut WithoutEffect) -> Result<()> {
    let is_ctf = |one: &Deserializer| matches!(one, Deserializer::Ctf(_));
    if section.has_own("maxErrors")
        && reader.max_errors > 0
        && reader.deserializers.iter().all(is_ctf)
    {
        let reason = "the reader's counts invalid sequences of HTK labels; errors in CTF files \
                      are allowed by maxErrors of the deserializer";
        names.add_ignored(section, "maxErrors", reason);
    }
    if section.has_own("keepDataInMemory")
        && reader.keep_data_in_memory
        && !reader.deserializers.iter().any(is_ctf)
    {
        names.add_ignored(section, "keepDataInMemory", "it is for CTF files only");
    }
    for (one, deserializer) in deserializer_sections(section)?.iter().zip(&reader.deserializers) {
        if is_ctf(deserializer) {
            for name in RANDOMIZATION.into_iter().filter(|name| one.has_own(name)) {
                names.add_ignored(one, name, "randomization is set in the reader's own section");
            }
        } else {
            let Some(input) = one.own("input")? else { continue };
            let input = input.section()?;
            for name in input.names() {
                if let Some(value) = input.own(name)?
                    && value.form() == ValueForm::Section
                {
                    htk_stream(&value.section()?, reader, names)?;
                }
            }
        }
        let frame_mode = one.own("frameMode")?.map(|value| value.boolean()).transpose()?;
        if frame_mode.is_some_and(|frame_mode| frame_mode != reader.frame_mode) {
            names.add_ignored(one, "frameMode", READERS_OWN);
        }
        let double = reader.precision == Precision::Double;
        let precision = one.own("precision")?.map(|value| value.text()).transpose()?;
        if precision.is_some_and(|precision| precision.eq_ignore_ascii_case("double") != double) {
            names.add_ignored(one, "precision", READERS_OWN);
        }
        let trace_level = one.own("traceLevel")?.map(|value| value.i64()).transpose()?;
        let readers = section.get("traceLevel")?.is_some_and(|value| !value.is_empty());
        if readers && trace_level.is_some_and(|level| level != reader.trace_level) {
            names.add_ignored(one, "traceLevel", READERS_OWN);
        }
    }
    Ok(())
}

/// Settings of the readers of HTK files only.
fn htk_reader(section: &Section, reader: &ReaderConfig, names: &mut WithoutEffect) -> Result<()> {
    let Some(htk) = &reader.htk else { return Ok(()) };
    let is_older = reader.kind == ReaderKind::HtkMlf;
    let mut add = |name: &str, reason| {
        if section.has_own(name) {
            names.add_ignored(section, name, reason);
        }
    };
    if !htk.partial_minibatches {
        if !is_older {
            add("minibatchMode", "HTKDeserializers gives the last minibatch in any case");
        } else if !reader.frame_mode {
            add("minibatchMode", "only minibatches of frames (frameMode=true) can be full");
        }
    }
    if htk.read_method == ReadMethod::None && matches!(reader.randomize, Randomize::Frames(1..)) {
        add("randomize", "nothing is shuffled: readMethod is none");
    }
    let counts_rows = match reader.truncated {
        true => reader.truncation_length == 0,
        false => is_older && !reader.frame_mode && !reader.write,
    };
    if htk.parallel_utterances != [1] && !counts_rows {
        let reason = "it counts rows of truncated sequences without truncationLength, and in \
                      HTKMLFReader utterances that are read side by side";
        add("nbruttsineachrecurrentiter", reason);
    }
    if !is_older && !htk.mersenne_twister {
        add("useMersenneTwisterRand", "HTKDeserializers has only that generator");
    }
    if is_older && htk.mersenne_twister && htk.read_method == ReadMethod::RollingWindow {
        add("useMersenneTwisterRand", "a rolling window draws from rand()");
    }
    if is_older {
        add("maxSequenceSize", "HTKMLFReader's name for it is maxUtteranceLength");
        if reader.max_errors > 0 {
            add("maxErrors", "HTKMLFReader leaves out what does not fit, up to half of all");
        }
    } else {
        add("maxUtteranceLength", "HTKDeserializers's name for it is maxSequenceSize");
    }
    if reader.deserializers.iter().any(Deserializer::defines_mb_size) {
        if is_older {
            add(
                "definesMBSize",
                "HTKMLFReader leaves out utterances whose streams differ in length",
            );
        } else if reader.frame_mode {
            add("definesMBSize", "in frame mode the first stream counts");
        }
    }
    Ok(())
}

/// The section of a stream.
fn htk_stream(section: &Section, reader: &ReaderConfig, names: &mut WithoutEffect) -> Result<()> {
    if section.has_own("labelDim") && section.has_own("dim") {
        names.add_ignored(section, "dim", "labelDim counts");
    }
    if section.has_own("mlfFile") && section.has_own("mlfFileList") {
        names.add_ignored(section, "mlfFileList", "mlfFile counts");
    }
    if section.has_own("maxUtteranceLength") && reader.kind != ReaderKind::HtkMlf {
        let reason = "it is for HTKMLFReader; the name is maxSequenceSize here, in `input`";
        names.add_ignored(section, "maxUtteranceLength", reason);
    }
    // The readers of HTK files have checked them.
    if reader.kind == ReaderKind::Composite {
        let holds_labels = section.has_own("mlfFile") || section.has_own("mlfFileList");
        let only = if holds_labels { "category" } else { "real" };
        for name in ["type", "labelType"].into_iter().filter(|name| section.has_own(name)) {
            if !section.text(name)?.unwrap_or_default().eq_ignore_ascii_case(only) {
                let reason = "what a stream holds follows from its deserializer";
                names.add_ignored(section, name, reason);
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn says_what_has_no_effect() {
        let ctf = "type=CNTKTextFormatDeserializer;file=f;input=[a=[dim=1;format=dense]]";
        let alone = "readerType=CNTKTextFormatReader;file=f;input=[a=[dim=1;format=dense]]";
        let composite =
            |options: &str, inner: &str| format!("{options}\ndeserializers=([{ctf};{inner}])");
        let cases = [
            (composite("maxErrors=3", "maxErrors=5"), &["maxErrors"][..]),
            (composite("maxErrors=0;rightSplice=0", "cacheIndex=true"), &[]),
            (
                composite("rightSplice=2;truncationLength=5", ""),
                &["truncationLength", "rightSplice"],
            ),
            (composite("truncated=true;rightSplice=2;truncationLength=5", ""), &[]),
            (composite("", "randomize=false"), &["deserializers[0].randomize"]),
            (composite("frameMode=true", "frameMode=true;precision=float"), &[]),
            (
                composite("precision=double", "frameMode=true;precision=float"),
                &["deserializers[0].frameMode", "deserializers[0].precision"],
            ),
            (
                format!("{alone};truncated=true;truncationLength=4"),
                &["truncated", "truncationLength"],
            ),
            (format!("{alone};truncated=false;maxErrors=4;randomize=none"), &[]),
            (format!("{alone};randomize=false;randomizationWindow=9"), &["randomizationWindow"]),
            (composite("traceLevel=1", "traceLevel=2"), &["deserializers[0].traceLevel"]),
            (
                composite("randomizationWindow=9;chunkSizeInBytes=4096;verbosity=2", ""),
                &["verbosity", "chunkSizeInBytes"],
            ),
            (
                composite("randomizationWindowInChunks=9;randomizationWindow=8", ""),
                &["randomizationWindow"],
            ),
        ];
        for (text, expected) in cases {
            let section = super::super::super::Config::parse("f", &text).unwrap();
            let reader = ReaderConfig::from_section(&section).unwrap();
            let found: Vec<&str> = reader.ignored.iter().map(|key| key.path.as_str()).collect();
            assert_eq!(found, expected, "{text}");
        }
    }
}
