//! Sources of features and labels, on files made here.
#![allow(clippy::disallowed_methods, clippy::unwrap_used)]

use std::fs;
use std::path::Path;
use std::sync::Arc;

use seqfeed_core::{Block, Corpus, Element, Error, Extent, JoinPolicy, Result, Source, Tolerance};
use seqfeed_htk::param::{ByteOrder, Encoding, Values};
use seqfeed_htk::script::{Script, ScriptOptions};
use seqfeed_htk::source::{Duplicates, HtkOptions, HtkSource, LabelForm, MlfOptions, MlfSource};
use seqfeed_htk::state_list::StateList;
use seqfeed_io::Location;

const COLUMNS: usize = 3;

fn keys(name: &[u8]) -> Result<Vec<u8>> {
    Ok(name.to_vec())
}

/// Writes a file whose value in frame `t` and column `c` is `start + t + c / 8`.
fn parameters(path: &Path, start: usize, frames: usize, kind: &str, order: ByteOrder) {
    let values: Vec<f32> = (0..frames * COLUMNS)
        .map(|i| (start + i / COLUMNS) as f32 + (i % COLUMNS) as f32 / 8.0)
        .collect();
    let encoding = Encoding { kind: kind.parse().unwrap(), order, ..Encoding::default() };
    let mut file = Vec::new();
    encoding.encode(Values::Floats(&values), COLUMNS, &mut file).unwrap();
    fs::write(path, file).unwrap();
}

fn open(directory: &Path, script: &str, options: &HtkOptions) -> Result<HtkSource> {
    let script = script.replace("@", &directory.display().to_string());
    let script = Script::parse(script.into_bytes(), &ScriptOptions::default())?;
    HtkSource::open("a.scp", &script, options, &keys)
}

/// The first column of each sequence.
fn firsts(source: &dyn Source, sequences: &[u32]) -> Vec<Vec<f64>> {
    let mut blocks = source.new_blocks();
    source.load(sequences, &mut blocks).unwrap();
    let value = |row: &[u8]| match blocks[0].element() {
        Element::F64 => f64::from_ne_bytes(row[..8].try_into().unwrap()),
        _ => f64::from(f32::from_ne_bytes(row[..4].try_into().unwrap())),
    };
    (0..sequences.len())
        .map(|i| {
            let samples = blocks[0].samples(i);
            (0..samples.len()).map(|t| value(samples.row(t))).collect()
        })
        .collect()
}

fn message(result: Result<impl Sized>) -> Error {
    match result {
        Ok(_) => panic!("an error is expected"),
        Err(error) => error,
    }
}

#[test]
fn archives_and_files_in_both_byte_orders() {
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path();
    parameters(&at.join("all.x"), 0, 20, "USER", ByteOrder::Big);
    parameters(&at.join("little.x"), 100, 4, "USER", ByteOrder::Little);
    let script = "a=@/all.x[0,4] b=@/all.x[5,5]\nc=@/all.x[6,9] d=@/little.x e=@/all.x[17,19]";
    for element in [Element::F32, Element::F64] {
        let options = HtkOptions { element, ..HtkOptions::default() };
        let source = open(at, script, &options).unwrap();
        assert_eq!(source.index().len(), 5);
        // In order, and in any other.
        let all = firsts(&source, &[0, 1, 2, 3, 4]);
        assert_eq!(all[0], [0.0, 1.0, 2.0, 3.0, 4.0]);
        assert_eq!(all[1..3], [vec![5.0], vec![6.0, 7.0, 8.0, 9.0]]);
        assert_eq!(all[3..], [vec![100.0, 101.0, 102.0, 103.0], vec![17.0, 18.0, 19.0]]);
        let some = firsts(&source, &[4, 2, 1, 0]);
        assert_eq!(some, [all[4].clone(), all[2].clone(), all[1].clone(), all[0].clone()]);
    }
    let source = Arc::new(open(at, script, &HtkOptions::default()).unwrap());
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..50 {
                    assert_eq!(firsts(source.as_ref(), &[3, 4])[1], [17.0, 18.0, 19.0]);
                }
            });
        }
    });
}

#[test]
fn more_files_than_are_kept_open() {
    let directory = tempfile::tempdir().unwrap();
    let mut script = String::new();
    for number in 0..300 {
        let name = format!("u{number}.x");
        parameters(&directory.path().join(&name), number, 2, "MFCC", ByteOrder::Big);
        script.push_str(&format!("@/{name}\n"));
    }
    let source = open(directory.path(), &script, &HtkOptions::default()).unwrap();
    for sequence in [0, 299, 5, 150, 0] {
        let first = f64::from(sequence);
        assert_eq!(firsts(&source, &[sequence]), [vec![first, first + 1.0]]);
    }
}

#[test]
fn wrong_entries_stop_or_are_counted() {
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path();
    parameters(&at.join("all.x"), 0, 20, "USER", ByteOrder::Big);
    parameters(&at.join("mfcc.x"), 0, 20, "MFCC_0", ByteOrder::Big);
    let cases = [
        ("a=@/all.x[0,3]\nb=@/gone.x[0,3]", "gone.x"),
        ("a=@/all.x[0,3]\nb=@/all.x[4,20]", "frame is 20"),
        ("a=@/all.x[0,3]\nb=@/mfcc.x[4,9]", "MFCC_0 of 3 values"),
        ("a=@/all.x[0,3]\na=@/all.x[4,9]", "key"),
    ];
    for (script, expected) in cases {
        let error = message(open(at, script, &HtkOptions::default()));
        assert!(error.to_string().contains(expected), "{error}");
        let options = HtkOptions { errors: Tolerance::SkipUpTo(1), ..HtkOptions::default() };
        let source = open(at, script, &options).unwrap();
        assert_eq!((source.index().len(), source.about().report.total()), (1, 1), "{script}");
    }
    let twice = cases[3].0.to_owned() + "\nb=@/all.x[5,5]";
    let options = HtkOptions { duplicates: Duplicates::LeaveOut, ..HtkOptions::default() };
    assert_eq!(open(at, &twice, &options).unwrap().index().len(), 1);
    assert!(message(open(at, "", &options)).to_string().contains("no sequences"));
}

#[test]
fn widths_are_those_declared() {
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path();
    parameters(&at.join("all.x"), 0, 20, "USER", ByteOrder::Big);
    let with = |dim, context| {
        let options = HtkOptions { dim: Some(dim), context, ..HtkOptions::default() };
        open(at, "a=@/all.x[0,3]", &options).map(|source| source.context())
    };
    assert_eq!(with(3, (0, 0)).unwrap(), (0, 0));
    assert_eq!(with(15, (0, 0)).unwrap(), (2, 2));
    assert_eq!(with(3, (1, 4)).unwrap(), (1, 4));
    for (dim, context) in [(6, (0, 0)), (4, (0, 0)), (2, (0, 0)), (9, (1, 1)), (3, (u64::MAX, 1))] {
        assert!(with(dim, context).is_err(), "{dim} {context:?}");
    }
}

#[test]
fn single_frames_stand_for_sequences() {
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path();
    parameters(&at.join("all.x"), 0, 20, "USER", ByteOrder::Big);
    let primary = open(at, "a=@/all.x[0,3]\nb=@/all.x[4,5]", &HtkOptions::default()).unwrap();
    let script = "b=@/all.x[7,7]\na=@/all.x[8,8]\nz=@/all.x[9,9]";
    let options = HtkOptions { expand: Some(primary.index().clone()), ..HtkOptions::default() };
    let source = open(at, script, &options).unwrap();
    assert_eq!(firsts(&source, &[0, 1]), [vec![7.0; 2], vec![8.0; 4]]);
    let whole = HtkOptions { extent: Extent::Sequence, ..HtkOptions::default() };
    let source = open(at, script, &whole).unwrap();
    assert_eq!(firsts(&source, &[2, 0]), [vec![9.0], vec![7.0]]);
    assert!(message(open(at, "a=@/all.x[0,1]", &whole)).to_string().contains("length 1"));
}

fn labels(directory: &Path, texts: &[&str], options: &MlfOptions) -> Result<MlfSource> {
    let write = |(number, text): (usize, &&str)| -> Location {
        let path = directory.join(format!("{number}.mlf"));
        fs::write(&path, text).unwrap();
        path.into()
    };
    let files: Vec<Location> = texts.iter().enumerate().map(write).collect();
    MlfSource::open(&files, options, &keys)
}

fn ints(bytes: &[u8]) -> Vec<i32> {
    bytes.as_chunks::<4>().0.iter().map(|&value| i32::from_ne_bytes(value)).collect()
}

fn doubles(bytes: &[u8]) -> Vec<f64> {
    bytes.as_chunks::<8>().0.iter().map(|&value| f64::from_ne_bytes(value)).collect()
}

fn states() -> Option<Arc<StateList>> {
    Some(Arc::new(StateList::parse(b"sil\na\nb").unwrap()))
}

#[test]
fn labels_are_classes_or_one_hot() {
    let directory = tempfile::tempdir().unwrap();
    let one = "#!MLF!#\n\"*/u.lab\"\n0 2 sil\n2 3 b\n.\n\"v.lab\"\n0 100000 a\n.\n";
    let two = "#!MLF!#\n\"w.lab\"\n0 2 b\n.\n\"u.lab\"\n0 2 b\n.\nnone\n0 1 a\n.\n";
    let options = MlfOptions { states: states(), ..MlfOptions::default() };
    let source = labels(directory.path(), &[one, two], &options).unwrap();
    assert_eq!(source.about().report.total(), 2);
    let mut blocks = source.new_blocks();
    source.load(&[2, 0, 1, 0], &mut blocks).unwrap();
    let classes = |i: usize| -> Vec<i32> { ints(blocks[0].samples(i).bytes()) };
    assert_eq!((classes(0), classes(1)), (vec![2, 2], vec![0, 0, 2]));
    assert_eq!((classes(2), classes(3)), (vec![1], vec![0, 0, 2]));
    let form = LabelForm::OneHot(Element::F64);
    let options = MlfOptions { form, phone_boundaries: true, dim: Some(9), ..options };
    let source = labels(directory.path(), &[one], &options).unwrap();
    assert_eq!(source.streams()[0].dim, 9);
    let mut blocks = source.new_blocks();
    source.load(&[0], &mut blocks).unwrap();
    let samples = blocks[0].sparse_samples(0);
    let values: Vec<f64> = doubles(samples.values);
    assert_eq!((samples.indices, &values[..]), (&[0, 0, 2][..], &[2.0, 1.0, 2.0][..]));
}

#[test]
fn wrong_labels_are_named_before_they_are_fed() {
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path();
    parameters(&at.join("all.x"), 0, 20, "USER", ByteOrder::Big);
    let features = || -> Arc<dyn Source> {
        let script = "u=@/all.x[0,2]\nv=@/all.x[3,3]\nw=@/all.x[4,5]";
        Arc::new(open(at, script, &HtkOptions::default()).unwrap())
    };
    let cases = [
        ("0 1 sil\n2 3 b", "line 4", "first frame is 2"),
        ("1 2 sil\n2 3 b", "line 3", "first frame is 1"),
        ("0 2 sil\n2 3 word", "line 4", "the name of a state"),
        ("0 2 sil\n2 1 a\n2 3 b", "line 4", "the end is 1"),
        ("0 2 sil\n2 4 b", "key u", "4 samples"),
    ];
    for (lines, place, expected) in cases {
        let text =
            format!("#!MLF!#\n\"u.lab\"\n{lines}\n.\n\"v.lab\"\n0 1 a\n.\n\"w.lab\"\n0 2 b\n.\n");
        let options = MlfOptions { states: states(), ..MlfOptions::default() };
        let source: Arc<dyn Source> = Arc::new(labels(at, &[&text], &options).unwrap());
        let join = |errors, mask_wrong| {
            let rules = JoinPolicy { errors, mask_wrong, ..JoinPolicy::default() };
            Corpus::join(vec![features(), Arc::clone(&source)], &rules)
        };
        let error = message(join(Tolerance::Stop, false));
        let text = error.to_string();
        assert!(text.contains(expected) && text.contains("0.mlf"), "{text}");
        assert!(text.contains(place) || text.contains(":4") || text.contains(":3"), "{text}");
        assert_eq!(error.place().key.as_deref(), Some("u"));
        let corpus = join(Tolerance::SkipUpTo(1), false).unwrap();
        assert_eq!((corpus.index().len(), corpus.report().total()), (2, 1));
        let corpus = join(Tolerance::SkipUpTo(1), true).unwrap();
        if corpus.index().len() == 3 {
            assert!(corpus.index().is_masked(0) && !corpus.index().is_masked(1));
            let mut blocks: Vec<Block> = corpus.new_blocks();
            corpus.load_chunk(0, &mut blocks).unwrap();
            assert_eq!((blocks[1].sequence_len(0), blocks[1].sequence_len(2)), (0, 2));
        }
    }
}

#[test]
fn binary_label_files() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.bmlf");
    let mut file = b"MLF\x02\x00".to_vec();
    for (key, segments) in [("u", &[(3u16, 2u16), (1, 1)][..]), ("v", &[(0, 1)])] {
        file.extend((key.len() as u16).to_le_bytes());
        file.extend(key.as_bytes());
        let frames: u32 = segments.iter().map(|&(_, frames)| u32::from(frames)).sum();
        file.extend(frames.to_le_bytes());
        file.extend((segments.len() as u16).to_le_bytes());
        for (class, frames) in segments {
            file.extend(class.to_le_bytes());
            file.extend(frames.to_le_bytes());
        }
    }
    let options = |dim| MlfOptions { dim: Some(dim), binary: true, ..MlfOptions::default() };
    let open = |bytes: &[u8], dim| {
        fs::write(&path, bytes).unwrap();
        MlfSource::open(&[path.clone().into()], &options(dim), &keys)
    };
    let source = open(&file, 4).unwrap();
    let mut blocks = source.new_blocks();
    source.load(&[0, 1], &mut blocks).unwrap();
    assert_eq!(blocks[0].samples(0).bytes(), bytemuck::bytes_of(&[3i32, 3, 1]));
    assert!(open(&file, 3).unwrap().fault(0).is_some());
    for end in 0..file.len() {
        let cut = open(&file[..end], 4);
        assert!(cut.is_err() || cut.unwrap().index().len() < 2, "{end}");
    }
}

#[test]
fn binary_labels_are_bounded_and_have_a_key_once() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.bmlf");
    let utterance = |key: u32, frames: u32, segments: u16, each: u16| {
        let mut bytes = [key.to_le_bytes(), frames.to_le_bytes()].concat();
        bytes.extend(segments.to_le_bytes());
        for _ in 0..segments {
            bytes.extend([0, 0]);
            bytes.extend(each.to_le_bytes());
        }
        bytes
    };
    // 262 kB that claim 4 billion frames, with and without saying so, and a key again.
    let most = u32::from(u16::MAX) * u32::from(u16::MAX);
    let parts = [
        b"MLF\x01\x00".to_vec(),
        utterance(1, 20, u16::MAX, u16::MAX),
        utterance(2, most, u16::MAX, u16::MAX),
        utterance(3, 2, 1, 2),
        utterance(3, 4, 1, 4),
    ];
    fs::write(&path, parts.concat()).unwrap();
    let options = MlfOptions { dim: Some(1), binary: true, ..MlfOptions::default() };
    let source = MlfSource::open(&[path.clone().into()], &options, &keys).unwrap();
    assert_eq!((source.index().len(), source.about().report.total()), (3, 1));
    let text = source.fault(0).unwrap().to_string();
    assert!(text.contains("expected 20, found 4294836225"), "{text}");
    let text = source.fault(1).unwrap().to_string();
    assert!(text.contains("4294836225 wanted") && text.contains("key 2"), "{text}");
    assert!(source.fault(2).is_none());
    assert_eq!(source.index().samples(2), 2);
}
