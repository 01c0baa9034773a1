//! Options of Kaldi's tools: any words end with an exit code that says what was logged, twice the
//! same; nothing half-written stays.
#![no_main]

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use checks::inside;
use seqfeed_io::Opener;
use seqfeed_kaldi_tools::{Surroundings, TOOLS};

/// What there is to read. One key has control characters.
const FILES: [(&str, &[u8]); 7] = [
    ("f", b"a  [\n 1 2\n 3 4\n 5 6 ]\nb  [\n -1 0.5 ]\n"),
    ("i", b"a 1 2 3\nb 7\n"),
    ("v", b"a  [ 0.5 1 ]\nb  [ 2 ]\nx\x1b[2J  [ 1 ]\n"),
    ("s", b"a f:2\nb f:25\n"),
    ("m", b" [\n 1 0 1\n 0 2 0 ]\n"),
    ("g", b"s a 0 0.02\nt b 0.01 0.01\n"),
    ("c", b"--scale=2\n--binary=false\n# comment\n--context=1\n"),
];

/// Exit code, log, output, and all files afterwards.
type Outcome = (u8, Vec<u8>, Vec<u8>, BTreeMap<String, Vec<u8>>);

fn run(tool: u8, words: &[String]) -> Outcome {
    let directory = tempfile::tempdir().expect("a temporary directory");
    FILES.iter().for_each(|(name, content)| {
        fs::write(directory.path().join(name), content).expect("a file");
    });
    let tool = &TOOLS[usize::from(tool) % TOOLS.len()];
    let (mut out, mut log) = (Vec::new(), Vec::new());
    let code = inside(directory.path(), || {
        let around = Surroundings { opener: Opener::default(), out: &mut out, log: &mut log };
        tool.run(tool.name, words, around)
    });
    (code, log, out, files(directory.path()))
}

fn files(directory: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = fs::read_dir(directory).expect("a directory");
    let file = |entry: std::io::Result<fs::DirEntry>| {
        let path = entry.expect("an entry").path();
        (path.display().to_string(), fs::read(&path).unwrap_or_default())
    };
    entries
        .map(file)
        .map(|(name, content)| (name.replace(&*directory.to_string_lossy(), ""), content))
        .collect()
}

// The first byte is the tool, words stand in lines.
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let Some((tool, bytes)) = checks::choose(bytes) else { return };
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    // Names of other directories and commands could be anything on this machine.
    if text.contains(['/', '|', '\0']) {
        return;
    }
    let words: Vec<String> = text.lines().map(str::to_owned).collect();
    let first = run(tool, &words);
    let (code, log, _, files) = &first;
    assert!(matches!(code, 0 | 1 | 141 | 255), "exit code {code}");
    let says =
        |start: &[u8]| log.split(|&byte| byte == b'\n').filter(|l| l.starts_with(start)).count();
    assert!(says(b"ERROR (") <= usize::from(*code != 0), "an error ends a call, and not with 0");
    let reasons = [&b"ERROR ("[..], b"WARNING (", b"LOG (", b"Usage: "];
    assert!(matches!(code, 0 | 141) || reasons.iter().any(|start| says(start) > 0), "no reason");
    assert!(files.keys().all(|name| !name.contains(".part")), "{:?}", files.keys());
    // What the user typed comes back as it is; what comes from data is escaped.
    if !text.contains(|c: char| c.is_control() && c != '\n') {
        let control = |&byte: &u8| byte < b' ' && byte != b'\n' && byte != b'\t';
        assert!(!log.iter().any(control), "{}", log.escape_ascii());
    }
    assert_eq!(run(tool, &words), first);
});
