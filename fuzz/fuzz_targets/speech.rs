//! Waves, HTK, Sphinx and NumPy files, posteriors.
#![no_main]

use checks::{choose, object};
use seqfeed_kaldi::{
    GaussPosterior, HtkMatrix, NumpyArray, Posterior, SphinxMatrix, Wave, WaveInfo,
};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let Some((choice, bytes)) = choose(bytes) else { return };
    match choice % 8 {
        0 => object::<Wave>(bytes),
        1 => object::<WaveInfo>(bytes),
        2 => object::<HtkMatrix>(bytes),
        3 => object::<SphinxMatrix>(bytes),
        4 => object::<NumpyArray<f32>>(bytes),
        5 => object::<NumpyArray<f64>>(bytes),
        6 => object::<Posterior>(bytes),
        _ => object::<GaussPosterior>(bytes),
    }
});
