//! Writes a corpus as PDNN's files: PFile, pickle, alignments.
//!
//! `cargo run -p seqfeed --example write_pdnn -- CORPUS PREFIX [SEQUENCES]`
//!
//! CORPUS is any name of a corpus; SEQUENCES is the most that are
//! written as PFile and pickle.

use std::error::Error;

use seqfeed::Description;
use seqfeed::io::Opener;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(corpus), Some(prefix)) = (arguments.next(), arguments.next()) else {
        return Err("usage: write_pdnn CORPUS PREFIX [SEQUENCES]".into());
    };
    let most = arguments.next().map_or(Ok(u64::MAX), |most| most.parse())?;
    let description = Description::of_name(&corpus)?.description;
    let opened = description.open(&Opener::default())?;
    seqfeed::write_pdnn(opened.corpus().as_ref(), &prefix, most, &Opener::default())?;
    Ok(())
}
