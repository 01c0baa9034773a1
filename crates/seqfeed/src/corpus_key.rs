//! A key of a description that names a whole corpus, with the settings of its feed.

use std::collections::BTreeMap;
use std::sync::Arc;

use seqfeed_core::{Error, Result, Source};
use seqfeed_io::Opener;
use toml::Table;

use crate::description::{Description, Text};
use crate::opened::Opened;

/// The sources that a key names, before they are joined.
pub(crate) struct KeySources {
    /// The primary one first.
    pub(crate) sources: Vec<Arc<dyn Source>>,
    /// Settings that are unknown or have no effect, with the name of the reader that has them.
    pub(crate) unknown: Option<(String, Vec<String>)>,
}

/// A key of a description that names a whole corpus, with the settings of its feed: `data`,
/// `reader`.
pub(crate) trait CorpusKey: Sync {
    /// Opens the corpus that the key names.
    fn open(&self, description: &Description, name: &str, opener: &Opener) -> Result<Opened>;

    /// Opens the sources without joining them.
    fn sources(&self, description: &Description, name: &str, opener: &Opener)
    -> Result<KeySources>;

    /// The description with all keys that the name implies. Names are relative to the working
    /// directory.
    fn explicit(
        &self,
        description: &Description,
        name: &str,
        opener: &Opener,
    ) -> Result<Description>;

    /// Splits a name from the options behind it that have keys of their own. `None` if there are
    /// none.
    fn split(&self, name: &str, opener: &Opener) -> Result<Option<(String, Table)>> {
        let _ = (name, opener);
        Ok(None)
    }
}

/// Refuses overrides if there is no configuration.
pub(crate) fn refuse_overrides(overrides: &BTreeMap<String, Text>) -> Result<()> {
    let Some(name) = overrides.keys().next() else { return Ok(()) };
    Err(Error::usage(format!("there is no configuration in which {name} could be overridden"))
        .with_help("overrides are for readers of CNTK's configurations (train.cntk#reader)"))
}
