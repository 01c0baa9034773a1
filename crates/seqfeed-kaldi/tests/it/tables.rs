//! Opening tables and reading all of them.

use std::path::{Path, PathBuf};

use seqfeed_core::{Block, Element, Extent, Result, Source, Tolerance};
use seqfeed_io::Opener;
use seqfeed_kaldi::{Role, TableOptions, TableSource};

/// Options for features of 32 bits.
pub(crate) fn features(base: &Path) -> TableOptions {
    TableOptions {
        stream: "features".into(),
        role: Role::Features,
        element: Element::F32,
        extent: None,
        chunk_samples: 1000,
        opener: Opener::default().in_directory(Some(base.into())),
        map: false,
        or_compressed: false,
        like: None,
        lengths: None,
        errors: Tolerance::Stop,
    }
}

/// Options for labels.
pub(crate) fn labels(base: &Path) -> TableOptions {
    TableOptions { role: Role::Labels, element: Element::I32, ..features(base) }
}

/// Options for one vector (or number) a sequence.
pub(crate) fn whole(options: TableOptions) -> TableOptions {
    TableOptions { extent: Some(Extent::Sequence), ..options }
}

/// Key and bytes of the samples of every sequence.
pub(crate) type Contents = Vec<(String, Vec<u8>)>;

/// Opens a table and loads all of it, in one call and sequence by sequence.
pub(crate) fn contents(rspecifier: &str, options: &TableOptions) -> Result<Contents> {
    let table = TableSource::open(&[rspecifier.to_owned()], options)?;
    let all: Vec<u32> = (0..table.index().len() as u32).collect();
    let load = |sequences: &[u32]| -> Result<Vec<Block>> {
        let mut blocks = table.new_blocks();
        table.load(sequences, &mut blocks)?;
        Ok(blocks)
    };
    let blocks = load(&all)?;
    let mut contents = Contents::new();
    for &sequence in &all {
        let bytes = blocks[0].samples(sequence as usize).bytes().to_vec();
        assert_eq!(load(&[sequence])?[0].samples(0).bytes(), bytes);
        contents.push((table.index().key(sequence).to_string(), bytes));
    }
    Ok(contents)
}

/// A directory of the shared material, or `None` (said loudly) where it is missing.
pub(crate) fn shared(directory: &str) -> Option<PathBuf> {
    let root = std::env::var_os("SEQFEED_SHARED").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared"),
        PathBuf::from,
    );
    let directory = root.join(directory);
    if directory.exists() {
        return Some(directory);
    }
    eprintln!("SKIPPED: {} is missing; set SEQFEED_SHARED", directory.display());
    None
}

#[test]
fn the_same_name_in_two_script_files_is_that_of_two_files() {
    let directory = tempfile::tempdir().unwrap();
    let base = directory.path();
    for (part, value) in [("a", 1.0), ("b", 2.0)] {
        std::fs::create_dir(base.join(part)).unwrap();
        let object = [&b"\0BFV \x04\x02\0\0\0"[..], &f32::to_le_bytes(value).repeat(2)].concat();
        std::fs::write(base.join(part).join("v.ark"), [b"u ", &object[..]].concat()).unwrap();
        std::fs::write(base.join(part).join("v.scp"), format!("{part} v.ark:2\n")).unwrap();
    }
    let scripts = ["scp:a/v.scp".to_owned(), "scp:b/v.scp".to_owned(), "scp:a/v.scp".to_owned()];
    let table = TableSource::open(&scripts, &whole(features(base))).unwrap();
    let mut blocks = table.new_blocks();
    table.load(&[0, 1, 2], &mut blocks).unwrap();
    for (number, value) in [1f32, 2.0, 1.0].into_iter().enumerate() {
        assert_eq!(blocks[0].samples(number).bytes(), value.to_le_bytes().repeat(2), "{number}");
    }
}
