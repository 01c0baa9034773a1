//! How fast matrices are compressed and decompressed: megabytes of 32-bit floats a second, on one
//! core.
//!
//! ```text
//! cargo run --release -p seqfeed-kaldi --example bench_compression
//! ```
#![allow(clippy::print_stdout)]

use std::time::Instant;

use seqfeed_core::Result;
use seqfeed_kaldi::{CompressedMatrix, CompressionMethod, Matrix};

const COLS: usize = 40;
const BYTES: usize = 100 << 20;
const ROUNDS: usize = 5;

/// Utterances of 200 to 2000 frames, each dimension around a mean of its own, going up and down.
fn features() -> Vec<Matrix<f32>> {
    let mut state = 1u64;
    let mut random = move || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as f32 / (1u64 << 24) as f32
    };
    let mut matrices = Vec::new();
    let mut bytes = 0;
    while bytes < BYTES {
        let rows = 200 + (random() * 1800.0) as usize;
        let values = (0..rows * COLS).map(|at| {
            let (row, col) = ((at / COLS) as f32, (at % COLS) as f32);
            let noise = random() + random() + random() - 1.5;
            8.0 + (col * 0.7).sin() * 3.0 + (row * 0.05 + col).sin() * 2.0 + noise * 2.5
        });
        matrices.push(Matrix { rows, cols: COLS, values: values.collect() });
        bytes += rows * COLS * 4;
    }
    matrices
}

/// The best of some rounds.
fn rate(bytes: usize, mut run: impl FnMut() -> Result<()>) -> Result<f64> {
    let mut best = f64::INFINITY;
    for _ in 0..ROUNDS {
        let start = Instant::now();
        run()?;
        best = best.min(start.elapsed().as_secs_f64());
    }
    Ok(bytes as f64 / 1e6 / best)
}

fn main() -> Result<()> {
    let matrices = features();
    let bytes = matrices.iter().map(|matrix| matrix.values.len() * 4).sum();
    println!("{} matrices, {:.1} MB", matrices.len(), bytes as f64 / 1e6);
    for (method, name) in [
        (CompressionMethod::Speech, "CM "),
        (CompressionMethod::TwoByteAuto, "CM2"),
        (CompressionMethod::OneByteAuto, "CM3"),
    ] {
        let compress = rate(bytes, || {
            matrices
                .iter()
                .try_for_each(|matrix| CompressedMatrix::compress(matrix, method).map(drop))
        })?;
        let compressed = matrices
            .iter()
            .map(|matrix| CompressedMatrix::compress(matrix, method))
            .collect::<Result<Vec<_>>>()?;
        let mut out = Matrix::<f32>::default();
        let decompress = rate(bytes, || {
            compressed.iter().for_each(|matrix| matrix.decompress_into(&mut out));
            Ok(())
        })?;
        let mut wide = Matrix::<f64>::default();
        let widen = rate(bytes, || {
            compressed.iter().for_each(|matrix| matrix.decompress_into(&mut wide));
            Ok(())
        })?;
        println!(
            "{name}  compress {compress:6.0} MB/s   decompress {decompress:6.0} MB/s   \
             to doubles {widen:6.0} MB/s"
        );
    }
    Ok(())
}
