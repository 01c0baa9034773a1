//! PFiles that QuickNet and `pfile_utils` read, write and refuse.

use std::fs;
use std::path::Path;

use seqfeed_core::{Block, Result, Source};
use seqfeed_io::{Opener, WxFilename};
use seqfeed_pdnn::pfile::{PFile, PFileLayout, PFileSource, PFileWriter};

use crate::shared::{golden, manifest, npz};

/// All sentences: features, labels, lengths.
pub(crate) struct Read {
    pub(crate) features: Vec<f32>,
    pub(crate) labels: Vec<i32>,
    pub(crate) ends: Vec<u64>,
}

pub(crate) fn read(file: &PFile) -> Result<Read> {
    let mut all = Read { features: Vec::new(), labels: Vec::new(), ends: Vec::new() };
    let (mut features, mut labels) = (Vec::new(), Vec::new());
    for sentence in 0..file.sentences() {
        file.read_sentence(sentence, &mut features, &mut labels)?;
        all.features.extend_from_slice(&features);
        all.labels.extend_from_slice(&labels);
        all.ends.push(file.sentence(sentence).end);
    }
    Ok(all)
}

fn open(path: &Path) -> Result<PFile> {
    PFile::open(&path.display().to_string(), &Opener::default())
}

fn bits(values: &[f32]) -> Vec<u32> {
    values.iter().map(|value| value.to_bits()).collect()
}

/// The source gives what the file gives, in any order.
fn check_source(path: &Path, expected: &Read) {
    let source = PFileSource::open(&path.display().to_string(), &Opener::default()).unwrap();
    let header = source.file().header();
    let count = source.index().len() as u32;
    let orders = [(0..count).collect::<Vec<_>>(), (0..count).rev().collect(), vec![count / 2; 2]];
    for order in orders {
        let mut blocks = source.new_blocks();
        source.load(&order, &mut blocks).unwrap();
        for (place, &sentence) in order.iter().enumerate() {
            assert_eq!(source.index().key(sentence).0, sentence.to_string().as_bytes());
            let frames = source.file().sentence(sentence as usize);
            let frames = frames.start as usize..frames.end as usize;
            let mut blocks = blocks.iter();
            let bytes = |block: Option<&Block>| block.unwrap().samples(place).bytes().to_vec();
            if header.features > 0 {
                let values = &expected.features
                    [frames.start * header.features..frames.end * header.features];
                assert_eq!(
                    bytes(blocks.next()),
                    values.iter().flat_map(|v| v.to_ne_bytes()).collect::<Vec<_>>()
                );
            }
            for label in 0..header.labels {
                let values =
                    frames.clone().map(|frame| expected.labels[frame * header.labels + label]);
                assert_eq!(
                    bytes(blocks.next()),
                    values.flat_map(i32::to_ne_bytes).collect::<Vec<_>>()
                );
            }
        }
    }
}

#[test]
fn recorded_files() {
    let Some(golden) = golden() else { return };
    let directory = tempfile::tempdir().unwrap();
    let (mut read_whole, mut refused, mut rewritten) = (0, 0, 0);
    for entry in manifest(&golden, "manifest_pfile.json") {
        let name = entry["file"].as_str().unwrap();
        let path = golden.join(name);
        let file = open(&path);
        let Some(expected) = entry["expected"].as_str() else {
            // Bad files: we refuse what pfile_print refuses.
            let result = file.and_then(|file| read(&file));
            assert_eq!(
                result.is_err(),
                entry["pfile_print"]["rc"] != 0,
                "{name}: {:?}",
                result.err()
            );
            if let Err(error) = result {
                assert!(error.to_string().contains(name), "{error}");
                refused += 1;
            } else {
                read_whole += 1;
            }
            continue;
        };
        let file = file.unwrap();
        if name.contains("ids_from_5") {
            let error = read(&file).map(|_| ()).unwrap_err().to_string();
            assert!(
                error.contains("expected frame 0 of sentence 0, found frame 0 of sentence 5"),
                "{error}"
            );
            refused += 1;
            continue;
        }
        let all = read(&file).unwrap();
        file.verify().unwrap();
        let array = |name| npz(&golden.join(expected), name);
        let features = array("feat").into_f32();
        assert_eq!(bits(&all.features), bits(bytemuck::cast_slice(features.as_slice())), "{name}");
        assert_eq!(all.labels, array("lab").to_i32().unwrap(), "{name}");
        let ends: Vec<i32> = all.ends.iter().map(|&end| end as i32).collect();
        assert_eq!(ends, array("offsets").to_i32().unwrap()[1..], "{name}");
        check_source(&path, &all);
        read_whole += 1;
        // What QuickNet wrote is written to the same bytes.
        if entry["made_by"].as_str().unwrap().starts_with("ICSI") {
            let layout =
                PFileLayout { features: file.header().features, labels: file.header().labels };
            let copy = directory.path().join("copy.pfile");
            for wx in [
                WxFilename::from(copy.clone()),
                WxFilename::parse(&format!("|cat > {}", copy.display())).unwrap(),
            ] {
                let mut writer = PFileWriter::create(&wx, layout, &Opener::with_pipes()).unwrap();
                let (mut features, mut labels) = (Vec::new(), Vec::new());
                for sentence in 0..file.sentences() {
                    file.read_sentence(sentence, &mut features, &mut labels).unwrap();
                    writer.write_sentence(&features, &labels).unwrap();
                }
                writer.finish().unwrap();
                assert!(fs::read(&copy).unwrap() == fs::read(&path).unwrap(), "{name}");
            }
            rewritten += 1;
        }
    }
    assert_eq!((read_whole, refused, rewritten), (20, 19, 9));
}

#[test]
fn bad_files() {
    let Some(golden) = golden() else { return };
    let mut said = Vec::new();
    let mut paths: Vec<_> =
        fs::read_dir(golden.join("pfile_bad")).unwrap().map(|e| e.unwrap().path()).collect();
    paths.sort();
    for path in &paths {
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        match open(path).and_then(|file| read(&file)) {
            Ok(read) => said.push(format!("{name}: {} frames", read.ends.last().unwrap())),
            Err(error) => said.push(format!("{name}: {}", error.message())),
        }
    }
    let expected = include_str!("pfile_bad.txt");
    assert_eq!(paths.len(), 28);
    assert_eq!(said.join("\n"), expected.trim_end(), "{}", said.join("\n"));
}

#[test]
fn what_cannot_be_written() {
    let directory = tempfile::tempdir().unwrap();
    let wx = WxFilename::from(directory.path().join("x.pfile"));
    let create = |features, labels| {
        PFileWriter::create(&wx, PFileLayout { features, labels }, &Opener::default())
    };
    let mut writer = create(2, 1).unwrap();
    for (features, labels, message) in [
        (&[1.0, 2.0, 3.0][..], &[1][..], "3 features and 1 labels are not frames of 2 and 1"),
        (&[1.0, 2.0], &[1, 2], "2 features and 2 labels are not frames of 2 and 1"),
        (&[], &[], "a PFile cannot hold an empty sentence"),
    ] {
        let error = writer.write_sentence(features, labels).unwrap_err().to_string();
        assert!(error.contains(message), "{error}");
    }
    drop(writer);
    assert!(create(32_700, 0).is_err());
    assert!(create(usize::MAX, 1).is_err());
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0, "nothing is left behind");
}

#[test]
fn more_than_two_gigabytes() {
    // A file with holes: what is not written takes no room on the disk.
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("large.pfile");
    let (frames, features) = (700_000u64, 1000);
    let header = seqfeed_pdnn::pfile::Header::new(2, frames, features, 1);
    use std::os::unix::fs::FileExt;
    let file = fs::File::create(&path).unwrap();
    file.write_all_at(&header.to_bytes().unwrap(), 0).unwrap();
    let last = 32768 + (frames - 1) * header.frame_bytes() as u64;
    file.write_all_at(&[0, 0, 0, 1, 0, 0, 0, 0, 0x3f, 0x80, 0, 0], last).unwrap();
    let table: Vec<u8> =
        [0, frames as u32 - 1, frames as u32].iter().flat_map(|n| n.to_be_bytes()).collect();
    file.write_all_at(&table, 32768 + header.data_bytes()).unwrap();
    assert!(file.metadata().unwrap().len() > 2 << 30);
    let file = open(&path).unwrap();
    let (mut features, mut labels) = (Vec::new(), Vec::new());
    file.read_sentence(1, &mut features, &mut labels).unwrap();
    assert_eq!((features[0], features.len(), &labels[..]), (1.0, 1000, &[0][..]));
}
