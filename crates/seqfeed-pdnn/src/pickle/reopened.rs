//! One of several pickles, of which those that are being fed are in memory.

use std::sync::Arc;

use seqfeed_core::{Block, Error, Index, Key, Result, Source, Stream};
use seqfeed_io::Policy;

use super::{PickleSource, PickledData};

/// A file that is read again whenever it is loaded, and stays in memory as long as what was loaded.
///
/// Opening reads it once, to learn its shape.
#[derive(Debug)]
pub struct ReopenedPickle {
    name: String,
    policy: Policy,
    streams: Vec<Stream>,
    index: Arc<Index>,
    open: fn(&str, &Policy) -> Result<PickledData>,
}

impl ReopenedPickle {
    /// Learns the shape of what `open` reads from a name: [`PickledData::open`], or another one.
    ///
    /// # Errors
    ///
    /// As `open`, and as [`PickleSource::new`].
    pub fn new(
        name: &str,
        policy: &Policy,
        open: fn(&str, &Policy) -> Result<PickledData>,
    ) -> Result<Self> {
        let source = PickleSource::new(name, Key(b"0"), open(name, policy)?)?;
        let (streams, index) = (source.streams().to_vec(), Arc::clone(source.index()));
        Ok(Self { name: name.to_owned(), policy: *policy, streams, index, open })
    }
}

impl Source for ReopenedPickle {
    fn name(&self) -> &str {
        &self.name
    }

    fn streams(&self) -> &[Stream] {
        &self.streams
    }

    fn index(&self) -> &Arc<Index> {
        &self.index
    }

    fn load(&self, sequences: &[u32], blocks: &mut [Block]) -> Result<()> {
        if sequences.is_empty() {
            return Ok(());
        }
        let data = (self.open)(&self.name, &self.policy)?;
        let source = PickleSource::new(&self.name, Key(b"0"), data)?;
        if source.streams() != self.streams || *source.index() != self.index {
            return Err(Error::corpus(
                "the arrays are not what they were when the file was opened",
            )
            .in_file(&self.name)
            .with_help("do not write a file while it is read"));
        }
        source.load(sequences, blocks)
    }
}
