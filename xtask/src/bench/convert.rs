//! Conversions between all pairs of formats, on one core, beside `cat` of their files.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, bail};

use super::{Setting, median, output_of};

/// Formats: what they are called, what `convert` is told to write, and what is read.
const FORMATS: [(&str, &str, &str); 8] = [
    ("Kaldi", "kaldi:x", "x.toml"),
    ("HTK", "x.htk", "x.toml"),
    ("PFile", "x.pfile", "x.pfile"),
    ("pickle", "x.pickle", "x.pickle"),
    ("npz", "x.npz", "x.npz"),
    ("Arrow", "x.arrow", "x.arrow"),
    ("Parquet", "x.parquet", "x.parquet"),
    ("CTF", "x.ctf", "x.ctf"),
];
/// Utterances that are converted.
const UTTERANCES: &str = "1000";

/// A directory that is removed at the end; in memory where there is such a file system, as disks
/// are another matter.
struct Place(PathBuf);

impl Drop for Place {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

pub(super) fn run(setting: &Setting) -> Result<()> {
    let build = ["build", "--release", "--package", "seqfeed-cli"];
    if !Command::new("cargo").args(build).current_dir(&setting.root).status()?.success() {
        bail!("building the program failed");
    }
    let program = crate::target()?.join("release/seqfeed");
    let shm = Path::new("/dev/shm");
    let parent = if shm.is_dir() { shm.to_owned() } else { std::env::temp_dir() };
    let place = Place(parent.join(format!("seqfeed-bench-{}", std::process::id())));
    let base = &place.0;
    fs::create_dir(base).context("making a directory")?;
    let features = format!("ark:{}", setting.corpus.join("feats.ark").display());
    let copy = ["copy", &features, "ark:feats.ark", "--head", UTTERANCES];
    output_of(on_one_core(&program, base).args(copy).output()?, "copying")?;
    let labels = format!("ark:{}", setting.corpus.join("ali.ark").display());
    let mut files = Vec::new();
    for (name, sink, _) in FORMATS {
        let directory = base.join(name);
        fs::create_dir(&directory)?;
        let source = ["convert", "ark:../feats.ark", "--labels", &labels];
        let mut command = on_one_core(&program, &directory);
        output_of(command.args(source).args([sink, "--allow-lossy"]).output()?, name)?;
        files.push(paths(&directory)?);
    }
    let count = FORMATS.len();
    let mut seconds = vec![vec![Vec::new(); count]; count];
    let mut cats = vec![Vec::new(); count];
    for round in 1..=setting.rounds {
        eprintln!("round {round} of {}", setting.rounds);
        for (from, (name, _, source)) in FORMATS.into_iter().enumerate() {
            let started = Instant::now();
            let cat = Command::new("cat").args(&files[from]).stdout(Stdio::null()).status()?;
            cats[from].push(started.elapsed().as_secs_f64());
            if !cat.success() {
                bail!("cat failed");
            }
            for (to, (_, sink, _)) in FORMATS.into_iter().enumerate() {
                let out = base.join("out");
                fs::create_dir(&out)?;
                let mut command = on_one_core(&program, &out);
                let source = base.join(name).join(source);
                command.arg("convert").arg(source).args([sink, "--allow-lossy"]);
                let started = Instant::now();
                let output = command.output()?;
                seconds[from][to].push(started.elapsed().as_secs_f64());
                output_of(output, &format!("{name} to {sink}"))?;
                fs::remove_dir_all(&out)?;
            }
        }
    }
    print(&seconds, &cats, &files)
}

/// The program, in a directory; on one core where that can be said.
fn on_one_core(program: &Path, directory: &Path) -> Command {
    let taskset = Command::new("taskset").arg("--version").output();
    let mut command = match taskset.is_ok_and(|output| output.status.success()) {
        true => {
            let mut command = Command::new("taskset");
            command.args(["--cpu-list", "0"]).arg(program);
            command
        }
        false => Command::new(program),
    };
    command.current_dir(directory).stdin(Stdio::null());
    command
}

/// All files of a directory.
fn paths(directory: &Path) -> Result<Vec<PathBuf>> {
    fs::read_dir(directory)?.map(|entry| Ok(entry?.path())).collect()
}

fn print(seconds: &[Vec<Vec<f64>>], cats: &[Vec<f64>], files: &[Vec<PathBuf>]) -> Result<()> {
    let median = |runs: &Vec<f64>| median(runs, |&run| run);
    print!("| seconds from \\ to | MB | `cat` |");
    FORMATS.iter().for_each(|(name, ..)| print!(" {name} |"));
    println!("\n|{}", " --- |".repeat(FORMATS.len() + 3));
    let mut worst = (0.0, String::new());
    for (from, (name, ..)) in FORMATS.iter().enumerate() {
        let sizes = files[from].iter().map(|path| Ok(fs::metadata(path)?.len()));
        let bytes = sizes.sum::<std::io::Result<u64>>()?;
        print!("| {name} | {} | {:.3} |", bytes / 1_000_000, median(&cats[from]));
        for (to, (other, ..)) in FORMATS.iter().enumerate() {
            let time = median(&seconds[from][to]);
            print!(" {time:.2} |");
            let own = median(&seconds[from][from]).max(median(&seconds[to][to]));
            if time / own > worst.0 {
                worst = (time / own, format!("{name} to {other}"));
            }
        }
        println!();
    }
    println!(
        "\nAgainst the slower of the two formats, each converted to itself, the worst is {}: {:.2} of its time.",
        worst.1, worst.0
    );
    Ok(())
}
