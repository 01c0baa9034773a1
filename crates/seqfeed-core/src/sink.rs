//! The trait of writers.

use crate::{Block, Key, Result};

/// What a sink has written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Written {
    /// Names of the files, in the order in which they appeared.
    pub files: Vec<String>,
    /// Bytes of these files, and of output to standard output, to commands and to the files that a
    /// script file names.
    pub bytes: u64,
}

/// Takes the sequences of a corpus one after another and makes files of them. Every format that can
/// be written has a sink.
///
/// A sink is made for a list of [streams](crate::Stream), and often for a number of sequences and
/// samples, which an [`Index`](crate::Index) tells beforehand. [`finish`](Self::finish) makes all
/// its files appear together. A sink that is dropped before leaves nothing under their names. One
/// sequence is in memory at a time.
pub trait Sink: Send {
    /// Writes sequence number `number` of `blocks`; there is one block for each stream.
    ///
    /// # Errors
    ///
    /// Fails if the format cannot hold the key or the values, or if writing fails. The sink is then
    /// useless, and none of its files appears.
    fn write(&mut self, key: Key<'_>, blocks: &[Block], number: usize) -> Result<()>;

    /// Whether it writes the samples of a key in a stream, counted from 0. A sink may be told to
    /// leave keys out: a script file of Kaldi's with `p` leaves out the keys that it does not name.
    fn takes(&self, stream: usize, key: Key<'_>) -> bool {
        let _ = (stream, key);
        true
    }

    /// Ends the files and makes them appear. Returns a summary of what was written.
    ///
    /// # Errors
    ///
    /// Fails if writing fails, or if less was written than announced.
    fn finish(self: Box<Self>) -> Result<Written>;
}
