//! The Python package's tests: its wheel, in a virtual environment of its own.

use std::env;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

use crate::root;

const NEEDED: [&str; 5] = ["maturin>=1.9,<2", "pytest", "numpy", "mypy", "scipy"];

/// What the adapters are for, as far as it can be had; PyTorch is looked for in the system's Python.
const FRAMEWORKS: [&str; 5] = ["pyarrow", "polars", "duckdb", "jax", "datasets"];

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
    let configuration = root().join("python").join("pyproject.toml");
    let mut mypy = Command::new(bin.join("mypy"));
    mypy.arg("--config-file").arg(&configuration).args(["-p", "seqfeed"]);
    run(mypy.current_dir(&wheels))?;
    let mut stubtest = Command::new(bin.join("stubtest"));
    stubtest.arg("--mypy-config-file").arg(&configuration);
    // A module whose framework is not there cannot be imported.
    stubtest.arg("--allowlist").arg(root().join("python").join("stubtest-allowed.txt"));
    stubtest.args(["--ignore-unused-allowlist", "seqfeed"]);
    run(stubtest.current_dir(&wheels))?;
    torch_tests(&target, &venv, &wheels)
}

/// Builds the wheel that is given to others: optimized, for all versions of Python from 3.10 on, and for Linuxes with a C
/// library as old as this one's.
pub(crate) fn wheel() -> Result<()> {
    let target = crate::target()?;
    let venv = target.join("python-venv");
    prepare(&venv)?;
    let wheels = target.join("wheels");
    let mut build = Command::new(venv.join("bin").join("maturin"));
    build.args(["build", "--release", "--manifest-path"]);
    build.arg(root().join("python").join("Cargo.toml")).arg("--out").arg(&wheels);
    run(build.env("CARGO_TARGET_DIR", &target).env("VIRTUAL_ENV", &venv))?;
    eprintln!("The wheel is in {}.", wheels.display());
    Ok(())
}

/// The tests that need PyTorch, by a Python that has it: `SEQFEED_TORCH_PYTHON`, or the system's (Debian's
/// `python3-torch`). Nothing is installed into it.
fn torch_tests(target: &Path, venv: &Path, wheels: &Path) -> Result<()> {
    let python = env::var("SEQFEED_TORCH_PYTHON").unwrap_or_else(|_| "/usr/bin/python3".to_owned());
    let has = |modules: &str| {
        let mut there = Command::new(&python);
        there.args(["-c", &format!("import {modules}")]).stderr(Stdio::null());
        there.status().is_ok_and(|status| status.success())
    };
    if !has("torch, numpy") {
        eprintln!(
            "SKIPPED: the tests of seqfeed.torch: `{python}` has no PyTorch (apt-get install python3-torch, or \
             name a Python that has it by SEQFEED_TORCH_PYTHON)"
        );
        return Ok(());
    }
    let beside = target.join("python-torch-site");
    let install = || {
        let mut pip = Command::new(venv.join("bin").join("python"));
        pip.args(["-m", "pip", "--python", &python, "install", "--quiet", "--upgrade", "--target"]);
        pip.arg(&beside);
        pip
    };
    if !has("pytest") {
        run(install().arg("pytest"))?;
    }
    let mut seqfeed = install();
    seqfeed.args(["--no-deps", "--no-index", "--find-links"]).arg(wheels).arg("seqfeed");
    run(&mut seqfeed)?;
    let mut tests = Command::new(&python);
    tests.args(["-m", "pytest", "-q", "-rs"]).current_dir(root()).env("PYTHONPATH", &beside);
    let files = [
        "test_torch.py",
        "test_train.py",
        "test_same_everywhere.py",
        "test_docs.py",
        "test_book.py",
    ];
    tests.args(files.map(|file| format!("python/tests/{file}")));
    run(tests.env("SEQFEED_CLI", target.join("debug").join("seqfeed")))
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
    let has = |modules: &str| -> Result<bool> {
        let import = format!("import {modules}");
        let mut there = Command::new(&python);
        Ok(there.args(["-c", &import]).stderr(Stdio::null()).status()?.success())
    };
    let install = |packages: &[&str]| {
        run(Command::new(&python).args(["-m", "pip", "install", "--quiet"]).args(packages))
    };
    if !has("maturin, mypy, numpy, pytest, scipy")? {
        install(&NEEDED).context("pip cannot get what they need; is there a network?")?;
    }
    if !has(&FRAMEWORKS.join(", "))?
        && let Err(error) = install(&FRAMEWORKS)
    {
        eprintln!("SKIPPED: tests of some adapters of the Python package: {error:#}");
    }
    Ok(())
}

fn run(command: &mut Command) -> Result<()> {
    eprintln!("$ {command:?}");
    let status = command.status().with_context(|| format!("{command:?}"))?;
    if !status.success() {
        bail!("{command:?} failed: {status}");
    }
    Ok(())
}
