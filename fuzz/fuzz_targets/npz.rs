//! numpy's archives: what is read is written and read again to the same, nothing takes memory out
//! of proportion.
#![no_main]

use std::io::{Cursor, Write};
use std::path::Path;

use checks::{choose, file, name};
use seqfeed_io::{Opener, WxFilename};
use seqfeed_pdnn::pickle::{open_npz, read_npz, write_npz};
use zip::CompressionMethod;
use zip::write::{SimpleFileOptions, ZipWriter};

/// An archive with right checksums of two members: what stands before the first `0xFF 0x00`,
/// and behind it.
fn archive(bytes: &[u8], compression: CompressionMethod) -> Vec<u8> {
    let cut = bytes.windows(2).position(|pair| pair == [0xff, 0]);
    let (first, second) = match cut {
        Some(cut) => (&bytes[..cut], Some(&bytes[cut + 2..])),
        None => (bytes, None),
    };
    let options = SimpleFileOptions::default().compression_method(compression);
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, member) in [("x.npy", Some(first)), ("y.npy", second)] {
        let Some(member) = member else { continue };
        archive.start_file(name, options).expect("memory");
        archive.write_all(member).expect("memory");
    }
    archive.finish().expect("memory").into_inner()
}

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let Some((choice, bytes)) = choose(bytes) else { return };
    let made = match choice % 3 {
        0 => bytes.to_vec(),
        1 => archive(bytes, CompressionMethod::Stored),
        _ => archive(bytes, CompressionMethod::Deflated),
    };
    let (opener, input) = (Opener::default(), file(&made, ".npz"));
    if let Ok(data) = open_npz(name(&input), &opener) {
        assert_eq!(data.features().len(), data.rows() * data.dim());
        assert!(data.labels().is_none_or(|labels| labels.len() == data.rows()));
    }
    let Ok(arrays) = read_npz(input.path()) else { return };
    let output = file(b"", ".npz");
    let written: Vec<_> = arrays.iter().map(|(name, array)| (name.as_str(), array)).collect();
    let target = WxFilename::from(output.path());
    // Two arrays of one name are read, but not written.
    if write_npz(&target, &written, &opener).is_ok() {
        let again = read_npz(Path::new(name(&output))).expect("what was written can be read");
        assert_eq!(again, arrays);
    }
});
