//! A transform of one stream among others.

use std::sync::Arc;

use seqfeed_core::{
    About, Block, Error, Given, Most, Output, Result, SamplesMut, Stream, Transform,
};

/// Applies a transform to one stream, by its name; the others stay.
pub(super) struct OneStream {
    /// Its number.
    pub(super) number: usize,
    pub(super) transform: Arc<dyn Transform>,
}

/// The number of a stream, by its name.
pub(super) fn number(streams: &[Stream], name: &str, transform: &str) -> Result<usize> {
    if let Some(number) = streams.iter().position(|stream| stream.name == name) {
        return Ok(number);
    }
    let names: Vec<&str> = streams.iter().map(|stream| stream.name.as_str()).collect();
    Err(Error::usage(format!("transform {transform}: there is no stream {name}"))
        .with_help(format!("the streams are {}", names.join(", "))))
}

impl Transform for OneStream {
    fn name(&self) -> &str {
        self.transform.name()
    }

    fn outputs(&self, streams: &[Stream]) -> Result<Vec<Output>> {
        let number = self.number;
        let kept = |(of, stream): (usize, &Stream)| Output::Kept { of, stream: stream.clone() };
        let (before, from) = streams.split_at(number);
        let mut outputs: Vec<Output> = before.iter().enumerate().map(kept).collect();
        for output in self.transform.outputs(&from[..1])? {
            if let Some(other) = output.of().iter().find(|&&of| of != 0) {
                return Err(Error::usage(format!(
                    "transform {} needs {} streams, but is applied to one",
                    self.name(),
                    other + 1
                ))
                .with_help("give it under the key `transforms` at the top, for all streams"));
            }
            outputs.push(match output {
                Output::Kept { stream, .. } => Output::Kept { of: number, stream },
                Output::Changed { stream, .. } => Output::Changed { of: number, stream },
                Output::Made { of, stream } => Output::Made { of: vec![number; of.len()], stream },
            });
        }
        outputs.extend(streams.iter().enumerate().skip(number + 1).map(kept));
        Ok(outputs)
    }

    fn samples(&self, samples: u32) -> u32 {
        self.transform.samples(samples)
    }

    fn varies(&self) -> bool {
        self.transform.varies()
    }

    fn about(&self, about: About) -> About {
        self.transform.about(about)
    }

    fn apply(&self, output: usize, given: &Given<'_>, to: &mut Block) -> Result<()> {
        self.transform.apply(output - self.number, given, to)
    }

    fn change(&self, output: usize, given: &Given<'_>, values: SamplesMut<'_>) -> Result<()> {
        self.transform.change(output - self.number, given, values)
    }

    fn kept_bytes(&self) -> u64 {
        self.transform.kept_bytes()
    }

    fn loading_bytes(&self) -> u64 {
        self.transform.loading_bytes()
    }

    fn most(&self, output: usize, given: Most) -> Option<Most> {
        self.transform.most(output - self.number, given)
    }
}
