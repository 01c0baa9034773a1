//! The rules of the indexer, one by one.

use super::*;

/// Key, offset, bytes, samples of a sequence.
type Found = (u64, u64, u32, u32);

/// The sequences, or the error.
fn scan(text: &str, options: &ScanOptions) -> std::result::Result<Vec<Found>, String> {
    let mut names = Names::new();
    let mut scanner = Scanner::new(options, &mut names);
    scanner
        .push(text.as_bytes())
        .and_then(|()| scanner.finish())
        .map(|index| {
            index
                .sequences
                .iter()
                .map(|sequence| (sequence.key, sequence.offset, sequence.bytes, sequence.samples))
                .collect()
        })
        .map_err(|error| error.to_string())
}

#[test]
fn lines_are_sequences_or_parts_of_them() {
    let ids = ScanOptions::default();
    let lines = ScanOptions { skip_sequence_ids: true, ..ScanOptions::default() };
    let main = ScanOptions { main_alias: Some("a".into()), ..ScanOptions::default() };
    let main_lines = ScanOptions { skip_sequence_ids: true, ..main.clone() };
    let cases: [(&str, &ScanOptions, &[Found]); 11] = [
        // Equal ids, no id, blank lines: the same sequence.
        ("1 |a 1\n1|a\n|a\n\n 2 |a\n2|a\n", &ids, &[(1, 0, 21, 5), (2, 21, 4, 1)]),
        // Ids may come again, and need nothing behind them.
        ("2\n1\n2\n", &ids, &[(2, 0, 2, 1), (1, 2, 2, 1), (2, 4, 2, 1)]),
        // An id at the end of the file is none.
        ("1 |a\n1", &ids, &[(1, 0, 6, 1)]),
        ("1 |a\n2 ", &ids, &[(1, 0, 5, 1), (2, 5, 2, 1)]),
        // Lines start with a bar: each is a sequence.
        ("|a 1\n5 |a 2\n\n|a", &ids, &[(0, 0, 5, 1), (1, 5, 7, 1), (2, 12, 1, 1), (3, 13, 2, 1)]),
        ("\n\n7 |a\n7 |a", &lines, &[(2, 2, 5, 1), (3, 7, 4, 1)]),
        // A mark, also a part of one, is read over.
        ("\u{feff}\n3 |a", &ids, &[(3, 4, 4, 1)]),
        // Lines without the main stream don't count; sequences without it are none.
        ("1 |a 1\n1 |b 1\n2 |b\n3 |ab\n4 |# |a\n", &main, &[(1, 0, 14, 1), (4, 25, 8, 1)]),
        ("|b\n|a\n\n|a|b", &main_lines, &[(1, 3, 3, 1), (3, 7, 4, 1)]),
        // What overflows without getting smaller is not found, as in CNTK.
        ("30000000000000000000 |a\n", &ids, &[(11553255926290448384, 0, 24, 1)]),
        ("007 |a\n7 |a\n", &ids, &[(7, 0, 12, 2)]),
    ];
    for (text, options, expected) in cases {
        assert_eq!(scan(text, options).as_deref(), Ok(expected), "{text:?}");
    }
}

#[test]
fn errors_say_where() {
    let numeric = ScanOptions::default();
    let symbolic = ScanOptions { keys: KeyKind::Symbolic, ..ScanOptions::default() };
    let cases: [(&[u8], &ScanOptions, &str); 7] = [
        (b"", &numeric, "@ 0: CTF: Input file is empty"),
        (b"\xef\xbb\xbf \n", &numeric, "@ 5: CTF: Input file is empty"),
        (
            b"\xff\xfe1\0",
            &numeric,
            "@ 0: CTF: Found a UTF-16 BOM at the beginning of the input file (CTF is ASCII: convert \
             it, for example with `iconv -f UTF-16 -t UTF-8`)",
        ),
        (
            b"\nx |a",
            &numeric,
            "@ 1: CTF: Expected a sequence id at the offset 1, none was found. (start the line with \
             a number, or set skipSequenceIds = true)",
        ),
        (
            b"12",
            &numeric,
            "@ 0: CTF: Expected a sequence id at the offset 0, none was found. (start the line with \
             a number, or set skipSequenceIds = true)",
        ),
        (
            b"1 |a\n20000000000000000000 |a",
            &numeric,
            "@ 5: CTF: Overflow while reading a numeric sequence id (8-bit value). (ids are numbers \
             below 2^64)",
        ),
        (
            b"|a 1\n",
            &symbolic,
            "@ 0: CTF: Corpus expects non-numeric sequence keys present but the input file does not \
             have them. (start each line with an id, or use numeric sequence keys)",
        ),
    ];
    for (bytes, options, expected) in cases {
        let mut names = Names::new();
        let mut scanner = Scanner::new(options, &mut names);
        let result = scanner.push(bytes).and_then(|()| scanner.finish());
        assert_eq!(result.unwrap_err().to_string(), expected, "{bytes:?}");
    }
}

#[test]
fn files_share_names() {
    let mut names = Names::new();
    let options = ScanOptions { keys: KeyKind::Symbolic, ..ScanOptions::default() };
    let mut keys = |text: &[u8]| {
        let mut scanner = Scanner::new(&options, &mut names);
        scanner.push(text).unwrap();
        let index = scanner.finish().unwrap();
        index.sequences.iter().map(|sequence| sequence.key).collect::<Vec<_>>()
    };
    assert_eq!(keys(b"u1 |a\nu2 |a\n |a\nu1 |a\n"), [0, 1, 0]);
    assert_eq!(keys(b"u3|x |a\nu2 |a\n"), [2, 1]);
    assert_eq!(names.iter().collect::<Vec<_>>(), [&b"u1"[..], b"u2", b"u3|x"]);
}

#[test]
fn files_cut_short_are_errors() {
    let read_at = |_, _: &mut [u8]| Ok(0);
    let result =
        scan_in_parallel(read_at, 10, 2, &ScanOptions::default(), &mut Names::new()).unwrap_err();
    assert_eq!(
        result.to_string(),
        "@ 0: CTF: the file ends inside lines, 10 bytes are missing (was it cut short while it was \
         read?)"
    );
}
