//! The Python package's tests: its wheel, in a virtual environment of its own.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

use crate::skips::Skips;
use crate::{in_ci, root, torch};

/// What the package is built and tested with.
const NEEDED: [&str; 5] = ["maturin>=1.9,<2", "pytest>=8,<10", "numpy", "mypy", "scipy"];

/// What the adapters are for, and the packages that the drop-ins stand for. PyTorch is not among
/// them: see [`torch`].
const BESIDE: [&str; 7] = [
    "pyarrow",
    "polars",
    "duckdb",
    "jax",
    "datasets",
    "kaldiio==2.18.1",
    "kaldi_native_io==1.23.0",
];

/// The virtual environment, and what is built into it.
pub(crate) struct Environment {
    pub(crate) target: PathBuf,
    pub(crate) venv: PathBuf,
    /// Where the wheel under test is.
    pub(crate) wheels: PathBuf,
}

impl Environment {
    /// The virtual environment with all that the tests need.
    ///
    /// It is kept in `target/` under a name made of what is in it, so that a second run
    /// installs nothing.
    pub(crate) fn prepare() -> Result<Self> {
        let target = crate::target()?;
        let system = env::var("SEQFEED_PYTHON").unwrap_or_else(|_| "python3".to_owned());
        let version = version_of(&system)?;
        let all = [&NEEDED[..], &BESIDE[..]].concat();
        let venv = target.join(format!("python-venv-{}", key_of(&version, &all)));
        let environment = Self { wheels: target.join("python-wheels"), target, venv };
        if environment.complete().exists() {
            return Ok(environment);
        }
        run(Command::new(&system).args(["-m", "venv", "--clear"]).arg(&environment.venv))?;
        let install = |packages: &[&str]| {
            let mut pip = environment.python();
            run(pip.args(["-m", "pip", "install", "--quiet"]).args(packages))
        };
        install(&NEEDED).context("pip cannot get what the tests need; is there a network?")?;
        // All in one go; where that fails, one by one: the tests of what cannot be had are skipped.
        let missing: Vec<&str> = match install(&BESIDE) {
            Ok(()) => Vec::new(),
            Err(_) => BESIDE.into_iter().filter(|package| install(&[package]).is_err()).collect(),
        };
        if missing.is_empty() {
            fs::write(environment.complete(), all.join("\n"))?;
        } else {
            eprintln!("pip cannot get {}: tests that need it are skipped", missing.join(", "));
        }
        Ok(environment)
    }

    /// A file that is there when nothing is left to be installed.
    fn complete(&self) -> PathBuf {
        self.venv.join("installed.txt")
    }

    pub(crate) fn bin(&self) -> PathBuf {
        self.venv.join("bin")
    }

    pub(crate) fn python(&self) -> Command {
        Command::new(self.bin().join("python"))
    }

    /// The program of the command line, which some tests run.
    pub(crate) fn cli(&self) -> PathBuf {
        self.target.join("debug").join("seqfeed")
    }

    fn build(&self, options: &[&str], out: &Path) -> Result<()> {
        let mut build = Command::new(self.bin().join("maturin"));
        build.arg("build").args(options).arg("--manifest-path");
        build.arg(root().join("python").join("Cargo.toml")).arg("--out").arg(out);
        run(build.env("CARGO_TARGET_DIR", &self.target).env("VIRTUAL_ENV", &self.venv))
    }
}

/// Builds the wheel, installs it, and runs its tests, mypy in strict mode and stubtest.
pub(crate) fn test(environment: &Environment, skips: &mut Skips) -> Result<()> {
    environment.build(&[], &environment.wheels)?;
    let mut install = environment.python();
    install.args(["-m", "pip", "install", "--quiet", "--force-reinstall", "--no-deps"]);
    install.args(["--no-index", "--find-links"]).arg(&environment.wheels).arg("seqfeed");
    run(&mut install)?;
    let mut tests = environment.python();
    tests.args(["-m", "pytest", "-q", "-rs", "python/tests"]).current_dir(root());
    run(skips.of_pytest(&mut tests)?.env("SEQFEED_CLI", environment.cli()))?;
    // Not in the repository's root: what was installed is checked.
    let configuration = root().join("python").join("pyproject.toml");
    let mut mypy = Command::new(environment.bin().join("mypy"));
    mypy.arg("--config-file").arg(&configuration).args(["-p", "seqfeed"]);
    run(mypy.current_dir(&environment.wheels))?;
    let mut stubtest = Command::new(environment.bin().join("stubtest"));
    stubtest.arg("--mypy-config-file").arg(&configuration);
    // A module whose framework is not there cannot be imported.
    stubtest.arg("--allowlist").arg(root().join("python").join("stubtest-allowed.txt"));
    stubtest.args(["--ignore-unused-allowlist", "seqfeed"]);
    run(stubtest.current_dir(&environment.wheels))?;
    torch::test(environment, skips)
}

/// Builds the wheel that is given to others: optimized, for all versions of Python from 3.10 on,
/// and for Linuxes with a C library as old as this one's.
pub(crate) fn wheel() -> Result<()> {
    let environment = Environment::prepare()?;
    let wheels = environment.target.join("wheels");
    environment.build(&["--release"], &wheels)?;
    eprintln!("The wheel is in {}.", wheels.display());
    Ok(())
}

/// The version of an interpreter that can make virtual environments.
fn version_of(python: &str) -> Result<String> {
    let check = "import ensurepip, platform, sys, venv; assert sys.version_info >= (3, 10); \
                 print(platform.python_version())";
    let output = Command::new(python).args(["-c", check]).stderr(Stdio::null()).output();
    match output {
        Ok(output) if output.status.success() => {
            Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
        }
        _ => {
            bail!("`{python}` is no Python of 3.10 or later with venv (name one by SEQFEED_PYTHON)")
        }
    }
}

/// A name for a set of packages under a version of Python: another set has another name.
pub(crate) fn key_of(version: &str, packages: &[&str]) -> String {
    // FNV-1a: the same in all versions of Rust, unlike the standard library's.
    let bytes = packages.iter().flat_map(|package| package.bytes().chain([b'\n']));
    let hash = bytes
        .fold(0x811c_9dc5_u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193));
    format!("{version}-{hash:08x}")
}

/// Whether Python's tests may be left out, where they cannot be run: not in continuous integration.
pub(crate) fn cannot_run(why: &anyhow::Error) -> Result<()> {
    if in_ci() {
        bail!("the Python package's tests cannot be run: {why:#}");
    }
    eprintln!("SKIPPED: the Python package's tests: {why:#}");
    Ok(())
}

pub(crate) fn run(command: &mut Command) -> Result<()> {
    eprintln!("$ {command:?}");
    let status = command.status().with_context(|| format!("{command:?}"))?;
    if !status.success() {
        bail!("{command:?} failed: {status}");
    }
    Ok(())
}
