//! The sources of a corpus before they are joined.

use std::sync::Arc;

use seqfeed_core::{Chunking, Corpus, Error, JoinPolicy, LengthRule, Result, Source, Tolerance};
use seqfeed_io::Opener;

use crate::corpus_keys;
use crate::description::Description;
use crate::quantity;

/// The separate sources of a corpus, for code that looks for all errors in it.
#[derive(Default)]
#[non_exhaustive]
pub struct Unjoined {
    /// The sources that could be opened, the primary one first.
    pub sources: Vec<Arc<dyn Source>>,
    /// The sources that could not be opened.
    pub refused: Vec<Refused>,
    /// Settings of a reader of CNTK that are unknown or have no effect, and the reader's name.
    pub unknown: Option<(String, Vec<String>)>,
}

/// A source that cannot be opened.
#[derive(Debug)]
#[non_exhaustive]
pub struct Refused {
    /// The stream, if it concerns one.
    pub stream: Option<String>,
    /// The reason.
    pub error: Error,
}

impl Unjoined {
    fn take<T>(&mut self, stream: Option<&str>, opened: Result<T>) -> Result<Option<T>> {
        match opened {
            Ok(opened) => Ok(Some(opened)),
            Err(error) if error.is_usage() => Err(error),
            Err(error) => {
                self.refused.push(Refused { stream: stream.map(str::to_owned), error });
                Ok(None)
            }
        }
    }
}

impl Description {
    /// Refuses a filter and transforms that cannot be applied to the streams together.
    fn check_transforms(&self, found: &Unjoined, opener: &Opener) -> Result<()> {
        let is_changed = self.has_filter() || self.has_transforms();
        if !is_changed || !found.refused.is_empty() {
            return Ok(());
        }
        let (missing, errors) = (Tolerance::Skip, Tolerance::Skip);
        let (length, chunks) = (LengthRule::Longest, Chunking::Primary);
        let rules = JoinPolicy { missing, errors, length, chunks, ..JoinPolicy::default() };
        // The caller looks for errors of the join by itself.
        match Corpus::join(found.sources.clone(), &rules) {
            Ok(corpus) => self.transformed(corpus, opener).map(drop),
            Err(_) => Ok(()),
        }
    }

    /// Opens every source without joining them. Sequences that cannot be used are passed over.
    ///
    /// # Errors
    ///
    /// Fails if the description contradicts itself. Files that cannot be opened are
    /// [refused](Unjoined::refused).
    pub fn open_unjoined(&self, opener: &Opener) -> Result<Unjoined> {
        let mut found = Unjoined::default();
        if self.is_mixture() {
            let opened = found.take(None, self.open_components_together(opener))?;
            found.sources.extend(opened.map(|series| Arc::new(series) as Arc<dyn Source>));
            self.check_transforms(&found, opener)?;
            return Ok(found);
        }
        if let Some((key, name)) = corpus_keys::of(self)? {
            let opened = key.sources(self, name, opener);
            if let Some(opened) = found.take(None, opened)? {
                (found.sources, found.unknown) = (opened.sources, opened.unknown);
            }
            self.check_transforms(&found, opener)?;
            return Ok(found);
        }
        if let Some(names) = &self.corpus.files {
            let opened = self.open_corpus_files(&names.to_vec(), opener);
            let opened = found.take(None, opened)?;
            found.sources.extend(opened);
        }
        for (name, stream) in self.streams() {
            let primary = found.sources.first().map(|source| source.index());
            let opened = self.open_stream(&name, &stream, opener, Tolerance::Skip, primary);
            let opened = found.take(Some(&name), opened)?;
            found.sources.extend(opened);
        }
        if found.sources.is_empty() && found.refused.is_empty() {
            return Err(Error::usage("the corpus has no streams").with_help(
                "give features (and labels): a section [streams.features] with a source, or --features",
            ));
        }
        self.check_transforms(&found, opener)?;
        Ok(found)
    }

    /// The streams that have context, and the number of frames in a sample of each.
    ///
    /// # Errors
    ///
    /// Fails if a context is invalid.
    pub fn frames_of_context(&self) -> Result<Vec<(String, usize)>> {
        let width = |text: &str| quantity::context(text).map(|(left, right)| left + 1 + right);
        let mut contexts = Vec::new();
        for (name, stream) in &self.corpus.streams {
            if let Some(text) = &stream.context {
                contexts.push((name.clone(), width(&text.text())?));
            }
        }
        Ok(contexts)
    }
}
