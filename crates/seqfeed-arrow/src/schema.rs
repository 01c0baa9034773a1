//! Finds the columns of keys, lengths and streams, and makes columns of streams.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_schema::{DataType, Field, Fields, Schema};
use seqfeed_core::{Element, Error, Extent, Kind, Result, Stream};

use crate::number::Number;

const KIND: &str = "seqfeed.kind";
const EXTENT: &str = "seqfeed.extent";
const DIM: &str = "seqfeed.dim";
const KEY: &str = "key";
const LENGTH: &str = "length";
/// The name of the written column of lengths.
const SAMPLES: &str = "samples";
/// Names of the column of keys in files of other programs.
const KEY_NAMES: [&str; 7] = ["key", "utt", "utt_id", "utterance", "utterance_id", "id", "name"];

/// Options for opening Arrow and Parquet files.
#[derive(Clone, Debug)]
pub struct ArrowOptions {
    /// The columns that become streams, in this order. By default all possible columns, in the
    /// order of the file.
    pub columns: Vec<ColumnChoice>,
    /// The column of keys, if its name is not a usual one.
    pub key: Option<String>,
    /// The most samples in a chunk of the source's index.
    pub chunk_samples: u64,
}

impl Default for ArrowOptions {
    fn default() -> Self {
        Self { columns: Vec::new(), key: None, chunk_samples: 32_768 }
    }
}

/// A column that becomes a stream. Missing properties are found from the file.
#[derive(Clone, Debug, Default)]
pub struct ColumnChoice {
    /// The column's name.
    pub column: String,
    /// The stream's name; the column's, if it is empty.
    pub stream: String,
    /// The kind of its samples.
    pub kind: Option<Kind>,
    /// Type of its values: floats for dense and sparse streams.
    pub element: Option<Element>,
    /// The number of its samples in a sequence.
    pub extent: Option<Extent>,
}

/// The form of a sample in a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sample {
    /// A number.
    One,
    /// A fixed-size list of numbers.
    Fixed(usize),
    /// A list of numbers.
    List { long: bool },
    /// A list of structs, with the positions of index and value in a struct.
    Pairs { long: bool, index: Number, index_at: usize, value_at: usize },
}

/// The form of a stream in a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Form {
    /// Whether a row has a list of samples, and whether its offsets have 64 bits.
    pub(crate) list: Option<bool>,
    pub(crate) sample: Sample,
    /// The type of values.
    pub(crate) number: Number,
}

/// A column that holds a stream.
#[derive(Clone, Debug)]
pub(crate) struct Column {
    /// Its number in the schema.
    pub(crate) field: usize,
    pub(crate) form: Form,
    pub(crate) stream: Stream,
    /// Whether the stream's dim is unknown until a sample has been read.
    pub(crate) open_dim: bool,
    /// Whether the extent was given, not derived from the lists.
    pub(crate) marked: bool,
}

/// The wanted columns.
#[derive(Clone, Debug)]
pub(crate) struct Columns {
    pub(crate) key: Option<usize>,
    pub(crate) length: Option<usize>,
    pub(crate) streams: Vec<Column>,
}

impl Form {
    fn of(data_type: &DataType) -> Option<Self> {
        if let Some((sample, number)) = Self::sample(data_type)
            && !matches!(sample, Sample::List { .. })
        {
            return Some(Self { list: None, sample, number });
        }
        let (DataType::List(item) | DataType::LargeList(item)) = data_type else { return None };
        let list = Some(matches!(data_type, DataType::LargeList(_)));
        let (sample, number) = Self::sample(item.data_type())?;
        Some(Self { list, sample, number })
    }

    fn sample(data_type: &DataType) -> Option<(Sample, Number)> {
        match data_type {
            DataType::FixedSizeList(item, len) => {
                let len = usize::try_from(*len).ok().filter(|&len| len > 0)?;
                Some((Sample::Fixed(len), Number::of(item.data_type())?))
            }
            DataType::List(item) | DataType::LargeList(item) => {
                let long = matches!(data_type, DataType::LargeList(_));
                let DataType::Struct(fields) = item.data_type() else {
                    return Some((Sample::List { long }, Number::of(item.data_type())?));
                };
                let at = |name: &str| fields.iter().position(|field| field.name() == name);
                let (index_at, value_at) = (at("index")?, at("value")?);
                let index = Number::of(fields[index_at].data_type())?;
                let number = Number::of(fields[value_at].data_type())?;
                let floats = !index.is_float() && number.is_float();
                floats.then_some((Sample::Pairs { long, index, index_at, value_at }, number))
            }
            other => Some((Sample::One, Number::of(other)?)),
        }
    }
}

impl Columns {
    /// Finds the columns of a schema.
    pub(crate) fn find(schema: &Schema, options: &ArrowOptions) -> Result<Self> {
        let fields = schema.fields();
        let marked = |kind: &str| {
            fields.iter().position(|field| field.metadata().get(KIND).is_some_and(|k| k == kind))
        };
        let key = match &options.key {
            Some(name) => Some(named(fields, name)?),
            None => marked(KEY).or_else(|| {
                KEY_NAMES.iter().find_map(|name| {
                    let same = |field: &Arc<Field>| field.name().eq_ignore_ascii_case(name);
                    fields.iter().position(same).filter(|&n| is_key(fields[n].data_type()))
                })
            }),
        };
        if let Some(key) = key.filter(|&key| !is_key(fields[key].data_type())) {
            return Err(Error::usage(format!(
                "column {} is of type {}, which keys cannot be",
                fields[key].name(),
                fields[key].data_type()
            ))
            .with_help("keys are text, bytes or integers"));
        }
        let length = marked(LENGTH).filter(|&field| *fields[field].data_type() == DataType::Int32);
        let others = |field: &usize| Some(*field) != key && Some(*field) != length;
        let mut streams = Vec::new();
        if options.columns.is_empty() {
            for field in (0..fields.len()).filter(others) {
                let choice = ColumnChoice::default();
                let one_number = Number::of(fields[field].data_type()).is_some();
                if Form::of(fields[field].data_type()).is_none()
                    || one_number && !fields[field].metadata().contains_key(KIND)
                {
                    continue;
                }
                streams.push(Column::new(field, &fields[field], &choice)?);
            }
        }
        for choice in &options.columns {
            let field = named(fields, &choice.column)?;
            streams.push(Column::new(field, &fields[field], choice)?);
        }
        if streams.is_empty() {
            return Err(Error::corpus(format!(
                "no column holds samples; there are {}",
                described(fields)
            ))
            .with_help("streams are lists of numbers, of fixed-size lists, or of lists"));
        }
        Ok(Self { key, length, streams })
    }

    /// The numbers of the columns, ascending.
    pub(crate) fn fields(&self) -> Vec<usize> {
        let streams = self.streams.iter().map(|column| column.field);
        let mut fields: Vec<usize> = streams.chain(self.key).chain(self.length).collect();
        fields.sort_unstable();
        fields.dedup();
        fields
    }
}

impl Column {
    fn new(field: usize, described: &Field, choice: &ColumnChoice) -> Result<Self> {
        let name = match choice.stream.as_str() {
            "" => described.name(),
            name => name,
        };
        let refuse = |what: String| {
            Error::usage(format!(
                "column {} is of type {}: {what}",
                described.name(),
                described.data_type()
            ))
        };
        let Some(mut form) = Form::of(described.data_type()) else {
            return Err(refuse("no stream can be made of it".to_owned())
                .with_help("streams are lists of numbers, of fixed-size lists, or of lists"));
        };
        let mark = |key: &str| described.metadata().get(key).map(String::as_str);
        let said = match mark(EXTENT) {
            Some("samples") => Some(Extent::Samples),
            Some("sequence") => Some(Extent::Sequence),
            Some("own") => Some(Extent::Own),
            _ => None,
        };
        let wanted = choice.extent.or(said);
        if let (Some(Extent::Sequence), Form { list: Some(long), sample: Sample::One, .. }) =
            (wanted, form)
        {
            form = Form { list: None, sample: Sample::List { long }, ..form };
        }
        let extent = match (wanted, form.list) {
            (Some(Extent::Sequence), Some(_)) => {
                return Err(refuse("it holds several samples a sequence".to_owned())
                    .with_help("take extent = \"samples\""));
            }
            (Some(extent), Some(_)) => extent,
            (None, Some(_)) => Extent::Samples,
            (Some(Extent::Samples | Extent::Own), None) => {
                return Err(refuse("it holds one sample a sequence".to_owned())
                    .with_help("take extent = \"sequence\""));
            }
            (_, None) => Extent::Sequence,
        };
        let sparse = matches!(form.sample, Sample::Pairs { .. });
        let kind = match choice.kind {
            None if sparse => Kind::Sparse,
            None => match mark(KIND) {
                Some("dense") => Kind::Dense,
                Some("label") => Kind::Label,
                _ if form.number.is_float() => Kind::Dense,
                _ => Kind::Label,
            },
            Some(kind) => kind,
        };
        if sparse != (kind == Kind::Sparse) {
            let is = if sparse { "it is sparse" } else { "it is not sparse" };
            return Err(refuse(is.to_owned()));
        }
        if kind == Kind::Label && form.number.is_float() {
            return Err(refuse("labels are expected (integers), but these are floats".to_owned())
                .with_help("streams of floats are of kind \"dense\""));
        }
        let element = match (kind, choice.element) {
            (Kind::Label, _) => Element::I32,
            (_, Some(element)) => element,
            (_, None) if form.number.is_float() => form.number.element(),
            // Integers that are used as real values: sound.
            (_, None) => Element::F32,
        };
        if kind != Kind::Label && element == Element::I32 {
            return Err(refuse("its values are floats".to_owned()));
        }
        let marked_dim =
            mark(DIM).and_then(|dim| dim.parse().ok()).filter(|dim| (1..=1 << 31).contains(dim));
        let (dim, open_dim) = match (form.sample, marked_dim) {
            (Sample::One, _) => (1, false),
            (Sample::Fixed(dim), _) => (dim, false),
            (Sample::List { .. } | Sample::Pairs { .. }, Some(dim)) => (dim, false),
            (Sample::List { .. }, None) => (1, true),
            (Sample::Pairs { .. }, None) => {
                return Err(refuse("how many values a sample has is not known".to_owned())
                    .with_help("say it in the metadata of the column's field, as seqfeed.dim"));
            }
        };
        let marked = wanted.is_some();
        let stream = Stream { name: name.to_owned(), kind, element, dim, extent };
        Ok(Self { field, form, stream, open_dim, marked })
    }
}

fn named(fields: &Fields, name: &str) -> Result<usize> {
    fields.iter().position(|field| field.name() == name).ok_or_else(|| {
        Error::usage(format!("there is no column {name}"))
            .with_help(format!("there are {}", described(fields)))
    })
}

fn described(fields: &Fields) -> String {
    let each = fields.iter().map(|field| format!("{} ({})", field.name(), field.data_type()));
    match fields.len() {
        0 => "no columns".to_owned(),
        1..=20 => each.collect::<Vec<_>>().join(", "),
        _ => each.take(20).chain(["...".to_owned()]).collect::<Vec<_>>().join(", "),
    }
}

fn is_key(data_type: &DataType) -> bool {
    match data_type {
        DataType::Dictionary(index, value) => {
            index.is_integer() && is_key(value) && !matches!(**value, DataType::Dictionary(..))
        }
        DataType::Utf8
        | DataType::LargeUtf8
        | DataType::Utf8View
        | DataType::Binary
        | DataType::LargeBinary
        | DataType::BinaryView => true,
        other => other.is_integer(),
    }
}

/// The schema of a file to write.
pub(crate) fn written(streams: &[Stream], key: DataType) -> Schema {
    let mark = |field: Field, kind: &str| {
        field.with_metadata(HashMap::from([(KIND.to_owned(), kind.to_owned())]))
    };
    let mut fields = vec![
        mark(Field::new(KEY, key, false), KEY),
        mark(Field::new(SAMPLES, DataType::Int32, false), LENGTH),
    ];
    for stream in streams {
        let extent = match stream.extent {
            Extent::Samples => "samples",
            Extent::Sequence => "sequence",
            Extent::Own => "own",
        };
        let marks = [
            (KIND, stream.kind.name().to_owned()),
            (EXTENT, extent.to_owned()),
            (DIM, stream.dim.to_string()),
        ];
        let marks = marks.map(|(key, value)| (key.to_owned(), value));
        let field = Field::new(&stream.name, column_type(stream), false);
        fields.push(field.with_metadata(HashMap::from(marks)));
    }
    Schema::new(fields)
}

/// The type of a stream's column.
fn column_type(stream: &Stream) -> DataType {
    let sample = sample_type(stream);
    match stream.extent {
        Extent::Sequence => sample,
        Extent::Samples | Extent::Own => DataType::List(item(sample)),
    }
}

/// The type of a stream's samples.
pub(crate) fn sample_type(stream: &Stream) -> DataType {
    let value = match stream.element {
        Element::F32 => DataType::Float32,
        Element::F64 => DataType::Float64,
        _ => DataType::Int32,
    };
    match (stream.kind, stream.dim) {
        (Kind::Sparse, _) => DataType::List(item(DataType::Struct(pair(value)))),
        (_, 1) => value,
        (_, dim) => DataType::FixedSizeList(item(value), i32::try_from(dim).unwrap_or(i32::MAX)),
    }
}

/// The items of a list, with the name that Parquet demands.
pub(crate) fn item(data_type: DataType) -> Arc<Field> {
    Arc::new(Field::new("element", data_type, false))
}

/// The fields of a sparse value.
pub(crate) fn pair(value: DataType) -> Fields {
    Fields::from(vec![
        Field::new("index", DataType::Int32, false),
        Field::new("value", value, false),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_found_again() {
        let stream = |name: &str, kind, element, dim, extent| Stream {
            name: name.to_owned(),
            kind,
            element,
            dim,
            extent,
        };
        let streams = [
            stream("features", Kind::Dense, Element::F32, 40, Extent::Samples),
            stream("energy", Kind::Dense, Element::F64, 1, Extent::Own),
            stream("speaker", Kind::Dense, Element::F32, 3, Extent::Sequence),
            stream("labels", Kind::Label, Element::I32, 1, Extent::Samples),
            stream("language", Kind::Label, Element::I32, 1, Extent::Sequence),
            stream("words", Kind::Sparse, Element::F64, 1 << 20, Extent::Own),
            stream("bag", Kind::Sparse, Element::F32, 7, Extent::Sequence),
        ];
        let schema = written(&streams, DataType::Utf8);
        let columns = Columns::find(&schema, &ArrowOptions::default()).unwrap();
        let found: Vec<Stream> = columns.streams.into_iter().map(|c| c.stream).collect();
        assert_eq!(found, streams);
        assert_eq!((columns.key, columns.length), (Some(0), Some(1)));
    }

    #[test]
    fn columns_of_others_are_told_by_their_types() {
        let list = |t| DataType::List(item(t));
        let schema = Schema::new(vec![
            Field::new("speaker", DataType::Utf8, true),
            Field::new("Utt_ID", DataType::LargeUtf8, true),
            Field::new("duration", DataType::Float64, true),
            Field::new("wav", DataType::LargeList(item(DataType::Int16)), true),
            Field::new("mel", list(list(DataType::Float16)), true),
            Field::new("vector", DataType::FixedSizeList(item(DataType::Float32), 3), true),
        ]);
        let columns = Columns::find(&schema, &ArrowOptions::default()).unwrap();
        let names: Vec<&str> = columns.streams.iter().map(|c| c.stream.name.as_str()).collect();
        assert_eq!((columns.key, names), (Some(1), vec!["wav", "mel", "vector"]));
        let kinds: Vec<Kind> = columns.streams.iter().map(|c| c.stream.kind).collect();
        assert_eq!(kinds, [Kind::Label, Kind::Dense, Kind::Dense]);
        let choose = |column: &str, kind, extent| ArrowOptions {
            columns: vec![ColumnChoice {
                column: column.into(),
                kind,
                extent,
                ..Default::default()
            }],
            ..ArrowOptions::default()
        };
        let found = |options: &ArrowOptions| {
            Columns::find(&schema, options).map(|columns| columns.streams[0].stream.clone())
        };
        let wav = found(&choose("wav", Some(Kind::Dense), None)).unwrap();
        assert_eq!((wav.element, wav.dim, wav.extent), (Element::F32, 1, Extent::Samples));
        let duration = found(&choose("duration", None, None)).unwrap();
        assert_eq!((duration.element, duration.extent), (Element::F64, Extent::Sequence));
        for (wrong, says) in [
            (choose("colour", None, None), "no column colour"),
            (choose("speaker", None, None), "no stream can be made"),
            (choose("mel", Some(Kind::Label), None), "these are floats"),
            (choose("mel", Some(Kind::Sparse), None), "not sparse"),
            (choose("mel", None, Some(Extent::Sequence)), "several samples"),
            (choose("vector", None, Some(Extent::Samples)), "one sample a sequence"),
            (ArrowOptions { key: Some("duration".into()), ..Default::default() }, "keys cannot"),
        ] {
            let error = found(&wrong).unwrap_err();
            assert!(error.is_usage() && error.message().contains(says), "{error}");
        }
    }
}
