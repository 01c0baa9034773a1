//! gzip, bzip2 and zstd from any bytes: nothing panics or aborts, also when a stream is asked again
//! after its error or end; and what is compressed comes back.
#![no_main]

use std::io::{BufRead, Cursor, Read};

use checks::choose;
use seqfeed_io::Input;

/// More is not read of a stream: a few bytes may stand for gigabytes.
const MOST: u64 = 1 << 24;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let Some((choice, bytes)) = choose(bytes) else { return };
    // The beginning that makes it one of the kinds, so that few inputs are taken for plain text.
    let magic: &[u8] = match choice % 4 {
        0 => b"\x1f\x8b\x08",
        1 => b"BZh91AY&SY",
        2 => b"\x28\xb5\x2f\xfd",
        _ => b"",
    };
    let stream = Cursor::new([magic, bytes].concat());
    let mut input = Input::from_reader("fuzz", stream);
    // Small steps or large ones.
    let mut step = vec![0; if choice & 4 == 0 { 1 << 16 } else { 7 }];
    let mut read = 0;
    let mut failed = false;
    while read < MOST {
        match input.read(&mut step) {
            Ok(0) => break,
            Ok(count) => read += count as u64,
            Err(_) => {
                failed = true;
                break;
            }
        }
    }
    if read >= MOST {
        return;
    }
    for _ in 0..3 {
        assert_eq!(input.read(&mut step).is_err(), failed);
        assert_eq!(input.fill_buf().map(<[u8]>::is_empty).map_err(drop), if failed { Err(()) } else { Ok(true) });
        assert_eq!(input.ensure(100).is_err(), failed);
    }
});
