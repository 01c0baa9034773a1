//! The crates that seqfeed-kaldi needs at least, as its README lists them.

use std::fs;

use anyhow::{Result, bail};

use crate::{cargo, root};

/// Fails if the README lists others, or one of them needs a C compiler.
pub(crate) fn run() -> Result<()> {
    let mut tree = cargo();
    tree.args(["tree", "--quiet", "-p", "seqfeed-kaldi", "--no-default-features"]);
    let found = tree.args(["-e", "normal,build", "--charset", "ascii"]).output()?;
    if !found.status.success() {
        bail!("{tree:?} failed: {}", String::from_utf8_lossy(&found.stderr));
    }
    let tree = names(&String::from_utf8(found.stdout)?);
    if tree.lines().any(|line| line.ends_with(" cc")) {
        bail!("seqfeed-kaldi needs a C compiler:\n{tree}");
    }
    let readme = fs::read_to_string(root().join("crates/seqfeed-kaldi/README.md"))?;
    if !readme.contains(&format!("```text\n{tree}```\n")) {
        bail!("the README of seqfeed-kaldi should list these crates:\n{tree}");
    }
    Ok(())
}

/// A tree of crates without versions, paths and marks.
fn names(tree: &str) -> String {
    let name = |line: &str| line.split_once(" v").map_or(line, |(name, _)| name).to_owned() + "\n";
    tree.lines().map(name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_left_out() {
        let tree = "a v0.1.0 (/x/a)\n|-- b v1.25.2\n`-- c v1.0.0 (*)\n";
        assert_eq!(names(tree), "a\n|-- b\n`-- c\n");
    }
}
