//! Transducers, lattices, examples for networks.
#![no_main]

use checks::{choose, object};
use seqfeed_kaldi::{
    ChainSupervision, CompactLattice, Lattice, NnetChainExample, NnetExample, StdVectorFst,
};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let Some((choice, bytes)) = choose(bytes) else { return };
    match choice % 6 {
        0 => object::<StdVectorFst>(bytes),
        1 => object::<Lattice>(bytes),
        2 => object::<CompactLattice>(bytes),
        3 => object::<NnetExample>(bytes),
        4 => object::<NnetChainExample>(bytes),
        _ => object::<ChainSupervision>(bytes),
    }
});
