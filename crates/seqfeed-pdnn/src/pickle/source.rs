//! Pickles for the feed.

use std::ffi::OsStr;
use std::sync::Arc;

use seqfeed_core::{
    About, Block, Element, Error, Extent, Index, IndexBuilder, Key, Kind, Result, Source, Stream,
};
use seqfeed_io::{Opener, shown_name};

use super::PickledData;

/// A pickle, or a `.npy` file, as a source: one sequence, which stays in memory.
///
/// Streams are `features` and, if there are any, `labels`.
#[derive(Debug)]
pub struct PickleSource {
    name: String,
    data: PickledData,
    streams: Vec<Stream>,
    index: Arc<Index>,
}

impl PickleSource {
    /// Opens a file by any name that can be read. The key of its sequence is `0`.
    ///
    /// # Errors
    ///
    /// As [`PickledData::open`]. Also for 2^32 rows or more.
    pub fn open(name: &(impl AsRef<OsStr> + ?Sized), opener: &Opener) -> Result<Self> {
        let name = name.as_ref();
        Self::new(&shown_name(name), Key(b"0"), PickledData::open(name, opener)?)
    }

    /// A source of loaded data, with a name for messages and a key.
    ///
    /// # Errors
    ///
    /// Fails for 2^32 rows or more.
    pub fn new(name: &str, key: Key<'_>, data: PickledData) -> Result<Self> {
        let Ok(rows) = u32::try_from(data.rows()) else {
            return Err(Error::corpus("the array has 2^32 rows or more").in_file(name));
        };
        let stream = |name: &str, kind, element, dim| Stream {
            name: name.to_owned(),
            kind,
            element,
            dim,
            extent: Extent::Samples,
        };
        let mut streams = vec![stream("features", Kind::Dense, Element::F32, data.dim())];
        if data.labels().is_some() {
            streams.push(stream("labels", Kind::Label, Element::I32, 1));
        }
        let mut builder = IndexBuilder::new(u64::from(rows));
        builder.push(key, rows);
        let index = Arc::new(builder.finish());
        Ok(Self { name: name.to_owned(), data, streams, index })
    }

    /// The data.
    #[must_use]
    pub fn data(&self) -> &PickledData {
        &self.data
    }
}

impl Source for PickleSource {
    fn name(&self) -> &str {
        &self.name
    }

    fn streams(&self) -> &[Stream] {
        &self.streams
    }

    fn index(&self) -> &Arc<Index> {
        &self.index
    }

    fn about(&self) -> About {
        About { format: "numpy arrays".to_owned(), ..About::default() }
    }

    fn load(&self, sequences: &[u32], blocks: &mut [Block]) -> Result<()> {
        let rows = self.data.rows();
        for _ in sequences {
            // Features stay in place.
            let memory = blocks[0].share(Arc::new(self.data.feature_bytes().clone()));
            blocks[0].push_shared(memory, 0, rows);
            if let (Some(labels), Some(block)) = (self.data.labels(), blocks.get_mut(1)) {
                block.push_i32(rows).copy_from_slice(labels);
            }
        }
        Ok(())
    }

    fn is_held(&self, stream: usize) -> bool {
        // Features stay in place; labels are copied.
        stream > 0
    }

    fn kept_bytes(&self) -> u64 {
        let labels = self.data.labels().map_or(0, size_of_val);
        (size_of_val(self.data.features()) + labels) as u64
    }

    fn held_bytes(&self) -> u64 {
        4 * self.data.labels().is_some() as u64
    }
}
