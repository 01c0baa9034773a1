//! The files that PDNN reads. Data specifications name them, so the key `data` reads them.

mod alignments;
mod arrays;
mod pfile;

use seqfeed_core::{Kind, Result, Sink};
use seqfeed_pdnn::pickle::{Container, Protocol};
use toml::{Table, Value};

pub(crate) use self::alignments::AlignmentSink;
pub(crate) use self::arrays::ArraysSink;
pub(crate) use self::pfile::PFileSink;
use super::{of_streams, stream_table};
use crate::data_spec::DataFormat;
use crate::format::{
    Candidate, Capabilities, Certainty, Format, Keys, Writing, WrittenParts, one_or_all,
};

const HOLDS: Capabilities = Capabilities {
    reads_streams: false,
    reads_corpora: false,
    dense: 1,
    labels: 1,
    sparse: false,
    per_sequence: false,
    ..Capabilities::EVERYTHING
};

/// An ICSI PFile.
pub(crate) struct PFile;

impl Format for PFile {
    fn name(&self) -> &'static str {
        "pfile"
    }

    fn capabilities(&self) -> &Capabilities {
        &Capabilities {
            ends: &["pfile"],
            labels: usize::MAX,
            float64: false,
            stream_names: false,
            keys: Keys::Ordinals,
            words: "one stream of floats and labels, one a frame",
            called: "PFiles",
            ..HOLDS
        }
    }

    fn recognise(&self, _: &Candidate<'_>) -> Option<Certainty> {
        None
    }

    fn sink(&self, writing: &Writing<'_>) -> Result<Box<dyn Sink>> {
        Ok(Box::new(PFileSink::create(&writing.file()?, writing.streams, writing.opener)?))
    }

    fn describe(&self, written: &WrittenParts<'_>) -> Option<Table> {
        data(written, DataFormat::PFile)
    }
}

/// The samples of all sequences as one numpy matrix, with labels if there are any.
pub(crate) struct Arrays {
    name: &'static str,
    capabilities: Capabilities,
    container: fn(Option<Protocol>) -> Container,
    kind: DataFormat,
}

const ARRAYS: Capabilities = Capabilities {
    needs: Some(Kind::Dense),
    stream_names: false,
    keys: Keys::OneSequence,
    words: "one stream of floats and one of labels",
    called: "numpy's files",
    ..HOLDS
};

impl Arrays {
    /// A pickle of (features, labels).
    pub(crate) const PICKLE: Self = Self {
        name: "pickle",
        capabilities: Capabilities {
            ends: &["pickle", "pkl"],
            packed: true,
            options: &["protocol"],
            called: "pickles",
            ..ARRAYS
        },
        container: |protocol| Container::Pickle(protocol.unwrap_or(Protocol::Five)),
        kind: DataFormat::Pickle,
    };
    /// A `.npy` file.
    pub(crate) const NPY: Self = Self {
        name: "npy",
        capabilities: Capabilities {
            ends: &["npy"],
            labels: 0,
            packed: true,
            words: "one stream of floats",
            ..ARRAYS
        },
        container: |_| Container::Npy,
        kind: DataFormat::Pickle,
    };
    /// A `.npz` file.
    pub(crate) const NPZ: Self = Self {
        name: "npz",
        capabilities: Capabilities { ends: &["npz"], ..ARRAYS },
        container: |_| Container::Npz,
        kind: DataFormat::Npz,
    };
}

impl Format for Arrays {
    fn name(&self) -> &'static str {
        self.name
    }

    fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }

    fn recognise(&self, _: &Candidate<'_>) -> Option<Certainty> {
        None
    }

    fn check_option(&self, _: &str, value: &str) -> Result<()> {
        protocol(value).map(drop)
    }

    fn sink(&self, writing: &Writing<'_>) -> Result<Box<dyn Sink>> {
        let protocol = writing.options.get("protocol").map(|text| protocol(text)).transpose()?;
        let container = (self.container)(protocol);
        let Writing { streams, samples, opener, .. } = writing;
        Ok(Box::new(ArraysSink::create(&writing.file()?, container, streams, *samples, opener)?))
    }

    fn describe(&self, written: &WrittenParts<'_>) -> Option<Table> {
        data(written, self.kind)
    }
}

fn protocol(text: &str) -> Result<Protocol> {
    text.parse().unwrap_or(u8::MAX).try_into()
}

/// Alignments: a line of labels for each utterance.
pub(crate) struct Alignments;

impl Format for Alignments {
    fn name(&self) -> &'static str {
        "ali"
    }

    fn capabilities(&self) -> &Capabilities {
        &Capabilities {
            ends: &["ali"],
            reads_streams: false,
            reads_corpora: false,
            packed: true,
            called: "alignments",
            ..Capabilities::LABELS
        }
    }

    fn recognise(&self, _: &Candidate<'_>) -> Option<Certainty> {
        None
    }

    fn sink(&self, writing: &Writing<'_>) -> Result<Box<dyn Sink>> {
        Ok(Box::new(AlignmentSink::create(&writing.file()?, writing.streams, writing.opener)?))
    }

    fn describe(&self, written: &WrittenParts<'_>) -> Option<Table> {
        let names = written.names()?.into_iter().map(|name| format!("ark:{name}"));
        let stream = written.streams.first()?;
        let table = stream_table(stream, one_or_all(names.collect()));
        Some(of_streams(Table::from_iter([(stream.name.clone(), table)])))
    }
}

/// A data specification of files of a kind.
fn data(written: &WrittenParts<'_>, kind: DataFormat) -> Option<Table> {
    let names = written.names()?;
    // A comma would begin an option, and the name must tell the kind of the file.
    let told = |name: &String| {
        !name.contains([',', '|', '*', '?', '[']) && DataFormat::of(name) == Some(kind)
    };
    if !names.iter().all(told) {
        return None;
    }
    let data = match &names[..] {
        [one] => one.clone(),
        _ => pattern(&names)?,
    };
    Some(Table::from_iter([("data".to_owned(), Value::String(data))]))
}

/// A pattern for names that differ only in their numbers: `out-*-of-00008.pfile`.
fn pattern(names: &[String]) -> Option<String> {
    let first = names.first()?;
    let at = first.rfind("00001-of-")?;
    let pattern = format!("{}*{}", &first[..at], &first[at + 5..]);
    let fits = |name: &String| name.len() == first.len() && name.starts_with(&first[..at]);
    names.iter().all(fits).then_some(pattern)
}
