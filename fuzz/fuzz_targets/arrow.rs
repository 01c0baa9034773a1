//! Arrow IPC files and streams: nothing panics, no more is read than is there.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    checks::arrow(bytes);
});
