//! Visits the sequences of a corpus one after another, for writers.

use std::ops::Range;
use std::sync::mpsc::sync_channel;
use std::thread;

use seqfeed_core::{Block, Error, Index, Key, Result, Source};

/// Visits the first `most` sequences of a corpus in its order. The visitor gets the key, the blocks
/// that hold the sequence, and its number in these. One chunk is in memory at a time. Masked
/// sequences are passed over.
///
/// # Errors
///
/// Fails if data cannot be read, or if the visitor fails.
pub(crate) fn each_sequence(
    source: &dyn Source,
    most: u64,
    mut visit: impl FnMut(Key<'_>, &[Block], usize) -> Result<()>,
) -> Result<()> {
    let index = source.index();
    let end = most.min(index.len() as u64) as u32;
    let mut blocks = source.new_blocks();
    for sequences in pieces(index, 0..end) {
        blocks.iter_mut().for_each(Block::clear);
        source.load(&sequences, &mut blocks)?;
        for (number, &sequence) in sequences.iter().enumerate() {
            visit(index.key(sequence), &blocks, number)?;
        }
    }
    Ok(())
}

/// Chunks that are loaded ahead of the one that is written.
const AHEAD: usize = 1;

/// The same as [`each_sequence`] for a range of sequences, while a thread loads the next chunk.
/// `look` sees each sequence in that thread. Three chunks are in memory.
///
/// # Errors
///
/// The same as [`each_sequence`].
pub(crate) fn each_sequence_ahead(
    source: &dyn Source,
    range: Range<u32>,
    mut look: impl FnMut(Key<'_>, &[Block], usize) + Send,
    mut visit: impl FnMut(Key<'_>, &[Block], usize) -> Result<()>,
) -> Result<()> {
    let index = source.index();
    thread::scope(|scope| {
        let (give, take) = sync_channel::<Result<(Vec<u32>, Vec<Block>)>>(AHEAD);
        let (give_back, take_back) = sync_channel::<Vec<Block>>(AHEAD + 2);
        let ahead = thread::Builder::new().spawn_scoped(scope, move || {
            for sequences in pieces(index, range) {
                let mut blocks = take_back.try_recv().unwrap_or_else(|_| source.new_blocks());
                blocks.iter_mut().for_each(Block::clear);
                let loaded = source.load(&sequences, &mut blocks);
                if loaded.is_ok() {
                    for (number, &sequence) in sequences.iter().enumerate() {
                        look(index.key(sequence), &blocks, number);
                    }
                }
                let failed = loaded.is_err();
                // If nobody takes it, the writer has given up.
                if give.send(loaded.map(|()| (sequences, blocks))).is_err() || failed {
                    break;
                }
            }
        });
        ahead.map_err(|error| Error::system("starting a thread", error))?;
        for loaded in take {
            let (sequences, blocks) = loaded?;
            for (number, &sequence) in sequences.iter().enumerate() {
                visit(index.key(sequence), &blocks, number)?;
            }
            // Its memory is used again; the thread may have ended.
            let _ = give_back.try_send(blocks);
        }
        Ok(())
    })
}

/// A range of sequences, cut at the ends of chunks.
fn pieces(index: &Index, range: Range<u32>) -> impl Iterator<Item = Vec<u32>> {
    let chunks = (0..index.chunk_count()).map(move |chunk| {
        let Range { start, end } = index.chunk(chunk);
        start.max(range.start)..end.min(range.end)
    });
    let unmasked = chunks.map(|sequences| index.unmasked(sequences).collect::<Vec<u32>>());
    unmasked.filter(|piece| !piece.is_empty())
}
