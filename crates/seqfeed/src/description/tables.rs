//! The same feed of other files.

use seqfeed_core::{Element, Extent, Kind, Stream};

use super::{Description, FloatName, KindName, Names, StreamDescription};

impl Description {
    /// The same settings for a corpus of Kaldi's tables: streams, and their rspecifiers.
    #[must_use]
    pub fn over_tables(&self, tables: &[(&Stream, String)]) -> Self {
        let mut copy = self.clone();
        copy.streams.clear();
        (copy.features, copy.labels, copy.states) = (None, None, None);
        (copy.reader, copy.data, copy.base, copy.corpus) = (None, None, None, None);
        copy.inputs.clear();
        for (stream, rspecifier) in tables {
            let kind = match stream.kind {
                Kind::Dense => None,
                Kind::Sparse => Some(KindName::Sparse),
                _ => Some(KindName::Label),
            };
            let label = kind == Some(KindName::Label);
            let before = self.streams.get(&stream.name);
            let described = StreamDescription {
                source: Some(Names::One(rspecifier.clone())),
                kind,
                dim: (stream.kind == Kind::Sparse).then_some(stream.dim),
                dtype: (kind.is_none() && stream.element == Element::F64)
                    .then_some(FloatName::Float64),
                extent: (stream.extent != Extent::Samples).then(|| stream.extent.into()),
                context: before.and_then(|stream| stream.context.clone()),
                ..StreamDescription::default()
            };
            let plain = described.dtype.is_none() && described.extent.is_none();
            match stream.name.as_str() {
                "features" if plain && kind.is_none() && described.context.is_none() => {
                    copy.features = described.source;
                }
                "labels" if plain && label => copy.labels = described.source,
                name => drop(copy.streams.insert(name.to_owned(), described)),
            }
        }
        copy
    }
}
