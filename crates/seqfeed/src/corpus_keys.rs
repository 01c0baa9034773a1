//! The keys of a description that name a whole corpus: one line each.

use seqfeed_core::{Error, Result};

use crate::corpus_key::CorpusKey;
use crate::description::Description;
use crate::formats;

/// The keys in this build of the library.
static KEYS: &[(&str, &dyn CorpusKey)] = &[
    #[cfg(feature = "pdnn")]
    ("data", &crate::data::Data),
    #[cfg(feature = "cntk")]
    ("reader", &crate::reader::Reader),
];

/// The keys in this build of the library.
pub(crate) fn all() -> impl Iterator<Item = &'static dyn CorpusKey> {
    KEYS.iter().map(|(_, key)| *key)
}

/// The [`CorpusKey`] by which a description names its whole corpus, and the value of that key.
///
/// # Errors
///
/// Fails if the library was built without the format of the key.
pub(crate) fn of(description: &Description) -> Result<Option<(&'static dyn CorpusKey, &str)>> {
    let corpus = &description.corpus;
    if corpus.task.is_some() && corpus.data.is_none() {
        return Err(Error::usage("`task` is for data specifications (a.pfile|b.pfile)"));
    }
    let (key, feature, name) = match (&corpus.data, &corpus.reader) {
        (Some(name), _) => ("data", "pdnn", name),
        (None, Some(name)) => ("reader", "cntk", name),
        (None, None) => return Ok(None),
    };
    match KEYS.iter().find(|(known, _)| *known == key) {
        Some((_, found)) => Ok(Some((*found, name))),
        None => Err(formats::key_left_out(key, feature)),
    }
}
