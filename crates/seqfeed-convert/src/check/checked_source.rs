//! The sources of a corpus before they are joined, with their errors.

use std::collections::HashSet;
use std::sync::Arc;

use seqfeed::{Description, Unjoined};
use seqfeed_core::{Error, ErrorKind, Problem, Result, Severity, Source};
use seqfeed_io::Opener;

use super::Finding;

/// A source of a corpus.
pub(super) struct CheckedSource {
    /// The name of its first stream.
    pub(super) name: String,
    pub(super) source: Arc<dyn Source>,
    /// Keys, as printed, whose entries lead to the objects of other keys.
    pub(super) of_others: HashSet<String>,
}

impl CheckedSource {
    fn new(source: Arc<dyn Source>, found: &mut Vec<Finding>) -> Self {
        let first = source.streams().first();
        let name = first.map_or_else(String::new, |stream| stream.name.clone());
        found.extend(source.about().faults.iter().map(|error| {
            let kind = if is_duplicate(error) { "duplicate-key" } else { "unreadable" };
            Finding::of_error(kind, Some(&name), error)
        }));
        Self { name, source, of_others: HashSet::new() }
    }

    /// Adds the source's findings beside the samples, including warnings that came up while all
    /// samples were read.
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

/// Opens every source, and reports the errors of each. A source that cannot be opened is left out.
pub(super) fn open(
    description: &Description,
    opener: &Opener,
    found: &mut Vec<Finding>,
) -> Result<Vec<CheckedSource>> {
    let Unjoined { sources, refused, unknown, .. } = description.open_unjoined(opener)?;
    for source in refused {
        let stream = source.stream.as_deref();
        found.push(Finding::of_error("unreadable", stream, &source.error.damage()?));
    }
    let parts = sources.into_iter().map(|source| CheckedSource::new(source, found)).collect();
    if let Some((name, unknown)) = unknown {
        let warn = |said| Finding::new(Severity::Warning, "setting", said).at(&*name);
        found.extend(unknown.into_iter().map(warn));
    }
    Ok(parts)
}
