//! The sources of a corpus before they are joined, with what is wrong with them.

use std::collections::HashSet;
use std::sync::Arc;

use seqfeed_core::{Error, ErrorKind, Problem, Result, Severity, Source, Tolerance};
use seqfeed_io::Opener;
use seqfeed_pdnn::spec::DataSpec;

use super::Finding;
use crate::description::Description;
use crate::name_text::joined;
use crate::{data, reader};

/// A source of a corpus.
pub(super) struct Part {
    /// The name of its first stream.
    pub(super) name: String,
    pub(super) source: Arc<dyn Source>,
    /// Keys, as shown, whose entries lead to the objects of other keys.
    pub(super) of_others: HashSet<String>,
}

impl Part {
    fn new(source: Arc<dyn Source>, found: &mut Vec<Finding>) -> Self {
        let first = source.streams().first();
        let name = first.map_or_else(String::new, |stream| stream.name.clone());
        found.extend(source.about().faults.iter().map(|error| {
            let kind = if is_duplicate(error) { "duplicate-key" } else { "unreadable" };
            Finding::of_error(kind, Some(&name), error)
        }));
        Self { name, source, of_others: HashSet::new() }
    }

    /// What its source finds beside the samples, also what came to light while all were read.
    pub(super) fn examine(&mut self, found: &mut Vec<Finding>) -> Result<()> {
        for remark in self.source.examine()? {
            if remark.kind == "other-object" {
                self.of_others.extend(remark.error.place().key.clone());
            }
            found.push(Finding::of_remark(&remark).stream(&self.name));
        }
        Ok(())
    }
}

fn is_duplicate(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::Format { problem: Problem::DuplicateKey, .. })
}

/// Opens every source, and says what is wrong with each; a source that cannot be opened at all
/// is left out.
pub(super) fn open(
    description: &Description,
    opener: &Opener,
    found: &mut Vec<Finding>,
) -> Result<Vec<Part>> {
    if let Some(text) = &description.data {
        let opened = opened_or_found(open_data(description, text, opener), None, found)?;
        let sources = opened.unwrap_or_default().into_iter();
        return Ok(sources.map(|source| Part::new(source, found)).collect());
    }
    if let Some(name) = &description.reader {
        return open_reader(description, name, opener, found);
    }
    let mut parts: Vec<Part> = Vec::new();
    if let Some(names) = &description.corpus {
        let opened = description.open_corpus_files(&names.to_vec(), opener);
        let opened = opened_or_found(opened, None, found)?;
        parts.extend(opened.map(|source| Part::new(source, found)));
    }
    for (name, stream) in description.streams() {
        let primary = parts.first().map(|part| part.source.index().as_ref());
        let opened = description.open_stream(&name, &stream, opener, Tolerance::Skip, primary);
        let opened = opened_or_found(opened, Some(&name), found)?;
        parts.extend(opened.map(|source| Part::new(source, found)));
    }
    if parts.is_empty() && found.is_empty() {
        return Err(Error::usage("the corpus has no streams")
            .with_help("give features (and labels), for instance `features = \"scp:feats.scp\"`"));
    }
    Ok(parts)
}

/// What was opened; what is wrong with its files is a finding.
fn opened_or_found<T>(
    opened: Result<T>,
    stream: Option<&str>,
    found: &mut Vec<Finding>,
) -> Result<Option<T>> {
    match opened {
        Ok(opened) => Ok(Some(opened)),
        Err(error) if error.is_usage() => Err(error),
        Err(error) => {
            found.push(Finding::of_error("unreadable", stream, &error.damage()?));
            Ok(None)
        }
    }
}

fn open_data(
    description: &Description,
    text: &str,
    opener: &Opener,
) -> Result<Vec<Arc<dyn Source>>> {
    let spec = data::of_task(&DataSpec::parse(text)?, description.task)?;
    let opening = data::Opening {
        base: description.base_of("data"),
        opener: description.opener_of("data", opener),
        map: description.map.unwrap_or(false),
        chunk_samples: description.chunk_samples()?,
    };
    data::open(&spec, &opening).map(|opened| opened.sources)
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
    let opened = reader::open(&name, &description.inputs, &description.overrides, &opener);
    let Some(opened) = opened_or_found(opened, None, found)? else { return Ok(Vec::new()) };
    let parts = opened.corpus.sources().iter().map(|source| Part::new(Arc::clone(source), found));
    let parts = parts.collect();
    found.extend(
        opened
            .unknown
            .into_iter()
            .map(|said| Finding::new(Severity::Warning, "setting", said).at(&*name)),
    );
    Ok(parts)
}
