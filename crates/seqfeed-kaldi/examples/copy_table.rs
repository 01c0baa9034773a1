//! Copies any Kaldi table to another: of whatever type its objects are, between archives and script
//! files, binary and text.
//!
//! ```sh
//! cargo run --example copy_table -- scp:examples/digits/train/feats.scp ark,t:-
//! ```
#![allow(clippy::print_stderr)]

use std::env;
use std::process::ExitCode;

use seqfeed_core::{Key, Result};
use seqfeed_io::Opener;
use seqfeed_kaldi::{AnyObject, SequentialReader, TableWriter};

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [from, to] = &arguments[..] else {
        eprintln!("usage: copy_table RSPECIFIER WSPECIFIER");
        return ExitCode::from(2);
    };
    match copy(from, to) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn copy(from: &str, to: &str) -> Result<()> {
    // What the user types on a command line may be a command.
    let opener = Opener::with_pipes();
    let mut from = SequentialReader::<AnyObject>::open(from, &opener)?;
    let mut to = TableWriter::create(to, &opener)?;
    for entry in from.by_ref() {
        let (key, object) = entry?;
        to.write(Key(&key), &object)?;
    }
    let (read, written) = (from.close()?, to.close()?);
    eprintln!("{} objects copied, {} passed over", written.objects, read.skipped);
    Ok(())
}
