//! The archive of a file-like object, for `seqfeed.open`: read once, kept in memory.

use std::collections::HashMap;
use std::sync::Arc;

use pyo3::prelude::*;
use seqfeed::kaldi::ReadOptions;

use super::kaldi_table::cut_value;
use crate::kaldi::file_like;
use crate::kaldi::readers::open_sequential;
use crate::kaldi::{Origin, Value, Wanted};
use crate::table::{Backend, TableValue, Walk};

type Entries = Arc<Vec<(Vec<u8>, Value)>>;

/// All objects of an archive, in its order.
pub(crate) struct FileTable {
    entries: Entries,
    /// The position of each key; of several with one key, the first.
    places: HashMap<Vec<u8>, usize>,
}

impl FileTable {
    /// Reads a file-like object to its end. Call it detached.
    pub(crate) fn read(
        file: Py<PyAny>,
        name: String,
        wanted: Option<Wanted>,
        options: &ReadOptions,
    ) -> seqfeed::Result<Self> {
        let origin = Origin::Stream(Box::new(file_like::input(file, name)));
        let mut archive = open_sequential(origin, wanted, options)?;
        let (mut entries, mut places, mut key) = (Vec::new(), HashMap::new(), Vec::new());
        while let Some(value) = archive.next(&mut key)? {
            places.entry(key.clone()).or_insert(entries.len());
            entries.push((key.clone(), value));
        }
        Ok(Self { entries: Arc::new(entries), places })
    }

    fn value(&self, key: &[u8]) -> Option<Value> {
        self.places.get(key).map(|&place| self.entries[place].1.clone())
    }
}

impl Backend for FileTable {
    fn get(&self, key: &[u8]) -> seqfeed::Result<Option<TableValue>> {
        Ok(self.value(key).map(TableValue::Object))
    }

    fn rows(&self, key: &[u8], start: usize, stop: usize) -> seqfeed::Result<Option<TableValue>> {
        let Some(value) = self.value(key) else { return Ok(None) };
        cut_value(value, start..stop, seqfeed_core::Key(key))
            .map(|value| Some(TableValue::Object(value)))
    }

    fn contains(&self, key: &[u8]) -> seqfeed::Result<bool> {
        Ok(self.places.contains_key(key))
    }

    fn count(&self) -> seqfeed::Result<usize> {
        Ok(self.entries.len())
    }

    fn walk(&self) -> seqfeed::Result<Box<dyn Walk>> {
        Ok(Box::new(EntriesWalk { entries: Arc::clone(&self.entries), next: 0 }))
    }
}

struct EntriesWalk {
    entries: Entries,
    next: usize,
}

impl Walk for EntriesWalk {
    fn next(&mut self, key: &mut Vec<u8>) -> seqfeed::Result<Option<TableValue>> {
        let place = self.next;
        let there = self.next_key(key)?;
        Ok(there.then(|| TableValue::Object(self.entries[place].1.clone())))
    }

    fn next_key(&mut self, key: &mut Vec<u8>) -> seqfeed::Result<bool> {
        let Some((found, _)) = self.entries.get(self.next) else { return Ok(false) };
        key.clone_from(found);
        self.next += 1;
        Ok(true)
    }
}
