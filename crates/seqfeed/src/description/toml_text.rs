//! A description as the text of a `corpus.toml`.

use std::fmt::Write as _;

use toml::{Table, Value};

use super::Description;
use super::corpus::{CorpusSpec, InputSpec, StreamSpec};
use super::feed::FeedSpec;
use super::mix::{ComponentSpec, MixSpec};
use super::table::SECTIONS;

/// The comment that explains why a reader of CNTK stays.
const READER: &str = "\
# The reader stays, since it says what no other key can: how its files are joined and keyed, which errors are
# passed over, what form labels have, how large chunks are. What follows are the settings that come of it; they
# may be changed.
";

impl Description {
    /// The text of a `corpus.toml` with the same meaning. Names stay unchanged.
    ///
    /// ```
    /// use seqfeed::Description;
    ///
    /// let text = "\
    /// [streams.features]
    /// source = \"scp:feats.scp\"
    /// context = \"5:5\"
    ///
    /// [feed]
    /// batch-size = 512
    /// ";
    /// assert_eq!(Description::from_toml(text)?.to_toml(), text);
    /// # Ok::<(), seqfeed::Error>(())
    /// ```
    #[must_use]
    pub fn to_toml(&self) -> String {
        let corpus = &self.corpus;
        let mut out = String::new();
        if corpus.reader.is_some() && corpus.inputs.is_empty() && self.feed.preset.is_some() {
            out.push_str(READER);
        }
        for section in SECTIONS {
            let mut keys: Vec<(&str, Value)> = Vec::new();
            for option in CorpusSpec::OPTIONS.iter().filter(|option| option.section == section) {
                keys.extend(corpus.get(option.key).map(|value| (option.key, value)));
            }
            for option in FeedSpec::OPTIONS.iter().filter(|option| option.section == section) {
                keys.extend(self.feed.get(option.key).map(|value| (option.key, value)));
            }
            write(&mut out, section, keys);
            if section.is_empty() {
                self.write_named(&mut out);
            }
        }
        out
    }

    fn write_named(&self, out: &mut String) {
        let overrides = self.corpus.overrides.iter();
        let keys: Vec<_> =
            overrides.map(|(name, value)| (name.as_str(), Value::String(value.text()))).collect();
        write(out, "overrides", keys);
        for (name, input) in &self.corpus.inputs {
            let keys = InputSpec::OPTIONS.iter();
            let keys = keys.filter_map(|option| Some((option.key, input.get(option.key)?)));
            write(out, &format!("inputs.{}", key(name)), keys.collect());
        }
        let mix = &self.corpus.mix;
        let keys = MixSpec::OPTIONS.iter();
        let keys = keys.filter_map(|option| Some((option.key, mix.get(option.key)?)));
        write(out, "mix", keys.collect());
        for (name, component) in &mix.components {
            let keys = ComponentSpec::OPTIONS.iter();
            let keys = keys.filter_map(|option| Some((option.key, component.get(option.key)?)));
            write(out, &format!("mix.{}", key(name)), keys.collect());
        }
        let mut streams: Vec<_> = self.corpus.streams.iter().collect();
        streams.sort_by_key(|(name, _)| *name != "features");
        for (name, stream) in streams {
            let keys = StreamSpec::OPTIONS.iter();
            let keys = keys.filter_map(|option| Some((option.key, stream.get(option.key)?)));
            write(out, &format!("streams.{}", key(name)), keys.collect());
        }
    }
}

/// Writes a section, if it has keys.
fn write(out: &mut String, section: &str, keys: Vec<(&str, Value)>) {
    if keys.is_empty() {
        return;
    }
    // Writing to a text never fails.
    if !section.is_empty() {
        let before = if out.is_empty() { "" } else { "\n" };
        let _ = writeln!(out, "{before}[{section}]");
    }
    for (name, value) in keys {
        let _ = writeln!(out, "{} = {value}", key(name));
    }
}

/// A name as a key, with quotes if it needs them.
fn key(name: &str) -> String {
    let bare = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    match !name.is_empty() && name.chars().all(bare) {
        true => name.to_owned(),
        // A value may span several lines, a key may not.
        false => {
            let line = Table::from_iter([(name.to_owned(), Value::Boolean(true))]).to_string();
            line.trim_end().strip_suffix(" = true").unwrap_or_default().to_owned()
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::Description;

    #[test]
    fn any_name_is_a_key() {
        for name in ["a", "a b", "", "a\nb", "'''", "\"\"\"", "\\", "ä\u{7f}\t", "a.b = true"] {
            let text = format!("[streams.{}]\nsource = \"ark:x\"\n", key(name));
            let read =
                Description::from_toml(&text).unwrap_or_else(|error| panic!("{text}: {error}"));
            assert_eq!(read.corpus.streams.keys().collect::<Vec<_>>(), [name], "{text}");
        }
    }
}
