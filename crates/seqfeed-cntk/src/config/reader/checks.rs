//! Checks that deserializers fit together.

use std::collections::HashSet;

use seqfeed_core::Result;

use super::super::section::Section;
use super::ReaderConfig;

pub(super) fn check(reader: &ReaderConfig, section: &Section) -> Result<()> {
    if reader.hash_sequence_keys && reader.use_numeric_sequence_keys {
        let message = "Hashing should not be used with numeric sequence keys.";
        return Err(section
            .error(message.into())
            .with_help("set useNumericSequenceKeys=false, or hashSequenceKeys=false"));
    }
    if reader.deserializers.iter().filter(|one| one.defines_mb_size()).count() > 1 {
        let message =
            "Only a single deserializer is allowed to define minibatch size, at least two found.";
        return Err(section.error(message.into()).with_help("set definesMBSize in one of them"));
    }
    let mut names = HashSet::new();
    for name in reader.deserializers.iter().flat_map(|one| one.streams()) {
        if !names.insert(name) {
            let message = format!(
                "Two streams with the same name '{name}' have been found. Please rename the \
                 duplicate."
            );
            return Err(section
                .error(message)
                .with_help("in CTF files alias keeps the name that stands in the file"));
        }
    }
    Ok(())
}
