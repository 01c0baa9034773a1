//! Small files of our own.

use std::fs;

use seqfeed_core::Result;
use seqfeed_htk::param::{
    ByteOrder, DamagedIrefc, Encoding, Layout, ParamFile, ParamKind, ReadOptions, Values, Warning,
    decode,
};

fn encode(kind: &str, order: ByteOrder, values: &[f32], columns: usize) -> Vec<u8> {
    let encoding = Encoding { kind: kind.parse().unwrap(), order, ..Encoding::default() };
    let mut file = Vec::new();
    encoding.encode(Values::Floats(values), columns, &mut file).unwrap();
    file
}

fn read(file: &[u8]) -> Result<(Layout, Vec<f32>)> {
    decode(file, &ReadOptions::default())
}

/// Byte for byte, worked out by hand.
#[test]
fn bytes_stand_where_htk_puts_them() {
    let file = encode("USER_K", ByteOrder::Big, &[1.0, -2.0], 1);
    let head = [0, 0, 0, 2, 0, 1, 0x86, 0xa0, 0, 4, 0x10, 9];
    assert_eq!(file[..12], head);
    assert_eq!(file[12..20], [0x3f, 0x80, 0, 0, 0xc0, 0, 0, 0]);
    // 0x3f80_0000_c000_0000 modulo 36897.
    assert_eq!(file[20..], ((0x3f80_0000_c000_0000_u64 % 36897) as u16).to_be_bytes());
    let file = encode("USER", ByteOrder::Little, &[1.0, -2.0], 2);
    assert_eq!(file, [1, 0, 0, 0, 0xa0, 0x86, 1, 0, 8, 0, 9, 0, 0, 0, 0x80, 0x3f, 0, 0, 0, 0xc0]);
    // Scales for the range from -1 to 3: a = 16383.5, b = 16383.5.
    let file = encode("MFCC_C", ByteOrder::Big, &[-1.0, 3.0], 1);
    let scale = 16383.5_f32.to_be_bytes();
    assert_eq!(file[..12], [0, 0, 0, 6, 0, 1, 0x86, 0xa0, 0, 2, 0x04, 6]);
    assert_eq!((&file[12..16], &file[16..20]), (&scale[..], &scale[..]));
    assert_eq!(file[20..], [0x80, 0x01, 0x7f, 0xff]);
}

#[test]
fn a_file_of_the_repository_is_read() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/files/three.MFCC_0_K.le.htk");
    let file = ParamFile::open(path.as_ref(), &ReadOptions::default()).unwrap();
    assert_eq!(file.header().kind.to_string(), "MFCC_K_0");
    assert_eq!((file.frames(), file.columns(), file.header().period), (3, 2, 100_000));
    let mut values = Vec::new();
    file.append_all(&mut values).unwrap();
    assert_eq!(values, [0.5, -1.25, 3.0, 1e-3, -7.75, 100.0]);
    assert!(file.verify().unwrap());
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/files/four.FBANK_C.be.htk");
    let file = ParamFile::open(path.as_ref(), &ReadOptions::default()).unwrap();
    let mut values = Vec::new();
    file.append_all(&mut values).unwrap();
    assert_eq!((file.frames(), file.columns()), (4, 1));
    for (found, expected) in values.iter().zip([1.0, 2.0, 4.0, 8.0]) {
        assert!((found - expected).abs() < 1e-4, "{values:?}");
    }
}

#[test]
fn wide_and_timeless_files_are_read_with_warnings() {
    let encoding = Encoding { period: 0, ..Encoding::default() };
    let values = vec![1.5; 2000];
    for order in [ByteOrder::Big, ByteOrder::Little] {
        let mut file = Vec::new();
        let encoding = Encoding { order, ..encoding.clone() };
        encoding.encode(Values::Floats(&values), 2000, &mut file).unwrap();
        let (layout, found) = read(&file).unwrap();
        assert_eq!(layout.warnings(), [Warning::Period(0), Warning::WideSamples(8000)]);
        assert_eq!((layout.header().order, found), (order, values.clone()));
        // Without a period, a short file is still known to be one.
        let mut file = Vec::new();
        encoding.encode(Values::Floats(&values), 10, &mut file).unwrap();
        let error = read(&file[..file.len() - 1]).unwrap_err();
        assert!(error.to_string().contains("ends inside frames, 1 byte"), "{error}");
    }
}

#[test]
fn what_cannot_be_written_is_refused() {
    let encoding = |kind: &str| Encoding { kind: kind.parse().unwrap(), ..Encoding::default() };
    let mut out = vec![1];
    let mut refuse = |kind: &str, values: Values, columns, part: &str| {
        let error = encoding(kind).encode(values, columns, &mut out).unwrap_err();
        assert!(error.is_usage() && error.to_string().contains(part), "{error}");
        assert_eq!(out, [1]);
    };
    refuse("USER", Values::Floats(&[1.0; 3]), 2, "not whole frames");
    refuse("USER", Values::Floats(&[]), 0, "frames of 0 values");
    refuse("USER", Values::Floats(&[]), 8192, "possible are 1 to 8191");
    refuse("USER_C", Values::Floats(&[]), 16384, "possible are 1 to 16383");
    refuse("USER_V", Values::Floats(&[1.0]), 1, "_V");
    refuse("USER", Values::Shorts(&[1]), 1, "are floats");
    refuse("WAVEFORM", Values::Floats(&[1.0]), 1, "16-bit integers");
    refuse("WAVEFORM", Values::Shorts(&[1, 2]), 2, "expected 1");
    refuse("USER_C", Values::Floats(&[1.0, f32::NAN]), 1, "NaN in frame 1, column 0");
    refuse("USER_C", Values::Floats(&[1.0, f32::INFINITY]), 1, "cannot be stored");
    refuse("IREFC", Values::Floats(&[0.0, 0.5, 1.1]), 3, "1.1 in frame 0, column 2");
    let mut out = Vec::new();
    let timeless = Encoding { period: -1, ..Encoding::default() };
    assert!(timeless.encode(Values::Floats(&[1.0]), 1, &mut out).is_err());
}

#[test]
fn indexes_into_codebooks_are_refused() {
    let mut file = encode("USER", ByteOrder::Big, &[1.0], 1);
    file[10] |= (ParamKind::INDEXED >> 8) as u8;
    let error = read(&file).unwrap_err().to_string();
    assert!(error.starts_with("@ 10: ") && error.contains("USER_V"), "{error}");
}

#[test]
fn damaged_irefc_can_be_had_three_ways() {
    // What HCopy does: compressed, with another kind and without the four samples.
    let mut file = encode("LPREFC_C", ByteOrder::Big, &[-0.5, 0.25, 1.0, 0.5], 2);
    (file[3], file[10], file[11]) = (2, 0, 5);
    let with =
        |damaged_irefc| decode(&file, &ReadOptions { damaged_irefc, ..ReadOptions::default() });
    assert!(with(DamagedIrefc::Refuse).unwrap_err().to_string().contains("can be repaired"));
    let (layout, values) = with(DamagedIrefc::Repair).unwrap();
    assert_eq!(layout.warnings(), [Warning::RepairedIrefc]);
    for (found, expected) in values.iter().zip([-0.5, 0.25, 1.0, 0.5]) {
        assert!((found - expected).abs() < 1e-6, "{values:?}");
    }
    let (layout, values) = with(DamagedIrefc::Literal).unwrap();
    assert_eq!(layout.warnings(), [Warning::DamagedIrefc, Warning::Trailing(16)]);
    assert_eq!(values.len(), 4);
}

#[test]
fn pieces_of_large_files_are_put_together() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("large.htk");
    let values: Vec<f32> = (0..1_000_003).map(|i| (i as f32).sin()).collect();
    for kind in ["USER_K", "USER_C_K", "USER"] {
        let encoding = Encoding { kind: kind.parse().unwrap(), ..Encoding::default() };
        encoding.write(&path, Values::Floats(&values[..77 * 12_987]), 77).unwrap();
        let (_, expected) = read(&fs::read(&path).unwrap()).unwrap();
        let file = ParamFile::open(&path, &ReadOptions::default()).unwrap();
        let mut found = Vec::new();
        file.append_all(&mut found).unwrap();
        assert!(found == expected);
        assert_eq!(file.verify().unwrap(), kind.contains('K'));
        let mut bytes = vec![0; 4 * 77 * 5000];
        file.read_frames_to_bytes(3..5003, &mut bytes).unwrap();
        let part = &expected[3 * 77..5003 * 77];
        assert!(bytes.chunks(4).zip(part).all(|(b, v)| b == v.to_ne_bytes()));
    }
}

#[test]
fn a_file_cut_short_behind_our_back_is_an_error() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.htk");
    Encoding::default().write(&path, Values::Floats(&[1.0; 40]), 4).unwrap();
    let file = ParamFile::open(&path, &ReadOptions::default()).unwrap();
    let bytes = fs::read(&path).unwrap();
    fs::write(&path, &bytes[..100]).unwrap();
    let mut out = Vec::new();
    let error = file.append_all(&mut out).unwrap_err().to_string();
    assert!(error.contains("a.htk @ 12") && error.contains("72 bytes are missing"), "{error}");
    assert!(out.is_empty());
}
