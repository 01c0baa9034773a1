//! Writes a corpus as HTK's files: archive, script, labels and states.
//!
//! `cargo run -p seqfeed --example write_htk -- CORPUS PREFIX [SEQUENCES [STATES]]`
//!
//! CORPUS is any name of a corpus; SEQUENCES is the most that are
//! written; STATES names a file with the names of the labels, one a line.

use std::error::Error;

use seqfeed::io::Opener;
use seqfeed::{Description, HtkOptions};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(corpus), Some(prefix)) = (arguments.next(), arguments.next()) else {
        return Err("usage: write_htk CORPUS PREFIX [SEQUENCES [STATES]]".into());
    };
    let mut options = HtkOptions::default();
    if let Some(most) = arguments.next() {
        options.most = most.parse()?;
    }
    if let Some(states) = arguments.next() {
        options.states = std::fs::read_to_string(states)?.lines().map(str::to_owned).collect();
    }
    let description = Description::of_name(&corpus)?.description;
    let opened = description.open(&Opener::default())?;
    seqfeed::write_htk(opened.corpus().as_ref(), &prefix, &options, &Opener::default())?;
    Ok(())
}
