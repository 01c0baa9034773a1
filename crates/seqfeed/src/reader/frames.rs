//! Makes frames out of a corpus whose streams have lengths of their own.

use seqfeed_core::{
    Block, Element, Error, Extent, Given, Kind, Most, Output, Result, Stream, Transform,
};

/// Gives all streams one sample for each frame. A sequence for which this is not so is an error
/// when it is loaded. One-hot vectors may become labels.
pub(super) struct Frames {
    /// The sparse stream that becomes a stream of labels.
    one_hot: Option<usize>,
}

impl Frames {
    /// `labels` names the requested stream of labels. If there are no labels at all, the sparse
    /// stream of that name (or the only sparse stream) becomes labels.
    pub(super) fn new(streams: &[Stream], labels: Option<&str>) -> Self {
        let Some(labels) = labels else { return Self { one_hot: None } };
        if streams.iter().any(|stream| stream.kind == Kind::Label) {
            return Self { one_hot: None };
        }
        let sparse: Vec<usize> =
            (0..streams.len()).filter(|&n| streams[n].kind == Kind::Sparse).collect();
        let named = sparse.iter().copied().find(|&n| streams[n].name == labels);
        let only = if let [only] = sparse[..] { Some(only) } else { None };
        Self { one_hot: named.or(only) }
    }
}

impl Transform for Frames {
    fn name(&self) -> &str {
        "frames"
    }

    fn outputs(&self, streams: &[Stream]) -> Result<Vec<Output>> {
        let output = |(number, stream): (usize, &Stream)| {
            let mut stream = stream.clone();
            if stream.extent == Extent::Own {
                stream.extent = Extent::Samples;
            }
            if self.one_hot != Some(number) {
                return Output::Kept { of: number, stream };
            }
            (stream.kind, stream.element, stream.dim) = (Kind::Label, Element::I32, 1);
            Output::Made { of: vec![number], stream }
        };
        Ok(streams.iter().enumerate().map(output).collect())
    }

    fn apply(&self, _output: usize, given: &Given<'_>, to: &mut Block) -> Result<()> {
        let samples = given.sparse_samples(0);
        let size = given.stream(0).element.size();
        let labels = to.push_i32(samples.len());
        for (row, label) in labels.iter_mut().enumerate() {
            let values = samples.values_in(row..row + 1);
            let bytes = &samples.values[values.start * size..values.end * size];
            let one = match given.stream(0).element {
                Element::F32 => bytes == 1f32.to_ne_bytes(),
                Element::F64 => bytes == 1f64.to_ne_bytes(),
                _ => bytes == 1i32.to_ne_bytes(),
            };
            if values.len() != 1 || !one {
                return Err(Error::corpus(format!("sample {row} is no label: it is not one-hot"))
                    .of_key(given.key())
                    .with_help("labels of sparse streams have one value in each sample, 1"));
            }
            *label = samples.indices[values.start];
        }
        Ok(())
    }

    fn most(&self, _output: usize, given: Most) -> Option<Most> {
        Some(Most { samples: given.samples, values: given.samples })
    }
}
