//! What numbers as text promise (the digits of C's `printf`, the values of C++'s streams), and
//! what sources do.

#![allow(clippy::unwrap_used, clippy::print_stderr)]

mod float_text;
mod number_text;
mod wrappers;

use std::path::{Path, PathBuf};

/// A file written by the original programs, if it is here.
fn golden(name: &str) -> Option<PathBuf> {
    let root = std::env::var_os("SEQFEED_SHARED").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared"),
        PathBuf::from,
    );
    let path = root.join("golden/kaldi/misc").join(name);
    if path.exists() {
        return Some(path);
    }
    eprintln!("SKIPPED: {} is missing; set SEQFEED_SHARED", path.display());
    None
}

/// SplitMix64: any bits.
fn random_bits(count: usize) -> impl Iterator<Item = u64> {
    (1..=count as u64).map(|at| {
        let mut bits = at.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ (bits >> 31)
    })
}
