//! Names of files are bytes: those in Latin-1 and GBK come through every command, and no two of
//! them become one.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;
use std::process::Output;

use crate::corpora::corpus;
use crate::program::seqfeed;

/// "ä" in Latin-1, "å" in Latin-1, "你好" in GBK.
const A: &[u8] = b"\xe4";
const B: &[u8] = b"\xe5";
const GBK: &[u8] = b"\xc4\xe3\xba\xc3";

fn name(parts: &[&[u8]]) -> OsString {
    OsString::from_vec(parts.concat())
}

/// Runs the program; it must succeed.
fn run(directory: &Path, arguments: &[OsString]) -> Output {
    let output = seqfeed(directory, &[]).args(arguments).output().unwrap();
    let log = output.stderr.escape_ascii();
    assert!(output.status.success(), "{arguments:?}: {log}");
    output
}

fn words(words: &[&[u8]]) -> Vec<OsString> {
    words.iter().map(|word| OsStr::from_bytes(word).to_owned()).collect()
}

/// The names in a directory, sorted.
fn names(directory: &Path) -> Vec<Vec<u8>> {
    let entries = fs::read_dir(directory).unwrap();
    let mut names: Vec<Vec<u8>> =
        entries.map(|entry| entry.unwrap().file_name().into_vec()).collect();
    names.sort();
    names
}

/// A corpus in a directory of a GBK name, and its script file beside it.
fn prepared(root: &Path) -> std::path::PathBuf {
    let directory = root.join(name(&[GBK]));
    fs::create_dir(&directory).unwrap();
    corpus(4).write(&directory);
    directory
}

#[test]
fn objects_go_to_the_files_that_a_script_file_names() {
    for tool in [&[&b"copy"[..]][..], &[b"kaldi", b"copy-feats"]] {
        let root = tempfile::tempdir().unwrap();
        let at = prepared(root.path());
        let script = [
            &b"spk0-utt000 out/o\xe4.mat\nspk0-utt001 out/o\xe5.mat\n"[..],
            b"spk0-utt002 out/\xc4\xe3.mat\nspk0-utt003 out/\xc4\xe4.mat\n",
        ];
        fs::write(at.join("w.scp"), script.concat()).unwrap();
        fs::create_dir(at.join("out")).unwrap();
        run(&at, &[words(tool), words(&[b"scp:feats.scp", b"scp:w.scp"])].concat());
        let expected = [&b"o\xe4.mat"[..], b"o\xe5.mat", b"\xc4\xe3.mat", b"\xc4\xe4.mat"];
        let mut expected: Vec<Vec<u8>> = expected.map(<[u8]>::to_vec).to_vec();
        expected.sort();
        assert_eq!(names(&at.join("out")), expected);
        // Each file holds its own object, and the script file reads them again.
        let back = run(&at, &[words(tool), words(&[b"scp:w.scp", b"ark:-"])].concat()).stdout;
        assert_eq!(back, fs::read(at.join("feats.ark")).unwrap());
    }
}

#[test]
fn archives_and_their_script_files_keep_their_names() {
    let root = tempfile::tempdir().unwrap();
    let at = prepared(root.path());
    let whole = fs::read(at.join("feats.ark")).unwrap();
    run(&at, &words(&[b"copy", b"scp:feats.scp", b"ark,scp:\xe4.ark,\xe5.scp"]));
    assert_eq!(fs::read(at.join(name(&[A, b".ark"]))).unwrap(), whole);
    let script = fs::read(at.join(name(&[B, b".scp"]))).unwrap();
    assert!(script.starts_with(b"spk0-utt000 \xe4.ark:12\n"), "{}", script.escape_ascii());
    for tool in [&[&b"copy"[..]][..], &[b"kaldi", b"copy-feats"]] {
        for table in
            [&b"scp:\xe5.scp"[..], b"ark:\xe4.ark", b"ark:cat \xe4.ark |", b"scp:cat \xe5.scp |"]
        {
            let read = run(&at, &[words(tool), words(&[table, b"ark:-"])].concat());
            assert_eq!(read.stdout, whole, "{}", table.escape_ascii());
        }
        run(&at, &[words(tool), words(&[b"scp:\xe5.scp", b"ark:| cat > \xc4\xe3.ark"])].concat());
        assert_eq!(fs::read(at.join(name(&[b"\xc4\xe3.ark"]))).unwrap(), whole);
    }
    run(&at, &words(&[b"copy", b"ark:\xe4.ark", b"ark:\xe5.JOB.ark", b"--split", b"2"]));
    assert!(at.join(name(&[B, b".1.ark"])).exists() && at.join(name(&[B, b".2.ark"])).exists());
}

#[test]
fn corpora_of_every_format_are_written_and_read_by_such_names() {
    let root = tempfile::tempdir().unwrap();
    let at = prepared(root.path());
    run(&at, &words(&[b"copy", b"scp:feats.scp", b"ark,scp:\xe4.ark,\xe4.scp"]));
    run(&at, &words(&[b"copy", b"ark:ali.ark", b"ark:\xe5.ali.ark"]));
    let sinks: [(&[u8], &[u8]); 9] = [
        (b"out\xe4.ctf", b"out\xe4.ctf"),
        (b"out\xe4.pfile", b"out\xe4.pfile"),
        (b"out\xe4.pickle", b"out\xe4.pickle"),
        (b"out\xe4.npz", b"out\xe4.npz"),
        (b"out\xe4.parquet", b"out\xe4.parquet"),
        (b"out\xe4.arrow", b"out\xe4.arrow"),
        (b"out\xe4.htk", b"out\xe4.toml"),
        (b"htk-files:files\xe4", b"files\xe4.toml"),
        (b"kaldi:tables\xe4", b"tables\xe4.toml"),
    ];
    for (sink, corpus) in sinks {
        let shown = sink.escape_ascii().to_string();
        let source = [&b"scp:\xe4.scp"[..], b"--labels", b"ark:\xe5.ali.ark"];
        let options = [&b"--allow-lossy"[..], b"--describe"];
        run(&at, &[words(&[b"convert"]), words(&source), words(&[sink]), words(&options)].concat());
        for command in [&b"info"[..], b"check", b"describe"] {
            run(&at, &words(&[command, corpus]));
        }
        let described = run(&at, &words(&[b"describe", corpus])).stdout;
        fs::write(at.join("again.toml"), described).unwrap();
        let feed = [&b"--dump"[..], b"jsonl", b"--batch-size", b"4"];
        let dump = |corpus: &[u8]| run(&at, &[words(&[b"feed", corpus]), words(&feed)].concat());
        assert_eq!(dump(corpus).stdout, dump(b"again.toml").stdout, "{shown}");
        // A description names what lies beside it, seen from elsewhere too.
        let from = name(&[GBK, b"/", corpus]);
        run(root.path(), &[OsString::from("info"), from]);
    }
    let foreign = |name: &Vec<u8>| name.windows(3).any(|bytes| bytes == "\u{fffd}".as_bytes());
    let escaped = |name: &Vec<u8>| name.windows(2).any(|bytes| bytes == [0xf4, 0x8f]);
    let all = names(&at);
    assert!(!all.iter().any(|name| foreign(name) || escaped(name)), "{all:?}");
}

#[test]
fn descriptions_configurations_and_options_name_such_files() {
    let root = tempfile::tempdir().unwrap();
    let at = prepared(root.path());
    run(&at, &words(&[b"copy", b"scp:feats.scp", b"ark,scp:\xe4.ark,\xe4.scp"]));
    // TOML is Unicode: the byte E4 stands as U+10FEE4.
    let text = "[streams.features]\nsource = \"scp:\\U0010FEE4.scp\"\n";
    fs::write(at.join("corpus.toml"), text).unwrap();
    let dump = [&b"--dump"[..], b"jsonl", b"--order", b"sequential"];
    let feed = |corpus: &[u8]| run(&at, &[words(&[b"feed", corpus]), words(&dump)].concat());
    assert_eq!(feed(b"corpus.toml").stdout, feed(b"scp:feats.scp").stdout);
    let described = run(&at, &words(&[b"describe", b"scp:\xe4.scp"])).stdout;
    let described = String::from_utf8(described).unwrap();
    assert!(described.contains("# scp:\\xe4.scp"), "{described}");
    // A state, a picture, a repaired copy.
    run(&at, &words(&[b"feed", b"scp:\xe4.scp", b"--state", b"\xe5.json"]));
    run(&at, &words(&[b"show", b"scp:\xe4.scp", b"spk0-utt000", b"--png", b"\xe5.png"]));
    run(&at, &words(&[b"check", b"scp:\xe4.scp", b"--fix", b"\xe5.fixed"]));
    for made in [&b".json"[..], b".png", b".fixed/corpus.toml"] {
        assert!(at.join(name(&[B, made])).exists(), "{}", made.escape_ascii());
    }
    run(&at, &words(&[b"info", b"\xe5.fixed/corpus.toml"]));
    // CNTK's configurations are read byte by byte, comments in other encodings too.
    run(&at, &words(&[b"convert", b"scp:\xe4.scp", b"\xe4.ctf", b"--allow-lossy"]));
    let config =
        b"reader = [ readerType = CNTKTextFormatReader # \xc4\xe3\n file = \"\xe4.ctf\"\n \
                   input = [ features = [ alias = \"features\" ; dim = 3 ; format = \"dense\" ] ] ]\n";
    fs::write(at.join(name(&[B, b".cntk"])), config).unwrap();
    run(&at, &words(&[b"feed", b"\xe5.cntk#reader"]));
    // A specification of PDNN with a pattern.
    run(&at, &words(&[b"convert", b"scp:\xe4.scp", b"\xe4.pfile", b"--allow-lossy"]));
    run(&at, &words(&[b"feed", b"\xe4*.pfile,context=1", b"--batch-size", b"4"]));
}

#[test]
fn messages_show_what_is_no_text() {
    let root = tempfile::tempdir().unwrap();
    let arguments = words(&[b"copy", b"ark:no\xe4.ark", b"ark:-"]);
    let output = seqfeed(root.path(), &[]).args(arguments).output().unwrap();
    assert!(output.stderr.ends_with(b"  --> no\\xe4.ark\n"), "{}", output.stderr.escape_ascii());
    // Names that stand in descriptions and options, which are text, too.
    fs::write(root.path().join("m.txt"), "a [\n 1 2 ]\n").unwrap();
    let commands: [&[&[u8]]; 6] = [
        &[b"convert", b"ark:m.txt", b"o\xe4.foo"],
        &[b"convert", b"ark:m.txt", b"o\xe4/o.pfile", b"--allow-lossy"],
        &[b"feed", b"o\xe4.toml"],
        &[b"feed", b"ark:m.txt", b"--labels", b"o\xe4.mlf", b"--states", b"o\xe4.list"],
        &[b"info", b"o\xe4.pfile,context=x"],
        &[b"show", b"o\xe4.cntk#reader"],
    ];
    for command in commands {
        let output = seqfeed(root.path(), &[]).args(words(command)).output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(!output.status.success() && said.contains("o\\xe4"), "{said}");
        assert!(!said.contains('\u{10fee4}'), "{said}");
    }
    // The tools' log echoes the command line byte by byte, as Kaldi's.
    let arguments = words(&[b"kaldi", b"copy-feats", b"ark:no\xe4.ark", b"ark:-"]);
    let output = seqfeed(root.path(), &[]).args(arguments).output().unwrap();
    assert!(output.stderr.starts_with(b"copy-feats 'ark:no\xe4.ark' ark:- \n"));
}

/// Nothing is turned into text with loss on its way to the file system: names and paths are shown
/// by `shown_name`, keys and other bytes by `Key`; both say what they cannot show. Text becomes a
/// path by `path_from_text` alone.
#[test]
fn no_name_is_converted_with_loss() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut found = Vec::new();
    let mut directories: Vec<_> = fs::read_dir(root.join("crates")).unwrap().collect();
    directories.extend(fs::read_dir(root.join("python")).unwrap());
    let mut files = Vec::new();
    for directory in directories {
        let directory = directory.unwrap().path();
        let source =
            if directory.ends_with("python/src") { directory } else { directory.join("src") };
        collect(&source, &mut files);
    }
    assert!(files.len() > 200, "{} files", files.len());
    for file in files {
        let text = fs::read_to_string(&file).unwrap();
        // Tests stand at the end.
        let text = text.split("#[cfg(test)]").next().unwrap();
        let code =
            text.lines().enumerate().filter(|(_, line)| !line.trim_start().starts_with("//"));
        for (number, line) in code {
            let lossy = ["from_utf8_lossy", "to_string_lossy", ".display()"];
            if lossy.iter().any(|call| line.contains(call)) {
                found.push(format!("{}:{}: {}", file.display(), number + 1, line.trim()));
            }
        }
    }
    assert!(found.is_empty(), "use shown_name, name_to_text or Key:\n{}", found.join("\n"));
}

fn collect(directory: &Path, files: &mut Vec<std::path::PathBuf>) {
    for entry in fs::read_dir(directory).into_iter().flatten() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => collect(&path, files),
            false if path.extension() == Some("rs".as_ref()) && !path.ends_with("tests.rs") => {
                files.push(path);
            }
            false => {}
        }
    }
}
