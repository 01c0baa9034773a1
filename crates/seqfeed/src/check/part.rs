//! The sources of a corpus before they are joined, with what is wrong with them.

use std::collections::HashSet;
use std::sync::Arc;

use seqfeed_core::{Error, Result, Source, Tolerance};
use seqfeed_htk::source::HtkSource;
use seqfeed_io::Opener;
use seqfeed_pdnn::spec::DataSpec;

use super::{Finding, Severity, placement};
use crate::description::Description;
use crate::name::joined;
use crate::reader::{FileSource, ReaderFile};
use crate::{data, reader};

/// A source of a corpus.
pub(super) struct Part {
    /// The name of its first stream.
    pub(super) name: String,
    pub(super) source: Arc<dyn Source>,
    pub(super) parameters: Option<Arc<HtkSource>>,
    /// Whether it is a table of Kaldi's, which some tools want sorted.
    pub(super) table: bool,
    /// The file of a reader of CNTK's that it is.
    pub(super) reader_file: Option<ReaderFile>,
    /// Sequences whose objects are those of other keys.
    pub(super) of_others: HashSet<u32>,
}

impl Part {
    /// What came to light while all values were read.
    pub(super) fn after_reading(&self, found: &mut Vec<Finding>) {
        let Some(FileSource::Ctf(ctf)) = self.reader_file.as_ref().map(|file| &file.source) else {
            return;
        };
        for input in ctf.incidents().undeclared() {
            let message =
                format!("input |{} is not declared: its samples are passed over", input.name);
            let cure = "is it an alias of an input (`alias = \"...\"`), or misspelt?";
            let place = format!("{} @ {}", ctf.name(), input.offset);
            let finding = Finding::new(Severity::Warning, "undeclared-input", message);
            found.push(finding.at(place).cure(cure));
        }
    }
}

/// Opens every source, and says what is wrong with each; a source that cannot be opened at all
/// is left out.
pub(super) fn open(
    description: &Description,
    opener: &Opener,
    found: &mut Vec<Finding>,
) -> Result<Vec<Part>> {
    if let Some(text) = &description.data {
        return open_data(description, text, opener, found);
    }
    if let Some(name) = &description.reader {
        return open_reader(description, name, opener, found);
    }
    let mut parts: Vec<Part> = Vec::new();
    if let Some(names) = &description.corpus {
        match description.open_corpus_files(&names.to_vec(), opener) {
            Ok(opened) => parts.push(part(&opened.source)),
            Err(error) if error.is_usage() => return Err(error),
            Err(error) => found.push(Finding::of_error("unreadable", None, &error.damage()?)),
        }
    }
    for (name, stream) in description.streams() {
        let primary = parts.first().map(|part| part.source.index().as_ref());
        match description.open_stream(&name, &stream, opener, Tolerance::Skip, primary) {
            Ok(opened) => {
                found.extend(opened.faults.iter().map(|error| {
                    let kind = if is_duplicate(error) { "duplicate-key" } else { "unreadable" };
                    Finding::of_error(kind, Some(&name), error)
                }));
                let table = opened.format.starts_with("kaldi");
                let of_others = match (&stream.source, table || opened.waves.is_some()) {
                    (Some(names), true) => {
                        let (names, base) = (names.to_vec(), description.base_of(&name));
                        placement::check(&name, &names, base, opened.source.as_ref(), found)?
                    }
                    _ => HashSet::new(),
                };
                parts.push(Part {
                    name,
                    source: opened.source,
                    parameters: opened.parameters,
                    table,
                    reader_file: None,
                    of_others,
                });
            }
            Err(error) if error.is_usage() => return Err(error),
            Err(error) => {
                found.push(Finding::of_error("unreadable", Some(&name), &error.damage()?));
            }
        }
    }
    if parts.is_empty() && found.is_empty() {
        return Err(Error::usage("the corpus has no streams")
            .with_help("give features (and labels), for instance `features = \"scp:feats.scp\"`"));
    }
    Ok(parts)
}

fn is_duplicate(error: &Error) -> bool {
    use seqfeed_core::{ErrorKind, Problem};
    matches!(error.kind(), ErrorKind::Format { problem: Problem::DuplicateKey, .. })
}

fn part(source: &Arc<dyn Source>) -> Part {
    let name = source.streams().first().map_or_else(String::new, |stream| stream.name.clone());
    Part {
        name,
        source: Arc::clone(source),
        parameters: None,
        table: false,
        reader_file: None,
        of_others: HashSet::new(),
    }
}

fn open_data(
    description: &Description,
    text: &str,
    opener: &Opener,
    found: &mut Vec<Finding>,
) -> Result<Vec<Part>> {
    let spec = data::of_task(&DataSpec::parse(text)?, description.task)?;
    let opening = data::Opening {
        base: description.base_of("data"),
        opener: description.opener_of("data", opener),
        map: description.map.unwrap_or(false),
        chunk_samples: description.chunk_samples()?,
    };
    match data::open(&spec, &opening) {
        Ok(opened) => {
            for group in &opened.report.dropped {
                let message = format!("left out: {group}");
                found.push(Finding::new(Severity::Error, "unreadable", message));
            }
            Ok(opened.sources.iter().map(part).collect())
        }
        Err(error) if error.is_usage() => Err(error),
        Err(error) => {
            found.push(Finding::of_error("unreadable", None, &error.damage()?));
            Ok(Vec::new())
        }
    }
}

fn open_reader(
    description: &Description,
    name: &str,
    opener: &Opener,
    found: &mut Vec<Finding>,
) -> Result<Vec<Part>> {
    let name = match description.base_of("reader") {
        Some(base) => joined(base, name),
        None => name.to_owned(),
    };
    let opener = description.opener_of("reader", opener);
    match reader::open(&name, &description.inputs, &description.overrides, &opener) {
        Ok(opened) => {
            let mut parts: Vec<Part> = opened.corpus.sources().iter().map(part).collect();
            for (part, file) in parts.iter_mut().zip(&opened.files) {
                let of = Some(part.name.as_str());
                found.extend(file.faults().iter().map(|e| Finding::of_error("unreadable", of, e)));
                part.parameters = file.parameters();
                part.reader_file = Some(file.clone());
            }
            found.extend(opened.unknown.into_iter().map(|said| {
                let finding = Finding::new(Severity::Warning, "setting", said);
                finding.at(&*name)
            }));
            Ok(parts)
        }
        Err(error) if error.is_usage() => Err(error),
        Err(error) => {
            found.push(Finding::of_error("unreadable", None, &error.damage()?));
            Ok(Vec::new())
        }
    }
}
