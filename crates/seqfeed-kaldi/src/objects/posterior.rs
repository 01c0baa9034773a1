//! Posteriors: for each frame, numbers with weights.

use seqfeed_core::{Error, Problem, Result};

use crate::OBJECT;
use crate::holder::{Holder, Mode};
use crate::object_reader::ObjectReader;
use crate::objects::basic::{Basic, LineValues};
use crate::objects::basic_vector::read_count;
use crate::objects::matrix::write_size;

/// The most frames, as in Kaldi.
const MOST_FRAMES: usize = 10_000_000;

/// Bytes of an entry as Kaldi writes it: an int32 and a float, each behind its size byte.
const ENTRY: usize = 10;

/// Memory is taken for at most this many frames or entries before they have been read.
const STEP: usize = 1 << 12;

/// For each frame, pairs of a number (of a transition, a state, a phone) and its weight.
///
/// ```text
/// binary   04 frames:i32, for each: 04 n:i32, n times 04 number:i32 04 weight:f32
/// text     [ 1 0.5 2 0.25 ] [ 3 1 ] [ ] LF
/// ```
///
/// Weights of 64 bits (with the size byte 8) are read too.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Posterior(
    /// The pairs of each frame.
    pub Vec<Vec<(i32, f32)>>,
);

impl From<Vec<Vec<(i32, f32)>>> for Posterior {
    fn from(frames: Vec<Vec<(i32, f32)>>) -> Self {
        Self(frames)
    }
}

impl Holder for Posterior {
    const TYPE: &'static str = "posterior";

    fn read(reader: &mut ObjectReader, mode: Mode) -> Result<Self> {
        if mode == Mode::Text {
            return read_text(reader);
        }
        let start = reader.position();
        let count = read_count(reader, 5)?;
        if count > MOST_FRAMES {
            return Err(too_many(count).in_file(reader.name()).at_byte(start));
        }
        let mut frames = Vec::with_capacity(count.min(STEP));
        while frames.len() < count {
            let used = take_frames(reader.fill()?, count, &mut frames);
            reader.consume(used);
            if used == 0 {
                frames.push(read_frame(reader)?);
            }
        }
        Ok(Self(frames))
    }

    fn write(&self, out: &mut Vec<u8>, mode: Mode) -> Result<()> {
        if self.0.len() > MOST_FRAMES {
            return Err(too_many(self.0.len()));
        }
        if mode == Mode::Binary {
            write_size(out, self.0.len())?;
        }
        for frame in &self.0 {
            if mode == Mode::Binary {
                write_size(out, frame.len())?;
            } else {
                out.extend_from_slice(b"[ ");
            }
            for (number, weight) in frame {
                number.write_basic(out, mode);
                weight.write_basic(out, mode);
            }
            if mode == Mode::Text {
                out.extend_from_slice(b"] ");
            }
        }
        if mode == Mode::Text {
            out.push(b'\n');
        }
        Ok(())
    }
}

fn too_many(frames: usize) -> Error {
    let allowed = format!("0 to {MOST_FRAMES}").into();
    let problem = Problem::OutOfRange { what: "number of frames", found: frames as i64, allowed };
    Error::format(OBJECT, problem)
}

/// Appends the frames that lie whole in `buffer` and have Kaldi's form, until there are `count`.
/// Returns the number of bytes that they take.
fn take_frames(buffer: &[u8], count: usize, frames: &mut Vec<Vec<(i32, f32)>>) -> usize {
    let mut rest = buffer;
    while frames.len() < count {
        let Some((&[4, a, b, c, d], behind)) = rest.split_first_chunk() else { break };
        let entries = usize::try_from(i32::from_le_bytes([a, b, c, d])).ok();
        let bytes = entries.and_then(|entries| entries.checked_mul(ENTRY));
        let Some((entries, behind)) = bytes.and_then(|bytes| behind.split_at_checked(bytes)) else {
            break;
        };
        let mut frame = Vec::with_capacity(entries.len() / ENTRY);
        if take_entries(entries, &mut frame) < entries.len() {
            break;
        }
        frames.push(frame);
        rest = behind;
    }
    buffer.len() - rest.len()
}

/// Appends the entries at the front of `bytes` that have Kaldi's form. Returns their bytes.
fn take_entries(bytes: &[u8], frame: &mut Vec<(i32, f32)>) -> usize {
    let mut used = 0;
    for &[tag, a, b, c, d, weight_tag, e, f, g, h] in bytes.as_chunks::<ENTRY>().0 {
        if tag != 4 || weight_tag != 4 {
            break;
        }
        frame.push((i32::from_le_bytes([a, b, c, d]), f32::from_le_bytes([e, f, g, h])));
        used += ENTRY;
    }
    used
}

/// Reads a frame that does not lie whole in the buffer, or has another form.
fn read_frame(reader: &mut ObjectReader) -> Result<Vec<(i32, f32)>> {
    let count = read_count(reader, ENTRY)?;
    let mut frame = Vec::with_capacity(count.min(STEP));
    while frame.len() < count {
        let buffer = reader.ensure(ENTRY)?;
        let most = (count - frame.len()).saturating_mul(ENTRY);
        let used = take_entries(&buffer[..buffer.len().min(most)], &mut frame);
        reader.consume(used);
        if used == 0 {
            // Reading a single value gives the error, or reads a weight of 64 bits.
            frame.push((reader.read_basic(Mode::Binary)?, reader.read_basic(Mode::Binary)?));
        }
    }
    Ok(frame)
}

fn read_text(reader: &mut ObjectReader) -> Result<Posterior> {
    let start = reader.position();
    let mut line = Vec::new();
    // A line with frames needs no end, but an empty rest is no object.
    if !reader.read_line(&mut line)? && line.is_empty() {
        return Err(reader.unexpected_end("a posterior", None));
    }
    let mut values = LineValues::new(reader, start, &line);
    let mut frames = Vec::new();
    while let Some(byte) = values.peek() {
        if byte != b'[' {
            return Err(values.unexpected("\"[\" before the pairs of a frame"));
        }
        values.consume();
        let mut frame = Vec::new();
        while values.peek() != Some(b']') {
            frame.push((values.next_value()?, values.next_value()?));
        }
        values.consume();
        frames.push(frame);
    }
    Ok(Posterior(frames))
}
