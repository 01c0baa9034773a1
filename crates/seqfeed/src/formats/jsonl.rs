//! Lines of JSON: `jsonl:NAME#FIELD`, texts as labels, and features that a field points at.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::sync::Arc;

use seqfeed_core::{Error, Key, Kind, Problem, Result, Source};
use seqfeed_io::{Beside, DataFile, Location, Opener, RxFilename, name_from_text, name_to_text};
use seqfeed_text::{Form, Lines, Reference, Target};
use toml::Table;

use super::text;
use crate::format::{Candidate, Capabilities, Certainty, Format, Wanted};

/// Objects of JSON, one a line.
pub(crate) struct JsonLines;

impl Format for JsonLines {
    fn name(&self) -> &'static str {
        "jsonl"
    }

    fn capabilities(&self) -> &Capabilities {
        &Capabilities { called: "lines of JSON", ..text::HOLDS }
    }

    fn recognise(&self, name: &Candidate<'_>) -> Option<Certainty> {
        name.text.starts_with("jsonl:").then_some(Certainty::Said)
    }

    fn description(&self, name: &str) -> Table {
        text::described(name)
    }

    fn open(&self, names: &[String], wanted: &Wanted<'_>) -> Result<Arc<dyn Source>> {
        let (mut files, mut field) = (Vec::new(), None);
        for name in names {
            let bare = name.strip_prefix("jsonl:").unwrap_or(name);
            let Some((file, of)) = bare.rsplit_once('#').filter(|(_, of)| !of.is_empty()) else {
                return Err(Error::usage(format!("`{name}` does not say which field is meant"))
                    .with_help(format!("name it behind the file: jsonl:{bare}#text")));
            };
            if *field.get_or_insert_with(|| of.to_owned()) != of {
                return Err(Error::usage("the files of a stream must have it in one field"));
            }
            files.push(file.to_owned());
        }
        let field = field.unwrap_or_default();
        if wanted.kind == Some(Kind::Label) {
            return text::open(&files, Form::Json { field }, wanted);
        }
        match &files[..] {
            [file] => features(file, &field, wanted),
            _ => Err(Error::usage(format!(
                "stream {}: features come from one list of JSON lines, not from several",
                wanted.stream()
            ))
            .with_help("put the lists into one file")),
        }
    }
}

/// The features that a field of each line points at.
fn features(file: &str, field: &str, wanted: &Wanted<'_>) -> Result<Arc<dyn Source>> {
    let text = wanted.text.given();
    if let Some(key) = text {
        return Err(Error::usage(format!("stream {}: `{key}` is for labels", wanted.stream()))
            .with_help("give kind = \"label\""));
    }
    let sparse = wanted.kind == Some(Kind::Sparse);
    wanted.refuse(sparse, "lines of JSON give features or labels", "leave kind out")?;
    let opener = &wanted.opener;
    let name = opener.rxfilename(&name_from_text(file))?;
    let data = DataFile::decoded(&name, opener)?;
    let mut lines = Lines::new(&data, opener.line_limit());
    let mut found = Vec::new();
    while let Some(line) = lines.next_line()? {
        let place = |error: Error| error.in_file(data.name()).at_line(line.number);
        if line.number != found.len() as u64 + 1 {
            // Lines and features have one number in messages.
            let problem = Problem::Unsupported("the line before is blank".into());
            return Err(place(Error::format("JSON lines", problem)));
        }
        found.push(Reference::parse(line.text, field).map_err(place)?);
    }
    let are_arrays = |reference: &Reference| matches!(reference.target, Target::Npy(_));
    let arrays = found.iter().filter(|reference| are_arrays(reference)).count();
    if arrays > 0 && arrays < found.len() {
        let what = "features of one list are Kaldi's objects or .npy files, not both";
        return Err(Error::corpus(what).in_file(data.name()));
    }
    let beside = Beside::of(&name, opener);
    match arrays {
        0 => objects(found, data.name(), &name, &beside, wanted),
        _ => files(found, data.name(), &beside, wanted),
    }
}

#[cfg(feature = "pdnn")]
fn files(
    found: Vec<Reference>,
    list: &str,
    beside: &Beside,
    wanted: &Wanted<'_>,
) -> Result<Arc<dyn Source>> {
    use seqfeed_core::{Element, Extent};
    use seqfeed_pdnn::pickle::{NpyFile, NpySource};

    let is_wide = wanted.element == Some(Element::F64);
    wanted.refuse(is_wide, "arrays of .npy files become float32", "leave dtype out")?;
    let extent = wanted.extent.is_some_and(|extent| extent != Extent::Samples);
    wanted.refuse(extent, ".npy files have one row a time step", "leave extent out")?;
    let of = |Reference { key, target, frames }| match target {
        Target::Npy(name) => {
            let location = beside.find(&Location::of_file(name_from_text(&name)));
            Some(NpyFile { key, location, rows: frames })
        }
        Target::Object(_) | Target::Entry { .. } => None,
    };
    let files = found.into_iter().filter_map(of).collect();
    let opener = wanted.opener.of_contents();
    Ok(Arc::new(NpySource::open(list, wanted.stream(), files, wanted.chunk_samples, &opener)?))
}

#[cfg(not(feature = "pdnn"))]
fn files(_: Vec<Reference>, _: &str, _: &Beside, _: &Wanted<'_>) -> Result<Arc<dyn Source>> {
    Err(super::key_left_out("source", "pdnn"))
}

#[cfg(feature = "kaldi")]
fn objects(
    found: Vec<Reference>,
    list: &str,
    name: &RxFilename,
    beside: &Beside,
    wanted: &Wanted<'_>,
) -> Result<Arc<dyn Source>> {
    use seqfeed_kaldi::{ObjectReader, TableSource};

    let mut scripts = Scripts { beside, opener: wanted.opener.of_contents(), read: HashMap::new() };
    let mut script: Vec<u8> = Vec::new();
    for (number, Reference { key, target, frames }) in found.into_iter().enumerate() {
        let place = |error: Error| error.of_key(Key(&key)).in_line_of(list, number as u64 + 1);
        script.extend(&key);
        script.push(b' ');
        match target {
            Target::Object(name) => script.extend(name_from_text(&name).as_bytes()),
            Target::Entry { script: file, key } => {
                script.extend(scripts.entry(&file, &key).map_err(place)?);
            }
            Target::Npy(_) => {}
        }
        // The last row counts.
        if let Some(frames) = frames.filter(|frames| !frames.is_empty()) {
            script.extend(format!("[{}:{}]", frames.start, frames.end - 1).as_bytes());
        }
        script.push(b'\n');
    }
    let options = super::kaldi::table_options(wanted);
    Ok(Arc::new(TableSource::of_script(ObjectReader::from_bytes(list, script), name, &options)?))
}

#[cfg(not(feature = "kaldi"))]
fn objects(
    _: Vec<Reference>,
    _: &str,
    _: &RxFilename,
    _: &Beside,
    _: &Wanted<'_>,
) -> Result<Arc<dyn Source>> {
    Err(super::key_left_out("source", "kaldi"))
}

/// Script files whose entries a list names by their keys.
struct Scripts<'a> {
    beside: &'a Beside,
    opener: Opener,
    read: HashMap<String, HashMap<Vec<u8>, Vec<u8>>>,
}

impl Scripts<'_> {
    /// The name that an entry leads to.
    fn entry(&mut self, script: &str, key: &str) -> Result<&[u8]> {
        if !self.read.contains_key(script) {
            let entries = self.entries(script)?;
            self.read.insert(script.to_owned(), entries);
        }
        let entry = self.read.get(script).and_then(|entries| entries.get(key.as_bytes()));
        entry.map(Vec::as_slice).ok_or_else(|| {
            let script = Key(script.as_bytes());
            Error::corpus(format!("{script} has no entry `{}`", Key(key.as_bytes())))
        })
    }

    fn entries(&self, script: &str) -> Result<HashMap<Vec<u8>, Vec<u8>>> {
        let location = self.beside.find(&Location::of_file(name_from_text(script)));
        let name = RxFilename::from(location);
        let file = DataFile::decoded(&name, &self.opener)?;
        let beside = Beside::of(&name, &self.opener);
        let mut lines = Lines::new(&file, self.opener.line_limit());
        let mut entries = HashMap::new();
        while let Some(line) = lines.next_line()? {
            let text = line.text.trim_ascii();
            let end = text.iter().position(u8::is_ascii_whitespace).unwrap_or(text.len());
            let (key, rest) = text.split_at(end);
            entries.insert(key.to_vec(), found_beside(rest.trim_ascii(), &beside));
        }
        Ok(entries)
    }
}

/// The name of an object, with the file where it is found beside its script file.
fn found_beside(entry: &[u8], beside: &Beside) -> Vec<u8> {
    let Ok(name) = RxFilename::parse(OsStr::from_bytes(entry)) else { return entry.to_vec() };
    match name.file_and_offset() {
        Some((location, _)) => {
            let found = name.with_location(beside.find(location)).name();
            name_from_text(&name_to_text(found)).as_bytes().to_vec()
        }
        None => entry.to_vec(),
    }
}
