//! Statistics that are computed from the data, at first use.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use seqfeed_core::{Block, Element, Error, Key, Result, Source, numbers};

use crate::cmvn::FindStatistics;
use crate::{Float, Statistics};

/// The speaker of each utterance, as a number.
#[derive(Clone, Debug, Default)]
pub struct Speakers {
    /// The number of each key.
    pub numbers: HashMap<Vec<u8>, u32>,
    /// Number of speakers.
    pub count: usize,
}

/// Statistics by the number of the speaker. A speaker may have no sequences.
type OfSpeakers = Arc<[Option<Statistics>]>;

/// Statistics of all sequences of a source, or of those of each speaker.
///
/// They are computed when they are first asked for, and kept. Sequences are added in the order of
/// the source, frame by frame, so the sums depend on nothing else.
pub struct Computed {
    source: Arc<dyn Source>,
    /// The stream of the source that has number 0 for those who ask.
    first: usize,
    speakers: Option<Speakers>,
    /// For each stream of the source, once they are computed.
    known: Vec<Mutex<Option<OfSpeakers>>>,
}

impl Computed {
    /// Statistics of the streams of a source from number `first` on: of each speaker, or without
    /// speakers of all sequences together.
    #[must_use]
    pub fn new(source: Arc<dyn Source>, first: usize, speakers: Option<Speakers>) -> Self {
        let known = source.streams().iter().map(|_| Mutex::new(None)).collect();
        Self { source, first, speakers, known }
    }

    /// The number of the statistics that a sequence belongs to.
    fn group(&self, key: Key<'_>) -> Option<usize> {
        match &self.speakers {
            None => Some(0),
            Some(speakers) => speakers.numbers.get(key.0).map(|&number| number as usize),
        }
    }

    fn compute(&self, stream: usize) -> Result<OfSpeakers> {
        let description = &self.source.streams()[stream];
        let groups = self.speakers.as_ref().map_or(1, |speakers| speakers.count);
        let mut all: Vec<Option<Statistics>> = vec![None; groups];
        let (index, mut block) = (self.source.index(), Block::of(description));
        for chunk in 0..index.chunk_count() {
            let is_there = |sequence: &u32| !index.is_masked(*sequence);
            let sequences: Vec<u32> = index.chunk(chunk).filter(is_there).collect();
            block.clear();
            self.source.load_stream(stream, &sequences, &mut block)?;
            for (place, &sequence) in sequences.iter().enumerate() {
                let key = index.key(sequence);
                let Some(group) = self.group(key) else { continue };
                let statistics = all[group].get_or_insert_with(|| Statistics::new(description.dim));
                let bytes = block.samples(place).bytes();
                match description.element {
                    Element::F64 => add::<f64>(statistics, bytes),
                    _ => add::<f32>(statistics, bytes),
                }
                .map_err(|error| error.of_key(key))?;
                if !statistics.is_finite() {
                    return Err(Error::corpus("transform cmvn: its values have no finite sum")
                        .in_file(self.source.name())
                        .of_key(key)
                        .with_help(
                            "leave this utterance out of the table, or take statistics from a file: \
                             a filter comes behind the transforms of a stream",
                        ));
                }
            }
        }
        Ok(all.into())
    }
}

/// The bytes of keys with a number each, in a hash table.
pub fn bytes_of_keys<'a>(keys: impl Iterator<Item = &'a Vec<u8>>) -> u64 {
    keys.map(|key| (key.len() + 2 * size_of::<(Vec<u8>, u32)>()) as u64).sum()
}

fn add<T: Float>(statistics: &mut Statistics, bytes: &[u8]) -> Result<()> {
    statistics.accumulate::<T>(&numbers(bytes), statistics.dim(), None)
}

impl FindStatistics for Computed {
    fn find(&self, stream: usize, key: Key<'_>) -> Result<Cow<'_, Statistics>> {
        let stream = self.first + stream;
        let all = {
            // One thread computes; the others wait for it.
            let mut known = self.known[stream].lock().unwrap_or_else(PoisonError::into_inner);
            match &*known {
                Some(all) => Arc::clone(all),
                None => Arc::clone(known.insert(self.compute(stream)?)),
            }
        };
        let found = self.group(key).and_then(|group| all[group].clone());
        let error = || {
            Error::corpus("transform cmvn: `utt2spk` has no speaker for it").with_help(
                "behind [segments] keys are those of segments: give cmvn to the stream \
                 ([streams.NAME] transforms), which has whole utterances",
            )
        };
        found.map(Cow::Owned).ok_or_else(error)
    }

    fn kept_bytes(&self) -> u64 {
        let groups = self.speakers.as_ref().map_or(1, |speakers| speakers.count);
        let dims = self.source.streams().iter().map(|stream| stream.dim + 1);
        let keys = self.speakers.iter().flat_map(|speakers| speakers.numbers.keys());
        (16 * groups * dims.sum::<usize>()) as u64 + bytes_of_keys(keys)
    }
}
