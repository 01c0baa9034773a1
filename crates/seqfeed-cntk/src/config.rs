//! CNTK's configuration language, and the reader sections written in it.
//!
//! ```text
//! # a comment
//! DataDir = /data                       text; quotes are taken away
//! train = [                             a section, also { }
//!     reader = [
//!         file = "$DataDir$/train.ctf"  a variable, looked up outwards
//!         rates = 0.1*3:0.2             an array, also ( a : b )
//!         verbose                       the same as verbose = true
//! ] ]
//! train = [ epochs = 5 ]                appended to the section above
//! ```
//!
//! * [`Config`], [`Section`], [`Value`]: the language. As in CNTK 2.7, case does not matter in
//!   names; a name that a section lacks is looked up in the sections around it; values are parsed
//!   when they are asked for; and the last one wins. It was tested with recorded cases of CNTK 2.7.
//!   The parser opens no files; [`Texts`] gives it the text of included files.
//! * [`ReaderConfig`]: a reader section as plain data, with CNTK's defaults and checks. It is read
//!   from a file ([`ReaderConfig::load`]), or from the same dictionary as JSON
//!   ([`ReaderConfig::from_json`]).
//!
//! ```
//! use seqfeed_cntk::config::{Config, Deserializer, ReaderConfig, Window};
//!
//! let text = r#"
//! DataDir = /data
//! train = [
//!     reader = [
//!         readerType = CNTKTextFormatReader
//!         file = "$DataDir$/train.ctf"
//!         chunkSizeInBytes = 1048576
//!         input = [ x = [ dim = 3 ; format = dense ] ; y = [ dim = 10 ; format = sparse ] ]
//! ] ]"#;
//! let overrides = ["DataDir=/elsewhere", "train=[reader=[randomize=true]]"];
//! let config = Config::parse_with("train.cntk", text, &overrides)?;
//! let reader = ReaderConfig::from_section(&config.section_at("train.reader")?)?;
//! assert_eq!(reader.window(), Some(Window::Chunks(4096)));
//! let Deserializer::Ctf(ctf) = &reader.deserializers[0] else { unreachable!() };
//! assert_eq!((ctf.file.as_str(), ctf.inputs.len()), ("/elsewhere/train.ctf", 2));
//! # Ok::<(), seqfeed_core::Error>(())
//! ```
//!
//! # Differences from CNTK
//!
//! Errors name file and line. These are errors too: a variable that refers to itself (in CNTK the
//! stack overflows), negative numbers that must not be negative (in CNTK they wrap around), and
//! `x*` in an array without a count (in CNTK the rest of the array is lost). Braces, sections and
//! variables nest 200 deep at most, and a configuration has 2 MiB at most. `currentDirectory=` is a
//! name like any other.

use std::ops::Deref;

use seqfeed_core::{Error, Result};
use seqfeed_io::Opener;

mod braces;
mod files;
pub mod path;
mod reader;
mod records;
mod section;
mod text;
mod tree;

pub use files::{Files, Texts};
pub use reader::*;
pub use section::{Section, Value, ValueForm};
pub use tree::Tree;

/// A configuration: its outermost [`Section`].
#[derive(Clone, Debug)]
pub struct Config(Section);

impl Config {
    /// Parses a text without includes. `file` is its name in errors.
    ///
    /// # Errors
    ///
    /// Fails if braces do not match, if a name has no value, or if the text includes a file.
    pub fn parse(file: &str, text: &str) -> Result<Config> {
        Self::parse_with(file, text, &[])
    }

    /// Parses a text and overrides: lines that follow it, such as `name=value` or
    /// `Section=[name=value]`.
    ///
    /// # Errors
    ///
    /// As [`parse`](Config::parse).
    pub fn parse_with(file: &str, text: &str, overrides: &[&str]) -> Result<Config> {
        let mut texts = |name: &str| {
            if name == file {
                return Ok(text.to_owned());
            }
            Err(Error::usage(format!("error opening file '{name}': no files can be included here"))
                .with_help("load the configuration from a file"))
        };
        Self::assemble(&[file], overrides, &mut texts)
    }

    /// Reads texts one after another, with their includes, and overrides after them.
    ///
    /// # Errors
    ///
    /// As [`parse`](Config::parse), and the errors of `texts`.
    pub fn assemble(files: &[&str], overrides: &[&str], texts: &mut dyn Texts) -> Result<Config> {
        let text = files::assemble(files, overrides, texts)?;
        let last = files.last().copied().unwrap_or("global");
        let name = last.rsplit(['/', '\\']).next().unwrap_or(last);
        Ok(Self(Section::from_text(name.to_owned(), &text, None)?))
    }

    /// Reads files (`a.cntk`, or several: `a.cntk+b.cntk`) and overrides after them. Names are
    /// relative to the working directory.
    ///
    /// # Errors
    ///
    /// As [`parse`](Config::parse); and if a file cannot be read.
    pub fn load(names: &str, overrides: &[&str], opener: &Opener) -> Result<Config> {
        let names = files::names_of(names, opener);
        let directory = names.first().and_then(|name| files::directory_of(name));
        Self::assemble(&names, overrides, &mut Files::new(directory, opener))
    }

    /// The outermost section.
    #[must_use]
    pub fn root(&self) -> &Section {
        &self.0
    }
}

impl Deref for Config {
    type Target = Section;

    fn deref(&self) -> &Section {
        &self.0
    }
}
