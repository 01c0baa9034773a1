//! Kaldi's objects, each binary and as text, as Kaldi writes them.

pub(crate) mod basic;
pub(crate) mod basic_vector;
pub(crate) mod compressed_matrix;
pub(crate) mod float;
pub(crate) mod matrix;
pub(crate) mod token;
pub(crate) mod vector;
