//! Writes a corpus as CTF.
//!
//! `cargo run -p seqfeed --example write_ctf -- CORPUS OUT [SEQUENCES]`
//!
//! CORPUS is any name of a corpus; SEQUENCES is the most that are
//! written.

use std::error::Error;
use std::io::Write;

use seqfeed::Description;
use seqfeed::io::{Opener, Output, WxFilename};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(corpus), Some(out)) = (arguments.next(), arguments.next()) else {
        return Err("usage: write_ctf CORPUS OUT [SEQUENCES]".into());
    };
    let most = arguments.next().map_or(Ok(u64::MAX), |most| most.parse())?;
    let description = Description::of_name(&corpus)?.description;
    let opened = description.open(&Opener::default())?;
    let out = Output::create(&WxFilename::parse(&out)?, &Opener::default())?;
    let mut out = seqfeed::write_ctf(opened.corpus().as_ref(), out, most)?;
    out.flush()?;
    out.finish()?;
    Ok(())
}
