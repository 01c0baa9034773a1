//! Tests that were skipped, and which of them may be.
//!
//! Rust's tests print `SKIPPED: why` and succeed, Python's say it as the reason of the skip. In
//! continuous integration every reason must stand in `.ci/may-skip.txt`, with its own reason.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

use crate::{in_ci, root};

const LIST: &str = ".ci/may-skip.txt";

/// What was skipped so far.
#[derive(Default)]
pub(crate) struct Skips {
    /// Reasons, with the first test that gave each.
    rust: BTreeMap<String, String>,
    /// Where runs of pytest leave what they skipped and what they ran.
    pytest: Vec<PathBuf>,
}

impl Skips {
    /// Runs Rust's tests and looks for skips in what they print. Shows what is printed as it comes.
    pub(crate) fn run_cargo(&mut self, command: &mut Command) -> Result<()> {
        // What successful tests print is shown too, behind a line with their name.
        command.args(["--", "--show-output"]);
        eprintln!("$ {command:?}");
        let mut child = command.stdout(Stdio::piped()).spawn()?;
        let lines = BufReader::new(child.stdout.take().context("no output")?).split(b'\n');
        let mut test = String::new();
        for line in lines {
            let line = line?;
            let line = String::from_utf8_lossy(&line);
            println!("{line}");
            self.note(&line, &mut test);
        }
        let status = child.wait()?;
        if !status.success() {
            bail!("{command:?} failed: {status}");
        }
        Ok(())
    }

    /// Notes what a line of the output of Rust's tests says: the test that the next lines are
    /// of, or a skip.
    fn note(&mut self, line: &str, test: &mut String) {
        if let Some(name) =
            line.strip_prefix("---- ").and_then(|rest| rest.strip_suffix(" stdout ----"))
        {
            name.clone_into(test);
        } else if let Some(reason) = line.strip_prefix("SKIPPED: ") {
            self.rust.entry(reason.to_owned()).or_insert_with(|| test.clone());
        }
    }

    /// Makes a run of pytest leave what it skips and what it runs.
    pub(crate) fn of_pytest<'a>(&mut self, command: &'a mut Command) -> Result<&'a mut Command> {
        let file = crate::target()?.join(format!("python-outcomes-{}.txt", self.pytest.len()));
        fs::write(&file, "")?;
        command.env("SEQFEED_OUTCOMES", &file);
        self.pytest.push(file);
        Ok(command)
    }

    /// Says what was skipped; in continuous integration, fails for what is not on the list.
    pub(crate) fn check(&self) -> Result<()> {
        let path = root().join(LIST);
        let allowed =
            parse(&fs::read_to_string(&path).with_context(|| path.display().to_string())?)?;
        let python = python_skips(&self.pytest)?;
        let mut wrong = Vec::new();
        for (reason, test) in self.rust.iter().chain(&python) {
            match allowed.iter().find(|(pattern, _)| reason.contains(pattern.as_str())) {
                Some((_, why)) => eprintln!("skipped, as it may be: {test}: {reason} ({why})"),
                None => wrong.push(format!("{test}: {reason}")),
            }
        }
        if wrong.is_empty() {
            return Ok(());
        }
        let wrong = wrong.join("\n  ");
        if in_ci() {
            bail!(
                "tests were skipped that must run (those that need not are in {LIST}):\n  {wrong}"
            );
        }
        eprintln!("skipped, which fails in continuous integration:\n  {wrong}");
        Ok(())
    }
}

/// Parts of reasons, and why they are good ones.
fn parse(list: &str) -> Result<Vec<(String, String)>> {
    let lines = list.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines
        .map(|line| match line.split_once(" | ") {
            Some((pattern, why)) if !pattern.trim().is_empty() && !why.trim().is_empty() => {
                Ok((pattern.trim().to_owned(), why.trim().to_owned()))
            }
            _ => bail!("{LIST}: `{line}` is not `part of the reason | why that may be`"),
        })
        .collect()
}

/// Reasons of what no run of pytest has run, with the first test of each.
///
/// A line is `ran TEST` or `skipped TEST<tab>REASON`; a file that is skipped as a whole is a test.
fn python_skips(files: &[impl AsRef<Path>]) -> Result<BTreeMap<String, String>> {
    let text = files.iter().map(fs::read_to_string).collect::<std::io::Result<String>>()?;
    let ran: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("ran ")).collect();
    let mut skips = BTreeMap::new();
    for line in text.lines().filter_map(|line| line.strip_prefix("skipped ")) {
        let (test, reason) = line.split_once('\t').unwrap_or((line, ""));
        let elsewhere = ran.iter().any(|ran| {
            ran.strip_prefix(test).is_some_and(|rest| rest.is_empty() || rest.starts_with("::"))
        });
        if !elsewhere {
            skips.entry(reason.to_owned()).or_insert_with(|| test.to_owned());
        }
    }
    Ok(skips)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_skip_counts_unless_another_run_has_run_the_test() {
        let directory = tempfile::tempdir().unwrap();
        let files = ["a", "b"].map(|name| directory.path().join(name));
        fs::write(&files[0], "ran x.py::one\nskipped t.py\tno torch\nskipped x.py::two\tno GPU\n")
            .unwrap();
        fs::write(&files[1], "ran t.py::three\nskipped x.py::one\tno jax\nskipped t.pyx\tno y\n")
            .unwrap();
        let skips = python_skips(&files).unwrap();
        let expected = [("no GPU", "x.py::two"), ("no y", "t.pyx")];
        let expected = expected.map(|(reason, test)| (reason.to_owned(), test.to_owned()));
        assert_eq!(skips, BTreeMap::from(expected));
    }

    #[test]
    fn every_line_of_the_list_says_why() {
        assert_eq!(
            parse("# notes\n\nno GPU | none there\n").unwrap(),
            [("no GPU".into(), "none there".into())]
        );
        for wrong in ["no GPU", "no GPU | ", " | why", "no GPU|why"] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
        parse(&fs::read_to_string(root().join(LIST)).unwrap()).unwrap();
    }

    #[test]
    fn skips_are_found_in_what_tests_print() {
        let mut skips = Skips::default();
        let mut test = String::new();
        for line in ["---- a::b stdout ----", "SKIPPED: x is missing", ""] {
            skips.note(line, &mut test);
        }
        assert_eq!(skips.rust, BTreeMap::from([("x is missing".to_owned(), "a::b".to_owned())]));
        // Nothing is printed here that looks like a skip: these tests run under the same eyes.
        assert!(skips.run_cargo(Command::new("sh").args(["-c", "exit 0", "sh"])).is_ok());
        assert!(skips.run_cargo(Command::new("sh").args(["-c", "exit 3", "sh"])).is_err());
    }
}
