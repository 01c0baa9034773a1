//! `one-hot`: labels as dense vectors.

use seqfeed_core::{
    Block, Element, Error, Given, Kind, Output, Result, Stream, Transform, numbers,
};
use serde::Deserialize;

/// More classes than anybody has.
const MOST: usize = 1 << 24;

/// Makes vectors of `dim` values out of labels: 1 at the label, 0 elsewhere.
#[derive(Deserialize)]
#[serde(try_from = "Options")]
pub struct OneHot {
    dim: usize,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Options {
    dim: usize,
}

impl TryFrom<Options> for OneHot {
    type Error = &'static str;

    fn try_from(Options { dim }: Options) -> Result<Self, &'static str> {
        if (1..=MOST).contains(&dim) {
            Ok(Self { dim })
        } else {
            Err("`dim` is from 1 to 16777216")
        }
    }
}

impl Transform for OneHot {
    fn name(&self) -> &str {
        "one-hot"
    }

    fn outputs(&self, streams: &[Stream]) -> Result<Vec<Output>> {
        let is = |stream: &Stream| stream.kind == Kind::Label && stream.dim == 1;
        if !streams.iter().any(is) {
            return Err(Error::usage("transform one-hot: there are no labels"));
        }
        let dense = |stream: Stream| {
            let (kind, element, dim) = (Kind::Dense, Element::F32, self.dim);
            Stream { kind, element, dim, ..stream }
        };
        Ok(Output::change(streams, is, dense))
    }

    fn apply(&self, _output: usize, given: &Given<'_>, to: &mut Block) -> Result<()> {
        let samples = given.samples(0);
        let labels = numbers::<i32>(samples.bytes());
        let rows = to.push_f32(samples.len());
        rows.fill(0.0);
        for (row, &label) in rows.chunks_exact_mut(self.dim).zip(labels.iter()) {
            match usize::try_from(label).ok().and_then(|label| row.get_mut(label)) {
                Some(value) => *value = 1.0,
                None => {
                    let (name, dim) = (&given.stream(0).name, self.dim);
                    return Err(Error::corpus(format!(
                        "transform one-hot: stream {name} has label {label}, but dim is {dim}"
                    ))
                    .of_key(given.key())
                    .with_help("labels count from 0, and are smaller than `dim`"));
                }
            }
        }
        Ok(())
    }
}
