//! Rspecifiers and wspecifiers: what table, where, with which options.

use std::fmt;

use seqfeed_core::{Error, Result};

/// The two kinds of tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TableKind {
    /// `ark`: keys and objects one after another.
    Archive,
    /// `scp`: a line with key and rxfilename for each object.
    Script,
}

/// Where a table is read from: `ark,s,cs:feats.ark`.
///
/// The part before the first colon is a list of words: exactly one of `ark` and `scp`, and options.
/// Everything behind the colon is the rxfilename.
///
/// ```
/// use seqfeed_kaldi::{Rspecifier, TableKind};
///
/// let table = Rspecifier::parse("scp,s,cs:feats.scp")?;
/// assert_eq!((table.kind, table.rxfilename.as_str()), (TableKind::Script, "feats.scp"));
/// assert!(table.sorted && table.called_sorted);
/// # Ok::<(), seqfeed_core::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rspecifier {
    /// Archive or script file.
    pub kind: TableKind,
    /// The name of the archive or script file.
    pub rxfilename: String,
    /// `o`: each key is asked for once.
    pub once: bool,
    /// `p`: what cannot be read counts as not there.
    pub permissive: bool,
    /// `s`: keys are sorted.
    pub sorted: bool,
    /// `cs`: keys are asked for in sorted order.
    pub called_sorted: bool,
    /// `bg`: read ahead in a thread.
    pub background: bool,
}

impl Rspecifier {
    /// Reads an rspecifier as Kaldi does.
    ///
    /// # Errors
    ///
    /// Fails if it has no colon, an unknown word, not exactly one of `ark` and `scp`, or white space at
    /// its end.
    pub fn parse(text: &str) -> Result<Self> {
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
        for word in words {
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
                "rspecifier `{text}`: exactly one of `ark` and `scp` must stand before the colon"
            )));
        }
        Ok(table)
    }
}

impl fmt::Display for Rspecifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.kind == TableKind::Archive { "ark" } else { "scp" })?;
        let words = [
            (self.once, ",o"),
            (self.permissive, ",p"),
            (self.sorted, ",s"),
            (self.called_sorted, ",cs"),
            (self.background, ",bg"),
        ];
        words.iter().filter(|(set, _)| *set).try_for_each(|(_, word)| f.write_str(word))?;
        write!(f, ":{}", self.rxfilename)
    }
}

/// Where a table is written to: `ark,scp:feats.ark,feats.scp`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wspecifier {
    /// The wxfilename of the archive.
    pub archive: Option<String>,
    /// The wxfilename of the script file (with `scp` alone, the script file that says where to write).
    pub script: Option<String>,
    /// `t`: as text.
    pub text: bool,
    /// `f`: flush after each object.
    pub flush: bool,
    /// `p`: keys that a script file lacks are skipped.
    pub permissive: bool,
}

impl Wspecifier {
    /// Reads a wspecifier as Kaldi does.
    ///
    /// # Errors
    ///
    /// Fails as [`Rspecifier::parse`] does, and if `ark,scp` is not followed by two names.
    pub fn parse(text: &str) -> Result<Self> {
        let (words, rest) = split(text, "wspecifier")?;
        let (mut archive, mut script) = (false, false);
        let mut table =
            Self { archive: None, script: None, text: false, flush: false, permissive: false };
        for word in words {
            match word {
                "ark" if !archive && !script => archive = true,
                "scp" if !script => script = true,
                "ark" | "scp" => {
                    return Err(Error::usage(format!(
                        "wspecifier `{text}`: it must be `ark`, `scp` or `ark,scp`, in that order"
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
            (true, true) => match rest.split_once(',') {
                Some((archive, script)) => {
                    (table.archive, table.script) = (Some(archive.into()), Some(script.into()));
                }
                None => {
                    return Err(Error::usage(format!(
                        "wspecifier `{text}`: ark,scp needs two names with a comma between them"
                    )));
                }
            },
            (false, false) => {
                return Err(Error::usage(format!(
                    "wspecifier `{text}`: `ark` or `scp` must stand before the colon"
                )));
            }
        }
        Ok(table)
    }
}

impl fmt::Display for Wspecifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (words, names) = match (&self.archive, &self.script) {
            (Some(archive), Some(script)) => ("ark,scp", format!("{archive},{script}")),
            (Some(archive), None) => ("ark", archive.clone()),
            (None, script) => ("scp", script.clone().unwrap_or_default()),
        };
        f.write_str(words)?;
        let options = [(self.text, ",t"), (self.flush, ",f"), (self.permissive, ",p")];
        options.iter().filter(|(set, _)| *set).try_for_each(|(_, word)| f.write_str(word))?;
        write!(f, ":{names}")
    }
}

fn split<'a>(text: &'a str, what: &str) -> Result<(impl Iterator<Item = &'a str>, &'a str)> {
    let Some((words, rest)) = text.split_once(':') else {
        return Err(Error::usage(format!("{what} `{text}`: there is no colon"))
            .with_help(format!("did you mean `ark:{text}` or `scp:{text}`?")));
    };
    if text.ends_with(|c: char| c.is_ascii_whitespace()) {
        return Err(Error::usage(format!("{what} `{text}`: white space at its end")));
    }
    Ok((words.split([',', ' ']), rest))
}

fn unknown(text: &str, word: &str, what: &str, known: &str) -> Error {
    let word = if word.is_empty() { "an empty word" } else { word };
    Error::usage(format!("{what} `{text}`: {word} is not one of {known}"))
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
        assert_eq!((both.archive.as_deref(), both.script.as_deref()), (Some("a"), Some("b,c")));
        assert!(both.text);
        for bad in ["scp,ark:a,b", "ark,scp:a", "ark,o:x", "t:x", "ark,ark:x"] {
            assert!(Wspecifier::parse(bad).is_err(), "{bad}");
        }
    }
}
