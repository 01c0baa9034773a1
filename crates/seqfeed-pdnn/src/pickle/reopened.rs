//! One of several pickles. Only those that are being fed are in memory.

use std::ffi::{OsStr, OsString};
use std::sync::Arc;

use seqfeed_core::{About, Block, Error, Index, Key, Result, Source, Stream};
use seqfeed_io::Opener;

use super::{PickleSource, PickledData};

/// A file that is read again whenever it is loaded. Its data stay in memory as long as the loaded
/// blocks.
///
/// Opening reads it once, to learn its shape.
#[derive(Debug)]
pub struct ReopenedPickle {
    name: OsString,
    shown: String,
    opener: Opener,
    streams: Vec<Stream>,
    index: Arc<Index>,
    open: fn(&OsStr, &Opener) -> Result<PickledData>,
}

impl ReopenedPickle {
    /// Reads the shape of the data. `open` reads them by name: [`PickledData::open`], or another
    /// one.
    ///
    /// # Errors
    ///
    /// As `open`, and as [`PickleSource::new`].
    pub fn new(
        name: &(impl AsRef<OsStr> + ?Sized),
        opener: &Opener,
        open: fn(&OsStr, &Opener) -> Result<PickledData>,
    ) -> Result<Self> {
        let (name, shown) = (name.as_ref().to_owned(), opener.place(name).to_string());
        opener.refuse_named_pipe(&opener.place(&name))?;
        let source = PickleSource::new(&shown, Key(b"0"), open(&name, opener)?)?;
        let (streams, index) = (source.streams().to_vec(), Arc::clone(source.index()));
        Ok(Self { name, shown, opener: opener.clone(), streams, index, open })
    }
}

impl Source for ReopenedPickle {
    fn name(&self) -> &str {
        &self.shown
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
        if sequences.is_empty() {
            return Ok(());
        }
        let data = (self.open)(&self.name, &self.opener)?;
        let source = PickleSource::new(&self.shown, Key(b"0"), data)?;
        if source.streams() != self.streams || *source.index() != self.index {
            return Err(Error::corpus(
                "the arrays are not what they were when the file was opened",
            )
            .in_file(&self.shown)
            .with_help("do not write a file while it is read"));
        }
        source.load(sequences, blocks)
    }

    fn loading_bytes(&self) -> u64 {
        // Arrays with 8 bytes a value are converted to smaller ones, and memory grows while they
        // are read.
        let values = self.streams.iter().map(|stream| stream.dim as u64).sum::<u64>();
        self.index.total_samples().saturating_mul(values).saturating_mul(3 * 8) + (256 << 10)
    }
}
