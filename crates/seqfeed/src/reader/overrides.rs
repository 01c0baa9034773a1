//! Overrides of a configuration, as on CNTK's command line: `ScpDir=.`,
//! `Train.reader.randomize=none`.

use std::collections::BTreeMap;

use seqfeed_cntk::config::{ReaderConfig, path};
use seqfeed_core::{Error, Result, nearest_name};
use seqfeed_io::{Opener, name_from_text};
use toml::Value;

use crate::data_spec::DataOptions;
use crate::description::Text;

/// The name of a configuration, without the overrides behind it.
pub(super) struct Split {
    /// With the options that may stand behind any name.
    pub(super) name: String,
    pub(super) overrides: BTreeMap<String, Text>,
}

/// Splits `train.cntk#Train.reader,ScpDir=.,context=5`. `None` if the name is not a configuration,
/// or if nothing stands behind it.
/// Anything that is not an option of a data specification is an override. Commas in braces and
/// quotes do not separate.
///
/// # Errors
///
/// A usage error if an override has no value.
pub(super) fn split(name: &str, opener: &Opener) -> Result<Option<Split>> {
    let is_file = || opener.exists(&opener.place(name_from_text(name)));
    let Some(end) = options_start(name).filter(|_| !is_file()) else {
        return Ok(None);
    };
    let mut split = Split { name: name[..end].to_owned(), overrides: BTreeMap::new() };
    for element in elements(&name[end + 1..]) {
        let (key, value) = match element.split_once('=') {
            Some((key, value)) if !key.trim().is_empty() => (key, value),
            _ => {
                return Err(Error::usage(format!(
                    "`{element}` behind {} has no value",
                    &name[..end]
                ))
                .with_help("write NAME=VALUE: an option, or an override of the configuration"));
            }
        };
        if DataOptions::KEYS.contains(&key) {
            split.name.push(',');
            split.name.push_str(element);
        } else {
            split.overrides.insert(key.trim().to_owned(), Text::Word(value.to_owned()));
        }
    }
    Ok(Some(split))
}

/// The start of the options behind a configuration's name.
fn options_start(name: &str) -> Option<usize> {
    let from = match name.find('#') {
        Some(hash) => {
            let (file, _) = path::split(&name[..=hash]);
            is_configuration(file).then_some(hash)
        }
        None => [".cntk,", ".config,"].iter().find_map(|end| {
            let at = name.to_ascii_lowercase().find(end)?;
            Some(at + end.len() - 1)
        }),
    }?;
    Some(from + name[from..].find(',')?)
}

/// Whether a file name is that of a configuration.
pub(super) fn is_configuration(file: &str) -> bool {
    let file = file.to_ascii_lowercase();
    file.ends_with(".cntk") || file.ends_with(".config")
}

/// The parts between commas outside of braces and quotes.
fn elements(text: &str) -> Vec<&str> {
    let (mut depth, mut quoted, mut start) = (0usize, false, 0);
    let mut elements = Vec::new();
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'"' => quoted = !quoted,
            _ if quoted => {}
            b'[' | b'(' | b'{' => depth += 1,
            b']' | b')' | b'}' => depth = depth.saturating_sub(1),
            b',' if depth == 0 => {
                elements.push(&text[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    elements.push(&text[start..]);
    elements
}

/// The configuration line of an override. Dots in its name mean nested sections.
fn line(name: &str, value: &str) -> Result<String> {
    let parts: Vec<&str> = name.split('.').collect();
    let is_name = |part: &&str| {
        !part.is_empty() && !part.contains(|c: char| c.is_control() || "=[](){}\",;#".contains(c))
    };
    if !parts.iter().all(is_name) || value.contains(['\n', '\r']) {
        let message =
            format!("{} cannot override anything", Value::String(format!("{name}={value}")));
        return Err(
            Error::usage(message).with_help("write NAME=VALUE, or SECTION.NAME=VALUE, in one line")
        );
    }
    let is_bare = value.starts_with(['[', '{', '(', '"'])
        || !value.is_empty()
            && !value.contains([',', ';', '[', ']', '{', '}', '(', ')', ' ', '\t']);
    let value = if is_bare { value.to_owned() } else { format!("\"{value}\"") };
    let Some((last, around)) = parts.split_last() else { return Ok(String::new()) };
    let mut line = format!("{last}={value}");
    for section in around.iter().rev() {
        line = format!("{section}=[{line}]");
    }
    Ok(line)
}

/// A reader of a configuration with overrides, and warnings about overrides that change nothing.
///
/// # Errors
///
/// The same as [`ReaderConfig::load`], or if an override is invalid.
pub(super) fn load(
    file: &str,
    section: &str,
    overrides: &BTreeMap<String, Text>,
    opener: &Opener,
) -> Result<(ReaderConfig, Vec<String>)> {
    let given = overrides.iter().map(|(name, value)| Ok((name, line(name, &value.text())?)));
    let given: Vec<(&String, String)> = given.collect::<Result<_>>()?;
    let with = |left_out: Option<&String>| {
        let lines = given.iter().filter(|(name, _)| Some(*name) != left_out);
        let lines: Vec<&str> = lines.map(|(_, line)| line.as_str()).collect();
        ReaderConfig::load(file, section, &lines, opener)
    };
    let reader = with(None)?;
    let mut warnings = Vec::new();
    for (name, _) in &given {
        if with(Some(name)).is_ok_and(|without| without == reader) {
            let meant = match nearest_name(name, DataOptions::KEYS) {
                Some(option) => format!("; is the option `{option}` meant?"),
                None => String::new(),
            };
            warnings.push(format!("the override {name} changes nothing in the reader{meant}"));
        }
    }
    Ok((reader, warnings))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn options_stay_with_the_name_and_the_rest_overrides() {
        let found = |name: &str| {
            split(name, &Opener::default()).unwrap().map(|split| {
                let overrides = split.overrides.iter();
                let each = overrides.map(|(name, value)| format!("{name}={}", value.text()));
                (split.name, each.collect::<Vec<_>>())
            })
        };
        let some = |name: &str, overrides: &[&str]| {
            Some((name.to_owned(), overrides.iter().map(ToString::to_string).collect()))
        };
        let cases = [
            ("a.cntk#r", None),
            ("a.ctf,context=5", None),
            ("a.parquet#x,y=1", None),
            ("reader.json,x=1", None),
            ("a.cntk,D=.", some("a.cntk", &["D=."])),
            ("a.cntk#T.r,D=/x y,context=5", some("a.cntk#T.r,context=5", &["D=/x y"])),
            (
                "a.config#r,T=[r=[a=1,b=2]],T.x=\"1,2\"",
                some("a.config#r", &["T=[r=[a=1,b=2]]", "T.x=\"1,2\""]),
            ),
        ];
        for (name, expected) in cases {
            assert_eq!(found(name), expected, "{name}");
        }
        for name in ["a.cntk#r,", "a.cntk#r,D", "a.cntk#r,=x"] {
            assert!(split(name, &Opener::default()).is_err_and(|error| error.is_usage()), "{name}");
        }
    }

    #[test]
    fn dots_are_sections_in_one_another() {
        let cases = [
            ("D", "/a", "D=/a"),
            ("D", "/a,b", "D=\"/a,b\""),
            ("D", "", "D=\"\""),
            ("T.r.file", "x", "T=[r=[file=x]]"),
            ("T", "[r=[a=1]]", "T=[r=[a=1]]"),
        ];
        for (name, value, expected) in cases {
            assert_eq!(line(name, value).unwrap(), expected);
        }
        for (name, value) in [("", "x"), ("a..b", "x"), ("a=b", "x"), ("a", "x\ny=1")] {
            assert!(line(name, value).is_err(), "{name}={value}");
        }
    }
}
