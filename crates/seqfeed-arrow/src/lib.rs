//! Sequences as rows of tables: Arrow IPC files (`.arrow`, `.feather`, `.arrows`) and
//! Parquet files.
//!
//! One row is one sequence, one column is one stream:
//!
//! | column | type | mark `seqfeed.kind` |
//! | --- | --- | --- |
//! | key | `utf8`; `binary` where a key is no UTF-8; `int64` where all are decimal numbers | `key` |
//! | `samples` | `int32`: the length in samples, so that Parquet need not be decoded for it | `length` |
//! | dense stream | `list<fixed_size_list<float, DIM>>`, `list<float>` where DIM is 1 | `dense` |
//! | the same, one sample a sequence | `fixed_size_list<float, DIM>`, `float` where DIM is 1 | `dense` |
//! | labels | `list<int32>`; `int32` where there is one a sequence | `label` |
//! | sparse stream | `list<list<struct<index: int32, value: float>>>`, the outer list being the samples | `sparse` |
//!
//! `float` stands for `float` or `double`, the type of the stream's values. Nothing is ever null.
//! The marks are metadata of the column's field: `seqfeed.kind`, and for streams `seqfeed.extent`
//! (`samples`, `sequence`, `own`) and `seqfeed.dim`. With them a file reads back unchanged.
//!
//! Files of other programs have no marks. There the types decide:
//!
//! * The key is the first column with the name `key`, `utt`, `utt_id`, `utterance`, `utterance_id`,
//!   `id` or `name` that has text, bytes, integers, or a dictionary of text. If there is none, rows
//!   are counted from 0.
//! * Lists are streams. Lists of floats (16, 32 or 64 bits) are dense with width 1. Fixed-size
//!   lists, or lists of equally long lists of floats, are dense with that width. Lists of integers
//!   are labels. Lists of structs with `index` and `value` are sparse; `seqfeed.dim` must give
//!   their width. Large lists work too. If the lists of a row differ in length between columns, the
//!   columns with shorter lists get lengths of their own.
//! * Fixed-size lists of floats are one sample a sequence.
//! * Other columns (numbers, text, times) are skipped. A column of numbers that is requested by
//!   name has one sample a sequence.
//!
//! [`ArrowSource`] reads both kinds of file, [`ArrowWriter`] and [`ParquetWriter`] write them.
//! [`RecordBatches`] passes any corpus to other programs in the same process.
//!
//! Arrow files are read in place: opening reads keys and offsets, loading reads the values of the
//! wanted sequences. Compressed data are decoded once into a temporary file, and so are Parquet
//! files with large row groups. Parquet files with small row groups, as written here, are decoded
//! one group at a time.

#![forbid(unsafe_code)]

mod arrays;
mod batch;
mod ipc;
mod key_type;
mod keys;
mod number;
mod piece;
mod row_groups;
mod schema;
mod source;
mod store;
mod stream;
mod writer;

pub use key_type::KeyType;
pub use schema::{ArrowOptions, ColumnChoice};
pub use source::ArrowSource;
pub use stream::{FFI_ArrowArrayStream, RecordBatches};
pub use writer::{ArrowWriter, Compress, ParquetWriter, WriteOptions};

/// The name of Arrow files in messages.
const ARROW: &str = "Arrow file";
/// The name of Parquet files in messages.
const PARQUET: &str = "Parquet file";
