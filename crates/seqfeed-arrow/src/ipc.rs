//! Arrow IPC files and streams: finds the positions of buffers, without reading values.

mod batch;
mod body;
mod messages;

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::{ArrayRef, make_array};
use arrow_schema::{DataType, Schema};
use seqfeed_core::Result;
use seqfeed_io::{DataFile, Spool};

use batch::Cursor;
use messages::{Content, Messages};
pub(crate) use messages::{is_file, is_stream};

use crate::keys::lengths;
use crate::piece::Piece;
use crate::schema::{ArrowOptions, Columns};

/// The contents of a file's record batches.
pub(crate) struct Found {
    pub(crate) columns: Columns,
    pub(crate) batches: Vec<FoundBatch>,
    /// Whether parts had to be decoded into the spool.
    pub(crate) compressed: bool,
}

/// A record batch: keys and lengths, if it has such columns, and the positions of samples.
pub(crate) struct FoundBatch {
    pub(crate) piece: Piece,
    pub(crate) keys: Option<ArrayRef>,
    pub(crate) lengths: Option<Vec<u32>>,
}

/// Reads through the messages of a file or stream.
pub(crate) fn scan(
    file: &Arc<DataFile>,
    options: &ArrowOptions,
    spool: &mut Option<Spool>,
) -> Result<Found> {
    let mut messages = Messages::open(file)?;
    let schema = messages.schema().clone();
    let columns = Columns::find(&schema, options)?;
    // Only the dictionary of keys matters.
    let wanted = columns.key.and_then(|key| messages.dictionary_id(key));
    let mut dictionaries: HashMap<i64, ArrayRef> = HashMap::new();
    let (mut batches, mut compressed) = (Vec::new(), false);
    while let Some(message) = messages.next()? {
        let (body, content) = message.content()?;
        compressed |= body.is_compressed();
        let mut cursor = Cursor::new(body, spool);
        match content {
            Content::Dictionary(id) => {
                let key = columns.key.filter(|_| Some(id) == wanted);
                let Some(field) = key.map(|key| schema.field(key)) else { continue };
                let DataType::Dictionary(_, value) = field.data_type() else { continue };
                let rows = cursor.rows();
                let values = cursor.array(field.name(), value, rows, None)?;
                dictionaries.insert(id, make_array(values));
            }
            Content::Batch => {
                let dictionary = wanted.and_then(|id| dictionaries.get(&id));
                batches.push(read_batch(&mut cursor, &schema, &columns, dictionary)?);
            }
        }
    }
    Ok(Found { columns, batches, compressed })
}

fn read_batch(
    cursor: &mut Cursor<'_>,
    schema: &Schema,
    columns: &Columns,
    dictionary: Option<&ArrayRef>,
) -> Result<FoundBatch> {
    let rows = cursor.rows();
    let mut pieces: Vec<_> = columns.streams.iter().map(|_| None).collect();
    let (mut keys, mut found_lengths) = (None, None);
    for (number, field) in schema.fields().iter().enumerate() {
        let start = cursor.place();
        if Some(number) == columns.key {
            let array = cursor.array(field.name(), field.data_type(), rows, dictionary)?;
            keys = Some(make_array(array));
        } else if Some(number) == columns.length {
            let array = cursor.array(field.name(), field.data_type(), rows, None)?;
            found_lengths = Some(lengths(&make_array(array))?);
        } else {
            cursor.skip(field.data_type())?;
        }
        let end = cursor.place();
        // A column can be several streams: as a whole and as parts.
        for (column, piece) in columns.streams.iter().zip(&mut pieces) {
            if column.field == number {
                cursor.go_to(start);
                *piece = Some(cursor.column(column, field, rows)?);
            }
        }
        cursor.go_to(end);
    }
    let columns = pieces.into_iter().flatten().collect();
    Ok(FoundBatch { piece: Piece { rows, columns }, keys, lengths: found_lengths })
}
