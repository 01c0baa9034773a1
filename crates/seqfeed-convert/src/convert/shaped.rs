//! A corpus in the form to write: some of its streams, some with other types.

use std::sync::Arc;

use seqfeed::Change;
use seqfeed_core::{
    Block, Corpus, Element, Error, Given, Kind, Most, Output, Result, Stream, Transform,
    Transformed,
};

/// Some streams of a corpus, by their numbers, with their changes.
///
/// # Errors
///
/// Fails if there is no such stream.
pub(crate) fn shaped(corpus: &Arc<Corpus>, picks: &[(usize, Change)]) -> Result<Transformed> {
    Transformed::new(Arc::clone(corpus) as _, Arc::new(Shape { picks: picks.to_vec() }))
}

struct Shape {
    picks: Vec<(usize, Change)>,
}

impl Transform for Shape {
    fn name(&self) -> &str {
        "shape"
    }

    fn outputs(&self, streams: &[Stream]) -> Result<Vec<Output>> {
        let output = |&(number, change): &(usize, Change)| {
            let stream = streams[number].clone();
            let stream = match change {
                Change::None => return Output::Kept { of: number, stream },
                Change::Narrow => Stream { element: Element::F32, ..stream },
                Change::Widen => Stream { element: Element::F64, ..stream },
                Change::Classes => {
                    Stream { kind: Kind::Label, element: Element::I32, dim: 1, ..stream }
                }
            };
            Output::Made { of: vec![number], stream }
        };
        Ok(self.picks.iter().map(output).collect())
    }

    fn apply(&self, output: usize, given: &Given<'_>, to: &mut Block) -> Result<()> {
        match self.picks[output].1 {
            Change::None => {}
            Change::Classes => classes(given, to)?,
            Change::Narrow => floats(given, to, narrow),
            Change::Widen => floats(given, to, widen),
        }
        Ok(())
    }

    fn most(&self, _output: usize, given: Most) -> Option<Most> {
        // A label has one value.
        Some(given)
    }
}

/// Labels from samples with a single value, which is 1.
fn classes(given: &Given<'_>, to: &mut Block) -> Result<()> {
    let samples = given.sparse_samples(0);
    let ones = samples.values.chunks_exact(given.stream(0).element.size());
    let is_one = |value: &[u8]| match given.stream(0).element {
        Element::F64 => value == 1f64.to_ne_bytes(),
        Element::F32 => value == 1f32.to_ne_bytes(),
        Element::I32 => value == 1i32.to_ne_bytes(),
        _ => false,
    };
    let single = (0..samples.len()).all(|sample| samples.values_in(sample..sample + 1).len() == 1);
    if !single || !ones.into_iter().all(is_one) {
        let what = format!(
            "a sample of the sparse stream {} has not one value that is 1, so it is no label",
            given.stream(0).name
        );
        return Err(Error::corpus(what)
            .of_key(given.key())
            .with_help("write a format that holds sparse streams (CTF, or posteriors of Kaldi)"));
    }
    to.push_i32(samples.len()).copy_from_slice(samples.indices);
    Ok(())
}

/// Floats of another size.
fn floats(given: &Given<'_>, to: &mut Block, change: fn(&[u8], &mut [u8])) {
    if given.stream(0).kind == Kind::Sparse {
        let samples = given.sparse_samples(0);
        let mut values = vec![0; samples.indices.len() * to.element().size()];
        change(samples.values, &mut values);
        let ends = (1..=samples.len()).map(|end| samples.values_in(0..end).end as u32);
        to.push_sparse(&values, samples.indices, &ends.collect::<Vec<u32>>());
    } else {
        let samples = given.samples(0);
        change(samples.bytes(), to.push_bytes(samples.len()));
    }
}

fn narrow(from: &[u8], to: &mut [u8]) {
    for (from, to) in from.as_chunks::<8>().0.iter().zip(to.as_chunks_mut::<4>().0) {
        *to = (f64::from_ne_bytes(*from) as f32).to_ne_bytes();
    }
}

fn widen(from: &[u8], to: &mut [u8]) {
    for (from, to) in from.as_chunks::<4>().0.iter().zip(to.as_chunks_mut::<8>().0) {
        *to = f64::from(f32::from_ne_bytes(*from)).to_ne_bytes();
    }
}
