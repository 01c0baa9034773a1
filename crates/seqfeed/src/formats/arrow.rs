//! Arrow IPC and Parquet files: a row a sequence, a column a stream.

mod opening;
mod sink;

use std::sync::Arc;

use seqfeed_arrow::{Compress, KeyType, WriteOptions};
use seqfeed_core::{Error, Result, Sink, Source};
use toml::{Table, Value};

pub(crate) use self::sink::{ArrowContainer, ArrowSink};
use crate::format::{Candidate, Capabilities, Certainty, Format, Wanted, Writing};

/// A file of columns.
pub(crate) struct Columns {
    name: &'static str,
    /// Extensions of names that are read.
    read: &'static [&'static str],
    capabilities: Capabilities,
}

const HOLDS: Capabilities = Capabilities {
    options: &["compress"],
    called: "Parquet and Arrow files",
    ..Capabilities::EVERYTHING
};

impl Columns {
    pub(crate) const PARQUET: Self = Self {
        name: "parquet",
        read: &[".parquet"],
        capabilities: Capabilities { ends: &["parquet"], ..HOLDS },
    };
    /// The file format of Arrow IPC. Its stream format is read too.
    pub(crate) const ARROW: Self = Self {
        name: "arrow",
        read: &[".arrow", ".arrows", ".feather", ".ipc"],
        capabilities: Capabilities { ends: &["arrow", "feather", "ipc"], ..HOLDS },
    };

    fn reads(&self, name: &str) -> bool {
        let file = split(name).0.to_ascii_lowercase();
        let said = name.split_once(':').is_some_and(|(kind, _)| {
            kind.split(',').any(|word| word == "ark" || word == "scp" || word == "htk")
        });
        !said && self.read.iter().any(|end| file.ends_with(end))
    }
}

/// Whether a name is that of such a file: `train.parquet`, or one column of it,
/// `train.parquet#features`.
fn is_arrow(name: &str) -> bool {
    Columns::PARQUET.reads(name) || Columns::ARROW.reads(name)
}

/// The file, and the column.
fn split(name: &str) -> (&str, Option<&str>) {
    match name.rsplit_once('#') {
        Some((file, column)) => (file, Some(column)),
        None => (name, None),
    }
}

impl Format for Columns {
    fn name(&self) -> &'static str {
        self.name
    }

    fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }

    fn recognise(&self, name: &Candidate<'_>) -> Option<Certainty> {
        self.reads(name.text).then_some(Certainty::Name)
    }

    fn description(&self, name: &str) -> Table {
        let one = |key: &str, value| Table::from_iter([(key.to_owned(), value)]);
        let text = Value::String(name.to_owned());
        match split(name).1 {
            None => one("corpus", text),
            Some(column) => {
                one("streams", Value::Table(one(column, Value::Table(one("source", text)))))
            }
        }
    }

    fn open(&self, names: &[String], wanted: &Wanted<'_>) -> Result<Arc<dyn Source>> {
        wanted.refuse(
            wanted.dim.is_some(),
            "dim is for Kaldi's tables",
            "leave it out: the column says it",
        )?;
        match wanted.stream {
            Some(stream) => opening::open_one(names, stream, wanted),
            None => opening::open_all(names, wanted),
        }
    }

    fn check_option(&self, _: &str, value: &str) -> Result<()> {
        zstd(value).map(drop)
    }

    fn sink(&self, writing: &Writing<'_>) -> Result<Box<dyn Sink>> {
        let container = match self.name {
            "parquet" => ArrowContainer::Parquet,
            _ => ArrowContainer::Ipc,
        };
        let level = writing.options.get("compress").map(|text| zstd(text)).transpose()?;
        let compress = level.map_or(Compress::None, Compress::Zstd);
        let options = WriteOptions { compress, ..WriteOptions::default() };
        // For the whole corpus, so that all parts have the same columns.
        let keys = KeyType::of(writing.index);
        let Writing { streams, opener, .. } = writing;
        let name = writing.file()?;
        Ok(Box::new(ArrowSink::create(&name, container, streams, keys, &options, opener)?))
    }
}

/// The level of Zstandard if none is given: its own default.
const ZSTD: i32 = 3;

/// A level of Zstandard: `zstd` or `zstd:9`.
fn zstd(text: &str) -> Result<i32> {
    match text.strip_prefix("zstd") {
        Some("") => Some(ZSTD),
        None if text == "auto" => Some(ZSTD),
        Some(level) => level.strip_prefix(':').and_then(|level| level.parse().ok()),
        None => None,
    }
    .filter(|level| (1..=22).contains(level))
    .ok_or_else(|| {
        Error::usage(format!("--compress={text}: expected a way to compress columns"))
            .with_help("zstd, or zstd:LEVEL with a level from 1 to 22")
    })
}
