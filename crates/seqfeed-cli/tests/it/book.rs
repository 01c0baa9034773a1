//! The book in `docs/`: every page is listed, every command has one, every link leads somewhere.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::program::seqfeed;

/// The directory of the book.
pub(crate) fn docs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs")
}

/// All pages below a directory, by names relative to it, sorted.
pub(crate) fn pages(directory: &Path) -> Vec<PathBuf> {
    let (mut pages, mut left) = (Vec::new(), vec![directory.to_owned()]);
    while let Some(next) = left.pop() {
        for entry in fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                left.push(path);
            } else if path.extension().is_some_and(|extension| extension == "md") {
                pages.push(path.strip_prefix(directory).unwrap().to_owned());
            }
        }
    }
    pages.sort();
    pages
}

#[test]
fn the_summary_lists_every_page_once() {
    let summary = fs::read_to_string(docs().join("SUMMARY.md")).unwrap();
    let listed: Vec<PathBuf> = links(&summary).into_iter().map(|(_, link)| link.into()).collect();
    let once: BTreeSet<&PathBuf> = listed.iter().collect();
    assert_eq!(once.len(), listed.len(), "a page is listed twice: {listed:?}");
    let there = pages(&docs());
    let there: BTreeSet<&PathBuf> =
        there.iter().filter(|page| *page != Path::new("SUMMARY.md")).collect();
    assert_eq!(once, there, "SUMMARY.md lists the left ones, the right ones are there");
}

#[test]
fn every_link_leads_somewhere() {
    let mut checked = 0;
    for page in pages(&docs()) {
        let path = docs().join(&page);
        let text = fs::read_to_string(&path).unwrap();
        for (line, link) in links(&text) {
            if link.contains("://") {
                continue;
            }
            let at = format!("{}:{line}: {link}", page.display());
            let (file, anchor) = link.split_once('#').unwrap_or((&link, ""));
            let target = match file {
                "" => path.clone(),
                file => path.parent().unwrap().join(file),
            };
            let target = target.canonicalize().unwrap_or_else(|_| panic!("{at}: no such file"));
            let inside = target.starts_with(docs().canonicalize().unwrap());
            assert!(inside, "{at}: is not in the book");
            if !anchor.is_empty() {
                let anchors = anchors(&fs::read_to_string(&target).unwrap());
                assert!(anchors.contains(anchor), "{at}: the headings are {anchors:?}");
            }
            checked += 1;
        }
    }
    assert!(checked > 50, "{checked} links");
}

#[test]
fn every_command_has_its_page_with_its_help() {
    let help = seqfeed(&docs(), &["--help"]).env("COLUMNS", "1000").output().unwrap();
    let help = String::from_utf8(help.stdout).unwrap();
    let commands = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let commands = commands.take_while(|line| !line.is_empty());
    let mut seen = 0;
    for command in commands.filter_map(|line| line.split_whitespace().next()) {
        if command == "help" {
            continue;
        }
        let page = docs().join(format!("commands/{command}.md"));
        let text = fs::read_to_string(&page).unwrap_or_else(|_| panic!("{}", page.display()));
        // That the help is today's is the transcripts' test.
        assert!(text.contains(&format!("```console\n$ seqfeed {command} --help\n")), "{command}");
        seen += 1;
    }
    assert!(seen >= 10, "{seen} commands");
}

/// The targets of `[text](target)` outside of code, with their lines.
fn links(text: &str) -> Vec<(usize, String)> {
    let mut links = Vec::new();
    for (number, line) in outside_of_blocks(text) {
        let line = without_code(line);
        for part in line.split("](").skip(1) {
            let end = part.find(')').unwrap_or_else(|| panic!("line {number}: {line}"));
            links.push((number, part[..end].to_owned()));
        }
    }
    links
}

/// What mdBook (and GitHub) call the headings of a page.
fn anchors(text: &str) -> BTreeSet<String> {
    let headings = outside_of_blocks(text).filter(|(_, line)| line.starts_with('#'));
    let titles = headings.map(|(_, line)| line.trim_start_matches('#').trim().to_lowercase());
    let kept = |c: &char| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_');
    titles.map(|title| title.chars().filter(kept).collect::<String>().replace(' ', "-")).collect()
}

fn outside_of_blocks(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut inside = false;
    text.lines().enumerate().map(|(i, line)| (i + 1, line)).filter(move |(_, line)| {
        let fence = line.trim_start().starts_with("```");
        inside ^= fence;
        !inside && !fence
    })
}

/// A line without what stands between backticks.
fn without_code(line: &str) -> String {
    line.split('`').step_by(2).collect::<Vec<_>>().join("`")
}
