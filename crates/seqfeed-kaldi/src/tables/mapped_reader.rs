//! Objects of one table by the keys of another.

use std::ffi::OsStr;

use seqfeed_core::{Error, Key, Result};
use seqfeed_io::{Opener, shown_name};

use crate::holder::Holder;
use crate::objects::token::Token;
use crate::tables::options::{ReadOptions, ReadReport};
use crate::tables::random_access_reader::RandomAccessReader;

/// Reads objects by keys that a map translates to the keys of the table, such as statistics of
/// speakers by utterance: Kaldi's `RandomAccessTableReaderMapped`.
///
/// The map is a table of tokens (`ark:utt2spk`). The options of each rspecifier apply to its own
/// table: `s,cs` for the map means sorted utterances, for the table sorted speakers.
#[derive(Debug)]
pub struct MappedReader<T> {
    table: RandomAccessReader<T>,
    map: Option<RandomAccessReader<Token>>,
    map_name: String,
}

impl<T: Holder> MappedReader<T> {
    /// Opens a table and a map. With an empty name of the map, keys are those of the table.
    ///
    /// # Errors
    ///
    /// As [`RandomAccessReader::open`], for both.
    pub fn open(
        rspecifier: &(impl AsRef<OsStr> + ?Sized),
        map: &(impl AsRef<OsStr> + ?Sized),
        opener: &Opener,
    ) -> Result<Self> {
        Self::open_with(rspecifier, map, &ReadOptions::with_opener(opener))
    }

    /// Opens a table and a map, with options.
    ///
    /// # Errors
    ///
    /// As [`open`](Self::open).
    pub fn open_with(
        rspecifier: &(impl AsRef<OsStr> + ?Sized),
        map: &(impl AsRef<OsStr> + ?Sized),
        options: &ReadOptions,
    ) -> Result<Self> {
        let map = map.as_ref();
        let table = RandomAccessReader::open_with(rspecifier, options)?;
        let reader =
            (!map.is_empty()).then(|| RandomAccessReader::open_with(map, options)).transpose()?;
        Ok(Self { table, map: reader, map_name: shown_name(map) })
    }

    /// The object for a key, if there is one.
    ///
    /// # Errors
    ///
    /// As [`RandomAccessReader::get`], and if the map lacks the key.
    pub fn get(&mut self, key: Key<'_>) -> Result<Option<&T>> {
        let Some(map) = &mut self.map else { return self.table.get(key) };
        let mapped = mapped(map, &self.map_name, key)?;
        self.table.get(mapped)
    }

    /// Whether there is an object for a key.
    ///
    /// # Errors
    ///
    /// As [`get`](Self::get).
    pub fn contains(&mut self, key: Key<'_>) -> Result<bool> {
        let Some(map) = &mut self.map else { return self.table.contains(key) };
        let mapped = mapped(map, &self.map_name, key)?;
        self.table.contains(mapped)
    }

    /// Ends reading. Reports the objects of the table that `p` passed over.
    ///
    /// # Errors
    ///
    /// As [`RandomAccessReader::close`], for both.
    pub fn close(self) -> Result<ReadReport> {
        self.map.map(RandomAccessReader::close).transpose()?;
        self.table.close()
    }
}

fn mapped<'a>(map: &'a mut RandomAccessReader<Token>, name: &str, key: Key<'_>) -> Result<Key<'a>> {
    match map.get(key)? {
        Some(Token(mapped)) => Ok(Key(mapped)),
        None => Err(Error::corpus(format!("the map {name} has no entry for this key"))
            .of_key(key)
            .with_help("add a line `key other-key` to it")),
    }
}
