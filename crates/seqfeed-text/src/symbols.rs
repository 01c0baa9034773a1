//! Reads tables of symbols.

use std::ffi::OsStr;

use seqfeed_core::{Error, Key, Problem, Result, SymbolTable};
use seqfeed_io::{LineLimit, Opener};
use serde_json::Value as Json;

const FORMAT: &str = "table of symbols";

/// Reads a table of symbols from a file. See [`parse_symbols`].
///
/// # Errors
///
/// Fails if the file cannot be read, or is no such table.
pub fn read_symbols(name: &OsStr, opener: &Opener) -> Result<SymbolTable> {
    let location = opener.place(name);
    // JSON may stand in one line.
    let text = opener.read_list(&location, LineLimit::of_words)?;
    parse_symbols(&text).map_err(|error| error.in_file(location.to_string()))
}

/// Parses a table of symbols: lines with a symbol and its number (`words.txt`), lines with a symbol
/// each, counted from 0, or a list or an object of JSON.
///
/// ```
/// let table = seqfeed_text::parse_symbols(b"<eps> 0\nsix 2\n")?;
/// assert_eq!(table.number(b"six"), Some(2));
/// let table = seqfeed_text::parse_symbols(b"<blank>\nsix\n")?;
/// assert_eq!(table.number(b"six"), Some(1));
/// # Ok::<(), seqfeed_core::Error>(())
/// ```
///
/// # Errors
///
/// Fails if it is none of these, if a symbol stands twice, or if a number is negative or too large.
pub fn parse_symbols(text: &[u8]) -> Result<SymbolTable> {
    let table = match text.trim_ascii_start().first() {
        Some(b'{' | b'[') if serde_json::from_slice::<Json>(text).is_ok() => of_json(text)?,
        _ => of_lines(text)?,
    };
    if table.is_empty() {
        return Err(Error::format(FORMAT, Problem::UnexpectedEnd { inside: "it", missing: None })
            .with_help("give a file with a symbol in each line, and its number behind it"));
    }
    Ok(table)
}

fn of_lines(text: &[u8]) -> Result<SymbolTable> {
    let mut table = SymbolTable::default();
    let mut numbered = None;
    let mut lines: Vec<&[u8]> = text.split(|&byte| byte == b'\n').collect();
    // The last line has an end.
    lines.pop_if(|line| line.is_empty());
    for (at, line) in lines.into_iter().enumerate() {
        let place = |error: Error| error.at_line(at as u64 + 1);
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let mut words = line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
        let fields = (words.next(), words.next(), words.next());
        let number_of = |word: &[u8]| std::str::from_utf8(word).ok()?.parse::<i64>().ok();
        let has_number = matches!(fields, (Some(_), Some(word), None) if number_of(word).is_some());
        let (symbol, number) = if *numbered.get_or_insert(has_number) {
            match fields {
                (Some(symbol), Some(word), None) => {
                    let wrong =
                        || Problem::InvalidNumber { what: "of a symbol", found: word.into() };
                    let wrong = || place(Error::format(FORMAT, wrong()));
                    (symbol, checked(number_of(word).ok_or_else(wrong)?).map_err(place)?)
                }
                (None, ..) => continue,
                _ => {
                    let expected = "a symbol and its number".into();
                    let found = line[..line.len().min(32)].to_vec();
                    let problem = Problem::Unexpected { expected, found };
                    return Err(place(Error::format(FORMAT, problem)));
                }
            }
        } else {
            // A blank can be a symbol itself.
            let symbol = fields.0.filter(|_| fields.1.is_none()).unwrap_or(line);
            (symbol, checked(at as i64).map_err(place)?)
        };
        if !table.insert(symbol, number) {
            return Err(place(twice(symbol)));
        }
    }
    Ok(table)
}

fn of_json(text: &[u8]) -> Result<SymbolTable> {
    let wrong = |what: &'static str| Error::format(FORMAT, Problem::Unsupported(what.into()));
    let mut table = SymbolTable::default();
    match serde_json::from_slice(text) {
        Ok(Json::Array(symbols)) => {
            for (number, symbol) in (0..).zip(symbols) {
                let Json::String(symbol) = symbol else {
                    return Err(wrong("a list of JSON must hold texts only"));
                };
                if !table.insert(symbol.as_bytes(), checked(number)?) {
                    return Err(twice(symbol.as_bytes()));
                }
            }
        }
        Ok(Json::Object(symbols)) => {
            for (symbol, number) in symbols {
                let Some(number) = number.as_i64() else {
                    return Err(wrong("an object of JSON must give each symbol a number"));
                };
                table.insert(symbol.as_bytes(), checked(number)?);
            }
        }
        _ => return Err(wrong("it must be a list or an object of JSON")),
    }
    Ok(table)
}

fn checked(number: i64) -> Result<i32> {
    i32::try_from(number).ok().filter(|number| *number >= 0).ok_or_else(|| {
        let allowed = "from 0 to 2147483647".into();
        let problem =
            Problem::OutOfRange { what: "the number of a symbol", found: number, allowed };
        Error::format(FORMAT, problem)
    })
}

fn twice(symbol: &[u8]) -> Error {
    let what = format!("the symbol `{}` stands twice", Key(symbol));
    Error::format(FORMAT, Problem::Unsupported(what.into()))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn tables_have_four_forms() {
        let cases: [(&[u8], &str); 6] = [
            (b"<eps> 0\nb\t7\r\n\na 3\n", "<eps> 0, a 3, b 7"),
            (b"<blank>\n \nb\n", "<blank> 0,   1, b 2"),
            (b"a b\n7\n", "a b 0, 7 1"),
            (br#"["a", "b c"]"#, "a 0, b c 1"),
            (br#"{"a": 4, "b": 0}"#, "b 0, a 4"),
            (b"{\n[\n", "{ 0, [ 1"),
        ];
        for (text, expected) in cases {
            let table = parse_symbols(text).unwrap();
            let shown: Vec<String> =
                table.iter().map(|(number, name)| format!("{} {number}", Key(name))).collect();
            assert_eq!(shown.join(", "), expected, "{}", text.escape_ascii());
        }
    }

    #[test]
    fn mistakes_have_their_lines() {
        let cases: [(&[u8], &str, &str); 8] = [
            (b"a 0\nb\n", "line 2", "a symbol and its number"),
            (b"a 0\nb x\n", "line 2", "of a symbol"),
            (b"a 0\nb -1\n", "line 2", "from 0 to"),
            (b"a 0\nb 2147483648\n", "line 2", "from 0 to"),
            (b"a\nb\na\n", "line 3", "`a` stands twice"),
            (b"", "", ""),
            (br#"["a", 1]"#, "", "texts only"),
            (br#"{"a": "b"}"#, "", "a number"),
        ];
        for (text, place, message) in cases {
            let error = parse_symbols(text).unwrap_err();
            let found = error.place().to_string();
            assert!(found == place && error.message().contains(message), "{error}");
        }
    }
}
