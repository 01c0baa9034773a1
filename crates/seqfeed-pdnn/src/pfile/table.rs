//! Finds the starts of sentences, from the sentence table or from the frames.

use seqfeed_core::{Error, Problem, Result};
use seqfeed_io::DataFile;

use super::decode::column;
use super::{HEADER_BYTES, Header, PFILE};

/// Bytes to read at once.
const PIECE: usize = 1 << 20;

/// The number of frames before each sentence, and in all: one more entry than sentences.
pub(super) fn starts(data: &DataFile, header: &Header) -> Result<Vec<u64>> {
    match header.table {
        Some(table) => read(data, header, HEADER_BYTES as u64 + table),
        None => make(data, header),
    }
}

fn fail(data: &DataFile, what: String, byte: u64) -> Error {
    Error::format(PFILE, Problem::Unsupported(what.into())).in_file(data.name()).at_byte(byte)
}

fn read(data: &DataFile, header: &Header, offset: u64) -> Result<Vec<u64>> {
    // The file is known to be long enough for the table.
    let mut bytes = vec![0; 4 * (header.sentences as usize + 1)];
    data.read_exact_at(&mut bytes, offset, "the sentence table")?;
    let (entries, _) = bytes.as_chunks::<4>();
    let starts: Vec<u64> = entries.iter().map(|entry| u32::from_be_bytes(*entry).into()).collect();
    let frames = header.frames;
    if starts.last() != Some(&frames) {
        let last = entries.last().copied().unwrap_or_default();
        let what = format!(
            "the last entry of the sentence table is {}, but there are {frames} frames",
            u32::from_be_bytes(last)
        );
        let error = fail(data, what, offset + 4 * header.sentences);
        if u64::from(u32::from_le_bytes(last)) == frames {
            return Err(error.with_help("the file is little-endian; PFiles are big-endian"));
        }
        return Err(error.with_help("the file is damaged, or was not written to its end"));
    }
    let falls = starts.windows(2).position(|pair| pair[0] > pair[1]);
    if let Some(sentence) = falls.or_else(|| (starts[0] != 0).then_some(0)) {
        let what = format!("the sentence table does not rise from 0 at sentence {sentence}");
        return Err(fail(data, what, offset + 4 * sentence as u64));
    }
    Ok(starts)
}

/// Reads all frames. Sentence numbers rise by one from 0; frame numbers rise by one from 0 in each
/// sentence.
fn make(data: &DataFile, header: &Header) -> Result<Vec<u64>> {
    let frame_bytes = header.frame_bytes();
    let frames_a_piece = (PIECE / frame_bytes).max(1);
    let mut bytes = vec![0; frames_a_piece * frame_bytes];
    let mut starts = Vec::new();
    let mut frame = 0u64;
    while frame < header.frames {
        let count = (header.frames - frame).min(frames_a_piece as u64) as usize;
        let offset = HEADER_BYTES as u64 + frame * frame_bytes as u64;
        let piece = &mut bytes[..count * frame_bytes];
        data.read_exact_at(piece, offset, "frames")?;
        for record in piece.chunks_exact(frame_bytes) {
            let (sentence, number) = (column(record, 0), column(record, 1));
            let begins = starts.len() as u64 == u64::from(sentence) && number == 0;
            let last = starts.last().copied().unwrap_or_default();
            let goes_on =
                starts.len() as u64 == u64::from(sentence) + 1 && frame - last == u64::from(number);
            if begins {
                starts.push(frame);
            } else if !goes_on {
                let what = format!(
                    "frame {} of sentence {} does not follow on the frame before",
                    number as i32, sentence as i32
                );
                let byte = HEADER_BYTES as u64 + frame * frame_bytes as u64;
                return Err(fail(data, what, byte)
                    .with_help("sentences and their frames are numbered from 0, without gaps"));
            }
            frame += 1;
        }
    }
    if starts.len() as u64 != header.sentences {
        let problem = Problem::CountMismatch {
            what: "number of sentences",
            expected: header.sentences,
            found: starts.len() as u64,
        };
        return Err(Error::format(PFILE, problem).in_file(data.name()));
    }
    starts.push(header.frames);
    Ok(starts)
}
