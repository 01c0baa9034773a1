//! Names that CNTK reads, but of which nothing comes where they stand.

use seqfeed_core::Result;

use super::super::section::Section;
use super::build::deserializer_sections;
use super::known;
use super::{Deserializer, Precision, ReaderConfig, ReaderKind};

/// A setting that has no effect, in CNTK as here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IgnoredKey {
    /// Where it stands, as in [`UnknownKey`](super::UnknownKey).
    pub path: String,
    /// Why it has none.
    pub reason: &'static str,
}

/// Randomization, which is the reader's.
const RANDOMIZATION: [&str; 4] =
    ["randomize", "randomizationWindow", "sampleBasedRandomizationWindow", "randomizationSeed"];

pub(super) fn collect(section: &Section, reader: &ReaderConfig) -> Result<Vec<IgnoredKey>> {
    let mut ignored = Vec::new();
    match reader.kind {
        ReaderKind::Composite => composite(section, reader, &mut ignored)?,
        ReaderKind::Ctf => {
            let truncated = section.own("truncated")?.map(|value| value.boolean()).transpose()?;
            if truncated == Some(true) {
                let reason = "readers that stand alone do not truncate sequences: one with \
                              deserializers does";
                ignored.push(key(section, "truncated", reason));
            }
        }
        ReaderKind::HtkMlf | ReaderKind::HtkDeserializers => {}
    }
    Ok(ignored)
}

fn composite(
    section: &Section,
    reader: &ReaderConfig,
    ignored: &mut Vec<IgnoredKey>,
) -> Result<()> {
    let only_ctf = reader.deserializers.iter().all(|one| matches!(one, Deserializer::Ctf(_)));
    if section.has_own("maxErrors") && reader.max_errors > 0 && only_ctf {
        let reason = "the reader's counts invalid sequences of HTK labels; errors in CTF files \
                      are allowed by maxErrors of the deserializer";
        ignored.push(key(section, "maxErrors", reason));
    }
    for name in ["truncationLength", "rightSplice"] {
        if section.has_own(name) && section.u64(name)?.is_some_and(|n| n > 0) && !reader.truncated {
            ignored.push(key(section, name, "sequences are not truncated: truncated is not true"));
        }
    }
    for one in deserializer_sections(section)? {
        let is_ctf = |name: String| name.eq_ignore_ascii_case("CNTKTextFormatDeserializer");
        if !one.text("type")?.is_some_and(is_ctf) {
            continue;
        }
        for name in RANDOMIZATION.into_iter().filter(|name| one.has_own(name)) {
            ignored.push(key(&one, name, "randomization is set in the reader's own section"));
        }
        let frame_mode = one.own("frameMode")?.map(|value| value.boolean()).transpose()?;
        if frame_mode.is_some_and(|frame_mode| frame_mode != reader.frame_mode) {
            ignored.push(key(&one, "frameMode", "that of the reader's own section counts"));
        }
        let double = reader.precision == Precision::Double;
        let precision = one.own("precision")?.map(|value| value.text()).transpose()?;
        if precision.is_some_and(|precision| precision.eq_ignore_ascii_case("double") != double) {
            ignored.push(key(&one, "precision", "that of the reader's own section counts"));
        }
    }
    Ok(())
}

fn key(section: &Section, name: &str, reason: &'static str) -> IgnoredKey {
    IgnoredKey { path: known::key(section, name, &[]).path, reason }
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
            (format!("{alone};truncated=true;truncationLength=4"), &["truncated"]),
            (format!("{alone};truncated=false;maxErrors=4;randomize=none"), &[]),
        ];
        for (text, expected) in cases {
            let section = super::super::super::Config::parse("f", &text).unwrap();
            let reader = ReaderConfig::from_section(&section).unwrap();
            let found: Vec<&str> = reader.ignored.iter().map(|key| key.path.as_str()).collect();
            assert_eq!(found, expected, "{text}");
        }
    }
}
