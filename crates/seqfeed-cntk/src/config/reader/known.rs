//! The names that readers know, their effects, and suggestions for unknown names.

use seqfeed_core::{Result, nearest_name};

use super::super::section::Section;
use super::super::section::Value;

/// A name that is unknown to CNTK.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownKey {
    /// Its path: the names of the sections around it, from the outermost in, and its own, joined by
    /// dots (`train.reader.deserializers[0].inptu`). In a dictionary the outermost section is
    /// `reader`.
    pub path: String,
    /// The most similar known name, if there is one.
    pub suggestion: Option<String>,
}

/// A setting that has no effect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IgnoredKey {
    /// Its path, as in [`UnknownKey`].
    pub path: String,
    /// The reason.
    pub reason: &'static str,
}

/// A collection of names without effect.
#[derive(Debug, Default)]
pub(super) struct WithoutEffect {
    pub(super) unknown: Vec<UnknownKey>,
    pub(super) ignored: Vec<IgnoredKey>,
}

/// A name of a section, and its effect.
#[derive(Clone, Copy, Debug)]
pub(super) struct Name {
    pub(super) name: &'static str,
    effect: Effect,
}

/// The effect of a name in its section.
#[derive(Clone, Copy, Debug)]
enum Effect {
    /// It is read. Its effect may depend on other settings, see `ignored.rs`.
    Read,
    /// None, and the reason.
    None(Idle, &'static str),
}

/// Values of a name without effect that need no report, since they ask for the normal behaviour.
/// done anyway.
#[derive(Clone, Copy, Debug)]
enum Idle {
    Never,
    True,
    False,
    Word(&'static str),
}

const fn read(name: &'static str) -> Name {
    Name { name, effect: Effect::Read }
}

const fn none(name: &'static str, idle: Idle, reason: &'static str) -> Name {
    Name { name, effect: Effect::None(idle, reason) }
}

const MESSAGES: &str = "it asks CNTK for messages";
const SPEED: &str = "it is about CNTK's speed and memory; here `threads`, `queue` and `memory` are";
const NO_INDEX: &str = "no index of label files is kept";
const NO_CHUNKS: &str = "labels are read utterance by utterance: their files have no chunks";
const FURTHER_OUT: &str = "CNTK looks for it around the section of the stream, not in it";
const SEEN: &str = "what a section holds is seen from the names in it";

/// Names of all readers.
const ANY_READER: &[Name] = &[
    read("randomize"),
    read("randomizationSeed"),
    read("frameMode"),
    read("truncated"),
    read("truncationLength"),
    read("precision"),
    read("traceLevel"),
    none("verbosity", Idle::Word("0"), MESSAGES),
    read("useNumericSequenceKeys"),
    read("hashSequenceKeys"),
    read("action"),
    none("prefetch", Idle::True, SPEED),
    none("checkData", Idle::True, "data are always checked"),
    none("minimizeReaderMemoryFootprint", Idle::True, SPEED),
];

pub(super) const COMPOSITE: &[&[Name]] = &[
    ANY_READER,
    &[
        none(
            "readerType",
            Idle::Word("CompositeDataReader"),
            "a section with deserializers is a composite reader, whatever it is called",
        ),
        read("deserializers"),
        read("randomizationWindow"),
        read("sampleBasedRandomizationWindow"),
        read("rightSplice"),
        read("maxErrors"),
        none("multiThreadedDeserialization", Idle::True, SPEED),
        read("localTimeline"),
        read("chunkSizeInBytes"),
        read("randomizationWindowInChunks"),
        read("randomizationWindowInSamples"),
        read("keepDataInMemory"),
    ],
];

const CTF: &[Name] = &[
    read("file"),
    read("input"),
    read("skipSequenceIds"),
    read("maxErrors"),
    read("traceLevel"),
    read("chunkSizeInBytes"),
    read("cacheIndex"),
    read("frameMode"),
    read("precision"),
    read("longerThanInputs"),
    read("keepDataInMemory"),
    read("randomize"),
    read("randomizationWindow"),
    read("sampleBasedRandomizationWindow"),
    read("randomizationSeed"),
    none("numChunksToCache", Idle::Never, SPEED),
];

pub(super) const CTF_READER: &[&[Name]] = &[&[read("readerType")], ANY_READER, CTF];

/// Names of all deserializers.
const ANY_DESERIALIZER: &[Name] = &[
    read("type"),
    // The type gives it too.
    none("module", Idle::Word("CNTKTextFormatReader"), "no modules are loaded: the type is enough"),
    none(
        "composable",
        Idle::True,
        "it is for deserializers of one's own; `preset = \"cntk-timeline\"` orders data as without it",
    ),
];

pub(super) const CTF_DESERIALIZER: &[&[Name]] = &[ANY_DESERIALIZER, CTF];

pub(super) const CTF_INPUT: &[&[Name]] =
    &[&[read("alias"), read("dim"), read("format"), read("definesMBSize")]];

pub(super) const HTK_READER: &[&[Name]] = &[
    &[read("readerType")],
    ANY_READER,
    &[
        read("readMethod"),
        read("minibatchMode"),
        read("nbruttsineachrecurrentiter"),
        read("useMersenneTwisterRand"),
        none(
            "pageFilePath",
            Idle::Word(""),
            "there is no page file: a rolling window is read as it is needed",
        ),
        read("legacyMode"),
        read("definesMBSize"),
        read("maxSequenceSize"),
        read("maxUtteranceLength"),
        read("maxErrors"),
        read("rightSplice"),
        none("cacheIndex", Idle::False, NO_INDEX),
        none("chunkSizeInBytes", Idle::Never, NO_CHUNKS),
    ],
];

pub(super) const HTK_DESERIALIZER: &[&[Name]] = &[
    &[none("module", Idle::Word("HTKDeserializers"), "no modules are loaded: the type is enough")],
    ANY_DESERIALIZER,
    &[
        read("input"),
        read("frameMode"),
        read("precision"),
        none("verbosity", Idle::Word("0"), MESSAGES),
        read("traceLevel"),
        read("definesMBSize"),
        read("maxSequenceSize"),
        none("chunkSizeInBytes", Idle::Never, NO_CHUNKS),
        none("cacheIndex", Idle::False, NO_INDEX),
    ],
];

/// The `input` section of a deserializer of HTK's files, without its stream.
pub(super) const HTK_INPUT: &[&[Name]] = &[&[read("definesMBSize"), read("maxSequenceSize")]];

/// Names of streams of features and of labels.
const HTK_STREAM: &[Name] = &[
    read("type"),
    read("dim"),
    none("definesMBSize", Idle::False, FURTHER_OUT),
    none("maxSequenceSize", Idle::Never, FURTHER_OUT),
    none("maxSequenceLength", Idle::Never, "CNTK's name for it is maxSequenceSize, in `input`"),
    none("sectionType", Idle::Never, SEEN),
];

pub(super) const HTK_FEATURES: &[&[Name]] = &[
    HTK_STREAM,
    &[
        read("scpFile"),
        read("contextWindow"),
        read("expandToUtterance"),
        read("prefixPathInSCP"),
        read("maxUtteranceLength"),
        read("framesPerChunk"),
    ],
];

pub(super) const HTK_LABELS: &[&[Name]] = &[
    HTK_STREAM,
    &[
        read("mlfFile"),
        read("mlfFileList"),
        read("labelDim"),
        read("labelMappingFile"),
        read("phoneBoundaries"),
        none("cacheIndex", Idle::False, NO_INDEX),
        read("labelType"),
        read("labelToTargetMappingFile"),
        read("targetDim"),
        none("chunkSizeInBytes", Idle::Never, NO_CHUNKS),
    ],
];

impl WithoutEffect {
    /// Adds the names of a section that are in none of the lists, and the names without effect.
    pub(super) fn collect(&mut self, section: &Section, known: &[&[Name]]) -> Result<()> {
        for name in section.names() {
            if !self.add_known(section, name, known)? {
                self.add_unknown(section, name, known);
            }
        }
        Ok(())
    }

    /// Whether a name is in the lists. Adds it if it has no effect.
    pub(super) fn add_known(
        &mut self,
        section: &Section,
        name: &str,
        known: &[&[Name]],
    ) -> Result<bool> {
        let mut all = known.iter().flat_map(|list| *list);
        let Some(known) = all.find(|known| known.name.eq_ignore_ascii_case(name)) else {
            return Ok(false);
        };
        if let Effect::None(idle, reason) = known.effect
            && let Some(value) = section.own(name)?
            && !idle.is(&value)
        {
            self.add_ignored(section, name, reason);
        }
        Ok(true)
    }

    /// Adds a name that is not known.
    pub(super) fn add_unknown(&mut self, section: &Section, name: &str, known: &[&[Name]]) {
        let names = known.iter().flat_map(|list| list.iter().map(|known| known.name));
        let suggestion = nearest_name(name, names).map(str::to_owned);
        self.unknown.push(UnknownKey { path: path(section, name), suggestion });
    }

    /// Adds a name without effect.
    pub(super) fn add_ignored(&mut self, section: &Section, name: &str, reason: &'static str) {
        let path = path(section, name);
        if self.ignored.iter().all(|key| key.path != path) {
            self.ignored.push(IgnoredKey { path, reason });
        }
    }
}

impl Idle {
    fn is(self, value: &Value) -> bool {
        match self {
            Idle::Never => false,
            Idle::True => value.boolean().is_ok_and(|truth| truth),
            Idle::False => value.boolean().is_ok_and(|truth| !truth),
            Idle::Word(word) => value.text().is_ok_and(|text| text.eq_ignore_ascii_case(word)),
        }
    }
}

/// The path to a name. The outermost name is the file's, and is left out.
fn path(section: &Section, name: &str) -> String {
    let path = match section.path().split_once(':') {
        Some((file, inner)) if file != "reader" => format!("{inner}:{name}"),
        None if section.path() != "reader" => name.to_owned(),
        _ => format!("{}:{name}", section.path()),
    };
    path.replace(':', ".")
}

#[cfg(test)]
mod tests;
