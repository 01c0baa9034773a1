//! Matrices and vectors of floats.
#![no_main]

use checks::{choose, object};
use seqfeed_kaldi::{Matrix, Vector};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let Some((choice, bytes)) = choose(bytes) else { return };
    match choice % 4 {
        0 => object::<Matrix<f32>>(bytes),
        1 => object::<Matrix<f64>>(bytes),
        2 => object::<Vector<f32>>(bytes),
        _ => object::<Vector<f64>>(bytes),
    }
});
