//! Objects whose type is learned from the data.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| checks::any(bytes));
