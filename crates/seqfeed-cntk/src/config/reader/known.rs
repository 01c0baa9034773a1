//! Names that CNTK reads, and what was probably meant by others.

use super::super::section::Section;

/// A name that CNTK does not read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownKey {
    /// Where it stands: the names of the sections around it, from the outermost in, and its own,
    /// with dots between (`train.reader.deserializers[0].inptu`). In a dictionary the outermost
    /// is `reader`.
    pub path: String,
    /// The known name that is most like it, if one is.
    pub suggestion: Option<String>,
}

/// Names of all readers.
const ANY_READER: &[&str] = &[
    "readerType",
    "randomize",
    "randomizationSeed",
    "frameMode",
    "truncated",
    "truncationLength",
    "precision",
    "traceLevel",
    "verbosity",
    "useNumericSequenceKeys",
    "hashSequenceKeys",
    "action",
    "prefetch",
    "checkData",
    "minimizeReaderMemoryFootprint",
];

pub(super) const COMPOSITE: &[&[&str]] = &[
    ANY_READER,
    &[
        "deserializers",
        "randomizationWindow",
        "sampleBasedRandomizationWindow",
        "rightSplice",
        "maxErrors",
        "multiThreadedDeserialization",
        "localTimeline",
        "chunkSizeInBytes",
        "randomizationWindowInChunks",
        "randomizationWindowInSamples",
        "keepDataInMemory",
    ],
];

const CTF: &[&str] = &[
    "file",
    "input",
    "skipSequenceIds",
    "maxErrors",
    "traceLevel",
    "chunkSizeInBytes",
    "cacheIndex",
    "frameMode",
    "precision",
    "longerThanInputs",
    "keepDataInMemory",
    "randomize",
    "randomizationWindow",
    "sampleBasedRandomizationWindow",
    "randomizationSeed",
    "numChunksToCache",
];

pub(super) const CTF_READER: &[&[&str]] = &[ANY_READER, CTF];

pub(super) const CTF_DESERIALIZER: &[&[&str]] = &[&["type", "module", "composable"], CTF];

pub(super) const CTF_INPUT: &[&[&str]] = &[&["alias", "dim", "format", "definesMBSize"]];

pub(super) const HTK_READER: &[&[&str]] = &[
    ANY_READER,
    &[
        "readMethod",
        "minibatchMode",
        "nbruttsineachrecurrentiter",
        "useMersenneTwisterRand",
        "pageFilePath",
        "legacyMode",
        "definesMBSize",
        "maxSequenceSize",
        "maxUtteranceLength",
        "cacheIndex",
        "chunkSizeInBytes",
    ],
];

pub(super) const HTK_DESERIALIZER: &[&[&str]] = &[&[
    "type",
    "module",
    "composable",
    "input",
    "frameMode",
    "precision",
    "verbosity",
    "traceLevel",
    "definesMBSize",
    "maxSequenceSize",
    "chunkSizeInBytes",
    "cacheIndex",
]];

pub(super) const HTK_FEATURES: &[&[&str]] = &[&[
    "scpFile",
    "dim",
    "contextWindow",
    "expandToUtterance",
    "prefixPathInSCP",
    "type",
    "definesMBSize",
    "maxSequenceSize",
    "maxSequenceLength",
    "maxUtteranceLength",
    "framesPerChunk",
    "sectionType",
]];

pub(super) const HTK_LABELS: &[&[&str]] = &[&[
    "mlfFile",
    "mlfFileList",
    "dim",
    "labelDim",
    "labelMappingFile",
    "phoneBoundaries",
    "cacheIndex",
    "labelType",
    "type",
    "labelToTargetMappingFile",
    "targetDim",
    "definesMBSize",
    "maxSequenceSize",
    "maxSequenceLength",
    "chunkSizeInBytes",
    "sectionType",
]];

/// Adds the names of a section that are in none of the lists.
pub(super) fn collect(section: &Section, known: &[&[&str]], unknown: &mut Vec<UnknownKey>) {
    for name in section.names() {
        if !known.iter().flat_map(|list| *list).any(|known| known.eq_ignore_ascii_case(name)) {
            unknown.push(key(section, name, known));
        }
    }
}

/// One name as unknown.
pub(super) fn key(section: &Section, name: &str, known: &[&[&str]]) -> UnknownKey {
    let suggestion = nearest(name, known.iter().flat_map(|list| list.iter().copied()));
    // The outermost name is the file's, which is no part of the way to a name.
    let path = match section.path().split_once(':') {
        Some((file, inner)) if file != "reader" => format!("{inner}:{name}"),
        None if section.path() != "reader" => name.to_owned(),
        _ => format!("{}:{name}", section.path()),
    };
    UnknownKey { path: path.replace(':', "."), suggestion: suggestion.map(str::to_owned) }
}

/// The name that is most like this one: at most a third of it differs, and at most 3 letters.
fn nearest<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    if name.len() > 64 {
        return None;
    }
    let lower = name.to_ascii_lowercase();
    let allowed = (name.chars().count() / 3).clamp(1, 3);
    known
        .map(|known| (distance(&lower, &known.to_ascii_lowercase()), known))
        .filter(|(distance, _)| *distance <= allowed)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, known)| known)
}

/// How many letters must be put in, left out, replaced, or swapped with their neighbour.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 0..a.len() {
        let mut row = vec![i + 1];
        for j in 0..b.len() {
            let replaced = last[j] + usize::from(a[i] != b[j]);
            let mut least = replaced.min(last[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && a[i] == b[j - 1] && a[i - 1] == b[j] {
                least = least.min(before[j - 1] + 1);
            }
            row.push(least);
        }
        before = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_letters() {
        let cases =
            [("", "", 0), ("abc", "acb", 1), ("abc", "abd", 1), ("abc", "", 3), ("a", "ab", 1)];
        for (a, b, expected) in cases {
            assert_eq!((distance(a, b), distance(b, a)), (expected, expected), "{a} {b}");
        }
    }

    #[test]
    fn suggests_what_is_like_it() {
        let cases = [
            ("randomise", Some("randomize")),
            ("RandomizeWindow", None),
            ("fiel", Some("file")),
            ("x", None),
            ("keepDataInMem", Some("keepDataInMemory")),
            ("keepData", None),
        ];
        for (name, expected) in cases {
            let known = CTF_READER.iter().flat_map(|list| list.iter().copied());
            assert_eq!(nearest(name, known), expected, "{name}");
        }
    }
}
