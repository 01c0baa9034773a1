//! What HTK made of label files and MLFs.

use std::fs;
use std::path::Path;

use seqfeed_core::Result;
use seqfeed_htk::label::other::{LabelFormat, parse_other};
use seqfeed_htk::label::{
    LabelFiles, MLF_HEADER, MlfOptions, ParseOptions, Transcription, parse, write_mlf_entry,
};
use serde_json::{Value, json};

use crate::{as_json, normal, shared};

/// A recorded command, as far as it matters.
#[derive(Default)]
struct Command<'a> {
    mlfs: Vec<&'a str>,
    names: Vec<&'a str>,
    format: Option<LabelFormat>,
    options: ParseOptions,
    mlf_options: MlfOptions,
}

impl<'a> Command<'a> {
    fn parse(command: &'a str) -> Self {
        let mut parsed = Self::default();
        let mut words = command.split_whitespace().skip(1);
        while let Some(word) = words.next() {
            match word {
                "-I" => parsed.mlfs.push(words.next().unwrap()),
                "-C" => match words.next().unwrap() {
                    "tri.cfg" => parsed.options.strip_triphones = true,
                    "lev2.cfg" => parsed.options.level = Some(2),
                    "alt2.cfg" => parsed.options.alternative = Some(2),
                    "scale.cfg" => parsed.options.time_scale = 100_000.0,
                    "compat.cfg" => parsed.mlf_options.v1_compat = true,
                    other => panic!("{other}"),
                },
                "-G" => {
                    parsed.format = Some(match words.next().unwrap() {
                        "ESPS" => LabelFormat::Esps,
                        "SCRIBE" => LabelFormat::Scribe,
                        "TIMIT" => LabelFormat::Timit,
                        other => panic!("{other}"),
                    });
                }
                "lab" => parsed.names.extend(words.by_ref()),
                other => panic!("{other}"),
            }
        }
        parsed
    }

    /// What is read, up to the first error.
    fn run(self, directory: &Path) -> (Vec<(String, Transcription)>, Result<()>) {
        let mut read = Vec::new();
        let format = self.format;
        let mut files = LabelFiles::new(self.options, self.mlf_options).relative_to(directory);
        let mut run = || {
            for mlf in &self.mlfs {
                files.add_mlf(Path::new(mlf))?;
            }
            for &name in &self.names {
                let transcription = match format {
                    Some(format) => parse_other(&fs::read(directory.join(name)).unwrap(), format)?,
                    None => files.read(name.as_bytes())?,
                };
                read.push((name.to_owned(), transcription));
            }
            Ok(())
        };
        let result = run();
        (read, result)
    }
}

#[test]
fn transcriptions_are_what_htk_reads() {
    let Some(manifest) = shared("golden/htk/manifest_lab.json") else { return };
    let directory = manifest.with_file_name("lab");
    let cases: Vec<Value> = serde_json::from_slice(&fs::read(&manifest).unwrap()).unwrap();
    let mut counts = (0, 0, 0);
    for case in &cases {
        let files: Vec<&str> =
            case["files"].as_array().unwrap().iter().map(|f| f.as_str().unwrap()).collect();
        if files.iter().any(|file| file.ends_with(".scp")) {
            continue;
        }
        let command = case["command"].as_str().unwrap();
        if let Some(text) = case["text"].as_str() {
            counts.2 += 1;
            written_as_htk(&directory, files[0], text);
            continue;
        }
        let (read, result) = Command::parse(command).run(&directory);
        let read: Vec<Value> =
            read.iter().map(|(name, alts)| json!({"name": name, "alts": as_json(alts)})).collect();
        let read = normal(&Value::Array(read), false);
        let mut expected = case["expected"].clone();
        let mut fails = case["rc"] != 0;
        match files[0] {
            // The dot ends the entry, newline or not.
            "dot_noeol.mlf" => {
                let labels = expected[0]["alts"][0].as_array_mut().unwrap();
                assert_eq!(labels.pop().unwrap()["lab"], ".");
                fails = false;
            }
            // The first match wins, whatever was read before.
            "dup2.mlf" => {
                for case in expected.as_array_mut().unwrap() {
                    if case["name"] == "a.lab" {
                        case["alts"][0][0]["lab"] = json!("second");
                    }
                }
            }
            _ => {}
        }
        assert_eq!(read, normal(&expected, false), "{command}");
        assert_eq!(result.is_err(), fails, "{command}: {result:?}");
        counts.0 += 1;
        if let Err(error) = result {
            counts.1 += 1;
            // HTK's number is said.
            let text = case["errors"][0].as_str().unwrap();
            let number = &text["ERROR [+".len()..][..4];
            assert!(error.help().unwrap_or_default().contains(number), "{command}: {error} {text}");
        }
    }
    assert_eq!(counts, (72, 11, 6), "transcriptions, of which are errors, and written ones");
}

/// What `HLEd` writes, where that can be read again.
fn written_as_htk(directory: &Path, file: &str, text: &str) {
    let data = fs::read(directory.join(file)).unwrap();
    let transcription = parse(&data, &ParseOptions::default()).unwrap();
    let mut written = MLF_HEADER.to_vec();
    write_mlf_entry(&mut written, format!("*/{file}").as_bytes(), &transcription).unwrap();
    if matches!(file, "quoted.lab" | "escapes.lab") {
        // HTK leaves out the quotes that names with blanks need.
        let body: Vec<&[u8]> = written.splitn(3, |&byte| byte == b'\n').collect();
        let options = ParseOptions { dot_ends: true, ..ParseOptions::default() };
        assert_eq!(parse(body[2], &options).unwrap(), transcription, "{file}");
    } else {
        assert_eq!(String::from_utf8_lossy(&written), text, "{file}");
    }
}
