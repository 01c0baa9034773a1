//! The table of all options.

use super::corpus::{CorpusSpec, InputSpec, StreamSpec, short_options};
use super::feed::FeedSpec;
use super::option::{CorpusOption, OptionScope};

/// The sections of a `corpus.toml`, in the order in which they are written. The empty text means
/// the top.
pub(crate) const SECTIONS: [&str; 8] =
    ["", "reading", "filter", "segments", "feed", "ranks", "cntk", "pdnn"];

/// All options by their short names: the flags of the command line, and the keywords in Python.
///
/// ```
/// let options = seqfeed::options();
/// let size = options.iter().find(|option| option.name == "batch-size").unwrap();
/// assert_eq!((size.place().as_str(), size.default), ("[feed] batch-size", "256"));
/// ```
#[must_use]
pub fn options() -> Vec<CorpusOption> {
    let corpus = CorpusSpec::OPTIONS.iter().copied();
    let (top, reading): (Vec<_>, Vec<_>) = corpus.partition(|option| option.section.is_empty());
    let (of_corpus, of_feed): (Vec<_>, Vec<_>) =
        short_options().partition(|option| option.scope == OptionScope::Corpus);
    let feed = FeedSpec::OPTIONS.iter().copied();
    top.into_iter().chain(of_corpus).chain(reading).chain(of_feed).chain(feed).collect()
}

/// The keys of a section `[streams.NAME]`.
#[must_use]
pub fn stream_options() -> &'static [CorpusOption] {
    StreamSpec::OPTIONS
}

/// The keys of a section `[inputs.NAME]`.
#[must_use]
pub fn input_options() -> &'static [CorpusOption] {
    InputSpec::OPTIONS
}

/// The option with a short name.
pub(crate) fn option(name: &str) -> Option<CorpusOption> {
    options().into_iter().find(|option| option.name == name)
}
