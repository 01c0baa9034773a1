//! What CNTK's own parser made of recorded texts, and the readers of recorded runs.

use std::fs;
use std::path::{Path, PathBuf};

use seqfeed_cntk::config::{
    Config, CtfFormat, Deserializer, Files, ReaderConfig, Section, Texts, Value, ValueForm,
    WHOLE_DATA, Window,
};
use seqfeed_core::{Error, Result};
use seqfeed_io::Opener;
use serde_json::{Value as Json, json};

/// A file of the shared material, or `None` (said loudly) where it is missing.
fn shared(file: &str) -> Option<PathBuf> {
    let root = std::env::var_os("SEQFEED_SHARED").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared"),
        PathBuf::from,
    );
    let file = root.join(file);
    if file.exists() {
        return Some(file);
    }
    eprintln!("SKIPPED: {} is missing; set SEQFEED_SHARED", file.display());
    None
}

fn value_as_json(value: &Value) -> Result<Json> {
    Ok(match value.form() {
        ValueForm::Text => json!(value.text()?),
        ValueForm::Array => {
            let elements = value.array()?;
            Json::Array(elements.iter().map(value_as_json).collect::<Result<_>>()?)
        }
        ValueForm::Section => {
            let section = value.section()?;
            let mut object = serde_json::Map::new();
            for name in section.names() {
                let value = section.own(name)?;
                object.insert(name.into(), value.map_or(Ok(json!("")), |v| value_as_json(&v))?);
            }
            Json::Object(object)
        }
    })
}

/// All that is in a configuration; what cannot be read is an error at its outermost name.
fn as_json(section: &Section) -> Json {
    let mut object = serde_json::Map::new();
    for name in section.names() {
        let value =
            section.own(name).and_then(|value| value.map_or(Ok(json!("")), |v| value_as_json(&v)));
        let value = value.unwrap_or_else(|error| json!({ "@error": core(&error) }));
        object.insert(name.into(), value);
    }
    json!({ "all": object })
}

/// The message without what we put around CNTK's.
fn core(error: &Error) -> String {
    let message = error.message();
    match message.strip_prefix("CNTK configuration: ") {
        Some(core) => core.to_owned(),
        None => format!(
            "error opening file '{}': {}",
            error.place().file.as_deref().unwrap_or_default(),
            message.split(": ").nth(1).unwrap_or_default().split(" (os").next().unwrap_or_default()
        ),
    }
}

#[test]
fn reads_what_cntk_reads() {
    let Some(file) = shared("golden/cntk/config/cases.json") else { return };
    let cases: Vec<Json> = serde_json::from_slice(&fs::read(file).unwrap()).unwrap();
    for case in &cases {
        let name = format!("{}.cntk", case["name"].as_str().unwrap());
        let text = case["text"].as_str().unwrap().to_owned();
        let overrides: Vec<&str> =
            case["args"].as_array().unwrap().iter().map(|arg| arg.as_str().unwrap()).collect();
        let mut files = Files::new(None, &Opener::default());
        let mut texts = |wanted: &str| {
            if wanted == name {
                return Ok(text.clone());
            }
            files.read(wanted)
        };
        let found = match Config::assemble(&[&name], &overrides, &mut texts) {
            Ok(config) => as_json(&config),
            Err(error) => json!({ "error": core(&error) }),
        };
        let mut expected = case["result"].clone();
        expected.as_object_mut().unwrap().remove("type");
        assert_eq!(found, expected, "{name}");
    }
    eprintln!("{} cases", cases.len());
    assert!(cases.len() >= 39, "only {} cases", cases.len());
}

/// Errors that already the configuration must give.
const ERRORS_OF_CONFIGURATION: [&str; 6] = [
    "s2s-definesmb-both-err",
    "join-AB-definesmb-both-err",
    "join-samename-err",
    "hash-numeric-err",
    "htk-ctx-even-err",
    "mlf-phoneboundaries-frame-err",
];

#[test]
fn reads_all_recorded_readers() {
    let Some(file) = shared("golden/cntk/manifest.json") else { return };
    let manifest: Json = serde_json::from_slice(&fs::read(file).unwrap()).unwrap();
    let (mut dictionaries, mut texts, mut refused) = (0, 0, 0);
    for entry in manifest["jobs"].as_array().unwrap() {
        let (id, job) = (entry["id"].as_str().unwrap(), &entry["job"]);
        let found = if let Some(text) = job["configText"].as_str() {
            texts += 1;
            let config = Config::parse("job.cntk", text).unwrap();
            ReaderConfig::from_section(&config.section_at("reader").unwrap())
        } else {
            dictionaries += 1;
            ReaderConfig::from_json(&job["reader"], None)
        };
        match found {
            Ok(reader) => {
                assert!(!ERRORS_OF_CONFIGURATION.contains(&id), "{id} is accepted");
                assert_eq!(reader.unknown, [], "{id}");
                if job["reader"].is_object() {
                    check_against(&reader, &job["reader"], id);
                }
            }
            Err(error) => {
                refused += 1;
                assert!(ERRORS_OF_CONFIGURATION.contains(&id), "{id}: {error}");
                let expected = entry["error"].as_str().unwrap();
                let found = core(&error);
                assert!(found.ends_with(expected), "{id}: {found}");
                assert!(error.help().is_some());
            }
        }
    }
    eprintln!("{dictionaries} dictionaries, {texts} texts, {refused} of them refused");
    assert!(dictionaries >= 153 && texts >= 10);
    assert_eq!(refused, ERRORS_OF_CONFIGURATION.len());
}

/// Compares with the dictionary, by the rules as CNTK's model has them.
fn check_against(reader: &ReaderConfig, json: &Json, id: &str) {
    let types: Vec<&str> = json["deserializers"]
        .as_array()
        .unwrap()
        .iter()
        .map(|d| d["type"].as_str().unwrap())
        .collect();
    let numeric =
        !types.iter().any(|t| matches!(*t, "HTKFeatureDeserializer" | "HTKMLFDeserializer"));
    let numeric = json["useNumericSequenceKeys"].as_bool().unwrap_or(numeric);
    assert_eq!(reader.use_numeric_sequence_keys, numeric, "{id}");
    assert_eq!(reader.deserializers.len(), types.len(), "{id}");
    let window =
        json["randomize"].as_bool().unwrap().then(|| match json["randomizationWindow"].as_u64() {
            Some(n) if json["sampleBasedRandomizationWindow"] == json!(false) => Window::Chunks(n),
            Some(n) => Window::Samples(n),
            None if types.contains(&"CNTKTextFormatDeserializer") => Window::Chunks(128),
            None => Window::Samples(WHOLE_DATA),
        });
    assert_eq!(reader.window(), window, "{id}");
    assert_eq!(reader.frame_mode, json["frameMode"].as_bool().unwrap(), "{id}");
    assert_eq!(reader.randomization_seed, json["randomizationSeed"].as_u64().unwrap_or(0), "{id}");
    assert_eq!(reader.truncation_length, json["truncationLength"].as_u64().unwrap_or(0), "{id}");
    for (found, json) in reader.deserializers.iter().zip(json["deserializers"].as_array().unwrap())
    {
        if let Deserializer::Ctf(ctf) = found {
            assert_eq!(ctf.file, json["file"].as_str().unwrap(), "{id}");
            assert_eq!(ctf.inputs.len(), json["input"].as_object().unwrap().len(), "{id}");
            for input in &ctf.inputs {
                let json = &json["input"][&input.name];
                assert_eq!(input.dim, json["dim"].as_u64().unwrap(), "{id}");
                assert_eq!(input.alias, json["alias"].as_str().unwrap_or(&input.name), "{id}");
                assert_eq!(input.format == CtfFormat::Sparse, json["format"] == "sparse", "{id}");
            }
        }
    }
}
