//! What a format takes.

use crate::{Block, Key, Result};

/// What a sink has written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Written {
    /// Names of the files, in the order in which they appeared.
    pub files: Vec<String>,
    /// Bytes of these, and of what went to standard output, commands and the names in script files.
    pub bytes: u64,
}

/// Takes the sequences of a corpus one after another and makes files of them: what every format
/// that can be written gives.
///
/// A sink is made for a list of [streams](crate::Stream), and often for a number of sequences and
/// samples, which an [`Index`](crate::Index) tells beforehand. Its files appear with
/// [`finish`](Self::finish), all together; a sink that is dropped before leaves nothing under their
/// names. In memory is one sequence.
pub trait Sink: Send {
    /// Writes a sequence: number `number` of each of `blocks`, of which there is one a stream.
    ///
    /// # Errors
    ///
    /// Fails if the format cannot say the key or the values, or when writing fails; the sink is
    /// then of no more use, and none of its files appears.
    fn write(&mut self, key: Key<'_>, blocks: &[Block], number: usize) -> Result<()>;

    /// Whether it writes a sequence's samples of a stream, counted from 0. What it does not
    /// write, it was asked to leave out: as a script file of Kaldi's with `p` does that has no
    /// name for the key.
    fn takes(&self, stream: usize, key: Key<'_>) -> bool {
        let _ = (stream, key);
        true
    }

    /// Ends the files, which appear. What was written.
    ///
    /// # Errors
    ///
    /// Fails when writing fails, or not all was written that was announced.
    fn finish(self: Box<Self>) -> Result<Written>;
}
