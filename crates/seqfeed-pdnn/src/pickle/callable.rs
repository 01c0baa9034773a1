//! The callables that pickles may name: those that make arrays.

use std::fmt;

use seqfeed_core::{Error, Problem, Result};

use super::PICKLE;

/// A callable that a pickle may name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Callable {
    /// `numpy.core.multiarray._reconstruct`: an array that is filled later.
    Reconstruct,
    /// `numpy.ndarray`, as an argument.
    NdArray,
    /// `numpy.dtype`.
    Dtype,
    /// `numpy.core.multiarray.scalar`: one number.
    Scalar,
    /// `numpy.core.numeric._frombuffer`: an array from a buffer (protocol 5).
    FromBuffer,
    /// `_codecs.encode`: bytes from a text.
    Encode,
    /// `bytes`, without arguments.
    Bytes,
}

const NAMES: [(Callable, &str, &str); 12] = [
    (Callable::Reconstruct, "numpy.core.multiarray", "_reconstruct"),
    (Callable::Reconstruct, "numpy._core.multiarray", "_reconstruct"),
    (Callable::NdArray, "numpy", "ndarray"),
    (Callable::Dtype, "numpy", "dtype"),
    (Callable::Scalar, "numpy.core.multiarray", "scalar"),
    (Callable::Scalar, "numpy._core.multiarray", "scalar"),
    (Callable::FromBuffer, "numpy.core.numeric", "_frombuffer"),
    (Callable::FromBuffer, "numpy._core.numeric", "_frombuffer"),
    (Callable::Encode, "_codecs", "encode"),
    (Callable::Bytes, "__builtin__", "bytes"),
    (Callable::Bytes, "builtins", "bytes"),
    (Callable::Bytes, "__builtin__", "str"),
];

impl Callable {
    /// The callable with a name.
    ///
    /// # Errors
    ///
    /// Fails with the name if it does not make arrays.
    pub(super) fn find(module: &[u8], name: &[u8]) -> Result<Self> {
        let known =
            NAMES.iter().find(|entry| entry.1.as_bytes() == module && entry.2.as_bytes() == name);
        if let Some((callable, ..)) = known {
            return Ok(*callable);
        }
        let cut = |text: &[u8]| text[..text.len().min(100)].escape_ascii().to_string();
        let problem = format!("it names `{}.{}`, which is not run here", cut(module), cut(name));
        Err(refused(problem).with_help(
            "only arrays of numpy, tuples, lists, dictionaries, numbers and texts are read; \
             if you trust the file, load it in Python and store its arrays",
        ))
    }
}

impl fmt::Display for Callable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match NAMES.iter().find(|entry| entry.0 == *self) {
            Some((_, module, name)) => write!(f, "{module}.{name}"),
            None => Ok(()),
        }
    }
}

pub(super) fn refused(what: String) -> Error {
    Error::format(PICKLE, Problem::Unsupported(what.into()))
}
