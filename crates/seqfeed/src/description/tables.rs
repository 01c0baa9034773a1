//! The same feed for other files.

use seqfeed_core::{Element, Extent, Kind, Stream};

use super::Description;
use super::corpus::{CorpusSpec, StreamSpec};
use super::values::{KindName, Names, TypeName};

impl Description {
    /// The same settings for a corpus of Kaldi's tables, given as streams with their rspecifiers.
    #[must_use]
    pub fn over_tables(&self, tables: &[(&Stream, String)]) -> Self {
        let spec = &self.corpus;
        let mut copy = self.clone();
        copy.base = None;
        copy.corpus = CorpusSpec {
            chunk_size: spec.chunk_size,
            map: spec.map,
            line_limit: spec.line_limit,
            transforms: spec.transforms.clone(),
            missing: spec.missing.clone(),
            errors: spec.errors.clone(),
            ..CorpusSpec::default()
        };
        for (stream, rspecifier) in tables {
            let (kind, called) = match stream.kind {
                Kind::Dense => (None, "features"),
                Kind::Sparse => (Some(KindName::Sparse), ""),
                _ => (Some(KindName::Label), "labels"),
            };
            // Settings may stand under a name that means the first stream of its kind.
            let applied = || spec.streams.get(called).filter(|stream| stream.is_applied());
            let before = spec.streams.get(&stream.name).or_else(applied);
            let before = before.cloned().unwrap_or_default();
            let described = StreamSpec {
                source: Some(Names::One(rspecifier.clone())),
                kind,
                dim: (stream.kind == Kind::Sparse).then_some(stream.dim),
                dtype: before
                    .dtype
                    .filter(|dtype| dtype.only_delivered().is_some())
                    .or((kind.is_none() && stream.element == Element::F64)
                        .then_some(TypeName::Float64)),
                extent: (stream.extent != Extent::Samples).then(|| stream.extent.into()),
                context: before.context,
                padding: before.padding,
                ignore: before.ignore,
                map: before.map,
                ..StreamSpec::default()
            };
            copy.corpus.streams.insert(stream.name.clone(), described);
        }
        copy
    }
}
