//! Splits a text into records, and records into names and values.
//!
//! CNTK has one loop for files, sections and arrays. This one follows it record by record, with its
//! oddities: if a whole record is in braces, the loop goes on inside them. A character of ``
//! `~!@$%^&*_-+|:;,?. `` right after that brace becomes the separator up to its end. A record ends
//! after the first brace that it contains.

use std::collections::BTreeMap;
use std::ops::Range;

use seqfeed_core::Result;

use super::braces::{find_closing, opens};
use super::text::{Text, limit, trim};

/// The most elements of an array, with `value*count` expanded.
const MAX_ELEMENTS: usize = 1 << 16;

/// The value of a name in a section, not yet parsed.
#[derive(Clone, Debug)]
pub(crate) struct Assignment {
    /// As first written. Case does not matter.
    pub(crate) name: String,
    pub(crate) value: Text,
}

/// The names of a section, in lower case.
pub(crate) type Assignments = BTreeMap<String, Assignment>;

/// Parses the text of a section, with or without its braces.
pub(crate) fn assignments(text: &Text) -> Result<Assignments> {
    let mut section = Assignments::new();
    records(text, b';', |range| assignment(text, range, &mut section))?;
    Ok(section)
}

/// Parses the text of an array, with or without its braces.
pub(crate) fn elements(text: &Text) -> Result<Vec<Text>> {
    let mut array = Vec::new();
    records(text, b':', |range| {
        element(text, range.clone(), &mut array)?;
        Ok(range.end)
    })?;
    Ok(array)
}

/// Finds the records. `record` gets each one and returns its end.
fn records(
    text: &Text,
    separator: u8,
    mut record: impl FnMut(Range<usize>) -> Result<usize>,
) -> Result<()> {
    let bytes = text.bytes();
    let mut custom = separator;
    // The end of the braces that the loop is in.
    let mut inside: Option<usize> = None;
    let mut position = 0;
    loop {
        let separates = |byte: u8| matches!(byte, b',' | b'\r' | b'\n') || byte == custom;
        let Some(start) = find(bytes, position, |byte| !separates(byte)) else { break };
        let Some(mut start) = find(bytes, start, |byte| !matches!(byte, b' ' | b'\t')) else {
            break;
        };
        let limit = inside.unwrap_or(bytes.len());
        let mut end;
        let mut quoted = false;
        if let Some(closing) = find_closing(text, start)? {
            if inside.is_none() {
                start += 1;
                if let Some(found) = custom_separator(&bytes[start..]) {
                    custom = found;
                    start += 1;
                }
                inside = Some(closing);
                position = start;
                continue;
            }
            quoted = bytes[closing] == b'"';
            start += usize::from(quoted);
            end = if quoted { closing } else { closing + 1 };
        } else {
            end = match find(bytes, start, |byte| separates(byte) || opens(byte)) {
                Some(at) => find_closing(text, at)?.map_or(at, |closing| closing + 1),
                None => limit,
            };
            end = end.min(limit);
        }
        if end > start {
            end = record(start..end)?;
        }
        if end == limit {
            end += 1;
            inside = None;
            custom = separator;
        }
        position = end + usize::from(quoted);
    }
    Ok(())
}

/// The separator at the beginning of a brace's contents. The beginning of a path does not count.
fn custom_separator(inside: &[u8]) -> Option<u8> {
    let &first = inside.first()?;
    let is_path = [&b".."[..], b".\\", b"./", b"\\\\"].iter().any(|path| inside.starts_with(path));
    (b"`~!@$%^&*_-+|:;,?.".contains(&first) && !is_path).then_some(first)
}

/// Adds one record to a section. Returns its end.
fn assignment(text: &Text, range: Range<usize>, section: &mut Assignments) -> Result<usize> {
    let bytes = text.bytes();
    let name_end = find(bytes, range.start, |byte| byte == b'=' || opens(byte))
        .filter(|&name_end| name_end < range.end);
    let Some(name_end) = name_end else {
        let name = trim(bytes, range.clone());
        let mut value = Text::default();
        value.push_string("true", text.origin(name.start));
        insert(section, text, name, value);
        return Ok(range.end);
    };
    let name = trim(bytes, range.start..name_end);
    let start = name_end + usize::from(bytes[name_end] == b'=');
    let start = find(bytes, start, |byte| !matches!(byte, b' ' | b'\t')).unwrap_or(bytes.len());
    if let Some(closing) = find_closing(text, start)? {
        let value =
            if bytes[start] == b'"' { start + 1..closing } else { trim(bytes, start..closing + 1) };
        insert(section, text, name, text.part(value));
        return Ok(closing + 1);
    }
    if start >= range.end {
        let shown = text.as_str().get(name.clone()).unwrap_or_default();
        return Err(text
            .error(name.start, format!("ParseValue: No value given for '{shown}'."))
            .with_help(format!("write {shown}=\"\" for an empty text, or remove the line")));
    }
    let value = trim(bytes, start..range.end);
    insert(section, text, name, text.part(value));
    Ok(range.end)
}

/// A later value replaces an earlier one. A value in `[...]` is appended to it.
fn insert(section: &mut Assignments, text: &Text, name: Range<usize>, value: Text) {
    let name = text.as_str().get(name).unwrap_or_default();
    if name.is_empty() {
        return;
    }
    match section.get_mut(&name.to_ascii_lowercase()) {
        Some(known) if !known.value.is_empty() && value.as_str().starts_with('[') => {
            known.value.push_separator(' ');
            known.value.push_part(&value, 0..value.len());
        }
        Some(known) => known.value = value,
        None => {
            let assignment = Assignment { name: name.to_owned(), value };
            section.insert(name.to_ascii_lowercase(), assignment);
        }
    }
}

/// Adds one record, `value` or `value*count`, to an array.
fn element(text: &Text, range: Range<usize>, array: &mut Vec<Text>) -> Result<()> {
    let bytes = text.bytes();
    let range = trim(bytes, range);
    if range.is_empty() {
        return Ok(());
    }
    let star = find(bytes, range.start, |byte| byte == b'*')
        .filter(|&star| star < range.end && !opens(bytes[range.start]));
    let Some(star) = star else {
        array.push(text.part(range));
        return Ok(());
    };
    let count = &text.as_str()[trim(bytes, star + 1..range.end)];
    let Ok(count) = count.trim_start().parse::<i32>() else {
        let message = format!("ConfigValue (long): invalid input string '{count}'");
        return Err(text.error(star, message).with_help("a whole number must follow the *"));
    };
    let count = usize::try_from(count).unwrap_or(0);
    if array.len().saturating_add(count) > MAX_ELEMENTS {
        let error = limit("elements of an array", count as u64, MAX_ELEMENTS);
        return Err(text.locate(star, error).with_help("a smaller number must follow the *"));
    }
    let value = text.part(trim(bytes, range.start..star));
    array.extend(std::iter::repeat_n(value, count));
    Ok(())
}

/// The first wanted byte from `start` on.
fn find(bytes: &[u8], start: usize, wanted: impl Fn(u8) -> bool) -> Option<usize> {
    let found = bytes.get(start..)?.iter().position(|&byte| wanted(byte))?;
    Some(start + found)
}

#[cfg(test)]
mod tests {
    use super::super::text::Origin;
    use super::*;

    fn text(string: &str) -> Text {
        let mut text = Text::default();
        text.push_line(string, &Origin { file: "f".into(), line: 1 });
        text
    }

    fn section(string: &str) -> Vec<(String, String)> {
        let section = assignments(&text(string)).unwrap();
        section.into_values().map(|a| (a.name, a.value.as_str().to_owned())).collect()
    }

    #[test]
    fn reads_records_as_cntk_does() {
        let cases: [(&str, &[(&str, &str)]); 12] = [
            ("b=1;a=2", &[("a", "2"), ("b", "1")]),
            ("flag\r\n", &[("flag", "true")]),
            ("A=1;a=2", &[("A", "2")]),
            ("f=[a]g={b}", &[("f", "[a]"), ("g", "{b}")]),
            ("s=[a];s=[b];s={c}", &[("s", "{c}")]),
            ("s=[a];s=[b]", &[("s", "[a] [b]")]),
            ("s [a]", &[("s", "[a]")]),
            ("[- a=1;2 - b=3]c=4", &[("a", "1;2"), ("b", "3"), ("c", "4")]),
            ("f(x) = x + 1", &[("f", "(x)")]),
            ("a=\" x \"", &[("a", " x ")]),
            ("a=\"\"", &[("a", "")]),
            ("[../a]", &[("../a", "true")]),
        ];
        for (string, expected) in cases {
            let expected: Vec<_> =
                expected.iter().map(|&(a, b)| (a.to_owned(), b.to_owned())).collect();
            assert_eq!(section(string), expected, "{string}");
        }
    }

    #[test]
    fn names_what_has_no_value() {
        for string in ["a=", "a= ;", "[a=]", "a=\nb=1"] {
            let error = assignments(&text(string)).unwrap_err();
            assert_eq!(
                error.message(),
                "CNTK configuration: ParseValue: No value given for 'a'.",
                "{string}"
            );
        }
    }

    #[test]
    fn reads_arrays() {
        let cases: [(&str, &[&str]); 7] = [
            ("1:2", &["1", "2"]),
            ("( a : b )", &["a", "b"]),
            ("0.1*3:0.2", &["0.1", "0.1", "0.1", "0.2"]),
            ("(;a:b;c:d)", &["a:b", "c:d"]),
            ("([a*2]:{b})", &["[a*2]", "{b}"]),
            ("x*0:y", &["y"]),
            ("()", &[]),
        ];
        for (string, expected) in cases {
            let found = elements(&text(string)).unwrap();
            assert_eq!(found.iter().map(Text::as_str).collect::<Vec<_>>(), expected, "{string}");
        }
        for string in ["a*", "a*b", "a*2000000000"] {
            assert!(elements(&text(string)).is_err(), "{string}");
        }
    }
}
