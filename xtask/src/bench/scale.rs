//! Opening corpora of millions of utterances, and what many ranks of one corpus read.

use std::env;
use std::path::Path;
use std::process::Command;

use anyhow::{Result, bail};

use super::build;

/// Prints what it takes to open a corpus of so many utterances, and what ranks of one read.
pub(super) fn run(root: &Path, sequences: u64) -> Result<()> {
    let data = env::var("SEQFEED_BENCH_DATA").map_or(root.join("bench-data"), Into::into);
    let opening = build(root, "seqfeed", "opening")?;
    let corpus = data.join(format!("scale-{sequences}"));
    let mut opening = Command::new(opening);
    let mut ranks = Command::new(build(root, "seqfeed-feed", "ranks")?);
    for command in
        [opening.arg(corpus).arg(sequences.to_string()), ranks.arg(sequences.to_string())]
    {
        if !command.status()?.success() {
            bail!("{command:?} failed");
        }
    }
    Ok(())
}
