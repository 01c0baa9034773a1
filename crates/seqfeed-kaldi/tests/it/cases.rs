//! What Kaldi's own readers did with a thousand good and bad inputs, call by call.

use std::fs;
use std::path::Path;

use seqfeed_core::{Error, ErrorKind, Key, Result};
use seqfeed_io::{Opener, RxFilename};
use seqfeed_kaldi::{
    Holder, Matrix, Mode, ObjectReader, RandomAccessReader, ReadOptions, ScriptLine,
    SequentialReader, TableWriter, Token, TokenVector, Vector, write_object,
};
use serde_json::Value;

use crate::tables::shared;

/// Where we differ on purpose (docs/kaldi-differences.md), or a case cannot be repeated.
const DIFFERENCES: &[&str] = &[
    // What Kaldi writes, it cannot read: we can.
    "matform/minus_inf",
    "matform/minus_nan",
    "basic/f_inf",
    "basic/f_nan",
    // A byte of the next key is lost behind `]` and a lone carriage return.
    "matform/close_cr_only",
    // Archives and script files that end or break in the middle, without a word.
    "mateof/eof_no_value",
    "trunc/first_key",
    "trunc/p_first_key",
    "trunc/p_first_key_partial",
    "trunc/second_key",
    "trunc/second_key_partial",
    "scp/copy_blank_line_mid",
    "scp/copy_p_blank_line_mid",
    "scp/copy_blank_line_end",
    "scp/copy_p_blank_line_end",
    "scp/copy_p_spaces_line",
    "scp/copy_no_rx_mid",
    // Lines that are wrong are found at opening.
    "scp/ra_range_empty",
    "scp/ra_range_noname",
    // `p` passes over ranges that do not fit and offsets that no file has, as over anything else
    // that cannot be read.
    "scp/copy_p_off_huge",
    "range/mat_p [2:2]",
    "range/mat_p [3:4]",
    "range/mat_p [:,0:3]",
    // The documents promise it.
    "range/mat_p [,0:1]",
    // Commands that fail are errors. (And these run elsewhere than they did for Kaldi.)
    "scp/ra_pipe_fail",
    "scp/copy_p_pipe_fail_after",
    "scp/ra_pipe_fail_after",
    "ra/pipe_fail",
    "ra/copy_pipe_nofound_p",
    // The vector was not kept.
    "range/vec [0:1]",
    "range/vec [3:6]",
    "range/vec [4:5]",
    // A key that stands twice is an error whenever it is met, and the first one counts.
    "ra/dup/o/1",
    "ra/dup/o/9",
    "ra/dup/o,cs/1",
    "ra/dup/o,cs/9",
    "ra/dup2/o/1",
    "ra/dup2/o/2",
    "ra/dup2/o,cs/8",
    // Kaldi aborts.
    "ra/scp_badkey",
];

/// Calls a generic function for the type that Kaldi's test program calls by a short name.
macro_rules! of_type {
    ($name:expr, $function:ident($($argument:expr),*)) => {
        match $name {
            "bfm" => Some($function::<Matrix<f32>>($($argument),*)),
            "bfv" => Some($function::<Vector<f32>>($($argument),*)),
            "i8" => Some($function::<i8>($($argument),*)),
            "u8" => Some($function::<u8>($($argument),*)),
            "i32" => Some($function::<i32>($($argument),*)),
            "u32" => Some($function::<u32>($($argument),*)),
            "f" => Some($function::<f32>($($argument),*)),
            "bool" => Some($function::<bool>($($argument),*)),
            "i32v" => Some($function::<Vec<i32>>($($argument),*)),
            "i32vv" => Some($function::<Vec<Vec<i32>>>($($argument),*)),
            "i32pv" => Some($function::<Vec<(i32, i32)>>($($argument),*)),
            "tok" => Some($function::<Token>($($argument),*)),
            "tokv" => Some($function::<TokenVector>($($argument),*)),
            _ => None,
        }
    };
}

fn options(golden: &Path) -> ReadOptions {
    let opener = Opener::with_pipes().in_directory(Some(golden.join("bad").into()));
    ReadOptions { opener, ..ReadOptions::default() }
}

/// An rspecifier whose commands run in the directory of the cases.
fn located(rspecifier: &str, golden: &Path) -> String {
    match rspecifier.split_once(':') {
        Some((words, name)) if name.ends_with('|') => {
            format!(
                "{words}:cd {} && {{ {}; }} |",
                golden.join("bad").display(),
                &name[..name.len() - 1]
            )
        }
        _ => rspecifier.to_owned(),
    }
}

fn text_of<T: Holder>(value: &T) -> Vec<u8> {
    let mut text = Vec::new();
    write_object(value, &mut text, Mode::Text).unwrap();
    text
}

/// What a copy to text on standard output prints, or nothing if it fails.
fn copy<T: Holder>(rspecifier: &str, golden: &Path) -> Option<Vec<u8>> {
    match try_copy::<T>(rspecifier, golden) {
        Ok(text) => Some(text),
        Err(error) => {
            check_message(&error, rspecifier);
            None
        }
    }
}

/// An error of a file says where, and what to do.
fn check_message(error: &Error, rspecifier: &str) {
    if !matches!(error.kind(), ErrorKind::Format { .. }) {
        return;
    }
    let place = error.place();
    let written = place.file.is_none() && place.key.is_some();
    assert!(place.file.is_some() || written, "{rspecifier}: {error}");
    assert!(place.position.is_some() || written, "{rspecifier}: {error}");
    assert!(error.help().is_some() || written, "{rspecifier}: {error}");
}

fn try_copy<T: Holder>(rspecifier: &str, golden: &Path) -> Result<Vec<u8>> {
    let directory = tempfile::tempdir().unwrap();
    let out = directory.path().join("out").display().to_string();
    let mut table =
        SequentialReader::<T>::open_with(&located(rspecifier, golden), &options(golden))?;
    let mut copy = TableWriter::create(&format!("ark,t:{out}"), &Opener::default()).unwrap();
    for entry in table.by_ref() {
        let (key, value) = entry?;
        copy.write(Key(&key), &value)?;
    }
    table.close()?;
    copy.close().unwrap();
    Ok(fs::read(&out).unwrap())
}

/// A copy of one object.
fn copy_object<T: Holder>(name: &str, golden: &Path) -> Option<Vec<u8>> {
    let line = format!("k {name}");
    let line = ScriptLine::parse(line.as_bytes()).ok()?;
    let directory = golden.join("bad");
    let rxfilename = RxFilename::parse(line.rxfilename).ok()?.relative_to(Some(&directory.into()));
    let mut reader = ObjectReader::open(&rxfilename, &Opener::with_pipes()).ok()?;
    let value: T = reader.read().ok()?;
    let value = match &line.range {
        Some(range) => value.extract(range).ok()?,
        None => value,
    };
    Some(text_of(&value))
}

/// What came of a call: as Kaldi's test program prints it.
fn shown(result: Result<Option<Vec<u8>>>) -> String {
    match result {
        Ok(None) => "0".into(),
        Ok(Some(text)) if text.is_empty() => "1".into(),
        Ok(Some(text)) => {
            let mut shown = String::from("\"");
            for byte in text {
                match byte {
                    0x20..=0x7e => shown.push(byte as char),
                    byte => shown += &format!("\\u{byte:04x}"),
                }
            }
            shown + "\""
        }
        Err(_) => "EXC".into(),
    }
}

/// Random access, call by call: `h:KEY` asks whether there is a key, `v:KEY` for its object.
fn random<T: Holder>(rspecifier: &str, calls: &[&str], golden: &Path) -> Vec<String> {
    let reader = RandomAccessReader::<T>::open_with(&located(rspecifier, golden), &options(golden));
    let Ok(mut reader) = reader else { return vec!["open=0".into()] };
    let mut all = vec!["open=1".to_owned()];
    for call in calls {
        let Some((call, key)) = call.split_once(':') else { continue };
        let key = Key(key.as_bytes());
        all.push(match call {
            "h" => shown(reader.contains(key).map(|found| found.then(Vec::new))),
            _ => shown(reader.get(key).map(|value| value.map(text_of))),
        });
    }
    all
}

/// The same as Kaldi printed it.
fn printed(stdout: &str) -> Vec<String> {
    let mut all = Vec::new();
    for line in stdout.lines() {
        if line.starts_with("open=") {
            all.push(line.to_owned());
        } else if line.starts_with("close=") {
        } else if line.starts_with("EXC") || line.contains("=EXC ") {
            all.push("EXC".into());
        } else if let Some((_, value)) = line.split_once('=') {
            all.push(value.to_owned());
        }
    }
    all
}

#[test]
fn as_kaldi_call_by_call() {
    let Some(golden) = shared("golden/kaldi") else { return };
    let cases = fs::read_to_string(golden.join("bad/cases.json")).unwrap();
    let cases: Vec<Value> = serde_json::from_str(&cases).unwrap();
    let (mut compared, mut differ) = (0, Vec::new());
    for case in &cases {
        let (id, command) = (case["id"].as_str().unwrap(), case["cmd"].as_str().unwrap());
        let (code, stdout) =
            (case["rc"].as_i64().unwrap_or(-1), case["stdout"].as_str().unwrap_or_default());
        let command = command.strip_prefix("ulimit -v 4000000; ").unwrap_or(command);
        let words = shell_words(command);
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let (ours, kaldi) = match words[..] {
            ["copy-feats", from, "ark,t:-"] if from.contains("ark") || from.contains("scp") => {
                let ours = copy::<Matrix<f32>>(from, &golden);
                (format!("{ours:?}"), (code == 0 || code == 1).then(|| stdout.as_bytes().to_vec()))
            }
            ["copy-vector", from, "ark,t:-"] => {
                let ours = copy::<Vector<f32>>(from, &golden);
                (format!("{ours:?}"), (code == 0 || code == 1).then(|| stdout.as_bytes().to_vec()))
            }
            ["copy-matrix", "--binary=false", from, "-"] => {
                let ours = copy_object::<Matrix<f32>>(from, &golden);
                (format!("{ours:?}"), (code == 0).then(|| stdout.as_bytes().to_vec()))
            }
            ["kio-oracle", "copy", name, from, "ark,t:-"] => {
                let Some(ours) = of_type!(name, copy(from, &golden)) else { continue };
                (format!("{ours:?}"), (code == 0).then(|| stdout.as_bytes().to_vec()))
            }
            ["kio-oracle", "ra", name, from, ref calls @ ..] => {
                let Some(ours) = of_type!(name, random(from, calls, &golden)) else { continue };
                let kaldi = printed(stdout);
                compared += 1;
                let alike = alike(&ours, &kaldi, id.contains("trunc"));
                if alike == DIFFERENCES.contains(&id) {
                    differ.push(format!(
                        "{id} | {from} {calls:?}\n    ours  {ours:?}\n    kaldi {kaldi:?}"
                    ));
                }
                continue;
            }
            _ => continue,
        };
        compared += 1;
        let kaldi = format!("{kaldi:?}");
        if (ours == kaldi) == DIFFERENCES.contains(&id) {
            let text = |bytes: &str| bytes.chars().take(200).collect::<String>();
            differ.push(format!(
                "{id} | {command}\n    ours  {}\n    kaldi {}",
                text(&ours),
                text(&kaldi)
            ));
        }
    }
    assert!(differ.is_empty(), "{} differ of {compared}\n{}", differ.len(), differ.join("\n"));
    assert!(compared > 700, "{compared} compared");
}

/// Whether calls came out alike.
///
/// Kaldi's `Value` throws for a key that is not there, where we give nothing. Once an archive was
/// found damaged or out of order, we say so for every key that may be behind the damage, where
/// Kaldi says that there is no such key; and keys that can still be found are found.
fn alike(ours: &[String], kaldi: &[String], damaged: bool) -> bool {
    let mut failed = damaged;
    ours.len() == kaldi.len()
        && ours.iter().zip(kaldi).all(|(ours, kaldi)| {
            failed |= ours == "EXC" && kaldi == "EXC";
            let error = |text: &str| text == "EXC";
            let absent = |text: &str| text == "0" || text == "EXC";
            ours == kaldi
                || (ours == "0" && error(kaldi))
                || (failed
                    && absent(kaldi)
                    && (error(ours) || ours == "1" || ours.starts_with('"')))
        })
}

/// Words of a command line with single quotes.
fn shell_words(command: &str) -> Vec<String> {
    let (mut words, mut word, mut quoted, mut any) = (Vec::new(), String::new(), false, false);
    for c in command.chars() {
        match c {
            '\'' => (quoted, any) = (!quoted, true),
            ' ' if !quoted => {
                if any {
                    words.push(std::mem::take(&mut word));
                }
                any = false;
            }
            c => {
                word.push(c);
                any = true;
            }
        }
    }
    if any {
        words.push(word);
    }
    words
}
