//! Rspecifiers and wspecifiers: the kind of a table, its name and its options.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::os::unix::ffi::OsStrExt;

use seqfeed_core::{Error, Result};
use seqfeed_io::shown_name;

/// The two kinds of tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TableKind {
    /// `ark`: keys and objects one after another.
    Archive,
    /// `scp`: a line with key and rxfilename for each object.
    Script,
}

/// The name of a table to read: `ark,s,cs:feats.ark`.
///
/// The part before the first colon is a list of words: exactly one of `ark` and `scp`, and options.
/// The rest is the rxfilename.
///
/// ```
/// use seqfeed_kaldi::{Rspecifier, TableKind};
///
/// let table = Rspecifier::parse("scp,s,cs:feats.scp")?;
/// assert_eq!(table.kind, TableKind::Script);
/// assert_eq!(table.rxfilename, "feats.scp");
/// assert!(table.sorted && table.called_sorted);
/// # Ok::<(), seqfeed_core::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rspecifier {
    /// Archive or script file.
    pub kind: TableKind,
    /// The name of the archive or script file.
    pub rxfilename: OsString,
    /// `o`: each key is asked for only once.
    pub once: bool,
    /// `p`: unreadable objects count as missing.
    pub permissive: bool,
    /// `s`: keys are sorted.
    pub sorted: bool,
    /// `cs`: keys are asked for in sorted order.
    pub called_sorted: bool,
    /// `bg`: read ahead in a thread.
    pub background: bool,
}

impl Rspecifier {
    /// Parses an rspecifier as Kaldi does.
    ///
    /// # Errors
    ///
    /// Fails if it has no colon, an unknown word, not exactly one of `ark` and `scp`, or white
    /// space at its end.
    pub fn parse(rspecifier: &(impl AsRef<OsStr> + ?Sized)) -> Result<Self> {
        let text = rspecifier.as_ref();
        let (words, rest) = split(text, "rspecifier")?;
        let mut table = Self {
            kind: TableKind::Archive,
            rxfilename: rest.to_owned(),
            once: false,
            permissive: false,
            sorted: false,
            called_sorted: false,
            background: false,
        };
        let mut kinds = 0;
        for word in words.split([',', ' ']) {
            match word {
                "ark" | "scp" => {
                    kinds += 1;
                    let archive = word == "ark";
                    table.kind = if archive { TableKind::Archive } else { TableKind::Script };
                }
                "b" | "t" => {}
                "o" | "no" => table.once = word == "o",
                "p" | "np" => table.permissive = word == "p",
                "s" | "ns" => table.sorted = word == "s",
                "cs" | "ncs" => table.called_sorted = word == "cs",
                "bg" => table.background = true,
                _ => return Err(unknown(text, word, "rspecifier", "ark scp b t o p s cs bg")),
            }
        }
        if kinds != 1 {
            return Err(Error::usage(format!(
                "rspecifier `{}`: exactly one of `ark` and `scp` must stand before the colon",
                shown_name(text)
            )));
        }
        Ok(table)
    }
}

/// The options of rspecifiers, without the kinds of tables.
const OPTIONS: [&str; 11] = ["b", "t", "o", "no", "p", "np", "s", "ns", "cs", "ncs", "bg"];

impl Rspecifier {
    /// Adds the cause to the error of a missing file, if options stand behind the colon
    /// (`ark:s,cs:feats.ark`).
    pub(crate) fn explain(&self, error: Error) -> Error {
        let name = shown_name(&self.rxfilename);
        let Some((words, name)) = name.split_once(':') else { return error };
        if !error.is_not_found() || !words.split([',', ' ']).all(|word| OPTIONS.contains(&word)) {
            return error;
        }
        let kind = if self.kind == TableKind::Archive { "ark" } else { "scp" };
        let options = words.replace(' ', ",");
        error.with_help(format!("options stand before the colon: `{kind},{options}:{name}`"))
    }

    /// The rspecifier that [`parse`](Self::parse) turns into the same value.
    #[must_use]
    pub fn name(&self) -> OsString {
        let mut name = OsString::from(if self.kind == TableKind::Archive { "ark" } else { "scp" });
        let words = [
            (self.once, ",o"),
            (self.permissive, ",p"),
            (self.sorted, ",s"),
            (self.called_sorted, ",cs"),
            (self.background, ",bg"),
        ];
        words.iter().filter(|(set, _)| *set).for_each(|(_, word)| name.push(word));
        name.push(":");
        name.push(&self.rxfilename);
        name
    }
}

impl fmt::Display for Rspecifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&shown_name(self.name()))
    }
}

/// The name of a table to write: `ark,scp:feats.ark,feats.scp`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wspecifier {
    /// The wxfilename of the archive.
    pub archive: Option<OsString>,
    /// The wxfilename of the script file. With `scp` alone, the script file says where to write.
    pub script: Option<OsString>,
    /// `t`: as text.
    pub text: bool,
    /// `f`: flush after each object.
    pub flush: bool,
    /// `p`: keys that a script file lacks are skipped.
    pub permissive: bool,
}

impl Wspecifier {
    /// Parses a wspecifier as Kaldi does.
    ///
    /// # Errors
    ///
    /// Fails as [`Rspecifier::parse`] does, and if `ark,scp` is not followed by two names.
    pub fn parse(wspecifier: &(impl AsRef<OsStr> + ?Sized)) -> Result<Self> {
        let text = wspecifier.as_ref();
        let shown = || shown_name(text);
        let (words, rest) = split(text, "wspecifier")?;
        let (mut archive, mut script) = (false, false);
        let mut table =
            Self { archive: None, script: None, text: false, flush: false, permissive: false };
        for word in words.split([',', ' ']) {
            match word {
                "ark" if !archive && !script => archive = true,
                "scp" if !script => script = true,
                "ark" | "scp" => {
                    return Err(Error::usage(format!(
                        "wspecifier `{}`: it must be `ark`, `scp` or `ark,scp`, in that order",
                        shown()
                    )));
                }
                "b" | "t" => table.text = word == "t",
                "f" | "nf" => table.flush = word == "f",
                "p" => table.permissive = true,
                _ => return Err(unknown(text, word, "wspecifier", "ark scp b t f nf p")),
            }
        }
        let name = Some(rest.to_owned());
        match (archive, script) {
            (true, false) => table.archive = name,
            (false, true) => table.script = name,
            (true, true) => match rest.as_bytes().iter().position(|&byte| byte == b',') {
                Some(comma) => {
                    let part = |bytes| Some(OsStr::from_bytes(bytes).to_owned());
                    let rest = rest.as_bytes();
                    (table.archive, table.script) =
                        (part(&rest[..comma]), part(&rest[comma + 1..]));
                }
                None => {
                    return Err(Error::usage(format!(
                        "wspecifier `{}`: ark,scp needs two names with a comma between them",
                        shown()
                    )));
                }
            },
            (false, false) => {
                return Err(Error::usage(format!(
                    "wspecifier `{}`: `ark` or `scp` must stand before the colon",
                    shown()
                )));
            }
        }
        Ok(table)
    }
}

impl Wspecifier {
    /// The wspecifier that [`parse`](Self::parse) turns into the same value.
    #[must_use]
    pub fn name(&self) -> OsString {
        let words = match (&self.archive, &self.script) {
            (Some(_), Some(_)) => "ark,scp",
            (Some(_), None) => "ark",
            (None, _) => "scp",
        };
        let mut name = OsString::from(words);
        let options = [(self.text, ",t"), (self.flush, ",f"), (self.permissive, ",p")];
        options.iter().filter(|(set, _)| *set).for_each(|(_, word)| name.push(word));
        for (number, part) in self.archive.iter().chain(&self.script).enumerate() {
            name.push([":", ","][number]);
            name.push(part);
        }
        name
    }
}

impl fmt::Display for Wspecifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&shown_name(self.name()))
    }
}

/// The words before the colon, and the name behind it.
fn split<'a>(text: &'a OsStr, what: &str) -> Result<(&'a str, &'a OsStr)> {
    let (shown, bytes) = (shown_name(text), text.as_bytes());
    let Some(colon) = bytes.iter().position(|&byte| byte == b':') else {
        return Err(Error::usage(format!("{what} `{shown}`: there is no colon"))
            .with_help(format!("did you mean `ark:{shown}` or `scp:{shown}`?")));
    };
    if bytes.last().is_some_and(u8::is_ascii_whitespace) {
        return Err(Error::usage(format!("{what} `{shown}`: white space at its end")));
    }
    let words = std::str::from_utf8(&bytes[..colon])
        .map_err(|_| unknown(text, "what stands before the colon", what, WORDS))?;
    Ok((words, OsStr::from_bytes(&bytes[colon + 1..])))
}

/// The words that may stand before a colon.
const WORDS: &str = "ark scp and their options";

fn unknown(text: &OsStr, word: &str, what: &str, known: &str) -> Error {
    let word = if word.is_empty() { "an empty word" } else { word };
    Error::usage(format!("{what} `{}`: {word} is not one of {known}", shown_name(text)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rspecifiers() {
        for good in ["ark:", "ark:-", "scp:a b", "s,cs,ark:x", "ark t:x", "o,no,ark:x|", "ark,bg:x"]
        {
            assert!(Rspecifier::parse(good).is_ok(), "{good}");
        }
        for bad in [
            "",
            "x",
            "ark",
            "ark, t:x",
            "ark,,t:x",
            " ark:x",
            "ark,scp:x",
            "t:x",
            "ark:x ",
            "ark,f:x",
            "Ark:x",
        ] {
            assert!(Rspecifier::parse(bad).unwrap_err().is_usage(), "{bad}");
        }
        assert_eq!(Rspecifier::parse("ark:a:b").unwrap().rxfilename, "a:b");
    }

    #[test]
    fn wspecifiers() {
        let both = Wspecifier::parse("ark,t,scp:a,b,c").unwrap();
        assert_eq!((both.archive.unwrap(), both.script.unwrap()), ("a".into(), "b,c".into()));
        assert!(both.text);
        for bad in ["scp,ark:a,b", "ark,scp:a", "ark,o:x", "t:x", "ark,ark:x"] {
            assert!(Wspecifier::parse(bad).is_err(), "{bad}");
        }
    }
}
