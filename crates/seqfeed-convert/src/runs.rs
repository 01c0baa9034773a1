//! Works on the runs of a corpus on all cores, with results in order.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;

use seqfeed_core::{Block, Error, Index, Result, Source};

/// Samples in a run.
const RUN: u64 = 32_768;

/// The sequences of a source in runs that are loaded together, independent of the source's chunks.
pub(crate) fn runs(index: &Index) -> Vec<Range<u32>> {
    let mut runs = Vec::new();
    let (mut start, mut samples) = (0, 0);
    for sequence in 0..index.len() as u32 {
        samples += u64::from(index.samples(sequence));
        if samples > RUN && sequence > start {
            runs.push(start..sequence);
            start = sequence;
            samples = index.samples(sequence).into();
        }
    }
    if start < index.len() as u32 {
        runs.push(start..index.len() as u32);
    }
    runs
}

/// Calls `work` for each run of sequences (with empty blocks) in some thread, and `take` for the
/// results in the order of the runs, in this thread. So the outcome does not depend on the number
/// of threads.
///
/// # Errors
///
/// The first error of a run, from working on it or taking its result.
pub(crate) fn each_run<T: Send>(
    source: &dyn Source,
    threads: usize,
    work: impl Fn(Range<u32>, &mut [Block]) -> Result<T> + Sync,
    mut take: impl FnMut(Range<u32>, T) -> Result<()>,
) -> Result<()> {
    let runs = runs(source.index());
    let threads = threads.clamp(1, runs.len().max(1));
    let (next, stop) = (AtomicUsize::new(0), AtomicBool::new(false));
    thread::scope(|scope| {
        // The channel is bounded, so results never pile up.
        let (sender, receiver) = mpsc::sync_channel(2 * threads);
        for started in 0..threads {
            let (sender, next, stop, work) = (sender.clone(), &next, &stop, &work);
            let runs = &runs;
            let thread = thread::Builder::new().spawn_scoped(scope, move || {
                let mut blocks = source.new_blocks();
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    let Some(run) = runs.get(number) else { break };
                    if stop.load(Ordering::Relaxed) {
                        break;
                    }
                    blocks.iter_mut().for_each(Block::clear);
                    if sender.send((number, work(run.clone(), &mut blocks))).is_err() {
                        break;
                    }
                }
            });
            match thread {
                Ok(_) => {}
                Err(error) if started == 0 => {
                    return Err(Error::system("starting a thread", error));
                }
                // Fewer threads do the same work.
                Err(_) => break,
            }
        }
        drop(sender);
        let mut early = BTreeMap::new();
        let mut expected = 0;
        for (number, result) in &receiver {
            early.insert(number, result);
            while let Some(result) = early.remove(&expected) {
                let taken = result.and_then(|result| take(runs[expected].clone(), result));
                if let Err(error) = taken {
                    stop.store(true, Ordering::Relaxed);
                    // Threads that wait to send then see that nobody listens.
                    drop(receiver);
                    return Err(error);
                }
                expected += 1;
            }
        }
        Ok(())
    })
}

/// The number of cores.
pub(crate) fn all_cores() -> usize {
    thread::available_parallelism().map_or(1, std::num::NonZero::get)
}
