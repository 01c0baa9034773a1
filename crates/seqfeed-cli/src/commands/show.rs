//! `seqfeed show`: shows sequences as text, JSON, or pictures.

mod text;

use std::io::Write;
use std::ops::Range;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::Args;
use seqfeed::io::{InputFiles, WxFilename, name_from_text, write_atomically};
use seqfeed::{Corpus, Error, Key, Sequence, Source, Stream};
use seqfeed_picture::Picture;

use crate::options::{CorpusOptions, FrameShift, name};
use crate::screen::Screen;
use crate::terminal::{Color, width};

/// The number of keys to name if one is missing.
const NAMED: u32 = 5;

#[derive(Args, Debug)]
#[command(after_help = "Examples:
  seqfeed show scp:feats.scp utt1
  seqfeed show corpus.toml utt1 utt2 --stream features --range 10:50
  seqfeed show corpus.toml utt1 --png utt1.png
  seqfeed show train.ctf 0 --stream labels --json
  seqfeed show feats.ark:5[0:4]
  seqfeed show final.mat")]
pub(crate) struct Arguments {
    #[command(flatten)]
    corpus: CorpusOptions,

    /// Keys of the sequences to be shown
    #[arg(value_name = "KEY", value_parser = name())]
    wanted: Vec<String>,

    /// Show this stream alone
    #[arg(long, value_name = "STREAM")]
    stream: Option<String>,

    /// Show samples from FROM up to but without TO, counted from 0
    #[arg(long, value_name = "FROM:TO", value_parser = range)]
    range: Option<Range<usize>>,

    /// Print values as JSON, one object a sequence
    #[arg(long, conflicts_with_all = ["png", "svg", "text"])]
    json: bool,

    /// Print values as text, on a terminal too
    #[arg(long)]
    text: bool,

    /// Draw a heat map with 24-bit colours instead of text
    #[arg(long, value_enum, default_value_t, value_name = "WHEN")]
    color: Color,

    /// Write a picture as PNG
    #[arg(long, value_name = "FILE")]
    png: Option<PathBuf>,

    /// Write a picture as SVG
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,

    #[command(flatten)]
    frame_shift: FrameShift,
}

pub(crate) fn run(arguments: &mut Arguments) -> Result<()> {
    // With --features, the first name is a key like the others.
    if let Some(key) = arguments.corpus.take_name_beside_features() {
        arguments.wanted.insert(0, key);
    }
    if let Some(object) = arguments.corpus.kaldi_object()? {
        object.refuse("a key", !arguments.wanted.is_empty())?;
        object.refuse("--stream", arguments.stream.is_some())?;
        object.refuse("--range", arguments.range.is_some())?;
        object.refuse("--png", arguments.png.is_some())?;
        object.refuse("--svg", arguments.svg.is_some())?;
        object.refuse("--color", arguments.color == Color::Always)?;
        object.refuse("--frame-shift", arguments.frame_shift.is_given())?;
        return object.write_values(arguments.json);
    }
    let inputs = InputFiles::record();
    let description = arguments.corpus.describe()?;
    let opened = arguments.corpus.open(&description)?;
    let corpus: &Corpus = opened.corpus();
    let pictures = [&arguments.png, &arguments.svg].into_iter().flatten();
    inputs.check_outputs(&pictures.cloned().map(WxFilename::from).collect::<Vec<_>>())?;
    if arguments.wanted.is_empty() {
        return Err(Error::usage("which sequences? give their keys")
            .with_help(some_keys(corpus))
            .into());
    }
    let mut sequences = Vec::new();
    for key in &arguments.wanted {
        sequences.push(load(corpus, key, arguments)?);
    }
    let shift = |stream: &Stream| {
        let own = opened.frame_shift_of(&stream.name);
        arguments.frame_shift.or_given(own)
    };
    if arguments.png.is_some() || arguments.svg.is_some() {
        let picture = Picture::of(&sequences, &shift)?;
        if let Some(path) = &arguments.png {
            write_file(path, &picture.png()?)?;
        }
        if let Some(path) = &arguments.svg {
            write_file(path, picture.svg()?.as_bytes())?;
        }
        return Ok(());
    }
    let mut out = if arguments.json { Screen::json() } else { Screen::text() };
    if arguments.json {
        for sequence in &sequences {
            text::write_json(&mut out, sequence)?;
        }
    } else if arguments.color.draws() && !arguments.text {
        out.picture(&Picture::of(&sequences, &shift)?.terminal(width()))?;
    } else {
        for sequence in &sequences {
            text::write_text(&mut out, sequence)?;
        }
    }
    out.flush()?;
    Ok(())
}

fn load(corpus: &Corpus, key: &str, arguments: &Arguments) -> Result<Sequence> {
    let bytes = name_from_text(key);
    let key = Key(bytes.as_bytes());
    let Some(number) = Sequence::find(corpus, key) else {
        let error =
            Error::corpus("there is no sequence of this key").in_file(corpus.name()).of_key(key);
        let dropped = corpus.report().dropped.iter().find(|group| {
            group.examples.iter().any(|one| one.split(' ').next() == Some(&*key.to_string()))
        });
        return Err(match dropped {
            Some(group) => error.with_help(format!("it was left out: {}", group.reason)),
            None => error.with_help(some_keys(corpus)),
        }
        .into());
    };
    let mut sequence = Sequence::load(corpus, number)?;
    if let Some(name) = &arguments.stream
        && !sequence.keep_stream(name)
    {
        let names: Vec<&str> = corpus.streams().iter().map(|stream| stream.name.as_str()).collect();
        return Err(Error::usage(format!("there is no stream {name}"))
            .in_file(corpus.name())
            .with_help(format!("streams are: {}", names.join(", ")))
            .into());
    }
    if let Some(range) = &arguments.range {
        let samples = corpus.index().samples(number) as usize;
        if range.start >= samples {
            let message =
                format!("the range begins at {}, but there are {samples} samples", range.start);
            return Err(Error::usage(message).of_key(key).into());
        }
        sequence.keep_samples(range);
    }
    Ok(sequence)
}

fn some_keys(corpus: &Corpus) -> String {
    let index = corpus.index();
    let first: Vec<String> =
        (0..NAMED.min(index.len() as u32)).map(|number| index.key(number).to_string()).collect();
    let more = if index.len() as u32 > NAMED { ", ..." } else { "" };
    format!("keys are: {}{more}", first.join(", "))
}

fn write_file(path: &Path, bytes: &[u8]) -> Result<()> {
    Ok(write_atomically(path, bytes, false)?)
}

/// Parses a range: `10:50`, `10:`, `:50`.
fn range(text: &str) -> Result<Range<usize>, String> {
    let expected = || "expected two numbers, such as `10:50`, `10:` or `:50`".to_owned();
    let (from, to) = text.split_once(':').ok_or_else(expected)?;
    let number = |text: &str, default: usize| match text {
        "" => Ok(default),
        text => text.parse().map_err(|_| expected()),
    };
    let (from, to) = (number(from, 0)?, number(to, usize::MAX)?);
    if from < to { Ok(from..to) } else { Err("the range is empty".to_owned()) }
}
