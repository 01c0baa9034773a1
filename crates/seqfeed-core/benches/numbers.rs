//! Numbers to text and from text, on one core, beside the standard library.
//!
//! `cargo bench -p seqfeed-core --bench numbers`; the best of several rounds is printed, since
//! other programs can only make a round slower.

// A program: it prints.
#![allow(clippy::print_stdout)]

use std::hint::black_box;
use std::io::Write;
use std::time::Instant;

use seqfeed_core::float_text::write_g;
use seqfeed_core::number_text::{parse_f32, parse_f64};

const COUNT: usize = 1_000_000;
const ROUNDS: usize = 9;

/// SplitMix64.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// About normal: the sum of twelve uniform numbers.
    fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.unit()).sum::<f64>() - 6.0
    }
}

/// Values like features: normal, with scales from 0.01 to 30 as the columns of a matrix have them.
fn features() -> Vec<f32> {
    let mut random = Random(1);
    (0..COUNT)
        .map(|at| {
            let scale = 0.01 * 3000f64.powf((at % 40) as f64 / 39.0);
            (random.normal() * scale) as f32
        })
        .collect()
}

/// Times `work`, which handles `bytes` bytes of text.
fn time(what: &str, bytes: usize, mut work: impl FnMut()) {
    let mut best = f64::INFINITY;
    for _ in 0..ROUNDS {
        let start = Instant::now();
        work();
        best = best.min(start.elapsed().as_secs_f64());
    }
    let (speed, each) = (bytes as f64 / best / 1e6, best * 1e9 / COUNT as f64);
    println!("{what:<44} {speed:7.0} MB/s {each:7.1} ns/number");
}

/// Adds up all numbers of a text, with one byte skipped in front of each.
fn sum<T: Into<f64>>(text: &[u8], parse: impl Fn(&[u8]) -> Option<(T, usize)>) -> f64 {
    let (mut sum, mut at) = (0.0, 1);
    while let Some((value, len)) = text.get(at..).and_then(&parse) {
        sum += value.into();
        at += len + 1;
    }
    assert!(at > text.len(), "the text is read to its end");
    sum
}

fn main() {
    let values = features();
    let mut out = Vec::with_capacity(32 * COUNT);
    let mut texts = Vec::new();
    // The number of digits is a constant, as it is for Kaldi.
    macro_rules! time_writing {
        ($($digits:literal)*) => {$(
            let once = |out: &mut Vec<u8>| {
                out.clear();
                for &value in &values {
                    out.push(b' ');
                    write_g(out, f64::from(value), $digits);
                }
                black_box(&out);
            };
            once(&mut out);
            texts.push(($digits, out.clone()));
            time(concat!("write_g, ", $digits, " digits"), out.len(), || once(&mut out));
        )*};
    }
    time_writing!(6 7 9 17);
    time("  std {:.6e} (another layout)", texts[1].1.len(), || {
        out.clear();
        for &value in &values {
            write!(out, " {value:.6e}").expect("memory takes all");
        }
        black_box(&out);
    });
    time("  std {} (other digits)", texts[1].1.len(), || {
        out.clear();
        for &value in &values {
            write!(out, " {value}").expect("memory takes all");
        }
        black_box(&out);
    });

    for (digits, text) in &texts {
        time(&format!("parse_f32, {digits} digits"), text.len(), || {
            black_box(sum(text, parse_f32));
        });
        time(&format!("parse_f64, {digits} digits"), text.len(), || {
            black_box(sum(text, parse_f64));
        });
        time("  fast_float2::parse_partial, f32", text.len(), || {
            black_box(sum(text, |text| fast_float2::parse_partial::<f32, _>(text).ok()));
        });
        time("  std, words then parse, f32", text.len(), || {
            let text = std::str::from_utf8(text).expect("numbers are ASCII");
            let sum: f64 = text
                .split_ascii_whitespace()
                .map(|word| f64::from(word.parse::<f32>().expect("a number")))
                .sum();
            black_box(sum);
        });
    }
}
