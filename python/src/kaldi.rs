//! Kaldi's tables and objects.

mod file_like;
mod from_python;
mod lent;
pub(crate) mod object;
pub(crate) mod random_access;
pub(crate) mod sequential;
pub(crate) mod single;
pub(crate) mod table;
pub(crate) mod to_python;
pub(crate) mod types;
pub(crate) mod writer;
