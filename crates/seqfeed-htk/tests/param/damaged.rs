//! Files as they should not be.

use std::fs;

use seqfeed_htk::param::{ParamFile, ReadOptions, Warning, decode};
use seqfeed_htk::script::{Script, ScriptOptions};

use crate::shared::{bits, manifest, shared};

/// What comes of each file: frames and warnings, or a part of the message; then the same where
/// short files are allowed, if it is something else.
type Outcome = Result<(u64, &'static [Warning]), &'static str>;

fn outcome(name: &str) -> (Outcome, Option<Outcome>) {
    let cut = |promised, present| -> &'static [Warning] {
        let cut = Warning::Truncated { promised, present };
        if present > 0 { vec![cut].leak() } else { vec![cut, Warning::NoFrames].leak() }
    };
    const NO_HEADER: Outcome = Err("makes no sense in either byte order");
    match name {
        "empty" | "short5" | "short11" => (Err("ends inside the header"), None),
        "header_only" => (Err("520 bytes are missing"), Some(Ok((0, cut(10, 0))))),
        "trunc_frame" => (Err("ends inside frames"), Some(Ok((4, cut(10, 4))))),
        "trunc_1byte" => (Err("frames, 1 byte is missing"), Some(Ok((9, cut(10, 9))))),
        "trunc_lastframe" => (Err("52 bytes are missing"), Some(Ok((9, cut(10, 9))))),
        "trunc_AB" => (Err("ends inside scales"), None),
        "trunc_C_data" => (Err("ends inside frames"), Some(Ok((3, cut(10, 3))))),
        "crc_missing" => {
            (Err("the checksum, 2 bytes"), Some(Ok((10, &[Warning::NoChecksum] as _))))
        }
        "crc_half" => (Err("the checksum, 1 byte"), Some(Ok((10, &[Warning::NoChecksum] as _)))),
        "crc_bad" | "crc_C_Abit" => (Err("by the data (the file is damaged"), None),
        "crc_ffff" => (Err("checksum was never written"), None),
        "trailing" => (Ok((10, &[Warning::Trailing(6)])), None),
        "trailing_K" => (Ok((10, &[Warning::Trailing(2)])), None),
        "n0" => (Ok((0, &[Warning::NoFrames])), None),
        "nhuge" => (Err("frames, 111669149"), Some(Ok((10, cut(i32::MAX as u64, 10))))),
        "n1e6" => (Err("frames, 51999480"), Some(Ok((10, cut(1_000_000, 10))))),
        "per0" => (Ok((10, &[Warning::Period(0)])), None),
        "per1000001" => (Ok((10, &[Warning::Period(1_000_001)])), None),
        "size54" => (Err("bytes of a sample is 54, expected a multiple of 4"), None),
        "size3" => (Err("is 3, expected a multiple of 4"), None),
        "size2" => (Err("is 2, expected a multiple of 4"), None),
        "size5001" => (Err("is 5001, expected a multiple of 4"), None),
        "DISC_odd" => (Err("is 3, expected a multiple of 2"), None),
        "wave_size4" => (Err("is 4, expected 2 for a waveform"), None),
        "kind13" => (Ok((10, &[Warning::UnknownBase(13)])), None),
        "C_n3" => (Err("number of samples is 3, expected 4 or more"), None),
        "C_n4" => (Ok((0, &[Warning::NoFrames])), None),
        "C_n5" => (Ok((1, &[])), None),
        "D_odd" | "T_13" => (Ok((10, &[Warning::UnevenBlocks(13)])), None),
        "DISC_C" => (Ok((10, &[Warning::NotCompressed])), None),
        "N_noE" => (Ok((10, &[Warning::UnevenBlocks(13)])), None),
        "le_as_be" => (Ok((10, &[])), None),
        "nneg" | "perneg" | "size0" | "sizeneg" | "riff" | "zeros" | "ff" => (NO_HEADER, None),
        other => panic!("what comes of {other}?"),
    }
}

#[test]
fn every_damage_is_an_error_or_a_warning() {
    let Some(bad) = shared("golden/htk/bad") else { return };
    let mut count = 0;
    for entry in fs::read_dir(&bad).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap();
        count += 1;
        if name == "gz" {
            // Not damaged: HTK's users read it through a filter.
            let file = ParamFile::open(&path, &ReadOptions::default()).unwrap();
            assert_eq!((file.frames(), file.columns(), file.warnings()), (10, 13, &[][..]));
            assert!(decode(&fs::read(&path).unwrap(), &ReadOptions::default()).is_err());
            continue;
        }
        let (strict, short) = outcome(name);
        let short = short.unwrap_or(strict);
        for (allow_truncated, expected) in [(false, strict), (true, short)] {
            let options = ReadOptions { allow_truncated, ..ReadOptions::default() };
            let mut values = Vec::new();
            let found = ParamFile::open(&path, &options)
                .and_then(|file| file.append_all(&mut values).map(|()| file));
            let from_memory = decode(&fs::read(&path).unwrap(), &options);
            match (&found, &from_memory, expected) {
                (Ok(file), Ok((layout, in_memory)), Ok((frames, warnings))) => {
                    assert_eq!(file.warnings(), warnings, "{name}");
                    assert_eq!(file.frames(), frames, "{name}");
                    assert_eq!(values.len(), frames as usize * file.columns(), "{name}");
                    assert_eq!(file.layout(), layout);
                    assert_eq!(bits(&values), bits(in_memory));
                }
                (Err(error), Err(in_memory), Err(part)) => {
                    let message = error.to_string();
                    assert!(message.contains(part), "{name}: {message}");
                    assert!(message.starts_with(path.to_str().unwrap()), "{name}: {message}");
                    assert!(error.place().position.is_some(), "{name}: {message}");
                    assert_eq!(error.message(), in_memory.message(), "{name}");
                    assert!(values.is_empty(), "{name}");
                }
                _ => panic!("{name}: {found:?}, {expected:?}"),
            }
        }
    }
    assert_eq!(count, 44);
}

#[test]
fn frames_that_htk_reads_of_short_files_are_those() {
    let Some(golden) = shared("golden/htk") else { return };
    let mut count = 0;
    for case in manifest(&golden.join("manifest_bad.json")) {
        let name = case["file"].as_str().unwrap();
        let Some(frames) = case["htkdump"]["info"]["nObs"].as_u64() else { continue };
        // Files that are refused; a kind whose columns HTK adds to.
        if !name.starts_with("bad/") || ["size", "DISC_odd"].iter().any(|bad| name.contains(bad)) {
            continue;
        }
        let options =
            ReadOptions { allow_truncated: true, verify: false, ..ReadOptions::default() };
        let file = ParamFile::open(&golden.join(name), &options).unwrap();
        assert_eq!(file.frames(), frames, "{name}");
        count += 1;
    }
    assert_eq!(count, 18);
}

#[test]
fn segments_are_those_of_htk() {
    let Some(golden) = shared("golden/htk") else { return };
    let mut count = 0;
    for case in manifest(&golden.join("manifest_bad.json")) {
        let name = case["arg"].as_str().unwrap();
        if !name.contains("parm/") {
            continue;
        }
        count += 1;
        let script = Script::parse(name.into(), &ScriptOptions::default());
        let accepted = case["htkdump"]["rc"] == 0;
        let Ok(script) = script else {
            assert!(!accepted, "{name}");
            continue;
        };
        let entry = script.get(0).unwrap();
        let path = golden.join(entry.path());
        let file = ParamFile::open(&path, &ReadOptions::default()).unwrap();
        let mut whole = Vec::new();
        file.append_all(&mut whole).unwrap();
        let Some(segment) = entry.segment() else {
            assert_eq!(case["htkdump"]["info"]["nObs"], file.frames(), "{name}");
            continue;
        };
        let Some(frames) = segment.frames(file.frames()) else {
            // HTK takes the scales of a compressed file for four frames more.
            assert!(!accepted || name.ends_with("_C_K.be.htk[60,68]"), "{name}");
            continue;
        };
        assert!(accepted, "{name}");
        let rows = &case["equals_rows"];
        assert_eq!(
            (rows[0].as_u64(), rows[1].as_u64().map(|last| last + 1)),
            (Some(frames.start), Some(frames.end))
        );
        let mut values = Vec::new();
        file.append_frames(frames.clone(), &mut values).unwrap();
        let columns = file.columns();
        let expected = &whole[frames.start as usize * columns..frames.end as usize * columns];
        assert_eq!(bits(&values), bits(expected), "{name}");
    }
    assert_eq!(count, 18);
}
