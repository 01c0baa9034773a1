//! Tables: reads objects in order or by their keys, and writes them.

pub(crate) mod find_type;
pub(crate) mod key_index;
pub(crate) mod mapped_reader;
pub(crate) mod object_loader;
pub(crate) mod options;
pub(crate) mod random_access_archive;
pub(crate) mod random_access_reader;
pub(crate) mod random_access_script;
pub(crate) mod script_lines;
pub(crate) mod sequential_reader;
pub(crate) mod sorted_archive;
pub(crate) mod table_writer;
pub(crate) mod typing;
pub(crate) mod warnings;
