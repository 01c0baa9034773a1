//! The project's own tasks: `cargo xtask test [python]`, `lint`, `edges`, `combinations`, `docs`,
//! `wheel`, `bench`.

mod bench;
mod combinations;
mod edges;
mod file_system;
mod lint;
mod minimal;
mod python;
mod skips;
mod torch;

use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use anyhow::{Result, bail};

use crate::python::Environment;
use crate::skips::Skips;

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let done = match arguments.first().map(String::as_str) {
        Some("test") => match arguments.get(1).map(String::as_str) {
            Some("python") => test(false),
            _ => test(true),
        },
        Some("bench") => bench::run(&arguments[1..]),
        Some("lint") => lint::run(),
        Some("edges") => {
            edges::run().and_then(|()| file_system::run()).and_then(|()| minimal::run())
        }
        Some("combinations") => combinations::check(),
        Some("docs") => docs(),
        Some("wheel") => python::wheel(),
        _ => {
            eprintln!(
                "usage: cargo xtask test [python] | lint | edges | combinations | docs | wheel | \
                 bench [feed|transforms|tables|htk|pdnn|convert] [--corpus DIR] [--peers PYTHON] \
                 [--rounds N] | bench scale [--sequences N]"
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

/// Runs all tests: of the code, of its documentation, the example programs, and the Python package;
/// or of the last alone.
fn test(rust: bool) -> Result<()> {
    lint::run()?;
    edges::run()?;
    file_system::run()?;
    minimal::run()?;
    let mut skips = Skips::default();
    let environment = Environment::prepare();
    if rust {
        test_rust(environment.as_ref().ok(), &mut skips)?;
        combinations::check()?;
    }
    match environment {
        Ok(environment) => python::test(&environment, &mut skips)?,
        Err(why) => python::cannot_run(&why)?,
    }
    skips.check()
}

fn test_rust(environment: Option<&Environment>, skips: &mut Skips) -> Result<()> {
    // The Python package is built and tested by itself: what links it is Python.
    let workspace = ["--workspace", "--exclude", "seqfeed-python"];
    // Benchmarks are built by the lints.
    let mut tests = cargo();
    tests.arg("test").args(workspace).args(["--lib", "--bins", "--tests"]);
    if let Some(environment) = environment {
        // Some tests compare with what Python's packages make.
        let python = environment.bin().join("python");
        let path = env::var_os("PATH").unwrap_or_default();
        let path = std::iter::once(environment.bin()).chain(env::split_paths(&path));
        tests.env("PATH", env::join_paths(path)?).env("SEQFEED_PYTHON", python);
    }
    skips.run_cargo(&mut tests)?;
    python::run(cargo().arg("test").args(workspace).arg("--doc"))?;
    // `cargo run` would build all again with other features.
    python::run(cargo().arg("build").args(workspace).arg("--examples"))?;
    let example = target()?.join("debug/examples/train_digits");
    python::run(Command::new(&example).current_dir(root()))
}

/// Writes what commands print today into the pages of `docs/` and `crates/seqfeed-cli/tests/cmd`,
/// and builds the book where mdBook is there.
fn docs() -> Result<()> {
    let test = ["test", "-p", "seqfeed-cli", "--test", "it", "--", "transcripts", "option_tables"];
    python::run(cargo().args(test).env("TRYCMD", "overwrite"))?;
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

fn cargo() -> Command {
    let mut cargo = Command::new(env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned()));
    cargo.current_dir(root());
    cargo
}

/// Whether this is continuous integration, where what cannot be tested is an error.
fn in_ci() -> bool {
    env::var("CI").is_ok_and(|value| !matches!(value.as_str(), "" | "0" | "false"))
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
