//! Corpora named by a reader of CNTK: its configuration, or a bare CTF file.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use seqfeed_cntk::ctf::{CtfInput, CtfOptions, CtfSource, InputFinder, KeyKind, Names};
use seqfeed_core::{
    Chunking, Corpus, Element, Error, JoinPolicy, Kept, LengthRule, Result, Source, Tolerance,
};
use seqfeed_feed::{BatchSize, Cut, Layout, Order, Settings, Truncation, Unit, Window};
use seqfeed_io::{Input, Policy, RxFilename};
use serde_json::Value;

/// A corpus as its reader opened it.
pub(crate) struct OpenedReader {
    pub(crate) corpus: Corpus,
    pub(crate) settings: Settings,
    pub(crate) files: Vec<Arc<CtfSource>>,
}

/// Opens the corpus of a name.
pub(crate) fn open(name: &str, policy: &Policy) -> Result<OpenedReader> {
    let text = std::fs::read_to_string(name).map_err(|e| Error::io("opening", e).in_file(name))?;
    let reader: Value = serde_json::from_str(&text).map_err(|e| Error::usage(e.to_string()))?;
    let flag = |v: &Value, k: &str, d: bool| v[k].as_bool().unwrap_or(d);
    let number = |v: &Value, k: &str, d: u64| v[k].as_u64().unwrap_or(d);
    let keys = match (
        flag(&reader, "useNumericSequenceKeys", true),
        flag(&reader, "hashSequenceKeys", false),
    ) {
        (true, true) => {
            return Err(Error::usage("Hashing should not be used with numeric sequence keys."));
        }
        (true, false) => KeyKind::Numeric,
        (false, true) => KeyKind::Hashed,
        (false, false) => KeyKind::Symbolic,
    };
    let element = if reader["precision"] == "double" { Element::F64 } else { Element::F32 };
    let mut names = Names::new();
    let mut files = Vec::new();
    let mut mbd = Vec::new();
    for (n, part) in reader["deserializers"].as_array().unwrap().iter().enumerate() {
        let mut inputs: Vec<CtfInput> = part["input"]
            .as_object()
            .unwrap()
            .iter()
            .map(|(k, v)| CtfInput {
                name: k.clone(),
                alias: v["alias"].as_str().unwrap_or(k).to_owned(),
                dim: number(v, "dim", 0) as u32,
                sparse: v["format"] == "sparse",
                defines_mb_size: flag(v, "definesMBSize", false),
            })
            .collect();
        inputs.sort_by_key(|i| i.name.to_lowercase());
        if inputs.iter().any(|i| i.defines_mb_size) {
            mbd.push(n);
        }
        let options = CtfOptions {
            inputs,
            element,
            keys,
            skip_sequence_ids: flag(part, "skipSequenceIds", false),
            max_errors: number(part, "maxErrors", 0),
            chunk_bytes: number(part, "chunkSizeInBytes", 32 << 20),
            frame_mode: flag(&reader, "frameMode", false),
            cache_index: flag(part, "cacheIndex", false),
            ..CtfOptions::default()
        };
        files.push(Arc::new(CtfSource::open(
            part["file"].as_str().unwrap(),
            &options,
            &mut names,
            policy,
        )?));
    }
    if mbd.len() > 1 {
        return Err(Error::usage(
            "Only a single deserializer is allowed to define minibatch size, at least two found.",
        ));
    }
    let order = if !flag(&reader, "randomize", true) {
        Order::Sequential
    } else {
        let w = number(&reader, "randomizationWindow", 128);
        if flag(&reader, "sampleBasedRandomizationWindow", true) {
            Order::Shuffle(Window::Samples(w))
        } else {
            Order::Shuffle(Window::Chunks(w))
        }
    };
    let truncated = (reader["truncated"] == true)
        .then(|| Truncation { length: number(&reader, "truncationLength", 1), right_splice: 0 });
    let sources: Vec<Arc<dyn Source>> = files.iter().map(|f| Arc::clone(f) as _).collect();
    let join = JoinPolicy {
        missing: Tolerance::Skip,
        errors: Tolerance::Stop,
        chunks: Chunking::Primary,
        length: mbd.first().map_or(LengthRule::Longest, |&n| LengthRule::Source(n)),
    };
    let settings = Settings {
        unit: Unit::Sequence,
        order,
        truncated,
        seed: number(&reader, "randomizationSeed", 0),
        cut: Cut::Worker {
            local_timeline: flag(&reader, "localTimeline", true),
            cross_sweeps: true,
        },
        layout: Layout::Packed,
        batch: BatchSize::Samples(256),
        ..Settings::default()
    };
    Ok(OpenedReader { corpus: Corpus::join(sources, &join)?, settings, files })
}
