//! The chunks of a corpus on all cores, with results in the corpus' order.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;

use seqfeed_core::{Block, Result, Source};

/// Works on each chunk (its number, empty blocks) in some thread, and takes the results in the order of the
/// chunks, in this thread: what comes of them does not depend on the number of threads.
///
/// # Errors
///
/// As the work or the taking of the first chunk that fails.
pub(crate) fn each_chunk<T: Send>(
    source: &dyn Source,
    threads: usize,
    work: impl Fn(usize, &mut [Block]) -> Result<T> + Sync,
    mut take: impl FnMut(usize, T) -> Result<()>,
) -> Result<()> {
    let chunks = source.index().chunk_count();
    let threads = threads.clamp(1, chunks.max(1));
    let (next, stop) = (AtomicUsize::new(0), AtomicBool::new(false));
    thread::scope(|scope| {
        // Bounded, so that results never pile up.
        let (sender, receiver) = mpsc::sync_channel(2 * threads);
        for _ in 0..threads {
            let (sender, next, stop, work) = (sender.clone(), &next, &stop, &work);
            scope.spawn(move || {
                let mut blocks = source.new_blocks();
                loop {
                    let chunk = next.fetch_add(1, Ordering::Relaxed);
                    if chunk >= chunks || stop.load(Ordering::Relaxed) {
                        break;
                    }
                    blocks.iter_mut().for_each(Block::clear);
                    if sender.send((chunk, work(chunk, &mut blocks))).is_err() {
                        break;
                    }
                }
            });
        }
        drop(sender);
        let mut early = BTreeMap::new();
        let mut expected = 0;
        for (chunk, result) in &receiver {
            early.insert(chunk, result);
            while let Some(result) = early.remove(&expected) {
                let taken = result.and_then(|result| take(expected, result));
                if let Err(error) = taken {
                    stop.store(true, Ordering::Relaxed);
                    // Threads that wait to send see that nobody listens.
                    drop(receiver);
                    return Err(error);
                }
                expected += 1;
            }
        }
        Ok(())
    })
}

/// As many threads as there are cores.
pub(crate) fn all_cores() -> usize {
    thread::available_parallelism().map_or(1, std::num::NonZero::get)
}
