//! Parquet files: nothing panics, no more is read than is there.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let mut file = b"PAR1".to_vec();
    file.extend_from_slice(bytes);
    checks::arrow(&file);
});
