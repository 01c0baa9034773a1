//! The description of a stream: name, kind, element type, width.

/// A named, typed channel of a corpus.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stream {
    /// Name, unique in a corpus (`features`, `labels`, ...).
    pub name: String,
    /// The kind of its samples.
    pub kind: Kind,
    /// Type of one value.
    pub element: Element,
    /// Number of values in one sample, at least 1. For sparse samples, the number of possible
    /// values.
    pub dim: usize,
    /// The number of its samples in a sequence.
    pub extent: Extent,
}

impl Stream {
    /// Size of one sample in bytes. For sparse samples, of a sample with all its values.
    #[must_use]
    pub fn sample_bytes(&self) -> usize {
        self.dim * self.element.size()
    }
}

/// The kind of the samples of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Kind {
    /// A vector of real values (acoustic features, posteriors).
    Dense,
    /// A class number.
    Label,
    /// A vector with only some of its values, each with its index: bags of words, one-hot vectors.
    Sparse,
}

impl Kind {
    /// The kind's name in machine-readable output.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Kind::Dense => "dense",
            Kind::Label => "label",
            Kind::Sparse => "sparse",
        }
    }
}

/// The type of one value of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Element {
    /// 32-bit IEEE float.
    F32,
    /// 64-bit IEEE float.
    F64,
    /// 32-bit signed integer.
    I32,
    /// 16-bit IEEE float. Only feeds deliver it.
    F16,
    /// The upper 16 bits of a 32-bit IEEE float. Only feeds deliver it.
    BF16,
    /// 64-bit signed integer. Only feeds deliver it.
    I64,
}

impl Element {
    /// Size of one value in bytes.
    #[must_use]
    pub fn size(self) -> usize {
        match self {
            Element::F32 | Element::I32 => 4,
            Element::F64 | Element::I64 => 8,
            Element::F16 | Element::BF16 => 2,
        }
    }

    /// The type's name in machine-readable output (numpy's short names).
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Element::F32 => "float32",
            Element::F64 => "float64",
            Element::I32 => "int32",
            Element::F16 => "float16",
            Element::BF16 => "bfloat16",
            Element::I64 => "int64",
        }
    }
}

/// The number of samples that a stream has in a sequence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// One sample a time step. The length of the stream is the length of the sequence.
    Samples,
    /// One sample for the whole sequence (a speaker vector, a language number).
    Sequence,
    /// A length of its own in each sequence, known when the sequence is loaded (the inputs of CTF).
    Own,
}

impl Extent {
    /// The extent's name in descriptions and machine-readable output.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Extent::Samples => "samples",
            Extent::Sequence => "sequence",
            Extent::Own => "own",
        }
    }
}
