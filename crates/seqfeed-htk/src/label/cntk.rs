//! Master label files as CNTK reads them: one class for each frame.
//!
//! CNTK's deserializer does not read HTK's label format, but lines of its own that look similar:
//! two times and the name of a state, or two times, a name and a class, with single blanks between
//! them. [`CntkIndex`] finds the utterances, [`FrameParser`] gives their classes.
//!
//! An error in an utterance is an [`Error`](seqfeed_core::Error) that names the utterance, the file
//! and the line. CNTK leaves out some such utterances, and aborts at others. Here all errors are of
//! one kind, and the caller chooses to raise or to count them.

mod frames;
mod index;
mod times;

pub use frames::{FrameParser, MAX_FRAMES};
pub use index::{CntkIndex, Utterance};
