//! Tables in order, out of order and mapped: every way gives the same objects.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::path::Path;

use proptest::prelude::*;
use seqfeed_core::{Key, Result};
use seqfeed_io::{Opener, Output, WxFilename};
use seqfeed_kaldi::{
    AnyObject, MappedReader, Matrix, RandomAccessReader, Range, ReadOptions, Rspecifier,
    SequentialReader, TableWriter, Token, Wspecifier,
};

type Table = Vec<(Vec<u8>, Matrix<f32>)>;

fn write(wspecifier: &str, table: &Table) {
    let mut writer = TableWriter::create(wspecifier, &Opener::with_pipes()).unwrap();
    for (key, value) in table {
        writer.write(Key(key), value).unwrap();
    }
    assert_eq!(writer.close().unwrap().objects, table.len() as u64);
}

fn read(rspecifier: &str) -> Result<Table> {
    SequentialReader::open(rspecifier, &Opener::with_pipes())?.collect()
}

fn matrix(rows: usize, value: f32) -> Matrix<f32> {
    Matrix { rows, cols: if rows == 0 { 0 } else { 3 }, values: vec![value; rows * 3] }
}

prop_compose! {
    /// Keys without repetition, not sorted, and matrices of which some are larger than buffers.
    fn tables()(
        entries in prop::collection::btree_map("[a-zA-Z0-9_é-]{1,12}", (0usize..9, -9i32..9), 1..12),
        large in any::<prop::sample::Index>(),
        turn in any::<prop::sample::Index>(),
    ) -> Table {
        let entries: BTreeMap<String, (usize, i32)> = entries;
        let mut table: Table = entries
            .into_iter()
            .map(|(key, (rows, value))| (key.into_bytes(), matrix(rows, value as f32)))
            .collect();
        let large = large.index(table.len());
        table[large].1 = matrix(9000, 0.5);
        let turn = turn.index(table.len());
        table.rotate_left(turn);
        table
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn every_way_gives_the_same(table in tables(), cut in any::<prop::sample::Index>()) {
        let directory = tempfile::tempdir().unwrap();
        let at = |name: &str| directory.path().join(name).display().to_string();
        write(&format!("ark,scp:{},{}", at("b.ark"), at("b.scp")), &table);
        write(&format!("ark,scp,t:{},{}", at("t.ark"), at("t.scp")), &table);
        // In two pieces, put together again.
        let (first, second) = table.split_at(cut.index(table.len()));
        write(&format!("ark:{}", at("1.ark")), &first.to_vec());
        write(&format!("ark,t:{}", at("2.ark")), &second.to_vec());
        let bytes = [fs::read(at("1.ark")).unwrap(), fs::read(at("2.ark")).unwrap()].concat();
        fs::write(at("12.ark"), &bytes).unwrap();
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gzip.write_all(&bytes).unwrap();
        fs::write(at("12.ark.gz"), gzip.finish().unwrap()).unwrap();

        let mut names = Vec::new();
        for name in ["b", "t"] {
            names.push(format!("ark:{}", at(&format!("{name}.ark"))));
            names.push(format!("scp:{}", at(&format!("{name}.scp"))));
            names.push(format!("scp,bg,p:{}", at(&format!("{name}.scp"))));
            names.push(format!("ark,bg:cat {} |", at(&format!("{name}.ark"))));
        }
        names.push(format!("ark:{}", at("12.ark")));
        names.push(format!("ark:{}", at("12.ark.gz")));
        names.push(format!("ark:gunzip -c {} |", at("12.ark.gz")));
        let mut sorted = table.clone();
        sorted.sort_by(|a, b| a.0.cmp(&b.0));
        for name in &names {
            prop_assert_eq!(&read(name).unwrap(), &table, "{}", name);
            // The memory of older objects, and keys alone.
            let mut reader =
                SequentialReader::<Matrix<f32>>::open(name, &Opener::with_pipes()).unwrap();
            let (mut key, mut value) = (Vec::new(), Matrix::default());
            for (expected, matrix) in &table {
                prop_assert!(reader.next_into(&mut key, &mut value).unwrap());
                prop_assert_eq!((&key, &value), (expected, matrix));
            }
            prop_assert!(!reader.next_into(&mut key, &mut value).unwrap());
            prop_assert_eq!(reader.close().unwrap().skipped, 0);
            let mut reader =
                SequentialReader::<Matrix<f32>>::open(name, &Opener::with_pipes()).unwrap();
            for (expected, _) in &table {
                prop_assert!(reader.next_key(&mut key).unwrap());
                prop_assert_eq!(&key, expected);
            }
            prop_assert!(!reader.next_key(&mut key).unwrap());
            // Any order of calls.
            for options in ["", ",o", ",p", ",cs", ",o,p"] {
                let name = name.replacen(':', &format!("{options}:"), 1);
                let mut reader =
                    RandomAccessReader::<Matrix<f32>>::open(&name, &Opener::with_pipes()).unwrap();
                prop_assert_eq!(reader.get(Key(b"~nobody")).unwrap(), None);
                for (key, matrix) in sorted.iter().rev() {
                    prop_assert!(reader.contains(Key(key)).unwrap());
                    prop_assert_eq!(reader.get(Key(key)).unwrap(), Some(matrix), "{}", name);
                }
            }
        }
        // Sorted tables, and what sorting allows.
        write(&format!("ark,scp:{},{}", at("s.ark"), at("s.scp")), &sorted);
        for name in [format!("ark:{}", at("s.ark")), format!("scp:{}", at("s.scp")),
            format!("ark:cat {} |", at("s.ark"))] {
            for options in [",s", ",s,cs", ",s,o", ",s,cs,o", ",s,cs,p"] {
                let name = name.replacen(':', &format!("{options}:"), 1);
                let mut reader =
                    RandomAccessReader::<Matrix<f32>>::open(&name, &Opener::with_pipes()).unwrap();
                prop_assert!(!reader.contains(Key(b"!")).unwrap());
                for (key, matrix) in &sorted {
                    prop_assert!(reader.contains(Key(key)).unwrap());
                    prop_assert_eq!(reader.get(Key(key)).unwrap(), Some(matrix), "{}", name);
                    let behind = [key.as_slice(), b"!"].concat();
                    prop_assert_eq!(reader.get(Key(&behind)).unwrap(), None);
                }
                prop_assert_eq!(reader.get(Key(b"\xfe")).unwrap(), None);
            }
        }
        // The order of the disk.
        let lines = fs::read_to_string(at("b.scp")).unwrap();
        let reversed: Vec<&str> = lines.lines().rev().collect();
        fs::write(at("r.scp"), reversed.join("\n")).unwrap();
        let options = ReadOptions { any_order: true, ..ReadOptions::default() };
        let free = SequentialReader::<Matrix<f32>>::open_with(&format!("scp:{}", at("r.scp")), &options);
        prop_assert_eq!(&free.unwrap().collect::<Result<Table>>().unwrap(), &table);
    }

    #[test]
    fn specifiers_print_and_parse(
        words in prop::collection::vec(
            prop::sample::select(vec!["b", "t", "o", "no", "p", "np", "s", "ns", "cs", "ncs", "bg"]), 0..5),
        write_words in prop::collection::vec(prop::sample::select(vec!["b", "t", "f", "nf", "p"]), 0..4),
        table in prop::sample::select(vec!["ark", "scp"]),
        name in "[a-z0-9./:|, -]{0,12}[a-z0-9|]",
    ) {
        let text = format!("{}:{name}", [words, vec![table]].concat().join(","));
        let parsed = Rspecifier::parse(&text).unwrap();
        prop_assert_eq!(Rspecifier::parse(&parsed.to_string()).unwrap(), parsed);
        let text = format!("{}:{name}", [write_words.clone(), vec![table]].concat().join(","));
        let parsed = Wspecifier::parse(&text).unwrap();
        prop_assert_eq!(Wspecifier::parse(&parsed.to_string()).unwrap(), parsed);
        let text = format!("{}:a,{name}", [write_words, vec!["ark", "scp"]].concat().join(" "));
        let parsed = Wspecifier::parse(&text).unwrap();
        prop_assert_eq!(Wspecifier::parse(&parsed.to_string()).unwrap(), parsed);
    }
}

fn two(directory: &Path) -> Table {
    let table = vec![(b"a".to_vec(), matrix(2, 1.0)), (b"b".to_vec(), matrix(3, 2.0))];
    write(&format!("ark,scp:{0}/f.ark,{0}/f.scp", directory.display()), &table);
    table
}

#[test]
fn a_script_file_says_where_objects_are_written() {
    let directory = tempfile::tempdir().unwrap();
    let at = |name: &str| directory.path().join(name).display().to_string();
    let table = two(directory.path());
    let lines = format!("a {}\nb | cat > {}\n", at("a.mat"), at("b.mat"));
    fs::write(at("names.scp"), lines).unwrap();
    write(&format!("scp:{}", at("names.scp")), &table);
    assert_eq!(read(&format!("scp:echo b {} |", at("b.mat"))).unwrap(), table[1..]);
    let opener = Opener::with_pipes();
    // A key without a name.
    fs::write(at("one.scp"), format!("b {}\n", at("c.mat"))).unwrap();
    let mut writer = TableWriter::create(&format!("scp:{}", at("one.scp")), &opener).unwrap();
    let error = writer.write(Key(b"a"), &table[0].1).unwrap_err();
    assert!(error.to_string().contains("no line for this key"), "{error}");
    let mut writer = TableWriter::create(&format!("scp,p:{}", at("one.scp")), &opener).unwrap();
    for (key, value) in &table {
        writer.write(Key(key), value).unwrap();
    }
    let report = writer.close().unwrap();
    assert_eq!((report.objects, report.skipped), (1, 1));
    // Names that cannot be, and keys that stand twice, are known before anything is written.
    for lines in ["a x\na y\n", "a x.ark:12\n", "a\n", "a y|\n"] {
        fs::write(at("bad.scp"), lines).unwrap();
        let opened = TableWriter::<Matrix<f32>>::create(&format!("scp:{}", at("bad.scp")), &opener);
        assert!(opened.is_err(), "{lines}");
    }
    // A command needs permission.
    let opened =
        TableWriter::<Matrix<f32>>::create(&format!("ark:| cat > {}", at("x")), &Opener::default());
    assert!(opened.is_err());
    // A script file cannot point into a pipe.
    let opened = TableWriter::<Matrix<f32>>::create(&format!("ark,scp:-,{}", at("x")), &opener);
    assert!(opened.unwrap_err().is_usage());
    assert!(!Path::new(&at("x")).exists());
}

#[test]
fn a_map_leads_to_the_objects_of_speakers() {
    let directory = tempfile::tempdir().unwrap();
    let at = |name: &str| directory.path().join(name).display().to_string();
    let table = two(directory.path());
    let mut map =
        TableWriter::create(&format!("ark:{}", at("utt2spk")), &Opener::default()).unwrap();
    for (utterance, speaker) in [("u1", "a"), ("u2", "a"), ("u3", "b"), ("u4", "c")] {
        map.write(Key(utterance.as_bytes()), &Token::from(speaker)).unwrap();
    }
    map.close().unwrap();
    for options in ["", ",s,cs"] {
        let mut reader = MappedReader::<Matrix<f32>>::open(
            &format!("ark{options}:{}", at("f.ark")),
            &format!("ark{options}:{}", at("utt2spk")),
            &Opener::default(),
        )
        .unwrap();
        assert_eq!(reader.get(Key(b"u1")).unwrap(), Some(&table[0].1));
        assert_eq!(reader.get(Key(b"u2")).unwrap(), Some(&table[0].1));
        assert_eq!(reader.get(Key(b"u3")).unwrap(), Some(&table[1].1));
        assert!(!reader.contains(Key(b"u4")).unwrap());
        let error = reader.get(Key(b"u5")).unwrap_err();
        assert!(error.to_string().contains("has no entry for this key"), "{error}");
    }
    let mut reader =
        MappedReader::<Matrix<f32>>::open(&format!("ark:{}", at("f.ark")), "", &Opener::default())
            .unwrap();
    assert_eq!(reader.get(Key(b"b")).unwrap(), Some(&table[1].1));
}

#[test]
fn broken_promises_name_the_keys_and_the_cure() {
    let directory = tempfile::tempdir().unwrap();
    let at = |name: &str| directory.path().join(name).display().to_string();
    let table: Table =
        ["b", "a", "c"].iter().map(|key| (key.as_bytes().to_vec(), matrix(1, 1.0))).collect();
    write(&format!("ark,scp:{},{}", at("u.ark"), at("u.scp")), &table);
    type Reader = RandomAccessReader<Matrix<f32>>;
    let open = |name: &str| Reader::open(name, &Opener::default());
    let message = |error: seqfeed_core::Error| error.to_string();
    for kind in ["ark,s", "ark,s,cs"] {
        let mut reader = open(&format!("{kind}:{}", at("u.ark"))).unwrap();
        let text = message(reader.get(Key(b"c")).unwrap_err());
        assert!(text.contains("b is followed by a") && text.contains("LC_ALL=C sort"), "{text}");
        assert!(text.contains("u.ark @ "), "{text}");
    }
    let text = message(open(&format!("scp,s:{}", at("u.scp"))).unwrap_err());
    assert!(text.contains("u.scp:2") && text.contains("b is followed by a"), "{text}");
    let mut sorted = table.clone();
    sorted.sort_by(|a, b| a.0.cmp(&b.0));
    write(&format!("ark:{}", at("s.ark")), &sorted);
    let mut reader = open(&format!("ark,s,cs:{}", at("s.ark"))).unwrap();
    reader.get(Key(b"b")).unwrap();
    let text = message(reader.get(Key(b"a")).unwrap_err());
    assert!(text.contains("a is asked for after b"), "{text}");
    assert!(reader.get(Key(b"c")).unwrap().is_some());
    let mut reader = open(&format!("ark,o:{}", at("s.ark"))).unwrap();
    reader.get(Key(b"b")).unwrap();
    let text = message(reader.get(Key(b"b")).unwrap_err());
    assert!(text.contains("each key is read once"), "{text}");
    assert!(message(reader.get(Key(b"a b")).unwrap_err()).contains("is no key"));
    // An archive where one of its objects was meant.
    fs::write(at("slip.scp"), format!("a {}\n", at("s.ark"))).unwrap();
    let text = message(read(&format!("scp:{}", at("slip.scp"))).unwrap_err());
    assert!(text.contains("read the archive with `ark:"), "{text}");
    // A damaged archive is not the same as a key that is not there.
    let bytes = fs::read(at("s.ark")).unwrap();
    fs::write(at("cut.ark"), &bytes[..bytes.len() - 3]).unwrap();
    let mut reader = open(&format!("ark:{}", at("cut.ark"))).unwrap();
    let text = message(reader.get(Key(b"zz")).unwrap_err());
    assert!(text.contains("cut.ark @ ") && text.contains("3 bytes are missing"), "{text}");
    assert!(reader.get(Key(b"a")).unwrap().is_some());
    let mut reader = open(&format!("ark,p:{}", at("cut.ark"))).unwrap();
    assert!(reader.get(Key(b"zz")).unwrap().is_none());
}

#[test]
fn failed_commands_are_errors_at_the_end() {
    let directory = tempfile::tempdir().unwrap();
    let table = two(directory.path());
    let archive = format!("{}/f.ark", directory.path().display());
    let mut reader = SequentialReader::<Matrix<f32>>::open(
        &format!("ark:cat {archive}; exit 3 |"),
        &Opener::with_pipes(),
    )
    .unwrap();
    assert_eq!(reader.by_ref().take(2).collect::<Result<Table>>().unwrap(), table);
    let error = reader.next().unwrap().unwrap_err();
    assert!(error.to_string().contains("exit"), "{error}");
    assert!(reader.next().is_none());
    assert!(reader.close().is_err());
    // One that is left before its end is not asked.
    let mut reader = SequentialReader::<i32>::open("ark:yes a 1 |", &Opener::with_pipes()).unwrap();
    assert_eq!(reader.next().unwrap().unwrap(), (b"a".to_vec(), 1));
    assert_eq!(reader.close().unwrap().objects, 1);
    // With `p` it stands in the report.
    let mut reader = SequentialReader::<Matrix<f32>>::open(
        &format!("ark,p:cat {archive}; exit 3 |"),
        &Opener::with_pipes(),
    )
    .unwrap();
    assert_eq!(reader.by_ref().count(), 2);
    let report = reader.close().unwrap();
    assert_eq!((report.objects, report.skipped), (2, 1));
}

#[test]
fn reading_ahead_changes_nothing_about_errors() {
    let directory = tempfile::tempdir().unwrap();
    let at = |name: &str| directory.path().join(name).display().to_string();
    let table = two(directory.path());
    let good = fs::read_to_string(at("f.scp")).unwrap();
    let lines: Vec<&str> = good.lines().collect();
    // An entry that cannot be loaded, and one behind it; a line that is none.
    fs::write(at("hole.scp"), format!("{}\nx {}\n{}\n", lines[0], at("none"), lines[1])).unwrap();
    fs::write(at("bad.scp"), format!("{}\nx\n{}\n", lines[0], lines[1])).unwrap();
    for bg in ["", ",bg"] {
        let open = |options: &str, name: &str| {
            let name = format!("scp{bg}{options}:{}", at(name));
            SequentialReader::<Matrix<f32>>::open(&name, &Opener::default()).unwrap()
        };
        let mut reader = open("", "hole.scp");
        let all: Vec<bool> = reader.by_ref().map(|entry| entry.is_ok()).collect();
        assert_eq!(all, [true, false, true], "{bg}");
        reader.close().unwrap();
        let mut reader = open(",p", "hole.scp");
        assert_eq!(reader.by_ref().collect::<Result<Table>>().unwrap(), table);
        let report = reader.close().unwrap();
        assert_eq!((report.objects, report.skipped, report.errors.len()), (2, 1, 1));
        for options in ["", ",p"] {
            let mut reader = open(options, "bad.scp");
            let all: Vec<bool> = reader.by_ref().map(|entry| entry.is_ok()).collect();
            assert_eq!(all, [true, false], "{bg}{options}");
            let error = reader.close().unwrap_err().to_string();
            assert!(error.contains("bad.scp:2") && error.contains("take it out"), "{error}");
        }
    }
}

#[test]
fn a_dropped_reader_leaves_its_thread() {
    let directory = tempfile::tempdir().unwrap();
    two(directory.path());
    let archive = format!("{}/f.ark", directory.path().display());
    let mut output =
        Output::create(&WxFilename::parse(&archive).unwrap(), &Opener::default()).unwrap();
    for number in 0..1000 {
        output.write_all(format!("u{number} 1 \n").as_bytes()).unwrap();
    }
    output.finish().unwrap();
    for _ in 0..20 {
        let mut reader =
            SequentialReader::<i32>::open(&format!("ark,bg:{archive}"), &Opener::default())
                .unwrap();
        assert!(reader.next().is_some());
    }
    let mut reader =
        SequentialReader::<i32>::open(&format!("ark,bg:{archive}"), &Opener::default()).unwrap();
    assert_eq!(reader.by_ref().count(), 1000);
    assert_eq!(reader.close().unwrap().objects, 1000);
}

#[test]
fn names_behind_the_end_of_a_file_say_so() {
    let directory = tempfile::tempdir().unwrap();
    let at = |name: &str| directory.path().join(name).display().to_string();
    two(directory.path());
    let len = fs::metadata(at("f.ark")).unwrap().len();
    let lines = format!("a {0}:2\nb {0}:{1}\nc {0}:2\n", at("f.ark"), len + 9);
    fs::write(at("long.scp"), lines).unwrap();
    let open = || {
        let name = format!("scp:{}", at("long.scp"));
        SequentialReader::<Matrix<f32>>::open(&name, &Opener::default()).unwrap()
    };
    let all: Vec<_> = open().collect();
    assert!(all[0].is_ok() && all[2].is_ok());
    let error = all[1].as_ref().unwrap_err().to_string();
    assert!(error.contains("offset") && error.contains("script file again"), "{error}");
    let keys: Vec<bool> = {
        let (mut reader, mut key, mut all) = (open(), Vec::new(), Vec::new());
        while let Ok(true) = reader.next_key(&mut key) {
            all.push(true);
        }
        all
    };
    assert_eq!(keys.len(), 3, "keys are read without their objects");
}

#[test]
fn an_archive_opened_stays_the_archive_that_was_opened() {
    let directory = tempfile::tempdir().unwrap();
    let at = |name: &str| directory.path().join(name).display().to_string();
    let table = two(directory.path());
    let name = format!("ark:{}", at("f.ark"));
    let mut reader = RandomAccessReader::<Matrix<f32>>::open(&name, &Opener::default()).unwrap();
    assert!(reader.contains(Key(b"b")).unwrap());
    // Another archive under the same name, as a later stage of a recipe would write it.
    write(&name, &vec![(b"z".to_vec(), matrix(9, 9.0))]);
    assert_eq!(reader.get(Key(b"a")).unwrap(), Some(&table[0].1));
    assert_eq!(reader.get(Key(b"b")).unwrap(), Some(&table[1].1));
}

#[test]
fn what_cannot_be_read_is_not_there_with_p_and_no_reason_to_say_asked_twice() {
    let directory = tempfile::tempdir().unwrap();
    let at = |name: &str| directory.path().join(name).display().to_string();
    two(directory.path());
    fs::write(at("bad.ark"), b"a  [ 1 2 ]\nb  [ 1 2\n 3 ]\n").unwrap();
    let open = |options: &str| {
        let name = format!("ark{options}:{}", at("bad.ark"));
        RandomAccessReader::<Matrix<f32>>::open(&name, &Opener::default()).unwrap()
    };
    let mut reader = open(",p");
    assert_eq!(reader.get(Key(b"b")).unwrap(), None);
    let mut reader = open(",o");
    for _ in 0..2 {
        let error = reader.get(Key(b"b")).unwrap_err().to_string();
        assert!(!error.contains("twice"), "{error}");
    }
    let mut reader = open(",o");
    assert!(reader.get(Key(b"a")).unwrap().is_some());
    assert!(reader.get(Key(b"a")).is_err());
}

#[test]
fn permissive_does_not_mean_what_is_not_allowed() {
    let directory = tempfile::tempdir().unwrap();
    let at = |name: &str| directory.path().join(name).display().to_string();
    two(directory.path());
    fs::write(at("pipe.scp"), format!("a cat {} |\n", at("f.ark"))).unwrap();
    let name = format!("scp,p:{}", at("pipe.scp"));
    let all: Vec<_> =
        SequentialReader::<Matrix<f32>>::open(&name, &Opener::default()).unwrap().collect();
    assert!(all.iter().any(Result::is_err), "a command passed over in silence is data lost");
    let mut reader = RandomAccessReader::<Matrix<f32>>::open(&name, &Opener::default()).unwrap();
    assert!(reader.get(Key(b"a")).is_err());
    assert!(reader.contains(Key(b"a")).is_err());
}

#[test]
fn a_vector_as_text_is_not_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("x.ark");
    for (text, whole) in [("a 1 2", true), ("a \n", true), ("a ", false)] {
        fs::write(&path, text).unwrap();
        let name = format!("ark:{}", path.display());
        let all: Vec<Result<(Vec<u8>, Vec<i32>)>> =
            SequentialReader::open(&name, &Opener::default()).unwrap().collect();
        assert_eq!((all.len(), all[0].is_ok()), (1, whole), "{text:?}");
    }
}

#[test]
fn after_a_write_that_failed_no_archive_appears() {
    let directory = tempfile::tempdir().unwrap();
    let at = |name: &str| directory.path().join(name).display().to_string();
    // Larger than what a device without room takes.
    let value = matrix(50_000, 1.0);
    let name = format!("ark,scp:/dev/full,{}", at("f.scp"));
    let Ok(mut writer) = TableWriter::create(&name, &Opener::default()) else { return };
    let mut failed = false;
    for number in 0..4 {
        let written = writer.write(Key(format!("u{number}").as_bytes()), &value);
        assert!(!failed || written.is_err(), "writing went on after it had failed");
        failed |= written.is_err();
    }
    assert!(failed);
    assert!(writer.close().is_err());
    assert!(!Path::new(&at("f.scp")).exists());
}

#[test]
fn names_in_script_files_to_write_to_may_hold_brackets() {
    let directory = tempfile::tempdir().unwrap();
    let at = |name: &str| directory.path().join(name).display().to_string();
    let table = two(directory.path());
    let path = at("a[1].mat");
    fs::write(at("names.scp"), format!("a {path}\nb {}\n", at("b.mat"))).unwrap();
    write(&format!("scp:{}", at("names.scp")), &table);
    assert!(Path::new(&path).exists());
}

#[test]
fn an_archive_cannot_be_its_own_script_file() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("f.ark").display().to_string();
    let name = format!("ark,scp:{path},{path}");
    let opened = TableWriter::<Matrix<f32>>::create(&name, &Opener::default());
    assert!(opened.unwrap_err().is_usage());
    assert!(!Path::new(&path).exists());
}

/// Text that was written to a live pipe is read as soon as it is whole.
#[test]
#[cfg(unix)]
fn text_of_a_live_pipe_is_not_waited_behind() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("pipe");
    let made = std::process::Command::new("mkfifo").arg(&path).status();
    if !made.is_ok_and(|status| status.success()) {
        eprintln!("SKIPPED: this system makes no named pipes");
        return;
    }
    let (read_one, wait) = std::sync::mpsc::channel::<()>();
    let to = path.clone();
    let writer = std::thread::spawn(move || {
        let mut pipe = fs::OpenOptions::new().write(true).open(to).unwrap();
        pipe.write_all(b"a  [ 1 2\n  3 4 ]\n").unwrap();
        // Nothing more is written before the reader has seen the first object.
        let seen = wait.recv_timeout(std::time::Duration::from_secs(20)).is_ok();
        pipe.write_all(b"b  [ 5 6 ]\n").unwrap();
        seen
    });
    let name = format!("ark:{}", path.display());
    let mut reader = SequentialReader::<Matrix<f32>>::open(&name, &Opener::default()).unwrap();
    assert_eq!(reader.next().unwrap().unwrap().1.values, [1.0, 2.0, 3.0, 4.0]);
    let _ = read_one.send(());
    assert_eq!(reader.next().unwrap().unwrap().1.values, [5.0, 6.0]);
    assert!(writer.join().unwrap(), "the reader waited for more than the first object");
}

#[test]
fn objects_and_parts_are_taken() {
    let directory = tempfile::tempdir().unwrap();
    let at = |name: &str| directory.path().join(name).display().to_string();
    let counted =
        |rows: usize| Matrix { rows, cols: 3, values: (0..rows * 3).map(|v| v as f32).collect() };
    let table: Table = vec![(b"a".to_vec(), counted(4)), (b"b".to_vec(), counted(9000))];
    let (ark, scp, text) = (at("t.ark"), at("t.scp"), at("t.txt"));
    write(&format!("ark,scp:{ark},{scp}"), &table);
    write(&format!("ark,t:{text}"), &table);
    let range = |first, last| Range { rows: Some((first, last)), cols: None };
    for name in [
        &*format!("scp:{scp}"),
        &format!("ark:{ark}"),
        &format!("ark:{text}"),
        &format!("ark,s,cs:{ark}"),
    ] {
        let mut typed = RandomAccessReader::<Matrix<f32>>::open(name, &Opener::default()).unwrap();
        let mut any = RandomAccessReader::<AnyObject>::open(name, &Opener::default()).unwrap();
        for (key, matrix) in &table {
            let (key, part) = (Key(key), matrix.values[3..9].to_vec());
            for _ in 0..2 {
                assert_eq!(
                    typed.take_part(key, &range(1, 2)).unwrap().unwrap().values,
                    part,
                    "{name}"
                );
                assert_eq!(typed.take(key).unwrap().as_ref(), Some(matrix), "{name}");
                assert_eq!(typed.get(key).unwrap(), Some(matrix), "{name}");
                assert_eq!(any.take(key).unwrap(), Some(AnyObject::FloatMatrix(matrix.clone())));
                let part = Matrix { rows: 2, cols: 3, values: part.clone() };
                let found = any.take_part(key, &range(1, 2)).unwrap();
                assert_eq!(found, Some(AnyObject::FloatMatrix(part)), "{name}");
            }
            let error = typed.take_part(key, &range(20_000, 20_001)).unwrap_err();
            assert_eq!(error.place().key, Some(key.to_string()), "{name}: {error}");
            assert_eq!(typed.take(key).unwrap().as_ref(), Some(matrix), "{name}");
        }
        assert!(typed.take(Key(b"c")).unwrap().is_none(), "{name}");
        assert!(typed.take_part(Key(b"c"), &range(0, 1)).unwrap().is_none(), "{name}");
    }
}

/// Names in a script file are relative to the working directory, or where nothing is there to the
/// script file.
#[test]
fn files_are_looked_for_beside_their_script_file() {
    let directory = tempfile::tempdir().unwrap();
    let table = two(directory.path());
    let place = directory.path().display().to_string();
    let script = fs::read_to_string(directory.path().join("f.scp")).unwrap();
    fs::write(directory.path().join("f.scp"), script.replace(&format!("{place}/"), "")).unwrap();
    let rspecifier = format!("scp:{place}/f.scp");
    assert_eq!(read(&rspecifier).unwrap(), table);
    let mut reader =
        RandomAccessReader::<Matrix<f32>>::open(&rspecifier, &Opener::default()).unwrap();
    for (key, value) in &table {
        assert_eq!(reader.get(Key(key)).unwrap(), Some(value));
    }
    fs::remove_file(directory.path().join("f.ark")).unwrap();
    let error = read(&rspecifier).unwrap_err().to_string();
    assert!(error.contains("f.ark") && !error.contains(&place), "{error}");
}
