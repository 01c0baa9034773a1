//! The shared material, and numpy's archives in it.

use std::fs;
use std::path::{Path, PathBuf};

use seqfeed_io::Input;
use seqfeed_pdnn::pickle::{Array, read_npy};
use serde_json::Value as Json;

/// The recorded files, or `None` (said loudly) where they are missing.
pub(crate) fn golden() -> Option<PathBuf> {
    let root = std::env::var_os("SEQFEED_SHARED").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared"),
        PathBuf::from,
    );
    let directory = root.join("golden/pdnn");
    if directory.exists() {
        return Some(directory);
    }
    eprintln!("SKIPPED: {} is missing; set SEQFEED_SHARED", directory.display());
    None
}

pub(crate) fn manifest(golden: &Path, name: &str) -> Vec<Json> {
    let text = fs::read_to_string(golden.join(name)).unwrap();
    serde_json::from_str(&text).unwrap()
}

/// An array of an archive, whose members are not compressed.
pub(crate) fn npz(file: &Path, name: &str) -> Array {
    let arrays = seqfeed_pdnn::pickle::read_npz(file).unwrap();
    let found = arrays.into_iter().find(|(member, _)| member == name);
    found.unwrap_or_else(|| panic!("{} has no {name}", file.display())).1
}

#[allow(dead_code)]
pub(crate) fn npy(bytes: Vec<u8>) -> Array {
    read_npy(&mut Input::from_reader("npy", std::io::Cursor::new(bytes))).unwrap()
}
