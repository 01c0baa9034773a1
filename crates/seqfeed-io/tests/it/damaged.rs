//! Damaged compressed data: an error that stays, whatever is done to the stream then.

use std::io::{self, BufRead, Cursor, Read};

use seqfeed_io::Input;

use crate::support::{bzip2, gzip, sample, zstd};

/// Reads to the end in several ways; the error that ended it.
fn read(bytes: &[u8]) -> io::Result<Vec<u8>> {
    let mut input = Input::from_reader("damaged", Cursor::new(bytes.to_vec()));
    let mut all = Vec::new();
    let Err(error) = input.read_to_end(&mut all) else { return Ok(all) };
    // Whoever asks again hears the same, in whichever way.
    for again in 0..8 {
        let (mut small, mut large) = ([0; 1], vec![0; 1 << 17]);
        let found = match again % 4 {
            0 => input.read(&mut small).map(drop),
            1 => input.read(&mut large).map(drop),
            2 => input.fill_buf().map(drop),
            _ => input.ensure(1 << 17).map(drop),
        };
        let found = found.expect_err("it has failed before");
        assert_eq!((found.kind(), found.to_string()), (error.kind(), error.to_string()));
    }
    Err(error)
}

/// A file of 20 bytes after whose error the decoder aborts the process when it is asked again.
#[test]
fn a_bzip2_stream_of_an_empty_block() {
    let bytes = b"BZh91AY&SYS\x88\xf8\0\0\0\0\0\0\0\0";
    assert!(read(&bytes[..20]).is_err());
    assert!(read(bytes).is_err());
}

#[test]
fn a_decoder_that_failed_stays_failed() {
    let data = sample(3000);
    for compress in [gzip, bzip2, zstd] {
        let whole = compress(&data);
        assert_eq!(read(&whole).unwrap(), data);
        // Cut short, changed, and followed by something else: a wrong byte may well go unseen (in a
        // name of gzip's).
        let mut failures = 0;
        for at in 0..whole.len() {
            let mut changed = whole.clone();
            changed[at] ^= 0x10;
            failures += u32::from(read(&changed).is_err());
            failures += u32::from(read(&whole[..at]).is_err());
            let mut second = whole.clone();
            second.extend_from_slice(&changed[..at]);
            failures += u32::from(read(&second).is_err());
        }
        assert!(failures as usize > 2 * whole.len(), "{failures} of {}", 3 * whole.len());
    }
}
