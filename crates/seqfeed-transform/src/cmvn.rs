//! `cmvn`: normalization of mean and variance by given statistics, as Kaldi's `apply-cmvn`.

use std::borrow::Cow;

use seqfeed_core::{Element, Error, Given, Key, Output, Result, SamplesMut, Stream, Transform};

use crate::dense::{changes, frames_in_place};
use crate::{Float, Normalization, Statistics};

/// What `cmvn` does with statistics.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CmvnRule {
    /// Whether to normalize variances, too.
    pub variances: bool,
    /// Whether to give normalized frames the mean and variance of the statistics, instead.
    pub reverse: bool,
    /// Dimensions that stay as they are.
    pub skip_dims: Vec<usize>,
}

/// Where the statistics of a sequence come from.
pub trait FindStatistics: Send + Sync {
    /// The statistics for a sequence of the stream with this number.
    ///
    /// # Errors
    ///
    /// Fails if there are none, or if they cannot be computed.
    fn find(&self, stream: usize, key: Key<'_>) -> Result<Cow<'_, Statistics>>;

    /// The most bytes that are kept in memory.
    fn kept_bytes(&self) -> u64;
}

/// Normalizes mean and variance of dense streams, as Kaldi's `apply-cmvn`.
pub struct Cmvn {
    rule: CmvnRule,
    /// `None` for those of the sequence itself.
    statistics: Option<Box<dyn FindStatistics>>,
}

impl Cmvn {
    /// Normalizes by statistics. Without any, by those of each sequence itself.
    #[must_use]
    pub fn new(rule: CmvnRule, statistics: Option<Box<dyn FindStatistics>>) -> Self {
        Self { rule, statistics }
    }

    fn run<T: Float>(
        &self,
        frames: &mut [T],
        dim: usize,
        stream: usize,
        key: Key<'_>,
    ) -> Result<()> {
        if frames.is_empty() {
            return Ok(());
        }
        let mut statistics = match &self.statistics {
            Some(statistics) => statistics.find(stream, key)?,
            None => {
                let mut own = Statistics::new(dim);
                own.accumulate(frames, dim, None)?;
                Cow::Owned(own)
            }
        };
        if statistics.dim() != dim {
            return Err(Error::corpus(format!(
                "transform cmvn: the statistics are of {} dimensions, the features of {dim}",
                statistics.dim()
            )));
        }
        if !self.rule.skip_dims.is_empty() {
            statistics.to_mut().fake(&self.rule.skip_dims)?;
        }
        let make = if self.rule.reverse { Normalization::reverse } else { Normalization::forward };
        make(&statistics, self.rule.variances)?.apply(frames, dim)
    }
}

impl Transform for Cmvn {
    fn name(&self) -> &str {
        "cmvn"
    }

    fn outputs(&self, streams: &[Stream]) -> Result<Vec<Output>> {
        let outputs = frames_in_place(streams, self.name())?;
        let changed = outputs.iter().filter(|output| changes(output)).map(Output::stream);
        let narrowest = changed.map(|stream| stream.dim).min().unwrap_or(0);
        match self.rule.skip_dims.iter().find(|&&dim| dim >= narrowest) {
            None => Ok(outputs),
            Some(beyond) => Err(Error::usage(format!(
                "transform cmvn: there is no dimension {beyond} to skip: there are {narrowest}"
            ))
            .with_help("dimensions count from 0")),
        }
    }

    fn kept_bytes(&self) -> u64 {
        self.statistics.as_ref().map_or(0, |statistics| statistics.kept_bytes())
    }

    fn change(&self, output: usize, given: &Given<'_>, values: SamplesMut<'_>) -> Result<()> {
        let (stream, key) = (given.stream(0), given.key());
        match stream.element {
            Element::F64 => self.run::<f64>(values.into_numbers(), stream.dim, output, key),
            _ => self.run::<f32>(values.into_numbers(), stream.dim, output, key),
        }
        .map_err(|error| error.of_key(key))
    }
}
