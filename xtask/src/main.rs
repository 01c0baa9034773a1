//! The project's own tasks: `cargo xtask test [python]`, `docs`, `wheel`, `bench`.

mod bench;
mod python;

use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use anyhow::{Result, bail};

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let done = match arguments.first().map(String::as_str) {
        Some("test") => match arguments.get(1).map(String::as_str) {
            Some("python") => python::test(),
            _ => test(),
        },
        Some("bench") => bench::run(&arguments[1..]),
        Some("docs") => docs(),
        Some("wheel") => python::wheel(),
        _ => {
            eprintln!(
                "usage: cargo xtask test [python] | docs | wheel | bench [feed|tables|htk|pdnn|convert] [--corpus DIR] \
                 [--peers PYTHON] [--rounds N]"
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

/// Runs all tests: of the code, of its documentation, the example programs, and the Python package.
fn test() -> Result<()> {
    // The Python package is built and tested by itself: what links it is Python.
    let workspace = ["--workspace", "--exclude", "seqfeed-python"];
    // Benchmarks are built by the lints.
    cargo(&[&["test"], &workspace[..], &["--lib", "--bins", "--tests"]].concat())?;
    cargo(&[&["test"], &workspace[..], &["--doc"]].concat())?;
    // `cargo run` would build all again with other features.
    cargo(&[&["build"], &workspace[..], &["--examples"]].concat())?;
    let example = target()?.join("debug/examples/train_digits");
    eprintln!("$ {}", example.display());
    let status = Command::new(&example).current_dir(root()).status()?;
    if !status.success() {
        bail!("{} failed: {status}", example.display());
    }
    python::test()
}

/// Writes what commands print today into the pages of `docs/` and `crates/seqfeed-cli/tests/cmd`, and builds the
/// book where mdBook is there.
fn docs() -> Result<()> {
    let test = ["test", "-p", "seqfeed-cli", "--test", "it", "transcripts"];
    run_cargo(&test, &[("TRYCMD", "overwrite")])?;
    eprintln!("Look at the difference: what has changed should have.");
    match Command::new("mdbook").args(["build", "docs"]).current_dir(root()).status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => bail!("mdbook build docs failed: {status}"),
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error.into()),
        Err(_) => {
            eprintln!("The book was not built: there is no mdbook (cargo install mdbook).");
            Ok(())
        }
    }
}

fn cargo(arguments: &[&str]) -> Result<()> {
    run_cargo(arguments, &[])
}

fn run_cargo(arguments: &[&str], environment: &[(&str, &str)]) -> Result<()> {
    eprintln!("$ cargo {}", arguments.join(" "));
    let cargo = env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
    let status = Command::new(cargo)
        .args(arguments)
        .envs(environment.iter().copied())
        .current_dir(root())
        .status()?;
    if !status.success() {
        bail!("cargo {} failed: {status}", arguments.join(" "));
    }
    Ok(())
}

/// Where cargo builds.
fn target() -> Result<PathBuf> {
    let target =
        env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from);
    Ok(std::path::absolute(target)?)
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}
