//! `seqfeed show`.

use std::fs;

use serde_json::Value;

use crate::corpora::corpus;
use crate::program::{examples, run};

#[test]
fn values_are_shown_as_text() {
    let directory = tempfile::tempdir().unwrap();
    corpus(3).write(directory.path());
    let output = run(
        directory.path(),
        &["show", "scp:feats.scp", "spk0-utt001", "--labels", "ark:ali.ark", "--range", "1:3"],
    );
    let expected = "\
spk0-utt001
  features: dense float32 x 3, samples 1 to 2
      1  1 1 4.571429
      2  1 2 4.714286
  labels: label int32 x 1, samples 1 to 2
      1  101 102
";
    assert_eq!(String::from_utf8_lossy(&output.stdout), expected);
    assert_eq!((output.status.code(), output.stderr.len()), (Some(0), 0));
}

#[test]
fn values_are_shown_as_json() {
    let directory = tempfile::tempdir().unwrap();
    corpus(3).write(directory.path());
    let show = |more: &[&str]| -> Vec<Value> {
        let arguments = [&["show", "--features", "ark:feats.ark", "--json"], more].concat();
        let output = run(directory.path(), &arguments);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let text = String::from_utf8(output.stdout).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    };
    // With --features, all names are keys.
    let shown = show(&["spk0-utt002", "spk0-utt000"]);
    assert_eq!((shown.len(), &shown[0]["key"]), (2, &"spk0-utt002".into()));
    let features = &shown[0]["streams"]["features"];
    assert_eq!((&features["dim"], &features["samples"]), (&3.into(), &19.into()));
    assert_eq!(features["data"][18][1], 18.0);
    let part = show(&["spk0-utt002", "--range", "17:"]);
    let features = &part[0]["streams"]["features"];
    assert_eq!((&features["first"], &features["samples"]), (&17.into(), &2.into()));
}

#[test]
fn a_heat_map_is_drawn_where_colours_are() {
    let output = run(
        &examples(),
        &["show", "digits/test.toml", "en+f3-0101", "--color", "always", "--stream", "features"],
    );
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("\x1b[38;2;") && text.contains('▀') && text.contains("en+f3-0101"));
    let plain = run(&examples(), &["show", "digits/test.toml", "en+f3-0101"]);
    assert!(!plain.stdout.contains(&0x1b));
}

#[test]
fn pictures_are_files() {
    let directory = tempfile::tempdir().unwrap();
    let (png, svg) = (directory.path().join("a.png"), directory.path().join("a.svg"));
    let output = run(
        &examples(),
        &[
            "show",
            "digits/test.toml",
            "en+f3-0101",
            "en+m1-0101",
            "--png",
            png.to_str().unwrap(),
            "--svg",
            svg.to_str().unwrap(),
        ],
    );
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(output.stdout.is_empty());
    assert!(fs::read(png).unwrap().starts_with(b"\x89PNG"));
    let svg = fs::read_to_string(svg).unwrap();
    assert!(svg.contains(">en+f3-0101<") && svg.contains(">en+m1-0101<"));
}

/// An HTK waveform: its sample period tells that it is audio.
#[test]
fn audio_is_drawn_as_waveform_and_spectrogram() {
    let directory = tempfile::tempdir().unwrap();
    let samples: Vec<i16> = (0..8000)
        .map(|i| (8000.0 * (f64::from(i) * 2000.0 / 16_000.0 * std::f64::consts::TAU).sin()) as i16)
        .collect();
    // Samples, period in 100 ns, bytes of a sample, kind WAVEFORM.
    let mut file = 8000i32.to_be_bytes().to_vec();
    file.extend(625i32.to_be_bytes());
    file.extend([0, 2, 0, 0]);
    file.extend(samples.iter().flat_map(|sample| sample.to_be_bytes()));
    fs::write(directory.path().join("tone.htk"), file).unwrap();
    fs::write(directory.path().join("wave.scp"), "tone.htk\n").unwrap();
    let output = run(directory.path(), &["show", "wave.scp", "tone", "--svg", "tone.svg"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let svg = fs::read_to_string(directory.path().join("tone.svg")).unwrap();
    for text in [">0.50 s at 16000 Hz<", ">kHz<", ">-80 dB<", ">8<", ">8000<"] {
        assert!(svg.contains(text), "{text}");
    }
    let info = run(directory.path(), &["info", "wave.scp"]);
    let text = String::from_utf8_lossy(&info.stdout);
    assert!(
        text.contains("duration     0.50 s (at 0.063 ms a sample, as the files say)"),
        "{text}"
    );
}

#[test]
fn what_is_not_there_is_said() {
    let directory = tempfile::tempdir().unwrap();
    corpus(9).write(directory.path());
    let cases: [(&[&str], i32, &str); 6] = [
        (&["show", "ark:feats.ark"], 2, "which sequences?"),
        (&["show", "ark:feats.ark", "nobody"], 1, "there is no sequence of this key"),
        (&["show", "ark:feats.ark", "spk0-utt000", "--stream", "x"], 2, "streams are: features"),
        (&["show", "ark:feats.ark", "spk0-utt000", "--range", "99:"], 2, "there are 5 samples"),
        (&["show", "ark:feats.ark", "spk0-utt000", "--range", "9:3"], 2, "the range is empty"),
        (
            &["show", "ark:feats.ark", "spk0-utt000", "--json", "--png", "x"],
            2,
            "cannot be used with",
        ),
    ];
    for (arguments, code, expected) in cases {
        let output = run(directory.path(), arguments);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {errors}");
        assert!(errors.contains(expected), "{arguments:?}: {errors}");
    }
}

#[test]
fn what_json_has_no_numbers_for_is_text() {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("n.txt"), "a [\n nan inf -inf 1.5 ]\n").unwrap();
    let output = run(directory.path(), &["show", "ark:n.txt", "a", "--json"]);
    let shown: Value = serde_json::from_slice(&output.stdout).unwrap();
    let expected = serde_json::json!([["NaN", "Infinity", "-Infinity", 1.5]]);
    assert_eq!(shown["streams"]["features"]["data"], expected);
}
