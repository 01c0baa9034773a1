//! Any corpus as CTF.

use std::io::Write;

use seqfeed_cntk::ctf::{Writer, WriterSamples, WriterStream};
use seqfeed_core::{Block, Element, Error, Key, Kind, Result, Source, Stream};

use crate::sequences::each_sequence;

/// Classes that labels can name: what indices of CTF can count.
const CLASSES: usize = i32::MAX as usize;

/// Writes the sequences of a corpus as CTF, in its order, one chunk in memory at a time.
///
/// Dense and sparse streams are written as such, labels as sparse samples with one value (`class:1`),
/// as CNTK's users write them. Names of streams are the aliases. Keys that are no numbers become
/// numbers, with the key in a comment. Floats are the shortest that read back exactly.
///
/// `most` is the most sequences that are written. Gives back the writer, flushed.
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let directory = tempfile::tempdir()?;
/// # let path = directory.path().join("x.ark").display().to_string();
/// # std::fs::write(&path, "utt1  [ 1 2.5\n 3 4 ]\nutt2  [ 5 6\n 7 8 ]\n")?;
/// let description = seqfeed::Description::from_toml(&format!("features = 'ark:{path}'"))?;
/// let opened = description.open(seqfeed::io::Policy::default())?;
/// let text = seqfeed::write_ctf(opened.corpus().as_ref(), Vec::new(), u64::MAX)?;
/// assert!(String::from_utf8(text)?.starts_with("0 |# utt1 |features 1 2.5\n"));
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// Fails if data cannot be read, if CTF has no way to say them (infinite values, negative labels,
/// sequences in which a stream has no samples), or if writing fails.
pub fn write_ctf<W: Write>(source: &dyn Source, out: W, most: u64) -> Result<W> {
    let streams = source.streams().iter().map(|stream| match stream.kind {
        Kind::Dense => WriterStream::dense(&stream.name, stream.dim),
        Kind::Sparse => WriterStream::sparse(&stream.name, stream.dim),
        _ => WriterStream::sparse(&stream.name, CLASSES),
    });
    let mut writer = Writer::new(out, streams.collect())?;
    each_sequence(source, most, |key, blocks, number| {
        let loaded = source.streams().iter().zip(blocks);
        let samples: Vec<Samples> = loaded
            .map(|(stream, block)| Samples::of(stream, block, number, key))
            .collect::<Result<_>>()?;
        let samples: Vec<WriterSamples<'_>> = samples.iter().map(Samples::borrow).collect();
        writer.write_sequence(key, &samples)
    })?;
    writer.finish()
}

/// The samples of a sequence in one stream, as the writer takes them.
struct Samples {
    values: Values,
    /// Indices and ends, where they are written as sparse.
    sparse: Option<(Vec<u32>, Vec<u32>)>,
}

enum Values {
    F32(Vec<f32>),
    F64(Vec<f64>),
}

impl Samples {
    fn of(stream: &Stream, block: &Block, number: usize, key: Key<'_>) -> Result<Self> {
        if stream.kind == Kind::Sparse {
            let samples = block.sparse_samples(number);
            // Indices lie between 0 and the dim.
            let indices = samples.indices.iter().map(|&index| index.unsigned_abs()).collect();
            let ends = (1..=samples.len()).map(|end| samples.values_in(0..end).end as u32);
            let values = Values::of(stream.element, samples.values);
            return Ok(Self { values, sparse: Some((indices, ends.collect())) });
        }
        let bytes = block.samples(number).bytes();
        if stream.element != Element::I32 {
            return Ok(Self { values: Values::of(stream.element, bytes), sparse: None });
        }
        let labels: Vec<i32> = bytemuck::pod_collect_to_vec(bytes);
        let classes = labels.iter().map(|&label| u32::try_from(label));
        let Ok(classes) = classes.collect::<std::result::Result<Vec<u32>, _>>() else {
            return Err(Error::corpus("a negative label cannot be written as CTF")
                .of_key(key)
                .with_help("leave such sequences out, or give the label a class of its own"));
        };
        let ends = (1..=classes.len() as u32).collect();
        Ok(Self { values: Values::F32(vec![1.0; classes.len()]), sparse: Some((classes, ends)) })
    }

    fn borrow(&self) -> WriterSamples<'_> {
        match (&self.values, &self.sparse) {
            (Values::F32(values), None) => WriterSamples::dense(values),
            (Values::F64(values), None) => WriterSamples::dense(values),
            (Values::F32(values), Some((at, ends))) => WriterSamples::sparse(values, at, ends),
            (Values::F64(values), Some((at, ends))) => WriterSamples::sparse(values, at, ends),
        }
    }
}

impl Values {
    fn of(element: Element, bytes: &[u8]) -> Self {
        match element {
            Element::F64 => Values::F64(bytemuck::pod_collect_to_vec(bytes)),
            _ => Values::F32(bytemuck::pod_collect_to_vec(bytes)),
        }
    }
}
