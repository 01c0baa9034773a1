//! What is made of the table of options: the tables in `docs/feeding.md` and Python's keywords.
//! `cargo xtask docs` writes them.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use seqfeed::{
    CorpusOption, OptionScope, OptionValues, component_options, input_options, mix_options,
    options, stream_options,
};

use crate::book::docs;

/// Compares a file with what is made today, or writes it.
fn is_up_to_date(path: &Path, expected: &str) {
    if std::env::var("TRYCMD").is_ok_and(|how| how == "overwrite") {
        return fs::write(path, expected).unwrap();
    }
    let found = fs::read_to_string(path).unwrap();
    assert!(found == expected, "{} is old: run cargo xtask docs", path.display());
}

/// Documentation as one line.
fn line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The words that a value can be, as a table has them.
fn choices(option: &CorpusOption) -> String {
    match option.values {
        OptionValues::Words(words) => format!(" (`{}`)", words.join("`, `")),
        _ => String::new(),
    }
}

fn table(name: &str) -> String {
    let rows: Vec<CorpusOption> = match name {
        "streams.NAME" => stream_options().to_vec(),
        "inputs.NAME" => input_options().to_vec(),
        "mix.NAME" => component_options().to_vec(),
        "mix" => mix_options().to_vec(),
        "short" => {
            options().into_iter().filter(|one| one.section.starts_with("streams.")).collect()
        }
        "top" => options().into_iter().filter(|one| one.section.is_empty()).collect(),
        name => options().into_iter().filter(|one| one.section == name).collect(),
    };
    assert!(!rows.is_empty(), "no options of {name}");
    let short = name == "short";
    let mut text = match short {
        true => "| option | key | meaning |\n| --- | --- | --- |\n".to_owned(),
        false => "| key | meaning | default |\n| --- | --- | --- |\n".to_owned(),
    };
    for option in rows {
        let meaning = format!("{}{}", line(option.doc).trim_end_matches('.'), choices(&option));
        let meaning = meaning.replace('|', "\\|");
        let (name, key) = (option.name, option.key);
        let row = match short {
            true => format!("| `--{name}` | `{}` | {meaning} |", option.place()),
            false => format!("| `{key}` | {meaning} | {} |", option.default),
        };
        writeln!(text, "{row}").unwrap();
    }
    text
}

#[test]
fn the_tables_of_the_book_are_those_of_the_program() {
    const BEGIN: &str = "<!-- options: ";
    const END: &str = "<!-- end of options -->";
    for (page, tables) in [("feeding.md", 10), ("mixtures.md", 2), ("segments.md", 1)] {
        let path = docs().join(page);
        let page = fs::read_to_string(&path).unwrap();
        let mut parts = page.split(BEGIN);
        let mut made = parts.next().unwrap().to_owned();
        let mut found = 0;
        for part in parts {
            let (name, rest) = part.split_once(" -->").unwrap();
            let (_, rest) = rest.split_once(END).unwrap();
            write!(made, "{BEGIN}{name} -->\n\n{}\n{END}{rest}", table(name)).unwrap();
            found += 1;
        }
        assert_eq!(found, tables, "{}", path.display());
        is_up_to_date(&path, &made);
    }
}

/// The type of an option's values in Python.
fn python_type(option: &CorpusOption) -> String {
    match option.values {
        OptionValues::Flag => "bool".to_owned(),
        OptionValues::Unsigned | OptionValues::Integer => "int".to_owned(),
        OptionValues::Real => "float".to_owned(),
        OptionValues::Name => "Name".to_owned(),
        OptionValues::Names => "Name | Sequence[Name]".to_owned(),
        OptionValues::Numbers => "int | Sequence[int]".to_owned(),
        OptionValues::Transforms => "Transform | Sequence[Transform]".to_owned(),
        OptionValues::Words(words) => format!("Literal[\"{}\"]", words.join("\", \"")),
        _ if option.key == "context" => "str | int | tuple[int, int]".to_owned(),
        _ => "str | int".to_owned(),
    }
}

/// A docstring or comment of lines that are not too long.
fn wrapped(text: &str, indent: &str) -> String {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let last = lines.last_mut().unwrap();
        if !last.is_empty() && indent.len() + last.len() + word.len() > 88 {
            lines.push(word.to_owned());
        } else {
            last.push_str(if last.is_empty() { "" } else { " " });
            last.push_str(word);
        }
    }
    lines.join(&format!("\n{indent}"))
}

fn keywords(class: &str, doc: &str, scope: OptionScope) -> String {
    let mut text = format!("\n\nclass {class}, total=False):\n    \"\"\"{doc}\"\"\"\n");
    for option in options().iter().filter(|option| option.scope == scope) {
        let doc = line(option.doc).replace('`', "``").replace('\\', "\\\\");
        let doc = match option.default {
            "" => doc,
            default => format!("{doc} Default: {default}."),
        };
        let name = option.name.replace('-', "_");
        let doc = wrapped(&doc, "    ");
        write!(text, "\n    {name}: {}\n    \"\"\"{doc}\"\"\"\n", python_type(option)).unwrap();
    }
    text
}

#[test]
fn the_keywords_of_python_are_the_options() {
    let mut text = "\
\"\"\"The options of corpora and feeds, as keywords. ``cargo xtask docs`` writes this file out of the
table of options.\"\"\"

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypedDict, Union

Name = Union[str, \"os.PathLike[str]\"]
Transform = Union[str, Mapping[str, Any]]
"
    .to_owned();
    let doc = "What a corpus is made of: keywords of ``open``, ``convert`` and ``Feed``.";
    text += &keywords("CorpusOptions(TypedDict", doc, OptionScope::Corpus);
    text += "\n\nclass TableOptions(CorpusOptions, total=False):\n    \"\"\"These, and whole \
             sections of a ``corpus.toml``: keywords of ``open`` and ``Feed``.\"\"\"\n
    streams: Mapping[str, Mapping[str, Any]]
    \"\"\"The sections ``[streams.NAME]``, by name.\"\"\"\n
    inputs: Mapping[str, Mapping[str, Any]]
    \"\"\"The sections ``[inputs.NAME]``, by name.\"\"\"\n
    mix: Mapping[str, Any]
    \"\"\"A mixture of corpora: the keys of ``[mix]``, and the sections ``[mix.NAME]`` by name.\"\"\"\n";
    let doc = "How a corpus is fed: keywords of ``Feed``.";
    text += &keywords("FeedOptions(TableOptions", doc, OptionScope::Feed);
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    is_up_to_date(&path.join("../../python/python/seqfeed/_options.py"), &text);
}
