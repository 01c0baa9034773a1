//! Writes entries of scripts.

use seqfeed_core::{Error, Result};

use super::{Script, ScriptOptions, Segment, Style, htk};

/// Appends an entry and a newline to the text of a script. `logical` is left out if it is the name
/// of the file and the style allows it. Quotes are added if needed.
///
/// # Errors
///
/// Fails if the entry would not read back unchanged. For instance, there is a `=` in the logical
/// name; or (in CNTK's style) a `...` before that of the file; or a name needs quotes and contains
/// both kinds. `out` is then unchanged.
pub fn write_entry(
    logical: &[u8],
    physical: &[u8],
    segment: Option<Segment>,
    style: Style,
    out: &mut Vec<u8>,
) -> Result<()> {
    let mut word = Vec::with_capacity(logical.len() + physical.len() + 24);
    if logical != physical || style == Style::Cntk {
        word.extend_from_slice(logical);
        word.push(b'=');
    }
    word.extend_from_slice(physical);
    if let Some(segment) = segment {
        let last = segment.end().map_or(-1, |end| i64::from(end) - 1);
        word.extend_from_slice(format!("[{},{last}]", segment.first()).as_bytes());
    }
    let quote = match style {
        Style::Htk if !htk::is_bare(&word) => {
            let unused = [b'"', b'\''].into_iter().find(|quote| !word.contains(quote));
            Some(unused.ok_or_else(|| refuse(&word))?)
        }
        _ => None,
    };
    let line: Vec<u8> = quote.into_iter().chain(word).chain(quote).chain([b'\n']).collect();

    let options = ScriptOptions { style, ..ScriptOptions::default() };
    // CNTK replaces the first `...` of a line. It must be the one of the file.
    let elsewhere = style == Style::Cntk && has_dots(logical) && has_dots(physical);
    let same = !elsewhere
        && Script::parse(line.clone(), &options).is_ok_and(|script| {
            let entry = script.get(0).filter(|_| script.len() == 1);
            entry.is_some_and(|entry| {
                *entry.logical() == *logical
                    && *entry.physical() == *physical
                    && entry.segment() == segment
            })
        });
    if !same {
        return Err(refuse(&line));
    }
    out.extend_from_slice(&line);
    Ok(())
}

fn has_dots(name: &[u8]) -> bool {
    memchr::memmem::find(name, b"...").is_some()
}

fn refuse(line: &[u8]) -> Error {
    Error::usage(format!("a script cannot say this: {}", line.escape_ascii()))
        .with_help("names with `=`, line ends or quotes, empty ones, and such as have `...` in them, have no form in \
                    scripts")
}
