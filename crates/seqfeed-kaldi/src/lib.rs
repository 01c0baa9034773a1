//! Kaldi's tables: objects with keys, in archives and script files.
//!
//! ```text
//! archive       key SP object  key SP object ...           ark:feats.ark
//! script file   key SP rxfilename[range] LF ...             scp:feats.scp
//! object        \0B FM SP 04 rows:i32 04 cols:i32 data      binary float matrix
//!               SP [ LF SP SP 1 2 3 LF SP SP 4 5 6 ] LF     the same as text
//! ```
//!
//! [`SequentialReader`], [`RandomAccessReader`], [`MappedReader`] and [`TableWriter`] read and
//! write tables of any type that is a [`Holder`]. All of Kaldi's types are, from [`Matrix`] to
//! [`CompactLattice`]. [`AnyObject`] finds the type while it reads. [`load`] and [`save`] take one
//! object by its name; [`ObjectReader`] and [`ObjectWriter`] take several behind one header.
//! [`TableSource`] makes a [`Source`](seqfeed_core::Source) of tables for the feed. [`Rspecifier`],
//! [`Wspecifier`], [`ScriptLine`] and [`Range`] parse the names of tables and of objects.
//! The crate accepts and refuses the same input as Kaldi 5.5, and writes the same bytes, except
//! where Kaldi has a bug. The tests compare both with files and results of the original.

#![forbid(unsafe_code)]

mod holder;
mod mode;
mod object_reader;
mod objects;
mod range;
mod script;
mod single;
mod source;
mod specifier;
mod tables;

pub use holder::{Holder, Mode, write_object};
pub use object_reader::{LittleEndian, ObjectReader, is_token};
pub use objects::any::AnyObject;
pub use objects::basic::Basic;
pub use objects::basic_vector::{Integer, IntegerPairVector, IntegerVector};
pub use objects::blob::Blob;
pub use objects::compressed_header::CompressedHeader;
pub use objects::compressed_matrix::{CompressedMatrix, CompressionMethod};
pub use objects::egs::{
    ChainSupervision, Index, NnetChainExample, NnetChainSupervision, NnetExample, NnetIo,
    SupervisionFsts,
};
pub use objects::float::Float;
pub use objects::fst::{
    CompactLattice, CompactLatticeWeight, FstArc, FstState, FstWeight, Lattice, LatticeWeight,
    StdVectorFst, TropicalWeight, VectorFst,
};
pub use objects::gauss_posterior::GaussPosterior;
pub use objects::general_matrix::GeneralMatrix;
pub use objects::htk::HtkMatrix;
pub use objects::matrix::Matrix;
pub use objects::matrix_shape::MatrixShape;
pub use objects::numpy::NumpyArray;
pub use objects::object_type::ObjectType;
pub use objects::packed_matrix::PackedMatrix;
pub use objects::posterior::Posterior;
pub use objects::sparse::{SparseMatrix, SparseVector};
pub use objects::sphinx::SphinxMatrix;
pub use objects::token::{Token, TokenVector};
pub use objects::vector::Vector;
pub use objects::wave::{Wave, WaveInfo};
pub use range::{Range, Span};
pub use script::ScriptLine;
pub use single::{ObjectWriter, load, save, write_token};
pub use source::{Role, SparseSource, TableOptions, TableSource, WaveSource};
pub use specifier::{Rspecifier, TableKind, Wspecifier};
pub use tables::mapped_reader::MappedReader;
pub use tables::options::{ReadOptions, ReadReport};
pub use tables::random_access_reader::{RandomAccessReader, check_key};
pub use tables::sequential_reader::SequentialReader;
pub use tables::table_writer::{TableWriter, WriteReport};
pub use tables::typing::TableType;
pub use tables::warnings::{Warning, Warnings};

pub use seqfeed_core::{self as core, Error, ErrorKind, Key, Result};
pub use seqfeed_io::{self as io, Opener};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

/// The name of the format in messages.
pub(crate) const ARCHIVE: &str = "Kaldi archive";
pub(crate) const OBJECT: &str = "Kaldi object";
pub(crate) const SCRIPT: &str = "script file";
