//! Which chunks are in memory: loaded ahead, kept while the order's window needs them, recycled.

use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, OnceLock, Weak};

use seqfeed_core::{Block, Error, Result, Source};

/// A chunk that is, or will be, in memory.
pub(crate) struct Slot {
    chunk: u32,
    blocks: OnceLock<Result<Vec<Block>>>,
    free: Arc<FreeBlocks>,
}

/// Blocks of chunks that were dropped, whose memory the next ones use before any more is taken: so
/// free and used ones together are never more than were once used at a time.
struct FreeBlocks(Mutex<Vec<Vec<Block>>>);

impl Slot {
    /// The chunk's blocks, one a stream; waits until they are loaded.
    pub(crate) fn wait(&self) -> Result<&[Block]> {
        self.blocks.wait().as_deref().map_err(Clone::clone)
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        if let Some(Ok(mut blocks)) = self.blocks.take()
            && let Ok(mut free) = self.free.0.lock()
        {
            // Memory that is shared with a source (a whole file, perhaps) is let go of at once.
            blocks.iter_mut().for_each(Block::clear);
            free.push(blocks);
        }
    }
}

/// The chunks wanted now, and a queue of those to be loaded.
pub(crate) struct Residency {
    slots: HashMap<u32, Arc<Slot>>,
    requests: Sender<Weak<Slot>>,
    free: Arc<FreeBlocks>,
}

/// The other end of the queue: what loading threads work on.
pub(crate) struct Loader {
    requests: Arc<Mutex<Receiver<Weak<Slot>>>>,
}

impl Residency {
    pub(crate) fn new() -> (Self, Loader) {
        let (requests, receiver) = channel();
        let free = Arc::new(FreeBlocks(Mutex::new(Vec::new())));
        let residency = Self { slots: HashMap::new(), requests, free };
        (residency, Loader { requests: Arc::new(Mutex::new(receiver)) })
    }

    /// Keeps the chunks wanted from now on: asks for those that are not there, in this order, and
    /// lets go of all others (a minibatch in the making may still hold them).
    pub(crate) fn want(&mut self, chunks: &[u32]) {
        let mut kept = HashMap::with_capacity(chunks.len());
        for &chunk in chunks {
            if let Some(slot) = self.slots.remove(&chunk) {
                kept.insert(chunk, slot);
            }
        }
        // Let go before asking for more, so that the memory can be used again.
        self.slots = kept;
        for &chunk in chunks {
            self.slot(chunk);
        }
    }

    /// The slot of a chunk; asks for it if it is not there.
    pub(crate) fn slot(&mut self, chunk: u32) -> Arc<Slot> {
        let Self { slots, requests, free } = self;
        let slot = slots.entry(chunk).or_insert_with(|| {
            let slot = Arc::new(Slot { chunk, blocks: OnceLock::new(), free: Arc::clone(free) });
            if requests.send(Arc::downgrade(&slot)).is_err() {
                let _ = slot.blocks.set(Err(Error::usage("the feed has been stopped")));
            }
            slot
        });
        Arc::clone(slot)
    }
}

impl Loader {
    pub(crate) fn share(&self) -> Self {
        Self { requests: Arc::clone(&self.requests) }
    }

    /// Loads what is asked for until nobody can ask any more.
    pub(crate) fn run(&self, source: &dyn Source) {
        loop {
            let Ok(requests) = self.requests.lock() else { return };
            let Ok(request) = requests.recv() else { return };
            drop(requests);
            // Nobody waits for a slot that was let go.
            let Some(slot) = request.upgrade() else { continue };
            let free = slot.free.0.lock().ok().and_then(|mut free| free.pop());
            let loaded = catch_unwind(AssertUnwindSafe(|| load(source, slot.chunk, free)));
            let loaded = loaded.unwrap_or_else(|_| {
                Err(Error::corpus(format!("loading chunk {} panicked", slot.chunk))
                    .in_file(source.name())
                    .with_help("this is a bug in seqfeed; please report it"))
            });
            let _ = slot.blocks.set(loaded);
        }
    }
}

fn load(source: &dyn Source, chunk: u32, free: Option<Vec<Block>>) -> Result<Vec<Block>> {
    let mut blocks = free.unwrap_or_else(|| source.new_blocks());
    source.load_chunk(chunk as usize, &mut blocks)?;
    Ok(blocks)
}
