//! What is written here is read by pyarrow, polars and `DuckDB`, if they are installed.

use std::path::Path;
use std::process::Command;

use seqfeed_arrow::{Compress, WriteOptions};
use seqfeed_core::{Block, Element, Extent, Kind, Stream};

use crate::{Held, write};

#[test]
fn others_read_our_files() {
    let python = std::env::var("SEQFEED_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let there = Command::new(&python).args(["-c", "import pyarrow"]).output();
    if !there.is_ok_and(|output| output.status.success()) {
        eprintln!("SKIPPED: {python} has no pyarrow (set SEQFEED_PYTHON to one that has)");
        return;
    }
    let stream = |name: &str, kind, element, dim, extent| Stream {
        name: name.to_owned(),
        kind,
        element,
        dim,
        extent,
    };
    let streams = vec![
        stream("features", Kind::Dense, Element::F32, 2, Extent::Samples),
        stream("labels", Kind::Label, Element::I32, 1, Extent::Samples),
        stream("energy", Kind::Dense, Element::F64, 1, Extent::Samples),
        stream("speaker", Kind::Dense, Element::F32, 3, Extent::Sequence),
        stream("words", Kind::Sparse, Element::F32, 9, Extent::Own),
    ];
    let mut blocks: Vec<Block> = streams.iter().map(Block::of).collect();
    for (number, samples) in [3usize, 1, 0, 2].into_iter().enumerate() {
        let values = blocks[0].push_f32(samples).iter_mut().enumerate();
        values.for_each(|(i, v)| *v = (100 * number + 10 * (i / 2) + i % 2) as f32);
        let labels = blocks[1].push_i32(samples).iter_mut().enumerate();
        labels.for_each(|(i, v)| *v = (7 * number + i) as i32);
        blocks[2].push_f64(samples).fill(0.5);
        blocks[3].push_f32(1).fill(number as f32);
        let values: Vec<u8> = [0.5f32, 1.5].iter().flat_map(|v| v.to_ne_bytes()).collect();
        blocks[4].push_sparse(&values, &[3, 8], &[2, 2]);
    }
    let keys = ["utt-a", "utt-b", "empty", "späh"].map(|key| key.as_bytes().to_vec()).to_vec();
    let held = Held { streams, keys, blocks };
    let directory = tempfile::tempdir().unwrap();
    for (name, compress) in [("plain", Compress::None), ("zstd", Compress::Zstd(3))] {
        for format in ["arrow", "parquet"] {
            let path = directory.path().join(format!("{name}.{format}"));
            write(&held, &path, &WriteOptions { group_samples: 4, compress }).unwrap();
        }
    }
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/foreign/check.py");
    let output = Command::new(&python).arg(script).arg(directory.path()).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    eprint!("{said}");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(said.contains("read by pyarrow"), "{said}");
}
