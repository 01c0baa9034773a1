//! Kaldi's objects, in binary form and as text, byte for byte.

pub(crate) mod any;
pub(crate) mod basic;
pub(crate) mod basic_vector;
pub(crate) mod blob;
pub(crate) mod compressed_header;
pub(crate) mod compressed_matrix;
pub(crate) mod detect;
pub(crate) mod egs;
pub(crate) mod float;
pub(crate) mod fst;
pub(crate) mod gauss_posterior;
pub(crate) mod general_matrix;
pub(crate) mod htk;
pub(crate) mod matrix;
pub(crate) mod matrix_shape;
pub(crate) mod numpy;
pub(crate) mod object_type;
pub(crate) mod packed_matrix;
pub(crate) mod posterior;
pub(crate) mod sparse;
pub(crate) mod sphinx;
pub(crate) mod text_fits;
pub(crate) mod token;
pub(crate) mod vector;
pub(crate) mod wave;
pub(crate) mod wave_header;
