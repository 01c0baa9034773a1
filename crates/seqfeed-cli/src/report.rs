//! Output for people: errors, tables, numbers. Only this file prints to standard error.

use std::fmt;
use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;

use seqfeed::{Error, Position, PrintableLines};

const ERROR: (&str, &str) = ("error", "1;31");

/// Prints to standard error, with a coloured mark in front. Control characters of data are escaped.
/// If this fails (a full disk, no reader), nobody can be told; the exit code remains.
fn say(before: &str, (mark, code): (&str, &str), text: impl fmt::Display) {
    let mark = if mark.is_empty() { String::new() } else { paint(mark, code) };
    let text = format!("{before}{mark}{}", PrintableLines(text));
    let _ = io::stderr().write_all(text.as_bytes());
}

/// Prints an error. Returns the exit code: 0 if only the reader of a pipe has gone, 2 for wrong
/// usage, 1 otherwise.
pub(crate) fn failure(error: &anyhow::Error) -> ExitCode {
    let broken_pipe = |cause: &(dyn std::error::Error + 'static)| {
        cause.downcast_ref::<io::Error>().is_some_and(|e| e.kind() == io::ErrorKind::BrokenPipe)
    };
    if error.chain().any(broken_pipe) {
        return ExitCode::SUCCESS;
    }
    let Some(known) = error.downcast_ref::<Error>() else {
        say("", ERROR, format_args!(": {error:#}\n"));
        return ExitCode::FAILURE;
    };
    say("", ERROR, format_args!(": {}\n", known.message()));
    let place = known.place().to_string();
    if !place.is_empty() {
        say("  ", ("-->", "1;34"), format_args!(" {place}\n"));
    }
    if let (Some(quote), Some(line)) = (known.quote(), line_of(known)) {
        let (number, text) = (line.to_string(), &quote.text);
        say(" ", (&number, "1;34"), " ");
        say("", ("|", "1;34"), format_args!(" {text}\n"));
        say(&format!(" {:1$} ", "", number.len()), ("|", "1;34"), " ");
        say(&" ".repeat(quote.caret), ("^", "1;31"), "\n");
    }
    if let Some(help) = known.help() {
        say("  ", ("help", "1;36"), format_args!(": {help}\n"));
    }
    if known.is_usage() { ExitCode::from(2) } else { ExitCode::FAILURE }
}

/// The exit code of a program that only prints: help, or its version.
pub(crate) fn printed(written: io::Result<()>) -> ExitCode {
    match written.and_then(|()| io::stdout().flush()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => failure(&Error::io("writing", error).in_file("standard output").into()),
    }
}

fn line_of(error: &Error) -> Option<u64> {
    match error.place().position? {
        Position::Line(line) | Position::Column { line, .. } => Some(line),
        Position::Byte(_) => None,
    }
}

/// Prints a note.
pub(crate) fn note(text: &str) {
    say("", ("note", "1;36"), format_args!(": {text}\n"));
}

/// Prints lines of results, if standard output is used for data.
pub(crate) fn lines(text: &str) {
    say("", ("", ""), text);
}

/// Prints a warning.
pub(crate) fn warning(text: &str) {
    say("", ("warning", "1;33"), format_args!(": {text}\n"));
}

fn paint(text: &str, code: &str) -> String {
    let plain = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    match io::stderr().is_terminal() && !plain {
        true => format!("\x1b[{code}m{text}\x1b[0m"),
        false => text.to_owned(),
    }
}

/// A count with commas: 1,234,567.
pub(crate) fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() * 4 / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A count with its unit: 1 chunk, 20 chunks.
pub(crate) fn counted(number: u64, unit: &str) -> String {
    format!("{} {unit}{}", count(number), if number == 1 { "" } else { "s" })
}

/// A size or rate in bytes: 881.1 MB.
pub(crate) fn bytes(number: f64) -> String {
    let units = ["B", "kB", "MB", "GB", "TB"];
    let mut scaled = number;
    let mut unit = 0;
    while scaled >= 1000.0 && unit + 1 < units.len() {
        scaled /= 1000.0;
        unit += 1;
    }
    if unit == 0 { format!("{scaled:.0} B") } else { format!("{scaled:.1} {}", units[unit]) }
}

/// A rate of things a second: 5.2 M.
pub(crate) fn rate(number: f64) -> String {
    match number {
        n if n >= 1e6 => format!("{:.2} M", n / 1e6),
        n if n >= 1e3 => format!("{:.1} k", n / 1e3),
        n => format!("{n:.1} "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_easy_to_read() {
        assert_eq!(count(0), "0");
        assert_eq!(count(999), "999");
        assert_eq!(count(1_234_567), "1,234,567");
        assert_eq!(bytes(12.0), "12 B");
        assert_eq!(bytes(881_094_000.0), "881.1 MB");
        assert_eq!(rate(5_240_000.0), "5.24 M");
    }
}
