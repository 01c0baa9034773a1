//! HTK's files: scripts, parameter files and master label files.

mod files;
mod sink;

use std::sync::Arc;

use seqfeed_core::{Error, Kind, Result, Sink, Source};
use seqfeed_htk::param::{ByteOrder, Encoding};
use seqfeed_io::{Opener, OutputDirectory, WxFilename, name_from_text, path_from_text};
use toml::{Table, Value};

pub(crate) use self::files::state_names;
pub(crate) use self::sink::{HtkLayout, HtkSink};
use super::{of_streams, stream_table};
use crate::format::{
    Candidate, Capabilities, Certainty, Format, Wanted, Writing, WrittenParts, one_or_all,
};

/// HTK's files: `NAME.scp`, and with labels `NAME.mlf` and `NAME.states`.
pub(crate) struct Htk {
    layout: HtkLayout,
    capabilities: Capabilities,
}

const HOLDS: Capabilities = Capabilities {
    reads_corpora: false,
    dense: 1,
    labels: 1,
    sparse: false,
    per_sequence: false,
    needs: Some(Kind::Dense),
    float64: false,
    several_files: true,
    options: &["htk-kind", "htk-period", "htk-little-endian"],
    words: "one stream of floats and one of labels",
    called: "HTK's files",
    ..Capabilities::EVERYTHING
};

impl Htk {
    /// The frames of all utterances in one file, `NAME.htk`.
    pub(crate) const ARCHIVE: Self =
        Self { layout: HtkLayout::Archive, capabilities: Capabilities { ends: &["htk"], ..HOLDS } };
    /// One file an utterance: `NAME/KEY.htk`.
    pub(crate) const FILES: Self = Self {
        layout: HtkLayout::Files,
        capabilities: Capabilities { reads_streams: false, ..HOLDS },
    };
}

impl Format for Htk {
    fn name(&self) -> &'static str {
        match self.layout {
            HtkLayout::Archive => "htk",
            HtkLayout::Files => "htk-files",
        }
    }

    fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }

    fn recognise(&self, name: &Candidate<'_>) -> Option<Certainty> {
        files::recognise(name)
    }

    fn description(&self, name: &str) -> Table {
        Table::from_iter([("features".to_owned(), Value::String(name.to_owned()))])
    }

    fn open(&self, names: &[String], wanted: &Wanted<'_>) -> Result<Arc<dyn Source>> {
        wanted.refuse(
            wanted.kind == Some(Kind::Sparse),
            "HTK's files are not sparse",
            "leave kind out for features; kind = \"label\" is for labels",
        )?;
        files::open(names, wanted)
    }

    fn check_option(&self, option: &str, value: &str) -> Result<()> {
        let wrong = |error: &Error| {
            Error::usage(format!("--{option}: {}", error.message()))
                .with_help(error.help().unwrap_or_default().to_owned())
        };
        encoding(|name| (name == option).then_some(value)).map_err(|error| wrong(&error)).map(drop)
    }

    fn check_target<'a>(&self, name: &'a str) -> Result<&'a str> {
        let stem = match self.layout {
            HtkLayout::Archive => name.strip_suffix(".htk").unwrap_or(name),
            HtkLayout::Files => name,
        };
        if stem == "-" || stem.ends_with('/') || stem.starts_with('|') {
            return Err(Error::usage(format!("{name}: several files begin with this name"))
                .with_help("give what their names begin with, such as out/train"));
        }
        Ok(stem)
    }

    fn outputs(&self, writing: &Writing<'_>) -> Result<Vec<WxFilename>> {
        let labels = writing.streams.iter().any(|stream| stream.kind != Kind::Dense);
        let archive = (self.layout == HtkLayout::Archive).then_some("htk");
        let labels = labels.then_some(["mlf", "states"]).into_iter().flatten();
        let ends = archive.into_iter().chain(["scp"]).chain(labels);
        let name = |end| name_from_text(&format!("{}.{end}", writing.name));
        ends.map(|end| WxFilename::parse(&name(end))).collect()
    }

    fn sink(&self, writing: &Writing<'_>) -> Result<Box<dyn Sink>> {
        let encoding = encoding(|name| writing.options.get(name).map(String::as_str))?;
        let Writing { name, streams, states, opener, .. } = writing;
        let sink = HtkSink::create(name, self.layout, streams, &encoding, states, opener)?;
        Ok(Box::new(sink))
    }

    fn complete(&self, parts: &[String]) -> Result<()> {
        match self.layout {
            HtkLayout::Archive => Ok(()),
            HtkLayout::Files => {
                parts.iter().try_for_each(|name| OutputDirectory::unmark(&path_from_text(name)))
            }
        }
    }

    fn describe(&self, written: &WrittenParts<'_>) -> Option<Table> {
        let all = |end: &str| -> Option<Value> {
            let name = |part: &Writing<'_>| written.relative(&format!("{}.{end}", part.name));
            written.parts.iter().map(name).collect::<Option<Vec<String>>>().map(one_or_all)
        };
        let mut described = Table::new();
        for stream in written.streams {
            let mut table = stream_table(
                stream,
                all(match stream.kind {
                    Kind::Dense => "scp",
                    _ => "mlf",
                })?,
            );
            if stream.kind != Kind::Dense {
                // The longest list contains the names of all the others.
                let list = |part: &Writing<'_>| format!("{}.states", part.name);
                let bytes = |list: &String| {
                    let found = Opener::default().probe(&path_from_text(list).into());
                    found.map_or(0, |found| found.len)
                };
                let longest = written.parts.iter().map(list).max_by_key(bytes)?;
                let states = Value::String(written.relative(&longest)?);
                table.as_table_mut()?.insert("states".to_owned(), states);
            }
            described.insert(stream.name.clone(), table);
        }
        Some(of_streams(described))
    }
}

/// Kind, frame period and byte order, from options.
fn encoding<'a>(option: impl Fn(&str) -> Option<&'a str>) -> Result<Encoding> {
    let mut encoding = Encoding::default();
    if let Some(kind) = option("htk-kind") {
        encoding.kind = kind.parse()?;
    }
    if let Some(period) = option("htk-period") {
        encoding.period = period
            .parse()
            .map_err(|_| Error::usage(format!("`{period}` is no period in units of 100 ns")))?;
    }
    if option("htk-little-endian") == Some("true") {
        encoding.order = ByteOrder::Little;
    }
    Ok(encoding)
}
