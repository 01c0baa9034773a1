//! The Python package's tests: its wheel, in a virtual environment of its own.

use std::env;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

use crate::root;

const NEEDED: [&str; 5] = ["maturin>=1.9,<2", "pytest", "numpy", "mypy", "scipy"];

/// Builds the wheel, installs it, and runs its tests, mypy in strict mode and stubtest.
///
/// Says `SKIPPED` where there is no Python that can do this, or no way to what the tests need.
pub(crate) fn test() -> Result<()> {
    let target = crate::target()?;
    let venv = target.join("python-venv");
    if let Err(error) = prepare(&venv) {
        eprintln!("SKIPPED: the Python package's tests: {error:#}");
        return Ok(());
    }
    let (bin, wheels) = (venv.join("bin"), target.join("python-wheels"));
    let manifest = root().join("python").join("Cargo.toml");
    let mut build = Command::new(bin.join("maturin"));
    build.arg("build").arg("--manifest-path").arg(manifest).arg("--out").arg(&wheels);
    run(build.env("CARGO_TARGET_DIR", &target).env("VIRTUAL_ENV", &venv))?;
    let mut install = Command::new(bin.join("python"));
    install.args([
        "-m",
        "pip",
        "install",
        "--quiet",
        "--force-reinstall",
        "--no-deps",
        "--no-index",
    ]);
    run(install.arg("--find-links").arg(&wheels).arg("seqfeed"))?;
    let mut tests = Command::new(bin.join("python"));
    tests.args(["-m", "pytest", "-q", "-rs", "python/tests"]).current_dir(root());
    run(tests.env("SEQFEED_CLI", target.join("debug").join("seqfeed")))?;
    // Not in the repository's root: what was installed is checked.
    run(Command::new(bin.join("mypy")).args(["--strict", "-p", "seqfeed"]).current_dir(&wheels))?;
    run(Command::new(bin.join("stubtest")).arg("seqfeed").current_dir(&wheels))
}

/// A virtual environment with all that the tests need.
fn prepare(venv: &Path) -> Result<()> {
    let python = venv.join("bin").join("python");
    if !python.exists() {
        let system = env::var("SEQFEED_PYTHON").unwrap_or_else(|_| "python3".to_owned());
        let check = "import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 10))";
        let fits = Command::new(&system).args(["-c", check]).stderr(Stdio::null()).status();
        if !fits.is_ok_and(|status| status.success()) {
            bail!(
                "`{system}` is no Python of 3.10 or later with venv (name one by SEQFEED_PYTHON)"
            );
        }
        run(Command::new(&system).args(["-m", "venv"]).arg(venv))?;
    }
    let there = "import maturin, mypy, numpy, pytest, scipy";
    let there = Command::new(&python).args(["-c", there]).stderr(Stdio::null()).status()?;
    if there.success() {
        return Ok(());
    }
    run(Command::new(&python).args(["-m", "pip", "install", "--quiet"]).args(NEEDED))
        .context("pip cannot get what they need; is there a network?")
}

fn run(command: &mut Command) -> Result<()> {
    eprintln!("$ {command:?}");
    let status = command.status().with_context(|| format!("{command:?}"))?;
    if !status.success() {
        bail!("{command:?} failed: {status}");
    }
    Ok(())
}
