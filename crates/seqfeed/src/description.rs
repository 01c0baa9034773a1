//! The description of a corpus and its feed: `corpus.toml`.

mod corpus;
mod explicit;
mod feed;
mod file_text;
mod mix;
mod option;
mod read;
mod settings;
mod table;
mod tables;
mod toml_text;
mod unknown;
mod values;

use std::collections::BTreeSet;
use std::num::NonZeroUsize;
use std::path::PathBuf;

use seqfeed_core::{Chunking, Error, JoinPolicy, Result, Tolerance};
use seqfeed_feed::tolerance;
use seqfeed_io::{Location, Opener};

pub use self::corpus::{CorpusSpec, InputSpec, StreamSpec, TextKeys};
pub use self::feed::FeedSpec;
pub use self::mix::{ComponentSpec, MixSpec, Weight, component_options, mix_options};
pub use self::option::{CorpusOption, OptionScope, OptionValues};
pub use self::table::{input_options, options, stream_options};
pub use self::values::{
    BatchUnit, Buckets, EndsName, ExtentName, FormatName, KindName, Names, OrderName, PresetName,
    RestName, Text, TypeName, UnitsName,
};

/// The description of a corpus and its feed: a `corpus.toml`.
///
/// ```
/// let description = seqfeed::Description::from_toml(
///     r#"
///     [streams.features]
///     source = "scp:feats.scp"
///     context = "5:5"
///
///     [streams.labels]
///     source = "ark:ali.ark"
///     kind = "label"
///
///     [feed]
///     batch-size = 512
///     "#,
/// )?;
/// assert_eq!(description.streams().len(), 2);
/// # Ok::<(), seqfeed::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Description {
    /// The data of the corpus.
    pub corpus: CorpusSpec,
    /// The settings of the feed.
    pub feed: FeedSpec,
    /// The directory of the description: relative names in it are relative to this.
    pub base: Option<Location>,
    /// The places of the keys that options gave. Names among them are relative to the working
    /// directory.
    given: BTreeSet<String>,
    /// Whether it was read from a file. Then the caller did not give the names in it.
    from_file: bool,
}

impl Description {
    /// The streams that have a source, the primary one first: `features` if there is such a
    /// stream, then the others by name.
    #[must_use]
    pub fn streams(&self) -> Vec<(String, StreamSpec)> {
        let made = self.corpus.streams.iter().filter(|(_, stream)| !stream.is_applied());
        let mut streams: Vec<_> =
            made.map(|(name, stream)| (name.clone(), stream.clone())).collect();
        // They are sorted by name already.
        streams.sort_by_key(|(name, _)| name != "features");
        streams
    }

    /// Whether the content of a file is an HTK script, parameter file, or master label file.
    #[must_use]
    pub fn is_htk_file(name: &str, opener: &Opener) -> bool {
        let found = crate::formats::recognised(name, opener, |_| true).ok().flatten();
        found.is_some_and(|(format, _)| format.name() == "htk")
    }

    /// Passes over all faulty and missing sequences, so that the rest can be looked at.
    pub fn skip_errors(&mut self) {
        self.corpus.missing = Some(Text::Word("skip".to_owned()));
        self.corpus.errors = Some(Text::Word("skip".to_owned()));
    }

    /// The file of the feed's state, relative to the working directory. States lie in the file
    /// system. So the name is relative to the description, unless the description is in a store.
    #[must_use]
    pub fn state_file(&self) -> Option<PathBuf> {
        let base = self.base_of("[feed] state").and_then(Location::path);
        let state = self.feed.state.as_ref()?;
        Some(base.map_or_else(|| state.clone(), |base| base.join(state)))
    }

    /// Whether an option, by its short name, was given and replaces the key of the file.
    #[must_use]
    pub fn is_given(&self, option: &str) -> bool {
        table::option(option).is_some_and(|option| self.given.contains(&option.place()))
    }

    /// The directory that a stream's names are relative to, if it is not the working directory.
    fn base_of_stream(&self, stream: &str) -> Option<&Location> {
        self.base_of(&option::place(&format!("streams.{stream}"), "source"))
    }

    /// The directory that the names in a key are relative to, if it is not the working directory.
    pub(crate) fn base_of(&self, place: &str) -> Option<&Location> {
        self.base.as_ref().filter(|_| !self.given.contains(place))
    }

    /// The opener for the names in a key. `opener` is the one for names that the caller gives.
    /// Names in the description's file were not given by the caller, and are relative to the file.
    pub(crate) fn opener_of(&self, place: &str, opener: &Opener) -> Opener {
        let opener = match self.from_file && !self.given.contains(place) {
            true => opener.of_contents(),
            false => opener.clone(),
        };
        let opener = match self.base_of(place) {
            Some(base) => opener.in_directory(Some(base.clone())),
            None => opener,
        };
        let line_limit = self.corpus.line_limit.map_or(opener.line_limit(), NonZeroUsize::get);
        opener.with_line_limit(line_limit)
    }

    /// The same for the source of a stream.
    pub(crate) fn opener_of_stream(&self, stream: &str, opener: &Opener) -> Opener {
        self.opener_of(&option::place(&format!("streams.{stream}"), "source"), opener)
    }

    /// The rules of the join.
    pub(crate) fn join_rules(&self) -> Result<JoinPolicy> {
        let default = JoinPolicy::default();
        let read = |key: &str, text: &Option<Text>, default: Tolerance| match text {
            None => Ok(default),
            Some(text) => tolerance(&text.text()).ok_or_else(|| {
                Error::usage(format!(
                    "[reading] {key}: expected `stop`, `skip` or a number, found `{}`",
                    text.text()
                ))
            }),
        };
        Ok(JoinPolicy {
            missing: read("missing", &self.corpus.missing, default.missing)?,
            errors: read("errors", &self.corpus.errors, default.errors)?,
            chunks: Chunking::Samples(self.chunk_samples()?),
            ..default
        })
    }

    /// The most samples in a chunk.
    pub(crate) fn chunk_samples(&self) -> Result<u64> {
        match self.corpus.chunk_size.unwrap_or(32_768) {
            0 => Err(Error::usage("chunk-size must be 1 at least")),
            samples => Ok(samples),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_and_keys_mean_the_same() {
        let options = "features = 'scp:f.scp'\nlabels = ['ark:a', 'ark:b']\ncontext = 5\n\
                       batch-size = 9";
        let short = Description::from_options(options.parse().unwrap()).unwrap();
        let long = Description::from_toml(
            "[feed]\nbatch-size = 9\n[streams.features]\nsource = 'scp:f.scp'\ncontext = [5, 5]\n\
             [streams.labels]\nsource = ['ark:a', 'ark:b']\nkind = 'label'",
        )
        .unwrap();
        assert_eq!(short.settings().unwrap(), long.settings().unwrap());
        let names = |description: &Description| {
            let streams = description.streams().into_iter();
            streams
                .map(|(name, stream)| (name, stream.source.unwrap().to_vec(), stream.kind))
                .map(|(name, source, kind)| (name, source, kind == Some(KindName::Label)))
                .collect::<Vec<_>>()
        };
        assert_eq!(names(&short), names(&long));
        assert_eq!(names(&short)[0].0, "features");
    }

    #[test]
    fn each_option_has_a_name_of_its_own_and_says_what_it_does() {
        let options = options();
        let names: BTreeSet<&str> = options.iter().map(|option| option.name).collect();
        assert_eq!(names.len(), options.len());
        let named = stream_options().iter().chain(input_options());
        let keys = named.chain(mix_options()).chain(component_options());
        for option in options.iter().chain(keys) {
            let doc = option.doc.trim();
            assert!(doc.ends_with('.') && doc.len() > 15, "{}: {doc}", option.name);
            assert!(option.value_name.is_empty() <= (option.values == OptionValues::Flag));
        }
    }

    #[test]
    fn says_what_is_wrong_and_where() {
        let error = Description::from_toml("[feed]\norder = = 3").unwrap_err();
        assert_eq!(error.place().to_string(), "line 2");
        let cases = [
            ("colour = 3", "unknown key `colour` at the top", "the keys here are reader, data"),
            ("[feed]\nbacth-size = 3", "unknown key `bacth-size` in [feed]", "`batch-size`"),
            ("[feed]\nunit = 'frmae'", "[feed] unit: expected `frame`, `sequence`", "`frame`"),
            ("[streams.x]\nsorce = 'a'", "unknown key `sorce` in [streams.x]", "`source`"),
            ("[stream.x]\nsource = 'a'", "unknown section [stream]", "[streams.NAME]"),
            ("feed = 3", "[feed] is a section of keys", ""),
            ("[inputs.x]\nformat = 'dense'", "[inputs.x] has no dim", ""),
            // What stands elsewhere.
            ("batch-size = 3", "unknown key `batch-size` at the top", "stands in [feed]"),
            ("[feed]\nranks = 3", "unknown key `ranks` in [feed]", "stands in [ranks]"),
            ("[cntk]\nreader = 'x'", "unknown key `reader` in [cntk]", "stands at the top"),
            ("features = 'x'", "`features` at the top", "stands in [streams.features] as `source`"),
            ("[feed]\nignore-label = 1", "in [feed]", "stands in [streams.labels] as `ignore`"),
            ("cut = 'worker'", "unknown key `cut` at the top", "preset = \"cntk\""),
        ];
        for (text, message, help) in cases {
            let error = Description::from_toml(text).unwrap_err();
            let found = (error.message(), error.help().unwrap_or_default().to_owned());
            assert!(found.0.contains(message) && found.1.contains(help), "{text}: {found:?}");
        }
        let cases = [
            ("window = 'wide'", "expected a window"),
            ("order = 'sequential'\nwindow = '3 chunks'", "a window is for"),
            ("layout = 'padded'", "needs unit"),
            ("features = 'ark:x'\ncontext = 'left'", "expected a context"),
            ("memory = 'much'", "a number of bytes"),
            ("preset = 'cntk-timeline'\nlocal-timeline = true", "are for preset"),
        ];
        for (text, expected) in cases {
            let description = Description::from_options(text.parse().unwrap()).unwrap();
            let error = description.settings().unwrap_err();
            assert!(error.is_usage() && error.message().contains(expected), "{error}");
        }
    }
}
