//! Shared files, tables opened and loaded whole, and numpy's archives.

use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use seqfeed_core::{Element, Extent, Result, Source, Tolerance};
use seqfeed_io::Policy;
use seqfeed_kaldi::{Role, TableOptions, TableSource};

/// A file or directory that is too large for the repository.
pub(crate) fn shared(part: &str) -> Option<PathBuf> {
    let root = std::env::var_os("SEQFEED_SHARED").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared"),
        PathBuf::from,
    );
    let path = root.join(part);
    if !path.exists() {
        eprintln!("SKIPPED: {} is missing; set SEQFEED_SHARED", path.display());
        return None;
    }
    Some(path)
}

/// Options for features; pipes are allowed.
pub(crate) fn features(element: Element) -> TableOptions {
    TableOptions {
        stream: "features".into(),
        role: Role::Features,
        element,
        extent: None,
        chunk_samples: 1000,
        policy: Policy::with_pipes(),
        specifier_policy: Policy::with_pipes(),
        map: false,
        errors: Tolerance::Stop,
        base: None,
    }
}

/// Options for labels, one a sample or one a sequence.
pub(crate) fn labels(extent: Extent) -> TableOptions {
    TableOptions {
        stream: "labels".into(),
        role: Role::Labels,
        extent: Some(extent),
        ..features(Element::I32)
    }
}

/// A sequence: key, number of samples, its values as bytes.
pub(crate) type Sequence = (Vec<u8>, usize, Vec<u8>);

/// Opens tables.
pub(crate) fn open(rspecifiers: &[&str], options: &TableOptions) -> Result<TableSource> {
    let rspecifiers: Vec<String> = rspecifiers.iter().map(|&text| text.to_owned()).collect();
    TableSource::open(&rspecifiers, options)
}

/// Loads all of a table, last sequence first, so that nothing depends on order.
pub(crate) fn load(table: &TableSource) -> Result<Vec<Sequence>> {
    let backwards: Vec<u32> = (0..table.index().len() as u32).rev().collect();
    let mut blocks = table.new_blocks();
    table.load(&backwards, &mut blocks)?;
    let mut sequences: Vec<Sequence> = backwards
        .iter()
        .enumerate()
        .map(|(at, &sequence)| {
            let samples = blocks[0].samples(at);
            assert_eq!(samples.len(), table.index().samples(sequence) as usize);
            let key = table.index().key(sequence).0.to_vec();
            (key, samples.len(), samples.bytes().to_vec())
        })
        .collect();
    sequences.reverse();
    Ok(sequences)
}

/// Opens and loads tables that must be readable.
pub(crate) fn read(rspecifiers: &[&str], options: &TableOptions) -> Vec<Sequence> {
    let table = open(rspecifiers, options).unwrap_or_else(|e| panic!("{rspecifiers:?}: {e}"));
    load(&table).unwrap_or_else(|e| panic!("{rspecifiers:?}: {e}"))
}

/// Writes a file; its name for specifiers.
pub(crate) fn write(path: &Path, bytes: &[u8]) -> String {
    fs::write(path, bytes).unwrap();
    path.to_str().unwrap().to_owned()
}

/// The objects of an archive one by one, cut at its keys: tables here hold what has one width.
pub(crate) fn cut_archive<'a>(bytes: &'a [u8], keys: &[String]) -> Vec<&'a [u8]> {
    let mut starts = Vec::new();
    let mut from = 0;
    for key in keys {
        let found = (from..bytes.len()).find(|&at| {
            let behind = at + key.len();
            (bytes[at..].starts_with(key.as_bytes()))
                && matches!(bytes.get(behind), Some(b' ' | b'\t' | b'\n'))
        });
        let at = found.unwrap_or_else(|| panic!("no key {key}"));
        starts.push(at);
        from = at + key.len();
    }
    let ends = starts.iter().skip(1).copied().chain([bytes.len()]);
    starts.iter().zip(ends).map(|(&start, end)| &bytes[start..end]).collect()
}

/// An array of an `.npz` file: its dimensions and its little-endian bytes.
#[derive(Debug)]
pub(crate) struct Npy {
    pub(crate) descr: String,
    pub(crate) shape: Vec<usize>,
    pub(crate) bytes: Vec<u8>,
}

/// Reads an `.npz` file as numpy writes it: a zip archive of `k0.npy`, `k1.npy`, ...
pub(crate) fn read_npz(path: &Path) -> BTreeMap<String, Npy> {
    let zip = fs::read(path).unwrap();
    let u16_at = |at: usize| usize::from(u16::from_le_bytes([zip[at], zip[at + 1]]));
    let u32_at = |at: usize| u16_at(at) | u16_at(at + 2) << 16;
    let end = (0..=zip.len() - 22).rev().find(|&at| zip[at..].starts_with(b"PK\x05\x06")).unwrap();
    let (count, mut at) = (u16_at(end + 10), u32_at(end + 16));
    let mut arrays = BTreeMap::new();
    for _ in 0..count {
        assert!(zip[at..].starts_with(b"PK\x01\x02"));
        let (method, packed, name_len) = (u16_at(at + 10), u32_at(at + 20), u16_at(at + 28));
        let local = u32_at(at + 42);
        let name = std::str::from_utf8(&zip[at + 46..at + 46 + name_len]).unwrap();
        let data = local + 30 + u16_at(local + 26) + u16_at(local + 28);
        let data = &zip[data..data + packed];
        let bytes = match method {
            0 => data.to_vec(),
            8 => {
                let mut bytes = Vec::new();
                flate2::read::DeflateDecoder::new(data).read_to_end(&mut bytes).unwrap();
                bytes
            }
            other => panic!("compression method {other}"),
        };
        arrays.insert(name.trim_end_matches(".npy").to_owned(), parse_npy(&bytes));
        at += 46 + name_len + u16_at(at + 30) + u16_at(at + 32);
    }
    arrays
}

fn parse_npy(bytes: &[u8]) -> Npy {
    assert!(bytes.starts_with(b"\x93NUMPY\x01"));
    let header_len = usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
    let header = std::str::from_utf8(&bytes[10..10 + header_len]).unwrap();
    assert!(header.contains("'fortran_order': False"), "{header}");
    let between = |open: &str, close: &str| {
        let rest = header.split_once(open).unwrap().1;
        rest.split_once(close).unwrap().0.to_owned()
    };
    let shape = between("'shape': (", ")");
    let shape = shape.split(',').map(str::trim).filter(|n| !n.is_empty());
    Npy {
        descr: between("'descr': '", "'"),
        shape: shape.map(|n| n.parse().unwrap()).collect(),
        bytes: bytes[10 + header_len..].to_vec(),
    }
}
