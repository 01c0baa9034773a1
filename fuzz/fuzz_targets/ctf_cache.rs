//! Index caches of CTF files, ours and CNTK's, whose checksum is made right.
#![no_main]

use checks::choose;
use seqfeed_cntk::ctf::CtfIndex;
use seqfeed_cntk::ctf::KeyKind;
use seqfeed_cntk::ctf::cache::{self, Settings, Stamp};

/// That what was believed keeps its promises and is worth its memory.
fn check(index: &CtfIndex, bytes: &[u8]) {
    let mut end = 0;
    for sequence in &index.sequences {
        assert!(sequence.offset >= end && sequence.bytes > 0 && sequence.samples > 0);
        end = sequence.offset + u64::from(sequence.bytes);
    }
    assert!(end <= index.file_bytes);
    assert!(index.sequences.len() + index.names.len() <= 8 * bytes.len());
}

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let Some((choice, bytes)) = choose(bytes) else { return };
    let keys = [KeyKind::Numeric, KeyKind::Symbolic, KeyKind::Hashed][usize::from(choice) % 3];
    let main = (choice & 0x80 != 0).then(|| b"y".to_vec());
    let settings = Settings { main, skip_ids: choice & 0x40 != 0, keys };
    if choice & 0x20 != 0 {
        let data_bytes = u64::from(choice) << 8 | bytes.len() as u64;
        if let Ok(index) = cache::decode_cntk(bytes, &settings, data_bytes) {
            check(&index, bytes);
        }
        return;
    }
    let stamp = Stamp::default();
    let mut bytes = bytes.to_vec();
    // As it is, and with the right checksum.
    for _ in 0..2 {
        if let Ok(index) = cache::decode(&bytes, &settings, &stamp) {
            check(&index, &bytes);
            let again = cache::encode(&index, &settings, &stamp).expect("a believed index");
            assert!(cache::decode(&again, &settings, &stamp).expect("its own bytes") == index);
        }
        cache::seal(&mut bytes);
    }
});
