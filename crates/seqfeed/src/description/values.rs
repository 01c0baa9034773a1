//! The types of option values.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use seqfeed_core::{Element, Extent, Kind, SegmentEnds, SegmentRest};
use seqfeed_feed::{Generator, Layout, Partial, ScheduleUnit, Shard, Stop, Unit};
use seqfeed_io::{name_to_text, path_from_text};
use seqfeed_text::Units;
use toml::Value;

use super::option::{OptionValue, OptionValues};
use crate::transforms::TransformSpec;

/// One name or several, as texts ([`name_to_text`](seqfeed_io::name_to_text)).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Names {
    /// One.
    One(String),
    /// Several, one after another.
    Several(Vec<String>),
}

/// Text, or numbers that are read as text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Text {
    /// A number.
    Number(u64),
    /// Text.
    Word(String),
    /// Two numbers: left and right context.
    Pair([u64; 2]),
}

/// Bins of sequences by length.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Buckets {
    /// This many, with about the same number of samples in each.
    Count(usize),
    /// The most samples of a sequence in each bin but the last.
    Edges(Vec<u32>),
}

impl Names {
    /// The names, in order.
    #[must_use]
    pub fn to_vec(&self) -> Vec<String> {
        match self {
            Names::One(name) => vec![name.clone()],
            Names::Several(names) => names.clone(),
        }
    }
}

impl From<&str> for Names {
    fn from(name: &str) -> Self {
        Names::One(name.to_owned())
    }
}

impl From<String> for Text {
    fn from(text: String) -> Self {
        Text::Word(text)
    }
}

impl Text {
    pub(crate) fn text(&self) -> String {
        match self {
            Text::Number(number) => number.to_string(),
            Text::Word(text) => text.clone(),
            Text::Pair([left, right]) => format!("{left}:{right}"),
        }
    }
}

impl OptionValue for bool {
    const VALUES: OptionValues = OptionValues::Flag;

    fn from_value(value: &Value) -> Result<Self, String> {
        value.as_bool().ok_or_else(|| "true or false".to_owned())
    }

    fn to_value(&self) -> Value {
        Value::Boolean(*self)
    }
}

macro_rules! numbers {
    ($($number:ty => $values:ident, $expected:literal;)*) => {$(
        impl OptionValue for $number {
            const VALUES: OptionValues = OptionValues::$values;

            // Numbers beyond TOML's range are written as text.
            fn from_value(value: &Value) -> Result<Self, String> {
                let number = match value {
                    Value::Integer(number) => Self::try_from(*number).ok(),
                    Value::String(text) => {
                        text.parse().ok().filter(|number| i64::try_from(*number).is_err())
                    }
                    _ => None,
                };
                number.ok_or_else(|| $expected.to_owned())
            }

            fn to_value(&self) -> Value {
                let large = |_| Value::String(self.to_string());
                i64::try_from(*self).map_or_else(large, Value::Integer)
            }
        }
    )*};
}

numbers! {
    u64 => Unsigned, "a number from 0";
    usize => Unsigned, "a number from 0";
    u32 => Unsigned, "a number from 0, below 2^32";
    i32 => Integer, "a number that fits 32 bits";
}

impl OptionValue for f32 {
    const VALUES: OptionValues = OptionValues::Real;

    fn from_value(value: &Value) -> Result<Self, String> {
        let number = match value {
            Value::Integer(number) => Some(*number as Self),
            Value::Float(number) => Some(*number as Self).filter(|number| !number.is_nan()),
            _ => None,
        };
        number.ok_or_else(|| "a number".to_owned())
    }

    fn to_value(&self) -> Value {
        // With the digits of 32 bits: 0.1, not 0.10000000149011612.
        Value::Float(self.to_string().parse().unwrap_or_else(|_| f64::from(*self)))
    }
}

impl OptionValue for f64 {
    const VALUES: OptionValues = OptionValues::Real;

    fn from_value(value: &Value) -> Result<Self, String> {
        let number = match value {
            Value::Integer(number) => Some(*number as Self),
            Value::Float(number) => Some(*number).filter(|number| !number.is_nan()),
            _ => None,
        };
        number.ok_or_else(|| "a number".to_owned())
    }

    fn to_value(&self) -> Value {
        Value::Float(*self)
    }
}

impl OptionValue for NonZeroUsize {
    const VALUES: OptionValues = OptionValues::Unsigned;

    fn from_value(value: &Value) -> Result<Self, String> {
        let number = usize::from_value(value).ok().and_then(Self::new);
        number.ok_or_else(|| "a number from 1".to_owned())
    }

    fn to_value(&self) -> Value {
        self.get().to_value()
    }
}

impl OptionValue for String {
    const VALUES: OptionValues = OptionValues::Name;

    fn from_value(value: &Value) -> Result<Self, String> {
        value.as_str().map(str::to_owned).ok_or_else(|| "a text".to_owned())
    }

    fn to_value(&self) -> Value {
        Value::String(self.clone())
    }
}

impl OptionValue for PathBuf {
    const VALUES: OptionValues = OptionValues::Name;

    // Bytes that are not UTF-8 are written as in all names.
    fn from_value(value: &Value) -> Result<Self, String> {
        value.as_str().map(path_from_text).ok_or_else(|| "a text".to_owned())
    }

    fn to_value(&self) -> Value {
        Value::String(name_to_text(self))
    }
}

impl OptionValue for Text {
    const VALUES: OptionValues = OptionValues::Text;

    fn from_value(value: &Value) -> Result<Self, String> {
        let number = |value: &Value| value.as_integer().and_then(|one| u64::try_from(one).ok());
        match value {
            Value::String(text) => Some(Text::Word(text.clone())),
            Value::Array(both) => match both.as_slice() {
                [left, right] => number(left).zip(number(right)).map(|(l, r)| Text::Pair([l, r])),
                _ => None,
            },
            one => number(one).map(Text::Number),
        }
        .ok_or_else(|| "a text or a number".to_owned())
    }

    fn to_value(&self) -> Value {
        Value::String(self.text())
    }
}

impl OptionValue for Buckets {
    const VALUES: OptionValues = OptionValues::Numbers;

    // In the command line a list is text: `200,400`, or `200,` for one length.
    fn from_value(value: &Value) -> Result<Self, String> {
        let edges: Option<Vec<u32>> = match value {
            Value::Array(edges) => edges.iter().map(|edge| u32::from_value(edge).ok()).collect(),
            Value::String(text) if text.contains(',') => {
                let edges = text.strip_suffix(',').unwrap_or(text).split(',');
                edges.map(|edge| edge.trim().parse().ok()).collect()
            }
            Value::String(text) => return number(text.parse().ok()),
            value => return number(usize::from_value(value).ok()),
        };
        let edges = edges.filter(|edges| !edges.is_empty());
        return edges.map(Self::Edges).ok_or_else(expected);

        fn number(number: Option<usize>) -> Result<Buckets, String> {
            number.map(Buckets::Count).ok_or_else(expected)
        }

        fn expected() -> String {
            "a number, or a list of lengths ([200, 400])".to_owned()
        }
    }

    fn to_value(&self) -> Value {
        match self {
            Self::Count(count) => count.to_value(),
            Self::Edges(edges) => Value::Array(edges.iter().map(u32::to_value).collect()),
        }
    }
}

impl OptionValue for Names {
    const VALUES: OptionValues = OptionValues::Names;

    fn from_value(value: &Value) -> Result<Self, String> {
        let expected = || "a name or a list of names".to_owned();
        match value {
            Value::String(name) => Ok(Names::One(name.clone())),
            Value::Array(names) => {
                let names = names.iter().map(|name| name.as_str().map(str::to_owned));
                names.collect::<Option<Vec<_>>>().map(Names::Several).ok_or_else(expected)
            }
            _ => Err(expected()),
        }
    }

    fn to_value(&self) -> Value {
        match self {
            Names::One(name) => Value::String(name.clone()),
            Names::Several(names) => {
                Value::Array(names.iter().cloned().map(Value::String).collect())
            }
        }
    }
}

impl OptionValue for Vec<TransformSpec> {
    const VALUES: OptionValues = OptionValues::Transforms;

    fn from_value(value: &Value) -> Result<Self, String> {
        match value {
            Value::Array(several) => several.iter().map(transform).collect(),
            one => Ok(vec![transform(one)?]),
        }
    }

    fn to_value(&self) -> Value {
        let value = |spec: &TransformSpec| {
            let name = Value::String(spec.name.clone());
            if spec.options.is_empty() {
                return name;
            }
            let options = spec.options.clone().into_iter();
            Value::Table(std::iter::once(("name".to_owned(), name)).chain(options).collect())
        };
        Value::Array(self.iter().map(value).collect())
    }
}

/// A transform: text with its name and options, or a table with its name.
fn transform(value: &Value) -> Result<TransformSpec, String> {
    let mut options = match value {
        Value::String(text) => return TransformSpec::parse(text),
        Value::Table(options) => options.clone(),
        _ => return Err("transforms: texts, or tables with a `name`".to_owned()),
    };
    match options.remove("name") {
        Some(Value::String(name)) => Ok(TransformSpec { name, options }),
        _ => Err("a table with the `name` of a transform".to_owned()),
    }
}

/// Types whose values are words.
macro_rules! words {
    ($($name:ident { $($variant:ident = $word:literal),+ $(,)? })*) => {$(
        impl OptionValue for $name {
            const VALUES: OptionValues = OptionValues::Words(&[$($word),+]);

            fn from_value(value: &Value) -> Result<Self, String> {
                match value.as_str() {
                    $( Some($word) => Ok(Self::$variant), )+
                    _ => {
                        let words: Vec<&str> = vec![$($word),+];
                        Err(format!("`{}`", words.join("`, `")))
                    }
                }
            }

            fn to_value(&self) -> Value {
                let word = match self { $( Self::$variant => $word, )+ };
                Value::String(word.to_owned())
            }
        }
    )*};
}

/// The name of an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OrderName {
    /// Shuffled anew in each sweep.
    Shuffle,
    /// The order of the samples.
    Sequential,
    /// Each frame swapped with another one nearby, as in CNTK's rolling window.
    Rolling,
    /// Shuffled anew in each sweep, block by block.
    Blocks,
}

/// The name of a preset, which decides whose minibatches a feed gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PresetName {
    /// The global order is cut, and dealt to the ranks.
    None,
    /// Each rank cuts its own minibatches, as CNTK's workers do.
    Cntk,
    /// Each rank has an order of its own, as with CNTK's local-timeline randomizers.
    CntkTimeline,
    /// Files are cut into partitions, and these into minibatches, as by PDNN.
    Pdnn,
}

/// The unit of a batch size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BatchUnit {
    /// Samples.
    Samples,
    /// Sequences, or frames if frames are dealt out.
    Sequences,
    /// Samples with padding.
    Padded,
}

/// The form of the values of an input in a CTF file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FormatName {
    /// All of them.
    Dense,
    /// With their indices.
    Sparse,
}

/// The name of a stream's kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KindName {
    /// Vectors of real values.
    Dense,
    /// Class numbers.
    Label,
    /// Numbered values, most of them zero: posteriors, sparse matrices.
    Sparse,
}

/// What happens to the context of segments beyond the ends of an utterance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EndsName {
    /// The first and last frame stand for missing ones.
    Repeat,
    /// Segments keep away from the ends.
    Drop,
}

impl From<EndsName> for SegmentEnds {
    fn from(name: EndsName) -> Self {
        match name {
            EndsName::Repeat => Self::Repeat,
            EndsName::Drop => Self::Drop,
        }
    }
}

/// What happens to samples behind the last whole segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RestName {
    /// They are left out.
    Drop,
    /// They are a shorter segment.
    Keep,
    /// The last segment begins earlier, and is whole.
    Shift,
}

impl From<RestName> for SegmentRest {
    fn from(name: RestName) -> Self {
        match name {
            RestName::Drop => Self::Drop,
            RestName::Keep => Self::Keep,
            RestName::Shift => Self::Shift,
        }
    }
}

/// The units that a text is divided into.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnitsName {
    /// Words between white space.
    Words,
    /// Characters.
    Characters,
    /// The whole text of a key.
    Lines,
}

impl UnitsName {
    pub(crate) fn units(self) -> Units {
        match self {
            Self::Words => Units::Words,
            Self::Characters => Units::Characters,
            Self::Lines => Units::Lines,
        }
    }
}

/// The name of a type of values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TypeName {
    /// Floats of 32 bits.
    Float32,
    /// Floats of 64 bits.
    Float64,
    /// Floats of 16 bits.
    Float16,
    /// The upper 16 bits of 32-bit floats.
    Bfloat16,
    /// Integers of 32 bits.
    Int32,
    /// Integers of 64 bits.
    Int64,
}

impl TypeName {
    /// The type, if files are not read as such: a feed rounds or widens to it at its end.
    #[must_use]
    pub fn only_delivered(self) -> Option<Element> {
        match self {
            Self::Float32 | Self::Float64 | Self::Int32 => None,
            Self::Float16 => Some(Element::F16),
            Self::Bfloat16 => Some(Element::BF16),
            Self::Int64 => Some(Element::I64),
        }
    }

    /// The name of a type that only feeds deliver.
    pub(crate) fn of_delivered(element: Element) -> Option<Self> {
        let names = [Self::Float16, Self::Bfloat16, Self::Int64];
        names.into_iter().find(|name| name.only_delivered() == Some(element))
    }
}

/// The number of samples in a sequence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExtentName {
    /// One a time step.
    Samples,
    /// One for the whole sequence.
    Sequence,
    /// A number that is independent of the other streams.
    Own,
}

words! {
    Unit { Frame = "frame", Sequence = "sequence" }
    Layout {
        Padded = "padded", Concatenated = "concatenated", Packed = "packed", Frames = "frames",
        Truncated = "truncated"
    }
    Partial { Keep = "keep", Drop = "drop", Even = "even" }
    Shard { Minibatches = "minibatches", Chunks = "chunks", Groups = "groups" }
    Generator { MersenneTwister = "mt19937-64", Rand = "rand" }
    Stop { First = "first", All = "all", Never = "never" }
    ScheduleUnit { Minibatches = "minibatches", Units = "units" }
    OrderName {
        Shuffle = "shuffle", Sequential = "sequential", Rolling = "rolling", Blocks = "blocks"
    }
    PresetName { None = "none", Cntk = "cntk", CntkTimeline = "cntk-timeline", Pdnn = "pdnn" }
    BatchUnit { Samples = "samples", Sequences = "sequences", Padded = "padded" }
    FormatName { Dense = "dense", Sparse = "sparse" }
    KindName { Dense = "dense", Label = "label", Sparse = "sparse" }
    TypeName {
        Float32 = "float32", Float64 = "float64", Float16 = "float16", Bfloat16 = "bfloat16",
        Int32 = "int32", Int64 = "int64"
    }
    EndsName { Repeat = "repeat", Drop = "drop" }
    RestName { Drop = "drop", Keep = "keep", Shift = "shift" }
    UnitsName { Words = "words", Characters = "characters", Lines = "lines" }
    ExtentName { Samples = "samples", Sequence = "sequence", Own = "own" }
}

impl From<KindName> for Kind {
    fn from(name: KindName) -> Self {
        match name {
            KindName::Dense => Self::Dense,
            KindName::Label => Self::Label,
            KindName::Sparse => Self::Sparse,
        }
    }
}

impl From<ExtentName> for Extent {
    fn from(name: ExtentName) -> Self {
        match name {
            ExtentName::Samples => Self::Samples,
            ExtentName::Sequence => Self::Sequence,
            ExtentName::Own => Self::Own,
        }
    }
}

impl From<Extent> for ExtentName {
    fn from(extent: Extent) -> Self {
        match extent {
            Extent::Samples => Self::Samples,
            Extent::Sequence => Self::Sequence,
            Extent::Own => Self::Own,
        }
    }
}
