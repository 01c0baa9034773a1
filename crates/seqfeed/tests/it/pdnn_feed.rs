//! The same partitions and minibatches as PDNN, for every specification that it was recorded with.

use std::path::Path;

use seqfeed::io::Opener;
use seqfeed::{Description, Minibatch};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::job::shared;

/// Specifications with which PDNN gives something else than its document says, and why.
const EXCUSED: [(&str, &str); 8] = [
    ("syn/a.pfile,ignore-label=0-9,stream=True", "an empty partition; here an error"),
    ("syn/p1.pickle,ignore-label=0-9", "an empty partition; here an error"),
    ("syn/twolab.pfile", "rubbish where frames have two labels"),
    ("syn/twolab.pfile,stream=True", "rubbish where frames have two labels"),
    ("syn/biglab.pfile", "labels go through 32-bit floats"),
    ("kaldi/a.scp,label=kaldi/a_tab.ali", "alignments with tabs are lost"),
    ("kaldi/a.scp,label=kaldi/a_float.ali", "alignments with floats are lost; here an error"),
    ("kaldi/d_double.scp,label=kaldi/a.ali", "double matrices are read as rubbish"),
];

/// Specifications that PDNN ran through.
const RAN: usize = 88;

/// What one feed gives: features and labels of each minibatch.
type Data = Vec<(Vec<f32>, Vec<i32>)>;

fn description(golden: &Path, spec: &str) -> Description {
    let mut description = Description::default();
    description.corpus.data = Some(spec.to_owned());
    description.base = Some(golden.into());
    description.feed.sweeps = Some(2);
    description
}

fn feed(description: &Description) -> seqfeed::Result<Data> {
    let opened = description.open(&Opener::default())?;
    let data = |minibatch: &Minibatch| {
        (
            minibatch.dense("features").unwrap().to_vec(),
            minibatch.labels("labels").unwrap().to_vec(),
        )
    };
    opened.feed(None)?.map(|minibatch| minibatch.map(|minibatch| data(&minibatch))).collect()
}

/// Compares one specification; what is wrong with it.
fn compare(golden: &Path, case: &Value) -> Result<usize, String> {
    let spec = case["spec"].as_str().unwrap();
    let mut whole = description(golden, spec);
    // A minibatch that no partition fills is the partition.
    whole.feed.batch_size = Some(u64::MAX);
    whole.feed.partial = Some(seqfeed::Partial::Keep);
    let partitions = feed(&whole).map_err(|error| error.to_string())?;
    let mut expected: Vec<&Value> = case["epochs"][0].as_array().unwrap().iter().collect();
    let files: Vec<&str> =
        case["files"].as_array().unwrap().iter().map(|file| file.as_str().unwrap()).collect();
    if files.len() > 1 && spec.starts_with("syn") {
        // PDNN takes files in the order of the directory: here each has one partition.
        let mut order: Vec<usize> = (0..files.len()).collect();
        order.sort_by_key(|&file| files[file]);
        expected = order.iter().map(|&file| expected[file]).collect();
    }
    // Kaldi and stream readers may end with a partition of nothing.
    expected.retain(|partition| partition["n"] != 0);
    if case["epoch2"] != "identical to epoch 1" {
        return Err("its second epoch was recorded too".to_owned());
    }
    if partitions.len() != 2 * expected.len() {
        return Err(format!("{} partitions in 2 sweeps, not {}", partitions.len(), expected.len()));
    }
    for (number, (features, labels)) in partitions.iter().enumerate() {
        let expected = expected[number % expected.len()];
        let n = expected["n"].as_u64().unwrap() as usize;
        let y: Vec<i32> =
            expected["y"].as_array().unwrap().iter().map(|y| y.as_f64().unwrap() as i32).collect();
        if labels.len() != n {
            return Err(format!("partition {number} has {} frames, not {n}", labels.len()));
        }
        if *labels != y {
            return Err(format!("labels of partition {number}"));
        }
        let bytes: Vec<u8> = features.iter().flat_map(|value| value.to_le_bytes()).collect();
        if format!("{:x}", Sha256::digest(&bytes)) != expected["x_sha256"].as_str().unwrap() {
            return Err(format!("features of partition {number}"));
        }
        let order = expected["order"].as_array().unwrap();
        if order.len() != n {
            return Err("order".to_owned());
        }
    }
    let mut compared = 0;
    for size in [256, 100] {
        let mut batched = description(golden, spec);
        batched.feed.batch_size = Some(size);
        let count =
            |partition: &&Value| partition["minibatches"][size.to_string()].as_u64().unwrap();
        let count: u64 = 2 * expected.iter().map(count).sum::<u64>();
        let minibatches = match feed(&batched) {
            Ok(minibatches) => minibatches,
            Err(error) if error.message().starts_with("no minibatch of") => Vec::new(),
            Err(error) => return Err(error.to_string()),
        };
        let size = size as usize;
        let cut = partitions.iter().flat_map(|(features, labels)| {
            let width = features.len() / labels.len();
            let features = features.chunks_exact(size * width).map(<[f32]>::to_vec);
            features.zip(labels.chunks_exact(size).map(<[i32]>::to_vec))
        });
        let bits = |data: Data| -> Vec<(Vec<u32>, Vec<i32>)> {
            data.into_iter().map(|(x, y)| (x.into_iter().map(f32::to_bits).collect(), y)).collect()
        };
        if minibatches.len() as u64 != count {
            return Err(format!("{} minibatches of {size}, not {count}", minibatches.len()));
        }
        if bits(minibatches) != bits(cut.collect()) {
            return Err(format!("minibatches of {size}"));
        }
        compared += count as usize;
    }
    Ok(compared)
}

#[test]
fn partitions_and_minibatches_are_pdnns() {
    let Some(golden) = shared("golden/pdnn") else { return };
    let text = std::fs::read_to_string(golden.join("manifest_pdnn_feed.json")).unwrap();
    let cases: Vec<Value> = serde_json::from_str(&text).unwrap();
    let ran: Vec<&Value> = cases.iter().filter(|case| case.get("error").is_none()).collect();
    let (mut same, mut minibatches, mut wrong) = (0, 0, Vec::new());
    for case in &ran {
        let spec = case["spec"].as_str().unwrap();
        if EXCUSED.iter().any(|&(excused, _)| excused == spec) {
            continue;
        }
        match compare(&golden, case) {
            Ok(count) => (same, minibatches) = (same + 1, minibatches + count),
            Err(what) => wrong.push(format!("{spec}: {what}")),
        }
    }
    eprintln!("{same} of {} specifications are the same, {minibatches} minibatches", ran.len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_eq!(ran.len(), RAN);
    assert_eq!(same, RAN - EXCUSED.len(), "all but those that are excused");
}

/// What comes of a specification: the number of frames, or the error.
fn verdict(golden: &Path, spec: &str) -> String {
    let mut whole = description(golden, spec);
    whole.feed.sweeps = Some(1);
    whole.feed.batch_size = Some(u64::MAX);
    whole.feed.partial = Some(seqfeed::Partial::Keep);
    let frames = || -> seqfeed::Result<usize> {
        let feed = whole.open(&Opener::default())?.feed(None)?;
        feed.map(|minibatch| minibatch.map(|minibatch| minibatch.samples())).sum()
    };
    match frames() {
        Ok(frames) => format!("{frames} frames"),
        Err(error) => error.message().replace(&format!("{}/", golden.display()), ""),
    }
}

#[test]
fn bad_data_and_specifications_that_pdnn_fails_with() {
    let Some(golden) = shared("golden/pdnn") else { return };
    let mut lines = Vec::new();
    for (manifest, count) in [("manifest_pdnn_bad.json", 63), ("manifest_pdnn_feed.json", 39)] {
        let text = std::fs::read_to_string(golden.join(manifest)).unwrap();
        let cases: Vec<Value> = serde_json::from_str(&text).unwrap();
        let before = lines.len();
        for case in &cases {
            let spec = case["spec"].as_str().unwrap();
            let error = case["error"].as_str();
            if error.is_none() && manifest == "manifest_pdnn_feed.json" {
                continue;
            }
            let pdnn = match error {
                Some(error) => error.split(':').next().unwrap_or_default().to_owned(),
                None => format!("{} frames", case["n"][0]),
            };
            let ours = verdict(&golden, spec);
            lines.push(format!("{spec}\n    PDNN: {pdnn}\n    here: {ours}"));
        }
        assert_eq!(lines.len() - before, count, "{manifest}");
    }
    let found = lines.join("\n");
    assert!(found == include_str!("pdnn_bad.txt").trim_end(), "{found}");
}
