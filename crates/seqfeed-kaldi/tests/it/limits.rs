//! Keys and lines that are no such things do not fill the memory.

use seqfeed_core::{Element, ErrorKind, Key, Source};
use seqfeed_io::Opener;
use seqfeed_kaldi::{
    ObjectReader, RandomAccessReader, ReadOptions, Role, SequentialReader, TableOptions,
    TableSource, TokenVector, Vector,
};

fn is_limit(error: &seqfeed_core::Error) -> bool {
    matches!(error.kind(), ErrorKind::Limit { limit: 65_536, .. }) && error.help().is_some()
}

#[test]
fn keys_and_lines_have_a_length_that_is_a_setting() {
    let directory = tempfile::tempdir().unwrap();
    let at = |name: &str| directory.path().join(name).display().to_string();
    let key = "k".repeat(70_000);
    std::fs::write(at("a.ark"), format!("{key} 1 2\n")).unwrap();
    std::fs::write(at("b.ark"), format!("{key} \0B\x04\0\0\0\0")).unwrap();
    std::fs::write(at("a.scp"), format!("{key} {}:70001\n", at("a.ark"))).unwrap();
    // No line's end at all.
    std::fs::write(at("no.scp"), "x".repeat(1 << 20)).unwrap();
    let tables = ["ark:a.ark", "ark:b.ark", "scp:a.scp", "scp:no.scp"].map(|table| {
        let (kind, name) = table.split_once(':').unwrap();
        format!("{kind}:{}", at(name))
    });
    let longer_lines = Opener::default().with_line_limit(100_000);
    for table in &tables {
        let read = |options: &ReadOptions| -> Result<u64, seqfeed_core::Error> {
            let mut reader = SequentialReader::<Vec<i32>>::open_with(table, options)?;
            reader.by_ref().try_for_each(|entry| entry.map(drop))?;
            Ok(reader.report().objects)
        };
        assert!(is_limit(&read(&ReadOptions::default()).unwrap_err()), "{table}");
        let mut random = match RandomAccessReader::<Vec<i32>>::open(table, &Opener::default()) {
            Ok(random) => random,
            Err(error) => {
                assert!(is_limit(&error), "{table}: {error}");
                continue;
            }
        };
        assert!(is_limit(&random.get(Key(b"other")).unwrap_err()), "{table}");
        let options = TableOptions::new("labels", Role::Labels, Element::I32);
        assert!(TableSource::open(&[table], &options).is_err(), "{table}");
        let longer = ReadOptions { opener: longer_lines.clone(), ..ReadOptions::default() };
        assert_eq!(read(&longer).unwrap(), 1, "{table}");
        let options = TableOptions { opener: longer_lines.clone(), ..options };
        assert_eq!(TableSource::open(&[table], &options).unwrap().index().len(), 1, "{table}");
    }
    let options = TableOptions::new("labels", Role::Labels, Element::I32);
    for table in &tables[2..] {
        assert!(is_limit(&TableSource::open(&[table], &options).err().unwrap()), "{table}");
    }
}

#[test]
fn blanks_and_words_in_lines_do_not_fill_the_memory() {
    let blanks = " ".repeat(300_000);
    let digits = "1".repeat(300_000);
    let read = |text: String| {
        let reader = |text: &str| ObjectReader::from_bytes("memory", text.as_bytes());
        [
            reader(&text).read::<Vec<i32>>().err(),
            reader(&text).read::<TokenVector>().err(),
            reader(&text).read::<f32>().err(),
        ]
    };
    for text in [format!("1{blanks}2\n"), format!("1 {digits}\n"), format!("{digits} 1\n")] {
        assert!(read(text).into_iter().all(|error| is_limit(&error.unwrap())));
    }
    // Many short ones are a long vector.
    assert!(read("12 ".repeat(100_000) + "\n")[0].is_none());
    let floats = |text: String| ObjectReader::from_bytes("memory", text).read::<Vector<f32>>();
    assert_eq!(floats(format!("[ 1{blanks}2 ]\n")).unwrap().0, [1.0, 2.0]);
    assert!(is_limit(&floats(format!("[ {digits} ]\n")).unwrap_err()));
}
