//! The chunks in memory. They are loaded ahead, and kept while the order's window needs them. Then
//! their memory is used again.

use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, OnceLock, Weak};

use seqfeed_core::{Block, Error, Result, Source};

use crate::sweeps::Sweeps;
use crate::swept_chunk::SweptChunk;

/// A chunk that is, or will be, in memory.
pub(crate) struct Slot {
    chunk: SweptChunk,
    blocks: OnceLock<Result<Vec<Block>>>,
    free: Arc<FreeBlocks>,
}

/// The blocks of dropped chunks. The next chunks use this memory before any more is taken. Blocks
/// in use and free blocks together never exceed the feed's bound for chunks.
struct FreeBlocks {
    limit: u64,
    free: Mutex<Free>,
}

#[derive(Default)]
struct Free {
    sets: Vec<(u64, Vec<Block>)>,
    /// Bytes of all blocks, including those in use.
    taken: u64,
}

impl FreeBlocks {
    /// Blocks for a chunk that needs `need` bytes: free memory that fits, or none.
    fn take(&self, need: u64) -> Option<Vec<Block>> {
        let mut free = self.free.lock().ok()?;
        // Somewhat larger blocks will do. Much larger ones would waste memory that others need.
        // Smaller ones grow if they must: sparse samples often need far less than they could.
        let fits = |bytes: u64| bytes <= need.saturating_add(need / 8);
        let found = (0..free.sets.len()).filter(|&set| fits(free.sets[set].0));
        let found = found.max_by_key(|&set| free.sets[set].0);
        let found = found.map(|set| free.sets.swap_remove(set));
        free.taken = free.taken.saturating_sub(found.as_ref().map_or(0, |(bytes, _)| *bytes));
        while free.taken.saturating_add(need) > self.limit
            && let Some((bytes, _)) = free.sets.pop()
        {
            free.taken = free.taken.saturating_sub(bytes);
        }
        free.taken = free.taken.saturating_add(need);
        found.map(|(_, blocks)| blocks)
    }

    /// Corrects the estimated bytes of a chunk to those that it took.
    fn settle(&self, need: u64, taken: u64) {
        if let Ok(mut free) = self.free.lock() {
            free.taken = free.taken.saturating_sub(need).saturating_add(taken);
        }
    }

    /// Keeps blocks for the next chunk.
    fn give_back(&self, blocks: Vec<Block>) {
        if let Ok(mut free) = self.free.lock() {
            match bytes_of(&blocks) {
                bytes if free.taken > self.limit => free.taken = free.taken.saturating_sub(bytes),
                bytes => free.sets.push((bytes, blocks)),
            }
        }
    }
}

fn bytes_of(blocks: &[Block]) -> u64 {
    blocks.iter().map(|block| block.owned_bytes() as u64).sum()
}

impl Slot {
    /// The chunk's blocks, one for each stream. Waits until they are loaded.
    pub(crate) fn wait(&self) -> Result<&[Block]> {
        self.blocks.wait().as_deref().map_err(Clone::clone)
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        if let Some(Ok(mut blocks)) = self.blocks.take() {
            // Memory that is shared with a source (perhaps a whole file) is released at once.
            blocks.iter_mut().for_each(Block::clear);
            self.free.give_back(blocks);
        }
    }
}

/// The chunks that are wanted now, and a queue of chunks to load.
pub(crate) struct Residency {
    slots: HashMap<SweptChunk, Arc<Slot>>,
    requests: Sender<Weak<Slot>>,
    free: Arc<FreeBlocks>,
}

/// The other end of the queue, for the loading threads.
pub(crate) struct Loader {
    requests: Arc<Mutex<Receiver<Weak<Slot>>>>,
}

impl Residency {
    /// The blocks take at most `limit` bytes, if the blocks in use at one time do.
    pub(crate) fn new(limit: u64) -> (Self, Loader) {
        let (requests, receiver) = channel();
        let free = Arc::new(FreeBlocks { limit, free: Mutex::default() });
        let residency = Self { slots: HashMap::new(), requests, free };
        (residency, Loader { requests: Arc::new(Mutex::new(receiver)) })
    }

    /// Keeps the chunks that are wanted from now on. Missing chunks are asked for in this order;
    /// all others are released (an unfinished minibatch may still hold them).
    pub(crate) fn want(&mut self, chunks: &[SweptChunk]) {
        let mut kept = HashMap::with_capacity(chunks.len());
        for &chunk in chunks {
            if let Some(slot) = self.slots.remove(&chunk) {
                kept.insert(chunk, slot);
            }
        }
        // Chunks are released first, so that their memory can be used again.
        self.slots = kept;
        for &chunk in chunks {
            self.slot(chunk);
        }
    }

    /// The slot of a chunk; asks for it if it is not there.
    pub(crate) fn slot(&mut self, chunk: SweptChunk) -> Arc<Slot> {
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

    /// Loads the requested chunks until nobody can ask any more.
    pub(crate) fn run(&self, sweeps: &Sweeps) {
        loop {
            let Ok(requests) = self.requests.lock() else { return };
            let Ok(request) = requests.recv() else { return };
            drop(requests);
            // Nobody waits for a slot that was released.
            let Some(slot) = request.upgrade() else { continue };
            let SweptChunk { sweep, chunk } = slot.chunk;
            let need = sweeps.need(chunk);
            let blocks = slot.free.take(need);
            let load = || load(sweeps.source(sweep).as_ref(), chunk, blocks);
            let loaded = catch_unwind(AssertUnwindSafe(load));
            let loaded = loaded.unwrap_or_else(|_| {
                Err(Error::corpus(format!("loading chunk {chunk} panicked"))
                    .in_file(sweeps.name())
                    .with_help("this is a bug in seqfeed; please report it"))
            });
            slot.free.settle(need, loaded.as_deref().map_or(0, bytes_of));
            let _ = slot.blocks.set(loaded);
        }
    }
}

fn load(source: &dyn Source, chunk: u32, free: Option<Vec<Block>>) -> Result<Vec<Block>> {
    let mut blocks = free.unwrap_or_else(|| source.new_blocks());
    source.load_chunk(chunk as usize, &mut blocks)?;
    Ok(blocks)
}
