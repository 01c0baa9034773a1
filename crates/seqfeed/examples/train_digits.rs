//! A proof that the feed teaches: a small network learns spoken digits from its minibatches.
//!
//! ```text
//! cargo run --release --example train_digits
//! ```
//!
//! The network has one hidden layer of 128 rectified units and a softmax over silence and ten
//! digits. It trains for five sweeps by stochastic gradient descent with momentum. A second one
//! trains beside it without shuffling. Shuffled minibatches train well at this learning rate.
//! Minibatches of consecutive frames do not: each holds one or two words. (At 0.02 the sequential
//! order loses some three points instead.)
#![allow(clippy::print_stdout)]

use std::path::{Path, PathBuf};
use std::thread;
use std::time::Instant;

use seqfeed::io::Opener;
use seqfeed::{Description, Minibatch, Result, Table};

const HIDDEN: usize = 128;
const CLASSES: usize = 11;
const RATE: f32 = 0.05;
const MOMENTUM: f32 = 0.9;
const SWEEPS: u64 = 5;

fn main() -> Result<()> {
    let directory = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../examples/digits");
    let (shuffled, sequential) = thread::scope(|scope| {
        let shuffled = thread::Builder::new()
            .spawn_scoped(scope, || train(&directory, "shuffle"))
            .expect("a second thread");
        let sequential = train(&directory, "sequential");
        (shuffled.join().expect("no panic"), sequential)
    });
    let (shuffled, sequential) = (shuffled?, sequential?);
    println!("frame accuracy on the test part, shuffled:   {:.1} %", 100.0 * shuffled);
    println!("frame accuracy on the test part, sequential: {:.1} %", 100.0 * sequential);
    assert!(shuffled >= 0.9, "the network did not learn");
    assert!(shuffled > sequential + 0.01, "shuffling made no difference");
    Ok(())
}

/// Trains from the feed in an order; the accuracy on the test part.
fn train(directory: &Path, order: &str) -> Result<f64> {
    let options = match order {
        "sequential" => "order = 'sequential'".parse().expect("valid TOML"),
        _ => Table::new(),
    };
    let file = directory.join("train.toml");
    let mut description =
        Description::of_name_with(&file, options, &Opener::default())?.description;
    description.feed.sweeps = Some(SWEEPS);
    let normalization = Normalization::measure(&description)?;
    let opened = description.open(&Opener::default())?;
    let mut network = Network::new(normalization);
    let started = Instant::now();
    let (mut loss, mut frames) = (0.0, 0usize);
    for minibatch in opened.feed(None)? {
        let minibatch = minibatch?;
        loss += network.learn(&minibatch);
        frames += minibatch.samples();
        if minibatch.end_of_sweep() {
            let sweep = minibatch.sweep() + 1;
            println!("{order:>10} sweep {sweep:>2} of {SWEEPS}: loss {:.3}", loss / frames as f64);
            (loss, frames) = (0.0, 0);
        }
    }
    println!("{order:>10} trained in {:.1} s", started.elapsed().as_secs_f64());
    let test = Description::from_file(&directory.join("test.toml"))?.open(&Opener::default())?;
    let (mut right, mut all) = (0, 0);
    for minibatch in test.feed(None)? {
        let minibatch = minibatch?;
        right += network.count_right(&minibatch);
        all += minibatch.samples();
    }
    Ok(right as f64 / all as f64)
}

/// Mean and inverse standard deviation of each feature.
struct Normalization {
    mean: Vec<f32>,
    scale: Vec<f32>,
}

impl Normalization {
    fn measure(description: &Description) -> Result<Self> {
        let mut once = description.clone();
        once.feed.sweeps = Some(1);
        let (mut sum, mut squares, mut frames) = (Vec::new(), Vec::new(), 0.0f64);
        for minibatch in once.open(&Opener::default())?.feed(None)? {
            let minibatch = minibatch?;
            let (features, _) = frames_of(&minibatch);
            let dim = features.len() / minibatch.samples();
            sum.resize(dim, 0.0f64);
            squares.resize(dim, 0.0f64);
            for row in features.chunks_exact(dim) {
                for ((sum, squares), &value) in sum.iter_mut().zip(&mut squares).zip(row) {
                    *sum += f64::from(value);
                    *squares += f64::from(value).powi(2);
                }
            }
            frames += minibatch.samples() as f64;
        }
        let mean: Vec<f64> = sum.iter().map(|sum| sum / frames).collect();
        let scale = squares.iter().zip(&mean).map(|(squares, mean)| {
            (1.0 / (squares / frames - mean * mean).max(1e-10).sqrt()) as f32
        });
        Ok(Self { scale: scale.collect(), mean: mean.iter().map(|&mean| mean as f32).collect() })
    }
}

fn frames_of(minibatch: &Minibatch) -> (&[f32], &[i32]) {
    let features = minibatch.dense("features").expect("a stream of features");
    let labels = minibatch.labels("labels").expect("a stream of labels");
    (features, labels)
}

/// Weights of one layer, `inputs` x `outputs`, with biases and their velocities.
struct Layer {
    outputs: usize,
    weights: Vec<f32>,
    biases: Vec<f32>,
    weight_velocity: Vec<f32>,
    bias_velocity: Vec<f32>,
}

impl Layer {
    fn new(inputs: usize, outputs: usize, seed: u64) -> Self {
        let mut state = seed;
        let range = (3.0 / inputs as f32).sqrt();
        let mut uniform = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            ((state >> 40) as f32 / (1u64 << 23) as f32 - 1.0) * range
        };
        let weights: Vec<f32> = (0..inputs * outputs).map(|_| uniform()).collect();
        Self {
            outputs,
            weight_velocity: vec![0.0; weights.len()],
            weights,
            biases: vec![0.0; outputs],
            bias_velocity: vec![0.0; outputs],
        }
    }

    fn forward(&self, input: &[f32], output: &mut [f32]) {
        output.copy_from_slice(&self.biases);
        for (&x, weights) in input.iter().zip(self.weights.chunks_exact(self.outputs)) {
            for (y, &w) in output.iter_mut().zip(weights) {
                *y += x * w;
            }
        }
    }

    /// Takes a step down the gradient of rows of inputs and rows of output gradients.
    fn step(&mut self, inputs: &[f32], gradients: &[f32], rows: usize) {
        let rate = RATE / rows as f32;
        self.weight_velocity.iter_mut().for_each(|v| *v *= MOMENTUM);
        self.bias_velocity.iter_mut().for_each(|v| *v *= MOMENTUM);
        let dim = inputs.len() / rows;
        for (input, gradient) in inputs.chunks_exact(dim).zip(gradients.chunks_exact(self.outputs))
        {
            for (&x, velocity) in
                input.iter().zip(self.weight_velocity.chunks_exact_mut(self.outputs))
            {
                for (v, &g) in velocity.iter_mut().zip(gradient) {
                    *v -= rate * x * g;
                }
            }
            for (v, &g) in self.bias_velocity.iter_mut().zip(gradient) {
                *v -= rate * g;
            }
        }
        for (w, &v) in self.weights.iter_mut().zip(&self.weight_velocity) {
            *w += v;
        }
        for (b, &v) in self.biases.iter_mut().zip(&self.bias_velocity) {
            *b += v;
        }
    }
}

struct Network {
    normalization: Normalization,
    hidden: Layer,
    output: Layer,
}

/// What a forward pass leaves for the backward one.
struct Pass {
    inputs: Vec<f32>,
    hidden: Vec<f32>,
    /// Probabilities, rows of [`CLASSES`].
    classes: Vec<f32>,
}

impl Network {
    fn new(normalization: Normalization) -> Self {
        let inputs = normalization.mean.len();
        let (hidden, output) = (Layer::new(inputs, HIDDEN, 1), Layer::new(HIDDEN, CLASSES, 2));
        Self { normalization, hidden, output }
    }

    fn forward(&self, features: &[f32]) -> Pass {
        let dim = self.normalization.mean.len();
        let rows = features.len() / dim;
        let mut inputs = features.to_vec();
        for row in inputs.chunks_exact_mut(dim) {
            let Normalization { mean, scale } = &self.normalization;
            for ((x, mean), scale) in row.iter_mut().zip(mean).zip(scale) {
                *x = (*x - mean) * scale;
            }
        }
        let mut hidden = vec![0.0; rows * HIDDEN];
        let mut classes = vec![0.0; rows * CLASSES];
        for ((input, hidden), classes) in inputs
            .chunks_exact(dim)
            .zip(hidden.chunks_exact_mut(HIDDEN))
            .zip(classes.chunks_exact_mut(CLASSES))
        {
            self.hidden.forward(input, hidden);
            hidden.iter_mut().for_each(|h| *h = h.max(0.0));
            self.output.forward(hidden, classes);
            let highest = classes.iter().copied().fold(f32::MIN, f32::max);
            classes.iter_mut().for_each(|c| *c = (*c - highest).exp());
            let sum: f32 = classes.iter().sum();
            classes.iter_mut().for_each(|c| *c /= sum);
        }
        Pass { inputs, hidden, classes }
    }

    /// One step of gradient descent; the summed loss.
    fn learn(&mut self, minibatch: &Minibatch) -> f64 {
        let (features, labels) = frames_of(minibatch);
        let Pass { inputs, hidden, mut classes } = self.forward(features);
        let mut loss = 0.0;
        for (row, &label) in classes.chunks_exact_mut(CLASSES).zip(labels) {
            loss -= f64::from(row[label as usize].max(1e-30).ln());
            row[label as usize] -= 1.0;
        }
        let mut back = vec![0.0; hidden.len()];
        for ((back, gradient), hidden) in back
            .chunks_exact_mut(HIDDEN)
            .zip(classes.chunks_exact(CLASSES))
            .zip(hidden.chunks_exact(HIDDEN))
        {
            let rows = self.output.weights.chunks_exact(CLASSES);
            for ((b, weights), &h) in back.iter_mut().zip(rows).zip(hidden) {
                let sum: f32 = weights.iter().zip(gradient).map(|(w, g)| w * g).sum();
                *b = if h > 0.0 { sum } else { 0.0 };
            }
        }
        self.output.step(&hidden, &classes, labels.len());
        self.hidden.step(&inputs, &back, labels.len());
        loss
    }

    fn count_right(&self, minibatch: &Minibatch) -> usize {
        let (features, labels) = frames_of(minibatch);
        let pass = self.forward(features);
        let best = |row: &[f32]| (0..CLASSES).max_by(|&a, &b| row[a].total_cmp(&row[b]));
        let rows = pass.classes.chunks_exact(CLASSES);
        rows.zip(labels).filter(|&(row, &label)| best(row) == Some(label as usize)).count()
    }
}
