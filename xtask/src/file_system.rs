//! Who asks the file system: `seqfeed-io` alone, so that all that is named may lie in a store.

use std::path::Path;

use anyhow::{Result, bail};
use syn::punctuated::Punctuated;
use syn::visit::{self, Visit};
use syn::{Expr, ExprMethodCall, Item, ItemUse, Macro, Token};

use crate::edges::{attributes, crates, flatten, is_for_tests, modules};
use crate::root;

/// The crate that asks the file system.
const ASKS: &str = "seqfeed-io";

/// Methods of paths that ask it. They take no arguments.
const METHODS: [&str; 10] = [
    "canonicalize",
    "exists",
    "is_dir",
    "is_file",
    "is_symlink",
    "metadata",
    "read_dir",
    "read_link",
    "symlink_metadata",
    "try_exists",
];

/// Modules whose functions ask it.
const MODULES: [&[&str]; 3] = [&["std", "fs"], &["std", "os", "unix", "fs"], &["tempfile"]];

/// What others may use, where, and why.
const EXCEPTIONS: [(&str, &str, &str); 5] = [
    ("crates/seqfeed-arrow/src", "metadata", "that of columns and row groups is no file's"),
    ("crates/seqfeed-cli/src/commands/kaldi.rs", "fs", "`kaldi --install` makes links"),
    ("crates/seqfeed-cli/src/commands/manual.rs", "fs", "`manual` makes a directory"),
    ("crates/seqfeed-cli/src/commands/feed/memory.rs", "fs", "/proc tells what memory is in use"),
    ("crates/seqfeed-cli/src/signals.rs", "fs", "/proc tells which signals are ignored"),
];

/// Fails where a crate other than `seqfeed-io` asks the file system.
pub(crate) fn run() -> Result<()> {
    let mut wrong = Vec::new();
    let mut used = [false; EXCEPTIONS.len()];
    for (_, _, at) in crates().filter(|(name, ..)| *name != ASKS) {
        for (path, _, file) in modules(&at.join("src"))? {
            let path = path.strip_prefix(root()).unwrap_or(&path);
            for what in asked(&file) {
                match exception(path, &what) {
                    Some(number) => used[number] = true,
                    None => wrong.push(format!("{}: {what}", path.display())),
                }
            }
        }
    }
    for ((at, what, _), _) in EXCEPTIONS.iter().zip(used).filter(|(_, used)| !used) {
        wrong.push(format!("{at} uses no {what}: take it out of EXCEPTIONS"));
    }
    if wrong.is_empty() {
        return Ok(());
    }
    bail!("only {ASKS} asks the file system, see its `Opener`:\n  {}", wrong.join("\n  "))
}

fn exception(path: &Path, what: &str) -> Option<usize> {
    EXCEPTIONS.iter().position(|(at, allowed, _)| path.starts_with(at) && what.contains(allowed))
}

/// The methods and modules of a file that ask the file system.
fn asked(file: &syn::File) -> Vec<String> {
    let mut found = Asked::default();
    found.visit_file(file);
    found.0
}

#[derive(Default)]
struct Asked(Vec<String>);

impl Asked {
    fn path(&mut self, path: &[String]) {
        if MODULES
            .iter()
            .any(|module| path.len() >= module.len() && path[..module.len()] == **module)
        {
            self.0.push(path.join("::"));
        }
    }
}

impl<'ast> Visit<'ast> for Asked {
    fn visit_item(&mut self, item: &'ast Item) {
        if !attributes(item).iter().any(is_for_tests) {
            visit::visit_item(self, item);
        }
    }

    fn visit_item_use(&mut self, item: &'ast ItemUse) {
        let mut found = Vec::new();
        flatten(&item.tree, &mut Vec::new(), &mut found);
        found.iter().for_each(|(_, path)| self.path(path));
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let words: Vec<String> = path.segments.iter().map(|one| one.ident.to_string()).collect();
        self.path(&words);
        visit::visit_path(self, path);
    }

    fn visit_expr_method_call(&mut self, call: &'ast ExprMethodCall) {
        if call.args.is_empty() && METHODS.iter().any(|method| call.method == method) {
            self.0.push(format!(".{}()", call.method));
        }
        visit::visit_expr_method_call(self, call);
    }

    fn visit_macro(&mut self, macros: &'ast Macro) {
        // What is in it is seen where it is a list of expressions, as of `format!`.
        let parser = Punctuated::<Expr, Token![,]>::parse_terminated;
        if let Ok(inside) = macros.parse_body_with(parser) {
            let mut found = Self::default();
            inside.iter().for_each(|expression| found.visit_expr(expression));
            self.0.extend(found.0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_asks_the_file_system_is_found() {
        let cases: [(&str, &[&str]); 8] = [
            ("use std::fs;", &["std::fs"]),
            ("use std::{fs::File, io};", &["std::fs::File"]),
            ("use std::os::unix::fs::MetadataExt as _;", &["std::os::unix::fs::MetadataExt"]),
            ("fn f(p: &Path) -> bool { p.join(x).exists() }", &[".exists()"]),
            ("fn f() { std::fs::write(p, t) }", &["std::fs::write"]),
            ("fn f() { assert!(p.is_file(), \"{}\", 1) }", &[".is_file()"]),
            ("fn f() { opener.exists(&place); file.metadata }", &[]),
            ("#[cfg(test)] mod tests { use std::fs; }", &[]),
        ];
        for (text, expected) in cases {
            assert_eq!(asked(&syn::parse_file(text).unwrap()), expected, "{text}");
        }
    }

    #[test]
    fn exceptions_are_for_one_thing_in_one_place() {
        let at = Path::new("crates/seqfeed-arrow/src/schema.rs");
        assert_eq!(exception(at, ".metadata()"), Some(0));
        assert_eq!(exception(at, "std::fs"), None);
        assert_eq!(exception(Path::new("crates/seqfeed/src/open.rs"), ".metadata()"), None);
    }
}
