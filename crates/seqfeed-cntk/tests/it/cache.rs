//! Our own index caches: what is written is read, and nothing else is believed.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use proptest::prelude::*;
use seqfeed_cntk::ctf::KeyKind;
use seqfeed_cntk::ctf::cache::{self, Reason, Settings, Stamp};
use seqfeed_cntk::ctf::{CtfIndex, CtfSequence};
use tempfile::TempDir;

/// An index of sequences given by their keys, gaps, bytes and samples.
fn index_of(sequences: &[(u64, u64, u32, u32)], names: &[&[u8]]) -> CtfIndex {
    let mut end = 0;
    let sequences = sequences.iter().map(|&(key, gap, bytes, samples)| {
        let offset = end + gap;
        end = offset + u64::from(bytes);
        CtfSequence { key, offset, bytes, samples }
    });
    let sequences = sequences.collect();
    let names = names.iter().map(|&name| name.into()).collect();
    CtfIndex { sequences, names, file_bytes: end + 3 }
}

/// Settings and an index that fits them.
fn cases() -> Vec<(Settings, CtfIndex)> {
    let numeric = Settings::default();
    let symbolic = Settings { keys: KeyKind::Symbolic, ..numeric.clone() };
    let hashed = Settings { keys: KeyKind::Hashed, ..numeric.clone() };
    let main = Settings { main: Some(b"y".to_vec()), skip_ids: true, keys: KeyKind::Numeric };
    let long_name = [b'n'; 300];
    let names: [&[u8]; 3] = [b"u1", b"", &long_name];
    let many: Vec<_> = (0..600).map(|i| (i, 0, 100 + (i as u32 * 7919) % 900, 1)).collect();
    let hashes: Vec<_> =
        (1..300).map(|i| (0x9e37_79b9_7f4a_7c15_u64.wrapping_mul(i), i % 3, 12, 70_000)).collect();
    vec![
        (numeric.clone(), CtfIndex::default()),
        (numeric.clone(), index_of(&[(7, 3, 12, 2)], &[])),
        (numeric, index_of(&many, &[])),
        (symbolic.clone(), index_of(&[(0, 0, 9, 1), (1, 0, 9, 1), (0, 0, 9, 2)], &names)),
        (symbolic, index_of(&[], &[b"unused"])),
        (hashed, index_of(&hashes, &[])),
        (main, index_of(&[(u64::MAX, 1 << 40, u32::MAX, u32::MAX), (0, 0, 1, 1)], &[])),
    ]
}

const STAMP: Stamp =
    Stamp { bytes: 99, modified_seconds: -5, modified_nanoseconds: 123, digest: u64::MAX };

#[test]
fn reads_what_it_writes() {
    for (settings, index) in cases() {
        let bytes = cache::encode(&index, &settings, &STAMP).unwrap();
        assert_eq!(cache::decode(&bytes, &settings, &STAMP).unwrap(), index);
    }
}

#[test]
fn no_damage_is_believed() {
    for (settings, index) in cases() {
        let bytes = cache::encode(&index, &settings, &STAMP).unwrap();
        for at in 0..bytes.len() {
            for flip in [0x01, 0x80, 0xff] {
                let mut damaged = bytes.clone();
                damaged[at] ^= flip;
                assert!(cache::decode(&damaged, &settings, &STAMP).is_err(), "byte {at}");
            }
            assert!(cache::decode(&bytes[..at], &settings, &STAMP).is_err(), "cut at {at}");
        }
        let longer = [&bytes[..], b"\0"].concat();
        assert!(cache::decode(&longer, &settings, &STAMP).is_err());
    }
}

/// A forger can give nonsense the right checksum: it may be an index, but one that keeps
/// its promises.
#[test]
fn forged_checksums_give_no_impossible_index() {
    for (settings, index) in cases() {
        let bytes = cache::encode(&index, &settings, &STAMP).unwrap();
        for at in 12..bytes.len() {
            for flip in [0x01, 0x80, 0xff] {
                let mut forged = bytes.clone();
                forged[at] ^= flip;
                cache::seal(&mut forged);
                if let Ok(index) = cache::decode(&forged, &settings, &STAMP) {
                    // Only an index that keeps the promises can be written.
                    assert!(cache::encode(&index, &settings, &STAMP).is_some(), "byte {at}");
                }
            }
            let mut forged = bytes[..at].to_vec();
            cache::seal(&mut forged);
            assert!(cache::decode(&forged, &settings, &STAMP).is_err(), "cut at {at}");
        }
    }
}

#[test]
fn says_why() {
    let (settings, index) = cases().swap_remove(2);
    let bytes = cache::encode(&index, &settings, &STAMP).unwrap();
    let refusal = |bytes: &[u8], settings: &Settings, stamp: &Stamp| {
        cache::decode(bytes, settings, stamp).unwrap_err()
    };
    let mut other = bytes.clone();
    other[8] = 2;
    cache::seal(&mut other);
    assert!(matches!(refusal(&other, &settings, &STAMP), Reason::OtherVersion(2)));
    assert!(matches!(refusal(b"0 |x 1\n", &settings, &STAMP), Reason::Foreign));
    assert!(matches!(refusal(b"", &settings, &STAMP), Reason::Foreign));
    for other in [
        Settings { main: Some(vec![]), ..settings.clone() },
        Settings { main: Some(b"y".to_vec()), ..settings.clone() },
        Settings { skip_ids: true, ..settings.clone() },
        Settings { keys: KeyKind::Hashed, ..settings.clone() },
    ] {
        assert!(matches!(refusal(&bytes, &other, &STAMP), Reason::OtherSettings));
    }
    for other in [
        Stamp { bytes: 100, ..STAMP },
        Stamp { modified_seconds: -4, ..STAMP },
        Stamp { modified_nanoseconds: 124, ..STAMP },
        Stamp { digest: 0, ..STAMP },
    ] {
        assert!(matches!(refusal(&bytes, &settings, &other), Reason::Stale));
    }
}

#[test]
fn an_index_that_contradicts_itself_is_not_written() {
    let good = index_of(&[(0, 0, 9, 1), (1, 0, 9, 1)], &[]);
    let settings = Settings::default();
    assert!(cache::encode(&good, &settings, &STAMP).is_some());
    let change = |change: fn(&mut CtfIndex)| {
        let mut index = good.clone();
        change(&mut index);
        index
    };
    for bad in [
        change(|index| index.sequences[1].offset = 8),
        change(|index| index.sequences[0].samples = 0),
        change(|index| index.sequences[0].bytes = 0),
        change(|index| index.sequences.swap(0, 1)),
        change(|index| index.file_bytes = 17),
        change(|index| index.sequences[1].offset = u64::MAX),
        change(|index| index.names.push(b"name".as_slice().into())),
    ] {
        assert!(cache::encode(&bad, &settings, &STAMP).is_none(), "{bad:?}");
    }
    let symbolic = Settings { keys: KeyKind::Symbolic, ..settings };
    assert!(cache::encode(&good, &symbolic, &STAMP).is_none());
}

proptest! {
    #[test]
    fn reads_any_index_it_writes(
        sequences in prop::collection::vec(
            (any::<u64>(), 0..1_u64 << 20, 1..=u32::MAX, 1..=u32::MAX), 0..600),
        small in any::<bool>(),
    ) {
        let mut sequences = sequences;
        if small {
            for (i, (key, gap, bytes, samples)) in sequences.iter_mut().enumerate() {
                *key = i as u64;
                *gap &= 1;
                *bytes = *bytes % 300 + 1;
                *samples = *samples % 9 + 1;
            }
        }
        let index = index_of(&sequences, &[]);
        let bytes = cache::encode(&index, &Settings::default(), &STAMP).unwrap();
        prop_assert_eq!(cache::decode(&bytes, &Settings::default(), &STAMP).unwrap(), index);
    }
}

/// A directory with a data file, and its index.
fn data_file() -> (TempDir, PathBuf, CtfIndex) {
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path().join("a.ctf");
    fs::write(&data, "0 |x 1\n0 |x 2\n1 |x 3\n").unwrap();
    let mut index = index_of(&[(0, 0, 14, 2), (1, 0, 7, 1)], &[]);
    index.file_bytes = 21;
    (directory, data, index)
}

fn refusal(data: &Path) -> Reason {
    cache::read(data, &Settings::default()).unwrap_err().reason
}

#[test]
fn a_file_that_changes_is_noticed() {
    let (_directory, data, index) = data_file();
    let settings = Settings::default();
    assert!(cache::read(&data, &settings).unwrap().is_none());
    let stamp = Stamp::of(&data).unwrap();
    let path = cache::write(&index, &data, &settings, &stamp).unwrap();
    let found = cache::read(&data, &settings).unwrap().unwrap();
    assert_eq!((found.index, found.cache, found.by_cntk), (index.clone(), path.clone(), false));

    // The same length and time, another content.
    let modified = fs::metadata(&data).unwrap().modified().unwrap();
    fs::write(&data, "5 |x 1\n5 |x 2\n6 |x 3\n").unwrap();
    File::options().write(true).open(&data).unwrap().set_modified(modified).unwrap();
    assert!(matches!(refusal(&data), Reason::Stale));
    // An index of what was there before is not written.
    let error = cache::write(&index, &data, &settings, &stamp).unwrap_err();
    assert!(error.to_string().contains("changed"), "{error}");

    // A time that only differs by a nanosecond, or lies before.
    let stamp = Stamp::of(&data).unwrap();
    cache::write(&index, &data, &settings, &stamp).unwrap();
    assert!(cache::read(&data, &settings).unwrap().is_some());
    for time in [modified + Duration::from_nanos(1), SystemTime::UNIX_EPOCH] {
        File::options().write(true).open(&data).unwrap().set_modified(time).unwrap();
        assert!(matches!(refusal(&data), Reason::Stale));
    }

    fs::remove_file(&data).unwrap();
    assert!(matches!(refusal(&data), Reason::Unreadable(_)));
}

#[test]
fn a_digest_covers_both_ends() {
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path().join("long");
    let mut bytes = vec![b'0'; 300 << 10];
    let mut digest_with = |at: usize| {
        bytes[at] ^= 1;
        fs::write(&data, &bytes).unwrap();
        bytes[at] ^= 1;
        Stamp::of(&data).unwrap().digest
    };
    let (first, last) = (digest_with(0), digest_with((300 << 10) - 1));
    let middle = digest_with(150 << 10);
    assert!(first != middle && last != middle && first != last);
}

#[test]
fn other_settings_have_another_cache() {
    let (_directory, data, _) = data_file();
    let all = [KeyKind::Numeric, KeyKind::Symbolic, KeyKind::Hashed].into_iter().flat_map(|keys| {
        [false, true].into_iter().flat_map(move |skip_ids| {
            let long = [b'l'; 65].to_vec();
            [None, Some(b"_".to_vec()), Some(b"y/\xff".to_vec()), Some(long.clone()), Some(vec![])]
                .map(|main| Settings { main, skip_ids, keys })
        })
    });
    let mut paths: Vec<_> = all.map(|settings| cache::path(&data, &settings)).collect();
    let count = paths.len();
    assert!(paths.iter().all(|path| path.parent() == data.parent()));
    paths.sort();
    paths.dedup();
    assert_eq!(paths.len(), count);
}

#[test]
fn what_is_no_file_is_left_alone() {
    let (directory, data, index) = data_file();
    let settings = Settings::default();
    let stamp = Stamp::of(&data).unwrap();
    let path = cache::path(&data, &settings);
    fs::create_dir(&path).unwrap();
    assert!(matches!(refusal(&data), Reason::Foreign));
    cache::write(&index, &data, &settings, &stamp).unwrap_err();
    fs::remove_dir(&path).unwrap();
    // A pipe that nobody writes to: opening it would wait forever.
    let pipe = |path: &Path| Command::new("mkfifo").arg(path).status().unwrap().success();
    assert!(pipe(&path));
    assert!(matches!(refusal(&data), Reason::Foreign));
    let data = directory.path().join("pipe.ctf");
    assert!(pipe(&data));
    Stamp::of(&data).unwrap_err();
}

#[test]
fn is_written_in_the_background_and_not_lost() {
    let (_directory, data, index) = data_file();
    let (index, settings) = (Arc::new(index), Settings::default());
    let stamp = Stamp::of(&data).unwrap();
    drop(cache::write_in_background(index.clone(), data.clone(), settings.clone(), stamp));
    assert_eq!(cache::read(&data, &settings).unwrap().unwrap().index, *index);

    let nowhere = data.with_file_name("nowhere").join("a.ctf");
    let writing = cache::write_in_background(index, nowhere, settings, stamp);
    assert!(writing.finish().unwrap_err().is_not_found());
}
