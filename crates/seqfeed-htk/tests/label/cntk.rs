//! The classes that CNTK gave the frames of recorded runs.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::path::Path;

use flate2::read::GzDecoder;
use seqfeed_core::Error;
use seqfeed_htk::label::cntk::{CntkIndex, FrameParser};
use seqfeed_htk::state_list::StateList;
use serde_json::Value;

use crate::shared;

/// The classes and values of the frames of utterances, by key.
type Utterances = BTreeMap<String, Vec<(i32, f32)>>;

/// The utterances of MLFs, and what was wrong.
pub(crate) fn read(files: &[&Path], parser: &FrameParser<'_>) -> (Utterances, Vec<Error>) {
    let mut incidents = Vec::new();
    let mut index = CntkIndex::default();
    let mut data = Vec::new();
    for file in files {
        data.push(fs::read(file).unwrap());
        let bytes = &data.last().unwrap()[..];
        let incident = |error| {
            incidents.push(error);
            Ok(())
        };
        if let Err(error) = index.add(&file.display().to_string(), bytes, incident) {
            incidents.push(error);
        }
    }
    let mut utterances = BTreeMap::new();
    for utterance in index.utterances() {
        let bytes =
            &data[utterance.file_number][utterance.offset as usize..][..utterance.bytes as usize];
        let (mut classes, mut values) = (Vec::new(), Vec::new());
        match parser.parse(&utterance, bytes, &mut classes, Some(&mut values)) {
            Ok(()) => {
                let frames = classes.into_iter().zip(values).collect();
                utterances.insert(utterance.key.to_string(), frames);
            }
            Err(error) => incidents.push(error),
        }
    }
    (utterances, incidents)
}

#[test]
fn classes_are_those_of_recorded_runs() {
    let Some(manifest) = shared("golden/cntk/manifest.json") else { return };
    let data = manifest.with_file_name("data");
    let manifest_json: Value = serde_json::from_slice(&fs::read(&manifest).unwrap()).unwrap();
    let (mut runs, mut sequences) = (0, 0);
    for case in manifest_json["jobs"].as_array().unwrap() {
        let reader = &case["job"]["reader"];
        let [_, labels] = &reader["deserializers"].as_array().cloned().unwrap_or_default()[..]
        else {
            continue;
        };
        let usable = case["status"] == "ok"
            && labels["type"] == "HTKMLFDeserializer"
            && case["job"]["values"] == "full"
            && case["job"]["cwd"] == "@DATA@"
            && reader["frameMode"] != true
            && reader["truncated"] != true;
        if !usable {
            continue;
        }
        let id = case["id"].as_str().unwrap();
        let input = &labels["input"]["labels"];
        let path = |value: &Value| data.join(value.as_str().unwrap());
        let files = match (&input["mlfFile"], &input["mlfFileList"]) {
            (Value::Null, Value::Array(files)) => files.iter().map(path).collect(),
            (Value::Null, list) => {
                let text = fs::read_to_string(path(list)).unwrap();
                text.split_whitespace().map(|file| data.join(file)).collect()
            }
            (file, _) => vec![path(file)],
        };
        let states = match &input["labelMappingFile"] {
            Value::Null => None,
            file => Some(StateList::parse(&fs::read(path(file)).unwrap()).unwrap()),
        };
        let parser = FrameParser::new(states.as_ref(), input["dim"].as_u64().unwrap() as u32);
        let files: Vec<&Path> = files.iter().map(|file| &**file).collect();
        let (utterances, _) = read(&files, &parser);
        let boundaries = input["phoneBoundaries"] == true;

        let output = manifest.with_file_name(case["output"].as_str().unwrap());
        let output = manifest.parent().unwrap().join("out").join(output.file_name().unwrap());
        for line in BufReader::new(GzDecoder::new(File::open(output).unwrap())).lines() {
            let line: Value = serde_json::from_str(&line.unwrap()).unwrap();
            let Some(labels) = line["data"]["labels"]["seqs"].as_array() else { continue };
            for sequence in labels {
                let frames = sequence[4].as_array().unwrap().iter();
                let frames: Vec<(i32, f32)> = frames
                    .map(|frame| {
                        (frame[0].as_i64().unwrap() as i32, frame[1].as_f64().unwrap() as f32)
                    })
                    .collect();
                let mut found = utterances[sequence[0].as_str().unwrap()].clone();
                if !boundaries {
                    found.iter_mut().for_each(|(_, value)| *value = 1.0);
                }
                assert_eq!(found, frames, "{id} {}", sequence[0]);
                sequences += 1;
            }
        }
        runs += 1;
    }
    assert_eq!((runs, sequences), (18, 210));
}

#[test]
fn what_is_wrong_is_said_with_key_and_line() {
    let Some(data) = shared("golden/cntk/data/htk") else { return };
    let states = fs::read(data.join("states.list")).unwrap();
    let states = StateList::parse(&states).unwrap();
    let parser = FrameParser::new(Some(&states), 5);
    let whole = read(&[&data.join("tiny.mlf")], &parser).0;
    for (file, count, key, part) in [
        ("tiny_gap.mlf", 1, "s01/u04", "the first frame is"),
        ("tiny_notzero.mlf", 1, "s01/u04", "expected 0, where an utterance starts"),
        ("tiny_badstate.mlf", 7, "s00/u00", "the name of a state"),
        ("tiny_empty.mlf", 1, "s01/u04", "lines of labels: expected 1, found 0"),
    ] {
        let (utterances, incidents) = read(&[&data.join(file)], &parser);
        assert_eq!(incidents.len(), count, "{file}: {incidents:?}");
        let place = incidents[0].place();
        assert_eq!(place.key.as_deref(), Some(key), "{file}");
        assert!(place.position.is_some() && place.file.is_some(), "{file}");
        assert!(incidents[0].message().contains(part), "{file}: {}", incidents[0]);
        assert_eq!(utterances.len(), whole.len() - count, "{file}");
    }
    let (utterances, incidents) = read(&[&data.join("tiny_nohdr.mlf")], &parser);
    assert!(utterances.is_empty() && incidents[0].message().contains("#!MLF!#"), "{incidents:?}");
    let (_, incidents) = read(&[&data.join("tiny_noquote.mlf")], &parser);
    assert!(incidents[0].message().contains("a name in quotes"), "{incidents:?}");
    let (utterances, _) = read(&[&data.join("tiny_nolastdot.mlf")], &parser);
    assert_eq!(utterances.len(), whole.len() - 1);
    // CNTK cannot find the last state of a list without a final newline.
    let other = StateList::parse(&fs::read(data.join("states_nonl.list")).unwrap()).unwrap();
    assert_eq!(
        (0..5).map(|c| other.name(c)).collect::<Vec<_>>(),
        (0..5).map(|c| states.name(c)).collect::<Vec<_>>()
    );
}

#[test]
fn real_alignments_have_a_class_for_each_frame() {
    let Some(data) = shared("data/an4/htk") else { return };
    let states = StateList::parse(&fs::read(data.join("state.list")).unwrap()).unwrap();
    assert_eq!((states.len(), states.duplicates().len()), (132, 0));
    let parser = FrameParser::new(Some(&states), 132);
    let (utterances, incidents) = read(&[&data.join("an4.mlf")], &parser);
    assert!(incidents.is_empty(), "{incidents:?}");
    assert_eq!(utterances.len(), 6);
    assert_eq!(utterances.values().map(Vec::len).sum::<usize>(), 1008);
}

#[test]
fn names_in_quotes_are_those_inside_unless_the_list_has_them_quoted() {
    let classes = |states: &[u8], label: &str| {
        let states = StateList::parse(states).unwrap();
        let parser = FrameParser::new(Some(&states), states.len() as u32);
        let mlf = format!("#!MLF!#\n\"*/u.lab\"\n0 2 {label}\n.\n");
        let mut index = CntkIndex::default();
        index.add("x.mlf", mlf.as_bytes(), Err).unwrap();
        let utterance = index.utterance(0);
        let bytes = &mlf.as_bytes()[utterance.offset as usize..][..utterance.bytes as usize];
        let mut classes = Vec::new();
        parser.parse(&utterance, bytes, &mut classes, None).map(|()| classes)
    };
    let list = b"sil\n12\na b\n";
    assert_eq!(classes(list, "sil").unwrap(), [0, 0]);
    assert_eq!(classes(list, "\"sil\"").unwrap(), [0, 0]);
    assert_eq!(classes(list, "'12' -3.5").unwrap(), [1, 1]);
    assert_eq!(classes(list, "\"a b\" 7 more").unwrap(), [2, 2]);
    assert_eq!(classes(b"sil\n\"sil\"\n", "\"sil\"").unwrap(), [1, 1], "as CNTK");
    for wrong in ["\"sil", "\"sil\"s", "\"\"", "'sil\"", "\"other\""] {
        let error = classes(list, wrong).unwrap_err();
        assert!(error.message().contains("the name of a state"), "{wrong}: {error}");
    }
}
