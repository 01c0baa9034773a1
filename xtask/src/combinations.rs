//! Cargo features one by one: none and each alone. Each combination is linted; what was built is
//! fed, what was left out says so. All features together are those of every other test.

use std::process::Command;

use anyhow::Result;

use crate::cargo;
use crate::python::run;

/// What can be left out of `seqfeed` and `seqfeed-convert`: formats, and tokenizers.
const FORMATS: [&str; 6] = ["kaldi", "htk", "cntk", "pdnn", "arrow", "tokenizers"];
/// The compressions, which concern `seqfeed-io` and what is built on it.
const COMPRESSIONS: [&str; 3] = ["gzip", "bzip2", "zstd"];

/// Lints and tests the combinations, and builds the documentation without a warning.
pub(crate) fn check() -> Result<()> {
    for feature in alone(&COMPRESSIONS) {
        run(&mut lint(&["seqfeed-io", "seqfeed-kaldi"], feature))?;
    }
    for feature in alone(&FORMATS) {
        run(&mut lint(&["seqfeed", "seqfeed-convert"], feature))?;
        run(with(cargo().arg("test"), &["seqfeed"], feature).args(["--test", "formats"]))?;
    }
    let mut documentation = cargo();
    documentation.args(["doc", "--workspace", "--no-deps", "--quiet"]);
    run(documentation.env("RUSTDOCFLAGS", "-D warnings"))
}

/// None, and each alone.
fn alone<'a>(features: &[&'a str]) -> Vec<Option<&'a str>> {
    std::iter::once(None).chain(features.iter().copied().map(Some)).collect()
}

fn lint(packages: &[&str], feature: Option<&str>) -> Command {
    let mut lint = cargo();
    with(lint.args(["clippy", "--lib"]), packages, feature).args(["--", "-D", "warnings"]);
    lint
}

/// Packages with this feature only, quick to build rather than quick.
fn with<'a>(command: &'a mut Command, packages: &[&str], feature: Option<&str>) -> &'a mut Command {
    command.env("CARGO_PROFILE_DEV_OPT_LEVEL", "0").env("CARGO_PROFILE_DEV_DEBUG", "0");
    command.args(["--quiet", "--no-default-features"]);
    for package in packages {
        command.args(["-p", package]);
        if let Some(feature) = feature {
            command.arg("--features").arg(format!("{package}/{feature}"));
        }
    }
    command
}
