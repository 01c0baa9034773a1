//! Calling tools: words as a shell would split them, and what came of it.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard};
use std::{env, fs};

use seqfeed_io::Opener;
use seqfeed_kaldi_tools::{Surroundings, find};

/// What came of a call.
#[derive(Debug)]
pub(crate) struct Called {
    pub(crate) code: u8,
    pub(crate) out: Vec<u8>,
    pub(crate) log: String,
}

/// Calls a tool.
pub(crate) fn call(name: &str, words: &[String]) -> Called {
    let (mut out, mut log) = (Vec::new(), Vec::new());
    let tool = find(name).unwrap_or_else(|| panic!("no tool {name}"));
    let around = Surroundings { opener: Opener::with_pipes(), out: &mut out, log: &mut log };
    let code = tool.run(name, words, around);
    Called { code, out, log: String::from_utf8(log).unwrap() }
}

impl Called {
    /// The last line of the log.
    pub(crate) fn last(&self) -> &str {
        self.log.trim_end_matches('\n').rsplit('\n').next().unwrap_or_default()
    }
}

/// The words of a command line; single quotes keep blanks.
pub(crate) fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let (mut word, mut open, mut quoted) = (String::new(), false, false);
    for c in line.chars() {
        match c {
            '\'' => (quoted, open) = (!quoted, true),
            ' ' if !quoted => {
                if open {
                    words.push(std::mem::take(&mut word));
                }
                open = false;
            }
            _ => {
                word.push(c);
                open = true;
            }
        }
    }
    if open {
        words.push(word);
    }
    words
}

/// Tests that change the working directory do so one after another.
static DIRECTORY: Mutex<()> = Mutex::new(());

/// A temporary working directory, for as long as this lives.
pub(crate) struct WorkingDirectory {
    _held: MutexGuard<'static, ()>,
    before: PathBuf,
    here: tempfile::TempDir,
}

impl WorkingDirectory {
    pub(crate) fn new() -> Self {
        let held = DIRECTORY.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let before = env::current_dir().unwrap();
        let here = tempfile::tempdir().unwrap();
        env::set_current_dir(here.path()).unwrap();
        Self { _held: held, before, here }
    }

    pub(crate) fn path(&self) -> &Path {
        self.here.path()
    }
}

impl Drop for WorkingDirectory {
    fn drop(&mut self) {
        env::set_current_dir(&self.before).unwrap();
    }
}

/// The files that tests share with the original programs' makers, if they are there.
pub(crate) fn shared(name: &str) -> Option<PathBuf> {
    let root = env::var_os("SEQFEED_SHARED").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared"),
        PathBuf::from,
    );
    let path = root.join(name);
    if path.exists() {
        return Some(fs::canonicalize(path).unwrap());
    }
    eprintln!("SKIPPED: {} is not there (set SEQFEED_SHARED)", path.display());
    None
}
