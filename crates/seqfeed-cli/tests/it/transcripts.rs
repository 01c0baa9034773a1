//! The `console` blocks of the book and of `tests/cmd` are run, in a copy of
//! `examples/digits` for each page, and must print what stands there. `cargo xtask docs`
//! writes what they print into them.

use std::fs;
use std::path::{Path, PathBuf};

use trycmd::schema::Bin;

use crate::book::{docs, pages};
use crate::program::{copy_directory, examples};

/// Programs besides ours that the pages call.
const OTHERS: [&str; 6] = ["cat", "cmp", "head", "ls", "mkdir", "rm"];

#[test]
fn pages_print_what_they_show() {
    let scratch = tempfile::tempdir().unwrap();
    let mut copies: Vec<(PathBuf, PathBuf)> = Vec::new();
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cmd");
    for directory in [docs(), own.clone()] {
        for page in pages(&directory) {
            let text = fs::read_to_string(directory.join(&page)).unwrap();
            if !text.contains("```console") {
                continue;
            }
            only_known_programs(&page, &text);
            let name = page.to_str().unwrap().replace('/', "-");
            let copy = scratch.path().join(name);
            assert!(!copy.exists(), "two pages of one name: {}", page.display());
            fs::write(&copy, text).unwrap();
            let place = copy.with_extension("in");
            copy_directory(&examples().join("digits"), &place);
            if directory == own {
                for files in ["small", "sound", "wrong"] {
                    copy_directory(&own.join(files), &place.join(files));
                }
            }
            copies.push((directory.join(page), copy));
        }
    }
    assert!(copies.len() > 10, "{copies:?}");
    let cases = trycmd::TestCases::new();
    cases.case(scratch.path().join("*.md"));
    cases.register_bin("seqfeed", Bin::Path(env!("CARGO_BIN_EXE_seqfeed").into()));
    for program in OTHERS {
        cases.register_bin(program, Bin::Path(find(program)));
    }
    cases.env("COLUMNS", "100").env("LC_ALL", "C").env("NO_COLOR", "1");
    cases.run();
    for (page, copy) in copies {
        let (before, after) = (fs::read(&page).unwrap(), fs::read(copy).unwrap());
        if before != after {
            fs::write(page, after).unwrap();
        }
    }
}

/// A program that trycmd does not know would be passed over, and its output never compared.
fn only_known_programs(page: &Path, text: &str) {
    // The language of the block that a line is in.
    let mut block = None;
    for line in text.lines() {
        if let Some(language) = line.strip_prefix("```") {
            block = match block {
                Some(_) => None,
                None => Some(language),
            };
            // trycmd takes blocks without a language for its own.
            assert_ne!(block, Some(""), "{}: a block without a language", page.display());
        } else if let (Some("console"), Some(command)) = (block, line.strip_prefix("$ ")) {
            let program = command.split(' ').next().unwrap();
            let known = program == "seqfeed" || OTHERS.contains(&program);
            assert!(known, "{}: {command}", page.display());
        }
    }
}

/// A program in `PATH`.
fn find(program: &str) -> PathBuf {
    let path = std::env::var_os("PATH").unwrap();
    let mut found = std::env::split_paths(&path).map(|directory| directory.join(program));
    found.find(|file| file.is_file()).unwrap_or_else(|| panic!("{program} is not in PATH"))
}
