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
//! `float` is `float` or `double`, as the stream's values are. Nothing is ever null. The marks are
//! metadata of the column's field: `seqfeed.kind`, and with streams `seqfeed.extent` (`samples`,
//! `sequence`, `own`) and `seqfeed.dim`. With them a file reads back exactly as it was written.
//!
//! Files written by others have no marks; then types tell:
//!
//! * The key is the first column of the name `key`, `utt`, `utt_id`, `utterance`, `utterance_id`,
//!   `id` or `name` with text, bytes, integers, or a dictionary of text. Without one, rows are
//!   counted from 0.
//! * Lists are streams: of floats (16, 32 or 64 bits) dense ones of width 1, of fixed-size lists or
//!   of lists of floats that are all equally long dense ones of that width, of integers labels, of
//!   lists of structs with `index` and `value` sparse ones (whose width must be given by
//!   `seqfeed.dim`). Large lists are as good. Where lists of a row differ in number between
//!   columns, the columns of less are given a number of samples of their own.
//! * Fixed-size lists of floats are one sample a sequence.
//! * Other columns (numbers, text, times) are passed over; a column of numbers that is asked for by
//!   its name is one sample a sequence.
//!
//! [`ArrowSource`] reads both kinds of file, [`ArrowWriter`] and [`ParquetWriter`] write them.
//! [`RecordBatches`] gives any corpus to other programs in the same process.
//!
//! Arrow files are read in place: opening reads keys and offsets, loading reads the values of the
//! sequences that are wanted. What is compressed is decoded once into a temporary file, and so are
//! Parquet files of large row groups; those of small ones, as they are written here, are decoded a
//! group at a time.

#![forbid(unsafe_code)]

mod arrays;
mod batch;
mod ipc;
mod key_type;
mod keys;
mod number;
mod panics;
mod piece;
mod row_groups;
mod schema;
mod source;
mod store;
mod stream;
mod writer;

pub use key_type::KeyType;
pub use panics::silence_caught_panics;
pub use schema::{ArrowOptions, ColumnChoice};
pub use source::ArrowSource;
pub use stream::{FFI_ArrowArrayStream, RecordBatches};
pub use writer::{ArrowWriter, Compress, ParquetWriter, WriteOptions};

/// What files are called in messages.
const ARROW: &str = "Arrow file";
/// What files are called in messages.
const PARQUET: &str = "Parquet file";
