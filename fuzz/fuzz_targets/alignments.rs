//! Alignments: what is read holds what the lines say, and is read again from lines of its own.
#![no_main]

use std::fmt::Write;

use checks::{file, name};
use seqfeed_core::{Block, Source};
use seqfeed_io::Opener;
use seqfeed_pdnn::ali::AlignmentSource;

/// Key and labels of each sequence.
fn read(bytes: &[u8]) -> Option<Vec<(Vec<u8>, Vec<i32>)>> {
    let input = file(bytes, ".ali");
    let source = AlignmentSource::open(name(&input), "labels", &Opener::default()).ok()?;
    let index = source.index();
    let sequences: Vec<u32> = (0..index.len() as u32).collect();
    let mut blocks: Vec<Block> = source.new_blocks();
    source.load(&sequences, &mut blocks).expect("labels are in memory");
    let of = |sequence: u32| {
        let samples = blocks[0].samples(sequence as usize);
        assert_eq!(samples.len() as u64, u64::from(index.samples(sequence)));
        let (labels, _) = samples.bytes().as_chunks::<4>();
        let labels = labels.iter().map(|&label| i32::from_ne_bytes(label)).collect();
        (index.key(sequence).0.to_vec(), labels)
    };
    Some(sequences.into_iter().map(of).collect())
}

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let Some(found) = read(bytes) else { return };
    let mut keys: Vec<&[u8]> = found.iter().map(|(key, _)| key.as_slice()).collect();
    keys.sort_unstable();
    assert!(keys.is_sorted_by(|a, b| a < b), "a key comes once");
    // A key may look like the beginning of a compressed file; behind an empty line none does.
    let mut lines = b"\n".to_vec();
    for (key, labels) in &found {
        assert!(!key.is_empty() && !key.iter().any(u8::is_ascii_whitespace));
        let mut line = String::new();
        labels.iter().for_each(|label| write!(line, " {label}").expect("memory"));
        lines.extend_from_slice(&[key, line.as_bytes(), b"\n"].concat());
    }
    assert_eq!(read(&lines).expect("what was read can be written"), found);
});
