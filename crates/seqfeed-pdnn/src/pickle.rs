//! Pickled numpy arrays.
//!
//! A pickle is a program for a stack machine. Python's machine runs any function that the pickle
//! names. The [machine](load) here knows the opcodes of protocols 0 to 5 for data, and the few
//! callables that make numpy's arrays ([`Callable`]). Any other name is an error with its position.
//! The machine runs nothing.
//!
//! * [`load`] gives a [`Value`]: tuples, lists, dictionaries, numbers, texts, [`Array`]s.
//! * [`PickledData`] has the training data of PDNN: (features, labels).
//! * [`write_pickle`] writes such a tuple, for numpy of Python 2 and 3.
//! * [`read_npy`] and [`write_npy`] do the same for numpy's own files, `read_npz` and `write_npz`
//!   for its archives (feature `npz`).
//! * [`PickleSource`] is the source for the feed; the file is one sequence.
//!
//! It reads files of Python 2.7 with numpy 1.16 up to Python 3.11 with numpy 2.4, compressed or
//! not. The bytes of an array are read once, into their final memory, and become rows of 32-bit
//! floats there. With protocols below 3, Python 3 writes them as text; they are decoded on the way.
//! Memory is taken as data come, never because a length is announced.

mod array;
mod arrays_writer;
mod bytes;
mod callable;
mod calls;
mod convert;
mod data;
mod element;
mod machine;
mod npy;
mod npy_source;
#[cfg(feature = "npz")]
mod npz;

mod objects;
mod reopened;
mod source;
mod text;
mod value;
mod writer;

pub use array::Array;
pub use arrays_writer::{ArraysLayout, ArraysWriter, Container};
pub use bytes::Bytes;
pub use callable::Callable;
pub use data::PickledData;
pub use element::{Dtype, Number};
pub use machine::{Limits, load};
pub use npy::{read_npy, write_npy};
pub use npy_source::{NpyFile, NpySource};
#[cfg(feature = "npz")]
pub use npz::{open_npz, read_npz, write_npz};

pub use reopened::ReopenedPickle;
pub use source::PickleSource;
pub use value::Value;
pub use writer::{Protocol, write_pickle};

/// The name of the format in messages.
const PICKLE: &str = "pickle";
