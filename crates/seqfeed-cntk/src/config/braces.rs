//! Matching braces and quotes.

use seqfeed_core::{Error, Result};

use super::text::{Text, limit};

/// The deepest nesting of braces, sections and variables. In CNTK only the stack limits it.
pub(crate) const MAX_DEPTH: usize = 200;

/// The closing brace for an opening one. Quotes count as braces.
pub(crate) fn closing_of(open: u8) -> Option<u8> {
    match open {
        b'[' => Some(b']'),
        b'{' => Some(b'}'),
        b'(' => Some(b')'),
        b'"' => Some(b'"'),
        _ => None,
    }
}

/// Whether a byte opens braces or a quote.
pub(crate) fn opens(byte: u8) -> bool {
    closing_of(byte).is_some()
}

/// The position of the brace that closes the one at `start`; `None` if no brace opens there.
///
/// # Errors
///
/// Fails if it is not closed, or if another kind of brace closes first. Braces inside quotes do not
/// count.
pub(crate) fn find_closing(text: &Text, start: usize) -> Result<Option<usize>> {
    let bytes = text.bytes();
    let Some(closing) = bytes.get(start).and_then(|&byte| closing_of(byte)) else {
        return Ok(None);
    };
    let mut open = vec![(closing, start)];
    for (at, &byte) in bytes.iter().enumerate().skip(start + 1) {
        let Some(&(expected, opened)) = open.last() else { break };
        if byte == expected {
            open.pop();
            if open.is_empty() {
                return Ok(Some(at));
            }
        } else if expected == b'"' {
        } else if matches!(byte, b']' | b'}' | b')') {
            return Err(unmatched(text, at, opened));
        } else if let Some(closing) = closing_of(byte) {
            open.push((closing, at));
            if open.len() > MAX_DEPTH {
                return Err(too_deep(text, at));
            }
        }
    }
    let (closing, opened) = open.last().copied().unwrap_or((closing, start));
    Err(unclosed(text, closing, opened))
}

fn unclosed(text: &Text, closing: u8, opened: usize) -> Error {
    let error = text.error(opened, format!("no closing {} found in parameters", closing as char));
    if closing == b'"' {
        error.with_help("a # after a blank begins a comment, inside quotes too")
    } else {
        error.with_help(format!("add {} where what begins here ends", closing as char))
    }
}

fn unmatched(text: &Text, at: usize, opened: usize) -> Error {
    let brace = |at: usize| text.bytes()[at] as char;
    let line = text.origin(opened).map_or(0, |origin| origin.line);
    let help = format!("{} closes here, but {} of line {line} is open", brace(at), brace(opened));
    text.error(at, "unmatched bracket found in parameters".into()).with_help(help)
}

fn too_deep(text: &Text, at: usize) -> Error {
    let error = limit("nested braces", MAX_DEPTH as u64 + 1, MAX_DEPTH);
    text.locate(at, error).with_help("is a closing brace missing?")
}

#[cfg(test)]
mod tests {
    use super::super::text::Origin;
    use super::*;

    fn text(string: &str) -> Text {
        let mut text = Text::default();
        for (line, string) in string.split('\n').enumerate() {
            text.push_line(string, &Origin { file: "f".into(), line: line as u64 + 1 });
            text.push_separator('\n');
        }
        text
    }

    #[test]
    fn finds_the_brace_that_closes() {
        let cases = [("[a]", Some(2)), ("[{(\"]\")}]", Some(8)), ("a[]", None), ("\"[\"", Some(2))];
        for (string, expected) in cases {
            assert_eq!(find_closing(&text(string), 0).unwrap(), expected, "{string}");
        }
        assert_eq!(find_closing(&text(""), 9).unwrap(), None);
    }

    #[test]
    fn says_what_is_open_and_where() {
        let cases = [
            ("[\n(\n", "f:2: CNTK configuration: no closing ) found in parameters"),
            ("\"a", "f:1: CNTK configuration: no closing \" found in parameters"),
            ("[\n(\n}", "f:3: CNTK configuration: unmatched bracket found in parameters"),
        ];
        for (string, expected) in cases {
            let error = find_closing(&text(string), 0).unwrap_err();
            assert!(error.help().is_some());
            assert!(error.to_string().starts_with(expected), "{error}");
        }
        let error = find_closing(&text(&"[".repeat(10_000)), 0).unwrap_err();
        let expected = "f:1: nested braces: 201 wanted, but at most 200 allowed";
        assert!(error.to_string().starts_with(expected), "{error}");
    }
}
