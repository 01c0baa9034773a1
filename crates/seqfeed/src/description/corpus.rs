//! The data of a corpus.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;

use super::mix::MixSpec;
use super::option::{CorpusOption, options};
use super::values::{
    EndsName, ExtentName, FormatName, KindName, Names, RestName, Text, TypeName, UnitsName,
};
use crate::transforms::TransformSpec;

options! {
    /// The data of a corpus: the streams of a `corpus.toml`, the names at its top, and its section
    /// `[reading]`.
    pub struct CorpusSpec {
        /// A CNTK reader, which defines the corpus and its feed: `train.cntk#Train.reader` (a
        /// section of a configuration), `reader.json` (the same as a dictionary), or `train.ctf`
        /// (a bare file). All other keys replace its settings.
        [""] "reader" "NAME" reader: String, Corpus;

        /// A data specification of PDNN: `train.pfile,context=5,random=True`. All other keys
        /// replace its settings.
        [""] "data" "SPECIFICATION" data: String, Corpus;

        /// With the data of several tasks (`a.pfile|b.pfile,context=5`): the task that is fed,
        /// from 0.
        [""] "task" "N" task: usize, Corpus;

        /// Arrow or Parquet files that hold all streams of a corpus, one after another. Other
        /// streams are joined to theirs by key.
        [""] "corpus" "NAME" files: Names, Corpus;

        /// Transforms of all streams, with their options: `subsample,n=3`. They are applied one
        /// after another when the streams are joined.
        [""] "transforms" "TRANSFORM" transforms: Vec<TransformSpec>, Corpus;

        /// The most samples in a chunk, the unit of loading.
        ["reading"] "chunk-size" "N" chunk_size: u64 = "32768", Corpus;

        /// Map files into memory instead of reading them. A file that is cut short while it is
        /// mapped ends the program.
        ["reading"] "map" "" map: bool = "false", Corpus;

        /// The most bytes of a key, a word or a line in text. A longer one is an error, before it
        /// fills the memory.
        ["reading"] "line-limit" "BYTES" line_limit: NonZeroUsize = "65536", Corpus;

        /// What to do with keys that a stream lacks: stop, skip them, or skip N at most.
        ["reading"] "missing" "stop|skip|N" missing: Text = "skip", Corpus;

        /// What to do with sequences that are wrong (objects that cannot be read, lengths that
        /// differ between streams): stop, skip them, or skip N at most.
        ["reading"] "errors" "stop|skip|N" errors: Text = "stop", Corpus;

        /// Keep the sequences with these keys only: a file with a key at the beginning of each
        /// line, such as `utt2spk`.
        ["filter"] "keys" "FILE" keys: String, Corpus;

        /// Leave out the sequences with these keys.
        ["filter"] "not-keys" "FILE" not_keys: String, Corpus;

        /// Leave out shorter sequences: a number of samples, or of seconds (`0.5 s`).
        ["filter"] "min-length" "LENGTH" min_length: Text, Corpus;

        /// Leave out longer sequences: a number of samples, or of seconds (`30 s`).
        ["filter"] "max-length" "LENGTH" max_length: Text, Corpus;

        /// The stream whose lengths count. Without it, the length of the sequence counts.
        ["filter"] "length-of" "STREAM" length_of: String, Corpus;

        /// The time from one sample to the next, such as `10 ms`, for lengths in seconds. Without
        /// it, the files must say it.
        ["filter"] "sample-time" "TIME" sample_time: Text, Corpus;

        /// Keep a share of the sequences, such as `90 %`. Their keys decide, so a sequence stays on
        /// its side when others are added.
        ["filter"] "share" "PERCENT" share: Text, Corpus;

        /// Keep the other side: the sequences that the same `share` would leave out.
        ["filter"] "not-share" "PERCENT" not_share: Text, Corpus;

        /// Of all that the other keys leave, keep so many at the beginning: a number, or a share
        /// such as `10 %`.
        ["filter"] "first" "N|PERCENT" first: Text, Corpus;

        /// Cut utterances into segments of so many samples. Each is a sequence of its own.
        ["segments"] "segment-length" "N" segment_length: u32, Corpus;

        /// Samples from the beginning of one segment to that of the next. Without it, segments lie
        /// side by side.
        ["segments"] "segment-shift" "N" segment_shift: u32, Corpus;

        /// Frames of context before each segment, in dense streams.
        ["segments"] "segment-left" "N" segment_left: u32 = "0", Corpus;

        /// Frames of context behind each segment, in dense streams.
        ["segments"] "segment-right" "N" segment_right: u32 = "0", Corpus;

        /// Context beyond the ends of an utterance: repeat the first and last frame, or drop the
        /// segments that would need it.
        ["segments"] "segment-ends" "ENDS" segment_ends: EndsName = "repeat", Corpus;

        /// The samples behind the last whole segment: drop them, keep them as a shorter segment,
        /// or shift that segment back until it is whole.
        ["segments"] "segment-rest" "REST" segment_rest: RestName = "drop", Corpus;
    } with {
        /// Values that replace those of a reader's configuration, or the values of its
        /// `$variables$`, as on CNTK's command line: `ScpDir = "/data"`,
        /// `"Train.reader.randomize" = "none"`.
        overrides: BTreeMap<String, Text>,
        /// The inputs of a bare CTF file, by the names of their streams. Without them, they are
        /// found from its data.
        inputs: BTreeMap<String, InputSpec>,
        /// The streams, by name. A stream without a source holds settings for a stream of a reader,
        /// of `data` or of a corpus file.
        streams: BTreeMap<String, StreamSpec>,
        /// The corpora of a mixture. Then nothing else brings streams.
        mix: MixSpec,
    }
}

options! {
    /// One stream of a corpus: a section `[streams.NAME]`.
    pub struct StreamSpec {
        /// Where the samples are, one name or several that follow one another: an rspecifier; an
        /// HTK script, parameter files or master label files; a column of an Arrow or Parquet file
        /// (`train.parquet#COLUMN`).
        ["streams.NAME"] "source" "NAME" source: Names, Corpus;

        /// The kind of samples: vectors of real values, class numbers, or sparse vectors
        /// (posteriors, sparse matrices).
        ["streams.NAME"] "kind" "KIND" kind: KindName = "dense", Corpus;

        /// The number of possible values of a sparse stream. Without it, the highest one in the
        /// data counts.
        ["streams.NAME"] "dim" "N" dim: usize, Corpus;

        /// The type of values. Labels are of int32 or int64. Files are read as float32 or float64;
        /// a feed rounds to float16 or bfloat16 at its end.
        ["streams.NAME"] "dtype" "TYPE" dtype: TypeName = "float32", Corpus;

        /// How many samples a sequence has: one a time step, one for the whole sequence, or a
        /// number of its own.
        ["streams.NAME"] "extent" "EXTENT" extent: ExtentName = "samples", Corpus;

        /// For labels in master label files: the list of states, one a line, that gives their
        /// names numbers. Without it, the fourth column has the numbers.
        ["streams.NAME"] "states" "FILE" states: String, Corpus;

        /// For Kaldi's script files: a file that states the number of frames of each utterance,
        /// such as `utt2num_frames` or `feats_shape`. Then opening reads one header of each data
        /// file, and not that of each utterance.
        ["streams.NAME"] "lengths" "FILE" lengths: String, Corpus;

        /// For text (`text:FILE`, `jsonl:FILE#FIELD`): the units that become labels, words between
        /// white space, single characters, or whole lines.
        ["streams.NAME"] "units" "UNITS" units: UnitsName = "words", Corpus;

        /// For text: the file with the symbols (a symbol and its number in each line, a symbol in
        /// each line, or JSON), or a list of the symbols, the first one for label 0. Without it,
        /// the symbols of the data are sorted bytewise.
        ["streams.NAME"] "symbols" "FILE" symbols: Names, Corpus;

        /// For text with `symbols`: the symbol that stands for all others. Without it, others are
        /// an error.
        ["streams.NAME"] "unknown" "SYMBOL" unknown: String, Corpus;

        /// For text: a symbol before each sequence.
        ["streams.NAME"] "begin" "SYMBOL" begin: String, Corpus;

        /// For text: a symbol behind each sequence.
        ["streams.NAME"] "end" "SYMBOL" end: String, Corpus;

        /// For text by characters: the symbol between two words. With an empty one, nothing stands
        /// between them.
        ["streams.NAME"] "space" "SYMBOL" space: String = "<space>", Corpus;

        /// For text: a `tokenizer.json`, which gives the tokens and their numbers, in place of
        /// `units` and `symbols`.
        ["streams.NAME"] "tokenizer" "FILE" tokenizer: String, Corpus;

        /// For text with a tokenizer: add the special tokens, such as begin and end, that its
        /// post-processor names.
        ["streams.NAME"] "add-special-tokens" "BOOL" add_special_tokens: bool = "true", Corpus;

        /// For text: a table that leads from the keys of the corpus to those of the text, such as
        /// `utt2spk` for `text:spk2gender`.
        ["streams.NAME"] "through" "FILE" through: String, Corpus;

        /// Transforms of the stream, with their options: `noise,deviation=0.1`. They are applied
        /// one after another, before all else.
        ["streams.NAME"] "transforms" "TRANSFORM" transforms: Vec<TransformSpec>, Corpus;

        /// Frames of context: as many to both sides (`5`), or to the left and to the right
        /// (`5:3`). The first and last frame of a sequence are repeated.
        ["streams.NAME"] "context" "L[:R]" context: Text = "0", Feed;

        /// The padding of the stream, in place of `feature-padding` or `label-padding`.
        ["streams.NAME"] "padding" "VALUE" padding: f64, Feed;

        /// Labels whose frames are left out, such as `0:3-9`. Context is taken before, so these
        /// frames are still the context of others. Needs `unit = "frame"`.
        ["streams.NAME"] "ignore" "LABELS" ignore: Text, Feed;

        /// Labels that become others, after frames were left out: `1:0/4-6:2`. All are mapped at
        /// once.
        ["streams.NAME"] "map" "OLD:NEW/..." map: Text, Feed;
    }
}

options! {
    /// One input of a bare CTF file: a section `[inputs.NAME]`.
    pub struct InputSpec {
        /// Its name in the file. Without it, the name of the stream.
        ["inputs.NAME"] "alias" "NAME" alias: String, Corpus;

        /// The number of values of a sample. For sparse samples, all indices are below it.
        ["inputs.NAME"] "dim" "N" dim: u32, Corpus;

        /// The form of values in the file: all of them, or some with their indices.
        ["inputs.NAME"] "format" "FORMAT" format: FormatName, Corpus;

        /// Whether minibatches are counted in samples of this input.
        ["inputs.NAME"] "defines-mb-size" "BOOL" defines_mb_size: bool = "false", Corpus;
    }
}

impl StreamSpec {
    /// Whether it only holds settings for a stream that comes from elsewhere.
    pub(crate) fn is_applied(&self) -> bool {
        let Self { source, kind, dim, dtype, extent, states, transforms, context, ignore, .. } =
            self;
        let (map, padding) = (&self.map, &self.padding);
        let delivered = dtype.is_some_and(|dtype| dtype.only_delivered().is_some());
        let read = dtype.is_some() && !delivered;
        let made = kind.is_some() || dim.is_some() || read || extent.is_some();
        let made = made || TextKeys::of(self).given().is_some() || self.lengths.is_some();
        let applied =
            transforms.is_some() || context.is_some() || ignore.is_some() || map.is_some();
        let applied = applied || padding.is_some() || delivered;
        source.is_none() && !made && states.is_none() && applied
    }
}

/// The keys of a stream that say how its text becomes labels.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct TextKeys<'a> {
    /// The units that a text is divided into.
    pub units: Option<UnitsName>,
    /// The file with the symbols and their numbers, or the symbols themselves.
    pub symbols: Option<&'a Names>,
    /// The symbol for all unknown ones.
    pub unknown: Option<&'a str>,
    /// The symbol before each text.
    pub begin: Option<&'a str>,
    /// The symbol behind each text.
    pub end: Option<&'a str>,
    /// The symbol between words of characters.
    pub space: Option<&'a str>,
    /// The file of the tokenizer.
    pub tokenizer: Option<&'a str>,
    /// Whether the tokenizer adds special tokens.
    pub add_special_tokens: Option<bool>,
    /// The table that leads from the keys of the corpus to those of the text.
    pub through: Option<&'a str>,
}

impl<'a> TextKeys<'a> {
    pub(crate) fn of(stream: &'a StreamSpec) -> Self {
        Self {
            units: stream.units,
            symbols: stream.symbols.as_ref(),
            unknown: stream.unknown.as_deref(),
            begin: stream.begin.as_deref(),
            end: stream.end.as_deref(),
            space: stream.space.as_deref(),
            tokenizer: stream.tokenizer.as_deref(),
            add_special_tokens: stream.add_special_tokens,
            through: stream.through.as_deref(),
        }
    }

    /// The first key that is given.
    pub(crate) fn given(&self) -> Option<&'static str> {
        let others = [
            ("through", self.through.is_some()),
            ("tokenizer", self.tokenizer.is_some()),
            ("add-special-tokens", self.add_special_tokens.is_some()),
        ];
        self.of_symbols().or_else(|| first_given(&others))
    }

    /// The first key that says how a text is divided into symbols, and how they are numbered.
    pub(crate) fn of_symbols(&self) -> Option<&'static str> {
        first_given(&[
            ("units", self.units.is_some()),
            ("symbols", self.symbols.is_some()),
            ("unknown", self.unknown.is_some()),
            ("begin", self.begin.is_some()),
            ("end", self.end.is_some()),
            ("space", self.space.is_some()),
        ])
    }
}

fn first_given(keys: &[(&'static str, bool)]) -> Option<&'static str> {
    keys.iter().find(|(_, is_given)| *is_given).map(|(key, _)| *key)
}

/// A short option for a key of the stream `features` or `labels`.
struct Short {
    name: &'static str,
    section: &'static str,
    key: &'static str,
    /// Its documentation, if it differs from that of the key.
    doc: Option<&'static str>,
}

const FEATURES: &str = "streams.features";
const LABELS: &str = "streams.labels";

/// The options of the streams that nearly every corpus has.
const SHORT: [Short; 7] = [
    Short {
        name: "features",
        section: FEATURES,
        key: "source",
        doc: Some(
            "The features: an rspecifier, such as scp:feats.scp or ark:feats.ark, or files of \
             HTK's. Several follow one another.",
        ),
    },
    Short {
        name: "labels",
        section: LABELS,
        key: "source",
        doc: Some(
            "The frame labels: an rspecifier, such as ark:ali.ark, or master label files of HTK's.",
        ),
    },
    Short { name: "states", section: LABELS, key: "states", doc: None },
    Short { name: "feature-transforms", section: FEATURES, key: "transforms", doc: None },
    Short { name: "context", section: FEATURES, key: "context", doc: None },
    Short { name: "ignore-label", section: LABELS, key: "ignore", doc: None },
    Short { name: "map-label", section: LABELS, key: "map", doc: None },
];

/// The short options of the streams `features` and `labels`.
pub(crate) fn short_options() -> impl Iterator<Item = CorpusOption> {
    SHORT.iter().filter_map(|short| {
        let of_stream = StreamSpec::OPTIONS.iter().find(|option| option.key == short.key)?;
        let doc = short.doc.unwrap_or(of_stream.doc);
        Some(CorpusOption { name: short.name, section: short.section, doc, ..*of_stream })
    })
}
