//! Labels from text: `text:NAME`.

use std::os::unix::ffi::OsStrExt;
use std::sync::Arc;

use seqfeed_core::{Error, Extent, Kind, Result, Source, SymbolTable};
use seqfeed_io::name_from_text;
use seqfeed_text::{Form, Splitter, Symbols, TextOptions, TextSource, Tokenize, read_symbols};
use toml::{Table, Value};

use crate::description::{Names, UnitsName};
use crate::format::{Candidate, Capabilities, Certainty, Format, Wanted};
use crate::name_text::names_of;

pub(super) const HOLDS: Capabilities = Capabilities {
    reads_corpora: false,
    dense: 0,
    sparse: false,
    text: true,
    words: "labels",
    called: "tables of text",
    ..Capabilities::EVERYTHING
};

/// A table of text: a key and its words in each line.
pub(crate) struct Text;

impl Format for Text {
    fn name(&self) -> &'static str {
        "text"
    }

    fn capabilities(&self) -> &Capabilities {
        &HOLDS
    }

    fn recognise(&self, name: &Candidate<'_>) -> Option<Certainty> {
        name.text.starts_with("text:").then_some(Certainty::Said)
    }

    fn description(&self, name: &str) -> Table {
        described(name)
    }

    fn open(&self, names: &[String], wanted: &Wanted<'_>) -> Result<Arc<dyn Source>> {
        let bare = |name: &String| name.strip_prefix("text:").unwrap_or(name).to_owned();
        let names: Vec<String> = names.iter().map(bare).collect();
        open(&names, Form::Text, wanted)
    }
}

/// A corpus with this stream only.
pub(super) fn described(name: &str) -> Table {
    let mut stream = Table::new();
    stream.insert("source".to_owned(), Value::String(name.to_owned()));
    stream.insert("kind".to_owned(), Value::String("label".to_owned()));
    super::of_streams(Table::from_iter([("text".to_owned(), Value::Table(stream))]))
}

pub(super) fn open(names: &[String], form: Form, wanted: &Wanted<'_>) -> Result<Arc<dyn Source>> {
    let states = "states are for master label files";
    wanted.refuse(wanted.states.is_some(), states, "give the names of labels with `symbols`")?;
    wanted.refuse(
        wanted.kind != Some(Kind::Label),
        "text gives labels, and the stream is not of labels",
        "give kind = \"label\"",
    )?;
    let text = &wanted.text;
    let space = text.space.filter(|_| text.units != Some(UnitsName::Characters));
    wanted.refuse(
        space.is_some(),
        "space has no effect: it stands between the words of characters",
        "give units = \"characters\", or leave space out",
    )?;
    if let Some(key) = text.of_symbols().filter(|_| text.tokenizer.is_some()) {
        return Err(Error::usage(format!(
            "stream {}: {key} has no effect: the tokenizer gives the labels",
            wanted.stream()
        ))
        .with_help(format!("leave {key} out, or the tokenizer")));
    }
    wanted.refuse(
        text.add_special_tokens.is_some() && text.tokenizer.is_none(),
        "add-special-tokens has no effect: there is no tokenizer",
        "give a `tokenizer`, or name the symbols with `begin` and `end`",
    )?;
    let bytes = |symbol: &str| name_from_text(symbol).as_bytes().to_vec();
    let default = Splitter::default();
    let options = TextOptions {
        form,
        splitter: Splitter {
            units: text.units.map_or(default.units, UnitsName::units),
            space: text.space.map_or(default.space, bytes),
            begin: text.begin.map(bytes),
            end: text.end.map(bytes),
        },
        symbols: symbols(wanted)?,
        unknown: text.unknown.map(bytes),
        tokenizer: text.tokenizer.map(|file| tokenizer(file, wanted)).transpose()?,
        extent: wanted.extent.unwrap_or(Extent::Own),
        through: text.through.map(name_from_text),
        chunk_samples: wanted.chunk_samples,
        errors: wanted.errors,
        opener: wanted.opener.clone(),
        like: wanted.primary.cloned(),
        ..TextOptions::new(wanted.stream())
    };
    Ok(Arc::new(TextSource::open(&names_of(names), &options)?))
}

#[cfg(feature = "tokenizers")]
fn tokenizer(file: &str, wanted: &Wanted<'_>) -> Result<Arc<dyn Tokenize>> {
    let add_special_tokens = wanted.text.add_special_tokens.unwrap_or(true);
    let file = name_from_text(file);
    Ok(Arc::new(seqfeed_text::TokenizerJson::open(&file, add_special_tokens, &wanted.opener)?))
}

#[cfg(not(feature = "tokenizers"))]
fn tokenizer(_: &str, _: &Wanted<'_>) -> Result<Arc<dyn Tokenize>> {
    Err(super::key_left_out("tokenizer", "tokenizers"))
}

/// The symbols that a stream names: in a file, or in the description itself.
fn symbols(wanted: &Wanted<'_>) -> Result<Symbols> {
    let (table, name) = match wanted.text.symbols {
        None => return Ok(Symbols::Found),
        Some(Names::One(file)) => {
            (read_symbols(&name_from_text(file), &wanted.opener)?, wanted.place(file).to_string())
        }
        Some(Names::Several(symbols)) => {
            let mut table = SymbolTable::default();
            for (number, symbol) in (0..).zip(symbols) {
                if !table.insert(name_from_text(symbol).as_bytes(), number) {
                    let what = format!(
                        "stream {}: the symbol `{symbol}` stands twice in symbols",
                        wanted.stream()
                    );
                    return Err(Error::usage(what));
                }
            }
            (table, format!("the symbols of stream {}", wanted.stream()))
        }
    };
    Ok(Symbols::Table(Arc::new(table), name))
}
