//! Kaldi's data directories: a directory of tables is a corpus.

use seqfeed_core::{Error, Result};
use seqfeed_io::{Input, LineLimit, Location, Opener, name_from_text};
use toml::{Table, Value};

use crate::transforms;

/// The tables of a data directory that become labels: file, stream, extent, and the table that
/// leads to its keys.
const LABELS: [(&str, &str, &str, Option<&str>); 5] = [
    ("text", "text", "own", None),
    ("utt2spk", "speaker", "sequence", None),
    ("spk2gender", "gender", "sequence", Some("utt2spk")),
    ("utt2lang", "language", "sequence", None),
    ("utt2category", "category", "sequence", None),
];
/// The files with the symbols of the text.
const SYMBOLS: [&str; 4] = ["tokens.txt", "token_list", "units.txt", "words.txt"];
/// Files of a data directory that are not used, and why.
const UNUSED: [(&str, &str); 6] = [
    ("wav.scp", "it leads to sound, and features are there"),
    ("vad.scp", "no stream of a network is made of it; a stream can name it"),
    ("spk2utt", "utt2spk says the same"),
    ("utt2num_frames", "feats.scp tells the lengths; `lengths` of a stream takes them from here"),
    ("utt2dur", "feats.scp tells the lengths"),
    ("reco2dur", "feats.scp tells the lengths"),
];

/// The description of a data directory, and what was taken and what was not.
pub(crate) struct DataDirectory {
    /// The keys of a `corpus.toml` in that directory.
    pub(crate) keys: Table,
    pub(crate) notes: Vec<String>,
}

/// Reads a data directory. `None` if the directory holds none of its tables.
///
/// # Errors
///
/// Fails if there are tables, but no features, or if the tables do not fit together.
pub(crate) fn of(directory: &Location, opener: &Opener) -> Result<Option<DataDirectory>> {
    let place = |name: &str| Location::of_file(name).relative_to(Some(directory));
    let is_there = |name: &&str| opener.is_file(&place(name));
    if !is_there(&"feats.scp") {
        return no_features(directory, is_there);
    }
    if is_there(&"segments") {
        check_segments(&place("feats.scp"), &place("segments"), opener)?;
    }
    let mut taken = vec!["feats.scp".to_owned()];
    let mut left = Vec::new();
    let mut streams = Table::new();
    let mut features = stream("scp:feats.scp", &[]);
    if is_there(&"cmvn.scp") {
        match transforms::is_known("cmvn") && is_there(&"utt2spk") {
            true => {
                let cmvn = [("name", "cmvn"), ("stats", "scp:cmvn.scp"), ("utt2spk", "utt2spk")];
                let cmvn = table(&cmvn);
                features.insert("transforms".to_owned(), Value::Array(vec![Value::Table(cmvn)]));
                taken.push("cmvn.scp".to_owned());
            }
            false => left.push("cmvn.scp: there is no utt2spk to go with it".to_owned()),
        }
    }
    streams.insert("features".to_owned(), Value::Table(features));
    for (file, name, extent, through) in LABELS {
        if !is_there(&file) {
            continue;
        }
        if through.is_some_and(|through| !is_there(&through)) {
            left.push(format!("{file}: there is no utt2spk to go with it"));
            continue;
        }
        let mut keys = vec![("kind", "label")];
        let symbols = SYMBOLS.into_iter().find(|name| file == "text" && is_there(name));
        keys.extend(symbols.map(|symbols| ("symbols", symbols)));
        // Text has a length of its own anyway.
        keys.extend((extent != "own").then_some(("extent", extent)));
        keys.extend(through.map(|through| ("through", through)));
        streams.insert(name.to_owned(), Value::Table(stream(&format!("text:{file}"), &keys)));
        taken.push(format!("{file} (stream {name})"));
        taken.extend(symbols.map(|symbols| format!("{symbols} (symbols of text)")));
    }
    if is_there(&"segments") {
        left.push("segments: feats.scp has the utterances themselves".to_owned());
    }
    let unused = UNUSED.iter().filter(|(file, _)| is_there(file));
    left.extend(unused.map(|(file, why)| format!("{file}: {why}")));
    let mut notes = vec![format!("taken: {}", taken.join(", "))];
    notes.extend((!left.is_empty()).then(|| format!("not taken: {}", left.join("; "))));
    let mut keys = Table::from_iter([("streams".to_owned(), Value::Table(streams))]);
    keys.insert("feed".to_owned(), Value::Table(table(&[("unit", "sequence")])));
    Ok(Some(DataDirectory { keys, notes }))
}

fn table(keys: &[(&str, &str)]) -> Table {
    let text = |(key, value): &(&str, &str)| (key.to_string(), Value::String(value.to_string()));
    keys.iter().map(text).collect()
}

fn stream(source: &str, keys: &[(&str, &str)]) -> Table {
    let mut keys = table(keys);
    keys.insert("source".to_owned(), Value::String(source.to_owned()));
    keys
}

/// The error for a data directory without features, if it is one.
fn no_features(
    directory: &Location,
    is_there: impl Fn(&&str) -> bool,
) -> Result<Option<DataDirectory>> {
    let known = ["wav.scp", "text", "utt2spk", "spk2utt", "segments"];
    let found: Vec<&str> = known.into_iter().filter(&is_there).collect();
    // A directory with a description is named by it.
    if found.is_empty() || is_there(&"corpus.toml") {
        return Ok(None);
    }
    let error =
        Error::corpus(format!("the data directory has no feats.scp; it has {}", found.join(", ")))
            .in_file(directory.to_string());
    Err(error.with_help(match found.contains(&"wav.scp") {
        true => {
            "a network is fed with features: compute them first, as Kaldi's make_mfcc.sh and \
             make_fbank.sh do"
        }
        false => "name a file in it, or another directory",
    }))
}

/// Fails if features are those of whole recordings, which `segments` divides into utterances.
fn check_segments(feats: &Location, segments: &Location, opener: &Opener) -> Result<()> {
    fn word(line: &[u8], number: usize) -> Option<&[u8]> {
        let mut words = line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
        words.nth(number)
    }
    let mut first = Vec::new();
    Input::open(&feats.clone().into(), opener)?.next_line(&mut first)?;
    let Some(key) = word(&first, 0) else { return Ok(()) };
    let text = opener.read_list(segments, LineLimit::of_lines)?;
    let mut lines = text.split(|&byte| byte == b'\n');
    let is_utterance = lines.clone().any(|line| word(line, 0) == Some(key));
    let is_recording = lines.any(|line| word(line, 1) == Some(key));
    match is_recording && !is_utterance {
        true => Err(Error::corpus(
            "feats.scp has recordings, and segments divides them into utterances",
        )
        .in_file(segments.to_string())
        .with_help(
            "make the features of utterances first: seqfeed kaldi extract-feature-segments \
                 scp:feats.scp segments ark,scp:utt.ark,utt.scp",
        )),
        false => Ok(()),
    }
}

/// The location of a directory, if a name is one.
pub(crate) fn directory(name: &str, opener: &Opener) -> Option<Location> {
    let location = opener.place(name_from_text(name));
    opener.is_directory(&location).then_some(location)
}
