//! Options in the form of Kaldi's tools: `--scale=0.5`, `--Scale_1=t`, `--config=FILE`.
//!
//! Options stand before the first argument. Case does not matter in their names, and `_` is `-`.
//! A lone `--` ends them. Files that `--config` names are read before the other options,
//! wherever it stands.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fmt::Write as _;
use std::ops::RangeInclusive;
use std::os::unix::ffi::OsStrExt;

use seqfeed_io::{Opener, name_from_text, name_to_text};

use crate::call::{Call, Stop, throw};
use crate::number::{G, integer, is_space, real32};

/// The variable for the value of an option.
pub(crate) enum Slot<'a> {
    Flag(&'a mut bool),
    Int(&'a mut i32),
    Real(&'a mut f32),
    Text(&'a mut String),
}

/// An option of a tool.
pub(crate) struct Opt<'a> {
    name: &'static str,
    doc: &'static str,
    slot: Slot<'a>,
}

/// An option that sets a variable. The present value is the default.
pub(crate) fn opt<'a>(name: &'static str, slot: impl Into<Slot<'a>>, doc: &'static str) -> Opt<'a> {
    Opt { name, doc, slot: slot.into() }
}

/// The option of tools that can write a single file.
pub(crate) fn binary_option(binary: &mut bool) -> Opt<'_> {
    opt("binary", binary, "Write in binary mode (a single file)")
}

impl<'a> From<&'a mut bool> for Slot<'a> {
    fn from(slot: &'a mut bool) -> Self {
        Self::Flag(slot)
    }
}

impl<'a> From<&'a mut i32> for Slot<'a> {
    fn from(slot: &'a mut i32) -> Self {
        Self::Int(slot)
    }
}

impl<'a> From<&'a mut f32> for Slot<'a> {
    fn from(slot: &'a mut f32) -> Self {
        Self::Real(slot)
    }
}

impl<'a> From<&'a mut String> for Slot<'a> {
    fn from(slot: &'a mut String) -> Self {
        Self::Text(slot)
    }
}

impl Slot<'_> {
    fn default(&self) -> String {
        match self {
            Self::Flag(value) => format!("bool, default = {value}"),
            Self::Int(value) => format!("int, default = {value}"),
            Self::Real(value) => format!("float, default = {}", G(f64::from(**value))),
            Self::Text(value) => format!("string, default = \"{value}\""),
        }
    }

    /// Sets the value from a text.
    fn set(&mut self, name: &str, value: Option<&str>) -> Result<(), Wrong> {
        let text = value.unwrap_or_default();
        match self {
            Slot::Flag(_) if value == Some("") => {
                return Err(Wrong::Value(SET, format!("Invalid option --{name}=")));
            }
            Slot::Flag(slot) => match text.to_ascii_lowercase().as_str() {
                "true" | "t" | "1" | "" => **slot = true,
                "false" | "f" | "0" => **slot = false,
                _ => {
                    return Err(Wrong::Unknown(
                        TO_BOOL,
                        format!(
                            "Invalid format for boolean argument [expected true or false]: {text}"
                        ),
                    ));
                }
            },
            Slot::Int(slot) => match integer(text) {
                Some(number) => **slot = number,
                None => {
                    let message = format!("Invalid integer option \"{text}\" for --{name}");
                    return Err(Wrong::Unknown("ToInt():util/parse-options.cc", message));
                }
            },
            Slot::Real(slot) => match real32(text) {
                Some(number) => **slot = number,
                None => {
                    let message = format!("Invalid floating-point option \"{text}\" for --{name}");
                    return Err(Wrong::Unknown("ToFloat():util/parse-options.cc", message));
                }
            },
            Slot::Text(slot) => match value {
                Some(value) => **slot = value.to_owned(),
                None => {
                    let message = format!("Invalid option --{name} (option format is --x=y).");
                    return Err(Wrong::Value(SET, message));
                }
            },
        }
        Ok(())
    }
}

/// The most bytes of a file of options.
const MOST_OF_CONFIG: u64 = 1 << 20;

/// The place of Kaldi's messages about options.
const SET: &str = "SetOption():util/parse-options.cc:558";
const READ: &str = "Read():util/parse-options.cc:366";
const SPLIT: &str = "SplitLongArg():util/parse-options.cc:514";
const TO_BOOL: &str = "ToBool():util/parse-options.cc:583";
const NOT_A_LINE: &str = "ReadConfigFile():util/parse-options.cc:480";
const NO_CONFIG: &str = "ReadConfigFile():util/parse-options.cc:463";

impl Call<'_> {
    /// Parses options and arguments, and echoes the command line, as each of Kaldi's tools does
    /// first.
    pub(crate) fn parse(
        &mut self,
        usage: &str,
        count: RangeInclusive<usize>,
        options: &mut [Opt<'_>],
    ) -> Result<Vec<String>, Stop> {
        parse(self, usage, count, options)
    }
}

fn parse(
    call: &mut Call<'_>,
    usage: &str,
    count: RangeInclusive<usize>,
    options: &mut [Opt<'_>],
) -> Result<Vec<String>, Stop> {
    let (mut config, mut help) = (String::new(), false);
    let (mut print_args, mut verbose) = (true, 0);
    let mut standard = [
        opt("config", &mut config, "Configuration file to read (this option may be repeated)"),
        opt("help", &mut help, "Print out usage message"),
        opt("print-args", &mut print_args, "Print the command line arguments (to stderr)"),
        opt("verbose", &mut verbose, "Verbose level (higher->more logging)"),
    ];
    let usage = describe(usage, options, &standard);
    let command_line: String = [call.program]
        .into_iter()
        .chain(call.words.iter().map(String::as_str))
        .fold(String::new(), |line, word| line + &quoted(word) + " ");
    let mut parser = Parser { options, standard: &mut standard };
    let words = call.words;
    let done = (|| {
        for word in words.iter().take_while(|word| *word != "--") {
            let Some(option) = word.strip_prefix("--") else { continue };
            let (name, value) = split(word, option)?;
            match name.as_str() {
                "config" => parser.read_config(value.unwrap_or_default())?,
                "help" => return Ok(None),
                _ => {}
            }
        }
        let mut arguments = Vec::new();
        let mut ended = false;
        for word in words {
            if word == "--" && !ended {
                ended = true;
                continue;
            }
            match word.strip_prefix("--").filter(|_| !ended && arguments.is_empty()) {
                Some(option) => {
                    let (name, value) = split(word, option)?;
                    if !parser.set(&name, value)? {
                        return Err(Wrong::Unknown(READ, format!("Invalid option {word}")));
                    }
                }
                None => arguments.push(word.clone()),
            }
        }
        Ok(Some(arguments))
    })();
    let arguments = match done {
        Ok(Some(arguments)) => arguments,
        Ok(None) => {
            call.say(&usage);
            return Err(Stop::Exit(0));
        }
        Err(Wrong::Unknown(place, message)) => {
            call.say(&format!("{usage}Command line was: {command_line}\n"));
            return throw(place, message);
        }
        Err(Wrong::Value(place, message)) => return throw(place, message),
    };
    if print_args {
        call.say(&format!("{command_line}\n"));
    }
    if !count.contains(&arguments.len()) {
        call.say(&usage);
        return Err(Stop::Exit(1));
    }
    Ok(arguments)
}

/// An error in an option.
enum Wrong {
    /// The usage is printed with the message.
    Unknown(&'static str, String),
    /// Only the message is printed.
    Value(&'static str, String),
}

struct Parser<'a, 'b, 'c> {
    options: &'a mut [Opt<'b>],
    standard: &'a mut [Opt<'c>],
}

/// Splits the name and value of an option without its dashes.
fn split<'a>(word: &str, option: &'a str) -> Result<(String, Option<&'a str>), Wrong> {
    let (name, value) = match option.split_once('=') {
        Some((name, value)) => (name, Some(value.trim_matches(is_space))),
        None => (option, None),
    };
    if name.is_empty() {
        return Err(Wrong::Unknown(SPLIT, format!("Invalid option (no key): {word}")));
    }
    Ok((name.replace('_', "-").to_ascii_lowercase(), value))
}

impl Parser<'_, '_, '_> {
    /// Sets an option. Returns whether there is one with this name.
    fn set(&mut self, name: &str, value: Option<&str>) -> Result<bool, Wrong> {
        if let Some(option) = self.options.iter_mut().find(|option| option.name == name) {
            return option.slot.set(name, value).map(|()| true);
        }
        if let Some(option) = self.standard.iter_mut().find(|option| option.name == name) {
            return option.slot.set(name, value).map(|()| true);
        }
        Ok(false)
    }

    fn read_config(&mut self, path: &str) -> Result<(), Wrong> {
        let file = Opener::default().place(name_from_text(path));
        let read = Opener::default().read_settings(&file, "bytes of a config file", MOST_OF_CONFIG);
        let bytes = read.map_err(|error| {
            Wrong::Value(NO_CONFIG, format!("Cannot open config file: {path} ({error})"))
        })?;
        let text = name_to_text(OsStr::from_bytes(&bytes));
        for (number, line) in text.lines().enumerate() {
            let line = line.split('#').next().unwrap_or_default().trim_matches(is_space);
            if line.is_empty() {
                continue;
            }
            let Some(option) = line.strip_prefix("--") else {
                let message = format!(
                    "Reading config file {path}: line {} does not look like a line from a Kaldi command-line \
                     program's config file: should be of the form --x=y.  Note: config files intended to be \
                     sourced by shell scripts lack the '--'.",
                    number + 1
                );
                return Err(Wrong::Value(NOT_A_LINE, message));
            };
            let (name, value) = split(line, option)?;
            if !self.set(&name, value)? {
                let message = format!("Invalid option {line} in config file {path}");
                return Err(Wrong::Unknown("ReadConfigFile():util/parse-options.cc", message));
            }
        }
        Ok(())
    }
}

/// The text that `--help` prints.
fn describe(usage: &str, options: &[Opt<'_>], standard: &[Opt<'_>]) -> String {
    let mut text = format!("\n{usage}\n");
    for (title, options) in [("Options", options), ("Standard options", standard)] {
        if options.is_empty() {
            continue;
        }
        let _ = writeln!(text, "{title}:");
        let sorted: BTreeMap<_, _> = options.iter().map(|option| (option.name, option)).collect();
        for (name, option) in sorted {
            let _ = writeln!(text, "  --{name:<25} : {} ({})", option.doc, option.slot.default());
        }
        text.push('\n');
    }
    text
}

/// A word in a form for a shell, quoted if necessary.
pub(crate) fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "[]~#^_-+=:.,/".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    if word.contains('\'') && !word.contains(['"', '`', '$', '\\']) {
        return format!("\"{word}\"");
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

/// A name for messages: quoted if a shell would need it, or the meaning of `-`.
pub(crate) fn shown(name: &str, standard: &str) -> String {
    if matches!(name, "" | "-") { standard.to_owned() } else { quoted(name) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_for_the_shell() {
        let cases = [
            ("ark:a.ark", "ark:a.ark"),
            ("", "''"),
            ("a b", "'a b'"),
            ("it's", "\"it's\""),
            ("it's $5", "'it'\\''s $5'"),
            ("x|", "'x|'"),
        ];
        for (word, expected) in cases {
            assert_eq!(quoted(word), expected);
        }
    }
}
