//! Posteriors and sparse matrices as a source.

use std::fs;
use std::path::Path;

use seqfeed_core::{Element, Extent, Kind, Result, Source, Tolerance};
use seqfeed_io::Opener;
use seqfeed_kaldi::{
    Holder, Mode, Posterior, Role, SparseMatrix, SparseSource, SparseVector, TableOptions,
    write_object,
};

/// For each frame pairs of a number and its weight.
type Frames = Vec<Vec<(i32, f32)>>;

fn posteriors() -> Vec<(&'static str, Frames)> {
    vec![
        ("b", vec![vec![(3, 1.0)], vec![], vec![(7, 0.5), (1, 0.25), (7, 0.25)]]),
        ("a", vec![vec![(0, -2.5)]]),
        ("c", vec![vec![]; 4]),
    ]
}

fn archive<T: Holder>(objects: &[(&str, T)], mode: Mode) -> (Vec<u8>, Vec<usize>) {
    let (mut bytes, mut places) = (Vec::new(), Vec::new());
    for (key, object) in objects {
        bytes.extend_from_slice(format!("{key} ").as_bytes());
        places.push(bytes.len());
        write_object(object, &mut bytes, mode).unwrap();
    }
    (bytes, places)
}

fn options() -> TableOptions {
    TableOptions::new("post", Role::Features, Element::F32)
}

fn open(name: String) -> Result<SparseSource> {
    SparseSource::open(&[name], None, &options())
}

/// All sequences, in a wrong order and by two calls.
fn loaded(source: &SparseSource) -> Vec<(String, Frames)> {
    let count = source.index().len() as u32;
    let mut found = Vec::new();
    for sequence in (0..count).rev() {
        let mut blocks = source.new_blocks();
        source.load(&[sequence], &mut blocks).unwrap();
        let samples = blocks[0].sparse_samples(0);
        let value =
            |at: usize| f32::from_ne_bytes(samples.values[at * 4..at * 4 + 4].try_into().unwrap());
        let frames = (0..samples.len()).map(|frame| {
            let of_frame = samples.values_in(frame..frame + 1);
            of_frame.map(|at| (samples.indices[at], value(at))).collect()
        });
        found.push((source.index().key(sequence).to_string(), frames.collect()));
    }
    found.reverse();
    found
}

fn expected() -> Vec<(String, Frames)> {
    posteriors().into_iter().map(|(key, frames)| (key.to_owned(), frames)).collect()
}

fn write(path: &Path, bytes: &[u8]) -> String {
    fs::write(path, bytes).unwrap();
    format!("ark:{}", path.display())
}

#[test]
fn posteriors_come_out_of_archives_and_script_files() {
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path();
    let objects: Vec<_> = posteriors().into_iter().map(|(k, f)| (k, Posterior(f))).collect();
    for mode in [Mode::Binary, Mode::Text] {
        let (bytes, places) = archive(&objects, mode);
        let source = open(write(&at.join("post.ark"), &bytes)).unwrap();
        let stream = &source.streams()[0];
        assert_eq!((stream.kind, stream.dim, stream.element), (Kind::Sparse, 8, Element::F32));
        assert_eq!(loaded(&source), expected());
        assert!(source.about().spooled_bytes > 0 && source.about().format.contains("3 posteriors"));
        let lines = objects.iter().zip(&places).rev();
        let script: String = lines
            .map(|((key, _), place)| format!("{key} {}/post.ark:{place}\n", at.display()))
            .collect();
        fs::write(at.join("post.scp"), script).unwrap();
        let by_script = open(format!("scp:{}", at.join("post.scp").display())).unwrap();
        let mut reversed = expected();
        reversed.reverse();
        assert_eq!(loaded(&by_script), reversed);
    }
}

#[test]
fn files_are_looked_for_as_by_other_sources() {
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path();
    fs::create_dir_all(at.join("train")).unwrap();
    write(&at.join("train/post.ark"), b"a [ 3 1 ] \n");
    // Beside the script file, and relative to where the rspecifier's own name is relative to.
    for name in ["post.ark:2", "train/post.ark:2"] {
        fs::write(at.join("train/post.scp"), format!("a {name}\n")).unwrap();
        let options =
            TableOptions { opener: Opener::default().in_directory(Some(at.into())), ..options() };
        let tables = ["scp:train/post.scp".to_owned()];
        let source = SparseSource::open(&tables, None, &options).unwrap();
        assert_eq!(loaded(&source), [("a".to_owned(), vec![vec![(3, 1.0)]])]);
        let archive = ["ark:train/post.ark".to_owned()];
        assert_eq!(SparseSource::open(&archive, None, &options).unwrap().index().len(), 1);
    }
}

#[test]
fn sparse_matrices_are_the_same_and_say_their_dimension() {
    let directory = tempfile::tempdir().unwrap();
    let matrix = |frames: Frames| SparseMatrix {
        rows: frames.into_iter().map(|pairs| SparseVector { dim: 20, pairs }).collect(),
    };
    let objects: Vec<_> = posteriors().into_iter().map(|(k, f)| (k, matrix(f))).collect();
    for mode in [Mode::Binary, Mode::Text] {
        let (bytes, _) = archive(&objects, mode);
        let source = open(write(&directory.path().join("sparse.ark"), &bytes)).unwrap();
        assert_eq!(source.streams()[0].dim, 20);
        assert_eq!(loaded(&source), expected());
        assert!(source.about().format.contains("3 sparse matrices"));
    }
}

#[test]
fn what_does_not_fit_is_refused_or_left_out() {
    let directory = tempfile::tempdir().unwrap();
    let name =
        write(&directory.path().join("post.ark"), b"a [ 1 1 ] \nb [ -1 1 ] \nc [ 9 1 ] [ 1 1 ] \n");
    let tables = std::slice::from_ref(&name);
    let error = SparseSource::open(tables, None, &options()).unwrap_err();
    assert!(error.to_string().contains("a number is -1, expected 0 or more"), "{error}");
    assert_eq!(error.place().key.as_deref(), Some("b"));
    let skip = TableOptions { errors: Tolerance::Skip, ..options() };
    let source = SparseSource::open(tables, Some(9), &skip).unwrap();
    assert_eq!((source.index().len(), source.about().faults.len()), (1, 2));
    assert_eq!(source.streams()[0].dim, 9);
    let one = TableOptions { extent: Some(Extent::Sequence), ..skip };
    let source = SparseSource::open(tables, None, &one).unwrap();
    assert_eq!((source.index().len(), source.about().faults.len()), (1, 2));
    let cut = write(&directory.path().join("cut.ark"), b"a [ 1 1 ] \nb [ 1 ");
    assert!(SparseSource::open(std::slice::from_ref(&cut), None, &options()).is_err());
    let permitted = open(cut.replace("ark:", "ark,p:")).unwrap();
    assert_eq!(permitted.index().len(), 1);
    assert!(!permitted.about().report.dropped.is_empty());
}

#[test]
fn commands_run_where_they_may() {
    let directory = tempfile::tempdir().unwrap();
    write(&directory.path().join("post.ark"), b"a [ 1 1 ] \n");
    let command = format!("cat {} |", directory.path().join("post.ark").display());
    assert!(open(format!("ark:{command}")).is_err());
    let allowed = TableOptions { opener: Opener::with_given_pipes(), ..options() };
    let source = SparseSource::open(&[format!("ark:{command}")], None, &allowed).unwrap();
    assert_eq!(source.index().len(), 1);
    // What a script file names is not what the caller named.
    let script = directory.path().join("post.scp");
    let object = command.replace("cat", "tail -c +3");
    fs::write(&script, format!("a {object}\n")).unwrap();
    let script = [format!("scp:{}", script.display())];
    assert!(SparseSource::open(&script, None, &allowed).is_err());
    let both = TableOptions { opener: Opener::with_pipes(), ..allowed };
    assert_eq!(SparseSource::open(&script, None, &both).unwrap().index().len(), 1);
}
