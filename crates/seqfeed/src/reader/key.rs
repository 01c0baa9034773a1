//! The key `reader`: corpora named by a reader of CNTK, or by a bare CTF file.

use std::sync::Arc;

use seqfeed_core::{Corpus, Error, Extent, Result, Source, Transformed};
use seqfeed_feed::{Cut, Layout, Settings, Unit};
use seqfeed_io::Opener;
use toml::{Table, Value};

use super::frames::Frames;
use super::settings::Rows;
use super::{OpenedReader, inputs_of, open, overrides};
use crate::corpus_key::{CorpusKey, KeySources};
use crate::description::Description;
use crate::name_text::joined;
use crate::opened::Opened;
use crate::settle::{Rounding, corpus_of};

/// The key `reader`.
pub(crate) struct Reader;

impl CorpusKey for Reader {
    fn open(&self, description: &Description, name: &str, opener: &Opener) -> Result<Opened> {
        let corpus = &description.corpus;
        if corpus.files.is_some() || !description.streams().is_empty() {
            return Err(Error::usage("a reader has its own streams: none can be added to it"));
        }
        let given = [
            ("chunk-size", corpus.chunk_size.is_some()),
            ("map", corpus.map == Some(true)),
            ("missing", corpus.missing.is_some()),
            ("errors", corpus.errors.is_some()),
        ];
        if let Some((key, _)) = given.iter().find(|(_, given)| *given) {
            return Err(Error::usage(format!("[reading] {key} does not go with a reader of CNTK"))
                .with_help(
                    "the reader's own settings say such things (chunkSizeInBytes, maxErrors)",
                ));
        }
        let opened = open_as_described(description, name, opener)?;
        let settings = description.settings_over(opened.settings, opened.shuffle)?;
        let opener = description.opener_of("reader", opener);
        let corpus = description.transformed(opened.corpus, &opener)?;
        let (mut settings, corpus) = by_frames(settings, corpus)?;
        if let Some(rows) = &opened.rows {
            rows.apply(&mut settings, corpus.index().total_samples());
        }
        let settings = description.settle(settings, &corpus, Rounding::None)?;
        let mut warnings = opened.unknown;
        warnings.extend(opened.rows.iter().filter_map(Rows::warning));
        Ok(Opened::new(corpus, settings, warnings))
    }

    fn sources(
        &self,
        description: &Description,
        name: &str,
        opener: &Opener,
    ) -> Result<KeySources> {
        let opened = open_as_described(description, name, opener)?;
        let sources = opened.corpus.sources().to_vec();
        Ok(KeySources { sources, unknown: Some((placed(description, name), opened.unknown)) })
    }

    fn explicit(
        &self,
        description: &Description,
        name: &str,
        opener: &Opener,
    ) -> Result<Description> {
        let mut all = description.clone();
        if description.corpus.inputs.is_empty() {
            let opener = description.opener_of("reader", opener);
            all.corpus.inputs = inputs_of(name, &opener)?.unwrap_or_default();
        }
        all.corpus.reader = Some(placed(description, name));
        Ok(all)
    }

    fn split(&self, name: &str, opener: &Opener) -> Result<Option<(String, Table)>> {
        let Some(split) = overrides::split(name, opener)? else { return Ok(None) };
        let overrides = split.overrides.into_iter();
        let overrides = overrides.map(|(key, value)| (key, Value::String(value.text())));
        Ok(Some((split.name, overrides.collect())))
    }
}

/// The reader's name, relative to the working directory.
fn placed(description: &Description, name: &str) -> String {
    joined(description.base_of("reader"), name)
}

fn open_as_described(
    description: &Description,
    name: &str,
    opener: &Opener,
) -> Result<OpenedReader> {
    let opener = description.opener_of("reader", opener);
    open(name, &description.corpus.inputs, &description.corpus.overrides, &opener)
}

/// Deals frames out of a reader's corpus if they are asked for. Its streams must then have one
/// sample for each frame.
fn by_frames(mut settings: Settings, corpus: Corpus) -> Result<(Settings, Corpus)> {
    if settings.unit != Unit::Frame || corpus.streams().iter().all(|s| s.extent != Extent::Own) {
        return Ok((settings, corpus));
    }
    settings.layout = Layout::Frames;
    match &mut settings.cut {
        Cut::Worker(worker) => worker.truncated = None,
        Cut::Timeline(timeline) => timeline.truncated = None,
        Cut::Steps(_) | Cut::Partitions(_) => {}
    }
    let labels = settings.labels.as_ref().map(|rules| rules.stream.as_str());
    let frames = Frames::new(corpus.streams(), labels);
    let frames = Transformed::new(Arc::new(corpus), Arc::new(frames))?;
    Ok((settings, corpus_of(Arc::new(frames))?))
}
