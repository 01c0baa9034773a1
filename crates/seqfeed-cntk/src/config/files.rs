//! Joins files, includes and overrides to one text.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::sync::Arc;

use seqfeed_core::{Error, Result};
use seqfeed_io::{Beside, Location, Opener, name_from_text, name_to_text};

use super::braces::MAX_DEPTH;
use super::text::{Origin, Text, limit};

/// The most bytes of text, with includes and substituted variables.
pub(crate) const MAX_BYTES: usize = 2 << 20;

const BYTES: &str = "bytes of configuration";

/// Gives the text of configuration files by name.
///
/// Implemented by [`Files`], and by every closure `FnMut(&str) -> Result<String>`.
pub trait Texts {
    /// The text of the file with this name, which comes from the command line or from `include=`.
    ///
    /// # Errors
    ///
    /// Fails if the text is not available.
    fn read(&mut self, name: &str) -> Result<String>;
}

impl<F: FnMut(&str) -> Result<String>> Texts for F {
    fn read(&mut self, name: &str) -> Result<String> {
        self(name)
    }
}

/// Reads configuration files.
///
/// As in CNTK, names are relative to the current directory. Includes that do not exist are looked
/// for beside the main file. Bytes that are not UTF-8 are kept in the form of [`name_to_text`], so
/// that names do not lose them.
#[derive(Clone, Debug)]
pub struct Files {
    beside: Beside,
    opener: Opener,
}

impl Files {
    /// For the directory of a main file.
    #[must_use]
    pub fn new(directory: Option<Location>, opener: &Opener) -> Self {
        Self { beside: Beside::new(directory, opener), opener: opener.clone() }
    }
}

impl Texts for Files {
    fn read(&mut self, name: &str) -> Result<String> {
        let file = self.beside.find(&Location::of_file(name_from_text(name)));
        let bytes =
            self.opener.read_settings(&file, BYTES, MAX_BYTES as u64).map_err(
                |error| match error.is_not_found() {
                    true => error,
                    false => error.with_help("is this a configuration?"),
                },
            )?;
        Ok(name_to_text(OsStr::from_bytes(&bytes)))
    }
}

/// Splits `a+b` into names, as CNTK's `configFile=` and `include=` do.
pub(crate) fn split_names(names: &str) -> impl Iterator<Item = &str> {
    names.split('+').map(str::trim).filter(|name| !name.is_empty())
}

/// The files in `a+b`: the two, unless there is one with this name.
pub(crate) fn names_of<'a>(names: &'a str, opener: &Opener) -> Vec<&'a str> {
    match opener.exists(&Location::of_file(name_from_text(names))) {
        true => vec![names],
        false => split_names(names).collect(),
    }
}

/// The directory of a file.
pub(crate) fn directory_of(file: &str) -> Option<Location> {
    let parent = Location::of_file(name_from_text(file)).parent()?;
    Some(if parent.as_os_str().is_empty() { Location::of_file(".") } else { parent })
}

/// Reads files one after another with all includes. Overrides follow as lines of their own.
pub(crate) fn assemble(names: &[&str], overrides: &[&str], texts: &mut dyn Texts) -> Result<Text> {
    let mut seen = HashSet::new();
    for name in names {
        if !seen.insert((*name).to_owned()) {
            return Err(Error::usage(
                "Cannot specify same config file multiple times at the command line.",
            )
            .in_file(*name));
        }
    }
    let mut assembly = Assembly { text: Text::default(), seen, texts };
    for name in names {
        assembly.file(name, 0)?;
    }
    let file: Arc<str> = "the command line".into();
    for (number, line) in (1..).zip(overrides) {
        assembly.line(line, Origin { file: file.clone(), line: number }, 0)?;
    }
    Ok(assembly.text)
}

struct Assembly<'a> {
    text: Text,
    /// Each file is included once.
    seen: HashSet<String>,
    texts: &'a mut dyn Texts,
}

impl Assembly<'_> {
    fn file(&mut self, name: &str, depth: usize) -> Result<()> {
        let string = self.texts.read(name)?;
        let file: Arc<str> = name.into();
        let string = string.strip_prefix('\u{feff}').unwrap_or(&string);
        for (number, line) in (1..).zip(string.split('\n')) {
            let line = strip_comment(line.strip_suffix('\r').unwrap_or(line));
            if !line.is_empty() {
                self.line(line, Origin { file: file.clone(), line: number }, depth)?;
            }
        }
        Ok(())
    }

    fn line(&mut self, line: &str, origin: Origin, depth: usize) -> Result<()> {
        if let Some(names) = line.strip_prefix("include=") {
            return self.include(names, &origin, depth);
        }
        if self.text.len() + line.len() > MAX_BYTES {
            return Err(too_long((self.text.len() + line.len()) as u64).in_file(&*origin.file));
        }
        self.text.push_line(line, &origin);
        self.text.push_separator('\n');
        Ok(())
    }

    fn include(&mut self, names: &str, origin: &Origin, depth: usize) -> Result<()> {
        if names.contains('$') {
            let message = "Variable usage (eg, \"$varName$\") not supported in \"include\" \
                           statements. Explicit path to config file must be provided";
            return Err(origin.error(message.into()).with_help("write the path out"));
        }
        if depth >= MAX_DEPTH {
            let message = format!("more than {MAX_DEPTH} files include one another");
            return Err(origin.error(message).with_help("include fewer"));
        }
        for name in split_names(names) {
            if self.seen.insert(name.to_owned()) {
                self.file(name, depth + 1).map_err(|error| {
                    let help = format!(
                        "included by {} line {}; names are relative to the current directory",
                        origin.file, origin.line
                    );
                    if error.is_not_found() { error.with_help(help) } else { error }
                })?;
            }
        }
        Ok(())
    }
}

fn too_long(wanted: u64) -> Error {
    limit(BYTES, wanted, MAX_BYTES).with_help("is this a configuration?")
}

/// The line without its comment. A comment begins at a `#` that is the first visible character, or
/// at the first `#` if a blank or tab stands before it. Quotes do not protect.
pub(crate) fn strip_comment(line: &str) -> &str {
    let blank = |c: char| matches!(c, ' ' | '\t');
    let visible = line.trim_start_matches(blank);
    if visible.is_empty() || visible.starts_with('#') {
        return "";
    }
    match visible.find('#') {
        Some(at) if visible[..at].ends_with(blank) => &visible[..at],
        _ => line,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_end_lines() {
        let cases = [
            ("# all", ""),
            (" \t# all", ""),
            ("a=1 # b", "a=1 "),
            ("a=1\t#b", "a=1\t"),
            ("a=x#y", "a=x#y"),
            ("a=x#y # z", "a=x#y # z"),
            ("a=\"# b\"", "a=\"# b\""),
            ("a=\"x # b\"", "a=\"x "),
            ("  ", ""),
            ("  a", "  a"),
        ];
        for (line, expected) in cases {
            assert_eq!(strip_comment(line), expected, "{line:?}");
        }
    }

    fn texts(name: &str) -> Result<String> {
        Ok(match name {
            "main" => "a=1\ninclude=one+two # both\n include=no\nb=2",
            "one" => "c=3\ninclude=main+two\n",
            "two" => "d=4\r\n",
            _ => return Err(Error::usage("none")),
        }
        .into())
    }

    #[test]
    fn includes_each_file_once_and_overrides_last() {
        let text = assemble(&["main"], &["e=5"], &mut texts).unwrap();
        assert_eq!(text.as_str(), "a=1\nc=3\nd=4\n include=no\nb=2\ne=5\n");
        let at = text.as_str().find("b=2").unwrap();
        let origin = text.origin(at).unwrap();
        assert_eq!((&*origin.file, origin.line), ("main", 4));
    }

    #[test]
    fn refuses_what_cannot_be_included() {
        let error = assemble(&["main", "main"], &[], &mut texts).unwrap_err();
        assert!(error.to_string().contains("same config file multiple times"), "{error}");
        let error = assemble(&[], &["include=$x$"], &mut texts).unwrap_err();
        assert!(error.to_string().contains("not supported in \"include\""), "{error}");
        let mut endless = |name: &str| Ok(format!("include={name}x"));
        let error = assemble(&["a"], &[], &mut endless).unwrap_err();
        assert!(error.to_string().contains("include one another"), "{error}");
    }
}
