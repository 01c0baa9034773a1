//! Searches for the stream that defines the size of minibatches.

use memchr::memmem::Finder;

use crate::ctf::{is_non_printable, is_space};

/// Finds a sample of one input in lines that come in parts: `|`, its alias, and after it white
/// space, `|`, a byte that is not printable ASCII, or the end of the line.
///
/// It understands nothing else of a line, so it also finds the alias in comments.
#[derive(Debug)]
pub(super) struct Marker {
    finder: Finder<'static>,
    /// Whether it was found in earlier parts of the line.
    found: bool,
    /// The last bytes of the line so far, as many as the search needs.
    tail: Vec<u8>,
}

impl Marker {
    pub(super) fn new(alias: &str) -> Self {
        let finder = Finder::new(&format!("|{alias}")).into_owned();
        Self { finder, found: false, tail: Vec::new() }
    }

    /// Takes a part of a line that goes on.
    pub(super) fn piece(&mut self, piece: &[u8]) {
        if !self.found {
            self.found = self.search(piece, false);
            let len = self.finder.needle().len();
            self.tail.extend_from_slice(&piece[piece.len().saturating_sub(len)..]);
            self.tail.drain(..self.tail.len().saturating_sub(len));
        }
    }

    /// Takes the last part of a line. Returns whether the line has the alias.
    pub(super) fn last_piece(&mut self, piece: &[u8]) -> bool {
        let found = self.found || self.search(piece, true);
        self.found = false;
        self.tail.clear();
        found
    }

    fn search(&self, piece: &[u8], last: bool) -> bool {
        let len = self.finder.needle().len();
        if !self.tail.is_empty() {
            let (start, rest) = piece.split_at(len.min(piece.len()));
            let joint = [&self.tail[..], start].concat();
            if self.is_in(&joint, last && rest.is_empty()) {
                return true;
            }
        }
        self.is_in(piece, last)
    }

    fn is_in(&self, text: &[u8], ends: bool) -> bool {
        let len = self.finder.needle().len();
        let mut start = 0;
        while let Some(at) = self.finder.find(&text[start..]) {
            match text.get(start + at + len) {
                None if ends => return true,
                Some(&byte) if is_space(byte) || byte == b'|' || is_non_printable(byte) => {
                    return true;
                }
                _ => start += at + 1,
            }
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_samples_across_pieces() {
        let cases: [(&[u8], bool); 9] = [
            (b"", false),
            (b"|ab", true),
            (b"0 |ab 1", true),
            (b"|abc |ab|", true),
            (b"|abc |a b", false),
            (b"|# |ab\xff", true),
            (b"|ab\x01", true),
            (b"|ab\x7f", false),
            (b"||ab", true),
        ];
        for (line, expected) in cases {
            for size in 1..=line.len().max(1) {
                let mut marker = Marker::new("ab");
                // The line before leaves nothing.
                assert!(!marker.last_piece(b"|"));
                for piece in line.chunks(size) {
                    marker.piece(piece);
                }
                assert_eq!(marker.last_piece(b""), expected, "{line:?} {size}");
                let (start, end) = line.split_at(line.len().min(size));
                marker.piece(start);
                assert_eq!(marker.last_piece(end), expected, "{line:?} {size}");
            }
        }
    }
}
