//! Formats as cargo features: those that were built are fed, names and keys of the others say what
//! is missing. `cargo xtask combinations` runs this with each feature alone, none, and all.
#![allow(clippy::unwrap_used)]

#[cfg(feature = "arrow")]
#[path = "it/row_files.rs"]
mod row_files;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use seqfeed::io::Opener;
use seqfeed::{
    Capabilities, CorpusSpool, Description, Element, Extent, Format, Key, Kind, OrderName, Partial,
    Result, Source, Stream, Wanted, register, written_format,
};

/// What all files here hold: two sequences of samples of two values.
const SEQUENCES: [(&str, &[f32]); 2] = [("a", &[1.0, 2.0, 3.0, 4.0]), ("b", &[5.0, 6.0])];

/// A format that is no part of the library: it holds [`SEQUENCES`], whatever stands in the file.
struct Constant;

impl Format for Constant {
    fn name(&self) -> &'static str {
        "constant"
    }

    fn capabilities(&self) -> &Capabilities {
        &Capabilities { ends: &["constant"], ..Capabilities::EVERYTHING }
    }

    fn open(&self, names: &[String], wanted: &Wanted<'_>) -> Result<Arc<dyn Source>> {
        let name = wanted.stream.unwrap_or("features").to_owned();
        let (kind, element, extent) = (Kind::Dense, Element::F32, Extent::Samples);
        let stream = Stream { name, kind, element, dim: 2, extent };
        let mut spool = CorpusSpool::new(&names[0], vec![stream])?;
        for (key, values) in SEQUENCES {
            let mut blocks = spool.new_blocks();
            blocks[0].push_f32(values.len() / 2).copy_from_slice(values);
            spool.push(Key(key.as_bytes()), &blocks, 0)?;
        }
        Ok(spool.finish()?)
    }
}

/// Registered once, whichever test comes first.
fn register_constant() {
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(|| register(&Constant).unwrap());
}

struct Files(tempfile::TempDir);

impl Files {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn write(&self, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        std::fs::write(self.path(name), bytes).unwrap();
        self.path(name)
    }
}

/// All values that a name is fed as, in their order.
fn fed(name: &str) -> Vec<f32> {
    let mut description = Description::of_name(name).unwrap().description;
    description.feed.sweeps = Some(1);
    description.feed.order = Some(OrderName::Sequential);
    description.feed.partial = Some(Partial::Keep);
    let opened = description.open(&Opener::default()).unwrap();
    let stream = opened.corpus().streams()[0].name.clone();
    let mut values = Vec::new();
    for minibatch in opened.feed(None).unwrap() {
        values.extend_from_slice(minibatch.unwrap().dense(&stream).unwrap());
    }
    values
}

fn expect(before: &str, path: &Path) {
    let expected: Vec<f32> = SEQUENCES.iter().flat_map(|(_, values)| values.to_vec()).collect();
    assert_eq!(fed(&format!("{before}{}", path.display())), expected);
}

#[test]
fn a_format_of_ones_own_needs_none_of_the_features() {
    register_constant();
    let files = Files::new();
    expect("", &files.write("x.constant", ""));
    assert_eq!(written_format("x.constant").unwrap().unwrap().0.name(), "constant");
}

#[cfg(feature = "kaldi")]
#[test]
fn kaldi_tables_are_fed() {
    let files = Files::new();
    expect("ark:", &files.write("x.ark", "a  [\n 1 2\n 3 4 ]\nb  [\n 5 6 ]\n"));
}

#[cfg(feature = "htk")]
#[test]
fn htk_parameter_files_are_fed() {
    let files = Files::new();
    let mut script = String::new();
    for (key, values) in SEQUENCES {
        // Number of frames, their period in 100 ns, bytes of one, kind: USER.
        let mut bytes = (values.len() as i32 / 2).to_be_bytes().to_vec();
        bytes.extend(100_000_i32.to_be_bytes());
        bytes.extend([0, 8, 0, 9]);
        bytes.extend(values.iter().flat_map(|value| value.to_be_bytes()));
        script += &format!("{}\n", files.write(&format!("{key}.htk"), bytes).display());
    }
    expect("htk:", &files.write("x.scp", script));
}

#[cfg(feature = "cntk")]
#[test]
fn ctf_files_are_fed_by_name_and_by_a_reader() {
    let files = Files::new();
    let file = files.write("x.ctf", "0 |x 1 2\n0 |x 3 4\n1 |x 5 6\n");
    let values: Vec<f32> = fed(&file.display().to_string());
    // Sequences side by side are padded.
    assert_eq!(values.iter().sum::<f32>(), 21.0);
    let reader = format!(
        "reader=[readerType=CNTKTextFormatReader; file=\"{}\"; randomize=false\n\
         input=[x=[dim=2; format=dense]]]\n",
        file.display()
    );
    let reader = files.write("x.cntk", reader);
    assert_eq!(fed(&format!("{}#reader", reader.display())).iter().sum::<f32>(), 21.0);
}

#[cfg(feature = "pdnn")]
#[test]
fn numpys_arrays_are_fed_by_a_data_specification() {
    let files = Files::new();
    let mut bytes = b"\x93NUMPY\x01\x00\x76\x00".to_vec();
    let header = "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 2), }";
    bytes.extend(format!("{header:117}\n").bytes());
    bytes.extend(
        SEQUENCES.iter().flat_map(|(_, values)| values.iter()).flat_map(|v| v.to_le_bytes()),
    );
    let file = files.write("x.npy", bytes);
    let values = fed(&format!("{},partition=1m", file.display()));
    assert_eq!(values, [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
}

#[cfg(feature = "arrow")]
#[test]
fn parquet_files_are_fed() {
    register_constant();
    let files = Files::new();
    let constant = Description::of_name("x.constant").unwrap().description;
    let constant = constant.open(&Opener::default()).unwrap();
    let options = seqfeed::arrow::WriteOptions::default();
    row_files::write_rows(constant.corpus().as_ref(), &files.path("x.parquet"), &options);
    expect("", &files.path("x.parquet"));
}

#[test]
fn names_and_keys_of_formats_that_were_left_out_name_the_feature() {
    // Feature, whether it is built, a name, options, a name to be written.
    let cases = [
        ("kaldi", cfg!(feature = "kaldi"), "ark:x.ark", "features = 'scp:x.scp'", "ark,scp:x,y"),
        ("htk", cfg!(feature = "htk"), "htk:x", "labels = 'train.mlf'", "x.htk"),
        ("cntk", cfg!(feature = "cntk"), "x.ctf.gz", "reader = 'x.cntk#reader'", "x.ctf"),
        ("pdnn", cfg!(feature = "pdnn"), "x.pfile,context=1", "data = 'x.pfile'", "x.npz"),
        ("arrow", cfg!(feature = "arrow"), "x.parquet#f", "corpus = 'x.arrow'", "arrow:x"),
    ];
    let open = |description: Description| description.open(&Opener::default()).map(drop);
    for (feature, is_built, name, options, target) in cases {
        let options = Description::from_options(options.parse().unwrap()).unwrap();
        let errors = [
            Description::of_name(name).and_then(|named| open(named.description)).unwrap_err(),
            open(options.clone()).unwrap_err(),
        ];
        for error in errors {
            let names_it = error.message().contains(&format!("cargo feature `{feature}`"));
            assert_eq!(names_it, !is_built, "{error}");
            assert!(is_built || error.is_usage() && error.help().is_some(), "{error}");
        }
        let written = written_format(target);
        assert_eq!(written.is_ok_and(|found| found.is_some()), is_built, "{target}");
        assert_eq!(options.open_unjoined(&Opener::default()).is_err(), !is_built, "{feature}");
    }
    let states = "[streams.labels]\nsource = 'x.constant'\nkind = 'label'\nstates = 'x.states'";
    let error = open(Description::from_toml(states).unwrap()).err();
    let names_it = error.is_some_and(|error| error.message().contains("cargo feature `htk`"));
    assert_eq!(names_it, !cfg!(feature = "htk"));
    let tokens = "[streams.labels]\nsource = 'text:x'\nkind = 'label'\ntokenizer = 'x.json'";
    let error = open(Description::from_toml(tokens).unwrap()).unwrap_err();
    let names_it = error.message().contains("cargo feature `tokenizers`");
    assert_eq!(names_it, !cfg!(feature = "tokenizers"), "{error}");
}
