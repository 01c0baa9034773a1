//! Kaldi's tables and objects.

pub(crate) mod file_like;
pub(crate) mod file_table;
mod from_python;
mod lent;
pub(crate) mod names;
pub(crate) mod object;
pub(crate) mod object_reader;
pub(crate) mod object_writer;
pub(crate) mod own;
pub(crate) mod random_access;
pub(crate) mod sequential;
pub(crate) mod single;
pub(crate) mod table;
pub(crate) mod to_python;
pub(crate) mod types;
pub(crate) mod writer;
