//! The shared material.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

/// A file of the shared material, or `None` (said loudly) where it is missing.
pub(crate) fn shared(file: &str) -> Option<PathBuf> {
    let root = std::env::var_os("SEQFEED_SHARED").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared"),
        PathBuf::from,
    );
    let file = root.join(file);
    if file.exists() {
        return Some(file);
    }
    eprintln!("SKIPPED: {} is missing; set SEQFEED_SHARED", file.display());
    None
}

/// A list of cases.
pub(crate) fn manifest(path: &Path) -> Vec<Value> {
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

/// An array of NumPy's: columns, and values by their bits (16 bits for integers).
pub(crate) fn npy(path: &Path) -> (usize, Vec<u32>) {
    let bytes = fs::read(path).unwrap();
    let header_end = 10 + usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
    let header = std::str::from_utf8(&bytes[10..header_end]).unwrap();
    assert!(header.contains("'fortran_order': False"), "{header}");
    let shape = header.split('(').nth(1).unwrap().split(')').next().unwrap();
    let columns = shape.split(',').nth(1).and_then(|n| n.trim().parse().ok()).unwrap_or(1);
    let data = &bytes[header_end..];
    let values = if header.contains("<f4") {
        data.as_chunks::<4>().0.iter().map(|&v| u32::from_le_bytes(v)).collect()
    } else {
        assert!(header.contains("<i2"), "{header}");
        data.as_chunks::<2>().0.iter().map(|&v| u16::from_le_bytes(v).into()).collect()
    };
    (columns, values)
}

pub(crate) fn bits(values: &[f32]) -> Vec<u32> {
    values.iter().map(|value| value.to_bits()).collect()
}
