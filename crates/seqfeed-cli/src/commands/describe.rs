//! `seqfeed describe`: a corpus of any name as a description.

use std::io::{self, Write};

use anyhow::Result;
use clap::Args;
use seqfeed::io::Policy;
use seqfeed::{Order, Settings};

use crate::options::{CorpusOptions, FeedOptions};

#[derive(Args, Debug)]
#[command(after_help = "Examples:
  seqfeed describe scp:feats.scp --labels ark:ali.ark --context 5 > corpus.toml
  seqfeed describe train.cntk#Train.reader > corpus.toml
  seqfeed describe train.pfile,context=5,random=True > corpus.toml")]
pub(crate) struct Arguments {
    #[command(flatten)]
    corpus: CorpusOptions,

    #[command(flatten)]
    feed: FeedOptions,
}

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let description = arguments.corpus.describe(Some(&arguments.feed))?;
    let opened = arguments.corpus.open(&description)?;
    let policy = Policy { pipes: arguments.corpus.allows_pipes() };
    let text = description.explicit(&opened, &policy)?.to_toml()?;
    let mut out = io::stdout().lock();
    if let Some(name) = arguments.corpus.name() {
        // A name with a line break in it would end the comment.
        let name: String = name.chars().map(|c| if c.is_control() { '?' } else { c }).collect();
        writeln!(out, "# {name}: names are relative to the directory that this file is in.")?;
    }
    if let Settings { order: Order::Rolling(samples), .. } = opened.settings() {
        writeln!(out, "# Order: the reader's rolling window of {samples} samples.")?;
    }
    out.write_all(text.as_bytes())?;
    Ok(())
}
