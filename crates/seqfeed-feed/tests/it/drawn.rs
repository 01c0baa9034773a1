//! A transform that adds a stream of random labels, one a sample.

use std::sync::Arc;

use seqfeed_core::{
    Block, Draw, Extent, Given, Key, Output, Random, Result, Source, Stream, Transform, Transformed,
};

use crate::memory_corpus::{STEP, labels};

pub(crate) const SEED: u64 = 5;

struct Drawn;

impl Transform for Drawn {
    fn name(&self) -> &str {
        "drawn"
    }

    fn outputs(&self, streams: &[Stream]) -> Result<Vec<Output>> {
        let mut outputs = Output::change(streams, |_| false, |stream| stream);
        let stream = labels("drawn", Extent::Samples);
        outputs.push(Output::Made { of: vec![1], stream });
        Ok(outputs)
    }

    fn varies(&self) -> bool {
        true
    }

    fn apply(&self, _output: usize, given: &Given<'_>, to: &mut Block) -> Result<()> {
        let mut random = given.random();
        let to = to.push_i32(given.samples(0).len());
        to.iter_mut().for_each(|label| *label = next(&mut random));
        Ok(())
    }
}

fn next(random: &mut Random) -> i32 {
    random.below(1 << 31) as i32
}

/// A source with such a stream.
pub(crate) fn with_drawn(source: Arc<dyn Source>) -> Arc<dyn Source> {
    Arc::new(Transformed::new(source, Arc::new(Drawn)).unwrap())
}

/// What is drawn for a sample, by its label, in a sweep.
pub(crate) fn drawn(sample: i32, sweep: u64) -> i32 {
    let key = format!("utt{:03}", sample / STEP);
    let mut random = Draw::new(SEED, sweep).random(Key(key.as_bytes()));
    (0..=sample % STEP).map(|_| next(&mut random)).last().unwrap()
}
