//! CNTK's text format: pieces and threads make no difference, nothing panics.
#![no_main]

use std::sync::Arc;

use seqfeed_cntk::ctf::{
    CtfFloat, CtfIncidents, CtfIndex, CtfInput, KeyKind, Names, Parser, ParserOptions, ScanOptions,
    Scanner, SequenceSamples, scan_in_parallel,
};

/// The index, or the error as text.
fn scan(bytes: &[u8], piece: usize, options: &ScanOptions) -> Result<CtfIndex, String> {
    let mut names = Names::new();
    let mut scanner = Scanner::new(options, &mut names);
    bytes
        .chunks(piece)
        .try_for_each(|piece| scanner.push(piece))
        .and_then(|()| scanner.finish())
        .map_err(|error| error.to_string())
}

/// Parses with one parser as it is, and with another with tabs for blanks: they mean the same, but
/// numbers between tabs are read one by one.
fn parse<T: CtfFloat>(bytes: &[u8], index: &CtfIndex, [plain, tabbed]: &mut [Parser; 2]) {
    let (mut samples, mut others) = (SequenceSamples::<T>::new(), SequenceSamples::<T>::new());
    for sequence in &index.sequences {
        let start = sequence.offset as usize;
        let text = &bytes[start..start + sequence.bytes as usize];
        let tabs: Vec<u8> =
            text.iter().map(|&byte| if byte == b' ' { b'\t' } else { byte }).collect();
        let (offset, lines) = (sequence.offset, sequence.samples);
        let found = plain.parse(text, offset, lines, &mut samples);
        let other = tabbed.parse(&tabs, offset, lines, &mut others);
        assert_eq!(found.is_ok(), other.is_ok());
        assert_eq!(plain.incidents().errors(), tabbed.incidents().errors());
        if found.is_err() {
            continue;
        }
        for (stream, other) in samples.streams.iter().zip(&others.streams) {
            let bits = |values: &[T]| bytemuck::cast_slice::<T, u8>(values).to_vec();
            assert_eq!(bits(&stream.values), bits(&other.values));
            assert_eq!(stream.indices, other.indices);
            assert_eq!(stream.sample_ends, other.sample_ends);
        }
        let parser = &plain;
        for (input, stream) in parser.inputs().iter().zip(&samples.streams) {
            if input.sparse {
                assert_eq!(stream.sample_ends.len(), stream.samples as usize);
                assert_eq!(
                    stream.sample_ends.last().map(|&end| end as usize),
                    Some(stream.values.len())
                );
                assert_eq!(stream.indices.len(), stream.values.len());
                assert!(stream.indices.iter().all(|&index| index < input.dim));
            } else {
                assert_eq!(stream.values.len(), (stream.samples * input.dim) as usize);
            }
        }
    }
}

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let [setting, piece, bytes @ ..] = bytes else { return };
    let keys = [KeyKind::Numeric, KeyKind::Numeric, KeyKind::Symbolic, KeyKind::Hashed];
    let keys = keys[usize::from(setting & 3)];
    let main = setting & 4 != 0;
    let options = ScanOptions {
        skip_sequence_ids: setting & 8 != 0,
        main_alias: main.then(|| "ab".to_owned()),
        keys,
    };
    let found = scan(bytes, usize::MAX, &options);
    let piece = usize::from(*piece).max(1);
    assert_eq!(found, scan(bytes, piece, &options));
    let read_at = |offset: u64, buffer: &mut [u8]| {
        let rest = &bytes[offset as usize..];
        let len = rest.len().min(buffer.len()).min(piece);
        buffer[..len].copy_from_slice(&rest[..len]);
        Ok(len)
    };
    let mut names = Names::new();
    // Threads cost time.
    let threads = if setting & 0x70 == 0 { 3 } else { 1 };
    let parallel = scan_in_parallel(read_at, bytes.len() as u64, threads, &options, &mut names);
    assert_eq!(found, parallel.map_err(|error| error.to_string()));
    let Ok(index) = found else { return };

    let chunks = index.chunks(50);
    assert_eq!(
        chunks.iter().map(|chunk| chunk.sequences.len()).sum::<usize>(),
        index.sequences.len()
    );
    let inputs = [
        CtfInput::dense("a", 3),
        CtfInput { defines_mb_size: main, ..CtfInput::sparse("ab", 1000) },
    ];
    let options = ParserOptions { keys, longer_than_inputs: setting & 0x80 != 0 };
    let mut parsers = [(); 2].map(|()| {
        let incidents = Arc::new(CtfIncidents::new(5));
        Parser::new("fuzz", &inputs, &options, incidents).expect("good inputs")
    });
    parse::<f32>(bytes, &index, &mut parsers);
    parse::<f64>(bytes, &index, &mut parsers);
});
