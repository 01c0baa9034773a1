//! Takes the examples out of the documents.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::Way::{
    self, Command, Configuration, Header, LabelFile, Line, OptionOfReading, OptionOfWriting, Other,
    Read, Rows, Script, Sentences, Specification, Write,
};
use super::table::{HTK, Row};

/// An example as it stands in a document.
pub(super) struct Example {
    pub(super) document: String,
    pub(super) way: Option<Way>,
    pub(super) text: String,
}

impl Example {
    /// Its words with single blanks.
    pub(super) fn words(&self) -> String {
        self.text.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// Whether a row of the table means it: names are compared whole, others by their first words.
    pub(super) fn is(&self, row: &Row) -> bool {
        let documents = row.0.split(' ').any(|document| self.document == document);
        let same = match (self.way, row.2) {
            (None, Read | Write | Other) => self.text == row.1,
            (Some(_), Other) => self.words().starts_with(row.1),
            (Some(way), found) if way == found => match way {
                OptionOfReading | OptionOfWriting | Specification => self.text == row.1,
                _ => self.words().starts_with(row.1),
            },
            _ => false,
        };
        documents && same
    }
}

/// Strings in quotes of a line, and what is left.
pub(super) fn quoted(line: &str) -> (Vec<&str>, String) {
    let (mut found, mut rest, mut outside) = (Vec::new(), line, String::new());
    while let Some(start) = rest.find(['"', '“', '”']) {
        outside.push_str(&rest[..start]);
        outside.push(' ');
        let open = rest[start..].chars().next().map_or(1, char::len_utf8);
        rest = &rest[start + open..];
        let Some(end) = rest.find(['"', '“', '”']) else { break };
        found.push(&rest[..end]);
        rest = &rest[end + rest[end..].chars().next().map_or(1, char::len_utf8)..];
    }
    outside.push_str(rest);
    (found, outside)
}

/// Blocks of lines: from each line that begins one on while they go on.
fn blocks(
    text: &str,
    way: Way,
    begins: impl Fn(&str) -> bool,
    ends: impl Fn(&[&str], &str) -> bool,
) -> Vec<(Way, String)> {
    let (mut found, mut block) = (Vec::new(), Vec::<&str>::new());
    for line in text.lines().chain(["", "End."]) {
        if !block.is_empty() && ends(&block, line) {
            found.push((way, block.join("\n") + "\n"));
            block.clear();
        }
        if !block.is_empty() || begins(line) {
            block.push(line);
        }
    }
    found
}

/// How deep brackets are open at the end of these lines.
fn depth(lines: &[&str]) -> i64 {
    let text = lines.concat();
    let count = |marks: &[char]| i64::try_from(text.matches(marks).count()).unwrap();
    count(&['[', '{', '(']) - count(&[']', '}', ')'])
}

/// A line of CNTK's text format.
fn is_row(line: &str) -> bool {
    line.trim_start_matches(|c: char| c.is_ascii_digit()).trim_start().starts_with('|')
}

/// The first line of C++.
fn is_code(line: &str) -> bool {
    let starts = ["class ", "void ", "std::", "{ //", "// "];
    starts.iter().any(|start| line.trim_start().starts_with(start))
}

/// A line that is neither prose nor code, told by its first word.
pub(super) fn is_line(line: &str) -> bool {
    let mut words = line.split_whitespace();
    let first = words.next().unwrap_or_default();
    first.starts_with(|c: char| c.is_ascii_lowercase() || c == '<')
        && first.is_ascii()
        && first.contains(|c: char| "_-<".contains(c) || c.is_ascii_digit())
        && first.chars().all(|c| c.is_ascii_alphanumeric() || "_-<>".contains(c))
        && words.next().is_some()
}

/// Names, options and lines in the documents of Kaldi's.
fn of_kaldi(text: &str) -> Vec<(Option<Way>, String)> {
    let mut found: Vec<(Option<Way>, String)> = Vec::new();
    let code = blocks(text, Other, is_code, |_, line| line.trim().is_empty());
    let (mut in_code, mut option) = (false, OptionOfWriting);
    let mut lines = Vec::<&str>::new();
    for line in text.lines() {
        in_code = !line.trim().is_empty() && (in_code || is_code(line));
        if line.starts_with("Valid options for rspecifiers") {
            option = OptionOfReading;
        }
        let (strings, outside) = quoted(line);
        let bullet = line.trim_start().starts_with('•');
        for (index, string) in strings.iter().enumerate() {
            let short = string.len() <= 3 && string.bytes().all(|b| b.is_ascii_lowercase());
            if bullet && index == 0 && short && !string.is_empty() {
                found.push((Some(option), (*string).to_owned()));
            } else if string.is_empty()
                || *string == "-"
                || string.starts_with('/')
                || string.contains([':', '|'])
            {
                found.push((None, (*string).to_owned()));
            }
        }
        for word in outside.split_whitespace() {
            let start = [word.find("ark"), word.find("scp")].into_iter().flatten().min();
            let Some(start) = start else { continue };
            let name = word[start..].split(|c: char| !c.is_ascii()).next().unwrap_or_default();
            let name = name.trim_end_matches(',');
            if name.split_once(':').is_some_and(|(_, rest)| !rest.is_empty())
                && !word[..start].ends_with("foo.")
            {
                found.push((None, name.to_owned()));
            }
        }
        let goes_on = !lines.is_empty() && line.trim() == "...";
        if !in_code && (is_line(line) || goes_on) {
            lines.push(line);
        } else if !lines.is_empty() {
            let way = if lines[0].trim().starts_with("some-program") { Command } else { Line };
            found.push((Some(way), lines.join("\n") + "\n"));
            lines.clear();
        }
    }
    found.extend(code.into_iter().map(|(way, text)| (Some(way), text)));
    found
}

/// Options and files in PDNN's document.
fn of_pdnn(text: &str) -> Vec<(Option<Way>, String)> {
    let mut found: Vec<(Option<Way>, String)> = Vec::new();
    let row = |line: &str| line.starts_with(|c: char| c.is_ascii_digit()) && line.contains('\t');
    let sentences = blocks(text, Sentences, row, |_, line| !row(line));
    found.extend(sentences.into_iter().map(|(way, text)| (Some(way), text)));
    let (mut fence, mut block) = (false, String::new());
    for line in text.lines() {
        let table = line.contains('\t');
        if line.starts_with("```") {
            if fence && block.starts_with('>') {
                found.push((Some(Other), std::mem::take(&mut block)));
            }
            block.clear();
            fence = !fence;
            continue;
        }
        if fence {
            let _ = writeln!(block, "{line}");
        }
        if is_line(line) && !table {
            found.push((Some(Line), format!("{line}\n")));
        }
        let (strings, _) = quoted(line);
        let cells = line.split(['\t', ' ']).filter(|_| table);
        let options = strings.into_iter().chain(cells).filter(|option| option.contains('='));
        found.extend(options.map(|option| (Some(Specification), option.to_owned())));
    }
    found
}

/// All examples of a document, each name once.
pub(super) fn examples_of(document: &str, text: &str) -> Vec<Example> {
    let found: Vec<(Option<Way>, String)> = match document {
        "000" | "001" => of_kaldi(text),
        "004" => of_pdnn(text),
        _ => {
            let begins =
                |line: &str| ["reader = ", "precision="].iter().any(|s| line.trim().starts_with(s));
            let closed = |block: &[&str], _: &str| {
                block.iter().any(|line| line.contains("reader")) && depth(block) == 0
            };
            let rows = |_: &[&str], line: &str| !is_row(line);
            let prose = |_: &[&str], line: &str| line.starts_with(|c: char| c.is_uppercase());
            let script = |line: &str| {
                line.split_once('=').is_some_and(|(id, rest)| {
                    !id.is_empty() && !id.contains(' ') && !rest.starts_with([' ', '"'])
                })
            };
            let mut all = blocks(text, Configuration, begins, closed);
            all.extend(blocks(text, Rows, is_row, rows));
            all.extend(blocks(text, LabelFile, |line| line == "#!MLF!#", prose));
            // In the document of CNTK's text format such lines, and those with brackets, are
            // its grammar.
            if document == HTK {
                all.extend(blocks(text, Script, script, |_, _| true));
            } else {
                let grammar = |line: &str| script(line) || line.starts_with('[');
                all.extend(blocks(text, Other, grammar, |_, _| true));
            }
            let struct_of = |line: &str| line.starts_with("struct ");
            all.extend(blocks(text, Header, struct_of, |block, _| block.last() == Some(&"}")));
            all.into_iter().map(|(way, text)| (Some(way), text)).collect()
        }
    };
    let mut seen = BTreeSet::new();
    let once =
        found.into_iter().filter(|(way, text)| seen.insert((format!("{way:?}"), text.clone())));
    once.map(|(way, text)| Example { document: document.to_owned(), way, text }).collect()
}
