//! Deserializers: each reads one file, or one stream of files.

use super::Precision;

/// A deserializer.
#[derive(Clone, Debug, PartialEq)]
pub enum Deserializer {
    /// `CNTKTextFormatDeserializer`.
    Ctf(CtfDeserializer),
    /// `HTKFeatureDeserializer`.
    HtkFeatures(HtkFeatures),
    /// `HTKMLFDeserializer` and `HTKMLFBinaryDeserializer`.
    HtkMlf(HtkMlf),
}

impl Deserializer {
    /// The names of its streams, sorted without case.
    #[must_use]
    pub fn streams(&self) -> Vec<&str> {
        match self {
            Deserializer::Ctf(ctf) => ctf.inputs.iter().map(|input| input.name.as_str()).collect(),
            Deserializer::HtkFeatures(features) => vec![&features.name],
            Deserializer::HtkMlf(mlf) => vec![&mlf.name],
        }
    }

    /// Whether one of its streams defines the size of minibatches.
    #[must_use]
    pub fn defines_mb_size(&self) -> bool {
        match self {
            Deserializer::Ctf(ctf) => ctf.inputs.iter().any(|input| input.defines_mb_size),
            Deserializer::HtkFeatures(features) => features.defines_mb_size,
            Deserializer::HtkMlf(mlf) => mlf.defines_mb_size,
        }
    }
}

/// A file in CNTK's text format.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CtfDeserializer {
    /// `file`, required.
    pub file: String,
    /// `skipSequenceIds`: every line is a sequence. Off.
    pub skip_sequence_ids: bool,
    /// `maxErrors`: how many errors in the file are passed over; 0.
    pub max_errors: u64,
    /// `traceLevel`; 1. The value of a composite reader takes precedence.
    pub trace_level: i64,
    /// `chunkSizeInBytes`; 32 MiB. Not 0.
    pub chunk_size_in_bytes: u64,
    /// `cacheIndex`: the index is written beside the file. Off.
    pub cache_index: bool,
    /// `frameMode`; always that of the reader.
    pub frame_mode: bool,
    /// `precision`; always that of the reader.
    pub precision: Precision,
    /// `keepDataInMemory`; off. CNTK uses it in the stand-alone reader only.
    pub keep_data_in_memory: bool,
    /// `longerThanInputs`, not in CNTK: sequences may have more lines than their longest input has
    /// samples. Off.
    pub longer_than_inputs: bool,
    /// `input`: the streams, sorted by name without case. Never empty.
    pub inputs: Vec<CtfInput>,
}

/// A stream of a file in CNTK's text format.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CtfInput {
    /// The name of its section.
    pub name: String,
    /// `alias`: its name in the file; by default the name. Not empty; no two are the same.
    pub alias: String,
    /// `dim`, required: values of a sample. Not 0; at most 2^31-1 if sparse.
    pub dim: u64,
    /// `format`, required.
    pub format: CtfFormat,
    /// `definesMBSize`: minibatches are counted in samples of this stream. Off; at most one.
    pub defines_mb_size: bool,
}

/// The form of values in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CtfFormat {
    /// `dense`: all of them.
    Dense,
    /// `sparse`: `index:value`.
    Sparse,
}

/// A stream of HTK parameter files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HtkFeatures {
    /// The name of its section.
    pub name: String,
    /// `scpFile`, required: the list of files.
    pub scp_file: String,
    /// `dim`, required: the number of values of one frame before the window is added. With a window
    /// of 0:0 (the default) it is the number in all, and the window follows from the files.
    pub dim: u64,
    /// `contextWindow`: frames to the left and to the right. One odd number `n` is `n/2:n/2`;
    /// 1.
    pub context_window: (u64, u64),
    /// `expandToUtterance`: its one frame is repeated to the length of the first stream. Off;
    /// not in the first deserializer.
    pub expand_to_utterance: bool,
    /// `prefixPathInSCP`, if given and not empty: a prefix of all paths in the list, with slashes
    /// for backslashes and one slash at the end.
    pub prefix_path_in_scp: Option<String>,
    /// `definesMBSize` of the `input` section or further out. Off.
    pub defines_mb_size: bool,
    /// `maxSequenceSize` of the `input` section or further out, if given: longer sequences are left
    /// out. For `HTKMLFReader` it is `maxUtteranceLength`; 10000.
    pub max_sequence_size: Option<u64>,
    /// `framesPerChunk`, not in CNTK: a chunk with more frames is full; 90000.
    pub frames_per_chunk: u64,
    /// `frameMode`, always that of the reader.
    pub frame_mode: bool,
    /// `precision`, always that of the reader.
    pub precision: Precision,
    /// `traceLevel`; 1. The value of the reader takes precedence.
    pub trace_level: i64,
}

impl HtkFeatures {
    /// The number of values of a sample: `dim` with the window.
    #[must_use]
    pub fn stream_dim(&self) -> u64 {
        let (left, right) = self.context_window;
        self.dim.saturating_mul(left.saturating_add(right).saturating_add(1))
    }
}

/// A stream of labels in HTK's master label files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HtkMlf {
    /// The name of its section.
    pub name: String,
    /// `mlfFile` or `mlfFileList`, one of them required.
    pub files: MlfFiles,
    /// The files are in CNTK's binary format (`HTKMLFBinaryDeserializer`).
    pub binary: bool,
    /// `labelDim` or else `dim`, required: number of classes, from 1 to 65535.
    pub dim: u64,
    /// `labelMappingFile`, if given: the names of the classes, one a line. Without it labels are
    /// numbers.
    pub label_mapping_file: Option<String>,
    /// `phoneBoundaries`: the first frame of a segment has value 2. Off; not with `frameMode`.
    pub phone_boundaries: bool,
    /// `labelToTargetMappingFile`, `HTKMLFReader` only: the vector of each class.
    pub label_to_target_mapping_file: Option<String>,
    /// `targetDim`, `HTKMLFReader` only: length of those vectors.
    pub target_dim: Option<u64>,
    /// `definesMBSize` of the `input` section or further out. Off.
    pub defines_mb_size: bool,
    /// `frameMode`, always that of the reader.
    pub frame_mode: bool,
    /// `precision`, always that of the reader.
    pub precision: Precision,
    /// `traceLevel`; 1. The value of the reader takes precedence.
    pub trace_level: i64,
}

/// The names of label files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MlfFiles {
    /// These files.
    Files(Vec<String>),
    /// The files listed in this file, one a line.
    List(String),
}
