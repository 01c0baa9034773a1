//! Writes a corpus as PDNN's files: PFile, pickle, alignments.
//!
//! `cargo run -p seqfeed --example write_pdnn -- CORPUS PREFIX [SEQUENCES]`
//!
//! CORPUS is a description (`corpus.toml`) or a data specification; SEQUENCES is the most that are
//! written as PFile and pickle.

use std::error::Error;

use seqfeed::Description;
use seqfeed::io::Policy;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(corpus), Some(prefix)) = (arguments.next(), arguments.next()) else {
        return Err("usage: write_pdnn CORPUS PREFIX [SEQUENCES]".into());
    };
    let most = arguments.next().map_or(Ok(u64::MAX), |most| most.parse())?;
    let description = match corpus.ends_with(".toml") {
        true => Description::from_file(corpus.as_ref())?,
        false => {
            let mut description = Description::default();
            description.data = Some(corpus);
            description
        }
    };
    let opened = description.open(Policy::default())?;
    seqfeed::write_pdnn(opened.corpus().as_ref(), &prefix, most, &Policy::default())?;
    Ok(())
}
