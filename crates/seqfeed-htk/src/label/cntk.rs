//! Master label files as CNTK sees them: one class a frame.
//!
//! CNTK's deserializer does not read HTK's label format, but lines of its own that look like it:
//! two times and the name of a state, or two times, a name and a class, with single blanks between
//! them. [`CntkIndex`] finds the utterances, [`FrameParser`] gives their classes.
//!
//! What is wrong with an utterance is an [`Error`](seqfeed_core::Error) that names it, the file and
//! the line. CNTK leaves some such utterances out, and ends itself at others; here the caller
//! chooses: all are of one kind, to be raised, or counted.

mod frames;
mod index;
mod times;

pub use frames::{FrameParser, MAX_FRAMES};
pub use index::{CntkIndex, Utterance};
