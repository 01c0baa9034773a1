//! The samples that sequences have in another stream than the features, such as words.

use std::sync::Arc;

use seqfeed_core::{Error, Index, Result, Source, nearest_name};

use crate::order::{OrderedUnit, sequence};
use crate::random;
use crate::settings::{Cut, Settings, Unit};

/// The samples that each sequence has in one stream.
#[derive(Debug)]
pub(crate) struct Tokens {
    index: Arc<Index>,
    stream: String,
    lengths: Vec<u32>,
}

impl Tokens {
    /// The lengths in the stream that the settings name; `None` if no limit needs them.
    ///
    /// # Errors
    ///
    /// Fails if there is no such stream, or if its lengths are not known without loading it.
    pub(crate) fn new(source: &dyn Source, settings: &Settings) -> Result<Option<Arc<Self>>> {
        let Cut::Steps(steps) = settings.cut else { return Ok(None) };
        let (Some(_), Some(name)) = (steps.limits.tokens, &settings.tokens_of) else {
            return Ok(None);
        };
        let names = || source.streams().iter().map(|stream| stream.name.as_str());
        let Some(stream) = names().position(|known| known == name) else {
            let error = Error::usage(format!("tokens-of: there is no stream {name}"));
            return Err(match nearest_name(name, names()) {
                Some(near) => error.with_help(format!("did you mean `{near}`?")),
                None => error.with_help(format!(
                    "the streams are {}",
                    names().collect::<Vec<_>>().join(", ")
                )),
            });
        };
        let index = Arc::clone(source.index());
        let lengths = (0..index.len() as u32).map(|sequence| source.length(stream, sequence));
        let lengths: Option<Vec<u32>> = lengths.collect();
        let Some(lengths) = lengths else {
            let what = format!("tokens-of: the lengths of stream {name} are not known");
            return Err(Error::usage(what)
                .in_file(source.name())
                .with_help("they become known when it is loaded: choose another stream"));
        };
        Ok(Some(Arc::new(Self { index, stream: name.clone(), lengths })))
    }

    /// The samples of a sequence.
    pub(crate) fn of(&self, item: &OrderedUnit) -> u64 {
        self.lengths[sequence(&self.index, Unit::Sequence, *item) as usize].into()
    }

    pub(crate) fn bytes(&self) -> u64 {
        (self.lengths.len() * size_of::<u32>()) as u64
    }

    /// A number that changes with the stream and its lengths: they decide which minibatches there
    /// are.
    pub(crate) fn digest(&self) -> u64 {
        let name = self.stream.bytes().map(u64::from);
        let lengths = self.lengths.iter().map(|&length| u64::from(length));
        name.chain(lengths).fold(0, |hash, part| random::mix(hash ^ part))
    }
}
