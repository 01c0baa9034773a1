//! Kaldi's tables: read by rspecifiers, written by wspecifiers or as `kaldi:NAME`.

mod sink;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::sync::Arc;

use seqfeed_core::{Element, Error, Extent, Kind, Result, Sink, Source};
use seqfeed_io::{WxFilename, name_from_text, name_to_text};
use seqfeed_kaldi::{
    CompressionMethod, Role, SparseSource, TableOptions, TableSource, WaveSource, Wspecifier,
};
use toml::{Table, Value};

use self::sink::{KaldiOptions, KaldiSink, KaldiTable};
use super::{of_streams, stream_table};
use crate::format::{
    Candidate, Capabilities, Certainty, Change, Draft, Format, Wanted, Writing, WrittenParts,
    numbered, one_or_all,
};
use crate::loss::LossKind;
use crate::name_text::{is_rspecifier, names_of};

const HOLDS: Capabilities = Capabilities {
    reads_corpora: false,
    sound: true,
    options: &["compress"],
    called: "Kaldi's tables",
    ..Capabilities::EVERYTHING
};

/// One table for each stream, with a specifier of its own: `ark:x`.
pub(crate) struct Tables;

/// All streams of a corpus with a common prefix: `kaldi:x` is `x.STREAM.ark` and `x.STREAM.scp`.
pub(crate) struct Corpora;

impl Format for Tables {
    fn name(&self) -> &'static str {
        "kaldi"
    }

    fn capabilities(&self) -> &Capabilities {
        &Capabilities { file_a_stream: true, lengths: true, ..HOLDS }
    }

    fn recognise(&self, name: &Candidate<'_>) -> Option<Certainty> {
        Some(if is_rspecifier(name.text) { Certainty::Said } else { Certainty::Otherwise })
    }

    fn description(&self, name: &str) -> Table {
        Table::from_iter([("features".to_owned(), Value::String(name.to_owned()))])
    }

    fn open(&self, names: &[String], wanted: &Wanted<'_>) -> Result<Arc<dyn Source>> {
        let states = "states are for master label files";
        wanted.refuse(wanted.states.is_some(), states, "give --labels train.mlf, or no states")?;
        let label = wanted.kind == Some(Kind::Label);
        let options = table_options(wanted);
        let tables = names_of(names);
        let unlike = wanted.kind == Some(Kind::Sparse) || wanted.extent == Some(Extent::Sequence);
        let help = "leave `lengths` out";
        let what = "`lengths` is for streams of matrices or vectors with a row a frame";
        wanted.refuse(wanted.lengths.is_some() && unlike, what, help)?;
        Ok(match wanted.kind {
            Some(Kind::Sparse) => Arc::new(SparseSource::open(&tables, wanted.dim, &options)?),
            _ if !label && options.lengths.is_none() && WaveSource::is_wave(&tables, &options) => {
                Arc::new(WaveSource::open(&tables, &options)?)
            }
            _ => Arc::new(TableSource::open(&tables, &options)?),
        })
    }

    fn target<'a>(&self, text: &'a str) -> Option<(Certainty, &'a str)> {
        let (before, _) = text.split_once(':')?;
        let is_one = before.split(',').any(|word| word == "ark" || word == "scp");
        is_one.then_some((Certainty::Said, text))
    }

    fn check_option(&self, _: &str, value: &str) -> Result<()> {
        kaldi_compression(value).map(drop)
    }

    fn check_target<'a>(&self, name: &'a str) -> Result<&'a str> {
        Wspecifier::parse(&name_from_text(name)).map(|_| name)
    }

    fn numbered(&self, name: &str, number: usize, count: usize) -> Result<String> {
        numbered_wspecifier(name, number, count)
    }

    fn files(&self, name: &str) -> Result<Vec<WxFilename>> {
        let table = Wspecifier::parse(&name_from_text(name))?;
        // A script file alone is an input.
        let script = table.archive.is_some().then_some(table.script).flatten();
        table.archive.iter().chain(&script).map(WxFilename::parse).collect()
    }

    fn main_file(&self, name: &str) -> Option<OsString> {
        let table = Wspecifier::parse(&name_from_text(name)).ok()?;
        table.script.or(table.archive)
    }

    fn plan(&self, draft: &mut Draft<'_>) -> Result<()> {
        place(draft)?;
        let text = is_text(draft.name);
        if text && draft.options.contains_key("compress") {
            return Err(Error::usage("compressed matrices have no form as text of their own")
                .with_help("leave out --compress, or the `t` of the wspecifier"));
        }
        plan(draft, text)
    }

    fn outputs(&self, writing: &Writing<'_>) -> Result<Vec<WxFilename>> {
        let files = writing.names.iter().map(|(_, name)| self.files(name));
        Ok(files.collect::<Result<Vec<_>>>()?.concat())
    }

    fn sink(&self, writing: &Writing<'_>) -> Result<Box<dyn Sink>> {
        sink(writing, &writing.names)
    }

    fn rounds(&self, name: &str, options: &BTreeMap<String, String>) -> Option<&'static str> {
        let text = is_text(name).then_some("Kaldi's text");
        options.get("compress").map(|_| "compression").or(text)
    }

    fn describe(&self, written: &WrittenParts<'_>) -> Option<Table> {
        describe(written, |part| part.names.clone())
    }
}

impl Format for Corpora {
    fn name(&self) -> &'static str {
        "kaldi"
    }

    fn capabilities(&self) -> &Capabilities {
        &Capabilities { reads_streams: false, several_files: true, ..HOLDS }
    }

    fn check_option(&self, _: &str, value: &str) -> Result<()> {
        kaldi_compression(value).map(drop)
    }

    fn plan(&self, draft: &mut Draft<'_>) -> Result<()> {
        // The names of streams become parts of file names.
        for &(number, _) in &draft.picks {
            let name = &draft.streams[number].name;
            if name.contains(['/', ',', '\0']) || name.trim() != name {
                return Err(Error::usage(format!(
                    "stream {name:?} cannot be a part of a file name"
                ))
                .with_help("name files with ark:... and --to STREAM=ark:..."));
            }
        }
        plan(draft, false)
    }

    fn outputs(&self, writing: &Writing<'_>) -> Result<Vec<WxFilename>> {
        let files = tables(writing).into_iter().map(|(_, name)| Tables.files(&name));
        Ok(files.collect::<Result<Vec<_>>>()?.concat())
    }

    fn sink(&self, writing: &Writing<'_>) -> Result<Box<dyn Sink>> {
        sink(writing, &tables(writing))
    }

    fn rounds(&self, _: &str, options: &BTreeMap<String, String>) -> Option<&'static str> {
        options.get("compress").map(|_| "compression")
    }

    fn describe(&self, written: &WrittenParts<'_>) -> Option<Table> {
        describe(written, tables)
    }
}

/// The options of a table that is read.
pub(super) fn table_options(wanted: &Wanted<'_>) -> TableOptions {
    let label = wanted.kind == Some(Kind::Label);
    TableOptions {
        stream: wanted.stream().to_owned(),
        role: if label { Role::Labels } else { Role::Features },
        element: wanted.element.unwrap_or(Element::F32),
        extent: wanted.extent,
        chunk_samples: wanted.chunk_samples,
        opener: wanted.opener.clone(),
        map: wanted.map,
        or_compressed: false,
        errors: wanted.errors,
        like: wanted.primary.cloned(),
        lengths: wanted.lengths.map(name_from_text),
    }
}

/// The table of each stream of a corpus, by its number.
fn tables(writing: &Writing<'_>) -> Vec<(usize, String)> {
    let table = |(number, stream): (usize, &seqfeed_core::Stream)| {
        let name = format!("{}.{}", writing.name, stream.name);
        (number, format!("ark,scp:{name}.ark,{name}.scp"))
    };
    writing.streams.iter().enumerate().map(table).collect()
}

/// Whether values are written as text, with seven digits.
fn is_text(wspecifier: &str) -> bool {
    Wspecifier::parse(&name_from_text(wspecifier)).is_ok_and(|table| table.text)
}

/// The target of each stream. A single name takes the features, or the only stream.
fn place(draft: &mut Draft<'_>) -> Result<()> {
    for name in draft.others.keys() {
        let number = draft.find(name)?;
        if !draft.picks.iter().any(|&(pick, _)| pick == number) {
            return Err(Error::usage(format!("stream {name} is not among those of --streams")));
        }
    }
    let (streams, others) = (draft.streams, draft.others);
    let free = || {
        let numbers = draft.picks.iter().map(|pick| pick.0);
        numbers.filter(|&number| !others.contains_key(&streams[number].name))
    };
    let dense = free().find(|&number| streams[number].kind == Kind::Dense);
    let Some(main) = dense.or_else(|| free().next()) else {
        let what = format!("no stream is left for {}: --to names all of them", draft.name);
        return Err(Error::usage(what));
    };
    for (number, change) in std::mem::take(&mut draft.picks) {
        let name = &streams[number].name;
        let table = match others.get(name) {
            Some(other) => other.clone(),
            None if number == main => draft.name.to_owned(),
            None => {
                let what = format!("stream {name} is left out: it has no table to go to");
                let cure = "name one with --to STREAM=ark:NAME, or what is wanted with --streams";
                draft.lose(LossKind::Stream, what, Some(cure));
                continue;
            }
        };
        draft.names.push((draft.picks.len(), table));
        draft.picks.push((number, change));
    }
    Ok(())
}

/// The changes to values, and to sound.
fn plan(draft: &mut Draft<'_>, text: bool) -> Result<()> {
    let compress = draft.options.get("compress").map(|text| kaldi_compression(text)).transpose()?;
    for (number, change) in draft.picks.clone() {
        let stream = &draft.streams[number];
        if stream.element == Element::I32 || change == Change::Classes {
            continue;
        }
        let name = &stream.name;
        let sparse = stream.kind == Kind::Sparse;
        if sparse {
            if draft.dtype.unwrap_or(stream.element) == Element::F64 {
                let what = format!("stream {name}: posteriors hold float32 weights");
                draft.lose(LossKind::Precision, what, None);
            }
            draft.notes.push(format!(
                "stream {name} becomes posteriors; if its samples are classes, --classes {name} makes labels of them"
            ));
        }
        if let Some(method) = compress.filter(|_| !sparse && stream.extent != Extent::Sequence) {
            draft.notes.push(format!(
                "stream {name}: values are rounded by compression method {}, as asked for",
                method as i32
            ));
        }
        if text {
            let what = format!("stream {name}: text of Kaldi's has 7 digits a value");
            draft.lose(LossKind::Precision, what, Some("write binary, without `t`"));
        }
    }
    if draft.dtype.is_some() || compress.is_some() || text {
        draft.silent = Some("matrices");
        return Ok(());
    }
    for at in 0..draft.picks.len() {
        let stream = &draft.streams[draft.picks[at].0];
        let Some(rates) = draft.sample_rates.get(&stream.name) else { continue };
        draft.sound.insert(at, rates.clone());
        // 16-bit values are the same in both types. Other values are found when they come.
        let wide = stream.element == Element::F64;
        draft.picks[at].1 = if wide { Change::Narrow } else { Change::None };
        draft.notes.push(format!(
            "stream {} becomes waves of 16-bit samples; --dtype float32 makes matrices of it",
            stream.name
        ));
    }
    Ok(())
}

fn sink(writing: &Writing<'_>, tables: &[(usize, String)]) -> Result<Box<dyn Sink>> {
    let table = |(stream, wspecifier): &(usize, String)| KaldiTable {
        stream: *stream,
        wspecifier: wspecifier.clone(),
        waves: writing.sound.get(stream).cloned(),
    };
    let tables: Vec<KaldiTable> = tables.iter().map(table).collect();
    let compress: Option<&String> = writing.options.get("compress");
    let compress: Option<CompressionMethod> =
        compress.map(|text| kaldi_compression(text)).transpose()?;
    let options = KaldiOptions {
        compress,
        round_waves: writing.allow_lossy,
        opener: writing.opener.clone(),
        inputs: writing.inputs.clone(),
    };
    Ok(Box::new(KaldiSink::create(&tables, writing.streams, &options)?))
}

fn describe(
    written: &WrittenParts<'_>,
    tables: impl Fn(&Writing<'_>) -> Vec<(usize, String)>,
) -> Option<Table> {
    let parts: Vec<Vec<(usize, String)>> = written.parts.iter().map(tables).collect();
    let mut described = Table::new();
    for (number, stream) in written.streams.iter().enumerate() {
        let names = parts.iter().flatten().filter(|(stream, _)| *stream == number);
        let names = names.map(|(_, wspecifier)| {
            let table = Wspecifier::parse(&name_from_text(wspecifier)).ok()?;
            let (kind, name) = match (table.archive, table.script) {
                (Some(archive), _) => ("ark", archive),
                (None, Some(script)) => ("scp", script),
                (None, None) => return None,
            };
            Some(format!("{kind}:{}", written.relative(&name_to_text(name))?))
        });
        let names = one_or_all(names.collect::<Option<Vec<String>>>()?);
        described.insert(stream.name.clone(), stream_table(stream, names));
    }
    Some(of_streams(described))
}

/// A wspecifier for one of several tables. `JOB` in its names becomes the number, from 1, as in
/// Kaldi's scripts. Without `JOB` the number is put before the extensions.
fn numbered_wspecifier(text: &str, number: usize, count: usize) -> Result<String> {
    let table = Wspecifier::parse(&name_from_text(text))?;
    let (words, names) = text.split_once(':').unwrap_or_default();
    if names.contains("JOB") {
        return Ok(format!("{words}:{}", names.replace("JOB", &(number + 1).to_string())));
    }
    if table.archive.is_none() {
        return Err(Error::usage(format!("{text}: a script file alone says where objects go"))
            .with_help("write an archive (ark: or ark,scp:)"));
    }
    let names: Vec<String> = [table.archive, table.script]
        .into_iter()
        .flatten()
        .map(|name| numbered(&name_to_text(name), number, count, true))
        .collect::<Result<_>>()?;
    Ok(format!("{words}:{}", names.join(",")))
}

/// A compression method of Kaldi's: `auto`, or a number.
///
/// # Errors
///
/// Fails if there is no such method.
pub fn kaldi_compression(text: &str) -> Result<CompressionMethod> {
    if text == "auto" {
        return Ok(CompressionMethod::Auto);
    }
    let method = text.parse().ok().and_then(|number: i32| CompressionMethod::try_from(number).ok());
    method.ok_or_else(|| {
        Error::usage(format!("--compress={text}: expected a compression method of Kaldi's"))
            .with_help(
                "1 or auto, 2 (speech features), 3 (two bytes), 4 (two bytes, integers), 5 (one \
                 byte), 6 (one byte, integers), 7 (one byte, 0 to 1)",
            )
    })
}
