//! `noise` with a corpus: frames of another corpus, added at a signal-to-noise ratio.

use std::iter;
use std::sync::Arc;

use seqfeed_core::{
    Block, Element, Error, Extent, Given, Output, Random, Result, SamplesMut, Source, Stream,
    Transform, numbers,
};
use serde::Deserialize;

use crate::Float;
use crate::dense::{changes, frames_in_place};
use crate::recent::Recent;

/// The most bytes of noise that are kept after they were used.
const KEPT: u64 = 64 << 20;

/// What the values of features are.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum NoiseDomain {
    /// Natural logarithms of energies, such as those of mel bins. Energies are added. The power of
    /// frames is the mean of their energies.
    Log,
    /// Amplitudes. Values are added. The power of frames is the mean of their squares.
    Linear,
}

/// How [`MixedNoise`] is added.
#[derive(Clone, Copy, Debug)]
pub struct MixedNoiseRule {
    /// The least and the greatest signal-to-noise ratio, in decibels.
    pub snr: [f64; 2],
    /// What the values are.
    pub domain: NoiseDomain,
}

/// Adds frames of another corpus to dense streams, at a random signal-to-noise ratio.
///
/// For each sequence, a sequence of noise, the first of its frames and the ratio are drawn, each
/// evenly. Noise that is shorter than the sequence is repeated. Its gain follows from the power of
/// the sequence and that of the frames that are added to it. If one of them has no power, the
/// sequence stays as it is.
pub struct MixedNoise {
    rule: MixedNoiseRule,
    source: Arc<dyn Source>,
    /// The stream of the source that has the noise.
    stream: usize,
    /// The sequences that have frames.
    sequences: Vec<u32>,
    recent: Recent<Arc<[f32]>>,
}

impl MixedNoise {
    /// Noise out of a stream of a source, by its number.
    ///
    /// # Errors
    ///
    /// Fails if the ratios are not two finite numbers in order, or if there is no noise.
    pub fn new(rule: MixedNoiseRule, source: Arc<dyn Source>, stream: usize) -> Result<Self> {
        let [low, high] = rule.snr;
        if !(low.is_finite() && high.is_finite() && low <= high) {
            return Err(Error::usage("transform noise: `snr` is wrong")
                .with_help("give the least and the greatest ratio in decibels: snr = [5, 20]"));
        }
        let index = source.index();
        let has_frames = |sequence: &u32| {
            !index.is_masked(*sequence) && source.length(stream, *sequence) != Some(0)
        };
        let sequences: Vec<u32> = (0..index.len() as u32).filter(has_frames).collect();
        if sequences.is_empty() {
            let what = "transform noise: the corpus of noise has no frames";
            return Err(Error::corpus(what).in_file(source.name()));
        }
        Ok(Self { rule, source, stream, sequences, recent: Recent::new(KEPT) })
    }

    fn frames(&self, sequence: u32) -> Result<Arc<[f32]>> {
        if let Some(frames) = self.recent.get(sequence) {
            return Ok(frames);
        }
        let stream = &self.source.streams()[self.stream];
        let mut block = Block::of(stream);
        self.source.load_stream(self.stream, &[sequence], &mut block)?;
        let bytes = block.samples(0).bytes();
        let frames: Arc<[f32]> = match stream.element {
            Element::F64 => numbers::<f64>(bytes).iter().map(|&value| value as f32).collect(),
            _ => numbers::<f32>(bytes).iter().copied().collect(),
        };
        self.recent.insert(sequence, &frames, size_of_val(&*frames) as u64);
        Ok(frames)
    }

    fn run<T: Float>(&self, mut random: Random, values: &mut [T], dim: usize) -> Result<()> {
        let dim = dim.max(1);
        let number = random.below(self.sequences.len() as u64) as usize;
        let noise = self.frames(self.sequences[number])?;
        let (count, there) = (values.len() / dim, noise.len() / dim);
        let places = if there > count { there - count + 1 } else { there };
        let first = random.below(places as u64) as usize;
        let [low, high] = self.rule.snr;
        let ratio = 10f64.powf((low + (high - low) * random.next_f64()) / 10.0);
        let from_first = noise[first * dim..].iter().chain(noise.iter().cycle());
        let noise = from_first.map(|&value| f64::from(value)).take(values.len());
        let domain = self.rule.domain;
        let signal_power = domain.power(values.iter().map(|value| value.to_f64()));
        let gain = signal_power / (ratio * domain.power(noise.clone()));
        if !(gain.is_finite() && gain > 0.0) {
            return Ok(());
        }
        let level = match domain {
            NoiseDomain::Log => gain.ln(),
            NoiseDomain::Linear => gain.sqrt(),
        };
        for (value, noise) in iter::zip(values, noise) {
            *value = T::from_f64(match domain {
                NoiseDomain::Log => log_of_sum(value.to_f64(), noise + level),
                NoiseDomain::Linear => value.to_f64() + noise * level,
            });
        }
        Ok(())
    }
}

impl NoiseDomain {
    /// The mean power of values.
    fn power(self, values: impl Iterator<Item = f64>) -> f64 {
        let (mut sum, mut count) = (0.0, 0.0);
        for value in values {
            sum += match self {
                Self::Log => value.exp(),
                Self::Linear => value * value,
            };
            count += 1.0;
        }
        sum / count
    }
}

/// The logarithm of the sum of two numbers that are given by their logarithms.
fn log_of_sum(a: f64, b: f64) -> f64 {
    let (low, high) = if a < b { (a, b) } else { (b, a) };
    if high == f64::NEG_INFINITY { high } else { high + (low - high).exp().ln_1p() }
}

impl Transform for MixedNoise {
    fn name(&self) -> &str {
        "noise"
    }

    fn outputs(&self, streams: &[Stream]) -> Result<Vec<Output>> {
        let outputs = frames_in_place(streams, self.name())?;
        let noise = &self.source.streams()[self.stream];
        let changed = outputs.iter().filter(|output| changes(output)).map(Output::stream);
        match changed.into_iter().find(|stream| stream.dim != noise.dim) {
            None => Ok(outputs),
            Some(other) => Err(Error::usage(format!(
                "transform noise: stream {} has {} dimensions, the noise has {}",
                other.name, other.dim, noise.dim
            ))
            .with_help("the noise needs the same features: make it with the same settings")),
        }
    }

    fn varies(&self) -> bool {
        true
    }

    fn change(&self, output: usize, given: &Given<'_>, values: SamplesMut<'_>) -> Result<()> {
        if values.is_empty() {
            return Ok(());
        }
        let (stream, random) = (given.stream(0), given.random_of(output));
        match stream.element {
            Element::F64 => self.run::<f64>(random, values.into_numbers(), stream.dim),
            _ => self.run::<f32>(random, values.into_numbers(), stream.dim),
        }
    }

    fn kept_bytes(&self) -> u64 {
        let stream = &self.source.streams()[self.stream];
        let frames = match stream.extent {
            Extent::Sequence => self.source.index().len() as u64,
            _ => self.source.index().total_samples(),
        };
        let all = frames.saturating_mul(4 * stream.dim as u64);
        all.min(KEPT).saturating_add(self.source.kept_bytes())
    }

    fn loading_bytes(&self) -> u64 {
        let stream = &self.source.streams()[self.stream];
        let longest = self.source.most_of_one(self.stream).samples;
        let bytes = (stream.sample_bytes() + 4 * stream.dim) as u64;
        longest.saturating_mul(bytes).saturating_add(self.source.loading_bytes())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use seqfeed_core::{Draw, Index, IndexBuilder, Key, Kind, Transformed};

    use super::*;

    /// Sequences of one stream.
    struct Listed(Vec<Stream>, Arc<Index>, Vec<Vec<f32>>);

    impl Listed {
        fn source(dim: usize, sequences: Vec<Vec<f32>>) -> Arc<dyn Source> {
            let mut builder = IndexBuilder::new(100);
            for (number, values) in sequences.iter().enumerate() {
                builder.push(Key(format!("u{number}").as_bytes()), (values.len() / dim) as u32);
            }
            let (name, extent) = ("features".to_owned(), Extent::Samples);
            let stream = Stream { name, kind: Kind::Dense, element: Element::F32, dim, extent };
            Arc::new(Self(vec![stream], Arc::new(builder.finish()), sequences))
        }
    }

    impl Source for Listed {
        fn name(&self) -> &str {
            "given"
        }
        fn streams(&self) -> &[Stream] {
            &self.0
        }
        fn index(&self) -> &Arc<Index> {
            &self.1
        }
        fn load(&self, sequences: &[u32], blocks: &mut [Block]) -> Result<()> {
            for &sequence in sequences {
                let values = &self.2[sequence as usize];
                blocks[0].push_f32(values.len() / self.0[0].dim).copy_from_slice(values);
            }
            Ok(())
        }
    }

    /// Values of a normal distribution.
    fn normal(seed: u64, count: usize, deviation: f64) -> Vec<f32> {
        let mut random = Draw::new(seed, 0).random(Key(b"x"));
        iter::repeat_with(|| random.next_normal()[0] * deviation)
            .map(|one| one as f32)
            .take(count)
            .collect()
    }

    /// All sequences with noise.
    fn noisy(
        rule: MixedNoiseRule,
        clean: &Arc<dyn Source>,
        noise: &Arc<dyn Source>,
    ) -> Vec<Vec<f32>> {
        let transform = MixedNoise::new(rule, Arc::clone(noise), 0).unwrap();
        let source = Transformed::new(Arc::clone(clean), Arc::new(transform)).unwrap();
        let mut blocks = source.new_blocks();
        let sequences: Vec<u32> = (0..clean.index().len() as u32).collect();
        source.load(&sequences, &mut blocks).unwrap();
        let of = |place| numbers::<f32>(blocks[0].samples(place).bytes()).into_owned();
        (0..sequences.len()).map(of).collect()
    }

    fn decibels(signal: f64, noise: f64) -> f64 {
        10.0 * (signal / noise).log10()
    }

    #[test]
    fn ratios_are_those_that_were_asked_for() {
        let lengths = [1, 7, 40, 200, 333, 12, 90];
        let clean: Vec<Vec<f32>> =
            (0..70).map(|n| normal(n, 3 * lengths[n as usize % 7], 2.0)).collect();
        let noise = (100..105).map(|n| normal(n, 3 * 60, 0.1 * (n - 99) as f64)).collect();
        let (source, noise) = (Listed::source(3, clean.clone()), Listed::source(3, noise));
        for domain in [NoiseDomain::Linear, NoiseDomain::Log] {
            let power = |value: f64| match domain {
                NoiseDomain::Linear => value * value,
                NoiseDomain::Log => value.exp(),
            };
            let ratio = |clean: &[f32], noisy: &[f32]| {
                let (mut signal, mut added) = (0.0, 0.0);
                for (&clean, &noisy) in clean.iter().zip(noisy) {
                    let (clean, noisy) = (f64::from(clean), f64::from(noisy));
                    signal += power(clean);
                    added += match domain {
                        NoiseDomain::Linear => power(noisy - clean),
                        NoiseDomain::Log => power(noisy) - power(clean),
                    };
                }
                decibels(signal, added)
            };
            let exact = noisy(MixedNoiseRule { snr: [10.0, 10.0], domain }, &source, &noise);
            for (clean, noisy) in clean.iter().zip(&exact) {
                assert!((ratio(clean, noisy) - 10.0).abs() < 0.01, "{}", ratio(clean, noisy));
            }
            let spread = noisy(MixedNoiseRule { snr: [-5.0, 15.0], domain }, &source, &noise);
            let ratios: Vec<f64> =
                clean.iter().zip(&spread).map(|(clean, noisy)| ratio(clean, noisy)).collect();
            assert!(ratios.iter().all(|ratio| (-5.1..15.1).contains(ratio)), "{ratios:?}");
            let mean = ratios.iter().sum::<f64>() / ratios.len() as f64;
            assert!((mean - 5.0).abs() < 2.0, "{mean}");
            assert!(ratios.iter().any(|&ratio| ratio < 0.0));
            assert!(ratios.iter().any(|&ratio| ratio > 10.0));
        }
    }

    #[test]
    fn frames_follow_one_another_and_short_noise_is_repeated() {
        let rule = MixedNoiseRule { snr: [0.0, 0.0], domain: NoiseDomain::Linear };
        let clean = Listed::source(1, vec![vec![1.0; 4], vec![1.0; 9]]);
        let noise = Listed::source(1, vec![vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0]]);
        let found = noisy(rule, &clean, &noise);
        // The first is one of three pieces; the second goes round.
        for (noisy, count) in found.iter().zip([4usize, 9]) {
            let added: Vec<f32> = noisy.iter().map(|value| value - 1.0).collect();
            let of = |first: usize| (0..count).map(move |n| ((first + n) % 6 + 1) as f32);
            let places = if count == 4 { 0..3 } else { 0..6 };
            let fits = |first: usize| {
                let ratio = added[0] / of(first).next().unwrap();
                of(first).zip(&added).all(|(noise, added)| (noise * ratio - added).abs() < 1e-5)
            };
            assert!(places.into_iter().any(fits), "{added:?}");
        }
    }

    #[test]
    fn sequences_without_power_stay() {
        let rule = MixedNoiseRule { snr: [0.0, 0.0], domain: NoiseDomain::Linear };
        let (silence, sound) = (vec![0.0; 5], vec![1.0; 5]);
        let of = |values: &[f32]| Listed::source(1, vec![values.to_vec()]);
        assert_eq!(noisy(rule, &of(&silence), &of(&sound)), std::slice::from_ref(&silence));
        assert_eq!(noisy(rule, &of(&sound), &of(&silence)), std::slice::from_ref(&sound));
        let log = MixedNoiseRule { domain: NoiseDomain::Log, ..rule };
        let low = vec![f32::NEG_INFINITY, 0.0];
        let both = noisy(log, &of(&low), &of(&low)).concat();
        assert!(both.iter().all(|value| !value.is_nan()), "{both:?}");
    }

    #[test]
    fn what_cannot_be_mixed_is_refused() {
        let new = |snr, noise: Arc<dyn Source>| {
            let rule = MixedNoiseRule { snr, domain: NoiseDomain::Log };
            MixedNoise::new(rule, noise, 0)
        };
        let noise = || Listed::source(2, vec![vec![0.0; 4]]);
        assert!(new([5.0, 0.0], noise()).is_err() && new([f64::NAN, 0.0], noise()).is_err());
        assert!(new([0.0, 5.0], Listed::source(2, vec![vec![]])).is_err());
        let other = Transformed::new(
            Listed::source(3, vec![vec![0.0; 3]]),
            Arc::new(new([0.0, 5.0], noise()).unwrap()),
        );
        let error = other.err().unwrap();
        assert!(error.message().contains("3 dimensions, the noise has 2"), "{error}");
    }
}
