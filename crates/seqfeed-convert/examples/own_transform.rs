//! A transform of your own, `energy`: adds a stream with the sum of squares of each frame.
use std::sync::Arc;

use seqfeed::io::Opener;
use seqfeed::*;
use seqfeed_convert::{ConvertOptions, ConvertPlan, Target};

struct Energy;

impl Transform for Energy {
    fn name(&self) -> &str {
        "energy"
    }
    fn outputs(&self, streams: &[Stream]) -> Result<Vec<Output>> {
        let mut outputs = Output::change(streams, |_| false, |stream| stream);
        let stream = Stream { name: "energy".to_owned(), dim: 1, ..streams[0].clone() };
        outputs.push(Output::Made { of: vec![0], stream });
        Ok(outputs)
    }
    fn apply(&self, _output: usize, given: &Given<'_>, to: &mut Block) -> Result<()> {
        let frames = given.samples(0);
        for (t, energy) in to.push_f32(frames.len()).iter_mut().enumerate() {
            let values = frames.row(t).as_chunks().0.iter().map(|bytes| f32::from_ne_bytes(*bytes));
            *energy = values.map(|value| value * value).sum();
        }
        Ok(())
    }
}
pub(crate) fn register() -> Result<()> {
    register_transform("energy", |_options, _context| Ok(Arc::new(Energy)))
}
fn main() -> Result<()> {
    register()?;
    let names: Vec<String> = std::env::args().skip(1).collect();
    let options = Table::from_iter([("transforms".to_owned(), "energy".into())]);
    let corpus = Description::of_name_with(&names[0], options, &Opener::default())?;
    let corpus = corpus.description.open(&Opener::default())?;
    let plan = ConvertPlan::new(corpus.corpus(), ConvertOptions::new(Target::parse(&names[1])?))?;
    plan.run(&|_| {}).map(drop)
}
