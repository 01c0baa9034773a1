//! Many keys in little memory.

use crate::{Key, Offsets};

/// Keys, one after another: their bytes, and where each begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Keys {
    bytes: Vec<u8>,
    /// The number of bytes before each key; one entry more than keys.
    starts: Offsets,
}

impl Default for Keys {
    fn default() -> Self {
        Self { bytes: Vec::new(), starts: Offsets::from_iter([0]) }
    }
}

impl Keys {
    pub(crate) fn get(&self, number: usize) -> Key<'_> {
        Key(&self.bytes[self.starts.get(number) as usize..self.starts.get(number + 1) as usize])
    }

    pub(crate) fn push(&mut self, key: Key<'_>) {
        self.bytes.extend_from_slice(key.0);
        self.starts.push(self.bytes.len() as u64);
    }

    /// A copy of the first keys.
    pub(crate) fn first(&self, count: usize) -> Self {
        Self {
            bytes: self.bytes[..self.starts.get(count) as usize].to_vec(),
            starts: (0..=count).map(|number| self.starts.get(number)).collect(),
        }
    }

    /// All their bytes.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    pub(crate) fn shrink_to_fit(&mut self) {
        self.bytes.shrink_to_fit();
        self.starts.shrink_to_fit();
    }
}
