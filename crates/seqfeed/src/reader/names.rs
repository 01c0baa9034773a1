//! Recognises names of CNTK's readers and of CTF files.

use seqfeed_cntk::config;

/// Whether a name is a CTF file, not a configuration or a section of one.
pub(crate) fn is_bare_ctf(name: &str) -> bool {
    let (file, section) = config::path::split(name);
    let file = file.to_ascii_lowercase();
    section.is_empty() && ![".json", ".cntk", ".config"].iter().any(|end| file.ends_with(end))
}

/// Whether a name is a reader of CNTK or a CTF file, also a compressed one.
pub(crate) fn is_reader(name: &str) -> bool {
    let file = name.split('#').next().unwrap_or_default();
    let file =
        [".gz", ".bz2", ".zst"].iter().find_map(|end| file.strip_suffix(end)).unwrap_or(file);
    [".json", ".cntk", ".config", ".ctf"].iter().any(|end| file.ends_with(end))
        || name.contains('#')
}
