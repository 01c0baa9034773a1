//! A corpus written as the files that PDNN reads.

use std::io::Write;

use seqfeed_core::{Block, Error, Extent, Kind, Result, Source, Stream};
use seqfeed_io::{Output, Policy, WxFilename};
use seqfeed_pdnn::pfile::{PFileLayout, PFileWriter};
use seqfeed_pdnn::pickle::{Array, Protocol, write_pickle};

/// Writes the first `most` sequences of a corpus (one stream of 32-bit floats, one of labels).
///
/// | file | |
/// | --- | --- |
/// | `PREFIX.pfile` | a PFile |
/// | `PREFIX.pickle` | all frames as one pickle (protocol 2, for Python 2 and 3), held in memory |
/// | `PREFIX.ali` | alignments of *all* sequences, to go with Kaldi's features |
///
/// # Errors
///
/// Fails if data cannot be read or written, or if there are other streams, or none of these.
pub fn write_pdnn(source: &dyn Source, prefix: &str, most: u64, policy: &Policy) -> Result<()> {
    let streams = source.streams();
    let (dense, labels) = (one(streams, Kind::Dense)?, one(streams, Kind::Label)?);
    let width = streams[dense].dim;
    let name = |end: &str| WxFilename::parse(&format!("{prefix}.{end}"));
    let layout = PFileLayout { features: width, labels: 1 };
    let mut pfile = PFileWriter::create(&name("pfile")?, layout, policy)?;
    let mut ali = Output::create(&name("ali")?, policy)?;
    let (mut all_features, mut all_labels): (Vec<f32>, Vec<i32>) = (Vec::new(), Vec::new());
    let index = source.index();
    for sequence in 0..index.len() as u32 {
        let mut blocks: Vec<Block> = source.new_blocks();
        source.load(&[sequence], &mut blocks)?;
        let bytes = blocks[labels].samples(0).bytes();
        let (bytes, _) = bytes.as_chunks::<4>();
        let classes: Vec<i32> = bytes.iter().map(|label| i32::from_ne_bytes(*label)).collect();
        let mut line = index.key(sequence).0.to_vec();
        for label in &classes {
            line.extend_from_slice(format!(" {label}").as_bytes());
        }
        line.push(b'\n');
        ali.write_all(&line).map_err(|error| ali.error(error))?;
        if u64::from(sequence) < most {
            let (bytes, _) = blocks[dense].samples(0).bytes().as_chunks::<4>();
            let features: Vec<f32> = bytes.iter().map(|value| f32::from_ne_bytes(*value)).collect();
            pfile.write_sentence(&features, &classes)?;
            all_features.extend(features);
            all_labels.extend(classes);
        }
    }
    let rows = all_labels.len();
    let features = Array::from_f32(vec![rows, width], &all_features)?;
    let labels = Array::from_i32(vec![rows], &all_labels)?;
    write_pickle(&name("pickle")?, &features, &labels, Protocol::Two, policy)?;
    pfile.finish()?;
    ali.finish()
}

/// The only stream of a kind.
fn one(streams: &[Stream], kind: Kind) -> Result<usize> {
    let of_kind = |number: &usize| {
        let stream = &streams[*number];
        stream.kind == kind && stream.extent == Extent::Samples && stream.element.size() == 4
    };
    let found: Vec<usize> = (0..streams.len()).filter(of_kind).collect();
    match found[..] {
        [only] if streams.len() == 2 => Ok(only),
        _ => Err(Error::usage(
            "PDNN's files are written from one stream of float32 features and one of labels",
        )),
    }
}
