//! Tables of waves as a source: the same samples as reading the waves as objects, whatever
//! the container.

use std::fs;
use std::path::Path;
use std::process::Command;

use seqfeed_core::{Element, Extent, Result, Source, Tolerance};
use seqfeed_io::Opener;
use seqfeed_kaldi::{Matrix, Mode, Role, TableOptions, Wave, WaveSource, write_object};

use crate::speech_objects::from_file;
use crate::tables::shared;

fn wave(number: usize, channels: usize) -> Wave {
    let cols = 5 + 3 * number;
    let values = (0..channels * cols).map(|i| (i as f32) - 100.0 * number as f32).collect();
    let samples = Matrix { rows: channels, cols, values };
    Wave { sample_rate: 8000.0, samples, warnings: Vec::new() }
}

fn options(base: &Path) -> TableOptions {
    let mut options = TableOptions::new("audio", Role::Features, Element::F32);
    options.opener = Opener::default().in_directory(Some(base.into()));
    options
}

fn open(base: &Path, name: &str) -> Result<WaveSource> {
    WaveSource::open(&[name.to_owned()], &options(base))
}

/// The samples of a sequence, time after time.
fn samples(source: &WaveSource, sequence: u32) -> Vec<f32> {
    let mut blocks = source.new_blocks();
    source.load(&[sequence], &mut blocks).unwrap();
    let bytes = blocks[0].samples(0).bytes().as_chunks().0;
    bytes.iter().map(|&bytes| f32::from_ne_bytes(bytes)).collect()
}

fn interleaved(wave: &Wave) -> Vec<f32> {
    let Matrix { rows, cols, values } = &wave.samples;
    (0..*cols).flat_map(|t| (0..*rows).map(move |c| values[c * cols + t])).collect()
}

/// Waves as files, as an archive, and as script files of all kinds.
fn write(base: &Path, channels: usize) {
    let (mut archive, mut files, mut offsets) = (Vec::new(), String::new(), String::new());
    let mut commands = String::new();
    for number in 0..4 {
        let mut bytes = Vec::new();
        write_object(&wave(number, channels), &mut bytes, Mode::Binary).unwrap();
        fs::write(base.join(format!("{number}.wav")), &bytes).unwrap();
        archive.extend_from_slice(format!("u{number} ").as_bytes());
        offsets += &format!("u{number} wav.ark:{}\n", archive.len());
        archive.extend_from_slice(&bytes);
        files += &format!("u{number} {number}.wav\n");
        commands += &format!("u{number} cat {}/{number}.wav |\n", base.display());
    }
    fs::write(base.join("wav.ark"), &archive).unwrap();
    fs::write(base.join("files.scp"), &files).unwrap();
    fs::write(base.join("offsets.scp"), offsets).unwrap();
    fs::write(base.join("commands.scp"), commands).unwrap();
    fs::write(base.join("gzip.scp"), files.replace(".wav", ".wav.gz")).unwrap();
    for name in ["wav.ark", "0.wav", "1.wav", "2.wav", "3.wav"] {
        let done = Command::new("gzip").arg("-k").arg(base.join(name)).status().unwrap();
        assert!(done.success());
    }
}

#[test]
fn all_containers_give_the_same_samples() {
    for channels in [1, 2] {
        let directory = tempfile::tempdir().unwrap();
        let base = directory.path();
        write(base, channels);
        for (name, spooled) in [
            ("ark:wav.ark", false),
            ("ark:wav.ark.gz", true),
            ("scp:files.scp", false),
            ("scp:offsets.scp", false),
            ("scp:gzip.scp", true),
            ("scp:commands.scp", true),
        ] {
            let mut options = options(base);
            options.opener = Opener::with_pipes().in_directory(Some(base.into()));
            let names = [name.to_owned()];
            assert!(WaveSource::is_wave(&names, &options), "{name}");
            let source = WaveSource::open(&names, &options).unwrap();
            assert_eq!(source.streams()[0].dim, channels, "{name}");
            assert_eq!(source.about().spooled_bytes > 0, spooled, "{name}");
            assert_eq!((source.index().len(), source.sample_rate(2)), (4, 8000));
            assert_eq!(source.about().format, "waves at 8000 Hz");
            for number in 0..4 {
                let wave = wave(number, channels);
                assert_eq!(source.index().samples(number as u32), wave.samples.cols as u32);
                assert_eq!(samples(&source, number as u32), interleaved(&wave), "{name}");
            }
        }
        // Commands are run only where that is allowed.
        assert!(open(base, "scp:commands.scp").is_err());
        assert!(!WaveSource::is_wave(&["scp:commands.scp".to_owned()], &options(base)));
    }
}

#[test]
fn what_does_not_fit_is_passed_over_where_that_is_allowed() {
    let directory = tempfile::tempdir().unwrap();
    let base = directory.path();
    write(base, 1);
    let mut stereo = Vec::new();
    write_object(&wave(0, 2), &mut stereo, Mode::Binary).unwrap();
    fs::write(base.join("stereo.wav"), stereo).unwrap();
    let cut = fs::read(base.join("1.wav")).unwrap();
    fs::write(base.join("cut.wav"), &cut[..cut.len() - 3]).unwrap();
    fs::write(base.join("short.wav"), &cut[..30]).unwrap();
    let script = "a 1.wav\nb stereo.wav\nc cut.wav\nd short.wav\ne missing.wav\nf 2.wav\n";
    fs::write(base.join("x.scp"), script).unwrap();
    let error = open(base, "scp:x.scp").unwrap_err();
    assert!(error.message().contains("expected 1, found 2"), "{error}");
    assert_eq!(error.place().key.as_deref(), Some("b"));
    let mut options = options(base);
    options.errors = Tolerance::Skip;
    let source = WaveSource::open(&["scp:x.scp".to_owned()], &options).unwrap();
    assert_eq!((source.index().len(), source.about().report.total()), (3, 3));
    // A file that was cut short gives what is there, as in Kaldi.
    assert_eq!(source.index().samples(1), source.index().samples(0) - 2);
    assert_eq!(source.about().warnings.len(), 1);
    assert_eq!(samples(&source, 1), samples(&source, 0)[..6]);
    options.extent = Some(Extent::Sequence);
    assert!(WaveSource::open(&["scp:x.scp".to_owned()], &options).unwrap_err().is_usage());
}

#[test]
fn waves_of_kaldi_are_what_they_are_as_objects() {
    let Some(golden) = shared("golden/kaldi") else { return };
    let directory = tempfile::tempdir().unwrap();
    let mut compared = 0;
    let mut files: Vec<_> =
        fs::read_dir(golden.join("wav")).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    for path in files.iter().filter(|path| path.extension().is_some_and(|end| end == "wav")) {
        fs::write(directory.path().join("x.scp"), format!("u {}\n", path.display())).unwrap();
        let source = open(directory.path(), "scp:x.scp");
        match from_file::<Wave>(path) {
            Ok(wave) => {
                let source = source.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
                assert_eq!(samples(&source, 0), interleaved(&wave), "{}", path.display());
                assert_eq!(source.sample_rate(0) as f32, wave.sample_rate);
                compared += 1;
            }
            Err(expected) => {
                let error = source.unwrap_err();
                assert_eq!(error.message(), expected.message(), "{}", path.display());
            }
        }
    }
    assert!(compared >= 10, "{compared}");
}
