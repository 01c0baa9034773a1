//! Running the program and reading what it prints.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

/// The program, to be run in a directory.
pub(crate) fn seqfeed(directory: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_seqfeed"));
    command.current_dir(directory).args(arguments);
    command
}

/// Runs it to its end.
pub(crate) fn run(directory: &Path, arguments: &[&str]) -> Output {
    seqfeed(directory, arguments).output().expect("the program starts")
}

/// Runs `feed` with `--dump jsonl`; the minibatches.
pub(crate) fn dump(directory: &Path, arguments: &[&str]) -> Vec<Value> {
    try_dump(directory, arguments).unwrap()
}

/// As [`dump`], or what the program says when it fails.
pub(crate) fn try_dump(directory: &Path, arguments: &[&str]) -> Result<Vec<Value>, String> {
    let output = run(directory, &[&["feed", "--dump", "jsonl"], arguments].concat());
    match output.status.success() {
        true => Ok(lines(&output.stdout)),
        false => Err(format!("{arguments:?}: {}", String::from_utf8_lossy(&output.stderr))),
    }
}

/// Parses lines of JSON; a last line that is cut off is left out.
pub(crate) fn lines(text: &[u8]) -> Vec<Value> {
    let text = std::str::from_utf8(text).expect("UTF-8");
    let whole = text.rfind('\n').map_or("", |end| &text[..end]);
    // A number that is infinity as a 32-bit float, to be compared with others.
    let whole = whole.replace("\"Infinity\"", "1e300");
    whole.lines().map(|line| serde_json::from_str(line).expect("a line of JSON")).collect()
}

/// Key, frame and label of every row of minibatches of frames.
pub(crate) fn frames(minibatches: &[Value]) -> Vec<(String, u64, i64)> {
    let mut frames = Vec::new();
    for minibatch in minibatches {
        let labels = minibatch["streams"]["labels"]["data"].as_array().unwrap();
        let keys = minibatch["keys"].as_array().unwrap();
        let starts = minibatch["starts"].as_array().unwrap();
        for ((key, start), label) in keys.iter().zip(starts).zip(labels) {
            let key = key.as_str().unwrap().to_owned();
            frames.push((key, start.as_u64().unwrap(), label[0].as_i64().unwrap()));
        }
    }
    frames
}

/// A directory of the shared material, or `None` (said loudly) where it is missing.
pub(crate) fn shared(directory: &str) -> Option<PathBuf> {
    let root = std::env::var_os("SEQFEED_SHARED").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared"),
        PathBuf::from,
    );
    let directory = root.join(directory);
    if directory.exists() {
        return Some(directory);
    }
    eprintln!("SKIPPED: {} is missing; set SEQFEED_SHARED", directory.display());
    None
}

/// The repository's examples.
pub(crate) fn examples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples")
}

/// Copies a directory with all that is in it.
pub(crate) fn copy_directory(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let to = to.join(entry.file_name());
        match entry.file_type().unwrap().is_dir() {
            true => copy_directory(&entry.path(), &to),
            false => drop(fs::copy(entry.path(), to).unwrap()),
        }
    }
}
