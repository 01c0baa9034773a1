//! PFiles: headers come back, nothing panics, no more is read than is there.
#![no_main]

use std::io::Write;

use seqfeed_io::Spool;
use seqfeed_pdnn::pfile::{HEADER_BYTES, Header, PFile};

// The input is the text of a header, a NUL, and what follows the header.
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let text = bytes.iter().position(|&byte| byte == 0).unwrap_or(bytes.len()).min(HEADER_BYTES);
    let mut file = b"-pfile_header version 0 size 32768\n".to_vec();
    file.write_all(&bytes[..text]).expect("memory");
    file.resize(HEADER_BYTES, 0);
    if let Ok(header) = Header::parse(&file)
        && let Ok(written) = header.to_bytes()
    {
        assert_eq!(
            Header::parse(&written).expect("what was written is read").to_bytes().ok(),
            Some(written)
        );
    }
    file.extend_from_slice(bytes.get(text + 1..).unwrap_or_default());
    let mut spool = Spool::new().expect("a temporary file");
    spool.write_all(&file).expect("a temporary file");
    let Ok(file) = PFile::from_data(spool.into_data_file().expect("a temporary file")) else {
        return;
    };
    let (mut features, mut labels) = (Vec::new(), Vec::new());
    for sentence in 0..file.sentences() {
        if file.read_sentence(sentence, &mut features, &mut labels).is_err() {
            continue;
        }
        let frames = file.sentence(sentence);
        assert_eq!(
            features.len() as u64,
            (frames.end - frames.start) * file.header().features as u64
        );
    }
});
