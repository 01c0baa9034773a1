//! Names at the front door: of corpora, and of what is written. What is parsed is printed and
//! parsed to the same.
#![no_main]

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

use checks::inside;
use seqfeed::{Description};
use seqfeed_convert::{Target};
use seqfeed_io::{Opener, name_from_text, name_to_text};

fn corpus(name: &OsStr) {
    let text = &name_to_text(name);
    if let Ok(Some((name, keys, _))) = Description::split_data_spec(text, &Opener::default()) {
        assert!(text.starts_with(&name));
        Description::from_options(keys).expect("they are options");
    }
    let named = match Description::of_name(name) {
        Ok(named) => named,
        Err(error) => return assert!(!error.message().is_empty()),
    };
    let description = named.description;
    if Description::is_data_spec(text, &Opener::default()) && description.corpus.data.is_some() {
        assert_eq!(description.corpus.data.as_deref(), Some(text.as_str()));
    }
    let written = description.to_toml();
    let again = Description::from_toml(&written).expect("what was written can be read");
    assert_eq!(again.to_toml(), written);
}

fn target(name: &OsStr) {
    let Ok(target) = Target::parse(name) else { return };
    let of_tables = target.format().capabilities().file_a_stream;
    let printed = match of_tables {
        true => target.name().to_owned(),
        false => format!("{}:{}", target.format().name(), target.name()),
    };
    assert_eq!(Target::parse(&name_from_text(&printed)).expect("what was parsed"), target);
    if let Some(beside) = target.description_file() {
        // Of a table the script file may be one where the archive goes to standard output.
        assert!(!target.is_standard_output() || of_tables);
        assert!(beside.extension() == Some("toml".as_ref()));
    }
}

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let name = OsStr::from_bytes(bytes);
    target(name);
    // Names of other directories could be anything on this machine.
    if bytes.contains(&b'/') || bytes.contains(&0) {
        return;
    }
    let directory = tempfile::tempdir().expect("a temporary directory");
    let written = [
        ("c.toml", "[streams.features]\nsource = \"ark:f\"\n[feed]\nseed = 1\n"),
        ("h.scp", "a=h.mfc[0,9]\n"),
        ("x.mlf", "#!MLF!#\n\"*/a.lab\"\n0 1 a\n.\n"),
    ];
    for (name, content) in written {
        std::fs::write(directory.path().join(name), content).expect("a file");
    }
    inside(directory.path(), || corpus(name));
});
