//! Opens a mixture: its corpora, one after another, as one corpus.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use seqfeed_core::{
    Aligned, Corpus, Error, Extent, Key, Result, Series, SeriesKeys, Source, Stream, SymbolTable,
    nearest_name,
};
use seqfeed_io::{Opener, name_from_text};
use toml::{Table, Value};

use crate::description::{CorpusSpec, Description, Names};
use crate::opened::Opened;
use crate::settle::{Rounding, corpus_of};

/// The corpora of a mixture, by name.
type Components = Vec<(String, Arc<Corpus>)>;

impl Description {
    /// Whether it describes a mixture.
    pub(crate) fn is_mixture(&self) -> bool {
        self.corpus.mix.is_given()
    }

    /// Opens the corpora of a mixture and puts them one after another.
    pub(crate) fn open_mixture(&self, opener: &Opener) -> Result<Opened> {
        let settings = self.settings()?;
        let mut warnings = Vec::new();
        let components = self.open_components(opener, &mut warnings)?;
        let chunks: Vec<usize> =
            components.iter().map(|(_, corpus)| corpus.index().chunk_count()).collect();
        let together = Arc::new(self.together(components)?);
        let (sequences, all_chunks) = (together.index().len(), together.index().chunk_count());
        let corpus = self.transformed(corpus_of(together)?, opener)?;
        let index = corpus.index();
        if (index.len(), index.chunk_count()) != (sequences, all_chunks) {
            return Err(Error::usage("a transform of a mixture leaves out sequences")
                .with_help("give it in the descriptions of the corpora that are mixed"));
        }
        let mut settings = self.settle(settings, &corpus, Rounding::None)?;
        settings.mixture = Some(self.corpus.mix.mixture(&chunks));
        settings.check()?;
        Ok(Opened::new(corpus, settings, warnings))
    }

    /// The corpora of the mixture, one after another, before any transform of the whole.
    pub(crate) fn open_components_together(&self, opener: &Opener) -> Result<Series> {
        self.together(self.open_components(opener, &mut Vec::new())?)
    }

    fn open_components(&self, opener: &Opener, warnings: &mut Vec<String>) -> Result<Components> {
        let CorpusSpec { reader, data, task, files, overrides, inputs, mix, .. } = &self.corpus;
        let others = reader.is_some() || data.is_some() || task.is_some() || files.is_some();
        let streams = self.streams();
        if others || !overrides.is_empty() || !inputs.is_empty() || !streams.is_empty() {
            return Err(Error::usage("a mixture has the streams of its corpora, and none besides")
                .with_help(
                    "give sources, readers and data in the descriptions of the corpora that [mix.NAME] \
                     names; here, [streams.NAME] holds settings without a source",
                ));
        }
        let weighted = mix.components.values().any(|component| component.weight.is_some());
        if weighted && mix.temperature.is_some() {
            return Err(Error::usage("a mixture has weights or a temperature, not both")
                .with_help("leave out [mix] temperature, or the weights"));
        }
        if mix.components.is_empty() {
            return Err(Error::usage("the mixture has no corpora")
                .with_help("give each a section [mix.NAME] with a `corpus`"));
        }
        let mut components = Components::new();
        for (name, component) in &mix.components {
            let section = format!("[mix.{name}]");
            if !Key(name.as_bytes()).is_valid() || name.contains('/') {
                let wrong =
                    format!("{section}: a name that stands in keys has no space and no `/`");
                return Err(Error::usage(wrong));
            }
            let Some(corpus) = &component.corpus else {
                return Err(Error::usage(format!("description: {section} has no corpus")));
            };
            let opener = self.opener_of(&format!("{section} corpus"), opener);
            let named = Self::of_name_with(&name_from_text(corpus), self.reading(), &opener)?;
            if named.description.is_mixture() {
                return Err(Error::usage(format!("{section}: `{corpus}` is a mixture itself"))
                    .with_help("name the corpora of both in one description"));
            }
            let opened = named.description.open(&opener)?;
            let said = named.warnings.into_iter().chain(opened.own_warnings().iter().cloned());
            warnings.extend(said.map(|warning| format!("{section}: {warning}")));
            components.push((name.clone(), Arc::clone(opened.corpus())));
        }
        Ok(components)
    }

    /// The given keys of `[reading]`. They replace those of the corpora.
    fn reading(&self) -> Table {
        let keys = CorpusSpec::OPTIONS.iter().filter(|option| option.section == "reading");
        let keys =
            keys.filter_map(|option| Some((option.key.to_owned(), self.corpus.get(option.key)?)));
        let reading: Table = keys.collect();
        match reading.is_empty() {
            true => reading,
            false => Table::from_iter([("reading".to_owned(), Value::Table(reading))]),
        }
    }

    fn together(&self, components: Components) -> Result<Series> {
        let mix = &self.corpus.mix;
        let optional = mix.optional.as_ref().map_or_else(Vec::new, Names::to_vec);
        let streams = streams_of(&components, &optional)?;
        refuse_other_symbols(&components)?;
        let keys = match mix.prefix.unwrap_or(true) {
            true => SeriesKeys::Named(components.iter().map(|(name, _)| name.clone()).collect()),
            false => {
                refuse_equal_keys(&components)?;
                SeriesKeys::Own
            }
        };
        let aligned = components.into_iter().map(|(_, corpus)| -> Arc<dyn Source> {
            match corpus.streams() == streams {
                true => corpus,
                false => Arc::new(Aligned::new(corpus, streams.clone())),
            }
        });
        Series::new(aligned.collect(), keys)
    }
}

/// The streams of all corpora. A stream that some of them lack has a length of its own in each
/// sequence.
fn streams_of(components: &Components, optional: &[String]) -> Result<Vec<Stream>> {
    let mut all: Vec<(Stream, &str)> = Vec::new();
    for (component, corpus) in components {
        for stream in corpus.streams() {
            let Some((known, first)) = all.iter().find(|(known, _)| known.name == stream.name)
            else {
                all.push((stream.clone(), component));
                continue;
            };
            if known != stream {
                return Err(Error::usage(format!(
                    "stream {} is {} in {component}, but {} in {first}",
                    stream.name,
                    described(stream),
                    described(known)
                ))
                .with_help(
                    "the corpora of a mixture have the same streams: see `kind`, `dtype` and \
                            `dim` in their descriptions, or transforms",
                ));
            }
        }
    }
    for name in optional {
        let names = || all.iter().map(|(stream, _)| stream.name.as_str());
        if names().all(|known| known != name) {
            let error = Error::usage(format!("[mix] optional: no corpus has a stream {name}"));
            return Err(match nearest_name(name, names()) {
                Some(near) => error.with_help(format!("did you mean `{near}`?")),
                None => error.with_help(format!(
                    "the streams are {}",
                    names().collect::<Vec<_>>().join(", ")
                )),
            });
        }
    }
    let lacks = |name: &str| {
        let lacking = |corpus: &Arc<Corpus>| corpus.streams().iter().all(|own| own.name != name);
        components.iter().find(|(_, corpus)| lacking(corpus)).map(|(component, _)| component)
    };
    for (stream, first) in &mut all {
        let Some(component) = lacks(&stream.name) else { continue };
        let name = stream.name.clone();
        if !optional.contains(&name) {
            return Err(Error::usage(format!(
                "{component} has no stream {name}, but {first} has one"
            ))
            .with_help(format!(
                "give it to all corpora, or allow that some lack it: [mix] optional = \"{name}\""
            )));
        }
        stream.extent = Extent::Own;
    }
    Ok(all.into_iter().map(|(stream, _)| stream).collect())
}

fn described(stream: &Stream) -> String {
    let Stream { kind, element, dim, extent, .. } = stream;
    format!("{} {} x {dim} (extent {})", kind.name(), element.name(), extent.name())
}

/// Refuses labels that mean other symbols in one corpus than in another.
fn refuse_other_symbols(components: &Components) -> Result<()> {
    let mut first: BTreeMap<String, (&str, Arc<SymbolTable>)> = BTreeMap::new();
    for (component, corpus) in components {
        for (stream, table) in corpus.about().symbols {
            let (known, same) = first.entry(stream.clone()).or_insert((component, table.clone()));
            if *same != table {
                return Err(Error::usage(format!(
                    "the labels of stream {stream} mean other symbols in {component} than in {known}"
                ))
                .with_help("give the stream the same table of `symbols` in both descriptions"));
            }
        }
    }
    Ok(())
}

fn refuse_equal_keys(components: &Components) -> Result<()> {
    let mut before: HashSet<Key<'_>> = HashSet::new();
    for (number, (component, corpus)) in components.iter().enumerate() {
        let index = corpus.index();
        let keys = || (0..index.len() as u32).map(|sequence| index.key(sequence));
        if let Some(key) = keys().find(|key| before.contains(key)) {
            let message = format!("the corpus {component} has a key that another one has too");
            return Err(Error::usage(message)
                .in_file(corpus.name())
                .of_key(key)
                .with_help("let keys have the names of their corpora: leave out [mix] prefix"));
        }
        if number + 1 < components.len() {
            before.extend(keys());
        }
    }
    Ok(())
}
