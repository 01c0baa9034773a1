//! From a description to a corpus.

use std::sync::Arc;

use seqfeed_core::{Corpus, Element, Error, Extent, JoinReport, Result, Source};
use seqfeed_feed::{Feed, Settings, State};
use seqfeed_io::Policy;
use seqfeed_kaldi::{Role, TableOptions, TableSource};

use crate::description::{Description, ExtentName, FloatName, KindName, StreamDescription};
use crate::htk::{self, OpenedStream, Wanted};
use crate::reader::{self, ReaderFile};

/// A corpus that is open, with the settings to feed it.
#[derive(Debug)]
pub struct Opened {
    corpus: Arc<Corpus>,
    settings: Settings,
    formats: Vec<String>,
    report: JoinReport,
    spooled_bytes: u64,
    files: Vec<ReaderFile>,
    unknown: Vec<String>,
}

impl Description {
    /// Opens the corpus: makes or reads the index of each stream and joins them by key.
    ///
    /// `policy` says whether names in script files and in the description may run commands.
    ///
    /// # Errors
    ///
    /// Fails if the description contradicts itself, if a file cannot be read, or if the streams
    /// don't fit together.
    pub fn open(&self, policy: Policy) -> Result<Opened> {
        if let Some(reader) = &self.reader {
            return self.open_reader(reader, policy);
        }
        let settings = self.settings()?;
        let join = self.join_policy()?;
        let mut sources: Vec<Arc<dyn Source>> = Vec::new();
        let mut formats = Vec::new();
        let mut report = JoinReport::default();
        let mut spooled_bytes = 0;
        for (name, stream) in self.streams() {
            let table = self.open_stream(&name, &stream, policy, join.errors)?;
            report.dropped.extend(table.report.dropped);
            spooled_bytes += table.spooled_bytes;
            formats.push(table.format);
            sources.push(table.source);
        }
        if sources.is_empty() {
            return Err(Error::usage("the corpus has no streams").with_help(
                "give features (and labels), for instance `features = \"scp:feats.scp\"`",
            ));
        }
        let corpus = Corpus::join(sources, &join)?;
        report.dropped.extend(corpus.report().dropped.iter().cloned());
        let (files, unknown) = (Vec::new(), Vec::new());
        let corpus = Arc::new(corpus);
        Ok(Opened { corpus, settings, formats, report, spooled_bytes, files, unknown })
    }

    fn open_reader(&self, name: &str, policy: Policy) -> Result<Opened> {
        if self.streams().next().is_some() {
            return Err(Error::usage("a reader has its own streams: none can be added to it"));
        }
        let given = [
            ("chunk-size", self.chunk_size.is_some()),
            ("map", self.map == Some(true)),
            ("missing", self.missing.is_some()),
            ("errors", self.errors.is_some()),
            ("context", self.context.is_some()),
        ];
        if let Some((key, _)) = given.iter().find(|(_, given)| *given) {
            return Err(Error::usage(format!("{key} does not go with a reader of CNTK"))
                .with_help(
                    "the reader's own settings say such things (chunkSizeInBytes, maxErrors)",
                ));
        }
        let name = match self.base_of("reader") {
            Some(base) => base.join(name).display().to_string(),
            None => name.to_owned(),
        };
        let opened = reader::open(&name, &self.inputs, &policy)?;
        let mut settings = self.settings_over(opened.settings)?;
        if let Some(rows) = &opened.rows {
            rows.apply(&mut settings, opened.corpus.index().total_samples());
        }
        let report = opened.corpus.report().clone();
        let files = opened.files;
        let spooled_bytes = files.iter().map(ReaderFile::spooled_bytes).sum();
        let formats = files.iter().map(ReaderFile::format).collect();
        let (corpus, mut unknown) = (Arc::new(opened.corpus), opened.unknown);
        unknown.extend(opened.rows.iter().filter_map(reader::Rows::warning));
        Ok(Opened { corpus, settings, formats, report, spooled_bytes, files, unknown })
    }

    fn open_stream(
        &self,
        name: &str,
        stream: &StreamDescription,
        policy: Policy,
        errors: seqfeed_core::Tolerance,
    ) -> Result<OpenedStream> {
        let Some(source) = &stream.source else {
            return Err(Error::usage(format!("stream {name} has no source")));
        };
        let label = stream.kind == Some(KindName::Label);
        let element = match (label, stream.dtype) {
            (true, Some(_)) => {
                return Err(Error::usage(format!("stream {name}: labels have no dtype to choose")));
            }
            (true, None) => Element::I32,
            (false, Some(FloatName::Float64)) => Element::F64,
            (false, _) => Element::F32,
        };
        let extent = stream.extent.map(|extent| match extent {
            ExtentName::Samples => Extent::Samples,
            ExtentName::Sequence => Extent::Sequence,
        });
        let (names, base) = (source.to_vec(), self.base_of(name));
        if htk::is_htk(&names, base) {
            let wanted = Wanted {
                stream: name,
                label,
                element,
                extent,
                errors,
                states: stream.states.as_deref(),
                base,
            };
            return htk::open(&names, &wanted);
        }
        if stream.states.is_some() {
            return Err(Error::usage(format!("stream {name}: states are for master label files"))
                .with_help("give labels = \"train.mlf\", or no states"));
        }
        let options = TableOptions {
            stream: name.to_owned(),
            role: if label { Role::Labels } else { Role::Features },
            element,
            extent,
            chunk_samples: self.chunk_samples()?,
            policy,
            specifier_policy: if self.given.contains(name) { Policy::with_pipes() } else { policy },
            map: self.map.unwrap_or(false),
            errors,
            base: base.map(std::path::Path::to_owned),
        };
        let table = TableSource::open(&names, &options)?;
        Ok(OpenedStream {
            format: table.format(),
            report: table.report().clone(),
            spooled_bytes: table.spooled_bytes(),
            source: Arc::new(table),
        })
    }
}

impl Opened {
    /// The corpus.
    #[must_use]
    pub fn corpus(&self) -> &Arc<Corpus> {
        &self.corpus
    }

    /// The settings of its feed.
    #[must_use]
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// What the sources are, one text a stream: "kaldi archive, float matrices".
    #[must_use]
    pub fn formats(&self) -> &[String] {
        &self.formats
    }

    /// What was skipped while opening and joining.
    #[must_use]
    pub fn report(&self) -> &JoinReport {
        &self.report
    }

    /// Bytes decoded into temporary files, because the data cannot be read in place.
    #[must_use]
    pub fn spooled_bytes(&self) -> u64 {
        self.spooled_bytes
    }

    /// What is worth a warning but stops nothing: names in a configuration that no reader knows, and
    /// what was passed over in the data so far.
    #[must_use]
    pub fn warnings(&self) -> Vec<String> {
        let files = self.files.iter().flat_map(ReaderFile::warnings);
        self.unknown.iter().cloned().chain(files).collect()
    }

    /// Starts feeding, from the beginning or from a state.
    ///
    /// # Errors
    ///
    /// As [`Feed::new`].
    pub fn feed(&self, state: Option<&State>) -> Result<Feed> {
        Feed::new(Arc::clone(&self.corpus) as Arc<dyn Source>, self.settings.clone(), state)
    }
}
