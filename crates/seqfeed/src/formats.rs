//! The formats: one line of the table and one file each.

#[cfg(feature = "arrow")]
mod arrow;
#[cfg(feature = "cntk")]
mod ctf;
#[cfg(feature = "htk")]
mod htk;
mod jsonl;
#[cfg(feature = "kaldi")]
mod kaldi;
mod left_out;
#[cfg(feature = "pdnn")]
mod pdnn;
mod text;
#[cfg(feature = "cntk")]
mod values;

use std::sync::{PoisonError, RwLock};

use seqfeed_core::{Element, Error, Extent, Kind, Result, Stream, Written};
use seqfeed_io::{Opener, Output, WxFilename, name_to_text};
use toml::{Table, Value};

use crate::format::{Candidate, Capabilities, Certainty, Format};

#[cfg(feature = "htk")]
pub(crate) use self::htk::state_names;
#[cfg(feature = "kaldi")]
pub use self::kaldi::kaldi_compression;
pub(crate) use self::left_out::key_left_out;

/// The formats of the library, in the order in which they are asked.
pub(crate) static BUILT_IN: &[&dyn Format] = &[
    #[cfg(feature = "kaldi")]
    &kaldi::Tables,
    #[cfg(feature = "kaldi")]
    &kaldi::Corpora,
    #[cfg(feature = "arrow")]
    &arrow::Columns::PARQUET,
    #[cfg(feature = "arrow")]
    &arrow::Columns::ARROW,
    #[cfg(feature = "htk")]
    &htk::Htk::ARCHIVE,
    #[cfg(feature = "htk")]
    &htk::Htk::FILES,
    #[cfg(feature = "cntk")]
    &ctf::Ctf,
    #[cfg(feature = "pdnn")]
    &pdnn::PFile,
    #[cfg(feature = "pdnn")]
    &pdnn::Arrays::PICKLE,
    #[cfg(feature = "pdnn")]
    &pdnn::Arrays::NPY,
    #[cfg(feature = "pdnn")]
    &pdnn::Arrays::NPZ,
    #[cfg(feature = "pdnn")]
    &pdnn::Alignments,
    &text::Text,
    &jsonl::JsonLines,
];

/// The registered formats, the last one first.
static REGISTERED: RwLock<Vec<&'static dyn Format>> = RwLock::new(Vec::new());

/// Registers a format for opening, describing and writing names. It is asked before the formats of
/// the library, and before those that were registered earlier.
///
/// # Errors
///
/// Fails if another format has its name.
pub fn register(format: &'static dyn Format) -> Result<()> {
    if formats().iter().any(|other| other.name() == format.name()) {
        return Err(Error::usage(format!("there is a format {} already", format.name())));
    }
    REGISTERED.write().unwrap_or_else(PoisonError::into_inner).insert(0, format);
    Ok(())
}

/// All formats, in the order in which they are asked.
#[must_use]
pub fn formats() -> Vec<&'static dyn Format> {
    let registered = REGISTERED.read().unwrap_or_else(PoisonError::into_inner);
    registered.iter().chain(BUILT_IN).copied().collect()
}

/// The format that takes a name, and how surely. `opener` opens the name.
///
/// # Errors
///
/// Fails if the name belongs to a format that was left out, and no other format is sure of it.
pub(crate) fn recognised(
    name: &str,
    opener: &Opener,
    asked: impl Fn(&Capabilities) -> bool,
) -> Result<Option<(&'static dyn Format, Certainty)>> {
    let candidate = Candidate::new(name, opener);
    let formats = formats().into_iter().filter(|format| asked(format.capabilities()));
    let found = surest(formats.filter_map(|format| Some((format, format.recognise(&candidate)?))));
    // Formats of the library take some names with less certainty than the mark of another format.
    let is_sure = found.is_some_and(|(format, certainty)| {
        let is_built_in = BUILT_IN.iter().any(|known| known.name() == format.name());
        certainty > if is_built_in { Certainty::Name } else { Certainty::Otherwise }
    });
    match left_out::name(name) {
        Some(error) if !is_sure => Err(error),
        _ => Ok(found),
    }
}

/// The format that writes a name, and the name without the mark of the format.
///
/// # Errors
///
/// Fails if the name belongs to a format that the library was built without.
pub fn written_format(text: &str) -> Result<Option<(&'static dyn Format, &str)>> {
    let found = formats().into_iter().filter_map(|format| {
        let (certainty, name) = format.target(text)?;
        Some(((format, name), certainty))
    });
    match (surest(found), left_out::name(text)) {
        (None, Some(error)) => Err(error),
        (found, _) => Ok(found.map(|(found, _)| found)),
    }
}

fn surest<T>(found: impl Iterator<Item = (T, Certainty)>) -> Option<(T, Certainty)> {
    // `max_by_key` returns the last of equals, so the first one must come last.
    let found: Vec<(T, Certainty)> = found.collect();
    found.into_iter().rev().max_by_key(|(_, certainty)| *certainty)
}

/// Finishes an output, which then appears.
fn finished(output: Output) -> Result<Written> {
    let written = Written { files: vec![listed(output.wxfilename())], bytes: output.written() };
    output.finish().map(|()| written)
}

/// The name of an output, in the list of a conversion's files.
fn listed(name: &WxFilename) -> String {
    match name.location().is_standard() {
        true => "standard output".to_owned(),
        false => name_to_text(name.name()),
    }
}

/// The number of the only stream of a kind, if there is one.
fn one_stream(streams: &[Stream], what: &str, is: impl Fn(Kind) -> bool) -> Result<Option<usize>> {
    let mut found = (0..streams.len()).filter(|&number| is(streams[number].kind));
    let first = found.next();
    match (first, found.next()) {
        (Some(first), Some(second)) => Err(Error::usage(format!(
            "streams {} and {} are both {what}; the format holds one",
            streams[first].name, streams[second].name
        ))
        .with_help("give the corpus with the streams that shall be written")),
        _ => Ok(first),
    }
}

/// A stream of a description.
fn stream_table(stream: &Stream, source: Value) -> Value {
    let mut table = Table::new();
    table.insert("source".to_owned(), source);
    if stream.kind != Kind::Dense {
        table.insert("kind".to_owned(), Value::String(stream.kind.name().to_owned()));
    }
    if stream.kind == Kind::Sparse {
        // Posteriors do not give it.
        let dim = i64::try_from(stream.dim).unwrap_or(i64::MAX);
        table.insert("dim".to_owned(), Value::Integer(dim));
    }
    if stream.element == Element::F64 {
        table.insert("dtype".to_owned(), Value::String("float64".to_owned()));
    }
    if stream.extent != Extent::Samples {
        table.insert("extent".to_owned(), Value::String(stream.extent.name().to_owned()));
    }
    Value::Table(table)
}

/// A description with streams only.
fn of_streams(described: Table) -> Table {
    Table::from_iter([("streams".to_owned(), Value::Table(described))])
}
