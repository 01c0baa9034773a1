//! Every name of every section, beside whatever else stands there: it changes what is read, or is
//! said to have no effect, or is refused.

use super::super::super::Config;
use super::super::ReaderConfig;
use super::*;

/// Values of a name that are not what it is where it is missing.
fn values(name: &str) -> &'static [&'static str] {
    match name {
        "randomize" => &["false", "none", "7"],
        "action" => &["write"],
        "readerType" => &["SomeReader"],
        "type" => &["Other"],
        "labelType" => &["real"],
        "module" => &["mine"],
        "readMethod" => &["none", "rollingWindow", "x"],
        "minibatchMode" => &["full", "x"],
        "nbruttsineachrecurrentiter" => &["3", "0"],
        "pageFilePath" | "file" | "scpFile" | "mlfFile" | "mlfFileList" | "labelMappingFile" => {
            &["elsewhere"]
        }
        "labelToTargetMappingFile" | "prefixPathInSCP" | "alias" | "sectionType" => &["other"],
        "dim" | "labelDim" | "targetDim" => &["0", "5"],
        "format" => &["sparse", "x"],
        "contextWindow" => &["3", "2"],
        "precision" => &["double"],
        "prefetch" | "checkData" | "minimizeReaderMemoryFootprint" | "composable" => &["false"],
        "multiThreadedDeserialization" | "localTimeline" => &["false"],
        "frameMode" => &["true", "false"],
        "deserializers" | "input" => &[],
        "randomizationSeed" | "truncationLength" | "traceLevel" | "verbosity" | "maxErrors" => {
            &["3"]
        }
        "randomizationWindow" | "chunkSizeInBytes" | "numChunksToCache" | "rightSplice" => &["3"],
        "randomizationWindowInChunks" | "randomizationWindowInSamples" | "framesPerChunk" => &["3"],
        "maxSequenceSize" | "maxUtteranceLength" | "maxSequenceLength" => &["3"],
        "useNumericSequenceKeys" => &["true", "false"],
        "sampleBasedRandomizationWindow" => &["true", "false"],
        "truncated" | "hashSequenceKeys" | "keepDataInMemory" | "definesMBSize" | "cacheIndex" => {
            &["true"]
        }
        "skipSequenceIds" | "longerThanInputs" | "useMersenneTwisterRand" | "legacyMode" => {
            &["true"]
        }
        "expandToUtterance" | "phoneBoundaries" => &["true"],
        _ => panic!("no value is tried for the new name {name}"),
    }
}

/// What may stand beside a name in the reader's section.
const BESIDE: [&str; 8] = [
    "",
    "randomize=false",
    "frameMode=true",
    "frameMode=false",
    "frameMode=false;truncated=true;truncationLength=4",
    "action=write",
    "randomizationWindow=20",
    "frameMode=false;truncated=true",
];

/// A section's place in a reader, and the lists of its names.
struct Place {
    name: &'static str,
    /// The reader, with `@` where the section's names go and `%` where the reader's do.
    text: &'static str,
    lists: &'static [&'static [Name]],
}

const CTF_IN: &str = "type=CNTKTextFormatDeserializer;file=f;input=[a=[dim=1;format=dense]]";

fn places() -> Vec<Place> {
    let place = |name, text: String, lists| Place { name, text: text.leak(), lists };
    let htk = |kind: &str, at: &str, features: &str, labels: &str| {
        format!(
            "%\nreaderType={kind}\n{at}\nx=[dim=2;scpFile=s\n{features}]\n\
             y=[mlfFile=m;labelDim=3\n{labels}]"
        )
    };
    let parts = |at: &str, input: &str, features: &str, labels: &str| {
        format!(
            "%\ndeserializers=([type=HTKFeatureDeserializer\n{at}\n\
             input=[{input}\nx=[dim=2;scpFile=s\n{features}]]]\
             :[type=HTKMLFDeserializer;input=[y=[mlfFile=m;dim=3\n{labels}]]])"
        )
    };
    let mut places = vec![
        place("composite of CTF", format!("%\n@\ndeserializers=([{CTF_IN}])"), COMPOSITE),
        place("composite of HTK", format!("@\n{}", parts("", "", "", "")), COMPOSITE),
        place(
            "CTF reader",
            format!("%\nreaderType=CNTKTextFormatReader\n{}\n@", &CTF_IN[32..]),
            CTF_READER,
        ),
        place("CTF deserializer", format!("%\ndeserializers=([{CTF_IN}\n@])"), CTF_DESERIALIZER),
        place(
            "CTF input",
            "%\ndeserializers=([type=CNTKTextFormatDeserializer;file=f;\
             input=[a=[dim=1;format=dense\n@]]])"
                .to_owned(),
            CTF_INPUT,
        ),
        place("HTK deserializer", parts("@", "", "", ""), HTK_DESERIALIZER),
        place("HTK input", parts("", "@", "", ""), HTK_INPUT),
        place("features", parts("", "", "@", ""), HTK_FEATURES),
        place("labels", parts("", "", "", "@"), HTK_LABELS),
    ];
    for kind in ["HTKMLFReader", "HTKDeserializers"] {
        places.push(place(kind, htk(kind, "@", "", ""), HTK_READER));
        places.push(place("features of a reader", htk(kind, "", "@", ""), HTK_FEATURES));
        places.push(place("labels of a reader", htk(kind, "", "", "@"), HTK_LABELS));
    }
    places
}

/// The reader, or `None` if it is refused.
fn reader(text: &str) -> Option<ReaderConfig> {
    let config = Config::parse("f", text).unwrap();
    ReaderConfig::from_section(config.root()).ok()
}

/// What is read, without what is said.
fn meaning(reader: &ReaderConfig) -> ReaderConfig {
    ReaderConfig { unknown: Vec::new(), ignored: Vec::new(), notes: Vec::new(), ..reader.clone() }
}

#[test]
fn no_name_is_accepted_without_effect_or_word() {
    let (mut tried, mut silent) = (0, Vec::new());
    for place in places() {
        for beside in BESIDE {
            let with = |names: &str| place.text.replace('%', beside).replace('@', names);
            let Some(without) = reader(&with("")) else { continue };
            for known in place.lists.iter().flat_map(|list| *list) {
                if beside.split([';', '=']).any(|word| word.eq_ignore_ascii_case(known.name)) {
                    continue;
                }
                for value in values(known.name) {
                    tried += 1;
                    let Some(found) = reader(&with(&format!("{}={value}", known.name))) else {
                        continue;
                    };
                    assert_eq!(found.unknown, without.unknown, "{}: {}", place.name, known.name);
                    // What is said of a section is said of all in it.
                    let said = |key: &IgnoredKey| key.path.ends_with(known.name) || key.path == "y";
                    // What is the default in one reader is not in another.
                    let as_is = known.name == "frameMode" && *value == found.frame_mode.to_string();
                    let usual = as_is
                        || ["true", "false"].contains(value) && {
                            let other = if *value == "true" { "false" } else { "true" };
                            let other = reader(&with(&format!("{}={other}", known.name)));
                            other.is_none_or(|other| meaning(&other) != meaning(&without))
                        };
                    if meaning(&found) == meaning(&without)
                        && !found.ignored.iter().any(said)
                        && found.notes == without.notes
                        && !usual
                    {
                        silent.push(format!(
                            "{} with `{beside}`: {}={value}",
                            place.name, known.name
                        ));
                    }
                }
            }
        }
    }
    assert!(silent.is_empty(), "{} of {tried}:\n{}", silent.len(), silent.join("\n"));
    assert!(tried > 1000, "{tried}");
}
