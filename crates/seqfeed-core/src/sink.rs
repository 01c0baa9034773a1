//! What a format takes.

use crate::{Block, Key, Result};

/// Takes the sequences of a corpus one after another and makes files of them: what every format that can be
/// written gives.
///
/// A sink is made for a list of [streams](crate::Stream), and often for a number of sequences and samples, which
/// an [`Index`](crate::Index) tells beforehand. Its files appear with [`finish`](Self::finish), all together; a
/// sink that is dropped before leaves nothing under their names. In memory is one sequence.
pub trait Sink: Send {
    /// Writes a sequence: number `number` of each of `blocks`, of which there is one a stream.
    ///
    /// # Errors
    ///
    /// Fails if the format cannot say the key or the values, or when writing fails; the sink is then of no more
    /// use, and none of its files appears.
    fn write(&mut self, key: Key<'_>, blocks: &[Block], number: usize) -> Result<()>;

    /// Ends the files, which appear. Their names, in the order in which they appeared.
    ///
    /// # Errors
    ///
    /// Fails when writing fails, or not all was written that was announced.
    fn finish(self: Box<Self>) -> Result<Vec<String>>;
}
