//! `seqfeed describe`: prints a corpus of any name as a description.

use std::io::{self, IsTerminal, Write};

use anyhow::Result;
use clap::Args;
use seqfeed::Printable;
use seqfeed::io::{name_from_text, shown_name};

use crate::options::{CorpusOptions, FeedOptions};
use crate::screen::Screen;

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
    let description = arguments.corpus.describe_fed(&arguments.feed)?;
    let opened = arguments.corpus.open(&description)?;
    let opener = arguments.corpus.opener();
    let text = description.explicit(&opened, &opener)?.to_toml();
    // A file gets the description unchanged; a terminal gets it escaped.
    let mut out: Box<dyn Write> = match io::stdout().is_terminal() {
        true => Box::new(Screen::text()),
        false => Box::new(io::stdout().lock()),
    };
    if let Some(name) = arguments.corpus.name() {
        // A name with a line break would end the comment.
        let name = Printable(shown_name(name_from_text(name)));
        writeln!(out, "# {name}: names are relative to the directory that this file is in.")?;
    }
    out.write_all(text.as_bytes())?;
    out.flush()?;
    Ok(())
}
