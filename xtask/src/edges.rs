//! Which file needs which: dependencies point one way, between crates and between the files of one.
//!
//! A crate may depend on those of lower rank only. In a crate no file may need another one that
//! needs it, over any number of steps. What a file uses of the modules it lies in does not count:
//! parts of a module use what its head defines.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use syn::visit::{self, Visit};
use syn::{Attribute, Item, UseTree, Visibility};

use crate::root;

/// The crates, each with its rank. Those of one rank do not see one another.
const RANKS: [(&str, u32); 16] = [
    ("seqfeed-core", 0),
    ("seqfeed-io", 1),
    ("seqfeed-kaldi", 2),
    ("seqfeed-htk", 2),
    ("seqfeed-cntk", 2),
    ("seqfeed-pdnn", 2),
    ("seqfeed-arrow", 2),
    ("seqfeed-transform", 2),
    ("seqfeed-text", 2),
    ("seqfeed-feed", 2),
    ("seqfeed-kaldi-tools", 3),
    ("seqfeed", 4),
    ("seqfeed-picture", 5),
    ("seqfeed-convert", 6),
    ("seqfeed-cli", 7),
    ("python", 7),
];

/// Fails where a crate depends on one that is not below it, or files of a crate need one another.
pub(crate) fn run() -> Result<()> {
    let mut wrong = Vec::new();
    for (name, rank, at) in crates() {
        for other in dependencies(&fs::read_to_string(at.join("Cargo.toml"))?) {
            let Some((_, below)) = RANKS.iter().find(|(known, _)| *known == other) else {
                bail!("{other} has no rank in xtask/src/edges.rs");
            };
            if *below >= rank {
                wrong.push(format!("{name} depends on {other}, which is not below it"));
            }
        }
        let circles = Crate::read(&at.join("src"))?.circles();
        wrong.extend(circles.iter().map(|circle| {
            format!("files of {name} need one another:\n    {}", circle.join("\n    "))
        }));
    }
    if wrong.is_empty() {
        return Ok(());
    }
    bail!("dependencies point one way:\n  {}", wrong.join("\n  "))
}

/// The crates, each with its rank and its directory.
pub(crate) fn crates() -> impl Iterator<Item = (&'static str, u32, PathBuf)> {
    let place = |(name, rank)| match name {
        "python" => (name, rank, root().join(name)),
        _ => (name, rank, root().join("crates").join(name)),
    };
    RANKS.into_iter().map(place).filter(|(_, _, at)| at.exists())
}

/// The crates of this project that a manifest names as dependencies, tests and benchmarks aside.
fn dependencies(manifest: &str) -> Vec<String> {
    let mut section = "";
    let mut found = Vec::new();
    for line in manifest.lines() {
        if line.starts_with('[') {
            section = line.trim();
        } else if section == "[dependencies]" && line.starts_with("seqfeed") {
            let end = line.find([' ', '.', '=']).unwrap_or(line.len());
            found.push(line[..end].to_owned());
        }
    }
    found
}

/// A module by its path, `[]` being the crate's root.
pub(crate) type Module = Vec<String>;

/// The modules of a crate that are files of their own.
struct Crate {
    uses: BTreeMap<Module, Uses>,
}

/// What a file names.
#[derive(Default)]
struct Uses {
    /// Paths as they are written.
    paths: Vec<Vec<String>>,
    /// Names that it hands on, and the paths behind them.
    handed_on: BTreeMap<String, Vec<String>>,
}

impl Crate {
    fn read(source: &Path) -> Result<Self> {
        let uses = modules(source)?.into_iter().map(|(_, module, file)| {
            let mut found = Uses::default();
            found.visit_file(&file);
            (module, found)
        });
        Ok(Self { uses: uses.collect() })
    }

    /// The files that need one another, each circle as the edges in it.
    fn circles(&self) -> Vec<Vec<String>> {
        let edges: BTreeMap<&Module, BTreeSet<Module>> =
            self.uses.keys().map(|module| (module, self.needs(module))).collect();
        let reached: BTreeMap<&Module, BTreeSet<&Module>> =
            edges.keys().map(|module| (*module, reachable(module, &edges))).collect();
        let mut seen = BTreeSet::new();
        let mut circles = Vec::new();
        for module in edges.keys() {
            let together = |other: &&Module| reached[*other].contains(*module);
            let circle: BTreeSet<&Module> =
                reached[*module].iter().copied().filter(together).collect();
            if circle.len() < 2 || !seen.insert(circle.clone()) {
                continue;
            }
            let inside = circle.iter().flat_map(|from| {
                let to = edges[*from].iter().filter(|to| circle.contains(*to));
                to.map(|to| format!("{} needs {}", shown(from), shown(to)))
            });
            circles.push(inside.collect());
        }
        circles
    }

    /// The files that one needs, but for the modules that it lies in.
    fn needs(&self, module: &Module) -> BTreeSet<Module> {
        let paths = self.uses[module].paths.iter();
        let found = paths.filter_map(|path| self.absolute(module, path));
        let needed = found.map(|path| self.file_of(path, 0));
        needed.filter(|other| other != module && !module.starts_with(other)).collect()
    }

    /// A path from the crate's root; nothing if it leads into another crate.
    fn absolute(&self, module: &Module, path: &[String]) -> Option<Vec<String>> {
        let mut at = module.clone();
        let mut rest = path;
        match rest.first()?.as_str() {
            "crate" => (at, rest) = (Vec::new(), &rest[1..]),
            "self" => rest = &rest[1..],
            "super" => {
                while rest.first().is_some_and(|word| word == "super") {
                    at.pop();
                    rest = &rest[1..];
                }
            }
            child => {
                let mut inside = at.clone();
                inside.push(child.to_owned());
                if !self.uses.contains_key(&inside) {
                    return None;
                }
            }
        }
        at.extend_from_slice(rest);
        Some(at)
    }

    /// The file that defines what a path from the root names.
    fn file_of(&self, path: Vec<String>, steps: u32) -> Module {
        let mut known = 0;
        while known < path.len() && self.uses.contains_key(&path[..=known]) {
            known += 1;
        }
        let module = path[..known].to_vec();
        if let Some(name) = path.get(known)
            && let Some(behind) = self.uses.get(&module).and_then(|uses| uses.handed_on.get(name))
            && let Some(mut further) = self.absolute(&module, behind)
            && steps < 10
        {
            further.extend_from_slice(&path[known + 1..]);
            return self.file_of(further, steps + 1);
        }
        module
    }
}

/// The files of a crate, tests aside, each with the module that it holds.
pub(crate) fn modules(source: &Path) -> Result<Vec<(PathBuf, Module, syn::File)>> {
    let mut found = Vec::new();
    let mut directories = vec![source.to_owned()];
    while let Some(directory) = directories.pop() {
        for entry in fs::read_dir(&directory)? {
            let path = entry?.path();
            if path.is_dir() {
                directories.push(path);
            } else if let Some(module) = module_of(source, &path) {
                let text = fs::read_to_string(&path)?;
                let file = syn::parse_file(&text).with_context(|| path.display().to_string())?;
                found.push((path, module, file));
            }
        }
    }
    Ok(found)
}

/// The module that a file holds; none for tests and what is no Rust.
fn module_of(source: &Path, file: &Path) -> Option<Module> {
    let path: PathBuf = file.strip_prefix(source).ok()?.with_extension("");
    let module: Module = path.iter().map(|part| part.to_string_lossy().into_owned()).collect();
    let is_test = module.iter().any(|part| part == "tests");
    if is_test || file.extension().is_none_or(|extension| extension != "rs") {
        return None;
    }
    match module[..] == ["lib"] || module[..] == ["main"] {
        true => Some(Vec::new()),
        false => Some(module),
    }
}

fn reachable<'a>(
    from: &Module,
    edges: &'a BTreeMap<&Module, BTreeSet<Module>>,
) -> BTreeSet<&'a Module> {
    let mut found = BTreeSet::new();
    let mut waiting: Vec<&Module> = edges[from].iter().collect();
    while let Some(module) = waiting.pop() {
        if let Some(next) = edges.get(module)
            && found.insert(module)
        {
            waiting.extend(next.iter());
        }
    }
    found
}

fn shown(module: &Module) -> String {
    if module.is_empty() { "the root".to_owned() } else { module.join("::") }
}

impl<'ast> Visit<'ast> for Uses {
    fn visit_item(&mut self, item: &'ast Item) {
        if !attributes(item).iter().any(is_for_tests) {
            visit::visit_item(self, item);
        }
    }

    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        let mut found = Vec::new();
        flatten(&item.tree, &mut Vec::new(), &mut found);
        match item.vis {
            Visibility::Inherited => self.paths.extend(found.into_iter().map(|(_, path)| path)),
            _ => self.handed_on.extend(found),
        }
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        if path.segments.len() > 1 {
            let words = path.segments.iter().map(|segment| segment.ident.to_string());
            self.paths.push(words.collect());
        }
        visit::visit_path(self, path);
    }
}

/// What stands before an item that may be for tests.
pub(crate) fn attributes(item: &Item) -> &[Attribute] {
    match item {
        Item::Mod(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        _ => &[],
    }
}

pub(crate) fn is_for_tests(attribute: &Attribute) -> bool {
    attribute.path().is_ident("cfg")
        && attribute.parse_args::<syn::Path>().is_ok_and(|path| path.is_ident("test"))
}

/// The paths of a `use`, each with the name it gets.
pub(crate) fn flatten(
    tree: &UseTree,
    before: &mut Vec<String>,
    found: &mut Vec<(String, Vec<String>)>,
) {
    let mut end = |last: &syn::Ident, name: &syn::Ident| {
        let mut path = before.clone();
        if last != "self" {
            path.push(last.to_string());
        }
        found.push((name.to_string(), path));
    };
    match tree {
        UseTree::Path(path) => {
            before.push(path.ident.to_string());
            flatten(&path.tree, before, found);
            before.pop();
        }
        UseTree::Name(name) => end(&name.ident, &name.ident),
        UseTree::Rename(renamed) => end(&renamed.ident, &renamed.rename),
        UseTree::Glob(_) => found.push(("*".to_owned(), before.clone())),
        UseTree::Group(group) => {
            group.items.iter().for_each(|tree| flatten(tree, before, found));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn circles(files: &[(&str, &str)]) -> Vec<Vec<String>> {
        let directory = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = directory.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        Crate::read(directory.path()).unwrap().circles()
    }

    #[test]
    fn files_that_need_one_another_are_found() {
        let found = circles(&[
            ("lib.rs", "mod a; mod b; mod c; pub use b::B;"),
            ("a.rs", "use crate::B; pub struct A;"),
            ("b.rs", "pub struct B; fn f() { crate::c::go() }"),
            ("c.rs", "pub fn go() { let _ = super::a::A; }"),
        ]);
        assert_eq!(found, [["a needs b", "b needs c", "c needs a"]]);
    }

    #[test]
    fn tests_and_heads_of_modules_do_not_count() {
        let found = circles(&[
            ("lib.rs", "mod a; pub struct Root;"),
            ("a.rs", "mod part; use part::Part; pub struct Head; use crate::Root;"),
            ("a/part.rs", "use super::Head; pub struct Part;"),
            ("a/tests.rs", "use crate::a::part::Part;"),
            ("b.rs", "#[cfg(test)] mod tests { use crate::c::C; } pub struct B;"),
            ("c.rs", "use crate::b::B; use std::fmt; pub struct C;"),
        ]);
        assert_eq!(found, Vec::<Vec<String>>::new());
    }

    #[test]
    fn dependencies_are_those_of_the_library() {
        let manifest = "[package]\nname = \"x\"\n[dependencies]\nseqfeed-io = { workspace = true }\n\
                        seqfeed-core.workspace = true\nserde = \"1\"\n[dev-dependencies]\nseqfeed = \"1\"\n";
        assert_eq!(dependencies(manifest), ["seqfeed-io", "seqfeed-core"]);
    }
}
