//! A description as the text of a `corpus.toml`.

use std::fmt::Write as _;
use std::num::NonZeroUsize;

use seqfeed_core::{Error, Extent, Kind, Result};
use seqfeed_io::name_to_text;
use serde::Serialize;
use toml::Value;

use super::{
    BatchUnit, CutName, Description, FloatName, FormatName, InputDescription, Names, OrderName,
    StreamDescription, Text,
};

/// Why a reader of CNTK stays one.
const READER: &str = "\
# The reader stays, since it says what no other key can: how its files are joined and keyed, which errors are
# passed over, what form labels have, how large chunks are. What follows are the settings that come of it; they
# may be changed.
";

impl Description {
    /// The text of a `corpus.toml` that means the same; names are as they are.
    ///
    /// ```
    /// use seqfeed::Description;
    ///
    /// let text = "features = \"scp:feats.scp\"\ncontext = \"5:5\"\nbatch-size = 512\n";
    /// assert_eq!(Description::from_toml(text)?.to_toml()?, text);
    /// # Ok::<(), seqfeed::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Fails if a number is too large for TOML.
    pub fn to_toml(&self) -> Result<String> {
        let mut out = Lines(String::new());
        let bare = !self.inputs.is_empty();
        if self.reader.is_some() && !bare && self.cut.is_some() {
            out.0.push_str(READER);
        }
        out.text("reader", self.reader.as_ref());
        out.text("data", self.data.as_ref());
        out.number("task", self.task)?;
        out.names("corpus", self.corpus.as_ref());
        out.names("features", self.features.as_ref());
        out.names("labels", self.labels.as_ref());
        out.text("states", self.states.as_ref());
        out.word("context", self.context.as_ref());
        out.word("ignore-label", self.ignore_label.as_ref());
        out.word("map-label", self.map_label.as_ref());
        out.of("unit", self.unit)?;
        out.raw("order", self.order.map(order));
        out.word("window", self.window.as_ref());
        out.number("seed", self.seed)?;
        out.number("batch-size", self.batch_size)?;
        out.raw("batch-unit", self.batch_unit.map(batch_unit));
        out.number("bucket", self.bucket)?;
        out.of("layout", self.layout)?;
        out.number("label-padding", self.label_padding)?;
        out.of("partial", self.partial)?;
        out.of("shard", self.shard)?;
        out.raw("cut", self.cut.map(cut));
        out.word("partition", self.partition.as_ref());
        out.flag("stream", self.stream);
        out.flag("reshuffle", self.reshuffle);
        out.flag("local-timeline", self.local_timeline);
        out.flag("cross-sweeps", self.cross_sweeps);
        out.word("epoch", self.epoch.as_ref());
        out.number("start", self.start)?;
        out.number("truncation", self.truncation)?;
        out.number("sweeps", self.sweeps)?;
        out.number("samples", self.samples)?;
        out.number("rank", self.rank)?;
        out.number("ranks", self.ranks)?;
        out.number("threads", self.threads)?;
        out.number("queue", self.queue)?;
        out.word("memory", self.memory.as_ref());
        out.number("chunk-size", self.chunk_size)?;
        out.flag("map", self.map);
        out.number("line-limit", self.line_limit.map(NonZeroUsize::get))?;
        out.word("missing", self.missing.as_ref());
        out.word("errors", self.errors.as_ref());
        out.text("state", self.state.as_ref().map(name_to_text).as_ref());
        if !self.overrides.is_empty() {
            out.0.push_str("\n[overrides]\n");
            for (name, value) in &self.overrides {
                out.value(&key(name), Value::String(value.text()));
            }
        }
        for (name, input) in &self.inputs {
            out.input(name, input)?;
        }
        for (name, stream) in &self.streams {
            out.stream(name, stream)?;
        }
        Ok(out.0)
    }
}

fn order(order: OrderName) -> &'static str {
    match order {
        OrderName::Shuffle => "shuffle",
        OrderName::Sequential => "sequential",
    }
}

fn batch_unit(unit: BatchUnit) -> &'static str {
    match unit {
        BatchUnit::Samples => "samples",
        BatchUnit::Sequences => "sequences",
        BatchUnit::Padded => "padded",
    }
}

fn cut(cut: CutName) -> &'static str {
    match cut {
        CutName::Steps => "steps",
        CutName::Worker => "worker",
        CutName::Timeline => "timeline",
        CutName::Partitions => "partitions",
    }
}

/// A name as a key, in quotes where it needs them.
fn key(name: &str) -> String {
    let bare = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    match !name.is_empty() && name.chars().all(bare) {
        true => name.to_owned(),
        false => Value::String(name.to_owned()).to_string(),
    }
}

/// Lines of TOML.
struct Lines(String);

impl Lines {
    fn value(&mut self, key: &str, value: impl std::fmt::Display) {
        // Writing to a text never fails.
        let _ = writeln!(self.0, "{key} = {value}");
    }

    fn raw(&mut self, key: &str, word: Option<&str>) {
        if let Some(word) = word {
            self.value(key, format_args!("\"{word}\""));
        }
    }

    fn text(&mut self, key: &str, text: Option<&String>) {
        if let Some(text) = text {
            self.value(key, Value::String(text.clone()));
        }
    }

    fn word(&mut self, key: &str, text: Option<&Text>) {
        self.text(key, text.map(Text::text).as_ref());
    }

    fn flag(&mut self, key: &str, flag: Option<bool>) {
        if let Some(flag) = flag {
            self.value(key, flag);
        }
    }

    fn names(&mut self, key: &str, names: Option<&Names>) {
        match names {
            Some(Names::One(name)) => self.text(key, Some(name)),
            Some(Names::Several(names)) => {
                let names = names.iter().cloned().map(Value::String).collect();
                self.value(key, Value::Array(names));
            }
            None => {}
        }
    }

    fn number<T: TryInto<i64>>(&mut self, key: &str, number: Option<T>) -> Result<()> {
        let Some(number) = number else { return Ok(()) };
        let number: i64 = number
            .try_into()
            .map_err(|_| Error::usage(format!("{key}: the number is too large for TOML")))?;
        self.value(key, number);
        Ok(())
    }

    /// A word that its type knows.
    fn of<T: Serialize>(&mut self, key: &str, value: Option<T>) -> Result<()> {
        let Some(value) = value else { return Ok(()) };
        let value =
            Value::try_from(value).map_err(|error| Error::usage(format!("{key}: {error}")))?;
        self.value(key, value);
        Ok(())
    }

    fn table(&mut self, kind: &str, name: &str) {
        let _ = writeln!(self.0, "\n[{kind}.{}]", key(name));
    }

    fn input(&mut self, name: &str, input: &InputDescription) -> Result<()> {
        self.table("inputs", name);
        self.text("alias", input.alias.as_ref());
        self.number("dim", Some(input.dim))?;
        let format = match input.format {
            FormatName::Dense => "dense",
            FormatName::Sparse => "sparse",
        };
        self.raw("format", Some(format));
        self.flag("defines-mb-size", input.defines_mb_size.then_some(true));
        Ok(())
    }

    fn stream(&mut self, name: &str, stream: &StreamDescription) -> Result<()> {
        self.table("streams", name);
        self.names("source", stream.source.as_ref());
        self.text("states", stream.states.as_ref());
        self.raw("kind", stream.kind.map(|kind| Kind::from(kind).name()));
        self.number("dim", stream.dim)?;
        let dtype = stream.dtype.map(|dtype| match dtype {
            FloatName::Float32 => "float32",
            FloatName::Float64 => "float64",
        });
        self.raw("dtype", dtype);
        self.raw("extent", stream.extent.map(|extent| Extent::from(extent).name()));
        self.word("context", stream.context.as_ref());
        Ok(())
    }
}
