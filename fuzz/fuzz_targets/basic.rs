//! Basic types, their vectors, tokens.
#![no_main]

use checks::{choose, object};
use seqfeed_kaldi::{IntegerPairVector, IntegerVector, Token, TokenVector};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let Some((choice, bytes)) = choose(bytes) else { return };
    match choice % 16 {
        0 => object::<i8>(bytes),
        1 => object::<u8>(bytes),
        2 => object::<i32>(bytes),
        3 => object::<u64>(bytes),
        4 => object::<f32>(bytes),
        5 => object::<f64>(bytes),
        6 => object::<bool>(bytes),
        7 => object::<Vec<i32>>(bytes),
        8 => object::<Vec<f32>>(bytes),
        9 => object::<Vec<Vec<i32>>>(bytes),
        10 => object::<Vec<(i32, i32)>>(bytes),
        11 => object::<Vec<(f32, f32)>>(bytes),
        12 => object::<IntegerVector<i32>>(bytes),
        13 => object::<IntegerPairVector<i16>>(bytes),
        14 => object::<Token>(bytes),
        _ => object::<TokenVector>(bytes),
    }
});
