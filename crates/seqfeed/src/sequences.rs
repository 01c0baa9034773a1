//! The sequences of a corpus, one after another, for those who write them.

use seqfeed_core::{Block, Key, Result, Source};

/// Visits the first `most` sequences of a corpus in its order: the key, the blocks that the sequence was loaded
/// into, and its number in these. One chunk is in memory at a time.
///
/// # Errors
///
/// Fails if data cannot be read, or as the visitor does.
pub(crate) fn each_sequence(
    source: &dyn Source,
    most: u64,
    mut visit: impl FnMut(Key<'_>, &[Block], usize) -> Result<()>,
) -> Result<()> {
    let index = source.index();
    let mut blocks = source.new_blocks();
    let mut left = most;
    for chunk in 0..index.chunk_count() {
        if left == 0 {
            break;
        }
        let sequences: Vec<u32> =
            index.chunk(chunk).take(left.try_into().unwrap_or(usize::MAX)).collect();
        left -= sequences.len() as u64;
        blocks.iter_mut().for_each(Block::clear);
        source.load(&sequences, &mut blocks)?;
        for (number, &sequence) in sequences.iter().enumerate() {
            visit(index.key(sequence), &blocks, number)?;
        }
    }
    Ok(())
}
