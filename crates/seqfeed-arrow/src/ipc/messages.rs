//! The messages of an IPC file or stream.

use std::sync::Arc;

use arrow_ipc::convert::try_fb_to_schema;
use arrow_ipc::{
    CompressionType, Endianness, MessageHeader, MetadataVersion, root_as_footer, root_as_message,
};
use arrow_schema::Schema;
use seqfeed_core::{Error, Problem, Result};
use seqfeed_io::DataFile;

use super::body::{Body, Codec};
use crate::ARROW;

const MAGIC: &[u8] = b"ARROW1";
const CONTINUATION: [u8; 4] = [0xff; 4];
/// The most bytes of a message's metadata.
const MOST_METADATA: u64 = 1 << 30;

/// Whether a file begins like an IPC file.
pub(crate) fn is_file(head: &[u8]) -> bool {
    head.starts_with(MAGIC)
}

/// Whether a stream begins like an IPC stream.
pub(crate) fn is_stream(head: &[u8]) -> bool {
    head.starts_with(&CONTINUATION)
}

/// The messages with data in a file or stream, one after another.
pub(crate) struct Messages {
    file: Arc<DataFile>,
    schema: Schema,
    /// The dictionary of each column that has one.
    dictionaries: Vec<Option<i64>>,
    order: Order,
}

enum Order {
    /// A file's blocks: the position of each, and the sizes of its metadata and of its body.
    Blocks(std::vec::IntoIter<(u64, u64, u64)>),
    /// A stream: the position of the next message.
    From(u64),
}

/// A message: its metadata, and the position of its body.
pub(crate) struct Message {
    file: Arc<DataFile>,
    metadata: Vec<u8>,
    offset: u64,
    body: u64,
}

/// The content of a message.
pub(crate) enum Content {
    Batch,
    /// The values of the dictionary with this number.
    Dictionary(i64),
}

impl Messages {
    pub(crate) fn open(file: &Arc<DataFile>) -> Result<Self> {
        let mut head = [0; 8];
        let found = file.read_at(&mut head, 0)?;
        if is_file(&head[..found]) { Self::of_file(file) } else { Self::of_stream(file) }
    }

    fn of_file(file: &Arc<DataFile>) -> Result<Self> {
        let fail = |error: Error| error.in_file(file.name());
        let mut tail = [0; 10];
        let Some(at) = file.len().checked_sub(10 + 8) else {
            return Err(fail(ends("the header")));
        };
        file.read_exact_at(&mut tail, at + 8, "the footer")?;
        if &tail[4..] != MAGIC {
            let problem = Problem::Unexpected {
                expected: "\"ARROW1\" at the end of the file".into(),
                found: tail[4..].to_vec(),
            };
            return Err(Error::format(ARROW, problem)
                .in_file(file.name())
                .at_byte(file.len() - 6)
                .with_help("the file is cut short; it may still have been written to"));
        }
        let len = i32::from_le_bytes([tail[0], tail[1], tail[2], tail[3]]);
        let len = u64::try_from(len).ok().filter(|&len| len <= at);
        let Some(len) = len else {
            return Err(fail(ends("the footer")).at_byte(file.len() - 10));
        };
        let start = file.len() - 10 - len;
        let mut footer = vec![0; len as usize];
        file.read_exact_at(&mut footer, start, "the footer")?;
        let wrong = |what: &str| fail(damaged("footer", what)).at_byte(start);
        let footer = root_as_footer(&footer).map_err(|error| wrong(&error.to_string()))?;
        let fb = footer.schema().ok_or_else(|| wrong("it has no schema"))?;
        let (schema, dictionaries) = schema_of(fb, footer.version()).map_err(fail)?;
        let blocks = footer.dictionaries().into_iter().flatten();
        let blocks = blocks.chain(footer.recordBatches().into_iter().flatten());
        let place = |block: &arrow_ipc::Block| {
            let place = (
                u64::try_from(block.offset()).ok()?,
                u64::try_from(block.metaDataLength()).ok()?,
                u64::try_from(block.bodyLength()).ok()?,
            );
            let end = place.0.checked_add(place.1)?.checked_add(place.2)?;
            (end <= file.len()).then_some(place)
        };
        let blocks: Option<Vec<_>> = blocks.map(place).collect();
        let blocks = blocks.ok_or_else(|| wrong("a block lies outside the file"))?;
        let order = Order::Blocks(blocks.into_iter());
        Ok(Self { file: Arc::clone(file), schema, dictionaries, order })
    }

    fn of_stream(file: &Arc<DataFile>) -> Result<Self> {
        let fail = |error: Error| error.in_file(file.name());
        let Some((metadata, next)) = read_metadata(file, 0, None)? else {
            return Err(fail(ends("the schema")));
        };
        let message = root_as_message(&metadata)
            .map_err(|error| fail(damaged("schema", &error.to_string())))?;
        let fb = message.header_as_schema().ok_or_else(|| {
            fail(damaged("stream", "it does not begin with a schema"))
                .with_help("is this an Arrow IPC stream?")
        })?;
        let (schema, dictionaries) = schema_of(fb, message.version()).map_err(fail)?;
        Ok(Self { file: Arc::clone(file), schema, dictionaries, order: Order::From(next) })
    }

    pub(crate) fn schema(&self) -> &Schema {
        &self.schema
    }

    /// The number of a column's dictionary.
    pub(crate) fn dictionary_id(&self, column: usize) -> Option<i64> {
        self.dictionaries.get(column).copied().flatten()
    }

    /// The next message with data.
    pub(crate) fn next(&mut self) -> Result<Option<Message>> {
        let (offset, metadata, start, body) = match &mut self.order {
            Order::Blocks(blocks) => {
                let Some((offset, length, body)) = blocks.next() else { return Ok(None) };
                let Some((metadata, _)) = read_metadata(&self.file, offset, Some(length))? else {
                    let error = damaged("block", "it has no message");
                    return Err(error.in_file(self.file.name()).at_byte(offset));
                };
                (offset, metadata, offset + length, Some(body))
            }
            Order::From(offset) => {
                let Some((metadata, start)) = read_metadata(&self.file, *offset, None)? else {
                    return Ok(None);
                };
                (*offset, metadata, start, None)
            }
        };
        let place = |error: Error| error.in_file(self.file.name()).at_byte(offset);
        let message = root_as_message(&metadata)
            .map_err(|error| place(damaged("message", &error.to_string())))?;
        let said = u64::try_from(message.bodyLength()).ok();
        let end = said.and_then(|said| start.checked_add(said));
        let (Some(said), Some(end)) = (said, end.filter(|&end| end <= self.file.len())) else {
            let missing = said.map(|said| said.saturating_sub(self.file.len() - start));
            let problem = Problem::UnexpectedEnd { inside: "a record batch", missing };
            return Err(place(Error::format(ARROW, problem).with_help("the file is cut short")));
        };
        if let Order::From(next) = &mut self.order {
            *next = end;
        }
        let body = body.map_or(said, |body| body.min(said));
        let file = Arc::clone(&self.file);
        Ok(Some(Message { file, metadata, offset: start, body }))
    }
}

impl Message {
    /// Its content, and its body.
    pub(crate) fn content(&self) -> Result<(Body, Content)> {
        let place = |error: Error| error.in_file(self.file.name()).at_byte(self.offset);
        let wrong = |what: &str| place(damaged("message", what));
        let message = root_as_message(&self.metadata).map_err(|e| wrong(&e.to_string()))?;
        let (batch, content) = match message.header_type() {
            MessageHeader::RecordBatch => (message.header_as_record_batch(), Content::Batch),
            MessageHeader::DictionaryBatch => {
                let dictionary =
                    message.header_as_dictionary_batch().ok_or_else(|| wrong("it is empty"))?;
                if dictionary.isDelta() {
                    let what = "a dictionary that grows".into();
                    return Err(place(Error::format(ARROW, Problem::Unsupported(what)))
                        .with_help("write the file with one dictionary, or with plain text"));
                }
                (dictionary.data(), Content::Dictionary(dictionary.id()))
            }
            _ => return Err(wrong("it is of no known kind")),
        };
        let batch = batch.ok_or_else(|| wrong("it is empty"))?;
        let codec = match batch.compression().map(|compression| compression.codec()) {
            None => None,
            Some(CompressionType::LZ4_FRAME) => Some(Codec::Lz4),
            Some(CompressionType::ZSTD) => Some(Codec::Zstd),
            Some(_) => return Err(wrong("its compression is not known")),
        };
        let size = |number: i64| u64::try_from(number).ok();
        let rows = size(batch.length()).and_then(|rows| usize::try_from(rows).ok());
        let rows = rows.filter(|&rows| rows < u32::MAX as usize);
        let nodes = batch.nodes().into_iter().flatten();
        let nodes = nodes.map(|node| Some((size(node.length())?, size(node.null_count())?)));
        let buffers = batch.buffers().into_iter().flatten();
        let buffers = buffers.map(|buffer| {
            let (offset, len) = (size(buffer.offset())?, size(buffer.length())?);
            (offset.checked_add(len)? <= self.body).then_some((self.offset + offset, len))
        });
        let variadic = batch.variadicBufferCounts().into_iter().flatten().map(size);
        let body = Body {
            file: Arc::clone(&self.file),
            rows: rows.ok_or_else(|| wrong("its number of rows is wrong"))?,
            nodes: nodes.collect::<Option<_>>().ok_or_else(|| wrong("a length is negative"))?,
            buffers: buffers
                .collect::<Option<_>>()
                .ok_or_else(|| wrong("a buffer lies outside its body"))?,
            variadic: variadic
                .collect::<Option<_>>()
                .ok_or_else(|| wrong("a number of buffers is negative"))?,
            codec,
        };
        Ok((body, content))
    }
}

fn schema_of(
    fb: arrow_ipc::Schema<'_>,
    version: MetadataVersion,
) -> Result<(Schema, Vec<Option<i64>>)> {
    let refuse = |what: &'static str| Err(Error::format(ARROW, Problem::Unsupported(what.into())));
    if fb.endianness() != Endianness::Little {
        return refuse("big-endian data");
    }
    if version < MetadataVersion::V4 {
        return refuse("data of a version of Arrow before 0.8");
    }
    let schema = try_fb_to_schema(fb).map_err(|error| damaged("schema", &error.to_string()))?;
    let fields = fb.fields().into_iter().flatten();
    let dictionaries = fields.map(|field| Some(field.dictionary()?.id()));
    Ok((schema, dictionaries.collect()))
}

/// Reads a message's metadata at an offset, in at most `most` bytes including the prefix. Returns
/// it with the position of its body; `None` at the end of a stream.
fn read_metadata(
    file: &DataFile,
    offset: u64,
    most: Option<u64>,
) -> Result<Option<(Vec<u8>, u64)>> {
    let mut word = [0; 4];
    let found = file.read_at(&mut word, offset)?;
    if found == 0 && most.is_none() {
        return Ok(None);
    }
    let mut at = offset;
    let next = |word: &mut [u8; 4], at: &mut u64| -> Result<()> {
        file.read_exact_at(word, *at, "a message")?;
        *at += 4;
        Ok(())
    };
    next(&mut word, &mut at)?;
    if word == CONTINUATION {
        next(&mut word, &mut at)?;
    }
    let len = match i32::from_le_bytes(word) {
        0 => return Ok(None),
        len => u64::try_from(len).ok(),
    };
    let room = file.len().saturating_sub(at);
    let room = most.map_or(room, |most| room.min(most.saturating_sub(at - offset)));
    let Some(len) = len.filter(|&len| len <= room.min(MOST_METADATA)) else {
        let what = "its size is wrong";
        let help = "is this an Arrow file? it is none, or it is cut short";
        return Err(damaged("message", what).with_help(help).in_file(file.name()).at_byte(offset));
    };
    let mut metadata = vec![0; len as usize];
    file.read_exact_at(&mut metadata, at, "a message")?;
    Ok(Some((metadata, at + len)))
}

fn ends(inside: &'static str) -> Error {
    Error::format(ARROW, Problem::UnexpectedEnd { inside, missing: None })
        .with_help("the file is cut short")
}

fn damaged(part: &str, what: &str) -> Error {
    let what = what.lines().next().unwrap_or_default();
    let problem = Problem::Unsupported(format!("a {part} is damaged: {what}").into());
    Error::format(ARROW, problem)
}
