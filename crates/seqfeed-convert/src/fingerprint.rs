//! The contents of a corpus in a few numbers that do not depend on how it is stored.

use seqfeed_core::{Block, Element, Key, Kind, Result, Source, Stream};
use serde::{Deserialize, Serialize};
use twox_hash::XxHash3_64;

use crate::sequences::each_sequence;

/// Numbers that two corpora share if they hold the same data, in any order and container.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fingerprint {
    /// Number of sequences.
    pub sequences: u64,
    /// The streams, in their order.
    pub streams: Vec<StreamFingerprint>,
}

/// The numbers of one stream.
///
/// A label counts as a sparse sample with the value 1. A 64-bit float that fits 32 bits counts as a
/// 32-bit float. So containers that lack some types differ by values only.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StreamFingerprint {
    /// The stream's name.
    pub name: String,
    /// Number of samples.
    pub samples: u64,
    /// A sum over all samples of a hash (XXH3) of their values. It does not depend on order, keys,
    /// or the ends of sequences.
    #[serde(with = "hexadecimal")]
    pub values: u64,
    /// A sum over all sequences of a hash of key and values. It does not depend on their order.
    #[serde(with = "hexadecimal")]
    pub sequences: u64,
    /// The largest label, or index of a sparse sample.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub largest: Option<i32>,
}

impl Fingerprint {
    /// Adds the fingerprint of another part of the corpus.
    ///
    /// # Panics
    ///
    /// If they differ in the number of streams.
    pub fn add(&mut self, part: &Self) {
        assert_eq!(self.streams.len(), part.streams.len(), "parts of one corpus");
        self.sequences += part.sequences;
        for (stream, other) in self.streams.iter_mut().zip(&part.streams) {
            stream.samples += other.samples;
            stream.values = stream.values.wrapping_add(other.values);
            stream.sequences = stream.sequences.wrapping_add(other.sequences);
            stream.largest = stream.largest.max(other.largest);
        }
    }
}

/// Makes a [`Fingerprint`], sequence by sequence.
#[derive(Debug)]
pub struct Fingerprinter {
    fingerprint: Fingerprint,
    streams: Vec<Stream>,
    bytes: Vec<u8>,
}

/// Hashes begin with this, so that dense and sparse samples of the same bytes differ.
const DENSE: u64 = 0;
const DENSE_F64: u64 = 1;
const SPARSE: u64 = 2;
const SPARSE_F64: u64 = 3;
/// An odd number with bits in all places.
const MIX: u64 = 0x9e37_79b9_7f4a_7c15;

impl Fingerprinter {
    /// Begins with nothing.
    #[must_use]
    pub fn new(streams: &[Stream]) -> Self {
        let named = |stream: &Stream| StreamFingerprint {
            name: stream.name.clone(),
            ..StreamFingerprint::default()
        };
        let fingerprint =
            Fingerprint { sequences: 0, streams: streams.iter().map(named).collect() };
        Self { fingerprint, streams: streams.to_vec(), bytes: Vec::new() }
    }

    /// Adds sequence number `number` of each block; there is one block for each stream.
    pub fn add(&mut self, key: Key<'_>, blocks: &[Block], number: usize) {
        self.add_streams(key, blocks, number, |_| true);
    }

    /// Adds only the wanted streams of a sequence, counted from 0.
    pub(crate) fn add_streams(
        &mut self,
        key: Key<'_>,
        blocks: &[Block],
        number: usize,
        wanted: impl Fn(usize) -> bool,
    ) {
        self.fingerprint.sequences += u64::from((0..self.streams.len()).any(&wanted));
        let of_key = XxHash3_64::oneshot(key.0);
        let streams = self.streams.iter().zip(&mut self.fingerprint.streams).zip(blocks);
        let streams = streams.enumerate().filter(|(stream, _)| wanted(*stream));
        for (_, ((stream, found), block)) in streams {
            let mut whole = of_key;
            let (mut values, mut largest) = (found.values, found.largest);
            let mut one = |hash: u64| {
                values = values.wrapping_add(hash);
                whole = (whole.rotate_left(29) ^ hash).wrapping_mul(MIX);
            };
            if stream.kind == Kind::Sparse {
                let samples = block.sparse_samples(number);
                found.samples += samples.len() as u64;
                largest = largest.max(samples.indices.iter().copied().max());
                let size = stream.element.size();
                for sample in 0..samples.len() {
                    let at = samples.values_in(sample..sample + 1);
                    let values = &samples.values[at.start * size..at.end * size];
                    one(sparse(&samples.indices[at], values, stream.element, &mut self.bytes));
                }
            } else {
                let samples = block.samples(number);
                found.samples += samples.len() as u64;
                let rows = samples.bytes().chunks_exact(samples.row_bytes());
                match stream.element {
                    Element::I32 if stream.dim == 1 => {
                        for row in rows {
                            let label = i32::from_ne_bytes([row[0], row[1], row[2], row[3]]);
                            largest = largest.max(Some(label));
                            one(of_label(label));
                        }
                    }
                    Element::F64 => rows.for_each(|row| one(double(row, &mut self.bytes))),
                    _ => rows.for_each(|row| one(XxHash3_64::oneshot_with_seed(DENSE, row))),
                }
            }
            found.values = values;
            found.largest = largest;
            found.sequences = found.sequences.wrapping_add(whole ^ whole >> 32);
        }
    }

    /// The fingerprint of everything that was added.
    #[must_use]
    pub fn finish(self) -> Fingerprint {
        self.fingerprint
    }
}

/// The fingerprint of all sequences of a source. Reads all of it, with one chunk in memory at a
/// time.
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let directory = tempfile::tempdir()?;
/// # let path = directory.path().join("x.ark").display().to_string();
/// # std::fs::write(&path, "utt1  [ 1 2.5\n 3 4 ]\nutt2  [ 5 6\n 7 8 ]\n")?;
/// # let other = directory.path().join("y.ark").display().to_string();
/// # std::fs::write(&other, "utt2  [ 5 6\n 7 8 ]\nutt1  [ 1 2.5\n 3 4 ]\n")?;
/// let open = |name: &str| {
///     let named = seqfeed::Description::of_name(&format!("ark:{name}"))?;
///     named.description.open(&Default::default())
/// };
/// let (one, other) = (open(&path)?, open(&other)?); // the same, in another order
/// let (one, other) = (one.corpus(), other.corpus());
/// let values = seqfeed_convert::fingerprint;
/// assert_eq!(values(one.as_ref())?, values(other.as_ref())?);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// Fails if data cannot be read.
pub fn fingerprint(source: &dyn Source) -> Result<Fingerprint> {
    let mut fingerprinter = Fingerprinter::new(source.streams());
    each_sequence(source, u64::MAX, |key, blocks, number| {
        fingerprinter.add(key, blocks, number);
        Ok(())
    })?;
    Ok(fingerprinter.finish())
}

fn of_label(label: i32) -> u64 {
    let mut pair = [0; 8];
    pair[..4].copy_from_slice(&label.to_le_bytes());
    pair[4..].copy_from_slice(&1f32.to_le_bytes());
    XxHash3_64::oneshot_with_seed(SPARSE, &pair)
}

/// A 64-bit float as a 32-bit float, if it fits.
fn narrow(bytes: &[u8]) -> Option<f32> {
    let value = f64::from_ne_bytes(bytes.try_into().ok()?);
    let narrow = value as f32;
    (f64::from(narrow).to_bits() == value.to_bits()).then_some(narrow)
}

fn double(row: &[u8], buffer: &mut Vec<u8>) -> u64 {
    buffer.clear();
    for value in row.chunks_exact(8) {
        match narrow(value) {
            Some(value) => buffer.extend_from_slice(&value.to_ne_bytes()),
            None => return XxHash3_64::oneshot_with_seed(DENSE_F64, row),
        }
    }
    XxHash3_64::oneshot_with_seed(DENSE, buffer)
}

fn sparse(indices: &[i32], values: &[u8], element: Element, buffer: &mut Vec<u8>) -> u64 {
    buffer.clear();
    let mut seed = SPARSE;
    let values = values.chunks_exact(element.size());
    for (index, value) in indices.iter().zip(values) {
        buffer.extend_from_slice(&index.to_le_bytes());
        match element {
            Element::F64 => match narrow(value) {
                Some(value) => buffer.extend_from_slice(&value.to_ne_bytes()),
                None => {
                    seed = SPARSE_F64;
                    buffer.extend_from_slice(value);
                }
            },
            _ => buffer.extend_from_slice(value),
        }
    }
    XxHash3_64::oneshot_with_seed(seed, buffer)
}

/// Numbers of 64 bits as text, since readers of JSON support only 53 bits.
mod hexadecimal {
    use serde::{Deserialize, Deserializer, Serializer};

    // Serde passes a reference.
    #[allow(clippy::trivially_copy_pass_by_ref)]
    pub(super) fn serialize<S: Serializer>(value: &u64, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&format!("{value:016x}"))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<u64, D::Error> {
        let text = String::deserialize(from)?;
        u64::from_str_radix(&text, 16).map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use seqfeed_core::Extent;

    use super::*;

    fn stream(kind: Kind, element: Element, dim: usize) -> Stream {
        Stream { name: "x".to_owned(), kind, element, dim, extent: Extent::Samples }
    }

    fn of(stream: &Stream, blocks: &[Block], keys: &[&[u8]]) -> StreamFingerprint {
        let mut all = Fingerprinter::new(std::slice::from_ref(stream));
        for (number, key) in keys.iter().enumerate() {
            all.add(Key(key), blocks, number);
        }
        all.finish().streams.remove(0)
    }

    #[test]
    fn containers_do_not_matter_and_values_do() {
        let floats = |values: &[f32]| {
            let mut block = Block::new(Element::F32, 2);
            block.push_f32(values.len() / 2).copy_from_slice(values);
            of(&stream(Kind::Dense, Element::F32, 2), &[block], &[b"a"])
        };
        let doubles = |values: &[f64]| {
            let mut block = Block::new(Element::F64, 2);
            block.push_f64(values.len() / 2).copy_from_slice(values);
            of(&stream(Kind::Dense, Element::F64, 2), &[block], &[b"a"])
        };
        assert_eq!(floats(&[1.5, -2.0, 0.25, 3.0]), doubles(&[1.5, -2.0, 0.25, 3.0]));
        assert_ne!(doubles(&[0.1, 0.0]), floats(&[0.1, 0.0]));
        // The order of samples counts in a sequence, not over all.
        let (one, other) = (floats(&[1.0, 2.0, 3.0, 4.0]), floats(&[3.0, 4.0, 1.0, 2.0]));
        assert_eq!(one.values, other.values);
        assert_ne!(one.sequences, other.sequences);
        assert_ne!(one.values, floats(&[1.0, 2.0, 4.0, 3.0]).values);
    }

    #[test]
    fn labels_are_sparse_samples_of_one() {
        let mut labels = Block::new(Element::I32, 1);
        labels.push_i32(3).copy_from_slice(&[4, 0, 9]);
        let labels = of(&stream(Kind::Label, Element::I32, 1), &[labels], &[b"a"]);
        for element in [Element::F32, Element::F64] {
            let mut block = Block::sparse(element, 10);
            let ones: Vec<u8> = match element {
                Element::F64 => [1f64; 3].iter().flat_map(|v| v.to_ne_bytes()).collect(),
                _ => [1f32; 3].iter().flat_map(|v| v.to_ne_bytes()).collect(),
            };
            block.push_sparse(&ones, &[4, 0, 9], &[1, 2, 3]);
            assert_eq!(labels, of(&stream(Kind::Sparse, element, 10), &[block], &[b"a"]));
        }
        assert_eq!(labels.largest, Some(9));
    }

    #[test]
    fn parts_add_up() {
        let labels = |sequences: &[&[i32]], keys: &[&[u8]]| {
            let mut block = Block::new(Element::I32, 1);
            for labels in sequences {
                block.push_i32(labels.len()).copy_from_slice(labels);
            }
            let mut all = Fingerprinter::new(&[stream(Kind::Label, Element::I32, 1)]);
            (0..keys.len()).for_each(|number| {
                all.add(Key(keys[number]), std::slice::from_ref(&block), number);
            });
            all.finish()
        };
        let whole = labels(&[&[1, 2], &[3], &[4, 5]], &[b"a", b"b", b"c"]);
        let mut parts = labels(&[&[4, 5]], &[b"c"]);
        parts.add(&labels(&[&[1, 2], &[3]], &[b"a", b"b"]));
        assert_eq!(whole, parts);
        assert_ne!(whole, labels(&[&[1, 2], &[3], &[4, 5]], &[b"b", b"a", b"c"]));
    }
}
