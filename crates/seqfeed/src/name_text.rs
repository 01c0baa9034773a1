//! Facts that the text of a name tells, without reading the file.

use std::ffi::OsString;

use seqfeed_io::{Location, name_from_text, name_to_text};

/// The text of a name, relative to the working directory. The name is relative to `base`, if there
/// is one.
pub(crate) fn joined(base: Option<&Location>, name: &str) -> String {
    name_to_text(Location::of_file(name_from_text(name)).relative_to(base).into_name())
}

/// The names for texts.
pub(crate) fn names_of(texts: &[String]) -> Vec<OsString> {
    texts.iter().map(|text| name_from_text(text)).collect()
}

/// Whether a name is an rspecifier: `ark:...`, `scp,p:...`.
pub(crate) fn is_rspecifier(name: &str) -> bool {
    let kind = name.split(':').next().unwrap_or_default();
    name.contains(':') && kind.split(',').any(|word| word == "ark" || word == "scp")
}
