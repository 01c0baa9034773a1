//! Script files: lists of parameter files, or of parts of them.
//!
//! A script is a list of names. A name is a file, or an *extended name*. An extended name gives the
//! file a logical name, by which labels are looked up, and may select frames:
//!
//! ```text
//! features/utt1.mfc                    a file
//! utt2.mfc=features/archive.mfc        another name for it
//! utt3.mfc=archive.mfc[100,199]        frames 100 to 199 of a file, both included
//! ```
//!
//! There are two [styles](Style): HTK's (words between white space, quotes) and CNTK's (one name a
//! line, no quotes, always with frames). [`Script::parse`] reads both. It does no I/O.
//!
//! ```
//! use seqfeed_htk::script::{Script, ScriptOptions};
//!
//! let text = b"a/1.mfc=all.mfc[0,99] \"my file.mfc\"\n".to_vec();
//! let script = Script::parse(text, &ScriptOptions::default())?;
//! let entry = script.get(0).unwrap();
//! assert_eq!(&*entry.key(), b"a/1");
//! assert_eq!(&*entry.physical(), b"all.mfc");
//! assert_eq!(entry.segment().unwrap().frames(500), Some(0..100));
//! assert_eq!(&*script.get(1).unwrap().physical(), b"my file.mfc");
//! # Ok::<(), seqfeed_core::Error>(())
//! ```

mod cntk;
mod entry;
mod htk;
mod name;
mod options;
mod write;

use seqfeed_core::{Error, ErrorKind, Problem, Result};

pub use entry::{Entry, Segment};
pub use options::{PathRule, ScriptOptions, Style};
pub use write::write_entry;

use entry::Spans;

/// The name of the format in messages.
const FORMAT: &str = "HTK script file";

/// A script file: its text, and the positions of its names (32 bytes each).
#[derive(Clone, Debug)]
pub struct Script {
    text: Vec<u8>,
    entries: Vec<Spans>,
    style: Style,
    path_rule: PathRule,
}

impl Script {
    /// Finds the entries in the text of a script.
    ///
    /// # Errors
    ///
    /// Fails at invalid names, with the line; the caller adds the name of the file. Texts of 4 GiB
    /// and more are refused.
    pub fn parse(text: Vec<u8>, options: &ScriptOptions) -> Result<Self> {
        if u32::try_from(text.len()).is_err() {
            let (wanted, limit) = (text.len() as u64, u64::from(u32::MAX));
            return Err(Error::new(ErrorKind::Limit { what: "bytes of a script", wanted, limit }));
        }
        if let Some(at) = memchr::memchr(0, &text) {
            let line = memchr::memchr_iter(b'\n', &text[..at]).count() as u64 + 1;
            let found = text[at..text.len().min(at + 32)].to_vec();
            let expected = "a text, not binary data".into();
            return Err(Error::format(FORMAT, Problem::Unexpected { expected, found })
                .at_line(line)
                .with_help("is this a parameter file? scripts list their names"));
        }
        let entries = match options.style {
            Style::Htk => htk::parse(&text, options.extended_names)?,
            Style::Cntk => cntk::parse(&text, options.whole_files)?,
        };
        Ok(Self { text, entries, style: options.style, path_rule: options.path_rule.clone() })
    }

    /// A script of whole files. Their names are taken literally: `=`, brackets and blanks have no
    /// meaning.
    ///
    /// # Errors
    ///
    /// Fails at an empty name, and if names have 4 GiB together.
    pub fn of_files<N: AsRef<[u8]>>(names: impl IntoIterator<Item = N>) -> Result<Self> {
        let (mut text, mut entries) = (Vec::new(), Vec::new());
        for name in names {
            let name = name.as_ref();
            if name.is_empty() {
                return Err(Error::usage("the name of a parameter file is empty"));
            }
            let end = text.len() + name.len();
            if u32::try_from(end).is_err() {
                let (wanted, limit) = (end as u64, u64::from(u32::MAX));
                return Err(Error::new(ErrorKind::Limit { what: "bytes of names", wanted, limit }));
            }
            entries.push(name::plain(text.len(), name, 0));
            text.extend_from_slice(name);
        }
        Ok(Self { text, entries, style: Style::Htk, path_rule: PathRule::AsWritten })
    }

    /// Number of entries.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there are no entries.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// An entry, by its number.
    #[must_use]
    pub fn get(&self, index: usize) -> Option<Entry<'_>> {
        self.entries.get(index).map(|spans| Entry { script: self, spans: *spans })
    }

    /// The entries in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Entry<'_>> {
        self.entries.iter().map(|spans| Entry { script: self, spans: *spans })
    }
}

/// An error at a line.
fn unexpected(line: u32, expected: &'static str, found: &[u8]) -> Error {
    // One byte more than is printed, so that the message shows that there is more.
    let found = found[..found.len().min(33)].to_vec();
    Error::format(FORMAT, Problem::Unexpected { expected: expected.into(), found })
        .at_line(line.into())
}
