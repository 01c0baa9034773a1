//! Any corpus as HTK's files.

use seqfeed_core::{Error, Kind, Result, Sink, Source};
use seqfeed_htk::param::Encoding;
use seqfeed_io::Opener;

use crate::convert::Shaped;
use crate::format::Change;
use crate::formats::{HtkLayout, HtkSink};
use crate::sequences::each_sequence;

/// How HTK's files are written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HtkOptions {
    /// Kind, frame period and byte order of the archive.
    pub encoding: Encoding,
    /// Names of the labels, the first one for label 0; those that are missing are `s0`, `s1`, ...
    pub states: Vec<String>,
    /// Most sequences that are written.
    pub most: u64,
}

impl Default for HtkOptions {
    fn default() -> Self {
        Self { encoding: Encoding::default(), states: Vec::new(), most: u64::MAX }
    }
}

/// Writes a corpus as HTK's files, in its order, one chunk in memory at a time:
///
/// | file | what |
/// | --- | --- |
/// | `PREFIX.htk` | an archive: the frames of all sequences in one parameter file |
/// | `PREFIX.scp` | a script: `key.htk=.../name.htk[first,last]`, beside the archive |
/// | `PREFIX.mlf` | the labels, equal ones side by side as one segment, with times in 100 ns; if there are labels |
/// | `PREFIX.states` | the names of the labels, one a line; if there are labels |
///
/// Labels are a label stream, or a sparse one that has one value a sample. All files appear
/// together. CNTK's readers, and ours, take the times of labels for those of frames of 10 ms: with
/// another [period](Encoding::period) the labels are for HTK only.
///
/// # Errors
///
/// Fails if data cannot be read or written, or if the files cannot say them: several streams of
/// floats or of labels, 64-bit floats, no frames, negative labels, lengths that differ, keys or
/// names of states that HTK and CNTK do not both read as they are.
pub fn write_htk(
    source: &dyn Source,
    prefix: &str,
    options: &HtkOptions,
    opener: &Opener,
) -> Result<()> {
    let changes = source.streams().iter().map(|stream| match (stream.kind, stream.element) {
        (Kind::Sparse, _) => Ok(Change::Classes),
        (Kind::Dense, seqfeed_core::Element::F64) => Err(Error::usage(format!(
            "stream {} has float64 values; HTK's are float32",
            stream.name
        ))),
        _ => Ok(Change::None),
    });
    let changes = changes.collect::<Result<Vec<Change>>>()?;
    let source = Shaped::new(source, changes.into_iter().enumerate().collect());
    let HtkOptions { encoding, states, most } = options;
    let streams = source.streams();
    let mut sink = HtkSink::create(prefix, HtkLayout::Archive, streams, encoding, states, opener)?;
    each_sequence(&source, *most, |key, blocks, number| sink.write(key, blocks, number))?;
    Box::new(sink).finish().map(drop)
}
