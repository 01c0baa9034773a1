//! CNTK's binary label files.
//!
//! ```text
//! "MLF"                      3 bytes
//! version                    int16; 1: keys are numbers, 2: names
//! for each utterance
//!   key                      uint32; or a uint16, and as many bytes
//!   frames                   uint32
//!   segments                 uint16
//!   for each segment         its class and its frames, uint16 each
//! ```
//!
//! All numbers are little-endian.

use std::io::{BufReader, Read};

use seqfeed_core::{Error, ErrorKind, Problem, Result};
use seqfeed_io::DataFile;

use super::file_span::FileSpan;
use crate::decoded::FromStart;
use crate::label::cntk::MAX_FRAMES;

const FORMAT: &str = "binary master label file";
/// The longest name, as in CNTK.
const LONGEST_KEY: usize = 256;

/// Reads through a file. Gives the key, the frames and the position of each utterance.
pub(super) fn index(
    file: &DataFile,
    mut found: impl FnMut(&[u8], u32, FileSpan) -> Result<()>,
) -> Result<()> {
    let mut reader =
        Reader { input: BufReader::with_capacity(1 << 17, FromStart::new(file)), offset: 0 };
    let result = (|| {
        let magic = reader.bytes::<3>("the header")?;
        let version = i16::from_le_bytes(reader.bytes("the header")?);
        if magic != *b"MLF" || !(1..=2).contains(&version) {
            let expected = "`MLF` and version 1 or 2".into();
            let problem = Problem::Unexpected { expected, found: magic.to_vec() };
            return Err(Error::format(FORMAT, problem).at_byte(0));
        }
        let mut key = Vec::new();
        while reader.offset < file.len() {
            let offset = reader.offset;
            key.clear();
            if version == 1 {
                let number = u32::from_le_bytes(reader.bytes("a key")?);
                key.extend_from_slice(number.to_string().as_bytes());
            } else {
                let len = usize::from(u16::from_le_bytes(reader.bytes("a key")?));
                if len > LONGEST_KEY {
                    let allowed = "up to 256 bytes".into();
                    let problem =
                        Problem::OutOfRange { what: "length of a key", found: len as i64, allowed };
                    return Err(Error::format(FORMAT, problem).at_byte(offset));
                }
                for _ in 0..len {
                    key.push(reader.bytes::<1>("a key")?[0]);
                }
            }
            let frames = u32::from_le_bytes(reader.bytes("an utterance")?);
            let segments = u16::from_le_bytes(reader.bytes("an utterance")?);
            let start = reader.offset;
            for _ in 0..segments {
                reader.bytes::<4>("a segment")?;
            }
            let bytes = 4 * u32::from(segments);
            found(&key, frames, FileSpan { offset: start, bytes, line: 0, file: 0 })?;
        }
        Ok(())
    })();
    result.map_err(|error: Error| error.in_file(file.name()))
}

/// Appends the class of each frame of an utterance, from the bytes of its segments. To `values` it
/// appends 2 for the first frame of each segment and 1 for the others.
pub(super) fn decode(
    bytes: &[u8],
    frames: u32,
    dim: u32,
    classes: &mut Vec<i32>,
    mut values: Option<&mut Vec<f32>>,
) -> Result<()> {
    if frames > MAX_FRAMES {
        let (wanted, limit) = (frames.into(), MAX_FRAMES.into());
        return Err(Error::new(ErrorKind::Limit { what: "frames of an utterance", wanted, limit }));
    }
    // A segment of 4 bytes can claim 65535 frames. Their sum is known before memory is taken.
    let (segments, _) = bytes.as_chunks::<4>();
    let found = segments.iter().map(|&[.., c, d]| u64::from(u16::from_le_bytes([c, d]))).sum();
    if found != u64::from(frames) {
        let expected = frames.into();
        let problem = Problem::CountMismatch { what: "frames of the utterance", expected, found };
        return Err(Error::format(FORMAT, problem));
    }
    for segment in segments {
        let [a, b, c, d] = *segment;
        let (class, count) = (u16::from_le_bytes([a, b]), u16::from_le_bytes([c, d]));
        if u32::from(class) >= dim {
            let allowed = format!("a class below {dim}, the dimension of the labels").into();
            let problem = Problem::OutOfRange { what: "the class", found: class.into(), allowed };
            return Err(Error::format(FORMAT, problem));
        }
        if let Some(values) = values.as_deref_mut() {
            values.extend((0..count).map(|frame| if frame == 0 { 2.0 } else { 1.0 }));
        }
        classes.extend(std::iter::repeat_n(i32::from(class), count.into()));
    }
    Ok(())
}

/// A stream that counts its bytes.
struct Reader<R> {
    input: R,
    offset: u64,
}

impl<R: Read> Reader<R> {
    fn bytes<const N: usize>(&mut self, inside: &'static str) -> Result<[u8; N]> {
        let mut bytes = [0; N];
        self.input.read_exact(&mut bytes).map_err(|error| match error.kind() {
            std::io::ErrorKind::UnexpectedEof => {
                let problem = Problem::UnexpectedEnd { inside, missing: None };
                Error::format(FORMAT, problem).at_byte(self.offset)
            }
            _ => Error::io("reading", error),
        })?;
        self.offset += N as u64;
        Ok(bytes)
    }
}
