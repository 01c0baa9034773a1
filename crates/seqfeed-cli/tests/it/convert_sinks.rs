//! Sinks of `seqfeed convert` with means of their own: waves and columns; and `--verify`.

use std::fs;

use serde_json::Value;

use crate::convert::convert;
use crate::corpora::corpus;
use crate::program::run;

/// A wave of 16-bit samples.
fn wave(rate: u32, channels: u16, samples: &[i16]) -> Vec<u8> {
    let (bytes, align) = (samples.len() as u32 * 2, 2 * channels);
    let mut wave = b"RIFF".to_vec();
    wave.extend((36 + bytes).to_le_bytes());
    wave.extend(b"WAVEfmt \x10\0\0\0\x01\0");
    wave.extend(channels.to_le_bytes());
    wave.extend(rate.to_le_bytes());
    wave.extend((rate * u32::from(align)).to_le_bytes());
    wave.extend(align.to_le_bytes());
    wave.extend(b"\x10\0data");
    wave.extend(bytes.to_le_bytes());
    wave.extend(samples.iter().flat_map(|sample| sample.to_le_bytes()));
    wave
}

#[test]
fn waves_become_tables_of_waves_and_columns_and_waves_again() {
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path();
    let sound: Vec<i16> = (0..3000).map(|n| (n * n % 65536 - 32768) as i16).collect();
    let waves = [
        ("a", wave(16000, 2, &sound)),
        ("b", wave(8000, 2, &sound[..200])),
        ("c", wave(16000, 2, &[i16::MIN, i16::MAX])),
    ];
    let (mut script, mut archive) = (String::new(), Vec::new());
    for (key, wave) in &waves {
        fs::write(at.join(format!("{key}.wav")), wave).unwrap();
        script += &format!("{key} {key}.wav\n");
        archive.extend([key.as_bytes(), b" ", wave].concat());
    }
    fs::write(at.join("wav.scp"), script).unwrap();
    let done = convert(at, &["scp:wav.scp", "ark,scp:w.ark,w.scp", "--verify"]).unwrap();
    assert_eq!(done["streams"][0]["samples"], 1601);
    assert!(fs::read(at.join("w.ark")).unwrap() == archive, "the same waves, at their own rates");
    let again = convert(at, &["scp:w.scp", "kaldi:x", "--shards", "2", "--verify"]).unwrap();
    assert_eq!(again["streams"][0]["values"], done["streams"][0]["values"]);

    // Elsewhere values stay, and rates do not.
    let (code, said) = convert(at, &["scp:wav.scp", "w.parquet"]).unwrap_err();
    assert!(
        code == Some(1) && said.contains("8000 to 16000 samples a second is not held"),
        "{said}"
    );
    let columns = convert(at, &["scp:wav.scp", "w.parquet", "--allow-lossy", "--verify"]).unwrap();
    assert_eq!(columns["streams"][0]["sequences"], done["streams"][0]["sequences"]);
    let (_, said) = convert(at, &["scp:wav.scp", "ark:m.ark", "--dtype", "float32"]).unwrap_err();
    assert!(said.contains("is not held by matrices"), "{said}");
    // A rate that is given makes waves of floats.
    let back = ["w.parquet", "ark:back.ark", "--sample-rate", "16000", "--verify"];
    convert(at, &back).unwrap();
    let mut same_rate = waves.clone();
    same_rate[1].1 = wave(16000, 2, &sound[..200]);
    let expected: Vec<u8> =
        same_rate.iter().flat_map(|(key, wave)| [key.as_bytes(), b" ", wave].concat()).collect();
    assert!(fs::read(at.join("back.ark")).unwrap() == expected);
    let (code, said) = convert(at, &["w.parquet", "x.arrow", "--sample-rate", "8000"]).unwrap_err();
    assert!(code == Some(2) && said.contains("--sample-rate is for waves"), "{said}");

    fs::write(at.join("half.ark"), "u  [\n 1\n 0.5\n -40000 ]\n").unwrap();
    let half = ["ark:half.ark", "ark:h.ark", "--sample-rate", "8000"];
    let (code, said) = convert(at, &half).unwrap_err();
    assert!(
        code == Some(1) && said.contains("(key u)") && said.contains("sample 1 is 0.5"),
        "{said}"
    );
    assert!(!at.join("h.ark").exists());
    convert(at, &[&half[..], &["--allow-lossy"]].concat()).unwrap();
    let expected = [b"u ".to_vec(), wave(8000, 1, &[1, 0, -32768])].concat();
    assert_eq!(fs::read(at.join("h.ark")).unwrap(), expected);
}

#[test]
fn columns_are_compressed_by_their_own_means() {
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path();
    corpus(30).write(at);
    let source = ["scp:feats.scp", "--labels", "ark:ali.ark"];
    for end in ["parquet", "arrow"] {
        let (plain, packed) = (format!("plain.{end}"), format!("packed.{end}"));
        let first = convert(at, &[&source[..], &[&plain]].concat()).unwrap();
        for compress in ["--compress", "--compress=zstd", "--compress=zstd:19"] {
            let second = convert(at, &[&source[..], &[&packed, compress]].concat()).unwrap();
            assert_eq!(first["streams"], second["streams"]);
            assert_eq!(second["losses"], Value::Array(Vec::new()));
            assert!(second["bytes"].as_u64() < first["bytes"].as_u64(), "{end} {compress}");
        }
        assert!(!at.join("plain.toml").exists(), "the name alone opens it");
        for wrong in ["--compress=zstd:23", "--compress=2", "--compress=zstd9"] {
            let (code, said) = convert(at, &[&source[..], &[&packed, wrong]].concat()).unwrap_err();
            assert!(code == Some(2) && said.contains("a level from 1 to 22"), "{said}");
        }
    }
    let (code, said) =
        convert(at, &[&source[..], &["x.htk", "--compress=zstd"]].concat()).unwrap_err();
    assert!(code == Some(2) && said.contains("is for Parquet and Arrow files"), "{said}");
}

#[test]
fn what_was_written_is_verified() {
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path();
    corpus(8).write(at);
    let source = ["scp:feats.scp", "--labels", "ark:ali.ark"];
    let arguments = [&source[..], &["kaldi:out", "--shards", "2", "--verify"]].concat();
    assert_eq!(convert(at, &arguments).unwrap()["verified"], true);
    // A shard that was kept is read as well.
    let path = at.join("out-00002-of-00002.features.ark");
    let mut bytes = fs::read(&path).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    fs::write(&path, bytes).unwrap();
    let (code, said) = convert(at, &arguments).unwrap_err();
    assert!(code == Some(1) && said.contains("stream features: "), "{said}");
    assert!(said.contains("are read back") && said.contains("out-00002-of-00002"), "{said}");
    for (more, why) in [
        (&["ark:-", "--streams", "features"][..], "cannot be read back"),
        (&["kaldi:c", "--compress"], "compression rounds them"),
        (&["ark,t:t", "--streams", "features", "--allow-lossy"], "Kaldi's text rounds them"),
    ] {
        let output = run(at, &[&["convert"], &source[..], more, &["--verify"]].concat());
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.code() == Some(2) && said.contains(why), "{said}");
    }
    assert!(!at.join("c.features.ark").exists() && !at.join("t").exists());
}
