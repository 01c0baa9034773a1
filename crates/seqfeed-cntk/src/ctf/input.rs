//! The inputs of a file, which map samples to streams.

use std::collections::HashSet;

use seqfeed_core::{Error, ErrorKind, Result};

use super::is_non_printable;

/// The most values of a dense sample: each takes memory, even if the file leaves it out.
const MOST_DENSE: u32 = 1 << 24;

/// An input: a stream of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CtfInput {
    /// The name of the stream.
    pub name: String,
    /// The name in the file. CNTK's default is the name of the stream.
    pub alias: String,
    /// The number of values of a sample. For sparse streams, indices must be below it.
    pub dim: u32,
    /// Whether its samples are pairs of index and value.
    pub sparse: bool,
    /// Whether the length of a sequence counts samples of this input (`definesMBSize`).
    pub defines_mb_size: bool,
}

impl CtfInput {
    /// A dense input whose alias is its name.
    pub fn dense(name: impl Into<String>, dim: u32) -> Self {
        let name = name.into();
        Self { alias: name.clone(), name, dim, sparse: false, defines_mb_size: false }
    }

    /// A sparse input whose alias is its name.
    pub fn sparse(name: impl Into<String>, dim: u32) -> Self {
        Self { sparse: true, ..Self::dense(name, dim) }
    }

    /// The input that defines the length of sequences, if one does.
    ///
    /// # Errors
    ///
    /// Fails with a usage error if several do.
    pub fn main(inputs: &[Self]) -> Result<Option<&Self>> {
        let main: Vec<&Self> = inputs.iter().filter(|input| input.defines_mb_size).collect();
        if main.len() > 1 {
            let names: Vec<&str> = main.iter().map(|input| input.name.as_str()).collect();
            return Err(Error::usage(format!(
                "Only a single stream is allowed to define the minibatch size, but {} found: {}.",
                main.len(),
                names.join(", "),
            ))
            .with_help("set definesMBSize for one input only"));
        }
        Ok(main.first().copied())
    }

    /// Checks that inputs can be in one file.
    pub(super) fn check(inputs: &[Self]) -> Result<()> {
        if inputs.is_empty() {
            return Err(Error::usage("a CTF file needs at least one input"));
        }
        Self::main(inputs)?;
        let mut aliases = HashSet::new();
        for input in inputs {
            if !aliases.insert(&input.alias) {
                return Err(Error::usage(format!(
                    "the alias '{}' stands for two inputs of one file",
                    input.alias
                )));
            }
            let alias = input.alias.as_bytes();
            let ends = |&byte: &u8| byte == b' ' || byte == b'|' || is_non_printable(byte);
            if alias.is_empty() || alias[0] == b'#' || alias.iter().any(ends) {
                return Err(Error::usage(format!(
                    "the alias '{}' of input '{}' cannot stand in a CTF file",
                    input.alias, input.name
                ))
                .with_help("use ASCII without blanks and `|`, and no `#` at the start"));
            }
            if !input.sparse && input.dim > MOST_DENSE {
                let (wanted, limit) = (input.dim.into(), MOST_DENSE.into());
                let kind = ErrorKind::Limit { what: "values of a dense sample", wanted, limit };
                return Err(Error::new(kind).with_help(format!(
                    "is the dim of input '{}' meant? where most values are 0, its format is sparse",
                    input.name
                )));
            }
            if input.dim > i32::MAX as u32 {
                return Err(Error::usage(format!(
                    "the dimension of input '{}' is {}, but can be 2147483647 at most",
                    input.name, input.dim
                )));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inputs_must_fit_together() {
        let main = |name: &str| CtfInput { defines_mb_size: true, ..CtfInput::dense(name, 1) };
        let large = CtfInput::sparse("a", 1 << 31);
        let cases: [(&[CtfInput], &str); 6] = [
            (
                &[CtfInput::dense("#a", 1)],
                "the alias '#a' of input '#a' cannot stand in a CTF file (use ASCII without blanks \
                 and `|`, and no `#` at the start)",
            ),
            (&[], "a CTF file needs at least one input"),
            (
                &[main("b"), CtfInput::dense("c", 1), main("a")],
                "Only a single stream is allowed to define the minibatch size, but 2 found: b, a. \
                 (set definesMBSize for one input only)",
            ),
            (
                &[CtfInput::dense("a", 1), CtfInput::sparse("a", 1)],
                "the alias 'a' stands for two inputs of one file",
            ),
            (
                &[CtfInput::dense("a", i32::MAX as u32)],
                "values of a dense sample: 2147483647 wanted, but at most 16777216 allowed (is the dim \
                 of input 'a' meant? where most values are 0, its format is sparse)",
            ),
            (&[large], "the dimension of input 'a' is 2147483648, but can be 2147483647 at most"),
        ];
        for (inputs, message) in cases {
            assert_eq!(CtfInput::check(inputs).unwrap_err().to_string(), message);
        }
        assert!(CtfInput::check(&[main("a"), CtfInput::dense("A", 0)]).is_ok());
    }
}
