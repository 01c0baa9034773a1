//! Completes a joined corpus: its transforms, and the settings that depend on it.

use std::sync::Arc;

use seqfeed_core::{
    Chunking, Corpus, Draw, Error, Extent, JoinPolicy, Kind, Result, Segmented, Source, Stream,
    nearest_name,
};
use seqfeed_feed::{Context, Cut, Padding, Settings};
use seqfeed_io::Opener;

use crate::data_spec::DataOptions;
use crate::description::Description;
use crate::quantity::{self, Partition};
use crate::transforms::{self, TransformSpec};

/// How the number of frames of a partition is rounded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rounding {
    /// As many as fit.
    None,
    /// Down to a multiple of 256, if 256 fit.
    To256,
    /// A partition is a whole file.
    WholeFile,
}

impl Description {
    /// The corpus with its filter, transforms and segments: first the transforms of streams that a
    /// reader brings, last those of all streams.
    pub(crate) fn transformed(&self, corpus: Corpus, opener: &Opener) -> Result<Corpus> {
        const KEY: &str = "transforms";
        let corpus = self.filtered(corpus, opener)?;
        let streams = self.corpus.streams.iter();
        let mut applied: Vec<(Option<String>, &[TransformSpec], Opener)> = Vec::new();
        for (name, spec) in streams.filter(|(_, spec)| spec.source.is_none()) {
            if let Some(transforms) = &spec.transforms {
                let opener = self.opener_of(&format!("[streams.{name}] {KEY}"), opener);
                applied.push((Some(stream_meant(&corpus, name)?.to_owned()), transforms, opener));
            }
        }
        let rule = self.segment_rule()?;
        let of_all = self.corpus.transforms.as_deref();
        if applied.is_empty() && rule.is_none() && of_all.is_none() {
            return Ok(corpus);
        }
        let mut source: Arc<dyn Source> = Arc::new(corpus);
        for (stream, transforms, opener) in applied {
            source = transforms::apply(
                source,
                stream.as_deref(),
                transforms,
                &opener,
                Self::open_other,
            )?;
        }
        // Transforms of streams see whole utterances, those of all streams see segments.
        if let Some(rule) = rule {
            source = Arc::new(Segmented::new(source, rule)?);
        }
        if let Some(transforms) = of_all {
            let opener = self.opener_of(KEY, opener);
            source = transforms::apply(source, None, transforms, &opener, Self::open_other)?;
        }
        corpus_of(source)
    }

    /// Settings that depend on the open corpus: the real names of streams, and the number of frames
    /// in a partition.
    pub(crate) fn settle(
        &self,
        mut settings: Settings,
        corpus: &Corpus,
        rounding: Rounding,
    ) -> Result<Settings> {
        let streams = corpus.streams();
        let first = |kind: Kind| streams.iter().find(|stream| stream.kind == kind);
        // If there are no labels, PDNN passes over both without a word.
        let unlabelled = first(Kind::Label).is_none();
        if self.corpus.data.is_some() && unlabelled && settings.labels.is_some() {
            return Err(Error::usage("labels are to be ignored or mapped, but there are none")
                .in_file(corpus.name())
                .with_help("give them (label=FILE.ali), or leave out ignore-label and map-label"));
        }
        for (stream, _) in self.corpus.streams.iter().filter(|(_, spec)| spec.is_applied()) {
            let meant = stream_meant(corpus, stream)?;
            if meant == stream {
                continue;
            }
            settings.context.retain(|context| context.stream != meant);
            for context in settings.context.iter_mut().filter(|one| one.stream == *stream) {
                meant.clone_into(&mut context.stream);
            }
            for padding in settings.padding.iter_mut().filter(|one| one.stream == *stream) {
                meant.clone_into(&mut padding.stream);
            }
            settings.types.retain(|one| one.stream != meant);
            for one in settings.types.iter_mut().filter(|one| one.stream == *stream) {
                meant.clone_into(&mut one.stream);
            }
            if let Some(rules) = settings.labels.as_mut().filter(|one| one.stream == *stream) {
                meant.clone_into(&mut rules.stream);
            }
        }
        for Padding { stream, value } in &settings.padding {
            let of_labels = streams.iter().any(|s| s.name == *stream && s.kind == Kind::Label);
            if of_labels && f64::from(*value as i32) != *value {
                return Err(Error::usage(format!(
                    "[streams.{stream}] padding: labels are whole numbers of 32 bits, and {value} is none"
                )));
            }
        }
        settings.transform_seed = match settings.order.shuffled() {
            Some((_, seed)) => seed,
            None => self.feed.seed.unwrap_or(0),
        };
        let varies = || corpus.in_sweep(Draw::default()).is_some();
        let seed = self.feed.seed.is_some() && self.stands("seed");
        if seed && settings.order.shuffled().is_none() && !varies() {
            return Err(Error::usage(
                "[feed] seed has no effect here: nothing is shuffled, and no transform draws values",
            )
            .with_help("leave seed out"));
        }
        if let Cut::Partitions(partitions) = &mut settings.cut {
            partitions.frames = self.frames_in_partition(streams, &settings.context, rounding)?;
        }
        Ok(settings)
    }

    fn frames_in_partition(
        &self,
        streams: &[Stream],
        contexts: &[Context],
        rounding: Rounding,
    ) -> Result<u64> {
        if rounding == Rounding::WholeFile {
            return Ok(u64::MAX);
        }
        let bytes = match self.feed.partition.as_ref().map(|text| quantity::partition(&text.text()))
        {
            Some(Ok(Partition::Frames(frames))) => return Ok(frames),
            Some(Ok(Partition::Bytes(bytes))) => bytes,
            Some(Err(error)) => return Err(error),
            None => DataOptions::PARTITION,
        };
        let frame_bytes: u64 = streams
            .iter()
            .filter(|stream| stream.kind == Kind::Dense && stream.extent == Extent::Samples)
            .map(|stream| {
                let context = contexts.iter().find(|context| context.stream == stream.name);
                let width = context.map_or(1, |context| context.left + 1 + context.right);
                (stream.sample_bytes() * width) as u64
            })
            .sum();
        let frames = bytes / frame_bytes.max(1);
        match rounding {
            _ if frames == 0 => Err(Error::usage(format!(
                "a partition of {bytes} bytes holds no frame: one takes {frame_bytes}, context counted"
            ))
            .with_help("use larger partitions or less context")),
            Rounding::To256 if frames >= 256 => Ok(frames - frames % 256),
            _ => Ok(frames),
        }
    }
}

/// One source as a corpus, with its own chunks.
pub(crate) fn corpus_of(source: Arc<dyn Source>) -> Result<Corpus> {
    let rules = JoinPolicy { chunks: Chunking::Primary, ..JoinPolicy::default() };
    Corpus::join(vec![source], &rules)
}

/// The stream that a name means. If a corpus has no stream `features` or `labels`, these names mean
/// the first stream of their kind.
fn stream_meant<'a>(corpus: &'a Corpus, name: &str) -> Result<&'a str> {
    let streams = corpus.streams();
    let first = |kind: Kind| streams.iter().find(|stream| stream.kind == kind);
    let meant = streams.iter().find(|stream| stream.name == name).or_else(|| match name {
        "features" => first(Kind::Dense),
        "labels" => first(Kind::Label),
        _ => None,
    });
    if let Some(meant) = meant {
        return Ok(&meant.name);
    }
    let names = || streams.iter().map(|stream| stream.name.as_str());
    let missing = match name {
        "labels" => "there are no labels".to_owned(),
        name => format!("there is no stream {name}"),
    };
    let error = Error::usage(missing).in_file(corpus.name());
    Err(match nearest_name(name, names()) {
        Some(near) => error.with_help(format!("did you mean `{near}`?")),
        None => {
            error.with_help(format!("its streams are {}", names().collect::<Vec<_>>().join(", ")))
        }
    })
}
