//! Tables: reading objects by their keys, in order and out of it, and writing them.

pub(crate) mod table_writer;
