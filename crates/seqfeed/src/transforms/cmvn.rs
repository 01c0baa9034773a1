//! `cmvn`: statistics from files, or from the data themselves.

use std::borrow::Cow;
use std::sync::Arc;

use seqfeed_core::{Error, Key, Result, Transform};
use seqfeed_kaldi::Matrix;
use seqfeed_transform::cmvn::FindStatistics;
use seqfeed_transform::{Cmvn, CmvnRule, Computed, Dims, Statistics};
use serde::Deserialize;

use super::by_key::{ByKey, read_speakers};
use super::statistics_file::read_statistics;
use super::{TransformContext, TransformSpec};
use crate::name_text::is_rspecifier;

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Options {
    /// A table of statistics, or a file with those of all.
    stats: Option<String>,
    /// What the statistics are computed of.
    by: Option<By>,
    /// The speaker of each utterance.
    utt2spk: Option<String>,
    norm_means: Option<bool>,
    #[serde(default)]
    norm_vars: bool,
    #[serde(default)]
    reverse: bool,
    #[serde(default)]
    skip_dims: Dims,
}

#[derive(Clone, Copy, Deserialize, PartialEq)]
#[serde(rename_all = "lowercase")]
enum By {
    Utterance,
    Speaker,
    Global,
}

/// The statistics of a file.
struct One(Statistics);

impl FindStatistics for One {
    fn find(&self, _stream: usize, _key: Key<'_>) -> Result<Cow<'_, Statistics>> {
        Ok(Cow::Borrowed(&self.0))
    }

    fn kept_bytes(&self) -> u64 {
        size_of_val(self.0.values()) as u64
    }
}

impl FindStatistics for ByKey<Statistics> {
    fn find(&self, _stream: usize, key: Key<'_>) -> Result<Cow<'_, Statistics>> {
        self.get(key).map(Cow::Borrowed)
    }

    fn kept_bytes(&self) -> u64 {
        self.kept_bytes(|statistics| size_of_val(statistics.values()))
    }
}

fn wrong(what: &str, help: &str) -> Error {
    Error::usage(format!("transform cmvn: {what}")).with_help(help.to_owned())
}

pub(super) fn make(
    spec: &TransformSpec,
    context: &TransformContext<'_>,
) -> Result<Arc<dyn Transform>> {
    let options: Options = spec.read()?;
    if options.norm_means == Some(false) {
        return Err(wrong(
            "without means there is nothing to normalize",
            "leave out `norm-means`, or the transform",
        ));
    }
    let (opener, source) = (context.opener, context.source);
    let utt2spk = options.utt2spk.as_deref();
    let computed = |speakers| -> Option<Box<dyn FindStatistics>> {
        Some(Box::new(Computed::new(Arc::clone(source), context.stream.unwrap_or(0), speakers)))
    };
    let statistics: Option<Box<dyn FindStatistics>> = match (&options.stats, options.by) {
        (Some(_), Some(_)) => {
            return Err(wrong("`stats` and `by` are two ways to say the same", "give one of them"));
        }
        (None, None) => {
            return Err(wrong(
                "there is no `stats`",
                "give `stats`, such as scp:cmvn.scp; or compute them: by = \"utterance\", \"speaker\" or \"global\"",
            ));
        }
        (None, Some(By::Speaker)) => match utt2spk {
            Some(utt2spk) => computed(Some(read_speakers(utt2spk, opener)?)),
            None => {
                return Err(wrong("there is no `utt2spk`", "it gives each utterance its speaker"));
            }
        },
        (None, Some(_)) if utt2spk.is_some() => {
            return Err(wrong(
                "`utt2spk` has no effect here",
                "leave it out, or give by = \"speaker\"",
            ));
        }
        (None, Some(By::Global)) => computed(None),
        (None, Some(By::Utterance)) => None,
        (Some(stats), None) if is_rspecifier(stats) => {
            let of_matrix = |Matrix { rows, cols, values }: Matrix<f64>| {
                Statistics::of_matrix(rows, cols, values)
            };
            Some(Box::new(ByKey::read(stats, utt2spk, source.index(), opener, of_matrix)?))
        }
        (Some(_), None) if utt2spk.is_some() => {
            return Err(wrong(
                "`utt2spk` is for a table of statistics",
                "give `stats` as a table, such as scp:cmvn.scp",
            ));
        }
        (Some(stats), None) => {
            Some(Box::new(One(read_statistics(stats, options.norm_vars, opener)?)))
        }
    };
    let rule = CmvnRule {
        variances: options.norm_vars,
        reverse: options.reverse,
        skip_dims: options.skip_dims.0,
    };
    Ok(Arc::new(Cmvn::new(rule, statistics)))
}
