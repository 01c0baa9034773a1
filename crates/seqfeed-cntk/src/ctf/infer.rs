//! Finds the inputs of a file, if nobody declares them.

use std::collections::HashMap;

use memchr::{memchr, memchr2};
use seqfeed_core::{Error, Problem, Result};

use super::CTF;

/// An input, found from its samples.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundInput {
    /// The name before its samples.
    pub name: String,
    /// Whether its values have indices.
    pub sparse: bool,
    /// Number of values of the longest dense sample, or the largest index plus 1.
    pub dim: usize,
}

/// Finds the inputs of a file, which comes in parts.
///
/// An input is sparse if its first value has an index. Malformed samples are skipped; the parser
/// reports them.
///
/// ```
/// use seqfeed_cntk::ctf::InputFinder;
///
/// let mut finder = InputFinder::new();
/// finder.push(b"1 |x 0.5 1 |y 3:1\n1 |x 1 1 |# end |y 7:1");
/// let inputs = finder.finish()?;
/// assert_eq!((inputs[0].name.as_str(), inputs[0].sparse, inputs[0].dim), ("x", false, 2));
/// assert_eq!((inputs[1].name.as_str(), inputs[1].sparse, inputs[1].dim), ("y", true, 8));
/// # Ok::<(), seqfeed_core::Error>(())
/// ```
#[derive(Debug, Default)]
pub struct InputFinder {
    inputs: Vec<Seen>,
    /// Their numbers by name.
    numbers: HashMap<Vec<u8>, usize>,
    /// The probable next input: samples have the same order in most lines.
    next: usize,
    /// The part of a sample at the end of the last push.
    rest: Vec<u8>,
}

#[derive(Debug)]
struct Seen {
    name: Vec<u8>,
    /// `None` until there is a value.
    sparse: Option<bool>,
    dim: usize,
}

/// The length up to which a sample is looked at.
const MOST: usize = 1 << 28;

impl InputFinder {
    /// No inputs yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes the next part of the file.
    pub fn push(&mut self, piece: &[u8]) {
        // A sample ends at the next pipe or at the end of the line.
        let mut piece = piece;
        if !self.rest.is_empty() {
            let end = memchr2(b'|', b'\n', piece).unwrap_or(piece.len());
            if self.rest.len() + end < MOST {
                self.rest.extend_from_slice(&piece[..end]);
            }
            if end == piece.len() {
                return;
            }
            let rest = std::mem::take(&mut self.rest);
            self.see(&rest[1..]);
            piece = &piece[end..];
        }
        while let Some(start) = memchr(b'|', piece) {
            let sample = &piece[start + 1..];
            let Some(end) = memchr2(b'|', b'\n', sample) else {
                self.rest.extend_from_slice(&piece[start..]);
                return;
            };
            self.see(&sample[..end]);
            piece = &sample[end..];
        }
    }

    /// A sample without its pipe.
    fn see(&mut self, sample: &[u8]) {
        let mut words = sample.split(u8::is_ascii_whitespace).filter(|w| !w.is_empty());
        if sample.first().is_none_or(|&byte| byte == b'#' || byte.is_ascii_whitespace()) {
            return;
        }
        let Some(name) = words.next() else { return };
        let number = match self.inputs.get(self.next) {
            Some(input) if input.name == name => self.next,
            _ => match self.numbers.get(name) {
                Some(&number) => number,
                None => {
                    self.inputs.push(Seen { name: name.to_vec(), sparse: None, dim: 0 });
                    self.numbers.insert(name.to_vec(), self.inputs.len() - 1);
                    self.inputs.len() - 1
                }
            },
        };
        self.next = if number + 1 < self.inputs.len() { number + 1 } else { 0 };
        let input = &mut self.inputs[number];
        let mut values = 0;
        for word in words {
            values += 1;
            match input.sparse {
                Some(false) => {}
                _ => {
                    let colon = memchr(b':', word);
                    input.sparse.get_or_insert(colon.is_some());
                    let index = colon.and_then(|colon| std::str::from_utf8(&word[..colon]).ok());
                    if let Some(index) = index.and_then(|index| index.parse::<usize>().ok()) {
                        input.dim = input.dim.max(index.saturating_add(1));
                    }
                }
            }
        }
        if input.sparse != Some(true) {
            input.dim = input.dim.max(values);
        }
    }

    /// The inputs, in the order in which the file names them.
    ///
    /// # Errors
    ///
    /// Fails if there is none, if a name is not UTF-8, or if an input never has a value.
    pub fn finish(mut self) -> Result<Vec<FoundInput>> {
        let rest = std::mem::take(&mut self.rest);
        if rest.len() > 1 {
            self.see(&rest[1..]);
        }
        let help = "name the inputs: in a reader's section, or in the description";
        let wrong = |problem: Problem| Err(Error::format(CTF, problem).with_help(help));
        if self.inputs.is_empty() {
            let expected = "samples (`|name values`)".into();
            return wrong(Problem::Unexpected { expected, found: Vec::new() });
        }
        let mut found = Vec::new();
        for Seen { name, sparse, dim } in self.inputs {
            let name = match String::from_utf8(name) {
                Ok(name) => name,
                Err(error) => {
                    let found = error.into_bytes();
                    let expected = "an input's name in UTF-8".into();
                    return wrong(Problem::Unexpected { expected, found });
                }
            };
            if dim == 0 {
                let what = format!("input {name} never has a value, so its dim is unknown");
                return wrong(Problem::Unsupported(what.into()));
            }
            found.push(FoundInput { name, sparse: sparse == Some(true), dim });
        }
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &[u8] =
        b"0 |a 1 2 3\t|b |# |c not an input\n|a 1 |bb 5:1.5 2:1\r\n|b 1e3\n\n|| |\n|bb";

    fn find(pieces: &[&[u8]]) -> Vec<(String, bool, usize)> {
        let mut finder = InputFinder::new();
        pieces.iter().for_each(|piece| finder.push(piece));
        let found = finder.finish().unwrap();
        found.into_iter().map(|input| (input.name, input.sparse, input.dim)).collect()
    }

    #[test]
    fn pieces_of_any_size_show_the_same() {
        let expected = [("a", false, 3), ("b", false, 1), ("c", false, 3), ("bb", true, 6)];
        let expected = expected.map(|(name, sparse, dim)| (name.to_owned(), sparse, dim));
        assert_eq!(find(&[TEXT]), expected);
        for at in 0..TEXT.len() {
            assert_eq!(find(&[&TEXT[..at], &TEXT[at..]]), expected, "{at}");
        }
        assert_eq!(find(&TEXT.chunks(1).collect::<Vec<_>>()), expected);
    }

    #[test]
    fn what_cannot_be_known_is_said() {
        for (text, message) in [
            (&b""[..], "samples (`|name values`)"),
            (b"1 2 3\n", "samples (`|name values`)"),
            (b"|a\n|a\n", "never has a value"),
            (b"|\xff 1\n", "UTF-8"),
        ] {
            let mut finder = InputFinder::new();
            finder.push(text);
            let error = finder.finish().unwrap_err().to_string();
            assert!(error.contains(message), "{error}");
        }
    }
}
