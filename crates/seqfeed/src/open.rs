//! Opens the corpus of a description.

use std::sync::Arc;

use seqfeed_core::{Corpus, Element, Error, Extent, Index, Kind, Result, Source, Tolerance};
use seqfeed_io::{Opener, name_from_text};
use toml::Table;

use crate::corpus_key::refuse_overrides;
use crate::corpus_keys;
use crate::description::{Description, KindName, StreamSpec, TextKeys, TypeName};
use crate::format::Wanted;
use crate::formats::{self, formats};
use crate::opened::Opened;
use crate::settle::Rounding;
use crate::transforms;

impl Description {
    /// Opens the corpus: makes or reads the index of each stream and joins them by key.
    ///
    /// `opener` says which names may be commands. Names in the description's file and in script
    /// files were not given by the caller.
    ///
    /// # Errors
    ///
    /// Fails if the description contradicts itself, if a file cannot be read, or if the streams do
    /// not fit together.
    pub fn open(&self, opener: &Opener) -> Result<Opened> {
        if self.is_mixture() {
            return self.open_mixture(opener);
        }
        if let Some((key, name)) = corpus_keys::of(self)? {
            return key.open(self, name, opener);
        }
        refuse_overrides(&self.corpus.overrides)?;
        let settings = self.settings()?;
        let join = self.join_rules()?;
        let mut sources: Vec<Arc<dyn Source>> = Vec::new();
        if let Some(names) = &self.corpus.files {
            sources.push(self.open_corpus_files(&names.to_vec(), opener)?);
        }
        for (name, stream) in self.streams() {
            let primary = sources.first().map(|source| source.index());
            let source = self.open_stream(&name, &stream, opener, join.errors, primary)?;
            sources.push(source);
        }
        if sources.is_empty() {
            return Err(Error::usage("the corpus has no streams").with_help(
                "give features (and labels): a section [streams.features] with a source, or --features",
            ));
        }
        let corpus = self.transformed(Corpus::join(sources, &join)?, opener)?;
        let settings = self.settle(settings, &corpus, Rounding::None)?;
        Ok(Opened::new(corpus, settings, Vec::new()))
    }

    /// Opens the files that hold all streams: the key `corpus`.
    pub(crate) fn open_corpus_files(
        &self,
        names: &[String],
        opener: &Opener,
    ) -> Result<Arc<dyn Source>> {
        let wanted = Wanted {
            stream: None,
            kind: None,
            element: None,
            extent: None,
            dim: None,
            states: None,
            lengths: None,
            text: TextKeys::default(),
            errors: self.join_rules()?.errors,
            chunk_samples: self.chunk_samples()?,
            map: self.corpus.map.unwrap_or(false),
            opener: self.opener_of("corpus", opener),
            primary: None,
        };
        let name = names.first().map_or("", String::as_str);
        let found = formats::recognised(name, &wanted.opener, |format| format.reads_corpora)?;
        let Some((format, _)) = found else {
            let formats = formats().into_iter();
            let formats = formats.filter(|format| format.capabilities().reads_corpora);
            let known: Vec<&str> = formats.map(|format| format.capabilities().called).collect();
            return Err(Error::usage(format!("`{name}` is not known to hold a corpus"))
                .with_help(format!("`corpus` is for {}", known.join(", "))));
        };
        format.open(names, &wanted)
    }

    /// Opens the corpus with the types of its files: 64-bit floats of Kaldi's stay so if no type is
    /// requested.
    ///
    /// # Errors
    ///
    /// The same as [`open`](Self::open).
    pub fn open_exactly(&self, opener: &Opener) -> Result<Opened> {
        let opened = self.open(opener)?;
        let asked = |name: &String| {
            let stream = self.corpus.streams.get(name);
            let dtype = stream.and_then(|stream| stream.dtype);
            dtype.is_some_and(|dtype| dtype.only_delivered().is_none())
        };
        let mut wider = opened.corpus().about().narrowed;
        wider.retain(|name| !asked(name));
        if wider.is_empty() {
            return Ok(opened);
        }
        let mut description = self.clone();
        for name in &wider {
            if let Some(stream) = description.corpus.streams.get_mut(name) {
                stream.dtype = Some(TypeName::Float64);
            }
        }
        description.open(opener)
    }

    /// The names of labels; the first one is for label 0. Empty if the description has no list of
    /// states for them.
    ///
    /// # Errors
    ///
    /// Fails if the list cannot be read.
    #[cfg(feature = "htk")]
    pub fn state_names(&self, opener: &Opener) -> Result<Vec<String>> {
        let mut streams = self.streams().into_iter();
        let named = streams.find_map(|(name, stream)| Some((name, stream.states?)));
        match named {
            Some((stream, states)) => {
                formats::state_names(&states, &self.opener_of_stream(&stream, opener))
            }
            None => Ok(Vec::new()),
        }
    }

    pub(crate) fn open_stream(
        &self,
        name: &str,
        stream: &StreamSpec,
        opener: &Opener,
        errors: Tolerance,
        primary: Option<&Arc<Index>>,
    ) -> Result<Arc<dyn Source>> {
        let Some(source) = &stream.source else {
            return Err(Error::usage(format!("stream {name} has no source")));
        };
        if stream.states.is_some() && !cfg!(feature = "htk") {
            return Err(formats::key_left_out("states", "htk"));
        }
        let label = stream.kind == Some(KindName::Label);
        let sparse = stream.kind == Some(KindName::Sparse);
        if stream.dim.is_some() && !sparse {
            return Err(Error::usage(format!("stream {name}: dim is of sparse streams"))
                .with_help("give kind = \"sparse\", or no dim: the data tell it"));
        }
        let element = match (label, stream.dtype) {
            (true, None | Some(TypeName::Int32 | TypeName::Int64)) => Element::I32,
            (true, Some(_)) => {
                return Err(Error::usage(format!("stream {name}: labels are no floats"))
                    .with_help("dtype = \"int64\" or \"int32\""));
            }
            (false, None | Some(TypeName::Float32)) => Element::F32,
            (false, Some(_)) if sparse => {
                return Err(Error::usage(format!("stream {name}: posteriors are of float32")));
            }
            (false, Some(TypeName::Float64)) => Element::F64,
            (false, Some(TypeName::Float16 | TypeName::Bfloat16)) => Element::F32,
            // A transform may make labels of vectors, but no integers stand in their files.
            (false, Some(TypeName::Int32 | TypeName::Int64)) => {
                return Err(Error::usage(format!("stream {name}: only labels are integers"))
                    .with_help("give kind = \"label\", or a type of floats"));
            }
        };
        let (names, opener) = (source.to_vec(), self.opener_of_stream(name, opener));
        let first = names.first().map_or("", String::as_str);
        let found = formats::recognised(first, &opener, |format| format.reads_streams)?;
        let Some((format, _)) = found else {
            return Err(Error::usage(format!("stream {name}: no format is known for `{first}`")));
        };
        let text = TextKeys::of(stream);
        if let Some(key) = text.given().filter(|_| !format.capabilities().text) {
            return Err(Error::usage(format!(
                "stream {name}: `{key}` is for text, not for {first}"
            ))
            .with_help(
                "a table of words is named text:FILE, a field of JSON lines jsonl:FILE#FIELD",
            ));
        }
        if stream.lengths.is_some() && !format.capabilities().lengths {
            return Err(Error::usage(format!(
                "stream {name}: `lengths` is for Kaldi's script files, not for {first}"
            ))
            .with_help("leave it out: other files state their lengths themselves"));
        }
        let wanted = Wanted {
            stream: Some(name),
            kind: stream.kind.map(Kind::from),
            element: Some(element),
            extent: stream.extent.map(Extent::from),
            dim: stream.dim,
            states: stream.states.as_deref(),
            lengths: stream.lengths.as_deref(),
            text,
            errors,
            chunk_samples: self.chunk_samples()?,
            map: self.corpus.map.unwrap_or(false),
            opener,
            primary,
        };
        let source = format.open(&names, &wanted)?;
        transforms::apply(
            source,
            Some(name),
            stream.transforms.as_deref().unwrap_or(&[]),
            &wanted.opener,
            Self::open_other,
        )
    }

    /// Opens another corpus by its name.
    pub(crate) fn open_other(name: &str, opener: &Opener) -> Result<Arc<dyn Source>> {
        let named = Self::of_name_with(&name_from_text(name), Table::new(), opener)?;
        let corpus = Arc::clone(named.description.open(opener)?.corpus());
        Ok(corpus)
    }
}
