//! Finds lines and columns of positions by reading a file again. Only messages need them.

use memchr::memchr_iter;
use seqfeed_core::{Error, Position, Quote, Result};
use seqfeed_io::DataFile;

/// Bytes to read at once.
const PIECE: usize = 1 << 20;
/// Positions after this are named by their offsets: finding their lines would take seconds.
const FARTHEST: u64 = 16 << 30;

/// A position in a text file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LineColumn {
    /// The line, from 1.
    pub line: u64,
    /// The byte in the line, from 1.
    pub column: u64,
}

/// Lines and columns of offsets, which must ascend; `None` for very large offsets.
///
/// # Errors
///
/// If the file cannot be read.
pub(super) fn find(data: &DataFile, offsets: &[u64]) -> Result<Vec<Option<LineColumn>>> {
    let mut found = Vec::with_capacity(offsets.len());
    let near = offsets.partition_point(|&offset| offset <= FARTHEST);
    let mut piece = vec![0; PIECE];
    // The current part, its start, and the line and the line's start there.
    let (mut start, mut len, mut line, mut line_start) = (0, 0, 1, 0);
    for &offset in &offsets[..near] {
        while offset >= start + len as u64 {
            for at in memchr_iter(b'\n', &piece[..len]) {
                (line, line_start) = (line + 1, start + at as u64 + 1);
            }
            start += len as u64;
            len = data.read_at(&mut piece, start)?;
            if len == 0 {
                break;
            }
        }
        let before = &piece[..len.min((offset - start) as usize)];
        let (mut here, mut here_start) = (line, line_start);
        for at in memchr_iter(b'\n', before) {
            (here, here_start) = (here + 1, start + at as u64 + 1);
        }
        found.push(Some(LineColumn { line: here, column: offset - here_start + 1 }));
    }
    found.resize(offsets.len(), None);
    Ok(found)
}

/// Adds the line, the column and the text to an error with a known offset. Returns the error
/// unchanged if this fails.
pub(super) fn locate(data: &DataFile, error: Error) -> Error {
    let Some(Position::Byte(offset)) = error.place().position else { return error };
    let Ok(found) = find(data, &[offset]) else { return error };
    let Some(&Some(LineColumn { line, column })) = found.first() else { return error };
    let reach = Quote::REACH as u64;
    let from = offset.saturating_sub(reach.min(column - 1));
    let mut around = [0; 2 * Quote::REACH];
    let len = data.read_at(&mut around, from).unwrap_or(0);
    let quote = Quote::new(&around[..len], (offset - from) as usize, column > reach + 1);
    error.at_column(line, column, (!quote.text.is_empty()).then_some(quote))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_lines_across_pieces() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("f");
        let text: Vec<u8> =
            (0..3 * PIECE).map(|i| if i % 777 == 5 { b'\n' } else { b'x' }).collect();
        std::fs::write(&path, &text).unwrap();
        let data = DataFile::open(&path).unwrap();
        let piece = PIECE as u64;
        let offsets = [0, 5, 6, 7, 782, 783, piece - 1, piece, piece, 2 * piece + 1, 3 * piece];
        let found = find(&data, &offsets).unwrap();
        for (offset, found) in offsets.into_iter().zip(found) {
            let before = &text[..offset as usize];
            let line = before.iter().filter(|&&byte| byte == b'\n').count() as u64 + 1;
            let line_start = before.iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
            let column = offset - line_start as u64 + 1;
            assert_eq!(found, Some(LineColumn { line, column }), "{offset}");
        }
        let far = find(&data, &[3 * piece + 99, u64::MAX]).unwrap();
        assert_eq!(far[1], None);
        let error = Error::usage("x").at_byte(783 + 50);
        let error = locate(&data, error);
        assert_eq!(error.place().to_string(), "line 3, column 51");
        assert_eq!(error.quote().unwrap().caret, 33);
        assert!(error.quote().unwrap().text.starts_with("...x"));
    }
}
