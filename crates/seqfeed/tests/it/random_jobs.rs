//! Random jobs of CNTK's readers, ours against an executable model of CNTK.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;

use crate::job::{Job, Outcome, shared};

/// Jobs that the model runs now; more with `SEQFEED_RANDOM_JOBS`, for instance `1000..20000`.
const JOBS: (u64, u64) = (0, 1_000);
const HTK_JOBS: (u64, u64) = (0, 600);
/// Processes that run the model.
const PROCESSES: u64 = 2;

#[derive(Default)]
struct Tally {
    compared: usize,
    minibatches: usize,
    failing: usize,
    unknown: usize,
    wrong: Vec<String>,
}

impl Tally {
    fn add(&mut self, line: &str) {
        let job: Job = serde_json::from_str(line).unwrap();
        match job.run() {
            Ok(Outcome::Minibatches(count)) => {
                self.compared += 1;
                self.minibatches += count;
            }
            Ok(Outcome::Fails) => {
                self.compared += 1;
                self.failing += 1;
            }
            Ok(Outcome::Unknown) => self.unknown += 1,
            Err(what) if self.wrong.len() < 3 => {
                self.wrong.push(format!("job {}: {what}\n{}", job.job, job.describe()));
            }
            Err(what) => self.wrong.push(format!("job {}: {what}", job.job)),
        }
    }

    fn merge(&mut self, other: Self) {
        self.compared += other.compared;
        self.minibatches += other.minibatches;
        self.failing += other.failing;
        self.unknown += other.unknown;
        self.wrong.extend(other.wrong);
    }

    fn check(&self) {
        assert!(self.wrong.is_empty(), "{} differ:\n{}", self.wrong.len(), self.wrong.join("\n\n"));
        eprintln!(
            "{} jobs with {} minibatches are the same, {} of them fail; {} are not compared",
            self.compared, self.minibatches, self.failing, self.unknown
        );
    }
}

#[test]
fn kept_random_jobs_are_as_in_cntk() {
    let mut tally = Tally::default();
    include_str!("../random_jobs.jsonl").lines().for_each(|line| tally.add(line));
    tally.check();
    assert!(tally.compared >= 50, "{} jobs", tally.compared);
}

#[test]
fn kept_random_jobs_of_htk_files_are_as_in_cntk() {
    let mut tally = Tally::default();
    include_str!("../random_htk_jobs.jsonl").lines().for_each(|line| tally.add(line));
    tally.check();
    assert!(tally.compared >= 40, "{} jobs", tally.compared);
}

#[test]
fn random_jobs_are_as_in_cntk() {
    run_all("tests/random_jobs.py", jobs(JOBS));
}

#[test]
fn random_jobs_of_htk_files_are_as_in_cntk() {
    run_all("tests/random_htk_jobs.py", jobs(HTK_JOBS));
}

fn run_all(script: &str, (first, end): (u64, u64)) {
    let Some(model) = shared("oracles/cntk_model.py") else { return };
    let Some(python) = python() else { return };
    let share = (end - first).div_ceil(PROCESSES);
    let mut tally = Tally::default();
    thread::scope(|scope| {
        let ranges = (0..PROCESSES).map(|process| {
            let from = (first + process * share).min(end);
            (from, (from + share).min(end) - from)
        });
        let (python, model) = (&python, model.parent().unwrap());
        let threads: Vec<_> = ranges
            .map(|(from, count)| scope.spawn(move || run_range(script, python, model, from, count)))
            .collect();
        for thread in threads {
            tally.merge(thread.join().unwrap());
        }
    });
    tally.check();
    let enough = (end - first) * 9 / 10;
    assert!(tally.compared as u64 >= enough, "only {} jobs were compared", tally.compared);
}

fn run_range(script: &str, python: &Path, model: &Path, first: u64, count: u64) -> Tally {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join(script);
    let mut child = Command::new(python)
        .arg(script)
        .arg(model.canonicalize().unwrap())
        .args([first.to_string(), count.to_string()])
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut tally = Tally::default();
    for line in BufReader::new(child.stdout.take().unwrap()).lines() {
        tally.add(&line.unwrap());
    }
    assert!(child.wait().unwrap().success(), "the model failed");
    tally
}

/// An interpreter that has numpy, which the model needs.
fn python() -> Option<PathBuf> {
    let python = std::env::var_os("SEQFEED_PYTHON").map_or("python3".into(), PathBuf::from);
    let works = Command::new(&python).args(["-c", "import numpy"]).stderr(Stdio::null()).status();
    if works.is_ok_and(|status| status.success()) {
        return Some(python);
    }
    eprintln!("SKIPPED: {} has no numpy; name one in SEQFEED_PYTHON", python.display());
    None
}

fn jobs(default: (u64, u64)) -> (u64, u64) {
    let Ok(range) = std::env::var("SEQFEED_RANDOM_JOBS") else { return default };
    let (first, end) = range.split_once("..").expect("a range such as 1000..2000");
    (first.parse().unwrap(), end.parse().unwrap())
}
