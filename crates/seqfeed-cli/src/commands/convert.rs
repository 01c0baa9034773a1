//! `seqfeed convert`: converts a corpus to another format.

use std::collections::BTreeMap;
use std::io::Write;
use std::time::Instant;

use anyhow::Result;
use clap::{Args, ValueEnum};
use seqfeed::io::{InputFiles, LineLimit, Opener, name_from_text, shown_name};
use seqfeed::{Element, Error, Source};
use seqfeed_convert::{ConvertOptions, ConvertPlan, ConvertReport, Sharding, Target};

use crate::options::{CorpusOptions, name};
use crate::progress;
use crate::report::{self, bytes, count, counted};
use crate::screen::{Screen, print_json};

#[derive(Args, Debug)]
#[command(after_help = EXAMPLES, override_usage = "seqfeed convert [OPTIONS] [CORPUS] <SINK>")]
pub(crate) struct Arguments {
    /// What is written: a wspecifier (ark:, ark,scp:), a file (.parquet, .arrow; .ctf, .pfile,
    /// .pickle, .npy, .npz, .ali, these also with .gz), .htk for HTK's archive with script and
    /// labels, or FORMAT:NAME (kaldi:NAME, htk-files:NAME). Given last, behind the corpus
    #[arg(value_name = "SINK", required = true, value_parser = name())]
    sink: Option<String>,

    #[command(flatten)]
    corpus: CorpusOptions,

    /// With a wspecifier as the sink: where another stream goes, such as labels=ark:ali.ark
    #[arg(long = "to", value_name = "STREAM=WSPECIFIER", value_parser = name())]
    to: Vec<String>,

    /// Write these streams only
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    streams: Vec<String>,

    /// Sparse streams whose samples are classes (one value, which is 1), and become labels
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    classes: Vec<String>,

    /// Type of floats, instead of that of the source
    #[arg(long, value_name = "TYPE")]
    dtype: Option<Dtype>,

    /// With Kaldi's tables: compress matrices by one of Kaldi's methods, 1 to 7, or auto. With
    /// Parquet and Arrow files: zstd, or zstd:LEVEL [default level: 3]
    #[arg(long, value_name = "METHOD", num_args = 0..=1, default_missing_value = "auto", require_equals = true)]
    compress: Option<String>,

    /// With Kaldi's tables: write streams of floats as waves of so many samples a second. Streams
    /// that are read from waves are written as such anyway
    #[arg(long, value_name = "HZ")]
    sample_rate: Option<u32>,

    /// With pickles: 2 (for Python 2 and 3) or 5 (Python 3.8 and later) [default: 5]
    #[arg(long, value_name = "N")]
    protocol: Option<u8>,

    /// With HTK's files: the kind of parameters, such as FBANK [default: that of the source, else
    /// USER]
    #[arg(long, value_name = "KIND")]
    htk_kind: Option<String>,

    /// With HTK's files: from one frame to the next, in units of 100 ns
    /// [default: that of the source, else 100000]
    #[arg(long, value_name = "N")]
    htk_period: Option<i32>,

    /// With HTK's files: little-endian, for tools with NATURALREADORDER
    #[arg(long)]
    htk_little_endian: bool,

    /// With HTK's files: names of the labels, one a line [default: those of --states, else
    /// s0, s1 ...]
    #[arg(long, value_name = "FILE")]
    state_names: Option<std::path::PathBuf>,

    /// Write N shards, of about as many samples each; those that an earlier run has left
    /// whole are kept
    #[arg(long, value_name = "N", default_value_t = 1)]
    shards: usize,

    /// Write so many shards at a time [default: one a core]
    #[arg(long, value_name = "N")]
    jobs: Option<usize>,

    /// Write all shards, also those that are whole
    #[arg(long)]
    anew: bool,

    /// Write a description (NAME.toml) beside the files also where these can be opened without one
    #[arg(long)]
    describe: bool,

    /// Allow what would be lost (precision, keys, streams ...) to be lost
    #[arg(long)]
    allow_lossy: bool,

    /// Read back what was written, also shards that were kept, and compare it
    #[arg(long)]
    verify: bool,

    /// Print what was written as JSON
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "\
Examples:
  seqfeed convert corpus.toml out.pfile --allow-lossy
  seqfeed convert scp:feats.scp --labels ark:ali.ark kaldi:out/train --compress
  seqfeed convert train.scp --labels train.mlf --states states.list kaldi:out/train --allow-lossy
  seqfeed convert train.ctf ark:f.ark --to labels=ark:post.ark
  seqfeed convert train.ctf train.pickle.gz --classes labels --allow-lossy
  seqfeed convert corpus.toml train.parquet --compress=zstd
  seqfeed convert corpus.toml out/train.ctf --shards 4 --jobs 2 --allow-lossy";

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Dtype {
    Float32,
    Float64,
}

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    // Two names are corpus and sink. clap takes a single first name as the sink.
    let (corpus, sink) = arguments.names()?;
    let target = Target::parse(&name_from_text(&sink))?;
    // From here on descriptions, script files and the like are inputs too.
    let inputs = InputFiles::record();
    let mut corpus_options = arguments.corpus.clone();
    corpus_options.rename(corpus);
    let description = corpus_options.describe()?;
    let opened = corpus_options.open_exactly(&description)?;
    for group in &opened.report().dropped {
        report::warning(&format!("skipped {group}"));
    }
    opened.warnings().iter().for_each(|warning| report::warning(warning));

    let mut options = arguments.options(target)?;
    options.inputs = inputs;
    let to_stdout = options.writes_standard_output();
    if arguments.json && to_stdout {
        return Err(Error::usage("--json prints on standard output, where the data go")
            .with_help("write to a file")
            .into());
    }
    options.states = match &arguments.state_names {
        Some(file) => lines(file)?,
        None => description.state_names(&arguments.corpus.opener())?,
    };
    let corpus = opened.corpus();
    if let Some(rate) = arguments.sample_rate {
        options.sound_at(rate, corpus.streams())?;
    }
    let plan = ConvertPlan::new(corpus, options)?;
    if arguments.verify {
        plan.check_verifiable()?;
    }
    plan.notes().iter().for_each(|note| report::note(note));
    let said = if arguments.allow_lossy { "lost" } else { "would be lost" };
    plan.losses().iter().for_each(|loss| report::warning(&format!("{said}: {loss}")));

    let samples = corpus.index().total_samples();
    let bar = progress::bar(samples, "samples");
    let started = Instant::now();
    let converted = plan.run(&|samples| bar.inc(samples));
    bar.finish_and_clear();
    let converted = converted?;
    for (stream, number) in &converted.not_written {
        let number = counted(*number, "sequence");
        report::warning(&format!(
            "{stream}: {number} not written, as the script file has no name for the key"
        ));
    }
    if arguments.describe && converted.description.is_none() {
        report::note("no description is written: none can name all of these files");
    }
    let seconds = started.elapsed().as_secs_f64();
    let verified = arguments.verify.then(|| plan.verify(&converted)).transpose()?;
    if arguments.json {
        let mut value = serde_json::to_value(&converted)?;
        if let (Some(_), Some(fields)) = (&verified, value.as_object_mut()) {
            fields.insert("verified".to_owned(), true.into());
        }
        return print_json(&value);
    }
    let mut text = text(&converted, seconds);
    if verified.is_some() {
        text += &format!("{:<12} read back: the same checksums\n", "verified");
    }
    if to_stdout {
        report::lines(&text);
        return Ok(());
    }
    let mut out = Screen::text();
    out.write_all(text.as_bytes())?;
    Ok(out.flush()?)
}

impl Arguments {
    /// The name of the corpus, if there is one, and the name of the sink.
    fn names(&self) -> Result<(Option<String>, String)> {
        let missing =
            || Error::usage("the sink is missing").with_help("seqfeed convert CORPUS SINK");
        let first = self.sink.clone().ok_or_else(missing)?;
        Ok(match self.corpus.name() {
            Some(second) => (Some(first), second.to_owned()),
            None => (None, first),
        })
    }

    fn options(&self, target: Target) -> Result<ConvertOptions> {
        let mut options = ConvertOptions::new(target);
        options.others =
            self.to.iter().map(|text| other(text)).collect::<Result<BTreeMap<_, _>>>()?;
        options.streams.clone_from(&self.streams);
        options.classes.clone_from(&self.classes);
        options.dtype = self.dtype.map(|dtype| match dtype {
            Dtype::Float32 => Element::F32,
            Dtype::Float64 => Element::F64,
        });
        let given = [
            ("compress", self.compress.clone()),
            ("protocol", self.protocol.map(|protocol| protocol.to_string())),
            ("htk-kind", self.htk_kind.clone()),
            ("htk-period", self.htk_period.map(|period| period.to_string())),
            ("htk-little-endian", self.htk_little_endian.then(|| "true".to_owned())),
        ];
        for (option, value) in given {
            if let Some(value) = value {
                options.set(option, value)?;
            }
        }
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        options.sharding =
            Sharding { shards: self.shards, jobs: self.jobs.unwrap_or(cores), anew: self.anew };
        options.describe = self.describe;
        options.allow_lossy = self.allow_lossy;
        options.opener = self.corpus.opener();
        Ok(options)
    }
}

/// `STREAM=WSPECIFIER`.
fn other(text: &str) -> Result<(String, String)> {
    match text.split_once('=') {
        Some((stream, wspecifier)) if !stream.is_empty() => {
            Ok((stream.to_owned(), wspecifier.to_owned()))
        }
        _ => Err(Error::usage(format!("--to {text}: a stream's name and `=` are expected"))
            .with_help("such as --to labels=ark:ali.ark")
            .into()),
    }
}

fn lines(file: &std::path::Path) -> Result<Vec<String>> {
    let bytes = Opener::default().read_list(&file.into(), LineLimit::of_lines)?;
    let text = String::from_utf8(bytes)
        .map_err(std::io::Error::other)
        .map_err(|error| Error::io("reading", error).in_file(shown_name(file)))?;
    Ok(text.lines().map(str::to_owned).collect())
}

/// A name of the report, for printing.
fn shown(name: &str) -> String {
    shown_name(name_from_text(name))
}

fn text(converted: &ConvertReport, seconds: f64) -> String {
    let mut text = String::new();
    let mut line = |what: &str, value: String| text += &format!("{what:<12} {value}\n");
    let kept = converted.shards.iter().filter(|shard| shard.kept).count();
    match &converted.shards[..] {
        [one] => one.files.iter().for_each(|file| line("wrote", shown(file))),
        shards => {
            let first = shards.first().and_then(|shard| shard.files.first());
            let more =
                if kept > 0 { format!(", {kept} kept from an earlier run") } else { String::new() };
            line(
                "wrote",
                format!(
                    "{}{more}: {} ...",
                    counted(shards.len() as u64, "shard"),
                    first.map(|file| shown(file)).unwrap_or_default()
                ),
            );
        }
    }
    if let Some(description) = &converted.description {
        line("description", shown(description));
    }
    line("sequences", count(converted.fingerprint.sequences));
    for stream in &converted.fingerprint.streams {
        line(
            &stream.name,
            format!("{} samples, checksum {:016x}", count(stream.samples), stream.values),
        );
    }
    let written = converted.bytes as f64;
    let fresh: u64 =
        converted.shards.iter().filter(|shard| !shard.kept).map(|shard| shard.bytes).sum();
    let rate = bytes(fresh as f64 / seconds.max(1e-9));
    line("bytes", format!("{} ({rate}/s)", bytes(written)));
    text
}
