//! Lists of utterances as lines of JSON: a list is a corpus.

use seqfeed_core::{Error, Result};
use seqfeed_io::{Input, Location, Opener, name_to_text};
use seqfeed_text::{Manifest, ManifestStream};
use toml::{Table, Value};

/// The ends of their names, before `.gz`.
const ENDS: [&str; 4] = ["jsonl", "json", "list", "data"];

/// The description of a list of utterances.
pub(crate) struct ManifestKeys {
    /// The keys of a `corpus.toml` in its directory.
    pub(crate) keys: Table,
    pub(crate) notes: Vec<String>,
}

/// Reads the first line of a list. `None` if it is none.
///
/// # Errors
///
/// Fails if it is a list of sound, or cannot be read.
pub(crate) fn of(location: &Location, opener: &Opener) -> Result<Option<ManifestKeys>> {
    let name = name_to_text(location.as_os_str());
    let lower = name.to_ascii_lowercase();
    let plain = [".gz", ".bz2", ".zst"].iter().find_map(|end| lower.strip_suffix(end));
    let end = plain.unwrap_or(&lower).rsplit_once('.').map_or("", |(_, end)| end);
    if !ENDS.contains(&end) || !opener.is_file(location) {
        return Ok(None);
    }
    let mut line = Vec::new();
    let mut input = Input::open(&location.clone().into(), opener)?;
    // A file of one long line is none of them.
    let found = match input.next_line(&mut line).unwrap_or(false) {
        true => Manifest::of_line(&line).map_err(|error| error.in_file(location.to_string()))?,
        false => None,
    };
    match found {
        Some(manifest) => Ok(Some(described(&name, &manifest))),
        // Files with the other ends may be something else.
        None if end == "jsonl" => Err(Error::corpus("JSON lines: the first line has no features")
            .in_file(location.to_string())
            .at_line(1)
            .with_help(
                "each line is an object with the key of an utterance and the place of its \
                 features, such as {\"key\": \"utt1\", \"feats\": \"feats.ark:5\"}",
            )),
        None => Ok(None),
    }
}

fn described(name: &str, manifest: &Manifest) -> ManifestKeys {
    let file = name.rsplit('/').next().unwrap_or_default();
    let source =
        |field: &str| ("source".to_owned(), Value::String(format!("jsonl:{file}#{field}")));
    let mut streams = Table::new();
    let features = Table::from_iter([source(&manifest.features)]);
    streams.insert("features".to_owned(), Value::Table(features));
    let mut taken = vec![format!("{} (stream features)", manifest.features)];
    for ManifestStream { name, field, of_sequence } in &manifest.labels {
        let mut keys = Table::from_iter([source(field)]);
        keys.insert("kind".to_owned(), Value::String("label".to_owned()));
        if *of_sequence {
            keys.insert("extent".to_owned(), Value::String("sequence".to_owned()));
        }
        streams.insert((*name).to_owned(), Value::Table(keys));
        taken.push(format!("{field} (stream {name})"));
    }
    let mut keys = Table::from_iter([("streams".to_owned(), Value::Table(streams))]);
    let unit = Table::from_iter([("unit".to_owned(), Value::String("sequence".to_owned()))]);
    keys.insert("feed".to_owned(), Value::Table(unit));
    ManifestKeys { keys, notes: vec![format!("taken: {}", taken.join(", "))] }
}
