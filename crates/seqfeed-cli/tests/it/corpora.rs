//! Small corpora, written byte by byte as Kaldi writes them.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

/// Utterances with features (dim 3) and labels.
pub(crate) struct Corpus {
    pub(crate) utterances: Vec<Utterance>,
}

#[derive(Clone)]
pub(crate) struct Utterance {
    pub(crate) key: String,
    pub(crate) features: Vec<[f32; 3]>,
    pub(crate) labels: Vec<i32>,
}

/// `count` utterances of 5 to 24 frames. Label `100 * utterance + frame` tells which frame it is.
pub(crate) fn corpus(count: usize) -> Corpus {
    let utterance = |i: usize| {
        let frames = 5 + i * 7 % 20;
        let feature = |t: usize| [i as f32, t as f32, (i * 31 + t) as f32 / 7.0];
        Utterance {
            key: format!("spk{}-utt{i:03}", i / 10),
            features: (0..frames).map(feature).collect(),
            labels: (0..frames).map(|t| (100 * i + t) as i32).collect(),
        }
    };
    Corpus { utterances: (0..count).map(utterance).collect() }
}

impl Corpus {
    /// Writes `feats.ark`, `feats.scp`, `feats.txt` (text), `ali.ark` and `ali.txt`.
    pub(crate) fn write(&self, directory: &Path) {
        let (mut feats, mut ali) = (Vec::new(), Vec::new());
        let (mut script, mut text, mut ali_text) = (String::new(), String::new(), String::new());
        for Utterance { key, features, labels } in &self.utterances {
            feats.extend(format!("{key} ").bytes());
            writeln!(script, "{key} feats.ark:{}", feats.len()).unwrap();
            feats.extend(matrix(features));
            ali.extend(format!("{key} ").bytes());
            ali.extend(integers(labels));
            write!(text, "{key}  [").unwrap();
            for row in features {
                write!(text, "\n  {:.9e} {:.9e} {:.9e} ", row[0], row[1], row[2]).unwrap();
            }
            text.push_str("]\n");
            let labels: Vec<String> = labels.iter().map(ToString::to_string).collect();
            writeln!(ali_text, "{key} {} ", labels.join(" ")).unwrap();
        }
        fs::write(directory.join("feats.ark"), feats).unwrap();
        fs::write(directory.join("ali.ark"), ali).unwrap();
        fs::write(directory.join("feats.scp"), script).unwrap();
        fs::write(directory.join("feats.txt"), text).unwrap();
        fs::write(directory.join("ali.txt"), ali_text).unwrap();
    }

    /// Key, frame and label of every frame, sorted.
    pub(crate) fn frames(&self) -> Vec<(String, u64, i64)> {
        let mut frames = Vec::new();
        for Utterance { key, labels, .. } in &self.utterances {
            for (t, &label) in labels.iter().enumerate() {
                frames.push((key.clone(), t as u64, i64::from(label)));
            }
        }
        frames.sort();
        frames
    }
}

/// A binary float matrix with its header.
pub(crate) fn matrix(rows: &[[f32; 3]]) -> Vec<u8> {
    let mut bytes = b"\0BFM \x04".to_vec();
    bytes.extend((rows.len() as i32).to_le_bytes());
    bytes.push(4);
    bytes.extend(3i32.to_le_bytes());
    bytes.extend(rows.iter().flatten().flat_map(|value| value.to_le_bytes()));
    bytes
}

/// A binary vector of integers with its header.
pub(crate) fn integers(values: &[i32]) -> Vec<u8> {
    let mut bytes = b"\0B\x04".to_vec();
    bytes.extend((values.len() as i32).to_le_bytes());
    for value in values {
        bytes.push(4);
        bytes.extend(value.to_le_bytes());
    }
    bytes
}
