//! Corpora out of a store of the test's own, which is registered for a scheme.

use std::collections::BTreeMap;
use std::io;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use seqfeed::cntk::ctf::{CtfInput, CtfOptions, CtfSource, Names};
use seqfeed::io::{CompressedOutput, Identity, Location, Opener, ReadAt, Store, Url, WxFilename};
use seqfeed::kaldi::{
    Matrix, RandomAccessReader, Role, SequentialReader, TableOptions, TableSource, TableWriter,
};
use seqfeed::pdnn::pfile::{PFileLayout, PFileSource, PFileWriter};
use seqfeed::{Description, Element, Feed, Key, Layout, Minibatch, Settings, Source, Table, Unit};
use tempfile::tempdir;

/// Files in memory, by their URLs.
struct Memory(BTreeMap<String, Arc<Object>>);

struct Object(Vec<u8>);

impl ReadAt for Object {
    fn len(&self) -> io::Result<u64> {
        Ok(self.0.len() as u64)
    }

    /// Gives little at a time, as a network may.
    fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<usize> {
        let rest = self.0.get(offset as usize..).unwrap_or_default();
        let count = rest.len().min(buf.len()).min(100);
        buf[..count].copy_from_slice(&rest[..count]);
        Ok(count)
    }

    fn identity(&self) -> io::Result<Identity> {
        Ok(Identity { len: self.0.len() as u64, tag: "1".to_owned() })
    }
}

impl Store for Memory {
    fn open(&self, url: &Url) -> io::Result<Arc<dyn ReadAt>> {
        let found = self.0.get(&url.to_string()).ok_or(io::ErrorKind::NotFound)?;
        Ok(Arc::clone(found) as Arc<dyn ReadAt>)
    }

    fn list(&self, pattern: &Url) -> io::Result<Vec<Url>> {
        let pattern = pattern.to_string();
        let (before, behind) = pattern.split_once('*').unwrap();
        let found = self.0.keys().filter(|name| name.starts_with(before) && name.ends_with(behind));
        Ok(found.filter_map(Url::parse).collect())
    }
}

/// An opener with all files of a directory in a store, as `mem://corpus/NAME`.
fn stored(directory: &Path) -> Opener {
    let mut files = BTreeMap::new();
    let mut directories = vec![directory.to_owned()];
    while let Some(inside) = directories.pop() {
        for entry in std::fs::read_dir(inside).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                directories.push(path);
                continue;
            }
            let name = path.strip_prefix(directory).unwrap().to_str().unwrap();
            let object = Object(std::fs::read(&path).unwrap());
            files.insert(format!("mem://corpus/{name}"), Arc::new(object));
        }
    }
    Opener::default().with_store("mem", Arc::new(Memory(files)))
}

/// The minibatches of a source: what its first stream has in them.
fn fed(source: impl Source + 'static) -> Vec<Vec<f32>> {
    let stream = source.streams()[0].name.clone();
    let settings = Settings { unit: Unit::Sequence, layout: Layout::Padded, ..Settings::default() };
    let feed = Feed::new(Arc::new(source), settings, None).unwrap();
    let minibatches = feed.take(3).map(|minibatch| minibatch.unwrap());
    minibatches.map(|minibatch| minibatch.dense(&stream).unwrap().to_vec()).collect()
}

fn table(name: &str, opener: &Opener) -> seqfeed::Result<TableSource> {
    let options = TableOptions::new("features", Role::Features, Element::F32);
    TableSource::open(&[name], &TableOptions { opener: opener.clone(), ..options })
}

/// A matrix with numbers of its own.
fn matrix(number: usize) -> Matrix<f32> {
    let rows = number + 1;
    Matrix { rows, cols: 3, values: (0..rows * 3).map(|at| (number * 100 + at) as f32).collect() }
}

/// Writes tables of ten matrices, as an archive with its script file, and as compressed text.
fn write_tables(at: &Path) {
    let (ark, scp) = (at.join("f.ark"), at.join("f.scp"));
    let both = format!("ark,scp:{},{}", ark.display(), scp.display());
    let text = format!("ark,t:{}", at.join("t.ark").display());
    for name in [both, text] {
        let mut writer = TableWriter::create(&name, &Opener::default()).unwrap();
        for number in 0..10 {
            writer.write(Key(format!("utt{number}").as_bytes()), &matrix(number)).unwrap();
        }
        writer.close().unwrap();
    }
    let bytes = std::fs::read(at.join("t.ark")).unwrap();
    let name = WxFilename::from(at.join("t.ark.gz"));
    let mut packed = CompressedOutput::create(&name, &Opener::default()).unwrap();
    packed.write_all(&bytes).unwrap();
    packed.finish().unwrap();
    // What a script file in a store names is beside it.
    let lines = std::fs::read_to_string(&scp).unwrap();
    std::fs::write(&scp, lines.replace(&format!("{}/", at.display()), "")).unwrap();
}

#[test]
fn tables_come_from_a_store() {
    let directory = tempdir().unwrap();
    let at = directory.path();
    write_tables(at);
    let local = format!("ark:{}", at.join("f.ark").display());
    let expected = fed(table(&local, &Opener::default()).unwrap());
    assert!(!expected.is_empty());
    let opener = stored(at);
    drop(directory);
    for name in ["ark:mem://corpus/f.ark", "scp:mem://corpus/f.scp", "ark:mem://corpus/t.ark.gz"] {
        assert_eq!(fed(table(name, &opener).unwrap()), expected, "{name}");
        let read = SequentialReader::<Matrix<f32>>::open(name, &opener).unwrap();
        for (number, entry) in read.enumerate() {
            assert_eq!(entry.unwrap().1, matrix(number), "{name}");
        }
        let mut reader = RandomAccessReader::<Matrix<f32>>::open(name, &opener).unwrap();
        for number in [7, 2, 9] {
            let key = format!("utt{number}");
            let found = reader.get(Key(key.as_bytes())).unwrap();
            assert_eq!(found, Some(&matrix(number)), "{name}");
        }
    }
    let listed = opener.list("mem://corpus/*.ark").unwrap();
    assert_eq!(listed, ["mem://corpus/f.ark", "mem://corpus/t.ark"]);
}

#[test]
fn text_and_pfiles_come_from_a_store() {
    let directory = tempdir().unwrap();
    let at = directory.path();
    let lines: String = (0..50).map(|n| format!("{} |x {n} {}\n", n / 3, n * 2)).collect();
    std::fs::write(at.join("x.ctf"), lines).unwrap();
    let layout = PFileLayout { features: 3, labels: 1 };
    let name = WxFilename::from(at.join("x.pfile"));
    let mut writer = PFileWriter::create(&name, layout, &Opener::default()).unwrap();
    for number in 0..10 {
        let labels = vec![number as i32; number + 1];
        writer.write_sentence(&matrix(number).values, &labels).unwrap();
    }
    writer.finish().unwrap();
    let ctf = |name: &str, opener: &Opener| {
        let inputs = vec![CtfInput::dense("x", 2)];
        let options = CtfOptions { inputs, cache_index: true, ..CtfOptions::default() };
        CtfSource::open(name, &options, &mut Names::new(), opener).unwrap()
    };
    let (opener, local) = (stored(at), Opener::default());
    let path = |name: &str| at.join(name).display().to_string();
    let expected = [
        fed(ctf(&path("x.ctf"), &local)),
        fed(PFileSource::open(&path("x.pfile"), &local).unwrap()),
    ];
    drop(directory);
    assert_eq!(fed(ctf("mem://corpus/x.ctf", &opener)), expected[0]);
    assert_eq!(fed(PFileSource::open("mem://corpus/x.pfile", &opener).unwrap()), expected[1]);
}

#[cfg(feature = "arrow")]
#[test]
fn rows_come_from_a_store() {
    use seqfeed::arrow::{ArrowOptions, ArrowSource, WriteOptions};

    let directory = tempdir().unwrap();
    let at = directory.path();
    write_tables(at);
    let source = table(&format!("ark:{}", at.join("f.ark").display()), &Opener::default()).unwrap();
    for name in ["x.arrow", "x.parquet"] {
        crate::row_files::write_rows(&source, &at.join(name), &WriteOptions::default());
    }
    let (opener, expected) = (stored(at), fed(source));
    drop(directory);
    for name in ["mem://corpus/x.arrow", "mem://corpus/x.parquet"] {
        let rows = ArrowSource::open(name, &ArrowOptions::default(), &opener).unwrap();
        assert_eq!(fed(rows), expected, "{name}");
        let column = named(&format!("{name}#features"), &opener).open(&opener).unwrap();
        assert_eq!(column.corpus().streams()[0].dim, 3, "{name}");
    }
}

#[test]
fn what_is_not_there_is_said() {
    let opener = stored(tempdir().unwrap().path());
    let error = table("ark:mem://corpus/f.ark", &opener).err().unwrap();
    assert!(error.is_not_found(), "{error}");
    let error = table("ark:s3://corpus/f.ark", &opener).err().unwrap();
    assert!(error.to_string().contains("begin with s3://"), "{error}");
    let nothing = Location::of_file("mem://corpus/f.ark");
    assert!(!opener.exists(&nothing) && opener.probe(&nothing).unwrap_err().is_not_found());
}

/// What a name means.
fn named(name: &str, opener: &Opener) -> Description {
    Description::of_name_with(name, Table::new(), opener).unwrap().description
}

/// The values of the first minibatches of a corpus.
fn minibatches(description: &Description, opener: &Opener) -> Vec<String> {
    let data = |minibatch: Minibatch| {
        let streams = minibatch.streams().map(|stream| (stream.as_f32(), stream.as_i32()));
        format!("{:?}", streams.collect::<Vec<_>>())
    };
    let feed = description.open(opener).unwrap().feed(None).unwrap();
    feed.take(3).map(|minibatch| data(minibatch.unwrap())).collect()
}

#[test]
fn names_of_a_store_stand_where_names_of_files_do() {
    let digits = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/digits");
    let (opener, local) = (stored(&digits), Opener::default());
    for (before, name) in [
        ("", "train.toml"),
        ("scp:", "train/feats.scp"),
        ("scp:", "train/feats.scp,context=2,label=DIRECTORY/train/ali.ali"),
        ("", "htk/train.scp"),
        ("htk:", "htk/train.htk"),
        ("", "train.ctf"),
        ("", "train.json"),
        ("", "train.cntk#Train.reader"),
        ("", "train.cntk#TrainFrames.reader"),
        ("", "train.pfile,context=1"),
        ("", "train.pickle"),
        ("", "trai*.pfile"),
    ] {
        let of = |directory: &str, opener: &Opener| {
            let name = format!("{before}{directory}/{}", name.replace("DIRECTORY", directory));
            minibatches(&named(&name, opener), opener)
        };
        let expected = of(digits.to_str().unwrap(), &local);
        assert!(!expected.is_empty(), "{name}");
        assert!(of("mem://corpus", &opener) == expected, "{name}");
    }
}

#[test]
fn names_in_a_description_are_beside_it_in_a_store() {
    let digits = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/digits");
    let (opener, local) = (stored(&digits), Opener::default());
    for text in [
        "[streams.features]\nsource = 'htk/train.scp'\n\
         [streams.labels]\nsource = 'htk/train.mlf'\nkind = 'label'\nstates = 'htk/train.states'",
        "data = 'train/feats.scp,label=train/ali.ali'",
        "data = '*.pickle'",
        "reader = 'train.cntk#Train.reader'",
        "reader = 'train.ctf'",
    ] {
        let mut description = Description::from_toml(text).unwrap();
        description.base = Some(digits.as_path().into());
        let expected = minibatches(&description, &local);
        description.base = Some(Location::of_file("mem://corpus"));
        assert!(minibatches(&description, &opener) == expected, "{text}");
        // As seen from anywhere.
        let opened = description.open(&opener).unwrap();
        let explicit = description.explicit(&opened, &opener).unwrap();
        assert!(minibatches(&explicit, &opener) == expected, "{}", explicit.to_toml());
        let states = description.state_names(&opener).unwrap();
        assert_eq!(states.is_empty(), !text.contains("states"));
    }
}
