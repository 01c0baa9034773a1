//! Runs benchmarks and peers in turn, and prints tables of medians.

mod convert;
mod feed;
mod scale;
mod tables;
mod transforms;

use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use anyhow::{Context, Result, bail};

/// `bench scale [--sequences N]`: opening a corpus of N utterances (5,000,000), and what ranks
/// read.
///
/// `bench [feed|transforms|tables|htk|pdnn|convert] [--corpus DIR] [--peers PYTHON] [--rounds N]`:
/// DIR as made by gen_kaldi.py, `gen_cntk.py htk` or gen_pdnn.py; PYTHON an interpreter with numpy,
/// kaldiio and kaldi_native_io, for `transforms` with torch, kaldiio and lhotse; all cases in turn,
/// N times (5).
pub(crate) fn run(arguments: &[String]) -> Result<()> {
    let what = arguments.first().map(String::as_str).filter(|word| !word.starts_with("--"));
    match what {
        Some("feed") => {
            let setting = Setting::of(arguments, KALDI)?;
            feed::kaldi(&setting)?;
            transforms::run(&setting)
        }
        Some("transforms") => transforms::run(&Setting::of(arguments, KALDI)?),
        Some("tables") => tables::run(&Setting::of(arguments, KALDI)?),
        Some("htk") => feed::htk(&Setting::of(arguments, HTK)?),
        Some("convert") => convert::run(&Setting::of(arguments, KALDI)?),
        Some("scale") => {
            let at = arguments.iter().position(|argument| argument == "--sequences");
            let given = at.and_then(|at| arguments.get(at + 1));
            let sequences = given.map_or(Ok(5_000_000), |text| text.parse())?;
            scale::run(&super::root().canonicalize()?, sequences)
        }
        Some("pdnn") => feed::pdnn(&Setting::of(arguments, PDNN)?),
        Some(other) => bail!("there is no benchmark {other}"),
        None => {
            let setting = Setting::of(arguments, KALDI)?;
            feed::kaldi(&setting)?;
            transforms::run(&setting)?;
            tables::run(&setting)
        }
    }
}

/// How a corpus is made: its name, a file that is there when it is complete, and the generator with
/// what stands before and behind the directory.
type Recipe =
    (&'static str, &'static str, &'static str, &'static [&'static str], &'static [&'static str]);

const KALDI: Recipe = ("k5000", "utt2num_frames", "gen_kaldi.py", &[], &["5000", "1"]);
const HTK: Recipe =
    ("htk", "labels.mlf", "gen_cntk.py", &["htk"], &["--frames", "1900000", "--dim", "40"]);
const PDNN: Recipe = ("pdnn", "s4.pickle", "gen_pdnn.py", &[], &[]);

/// What benchmarks run on and with.
struct Setting {
    root: PathBuf,
    shared: PathBuf,
    corpus: PathBuf,
    python: Option<String>,
    rounds: usize,
}

impl Setting {
    fn of(arguments: &[String], recipe: Recipe) -> Result<Self> {
        let option = |name: &str| {
            let at = arguments.iter().position(|argument| argument == name)?;
            arguments.get(at + 1).cloned()
        };
        let root = super::root().canonicalize()?;
        let shared = env::var("SEQFEED_SHARED").map_or(root.join("../shared"), PathBuf::from);
        let python = option("--peers");
        let corpus = match option("--corpus") {
            Some(corpus) => PathBuf::from(corpus),
            None => make_corpus(&root, &shared, python.as_deref().unwrap_or("python3"), recipe)?,
        };
        let rounds: usize = option("--rounds").map_or(Ok(5), |text| text.parse())?;
        Ok(Self { root, shared, corpus: corpus.canonicalize()?, python, rounds })
    }
}

fn make_corpus(root: &Path, shared: &Path, python: &str, recipe: Recipe) -> Result<PathBuf> {
    let (name, last_file, generator, before, behind) = recipe;
    let corpus = root.join("bench-data").join(name);
    if !corpus.join(last_file).exists() {
        eprintln!("making {}", corpus.display());
        let status = Command::new(python)
            .arg(shared.join("bench").join(generator))
            .args(before)
            .arg(&corpus)
            .args(behind)
            .status()
            .with_context(|| format!("running {generator}"))?;
        if !status.success() {
            bail!("{generator} failed (it needs numpy: give --peers PYTHON)");
        }
    }
    Ok(corpus)
}

/// Builds a benchmark of a package; its program.
fn build(root: &Path, package: &str, name: &str) -> Result<PathBuf> {
    let output = Command::new("cargo")
        .args(["bench", "--package", package, "--bench", name, "--no-run"])
        .args(["--message-format", "json"])
        .current_dir(root)
        .output()?;
    let text = output_of(output, "building the benchmark")?;
    let name = format!("\"name\":\"{name}\"");
    let artifacts = text.lines().filter(|line| line.contains(&name));
    let program = artifacts.filter_map(|line| field(line, "executable")).next_back();
    program.map(PathBuf::from).context("cargo named no executable")
}

/// Standard output of a program that succeeded.
fn output_of(output: Output, what: &str) -> Result<String> {
    if !output.status.success() {
        bail!("{what} failed: {}", String::from_utf8_lossy(&output.stderr));
    }
    Ok(String::from_utf8(output.stdout)?)
}

fn median<T>(runs: &[T], value: impl Fn(&T) -> f64) -> f64 {
    let mut values: Vec<f64> = runs.iter().map(value).collect();
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn number(line: &str, name: &str) -> Result<f64> {
    let text = field(line, name).with_context(|| format!("no {name} in {line}"))?;
    text.parse().with_context(|| format!("{name} is {text}"))
}

/// The value of a field in a flat JSON object, which is all that is read here.
fn field(line: &str, name: &str) -> Option<String> {
    let (_, rest) = line.split_once(&format!("\"{name}\":"))?;
    let rest = rest.trim_start();
    match rest.strip_prefix('"') {
        Some(text) => text.split('"').next().map(str::to_owned),
        None => rest.split([',', '}']).next().map(|number| number.trim().to_owned()),
    }
}
