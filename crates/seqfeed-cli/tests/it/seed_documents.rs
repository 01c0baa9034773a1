//! The examples in the documents of the four systems, each with what comes of it.
//!
//! Examples are taken out of the documents when the test runs. [`TABLE`](table::TABLE) knows them
//! by their first words only. What they name is made in a directory of the test: files of the names
//! in them, without a `/` at their start.

mod extraction;
mod table;

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::Stdio;

use Way::{
    Command, Configuration, Header, LabelFile, Line, OptionOfReading, OptionOfWriting, Other, Read,
    Rows, Script, Sentences, Specification, Write,
};

use self::extraction::{Example, examples_of, is_line, quoted};
use self::table::{CTF, PDNN, Row, TABLE};
use crate::program::{examples, seqfeed, shared};

/// What an example is, and so what is done with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// A section of a CNTK configuration: it is fed.
    Configuration,
    /// Rows in CNTK's text format: they are fed.
    Rows,
    /// A name Kaldi reads: a table is copied from it, or an object that a script file names.
    Read,
    /// A name Kaldi writes: a table is copied to it.
    Write,
    /// An option of a name Kaldi reads, one of a name Kaldi writes: a table is copied.
    OptionOfReading,
    OptionOfWriting,
    /// A line of a script file of Kaldi's, or lines of an archive: a table is copied.
    Line,
    /// A command whose arguments are names Kaldi reads: they are there as such.
    Command,
    /// A line of a script file of HTK's.
    Script,
    /// A master label file.
    LabelFile,
    /// The header of an HTK file as a structure.
    Header,
    /// Options or a whole specification of PDNN's.
    Specification,
    /// Sentences of a PFile, as a table: a PFile of them is written and fed.
    Sentences,
    /// Nothing that seqfeed reads; the expected text says why.
    Other,
}

/// A matrix of 60 rows and 101 columns as Kaldi writes it.
fn matrix() -> Vec<u8> {
    let mut bytes = b"\0BFM \x04\x3c\0\0\0\x04\x65\0\0\0".to_vec();
    bytes.extend(
        (0u8..60)
            .flat_map(|row| (0u8..101).map(move |column| (row, column)))
            .flat_map(|(row, column)| (f32::from(row) + f32::from(column) / 128.0).to_le_bytes()),
    );
    bytes
}

/// An archive of three of them.
fn archive() -> Vec<u8> {
    let entry = |key: &str| [key.as_bytes(), b" ", &matrix()].concat();
    [entry("001"), entry("002"), entry("003")].concat()
}

/// An HTK file of so many frames.
fn features(frames: usize, dim: usize) -> Vec<u8> {
    let mut bytes = i32::try_from(frames).unwrap().to_be_bytes().to_vec();
    bytes.extend(100_000i32.to_be_bytes());
    bytes.extend(i16::try_from(4 * dim).unwrap().to_be_bytes());
    bytes.extend(9i16.to_be_bytes());
    bytes.extend((0..frames * dim).flat_map(|_| 0.5f32.to_be_bytes()));
    bytes
}

/// Writes a file into a directory, which is made.
fn put(at: &Path, name: &str, bytes: &[u8]) {
    let path = at.join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, bytes).unwrap();
}

/// Without the `/` at the start of names.
fn relative(text: &str) -> String {
    let text = text.replace(" /", " ").replace(":/", ":").replace(",/", ",").replace("=//", "=");
    text.trim_start_matches('/').to_owned()
}

/// Makes the object that a line of a script file names.
fn make_object(at: &Path, name: &str) {
    let name = name.split('[').next().unwrap_or_default().trim();
    if name.ends_with('|') {
        let mut file = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        file.write_all(&matrix()).unwrap();
        let zipped = name.split([' ', '|']).find(|word| word.ends_with(".gz"));
        if let Some(zipped) = zipped {
            put(at, zipped, &file.finish().unwrap());
        }
        return;
    }
    let (path, offset) = name.rsplit_once(':').unwrap_or((name, "0"));
    let before = vec![b' '; offset.parse().unwrap()];
    put(at, path, &[before, matrix()].concat());
}

/// Makes what an example needs, and the arguments to run it with.
fn prepare(at: &Path, example: &Example, way: Way, all: &[Example]) -> Vec<String> {
    let text = relative(&example.text);
    let arguments = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
    put(at, "in.ark", &archive());
    put(at, "in.scp", b"001 in.ark:4\n");
    match way {
        Configuration if example.document == CTF => {
            let mut configured = String::new();
            for line in example.text.lines() {
                let file = line.trim_start().starts_with("file =");
                configured += if file { "file = data.ctf" } else { line };
                configured.push('\n');
            }
            put(at, "example.cntk", configured.as_bytes());
            // The rows in the document are those of the configuration, as far as there are some.
            let of = |start: &str| {
                let rows = all.iter().find(|e| e.way == Some(Rows) && e.words().starts_with(start));
                rows.unwrap().text.clone()
            };
            let data = match () {
                () if configured.contains("qu1fea") => "1 |qui 5:1 |quj 7:1 |wij 1\n".to_owned(),
                () if configured.contains("alias") => of("100 |a 1 2 3 |b 100 200 100"),
                () => of("|B"),
            };
            put(at, "data.ctf", data.as_bytes());
            arguments(&["feed", "example.cntk"])
        }
        Configuration => {
            put(at, "example.cntk", example.text.as_bytes());
            put(at, "TIMIT.train.scp.fbank.fullpath", b"a=a.fbank[0,3]\n");
            put(at, "a.fbank", &features(4, 72));
            put(at, "TIMIT.train.align_cistate.mlf.cntk", b"#!MLF!#\n\"a.lab\"\n0 400000 s7\n.\n");
            let states: String = (0..183).map(|state| format!("s{state}\n")).collect();
            put(at, "TIMIT.statelist", states.as_bytes());
            arguments(&["feed", "example.cntk,ScpDir=.,MlfDir=."])
        }
        Rows => {
            put(at, "data.ctf", example.text.as_bytes());
            arguments(&["feed", "data.ctf"])
        }
        Line if example.document == PDNN => {
            let (key, rest) = text.split_once(' ').unwrap();
            let (mut scp, mut ali) = (text.clone(), format!("{key}{}\n", " 7".repeat(60)));
            if rest.contains(".ark") {
                make_object(at, rest.trim());
            } else {
                ali.clone_from(&text);
                scp = format!("{key} in.ark:4[0:{}]\n", rest.split(' ').count() - 1);
            }
            put(at, "x.scp", scp.as_bytes());
            put(at, "x.ali", ali.as_bytes());
            arguments(&["feed", "x.scp,label=x.ali,batch=10"])
        }
        Line if !text.contains('/') && !text.contains(".ark") && !text.contains('<') => {
            put(at, "data.ark", text.as_bytes());
            arguments(&["copy", "ark:data.ark", "ark,t:-"])
        }
        Line => {
            let trimmed = text.trim();
            make_object(at, trimmed.split_once(' ').unwrap().1);
            put(at, "x.scp", format!("{}\n", relative(trimmed)).as_bytes());
            arguments(&["copy", "--allow-pipes", "scp:x.scp", "ark,t:-"])
        }
        Command => {
            let (strings, outside) = quoted(text.trim());
            let first = outside.split_whitespace().nth(1).unwrap();
            put(at, first.strip_prefix("ark:").unwrap(), &archive());
            let labels = ["001", "002", "003"].map(|key| format!("{key}{}\n", " 7".repeat(60)));
            put(at, "labels", labels.concat().as_bytes());
            arguments(&["feed", "--features", first, "--labels", strings[0]])
        }
        Read if text.starts_with("ark") || text.starts_with("scp") => {
            let (kind, name) = text.split_once(':').unwrap();
            if !name.ends_with(['-', '|']) {
                let script = kind.starts_with("scp");
                put(at, name, &if script { b"001 in.ark:4\n".to_vec() } else { archive() });
            }
            arguments(&["copy", &text, "ark,t:-"])
        }
        Read if ["", "-"].contains(&&*text) => {
            arguments(&["copy", &format!("ark:{text}"), "ark,t:-"])
        }
        Read => {
            let line = if is_line(&text) { text } else { format!("001 {text}") };
            make_object(at, line.split_once(' ').unwrap().1);
            put(at, "x.scp", format!("{line}\n").as_bytes());
            arguments(&["copy", "--allow-pipes", "scp:x.scp", "ark,t:-"])
        }
        Write => {
            for directory in ["some/dir", "tmp", "data"] {
                fs::create_dir_all(at.join(directory)).unwrap();
            }
            let specifier = text.starts_with("ark") || text.starts_with("scp");
            let to = if specifier { text } else { format!("ark:{text}") };
            arguments(&["copy", "ark:in.ark", &to])
        }
        OptionOfReading => arguments(&["copy", &format!("ark,{text}:in.ark"), "ark,t:-"]),
        OptionOfWriting => arguments(&["copy", "ark:in.ark", &format!("ark,{text}:out.ark")]),
        Script => {
            let (_, rest) = text.trim().split_once('=').unwrap();
            let (path, range) = rest.split_once('[').unwrap_or((rest, "0,3]"));
            let last = range.trim_end_matches(']').rsplit(',').next().unwrap();
            put(at, &path.replace(".../", ""), &features(last.parse::<usize>().unwrap() + 1, 2));
            put(at, "x.scp", text.as_bytes());
            arguments(&["info", "htk:x.scp"])
        }
        LabelFile => {
            let names = text.lines().filter_map(|line| line.split(' ').nth(2));
            let names: BTreeSet<&str> = names.collect();
            put(at, "names", names.into_iter().collect::<Vec<_>>().join("\n").as_bytes());
            put(at, "x.mlf", format!("{text}.\n").as_bytes());
            let key = text.split('"').nth(1).unwrap().replace(".rec", "");
            put(at, "x.scp", format!("{key}=x.mfc[0,27]\n").as_bytes());
            put(at, "x.mfc", &features(28, 2));
            let reader = "reader = [ readerType = HTKMLFReader\n x = [ dim = 2 ; scpFile = x.scp ]\n\
                          y = [ mlfFile = x.mlf ; labelDim = 9 ; labelMappingFile = names ] ]\n";
            put(at, "x.cntk", reader.as_bytes());
            arguments(&["info", "x.cntk"])
        }
        Header => {
            // A file by the structure: its fields in their order, with their sizes.
            let mut bytes = Vec::new();
            for field in text.lines().filter_map(|line| line.trim().strip_suffix(';')) {
                let (size, name) = field.split_once(' ').unwrap();
                let value = match name {
                    "nsamples" => 3i32,
                    "sampperiod" => 100_000,
                    "sampsize" => 8,
                    "sampkind" => 9,
                    other => panic!("{other}"),
                };
                let whole = value.to_be_bytes();
                bytes.extend(if size == "int" { &whole[..] } else { &whole[2..] });
            }
            bytes.extend((0..6).flat_map(|_| 0.5f32.to_be_bytes()));
            put(at, "x.mfc", &bytes);
            put(at, "x.scp", b"x.mfc\n");
            arguments(&["info", "htk:x.scp"])
        }
        Specification if text.starts_with("label=") => {
            put(at, "x.scp", b"001 in.ark:4\n");
            put(
                at,
                text.trim_start_matches("label="),
                format!("001{}\n", " 7".repeat(60)).as_bytes(),
            );
            arguments(&["feed", &format!("x.scp,{text},batch=10")])
        }
        Specification => {
            for name in ["train.pfile", "valid.pfile"] {
                fs::copy(examples().join("digits/train.pfile"), at.join(name)).unwrap();
            }
            let whole = text.contains(".pfile");
            let name = if whole { text } else { format!("train.pfile,{text}") };
            arguments(&["feed", &format!("{name},batch=10")])
        }
        Sentences => {
            let (mut ark, mut ali) = (String::new(), String::new());
            for line in text.lines() {
                let cells: Vec<&str> = line.split('\t').collect();
                let [sentence, frame, values, label] = cells[..] else { panic!("{line}") };
                let values = values.trim_matches(['[', ']']).replace(',', "");
                match frame {
                    "0" => {
                        let _ = write!(
                            ark,
                            "{}{sentence} [\n{values}",
                            if ark.is_empty() { "" } else { " ]\n" }
                        );
                        let _ = write!(
                            ali,
                            "{}{sentence} {label}",
                            if ali.is_empty() { "" } else { "\n" }
                        );
                    }
                    _ => {
                        let _ = write!(ark, "\n{values}");
                        let _ = write!(ali, " {label}");
                    }
                }
            }
            put(at, "x.ark", format!("{ark} ]\n").as_bytes());
            put(at, "x.ali", format!("{ali}\n").as_bytes());
            let streams = ["--features", "ark:x.ark", "--labels", "ark:x.ali"];
            let words = [&["convert"], &streams[..], &["x.pfile", "--allow-lossy"]].concat();
            let output = seqfeed(at, &words).output().unwrap();
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            arguments(&["feed", "--dump=jsonl", "--order=sequential", "x.pfile,batch=3"])
        }
        Other => Vec::new(),
    }
}

/// Runs an example; whether it works, and what it prints.
fn outcome(example: &Example, way: Way, all: &[Example]) -> (bool, String) {
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path();
    let arguments = prepare(at, example, way, all);
    // The command in the documents is `some command`: it reads what it is given, or gives
    // what there is.
    let program = match way {
        Read => "cat in.ark",
        Command => "cat labels",
        _ => "cat > some.out",
    };
    put(at, "bin/some", format!("#!/bin/sh\n{program}\n").as_bytes());
    let mut path = std::ffi::OsString::from(at.join("bin"));
    path.push(":");
    path.push(std::env::var_os("PATH").unwrap());
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        fs::set_permissions(at.join("bin/some"), fs::Permissions::from_mode(0o755)).unwrap();
    }
    if example.text.ends_with('|') && way == Read && !example.text.contains(':') {
        // As a name in a script file it gives one object.
        put(at, "in.ark", &matrix());
    }
    put(at, "stdin", &archive());
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let mut command = seqfeed(at, &words);
    command.env("PATH", path).stdin(Stdio::from(fs::File::open(at.join("stdin")).unwrap()));
    let output = command.output().unwrap();
    let said = [&output.stdout[..], &output.stderr].concat();
    (output.status.success(), String::from_utf8_lossy(&said).into_owned())
}

#[test]
fn every_example_has_its_outcome() {
    let Some(directory) = shared("seeds") else { return };
    let mut all = Vec::new();
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        if name.starts_with(|c: char| c.is_ascii_digit()) {
            all.extend(examples_of(&name[..3], &fs::read_to_string(&path).unwrap()));
        }
    }
    let mut wrong = String::new();
    for example in &all {
        let rows: Vec<&Row> = TABLE.iter().filter(|row| example.is(row)).collect();
        let what = format!("{} {:?} {:.70}", example.document, example.way, example.words());
        if rows.is_empty() {
            let _ = writeln!(wrong, "not in the table: {what}");
        }
        for row in rows {
            if row.2 == Other {
                assert!(row.3.is_err_and(|why| !why.is_empty()), "{what}");
                continue;
            }
            let (works, said) = outcome(example, row.2, &all);
            let (expected, part) = (row.3.is_ok(), row.3.unwrap_or_else(|part| part));
            if works != expected || !said.contains(part) {
                let said: String = said.chars().take(900).collect();
                let _ = writeln!(wrong, "{what} ({:?}), expected {:?}: {said}", row.2, row.3);
            }
        }
    }
    for row in TABLE {
        for document in row.0.split(' ') {
            let row = (document, row.1, row.2, row.3);
            let found = all.iter().filter(|example| {
                let of = example.document == document;
                of && example.is(&(row.0, row.1, row.2, row.3))
            });
            let count = found.count();
            if count != 1 {
                let _ = writeln!(wrong, "{count} examples for {row:?}");
            }
        }
    }
    assert!(wrong.is_empty(), "{} examples:\n{wrong}", all.len());
}
