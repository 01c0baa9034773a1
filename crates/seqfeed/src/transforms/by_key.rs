//! Matrices of utterances, or of their speakers, out of Kaldi's tables.

use std::collections::HashMap;

use seqfeed_core::{Error, Index, Key, Result};
use seqfeed_io::{Opener, name_from_text};
use seqfeed_kaldi::{Holder, Matrix, SequentialReader, Token};
use seqfeed_transform::{Speakers, bytes_of_keys};

use crate::name_text::is_rspecifier;

/// What a table has for the sequences of a source.
pub(super) struct ByKey<T> {
    /// For messages.
    table: String,
    entries: Vec<T>,
    /// The number of the entry of each sequence.
    of_sequence: HashMap<Vec<u8>, u32>,
}

impl<T> ByKey<T> {
    /// Reads a table of matrices. With `utt2spk`, its keys are speakers. Entries for no sequence of
    /// the index are passed over.
    pub(super) fn read<V>(
        rspecifier: &str,
        utt2spk: Option<&str>,
        index: &Index,
        opener: &Opener,
        mut make: impl FnMut(Matrix<V>) -> Result<T>,
    ) -> Result<Self>
    where
        Matrix<V>: Holder + Default,
    {
        let speakers = utt2spk.map(|name| read_words(name, opener)).transpose()?;
        let keys = (0..index.len() as u32).map(|sequence| index.key(sequence).0);
        let wanted = keys.filter_map(|key| match &speakers {
            None => Some((key.to_vec(), key.to_vec())),
            Some(speakers) => speakers.get(key).map(|speaker| (key.to_vec(), speaker.clone())),
        });
        let wanted: Vec<(Vec<u8>, Vec<u8>)> = wanted.collect();
        let mut number_of: HashMap<&[u8], Option<u32>> =
            wanted.iter().map(|(_, entry)| (entry.as_slice(), None)).collect();
        let mut entries = Vec::new();
        let mut table = SequentialReader::<Matrix<V>>::open(&name_from_text(rspecifier), opener)?;
        let mut key = Vec::new();
        while table.next_key(&mut key)? {
            if let Some(number) = number_of.get_mut(key.as_slice()) {
                *number = Some(entries.len() as u32);
                let made = make(table.take_value()?);
                entries.push(made.map_err(|error| error.in_file(rspecifier).of_key(Key(&key)))?);
            }
        }
        table.close()?;
        let of_sequence = wanted
            .iter()
            .filter_map(|(key, entry)| number_of[entry.as_slice()].map(|n| (key.clone(), n)));
        let of_sequence: HashMap<Vec<u8>, u32> = of_sequence.collect();
        if of_sequence.is_empty() && !index.is_empty() {
            let what = format!("nothing in {rspecifier} is for the sequences of the corpus");
            return Err(Error::corpus(what).in_file(rspecifier).with_help(match utt2spk {
                Some(_) => "its keys are the speakers that `utt2spk` gives",
                None => "its keys are those of the utterances; for speakers give `utt2spk`",
            }));
        }
        Ok(Self { table: rspecifier.to_owned(), entries, of_sequence })
    }

    pub(super) fn get(&self, key: Key<'_>) -> Result<&T> {
        match self.of_sequence.get(key.0) {
            Some(&number) => Ok(&self.entries[number as usize]),
            None => Err(Error::corpus(format!("there is nothing for it in {}", self.table))
                .with_help("leave such utterances out, or complete the table")),
        }
    }

    /// The bytes of keys and entries.
    pub(super) fn kept_bytes(&self, of_entry: impl Fn(&T) -> usize) -> u64 {
        let entries = self.entries.iter().map(|entry| (size_of::<T>() + of_entry(entry)) as u64);
        entries.sum::<u64>() + bytes_of_keys(self.of_sequence.keys())
    }

    pub(super) fn entries(&self) -> &[T] {
        &self.entries
    }
}

/// The speaker of each utterance.
pub(super) fn read_speakers(name: &str, opener: &Opener) -> Result<Speakers> {
    let mut speakers = Speakers::default();
    let mut known: HashMap<Vec<u8>, u32> = HashMap::new();
    for (utterance, speaker) in read_words(name, opener)? {
        let next = known.len() as u32;
        speakers.numbers.insert(utterance, *known.entry(speaker).or_insert(next));
    }
    speakers.count = known.len();
    Ok(speakers)
}

/// A table with a word for each key: a table of Kaldi's, or the name of a text file.
fn read_words(name: &str, opener: &Opener) -> Result<HashMap<Vec<u8>, Vec<u8>>> {
    let rspecifier = if is_rspecifier(name) { name.to_owned() } else { format!("ark:{name}") };
    let table = SequentialReader::<Token>::open(&name_from_text(&rspecifier), opener)?;
    table.map(|entry| entry.map(|(key, word)| (key, word.0))).collect()
}
