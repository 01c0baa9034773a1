//! Shards: together they hold the corpus, also where an earlier run, whose files were tampered
//! with, has left some of them. A record of shards that is none is refused.
#![no_main]

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use checks::MemoryCorpus;
use seqfeed::{Corpus, Description, Result};
use seqfeed_convert::{ConvertOptions, ConvertPlan, ConvertReport, Target, fingerprint};
use seqfeed_core::{JoinPolicy, Source};

const TARGETS: [&str; 10] = [
    "kaldi:D/x",
    "kaldi:D/x.JOB",
    "D/x.parquet",
    "arrow:D/x",
    "D/x.ctf",
    "D/xJOBy.npz",
    "htk:D/x",
    "htk-files:D/JOB",
    "pfile:D/x",
    "pickle:D/x.pfile",
];

/// Converts, and checks what was written.
fn convert(corpus: &Arc<Corpus>, target: &str, shards: usize) -> Result<ConvertReport> {
    let mut options = ConvertOptions::new(Target::parse(target)?);
    (options.allow_lossy, options.describe) = (true, true);
    (options.sharding.shards, options.sharding.jobs) = (shards, 1 + shards % 2);
    let plan = ConvertPlan::new(corpus, options)?;
    let report = plan.run(&|_samples| {})?;
    assert_eq!(report.shards.len(), shards);
    match plan.verify(&report) {
        Ok(verified) => assert_eq!(verified.shards, shards),
        // A name that does not tell what a file holds.
        Err(error) => assert!(error.message().contains("cannot be read back"), "{error}"),
    }
    if let (Some(description), true) = (&report.description, plan.losses().is_empty()) {
        let description = Description::from_file(Path::new(description)).expect("ours");
        let opened = description.open(&Default::default()).expect("what was written can be opened");
        let (found, whole) = (opened.corpus().as_ref(), corpus.as_ref());
        assert_eq!(fingerprint(found).expect("ours"), fingerprint(whole).expect("memory"));
    }
    Ok(report)
}

/// The files of a directory.
fn files(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).expect("a directory");
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    files.retain(|path| path.is_file());
    files.sort();
    files
}

/// Changes a file, but for a shard's content at the same size: a record knows sizes only.
fn tamper(path: &Path, how: u8, at: u8, byte: u8, bytes: &[u8]) {
    let is_record = path.extension() == Some("json".as_ref());
    let mut content = fs::read(path).expect("a file");
    let at = (usize::from(at) * 7).min(content.len());
    match how % 4 {
        0 => return fs::remove_file(path).expect("a file"),
        1 => content.truncate(at),
        2 if is_record => content = bytes.to_vec(),
        3 if is_record && at < content.len() => content[at] = byte,
        _ => content.push(byte),
    }
    fs::write(path, content).expect("a file");
}

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let &[target, shards, which, how, at, byte, ref rest @ ..] = bytes else { return };
    let (count, rest) = rest.split_first().map_or((1, rest), |(&count, rest)| (count, rest));
    let (lengths, rest) = rest.split_at(rest.len().min(usize::from(count % 16)));
    let lengths: Vec<u32> = lengths.iter().map(|&length| u32::from(length % 32)).collect();
    let source: Arc<dyn Source> = Arc::new(MemoryCorpus::new(&lengths, 50));
    let Ok(corpus) = Corpus::join(vec![source], &JoinPolicy::default()) else { return };
    let corpus = Arc::new(corpus);
    let directory = tempfile::tempdir().expect("a temporary directory");
    let base = directory.path().to_str().expect("names of temporary files are text");
    let target = TARGETS[usize::from(target) % TARGETS.len()].replace('D', base);
    let shards = usize::from(shards % 18);
    let Ok(first) = convert(&corpus, &target, shards) else {
        assert!(files(directory.path()).is_empty(), "a conversion that is refused leaves nothing");
        return;
    };
    let files = files(directory.path());
    tamper(&files[usize::from(which) % files.len()], how, at, byte, rest);
    // Refused, or all is there again.
    if let Ok(second) = convert(&corpus, &target, shards) {
        assert_eq!(second.fingerprint, first.fingerprint);
    }
});
