//! CNTK's text format. Readers describe its contents, so the key `reader` reads it.

mod sink;

use seqfeed_core::{Kind, Result, Sink};
use seqfeed_io::CompressedOutput;
use toml::{Table, Value};

pub(crate) use self::sink::CtfSink;
use crate::format::{Candidate, Capabilities, Certainty, Format, Keys, Writing, WrittenParts};
use crate::reader::{is_bare_ctf, is_reader};

/// A CTF file.
pub(crate) struct Ctf;

impl Format for Ctf {
    fn name(&self) -> &'static str {
        "ctf"
    }

    fn capabilities(&self) -> &Capabilities {
        &Capabilities {
            ends: &["ctf"],
            reads_streams: false,
            reads_corpora: false,
            keys: Keys::Numbers,
            packed: true,
            called: "CTF",
            ..Capabilities::EVERYTHING
        }
    }

    fn recognise(&self, name: &Candidate<'_>) -> Option<Certainty> {
        is_reader(name.text).then_some(Certainty::Name)
    }

    fn description(&self, name: &str) -> Table {
        Table::from_iter([("reader".to_owned(), Value::String(name.to_owned()))])
    }

    fn sink(&self, writing: &Writing<'_>) -> Result<Box<dyn Sink>> {
        let out = CompressedOutput::create(&writing.file()?, writing.opener)?;
        Ok(Box::new(CtfSink::new(out, writing.streams, !writing.keeps_keys)?))
    }

    fn describe(&self, written: &WrittenParts<'_>) -> Option<Table> {
        let [name] = &written.names()?[..] else { return None };
        if !is_bare_ctf(name) {
            return None;
        }
        let mut inputs = Table::new();
        for (stream, largest) in written.streams.iter().zip(&written.largest) {
            let sparse = stream.kind != Kind::Dense;
            let dim = match stream.kind {
                Kind::Label => i64::from(largest.unwrap_or(0)) + 1,
                _ => i64::try_from(stream.dim).unwrap_or(i64::MAX),
            };
            let mut input = Table::new();
            input.insert("dim".to_owned(), Value::Integer(dim));
            let format = if sparse { "sparse" } else { "dense" };
            input.insert("format".to_owned(), Value::String(format.to_owned()));
            inputs.insert(stream.name.clone(), Value::Table(input));
        }
        let mut top = self.description(name);
        top.insert("inputs".to_owned(), Value::Table(inputs));
        Some(top)
    }
}
