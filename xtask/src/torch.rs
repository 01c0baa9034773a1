//! The tests that need PyTorch.
//!
//! PyTorch is Debian's `python3-torch`, made for processors alone: 150 MB to download and 0.8 GB on
//! the disk, where PyPI's wheel for this machine brings CUDA along, with 3 GB and 5.5 GB. It is
//! installed once for the machine; all else that these tests need is kept in `target/`.

use std::env;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Result, bail};

use crate::python::{Environment, key_of, run};
use crate::skips::Skips;
use crate::{in_ci, root};

/// What these tests need beside PyTorch. Debian's is made for numpy 1, which later versions of
/// pyarrow refuse.
const BESIDE: [&str; 4] = ["pytest>=8,<10", "datasets", "numpy<2", "pyarrow<22"];

const TESTS: [&str; 8] = [
    "test_torch.py",
    "test_train.py",
    "test_train_ctc.py",
    "test_huggingface.py",
    "test_mixtures.py",
    "test_same_everywhere.py",
    "test_docs.py",
    "test_book.py",
];

const PACKAGE: &str = "python3-torch";

/// Runs the tests that need PyTorch by a Python that has it: the one that `SEQFEED_TORCH_PYTHON`
/// names, or the system's, into which Debian's package is installed where that can be done. Nothing
/// else is installed into it.
pub(crate) fn test(environment: &Environment, skips: &mut Skips) -> Result<()> {
    let named = env::var("SEQFEED_TORCH_PYTHON").ok();
    let python = named.clone().unwrap_or_else(|| "/usr/bin/python3".to_owned());
    if !has(&python, "torch, numpy") {
        let installed = match named {
            Some(_) => {
                Err(anyhow::anyhow!("`{python}`, which SEQFEED_TORCH_PYTHON names, has no PyTorch"))
            }
            None => install(&python),
        };
        if let Err(why) = installed {
            if in_ci() {
                bail!("the tests of seqfeed.torch cannot be run: {why:#}");
            }
            eprintln!("SKIPPED: the tests of seqfeed.torch: {why:#}");
            return Ok(());
        }
    }
    let key = key_of(&version_of(&python), &BESIDE);
    let beside = environment.target.join(format!("python-torch-site-{key}"));
    let pip = || {
        let mut pip = environment.python();
        pip.args(["-m", "pip", "--python", &python, "install", "--quiet", "--upgrade", "--target"]);
        pip.arg(&beside);
        pip
    };
    let complete = beside.join("installed.txt");
    if !complete.exists() {
        run(pip().args(BESIDE))?;
        std::fs::write(&complete, BESIDE.join("\n"))?;
    }
    let mut seqfeed = pip();
    seqfeed.args(["--no-deps", "--no-index", "--find-links"]).arg(&environment.wheels);
    run(seqfeed.arg("seqfeed"))?;
    let mut tests = Command::new(&python);
    tests
        .args(["-m", "pytest", "-q", "-rs"])
        .args(TESTS.map(|file| format!("python/tests/{file}")));
    tests.current_dir(root()).env("PYTHONPATH", &beside).env("SEQFEED_CLI", environment.cli());
    run(skips.of_pytest(&mut tests)?)
}

/// Installs Debian's PyTorch, where this is Debian (or what is made of it) and this user may.
fn install(python: &str) -> Result<()> {
    let is_root = std::fs::metadata("/proc/self").is_ok_and(|own| {
        use std::os::unix::fs::MetadataExt;
        own.uid() == 0
    });
    if !is_root || !Path::new("/usr/bin/apt-get").exists() {
        bail!(
            "`{python}` has no PyTorch: run `sudo apt-get install --no-install-recommends {PACKAGE}`, or name a \
             Python that has it by SEQFEED_TORCH_PYTHON"
        );
    }
    let apt = |words: &[&str]| {
        run(Command::new("apt-get").args(words).env("DEBIAN_FRONTEND", "noninteractive"))
    };
    let install = ["install", "-y", "-q", "--no-install-recommends", PACKAGE];
    if apt(&install).is_err() {
        // The list of packages may be old, or not there at all.
        apt(&["update", "-q"])?;
        apt(&install)?;
    }
    if !has(python, "torch, numpy") {
        bail!("`{python}` cannot import PyTorch, though {PACKAGE} is installed");
    }
    Ok(())
}

fn has(python: &str, modules: &str) -> bool {
    let mut there = Command::new(python);
    there.args(["-c", &format!("import {modules}")]).stderr(Stdio::null());
    there.status().is_ok_and(|status| status.success())
}

fn version_of(python: &str) -> String {
    let version = "import platform, torch; print(platform.python_version(), torch.__version__, sep='-torch-')";
    let output = Command::new(python).args(["-c", version]).output();
    output.map_or_else(
        |_| String::new(),
        |output| String::from_utf8_lossy(&output.stdout).trim().to_owned(),
    )
}
