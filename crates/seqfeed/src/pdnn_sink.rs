//! A corpus written as the files that PDNN reads.

use std::io::Write;

use seqfeed_core::{Error, Extent, Kind, Result, Source, Stream};
use seqfeed_io::{Output, Policy, WxFilename};
use seqfeed_pdnn::pfile::{PFileLayout, PFileWriter};
use seqfeed_pdnn::pickle::{Array, Protocol, write_pickle};

use crate::sequences::each_sequence;

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
    let mut written = 0;
    each_sequence(source, u64::MAX, |key, blocks, number| {
        let classes: Vec<i32> =
            bytemuck::pod_collect_to_vec(blocks[labels].samples(number).bytes());
        let mut line = key.0.to_vec();
        for label in &classes {
            line.extend_from_slice(format!(" {label}").as_bytes());
        }
        line.push(b'\n');
        ali.write_all(&line).map_err(|error| ali.error(error))?;
        if written < most {
            let features: Vec<f32> =
                bytemuck::pod_collect_to_vec(blocks[dense].samples(number).bytes());
            pfile.write_sentence(&features, &classes)?;
            all_features.extend(features);
            all_labels.extend(classes);
            written += 1;
        }
        Ok(())
    })?;
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
