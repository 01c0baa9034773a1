//! Errors for unknown keys, options and values, with suggestions.

use seqfeed_core::{Error, nearest_name};
use toml::Value;

use super::corpus::{InputSpec, StreamSpec};
use super::mix::{ComponentSpec, MixSpec};
use super::option::CorpusOption;
use super::table::{SECTIONS, options};

/// The error for a key that a section does not have.
pub(super) fn key(section: &str, key: &str) -> Error {
    let whole = match section {
        "" => "at the top".to_owned(),
        section => format!("in [{section}]"),
    };
    let error = Error::usage(format!("description: unknown key `{key}` {whole}"));
    let all = options();
    if key == "cut" {
        return error.with_help(
            "write preset = \"cntk\" for worker, \"cntk-timeline\" for timeline, \"pdnn\" for \
             partitions, \"none\" for steps",
        );
    }
    if let Some(option) = all.iter().find(|option| option.name == key) {
        return error.with_help(format!("`{key}` stands {}", where_it_stands(option)));
    }
    let known = keys_of(section, &all);
    let near = nearest_name(key, known.iter().copied());
    let elsewhere = || nearest_name(key, all.iter().map(|option| option.name));
    let stands = |name: &str| {
        let option = all.iter().find(|option| option.name == name)?;
        Some(format!("did you mean `{name}`? It stands {}", where_it_stands(option)))
    };
    match (near, elsewhere().and_then(stands)) {
        (Some(near), _) => error.with_help(format!("did you mean `{near}`?")),
        (None, Some(help)) => error.with_help(help),
        (None, None) => error.with_help(format!("the keys here are {}", known.join(", "))),
    }
}

/// The error for an unknown section.
pub(super) fn section(name: &str) -> Error {
    let named = ["streams.NAME", "inputs.NAME", "overrides", "mix", "mix.NAME"];
    let known = SECTIONS.iter().copied().filter(|section| !section.is_empty()).chain(named);
    let first = |section: &str| section.split('.').next().unwrap_or_default().to_owned();
    let words: Vec<String> = known.clone().map(first).collect();
    let near = nearest_name(name, words.iter().map(String::as_str));
    let meant = near.and_then(|near| known.clone().find(|section| first(section) == near));
    let help = match meant {
        Some(meant) => format!("did you mean [{meant}]?"),
        None => format!("the sections are [{}]", known.collect::<Vec<_>>().join("], [")),
    };
    Error::usage(format!("description: unknown section [{name}]")).with_help(help)
}

/// The error for an unknown option.
pub(super) fn option(name: &str) -> Error {
    let all = options();
    let names = || all.iter().map(|option| option.name);
    let help = match nearest_name(name, names()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("the options are {}", names().collect::<Vec<_>>().join(", ")),
    };
    Error::usage(format!("there is no option `{name}`")).with_help(help)
}

/// The error for a value that a key does not take.
pub(super) fn value(place: &str, expected: &str, found: &Value) -> Error {
    let error = Error::usage(format!("{place}: expected {expected}, found {found}"));
    let words = expected.split('`').skip(1).step_by(2);
    match found.as_str().and_then(|found| nearest_name(found, words)) {
        Some(near) => error.with_help(format!("did you mean `{near}`?")),
        None => error,
    }
}

/// The place of an option's key.
fn where_it_stands(option: &CorpusOption) -> String {
    match (option.section, option.key) {
        ("", _) => "at the top, before all sections".to_owned(),
        (section, key) if key == option.name => format!("in [{section}]"),
        (section, key) => format!("in [{section}] as `{key}`"),
    }
}

/// The keys of a section. For the top, also the sections.
fn keys_of(section: &str, all: &[CorpusOption]) -> Vec<&'static str> {
    let keys = |options: &[CorpusOption]| options.iter().map(|option| option.key).collect();
    if section.starts_with("streams.") {
        return keys(StreamSpec::OPTIONS);
    } else if section.starts_with("inputs.") {
        return keys(InputSpec::OPTIONS);
    } else if section.starts_with("mix.") {
        return keys(ComponentSpec::OPTIONS);
    } else if section == "mix" {
        return keys(MixSpec::OPTIONS);
    }
    let mut known: Vec<&str> =
        all.iter().filter(|option| option.section == section).map(|option| option.key).collect();
    if section.is_empty() {
        known.extend(["streams", "inputs", "overrides", "mix"]);
        known.extend(SECTIONS.iter().filter(|section| !section.is_empty()));
    }
    known
}
