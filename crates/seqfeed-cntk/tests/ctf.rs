//! Random files, good and broken, against the model of CNTK.
#![allow(clippy::unwrap_used, clippy::print_stderr)]

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use seqfeed_cntk::ctf::{
    CtfFloat, CtfIncidents, CtfIndex, CtfInput, KeyKind, Names, Parser, ParserOptions, ScanOptions,
    Scanner, SequenceSamples, scan_in_parallel,
};
use seqfeed_core::Result;
use serde_json::Value;

const COUNT: usize = 1500;

/// The shared material, or `None` (said loudly) where it is missing.
fn shared() -> Option<PathBuf> {
    let root = std::env::var_os("SEQFEED_SHARED").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared"),
        PathBuf::from,
    );
    if root.join("oracles/cntk_model.py").exists() {
        return Some(root);
    }
    eprintln!("SKIPPED: {} has no oracles; set SEQFEED_SHARED", root.display());
    None
}

/// The cases, if Python has NumPy.
fn cases() -> Option<Vec<Value>> {
    let shared = shared()?;
    let numpy = Command::new("python3").args(["-c", "import numpy"]).output();
    if !numpy.is_ok_and(|output| output.status.success()) {
        eprintln!("SKIPPED: python3 has no NumPy, which the model of CNTK needs");
        return None;
    }
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/random_ctf.py");
    let seed = std::env::var("SEQFEED_CTF_SEED").unwrap_or_else(|_| "1".into());
    let output = Command::new("python3")
        .arg(script)
        .args([COUNT.to_string(), seed])
        .env("SEQFEED_SHARED", shared)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    Some(text.lines().map(|line| serde_json::from_str(line).unwrap()).collect())
}

fn bytes(hex: &Value) -> Vec<u8> {
    let hex = hex.as_str().unwrap();
    (0..hex.len() / 2).map(|at| u8::from_str_radix(&hex[2 * at..2 * at + 2], 16).unwrap()).collect()
}

fn numbers(value: &Value) -> Vec<u64> {
    value.as_array().unwrap().iter().map(|number| number.as_u64().unwrap()).collect()
}

fn text(value: &Value) -> String {
    value.as_str().unwrap().to_owned()
}

fn inputs(case: &Value) -> Vec<CtfInput> {
    let streams = case["streams"].as_array().unwrap();
    streams
        .iter()
        .map(|stream| CtfInput {
            name: text(&stream["name"]),
            alias: text(&stream["alias"]),
            dim: stream["dim"].as_u64().unwrap() as u32,
            sparse: stream["sparse"].as_bool().unwrap(),
            defines_mb_size: stream["main"].as_bool().unwrap(),
        })
        .collect()
}

fn scan(data: &[u8], piece: usize, options: &ScanOptions) -> Result<CtfIndex> {
    let mut names = Names::new();
    let mut scanner = Scanner::new(options, &mut names);
    for piece in data.chunks(piece) {
        scanner.push(piece)?;
    }
    scanner.finish()
}

fn scan_at(data: &[u8], threads: usize, most: usize, options: &ScanOptions) -> Result<CtfIndex> {
    let read_at = |offset: u64, buffer: &mut [u8]| {
        let rest = &data[offset as usize..];
        let len = rest.len().min(buffer.len()).min(most);
        buffer[..len].copy_from_slice(&rest[..len]);
        Ok(len)
    };
    scan_in_parallel(read_at, data.len() as u64, threads, options, &mut Names::new())
}

/// A value as the model has it, with its bits.
trait Bits: CtfFloat + Into<f64> {
    fn of(bits: u64) -> Self;
    /// Units in the last place that the model may be wrong by.
    const WRONG: i64;
    fn ordered(self) -> i64;
}

impl Bits for f32 {
    const WRONG: i64 = 1;

    fn of(bits: u64) -> Self {
        Self::from_bits(bits as u32)
    }

    fn ordered(self) -> i64 {
        let bits = i64::from(self.abs().to_bits());
        if self.is_sign_negative() { -bits } else { bits }
    }
}

impl Bits for f64 {
    // Each digit of the model's is rounded.
    const WRONG: i64 = 16;

    fn of(bits: u64) -> Self {
        Self::from_bits(bits)
    }

    fn ordered(self) -> i64 {
        let bits = self.abs().to_bits() as i64;
        if self.is_sign_negative() { -bits } else { bits }
    }
}

fn same<T: Bits>(found: T, model: u64) -> bool {
    let model = T::of(model);
    let (wide, model_wide) = (found.into(), model.into());
    // The model multiplies 0 by infinity, and small powers of ten are not exact.
    (found.ordered() - model.ordered()).abs() <= T::WRONG
        || model_wide.is_nan()
        || (wide.abs() < 1e-290 && model_wide.abs() < 1e-290)
}

fn check<T: Bits>(case: &Value, number: usize, tally: &mut [usize; 4]) {
    let data = bytes(&case["data"]);
    let inputs = inputs(case);
    let what = format!("case {number}: {:?} {case}", data.escape_ascii().to_string());
    let keys = match case["keys"].as_str().unwrap() {
        "numeric" => KeyKind::Numeric,
        "symbolic" => KeyKind::Symbolic,
        _ => KeyKind::Hashed,
    };
    let options = ScanOptions {
        skip_sequence_ids: case["skip"].as_bool().unwrap(),
        main_alias: CtfInput::main(&inputs).unwrap().map(|input| input.alias.clone()),
        keys,
    };
    let found = scan(&data, usize::MAX, &options);
    for piece in [1, 2, 3, 7, 30] {
        let again = scan(&data, piece, &options);
        assert_eq!(format!("{found:?}"), format!("{again:?}"), "pieces of {piece}, {what}");
        let again = scan_at(&data, piece, 1 << 20, &options);
        assert_eq!(format!("{found:?}"), format!("{again:?}"), "{piece} threads, {what}");
        let again = scan_at(&data, 3, piece, &options);
        assert_eq!(format!("{found:?}"), format!("{again:?}"), "reads of {piece}, {what}");
    }
    if case["index"].is_null() {
        let message = found.unwrap_err().to_string();
        assert!(message.contains(case["error"].as_str().unwrap()), "{message}, {what}");
        tally[0] += 1;
        return;
    }
    let index = found.unwrap_or_else(|error| panic!("{error}, {what}"));
    let sequences: Vec<Vec<u64>> = index
        .sequences
        .iter()
        .map(|found| {
            vec![found.key, u64::from(found.samples), found.offset, u64::from(found.bytes)]
        })
        .collect();
    let expected: Vec<Vec<u64>> = case["index"].as_array().unwrap().iter().map(numbers).collect();
    assert_eq!(sequences, expected, "{what}");
    if keys == KeyKind::Symbolic {
        let names: Vec<Vec<u8>> = case["names"].as_array().unwrap().iter().map(bytes).collect();
        assert_eq!(index.names.iter().map(|name| name.to_vec()).collect::<Vec<_>>(), names);
    }
    let chunks = index.chunks(case["limit"].as_u64().unwrap());
    let lens: Vec<u64> = chunks.iter().map(|chunk| chunk.sequences.len() as u64).collect();
    assert_eq!(lens, numbers(&case["chunks"]), "{what}");

    let incidents = Arc::new(CtfIncidents::new(case["maxErrors"].as_u64().unwrap()));
    let parser_options = ParserOptions { keys, ..ParserOptions::default() };
    let mut parser = Parser::new("F", &inputs, &parser_options, incidents.clone()).unwrap();
    let mut samples = SequenceSamples::<T>::new();
    let parsed = case["sequences"].as_array().unwrap();
    for (number, sequence) in index.sequences.iter().enumerate() {
        let bytes = &data[sequence.offset as usize..][..sequence.bytes as usize];
        let result = parser.parse(bytes, sequence.offset, sequence.samples, &mut samples);
        let Some(expected) = parsed.get(number) else {
            let message = result.expect_err(&what).to_string();
            assert!(message.contains(case["error"].as_str().unwrap()), "{message}, {what}");
            tally[1] += 1;
            break;
        };
        result.unwrap_or_else(|error| panic!("{error}, {what}"));
        for (stream, expected) in samples.streams.iter().zip(expected.as_array().unwrap()) {
            let values = numbers(&expected[0]);
            assert_eq!(stream.values.len(), values.len(), "{what}");
            for (&value, &model) in stream.values.iter().zip(&values) {
                let (ours, theirs): (f64, f64) = (value.into(), T::of(model).into());
                assert!(same(value, model), "{ours:e} {theirs:e}, {what}");
            }
            let list = |list: &[u32]| list.iter().map(|&item| u64::from(item)).collect::<Vec<_>>();
            assert_eq!(list(&stream.indices), numbers(&expected[1]), "{what}");
            assert_eq!(list(&stream.sample_ends), numbers(&expected[2]), "{what}");
            assert_eq!(u64::from(stream.samples), expected[3].as_u64().unwrap(), "{what}");
        }
        tally[2] += 1;
    }
    assert_eq!(incidents.budget_left(), case["left"].as_u64().unwrap(), "{what}");
    tally[3] += usize::from(case["error"].is_null());
}

#[test]
fn random_files_equal_the_model() {
    let Some(cases) = cases() else { return };
    assert_eq!(cases.len(), COUNT);
    let mut tally = [0; 4];
    for (number, case) in cases.iter().enumerate() {
        if case["double"].as_bool().unwrap() {
            check::<f64>(case, number, &mut tally);
        } else {
            check::<f32>(case, number, &mut tally);
        }
    }
    let [no_index, not_parsed, sequences, whole] = tally;
    eprintln!(
        "{COUNT} files: {no_index} without an index, {not_parsed} with errors, {whole} parsed; \
         {sequences} sequences"
    );
    // All kinds come up.
    assert!(no_index > 50 && not_parsed > 300 && whole > 400, "{tally:?}");
}
