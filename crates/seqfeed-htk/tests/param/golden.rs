//! What HTK wrote, and what it reads.

use std::collections::BTreeMap;
use std::fs;

use seqfeed_htk::param::{
    Base, ByteOrder, DamagedIrefc, Encoding, ParamFile, ParamKind, ReadOptions, Storage, Values,
    Warning, decode,
};

use crate::shared::{bits, manifest, npy, shared};

const FILES_ONLY: ParamKind = ParamKind(ParamKind::COMPRESSED | ParamKind::CHECKSUM);

fn encoding(file: &ParamFile) -> Encoding {
    let header = file.header();
    Encoding { kind: header.kind, period: header.period, order: header.order }
}

#[test]
fn files_are_read_as_htk_reads_them_and_written_as_it_writes_them() {
    let Some(golden) = shared("golden/htk") else { return };
    let (mut read, mut written, mut damaged) = (0, 0, 0);
    for case in manifest(&golden.join("manifest_parm.json")) {
        let Some(name) = case["file"].as_str() else { continue };
        let Some(header) = case.get("header").filter(|_| name.ends_with(".htk")) else { continue };
        let bytes = fs::read(golden.join(name)).unwrap();
        let path = golden.join(name);
        let options = ReadOptions::default();
        let is_damaged = name.contains("LPREFC_C");
        let options = if is_damaged {
            let error = ParamFile::open(&path, &options).unwrap_err().to_string();
            assert!(error.contains("HCopy") && error.contains(name), "{error}");
            damaged += 1;
            // As HTK reads it, garbage and all.
            ReadOptions { damaged_irefc: DamagedIrefc::Literal, verify: false, ..options }
        } else {
            options
        };
        let file = ParamFile::open(&path, &options).unwrap();
        let order = if file.header().order == ByteOrder::Big { "BE" } else { "LE" };
        assert_eq!(order, header["byteorder"], "{name}");
        assert_eq!(file.header().kind.to_string(), header["kind"], "{name}");
        assert_eq!(file.header().kind.0, header["parmKind"].as_u64().unwrap() as u16, "{name}");
        assert_eq!(i64::from(file.header().samples), header["nSamples"], "{name}");
        assert_eq!(i64::from(file.header().period), header["sampPeriod"], "{name}");
        assert_eq!(file.frames(), header["frames"], "{name}");
        assert_eq!(file.columns() as u64, header["cols"], "{name}");
        let surplus = (columns_of(header) * 8) as u64;
        let expected_warnings = [Warning::DamagedIrefc, Warning::Trailing(surplus)];
        let expected_warnings = if is_damaged { &expected_warnings[..] } else { &[] };
        assert_eq!(file.warnings(), expected_warnings, "{name}");
        // Told the order, it is read the same; told the other, it is refused.
        let order = file.header().order;
        let with_order = |order| {
            let options = ReadOptions { order: Some(order), ..options.clone() };
            ParamFile::open(&path, &options)
        };
        assert_eq!(with_order(order).unwrap().layout(), file.layout(), "{name}");
        assert!(with_order(order.other()).is_err(), "{name}");

        let mut values = Vec::new();
        file.append_all(&mut values).unwrap();
        let (columns, mut expected) = npy(&golden.join(case["expected"].as_str().unwrap()));
        if file.layout().storage() == Storage::Shorts {
            let mut shorts = vec![0; values.len()];
            file.read_i16(0..file.frames(), &mut shorts).unwrap();
            let found: Vec<u32> =
                shorts.iter().map(|&value| value.cast_unsigned().into()).collect();
            assert_eq!(found, expected, "{name}");
            for (&short, &float) in shorts.iter().zip(&values) {
                assert_eq!(f32::from(short), float);
            }
            let mut again = Vec::new();
            encoding(&file).encode(Values::Shorts(&shorts), file.columns(), &mut again).unwrap();
            assert_eq!(again, bytes, "{name}");
            written += 1;
        } else {
            let mut kept = values.clone();
            if let Some(drop) = file.header().kind.suppressed_column(file.columns()) {
                // HTK drops the energy, also where our reference reader did not.
                if columns == file.columns() {
                    expected = remove(&expected, columns, drop);
                }
                kept = remove(&values, file.columns(), drop);
            }
            assert_eq!(bits(&kept), expected, "{name}");
            let mut again = Vec::new();
            if file.layout().storage() != Storage::Compressed && !is_damaged {
                let values = Values::Floats(&values);
                encoding(&file).encode(values, file.columns(), &mut again).unwrap();
                assert_eq!(again, bytes, "{name}");
                written += 1;
            }
        }
        assert_eq!(
            file.verify().is_ok_and(|verified| verified),
            header.get("crc_stored").is_some() && !is_damaged,
            "{name}"
        );
        check_parts(&file, &values);
        let (layout, from_memory) = decode(&bytes, &options).unwrap();
        assert_eq!(&layout, file.layout());
        assert_eq!(bits(&from_memory), bits(&values), "{name}");
        read += 1;
    }
    assert_eq!((read, written, damaged), (READ, WRITTEN, 3));
}

fn columns_of(header: &serde_json::Value) -> usize {
    header["cols"].as_u64().unwrap() as usize
}

const READ: usize = 79;
const WRITTEN: usize = 62;

/// Any part of a file is what it is in the whole.
fn check_parts(file: &ParamFile, whole: &[f32]) {
    let (frames, columns) = (file.frames(), file.columns());
    for (start, end) in [(0, 1), (frames / 3, frames / 2), (frames - 1, frames), (frames, frames)] {
        let mut part = vec![7.0];
        file.append_frames(start..end, &mut part).unwrap();
        let expected = &whole[start as usize * columns..end as usize * columns];
        assert_eq!(bits(&part[1..]), bits(expected), "{}", file.name());
    }
    let mut part = Vec::new();
    assert!(file.append_frames(0..frames + 1, &mut part).is_err() && part.is_empty());
    assert!(file.read_frames(0..1, &mut vec![0.0; columns + 1]).is_err());
}

fn remove<T: Copy>(values: &[T], columns: usize, column: usize) -> Vec<T> {
    let kept = values.iter().enumerate().filter(|(i, _)| i % columns != column);
    kept.map(|(_, &value)| value).collect()
}

/// Compressed files are made again from what HTK wrote uncompressed.
#[test]
fn compressed_files_are_those_of_hcopy() {
    let Some(golden) = shared("golden/htk/parm") else { return };
    let mut plain: BTreeMap<(String, u16), Vec<f32>> = BTreeMap::new();
    let mut compressed = Vec::new();
    for entry in fs::read_dir(&golden).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        let Ok(file) = ParamFile::open(&path, &ReadOptions::default()) else { continue };
        let kind = file.header().kind.without(FILES_ONLY.0);
        let speaker = if name.starts_with("cen8") { "cen8" } else { "an253" };
        if file.layout().storage() == Storage::Compressed {
            compressed.push((speaker, kind, file));
        } else if !name.starts_with("own.") {
            let mut values = Vec::new();
            file.append_all(&mut values).unwrap();
            plain.insert((speaker.into(), kind.0), values);
        }
    }
    let (mut same, mut alone) = (0, Vec::new());
    for (speaker, kind, file) in compressed {
        let Some(values) = plain.get(&(speaker.to_owned(), kind.0)) else {
            alone.push(file.name().rsplit('/').next().unwrap().to_owned());
            continue;
        };
        let mut bytes = Vec::new();
        encoding(&file).encode(Values::Floats(values), file.columns(), &mut bytes).unwrap();
        assert!(bytes == fs::read(file.name()).unwrap(), "{}", file.name());
        same += 1;
    }
    assert_eq!((same, alone), (SAME, Vec::<String>::new()));
}

const SAME: usize = 14;

/// Damaged files hold what undamaged ones do.
#[test]
fn damaged_irefc_is_repaired() {
    let Some(golden) = shared("golden/htk/parm") else { return };
    let read = |name: &str| {
        let options = ReadOptions { damaged_irefc: DamagedIrefc::Repair, ..ReadOptions::default() };
        let file = ParamFile::open(&golden.join(name), &options).unwrap();
        let mut values = Vec::new();
        file.append_all(&mut values).unwrap();
        (file, values)
    };
    let (_, expected) = read("an253-fash-b.LPREFC.be.htk");
    for name in ["LPREFC_C.le", "LPREFC_C_K.be", "LPREFC_C_K.le"] {
        let (file, values) = read(&format!("an253-fash-b.{name}.htk"));
        assert_eq!(file.warnings(), [Warning::RepairedIrefc]);
        assert_eq!(file.header().kind.of_values().base(), Base::Lprefc);
        assert_eq!(values.len(), expected.len());
        assert_eq!(file.verify().unwrap(), name.contains('K'));
        for (found, expected) in values.iter().zip(&expected) {
            assert!((found - expected).abs() < 1e-4, "{name}: {found}, {expected}");
        }
    }
}

#[test]
fn archives_of_cntk_are_read() {
    let Some(data) = shared("golden/cntk/data/htk") else { return };
    let read = |name: &str| {
        // CNTK never looks at checksums; those of these files are made up.
        let options = ReadOptions { verify: false, ..ReadOptions::default() };
        let file = ParamFile::open(&data.join(name), &options).unwrap();
        let mut values = Vec::new();
        file.append_all(&mut values).unwrap();
        assert_eq!(file.warnings(), [], "{name}");
        assert_eq!(
            file.verify().is_err(),
            ["tiny_k.chunk", "tiny_ck.chunk"].contains(&name),
            "{name}"
        );
        (file, values)
    };
    let (tiny, values) = read("tiny.chunk");
    assert_eq!((tiny.frames(), tiny.columns()), (204, 4));
    for name in ["tiny_le.chunk", "tiny_k.chunk", "tiny_c.chunk", "tiny_ck.chunk"] {
        let (file, others) = read(name);
        assert_eq!((file.frames(), file.columns()), (204, 4), "{name}");
        let compressed = file.layout().storage() == Storage::Compressed;
        let tolerance = if compressed { 0.02 } else { 0.0 };
        let furthest = values.iter().zip(&others).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
        assert!(furthest <= tolerance, "{name}: {furthest}");
    }
    assert_eq!(read("tiny2.chunk").0.columns(), 3);
    assert_eq!(read("ivec.chunk").0.frames(), 12);
    assert_eq!(read("../htkbig/a0.chunk").0.frames(), 100_000);
}
