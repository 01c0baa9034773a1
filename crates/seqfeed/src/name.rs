//! Opens any corpus by a single name.
//!
//! Names stand in descriptions, which are Unicode, in the form of [`name_to_text`]. So the front
//! door passes names on as text. Code that opens a file turns the text into the bytes of the name
//! again.

use std::ffi::OsStr;

use seqfeed_core::{Error, Result};
use seqfeed_io::{Opener, name_from_text, name_to_text};
use toml::{Table, Value};

use crate::corpus_keys;
use crate::data_directory::{self, DataDirectory};
use crate::description::Description;
use crate::format::Certainty;
use crate::formats;
use crate::manifest::{self, ManifestKeys};

/// The meaning of a name.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Named {
    /// The corpus and its feed.
    pub description: Description,
    /// Warnings, such as options without effect.
    pub warnings: Vec<String>,
    /// What was found behind the name: the files of a data directory that are used or not.
    pub notes: Vec<String>,
}

impl Description {
    /// The description for a name. The name may be a description (`corpus.toml`), an rspecifier of
    /// features (`scp:feats.scp`), a data directory of Kaldi, a list
    /// of utterances in JSON (`data.list`, `cuts.jsonl.gz`), an HTK script or parameter file
    /// (`train.scp`), an Arrow or Parquet file (`train.parquet`) or one column of it
    /// (`train.parquet#features`), a reader of CNTK (`train.cntk#Train.reader`, `reader.json`), a
    /// CTF file, or a data specification of PDNN (`train.pfile,context=5,random=True`). The options
    /// of a data specification may stand behind any other name too. Any other text behind the name
    /// of a configuration overrides values in it
    /// (`train.cntk#Train.reader,ScpDir=/data`).
    ///
    /// ```
    /// use seqfeed::Description;
    ///
    /// let named = Description::of_name("scp:feats.scp,context=5,random=True")?;
    /// assert_eq!(named.description.streams()[0].0, "features");
    /// let named = Description::of_name("train.pfile,context=5")?;
    /// assert_eq!(named.description.corpus.data.as_deref(), Some("train.pfile,context=5"));
    /// let named = Description::of_name("train.cntk#Train.reader")?;
    /// assert_eq!(named.description.corpus.reader.as_deref(), Some("train.cntk#Train.reader"));
    /// # Ok::<(), seqfeed::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Fails if a description cannot be read, or if options behind the name are wrong.
    pub fn of_name(name: &(impl AsRef<OsStr> + ?Sized)) -> Result<Named> {
        Self::of_name_with(name, Table::new(), &Opener::default())
    }

    /// The same as [`of_name`](Description::of_name), with [options](crate::options) that replace
    /// settings of the name. `opener` opens the file of the name, so URLs of its stores are names
    /// too.
    ///
    /// # Errors
    ///
    /// The same as [`of_name`](Description::of_name), or if an option is wrong.
    pub fn of_name_with(
        name: &(impl AsRef<OsStr> + ?Sized),
        mut instead: Table,
        opener: &Opener,
    ) -> Result<Named> {
        let mut warnings = Vec::new();
        let mut name = name_to_text(name);
        for key in corpus_keys::all() {
            let Some((without, overrides)) = key.split(&name, opener)? else { continue };
            name = without;
            let given = instead.entry("overrides").or_insert_with(|| Value::Table(Table::new()));
            if let Some(given) = given.as_table_mut() {
                for (key, value) in overrides {
                    given.entry(key).or_insert(value);
                }
            }
        }
        let typed_features = instead.contains_key("features");
        if Self::is_data_spec(&name, opener) && !is_htk_script(&name, opener) {
            match Self::split_data_spec(&name, opener)? {
                None => {
                    instead.insert("data".to_owned(), Value::String(name));
                    let description = Self::from_options(instead)?;
                    return Ok(Named { description, warnings, notes: Vec::new() });
                }
                Some((corpus, keys, said)) => {
                    warnings = said;
                    for (key, value) in keys {
                        instead.entry(key).or_insert(value);
                    }
                    name = corpus;
                }
            }
        }
        if let Some(directory) = data_directory::directory(&name, opener)
            && let Some(DataDirectory { keys, notes }) = data_directory::of(&directory, opener)?
        {
            let description = Self::from_table_in(Some(directory), keys, instead)?;
            return Ok(Named { description, warnings, notes });
        }
        let location = opener.place(name_from_text(&name));
        if let Some(ManifestKeys { keys, notes }) = manifest::of(&location, opener)? {
            let description = Self::from_table_in(location.parent(), keys, instead)?;
            return Ok(Named { description, warnings, notes });
        }
        let found = formats::recognised(&name, opener, |_| true)?;
        let found = found.filter(|(_, certainty)| *certainty > Certainty::Otherwise);
        let description = if let Some((format, _)) = found {
            let keys = format.description(&name);
            if typed_features && keys.contains_key("features") {
                let message = format!("the features are given twice: {name} and --features");
                return Err(Error::usage(message));
            }
            instead.extend(keys);
            Self::from_options(instead)?
        } else {
            refuse_pattern(&name, opener)?;
            Self::from_file_with(&opener.place(name_from_text(&name)), instead, opener)?
        };
        Ok(Named { description, warnings, notes: Vec::new() })
    }
}

/// Refuses a pattern: only files that PDNN reads may be named by one.
fn refuse_pattern(name: &str, opener: &Opener) -> Result<()> {
    let file = name_from_text(name);
    if !name.contains(['*', '?', '[']) || opener.exists(&opener.place(&file)) {
        return Ok(());
    }
    // Fails if nothing matches.
    let files = opener.list(&file)?.len();
    let files = if files == 1 { "1 file".to_owned() } else { format!("{files} files") };
    Err(Error::usage(format!("{files} match {name}, but are of no kind that patterns are for"))
        .with_help("patterns are for .pfile, .pickle, .pkl, .npy, .npz and .scp"))
}

/// Whether a name is one of HTK's files, or says so. Kaldi's script files are named with `scp:`.
fn is_htk(name: &str, opener: &Opener) -> bool {
    name.starts_with("htk:") || Description::is_htk_file(name, opener)
}

/// Whether a script, which PDNN could read too, is one of HTK's.
fn is_htk_script(name: &str, opener: &Opener) -> bool {
    name.starts_with("htk:") || name.to_ascii_lowercase().ends_with(".scp") && is_htk(name, opener)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_told_by_its_form() {
        let spec = Description::of_name("ark:f.ark").unwrap();
        assert!(
            spec.description.corpus.streams.contains_key("features")
                && spec.description.corpus.reader.is_none()
        );
        for reader in ["a.ctf", "a.ctf.gz", "reader.json", "x.config#a.b", "x.cntk"] {
            let named = Description::of_name(reader).unwrap();
            assert_eq!(named.description.corpus.reader.as_deref(), Some(reader));
        }
        for data in ["a.pfile", "a.pfile.gz,context=3", "a.pickle", "a*.pfile"] {
            let named = Description::of_name(data).unwrap();
            assert_eq!(named.description.corpus.data.as_deref(), Some(data));
        }
        let error = Description::of_name("no/such/corpus.toml").unwrap_err();
        assert!(error.is_not_found() && error.help().is_some(), "{error}");
    }

    #[test]
    fn what_is_given_replaces_what_the_name_says() {
        let instead: Table = "context = '1:1'".parse().unwrap();
        let of_name = |name, instead| Description::of_name_with(name, instead, &Opener::default());
        let named = of_name("ark:f.ark,context=5,seed=3", instead).unwrap();
        assert_eq!(
            named.description.corpus.streams["features"].context.clone().unwrap().text(),
            "1:1"
        );
        assert_eq!(named.description.feed.seed, Some(3));
        let twice: Table = "features = 'ark:g.ark'".parse().unwrap();
        assert!(of_name("ark:f.ark", twice).unwrap_err().is_usage());
    }
}
