//! Reads the text of a description's file, and recognises other files.

use std::io;

use seqfeed_core::{Error, ErrorKind, Result};
use seqfeed_io::{Location, Opener};

/// The number of bytes that decide whether a file is text.
const HEAD: usize = 4096;
/// The most bytes of a description.
const LARGEST: u64 = 16 << 20;
const EXPECTED: &str = "a description (corpus.toml) or an rspecifier (scp:feats.scp) is expected";

/// The text of a file, and the right name for the file if it is not a description. A file that is
/// not text is refused after its first bytes.
pub(super) fn read(location: &Location, opener: &Opener) -> Result<(String, Option<String>)> {
    let file = location.to_string();
    let is_kind = |kind: &&str| location.extension() == Some((*kind).as_ref());
    let table = ["ark", "scp"].into_iter().find(is_kind);
    let is_table = table.map(|kind| format!("is this a table? name it {kind}:{file}"));
    let mut head = vec![0; HEAD];
    let found = match opener.is_file(location) {
        true => opener.open(location)?.read_at(&mut head, 0)?,
        false => 0,
    };
    head.truncate(found);
    let seems = is_table.or_else(|| cure(&head, &file));
    let help = || seems.clone().unwrap_or_else(|| EXPECTED.to_owned());
    let no_text = || {
        let no_text = io::Error::new(io::ErrorKind::InvalidData, "it is not text (UTF-8)");
        Error::io("reading it as a description", no_text).in_file(&file).with_help(help())
    };
    // A letter may be cut at the end of these bytes.
    let is_text = match std::str::from_utf8(&head) {
        Ok(_) => true,
        Err(error) => error.error_len().is_none() && head.len() == HEAD,
    };
    if !is_text || head.contains(&0) {
        return Err(no_text());
    }
    let bytes = opener.read_settings(location, "bytes of a description", LARGEST);
    let bytes = bytes.map_err(|error| {
        let is_directory = matches!(error.kind(), ErrorKind::Io { source, .. }
            if source.kind() == io::ErrorKind::IsADirectory);
        match is_directory {
            true => error.with_help("name a file in it, such as its corpus.toml or feats.scp"),
            false => error.with_help(help()),
        }
    })?;
    let text = String::from_utf8(bytes).map_err(|_| no_text())?;
    Ok((text, seems))
}

/// The kind of a file that begins like this, and the right way to name it, if that can be told.
fn cure(head: &[u8], file: &str) -> Option<String> {
    let say = |what: &str, name: String| Some(format!("is this {what}? name it {name}"));
    let magics: [(&[u8], &str, &str); 12] = [
        (
            b"\x1f\x8b\x08",
            "compressed data",
            "by what is in them (ark:, or with the extension before .gz)",
        ),
        (b"BZh", "compressed data", "by what is in them (ark:, or with the extension before .bz2)"),
        (
            b"\x28\xb5\x2f\xfd",
            "compressed data",
            "by what is in them (ark:, or with the extension before .zst)",
        ),
        (b"-pfile_header", "a PFile", "with the extension .pfile"),
        (b"\x93NUMPY", "an array of NumPy's", "with the extension .npy"),
        (b"PK\x03\x04", "a file of NumPy's arrays", "with the extension .npz"),
        (b"PAR1", "a Parquet file", "with the extension .parquet"),
        (b"ARROW1", "an Arrow file", "with the extension .arrow"),
        (b"#!MLF!#", "a master label file", "with the extension .mlf, or behind htk:"),
        (b"MLF\x01\0", "a master label file", "with the extension .mlf, or behind htk:"),
        (b"RIFF", "a wave", "in a script file (utt1 FILE), behind scp:"),
        (b"\x80", "a pickle", "with the extension .pickle"),
    ];
    if let Some((_, what, name)) = magics.iter().find(|(magic, ..)| head.starts_with(magic)) {
        return say(what, (*name).to_owned());
    }
    if head.starts_with(b"\0B") {
        return say(
            "one object of Kaldi's",
            format!("in a script file (utt1 {file}), behind scp:"),
        );
    }
    let line = head.split(|&byte| byte == b'\n').next().unwrap_or_default();
    let mut words = line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
    let (first, second) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    // In a description an equals sign or a bracket follows a key.
    if first.contains(&b'=')
        || second.starts_with(b"=")
        || first.starts_with(b"[")
        || first.is_empty()
    {
        return None;
    }
    if second.starts_with(b"\0B") || second == b"[" {
        return say("an archive of Kaldi's", format!("ark:{file}"));
    }
    if first.starts_with(b"|") || second.starts_with(b"|") {
        return say("a CTF file", "with the extension .ctf".to_owned());
    }
    let is_number = |word: &[u8]| word.iter().all(|byte| b"0123456789.+-eE".contains(byte));
    if second.is_empty() || first.starts_with(b"#") {
        return None;
    }
    match is_number(second) {
        true => say("an archive of Kaldi's", format!("ark:{file}")),
        false => say("a script file of Kaldi's", format!("scp:{file}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_told_by_its_beginning() {
        let cases: [(&[u8], Option<&str>); 13] = [
            (b"utt1 \0BFM \x04", Some("ark:f")),
            (b"utt1  [\n 1 2 ]\n", Some("ark:f")),
            (b"utt1 3 4 5\n", Some("ark:f")),
            (b"utt1 feats.ark:5\n", Some("scp:f")),
            (b"\0BFM \x04", Some("script file (utt1 f)")),
            (b"0 |a 1 2\n", Some(".ctf")),
            (b"|a 1 2\n", Some(".ctf")),
            (b"PAR1", Some(".parquet")),
            (b"\x80\x02}", Some(".pickle")),
            (b"features = \"scp:feats.scp\"\n", None),
            (b"[streams.x]\n", None),
            (b"# a comment here\n", None),
            (b"", None),
        ];
        for (head, expected) in cases {
            let cure = cure(head, "f");
            let fits = match (&cure, expected) {
                (Some(cure), Some(expected)) => cure.contains(expected),
                (None, None) => true,
                _ => false,
            };
            assert!(fits, "{}: {cure:?}", head.escape_ascii());
        }
    }
}
