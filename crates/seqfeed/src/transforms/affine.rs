//! `transform`: the matrix of all utterances, of each speaker or of each utterance.

use std::sync::Arc;

use seqfeed_core::{Error, Key, Result, Transform};
use seqfeed_io::name_from_text;
use seqfeed_kaldi::{Matrix, ObjectReader};
use seqfeed_transform::affine::FindAffine;
use seqfeed_transform::{Affine, MatrixProduct};
use serde::Deserialize;

use super::by_key::ByKey;
use super::{TransformContext, TransformSpec};
use crate::name_text::is_rspecifier;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Options {
    /// A file with a matrix, or a table of matrices.
    matrix: String,
    /// The speaker of each utterance: then the keys of the table are speakers.
    utt2spk: Option<String>,
}

struct One(Affine<f32>);

impl FindAffine for One {
    fn find(&self, _key: Key<'_>) -> Result<&Affine<f32>> {
        Ok(&self.0)
    }

    fn kept_bytes(&self) -> u64 {
        self.0.bytes() as u64
    }
}

impl FindAffine for ByKey<Affine<f32>> {
    fn find(&self, key: Key<'_>) -> Result<&Affine<f32>> {
        self.get(key)
    }

    fn kept_bytes(&self) -> u64 {
        self.kept_bytes(Affine::bytes)
    }
}

fn affine(Matrix { rows, cols, values }: Matrix<f32>) -> Result<Affine<f32>> {
    Affine::new(rows, cols, values)
}

pub(super) fn make(
    spec: &TransformSpec,
    context: &TransformContext<'_>,
) -> Result<Arc<dyn Transform>> {
    let Options { matrix, utt2spk } = spec.read()?;
    let index = context.source.index();
    let product = if is_rspecifier(&matrix) {
        let all = ByKey::read(&matrix, utt2spk.as_deref(), index, context.opener, affine)?;
        MatrixProduct::new(all.entries().first().map_or(1, Affine::dim), Box::new(all))
    } else if utt2spk.is_some() {
        let what = "transform transform: `utt2spk` is for a table of matrices";
        return Err(Error::usage(what).with_help("give `matrix` as a table, such as ark:trans.ark"));
    } else {
        let name = context.opener.rxfilename(&name_from_text(&matrix))?;
        let mut reader = ObjectReader::open(&name, context.opener)?;
        let one = affine(reader.read()?).map_err(|error| error.in_file(&matrix))?;
        reader.finish()?;
        MatrixProduct::new(one.dim(), Box::new(One(one)))
    };
    Ok(Arc::new(product))
}
