//! Lines of comments and documentation strings are at most 100 columns wide: rustfmt leaves them
//! as they are.

use std::fs;
use std::process::Command;

use anyhow::{Result, bail};

use crate::root;

const WIDTH: usize = 100;

/// Fails if a comment of Rust, Python or TOML that git knows is too wide.
pub(crate) fn run() -> Result<()> {
    let mut list = Command::new("git");
    list.args(["ls-files", "-z", "--cached", "--others", "--exclude-standard", "--"]);
    let files = list.args(["*.rs", "*.py", "*.pyi", "*.toml"]).current_dir(root()).output()?;
    if !files.status.success() {
        bail!("{list:?} failed: {}", String::from_utf8_lossy(&files.stderr));
    }
    let mut wide = Vec::new();
    for name in String::from_utf8(files.stdout)?.split_terminator('\0') {
        // What git knows may have been removed.
        let Ok(text) = fs::read_to_string(root().join(name)) else { continue };
        let lines = if name.ends_with(".rs") { wide_in_rust(&text) } else { wide_in_python(&text) };
        wide.extend(lines.into_iter().map(|line| format!("{name}:{line}")));
    }
    if wide.is_empty() {
        return Ok(());
    }
    bail!("comments are wider than {WIDTH} columns: break these lines:\n  {}", wide.join("\n  "))
}

/// The numbers of the lines of a Rust file with comments that are too wide.
fn wide_in_rust(text: &str) -> Vec<usize> {
    let is_comment = |line: &&str| comment(line, "//").is_some();
    text.lines()
        .zip(1..)
        .filter(|(line, _)| is_comment(line) && is_wide(line))
        .map(|(_, n)| n)
        .collect()
}

/// The same of Python or TOML, with documentation strings: those whose quotes begin a line.
fn wide_in_python(text: &str) -> Vec<usize> {
    enum Place {
        Code,
        Documentation,
        Text,
    }
    let mut place = Place::Code;
    let mut wide = Vec::new();
    for (line, number) in text.lines().zip(1..) {
        let begins = line.trim_start().trim_start_matches(['r', 'u']).starts_with("\"\"\"");
        let turns = line.matches("\"\"\"").count() % 2 == 1;
        let in_documentation = match place {
            Place::Code => begins || comment(line, "#").is_some(),
            Place::Documentation => true,
            Place::Text => false,
        };
        if in_documentation && is_wide(line) {
            wide.push(number);
        }
        place = match place {
            place if !turns => place,
            Place::Code if begins => Place::Documentation,
            Place::Code => Place::Text,
            Place::Documentation | Place::Text => Place::Code,
        };
    }
    wide
}

/// The comment of a line: alone in it, or behind code, where no string is open.
fn comment<'a>(line: &'a str, mark: &str) -> Option<&'a str> {
    let behind_code = format!(" {mark} ");
    let start = match line.trim_start().strip_prefix(mark) {
        Some(_) => line.len() - line.trim_start().len(),
        None => line
            .match_indices(&behind_code)
            .map(|(at, _)| at + 1)
            .find(|&at| line[..at].matches('"').count().is_multiple_of(2))?,
    };
    Some(&line[start..])
}

/// Whether a line is too wide and can be broken: rows of tables cannot, nor words such as
/// addresses, nor what is said to mypy.
fn is_wide(line: &str) -> bool {
    let text = line.trim_start().trim_start_matches(['/', '!', '#', '-', '*', '"']).trim_start();
    let before = line.chars().count() - text.chars().count();
    let stays = text.starts_with('|') || line.contains("# type: ignore");
    let first_word = text.split_whitespace().next().unwrap_or_default().chars().count();
    line.chars().count() > WIDTH && !stays && before + first_word <= WIDTH
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wide_comments_are_found() {
        let words = "word ".repeat(20);
        let rust = [
            format!("// {words}"),
            format!("    /// {words}"),
            format!("let x = 1; // {words}"),
            format!("//! | {words} |"),
            format!("// https://{}", "x".repeat(100)),
            format!("let x = \"http // {words}\";"),
            format!("let x = \"{words}{words}\";"),
            "// short".to_owned(),
            format!("// {}", "é".repeat(97)),
        ];
        assert_eq!(wide_in_rust(&rust.join("\n")), [1, 2, 3]);
        let python = [
            format!("\"\"\"{words}"),
            format!("{words}{words}\"\"\""),
            format!("text = \"\"\"{words}"),
            format!("# {words}"),
            "\"\"\"".to_owned(),
            format!("    # {words}"),
            format!("    r\"\"\"{words}\"\"\""),
            format!("call({words})"),
            format!("call()  # {words}"),
            format!("call({words})  # type: ignore[misc]"),
        ];
        assert_eq!(wide_in_python(&python.join("\n")), [1, 2, 6, 7, 9]);
    }
}
