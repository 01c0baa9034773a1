//! Pickles and npy files: nothing panics, nothing takes memory out of proportion.
#![no_main]

use std::io::Cursor;

use seqfeed_io::Input;
use seqfeed_pdnn::pickle::{Limits, PickledData, load, read_npy};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let input = || Input::from_reader("fuzz", Cursor::new(bytes.to_vec()));
    if let Ok(value) = load(&mut input(), &Limits::default())
        && let Ok(data) = PickledData::from_value(value)
    {
        assert_eq!(data.features().len(), data.rows() * data.dim());
    }
    let _ = read_npy(&mut input());
});
