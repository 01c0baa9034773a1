//! The project's own tasks: `cargo xtask test`, `cargo xtask bench`.

mod bench;

use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use anyhow::{Result, bail};

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let done = match arguments.first().map(String::as_str) {
        Some("test") => test(),
        Some("bench") => bench::run(&arguments[1..]),
        _ => {
            eprintln!(
                "usage: cargo xtask test | bench [feed|tables] [--corpus DIR] [--peers PYTHON] \
                 [--rounds N]"
            );
            return ExitCode::from(2);
        }
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// Runs all tests: of the code, of its documentation, and the example programs.
fn test() -> Result<()> {
    cargo(&["test", "--workspace", "--all-targets"])?;
    cargo(&["test", "--workspace", "--doc"])?;
    cargo(&["run", "--release", "--example", "train_digits"])
}

fn cargo(arguments: &[&str]) -> Result<()> {
    eprintln!("$ cargo {}", arguments.join(" "));
    let cargo = env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
    let status = Command::new(cargo).args(arguments).current_dir(root()).status()?;
    if !status.success() {
        bail!("cargo {} failed: {status}", arguments.join(" "));
    }
    Ok(())
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}
