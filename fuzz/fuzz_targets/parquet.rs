//! Parquet files: nothing panics beyond what is caught around the decoder, no more is read than is
//! there.
#![no_main]

use std::sync::Once;

/// What the decoder panics at is caught and becomes an error; the fuzzer's hook would end the
/// process before. What is not caught still ends it.
static QUIET: Once = Once::new();

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    QUIET.call_once(|| std::panic::set_hook(Box::new(|_| {})));
    let mut file = b"PAR1".to_vec();
    file.extend_from_slice(bytes);
    checks::arrow(&file);
});
