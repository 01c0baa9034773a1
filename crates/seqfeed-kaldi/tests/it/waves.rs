//! Waves: against what Kaldi and hound read, and cut short.

use std::collections::HashMap;
use std::fs;
use std::io::Cursor;

use seqfeed_kaldi::{Mode, ObjectReader, Wave, WaveInfo, write_object};
use serde_json::Value;

use crate::speech_objects::{
    archive, check_cuts, entries, from_bytes, from_file, matrix, object, skipped,
};
use crate::tables::shared;

/// A number in a line of Kaldi's: `name=12`.
fn number(line: &str, name: &str) -> Option<f64> {
    let rest = line.split(&format!(" {name}=")).nth(1)?;
    let end = rest.find([' ', '\\', '"', '\n']).unwrap_or(rest.len());
    rest[..end].parse().ok()
}

#[test]
fn waves_are_read_as_kaldi_reads_them() {
    const BETTER: [(&str, &str); 2] = [
        ("wav/bits8.wav", "samples of 8 bits are read"),
        ("wav/chan256.wav", "there may be 256 channels"),
    ];
    let Some(golden) = shared("golden/kaldi") else { return };
    let results = fs::read_to_string(golden.join("wav/results.json")).unwrap();
    let results: Vec<Value> = serde_json::from_str(&results).unwrap();
    assert!(results.len() >= 40);
    let mut copies: HashMap<String, Vec<u8>> = HashMap::new();
    for case in &results {
        let name = case["file"].as_str().unwrap();
        let bytes = fs::read(golden.join(name)).unwrap();
        let line = case["wavereader"].as_str().unwrap();
        let from_memory = from_bytes::<Wave>(bytes.clone());
        let wave = from_file::<Wave>(&golden.join(name));
        assert_eq!(wave.is_ok(), from_memory.is_ok(), "{name}");
        let info = from_file::<WaveInfo>(&golden.join(name));
        if BETTER.iter().any(|&(better, _)| better == name) {
            assert!(line.contains("open=0") && wave.is_ok() && info.is_ok(), "{name}");
            continue;
        }
        // Headers.
        let info_line = case["waveinfo"].as_str().unwrap();
        assert_eq!(info.is_ok(), info_line.contains(" sf="), "{name}: {info:?}");
        if let Ok(info) = &info {
            assert_eq!(Some(f64::from(info.sample_rate)), number(info_line, "sf"), "{name}");
            assert_eq!(Some(info.channels as f64), number(info_line, "chan"), "{name}");
            let streamed = number(info_line, "streamed") == Some(1.0);
            let count = number(info_line, "count").filter(|_| !streamed);
            assert_eq!(info.samples.map(|samples| samples as f64), count, "{name}");
            let duration = case["duration"].as_str().unwrap().trim_start_matches("k ").trim();
            if let (Ok(expected), Some(duration)) = (duration.parse::<f32>(), info.duration()) {
                let mut text = Vec::new();
                seqfeed_core::float_text::write_g(&mut text, f64::from(duration), 7);
                assert_eq!(text, expected.to_string().as_bytes(), "{name}");
            }
        }
        // Samples.
        if line.contains("open=0") {
            let error = wave.unwrap_err();
            assert!(error.place().position.is_some(), "{name}: {error}");
            continue;
        }
        let wave = wave.unwrap();
        assert_eq!(from_memory.unwrap(), wave);
        let sum: f64 = wave.samples.values.iter().map(|&value| f64::from(value)).sum();
        let found = [f64::from(wave.sample_rate), wave.samples.rows as f64];
        assert_eq!(found.map(Some), ["sf", "rows"].map(|n| number(line, n)), "{name}");
        assert_eq!(Some(wave.samples.cols as f64), number(line, "cols"), "{name}");
        assert_eq!(Some(sum), number(line, "sum"), "{name}");
        let warned = case["wavereader_err"].to_string().contains("WARNING");
        assert_eq!(!wave.warnings.is_empty(), warned, "{name}");
        // What is written is the same wherever Kaldi's is, and differs where that does.
        let copy = object(&wave, Mode::Binary);
        assert_eq!(case["copy_rc"], 0);
        let hash = case["copy_sha1"].as_str().unwrap().to_owned();
        assert_eq!(copies.entry(hash).or_insert_with(|| copy.clone()), &copy, "{name}");
        if ["wav/mono16k.wav", "wav/stereo8k.wav", "wav/sr44100.wav"].contains(&name) {
            assert_eq!(copy, bytes, "{name}");
        }
    }
    let mut different: Vec<_> = copies.values().collect();
    different.sort();
    different.dedup();
    assert_eq!(different.len(), copies.len());
}

#[test]
fn archives_of_waves_are_kaldis_byte_for_byte() {
    let Some(golden) = shared("golden/kaldi/wav") else { return };
    for name in ["wav.ark", "segments.ark"] {
        let bytes = fs::read(golden.join(name)).unwrap();
        let waves = entries::<Wave>(bytes.clone()).unwrap();
        assert_eq!(archive(&waves, Mode::Binary), bytes, "{name}");
        let infos = entries::<WaveInfo>(bytes.clone()).unwrap();
        let skipped = skipped::<Wave>(bytes).unwrap();
        assert_eq!((waves.len(), waves.len()), (infos.len(), skipped.len()));
        for ((_, wave), (_, info)) in waves.iter().zip(&infos) {
            assert_eq!(info.samples, Some(wave.samples.cols as u64));
            assert_eq!(info.duration(), Some(wave.duration()));
        }
    }
    let bytes = fs::read(golden.join("wav.ark")).unwrap();
    for (key, file) in [("stereo", "stereo8k"), ("rifx", "rifx"), ("ext", "ext")] {
        let wave: Wave = from_file(&golden.join(format!("{file}.wav"))).unwrap();
        let entry = archive(&vec![(key.into(), wave)], Mode::Binary);
        assert!(bytes.windows(entry.len()).any(|window| window == entry), "{key}");
    }
}

/// A WAVE file by hand: its bytes before `data`, then samples of 16 bits.
pub(crate) fn wav(riff: u32, before: &[u8], data: u32, samples: &[i16], behind: &[u8]) -> Vec<u8> {
    let mut out = b"RIFF".to_vec();
    out.extend(riff.to_le_bytes());
    out.extend(b"WAVEfmt \x10\0\0\0\x01\0\x01\0\x40\x1f\0\0\x80\x3e\0\0\x02\0\x10\0");
    out.extend(before);
    out.extend(b"data");
    out.extend(data.to_le_bytes());
    samples.iter().for_each(|sample| out.extend(sample.to_le_bytes()));
    out.extend(behind);
    out
}

#[test]
fn waves_with_chunks_around_their_samples() {
    let twice = |wave: &[u8]| [b"a ", wave, b"b ", wave].concat();
    let behind = b"LIST\x05\0\0\0abcde\0";
    let waves = [
        wav(40, b"", 4, &[5, -6], b""),
        wav(40 + 14, b"", 4, &[5, -6], behind),
        // The last byte to an even size is often not there.
        wav(40 + 13, b"", 4, &[5, -6], &behind[..13]),
        wav(54, b"LIST\x05\0\0\0abcde\0", 4, &[5, -6], b""),
        wav(53, b"LIST\x05\0\0\0abcde", 4, &[5, -6], b""),
        // An odd size of data, filled up or not; the odd byte is no sample.
        wav(41, b"", 5, &[5, -6], b"\x07"),
        wav(42, b"", 5, &[5, -6], b"\x07\0"),
        wav(42 + 14, b"", 5, &[5, -6], b"\x07\0LIST\x05\0\0\0abcde\0"),
        // A RIFF size that is wrong must not cost the next key.
        wav(40 + 14, b"", 4, &[5, -6], b""),
        wav(40 + 1000, b"", 4, &[5, -6], b""),
        wav(0x7fff_ffff, b"", 4, &[5, -6], b""),
        wav(7, b"", 4, &[5, -6], b""),
    ];
    for (number, wave) in waves.iter().enumerate() {
        let found = entries::<Wave>(twice(wave)).unwrap_or_else(|e| panic!("{number}: {e}"));
        assert_eq!(found.len(), 2, "{number}");
        for (_, wave) in &found {
            assert_eq!(wave.samples, matrix(1, 2, &[5.0, -6.0]), "{number}");
            assert_eq!(wave.sample_rate, 8000.0);
        }
        assert_eq!(entries::<WaveInfo>(twice(wave)).unwrap().len(), 2);
        assert_eq!(skipped::<Wave>(twice(wave)).unwrap().len(), 2);
    }
}

#[test]
fn waves_cut_short_have_fewer_samples() {
    let wave = wav(46, b"", 10, &[1, 2, 3, 4, 5], b"");
    check_cuts::<Wave>(&wave, 46);
    let directory = tempfile::tempdir().unwrap();
    for len in 46..wave.len() {
        let path = directory.path().join("cut.wav");
        fs::write(&path, &wave[..len]).unwrap();
        let found: Wave = from_file(&path).unwrap();
        assert_eq!(found, from_bytes(&wave[..len]).unwrap());
        assert_eq!((found.samples.cols, found.warnings.len()), ((len - 44) / 2, 1));
        let info: WaveInfo = from_file(&path).unwrap();
        assert_eq!((info.samples, info.warnings), (Some(5), found.warnings));
        let mut reader = ObjectReader::from_bytes("cut", &wave[..len]);
        reader.skip::<Wave>().unwrap();
        assert_eq!(reader.position(), len as u64);
    }
    // Sizes of streams, and sizes that lie.
    for data in [0, u32::MAX, 0x7fff_f000, 0x7fff_ffff, 0xffff_ff00] {
        let wave = wav(46, b"", data, &[1, 2, 3], b"");
        assert_eq!(from_bytes::<Wave>(wave.clone()).unwrap().samples.cols, 3, "{data:x}");
        let info: WaveInfo = from_bytes(wave).unwrap();
        let streamed = matches!(data, 0 | u32::MAX | 0x7fff_f000);
        assert_eq!((info.samples.is_none(), info.duration().is_none()), (streamed, streamed));
        assert!(from_bytes::<Wave>(wav(46, b"", data, &[], b"")).is_err());
    }
    let wave = wav(46, b"LIST\xff\xff\xff\x7f", 10, &[1, 2, 3], b"");
    assert!(from_bytes::<Wave>(wave).is_err());
    assert!(from_bytes::<Wave>(b"NIST_1A\n   1024\n".to_vec()).unwrap_err().help().is_some());
}

#[test]
fn waves_that_cannot_be_written() {
    let refused = |wave: Wave, mode| {
        let mut out = Vec::new();
        write_object(&wave, &mut out, mode).unwrap_err()
    };
    let wave = |samples| Wave { sample_rate: 8000.0, samples, warnings: vec![] };
    refused(wave(matrix(1, 1, &[0.0])), Mode::Text);
    refused(wave(matrix(0, 0, &[])), Mode::Binary);
    refused(wave(matrix(2, 2, &[0.0])), Mode::Binary);
    refused(wave(matrix(1, 1, &[f32::NAN])), Mode::Binary);
    refused(wave(matrix(40_000, 1, &[0.0; 40_000])), Mode::Binary);
    for sample_rate in [-1.0, f32::NAN, f32::INFINITY, 3e9] {
        refused(Wave { sample_rate, ..wave(matrix(1, 1, &[0.0])) }, Mode::Binary);
    }
    refused(Wave::default(), Mode::Binary);
    assert!(write_object(&WaveInfo::default(), &mut Vec::new(), Mode::Binary).is_err());
    let samples = matrix(1, 6, &[-0.9, 1.9, -32768.9, 32767.9, 1e9, f32::NEG_INFINITY]);
    let loud = Wave { sample_rate: 8000.9, ..wave(samples) };
    assert_eq!(loud.clipped(), 2);
    let expected = wav(48, b"", 12, &[0, 1, -32768, 32767, 32767, -32768], b"");
    assert_eq!(object(&loud, Mode::Binary), expected);
}

#[test]
fn other_encodings_are_what_hound_reads() {
    use hound::{SampleFormat, WavReader, WavSpec, WavWriter};
    for (bits, channels) in [(8, 1), (8, 3), (16, 2), (24, 1), (24, 2), (32, 2)] {
        let format = SampleFormat::Int;
        let spec =
            WavSpec { channels, sample_rate: 22050, bits_per_sample: bits, sample_format: format };
        let full = 1i64 << (bits - 1);
        let samples: Vec<i32> = (0..i64::from(channels) * 501)
            .map(|n| ((n * 2_654_435_761) % (2 * full) - full) as i32)
            .collect();
        let mut file = Cursor::new(Vec::new());
        let mut writer = WavWriter::new(&mut file, spec).unwrap();
        samples.iter().for_each(|&sample| writer.write_sample(sample).unwrap());
        writer.finalize().unwrap();
        let bytes = file.into_inner();
        let wave: Wave = from_bytes(bytes.clone()).unwrap();
        assert_eq!((wave.sample_rate, wave.warnings.len()), (22050.0, 0));
        let read: Vec<i32> =
            WavReader::new(Cursor::new(bytes)).unwrap().samples().map(|s| s.unwrap()).collect();
        let channels = usize::from(channels);
        assert_eq!((wave.samples.rows, wave.samples.cols), (channels, 501));
        for (number, &value) in read.iter().enumerate() {
            let expected = (f64::from(value) * 32768.0 / full as f64) as f32;
            assert_eq!(wave.samples.row(number % channels)[number / channels], expected);
        }
        // What we write, hound reads.
        let mut written = WavReader::new(Cursor::new(object(&wave, Mode::Binary))).unwrap();
        assert_eq!(written.spec().channels as usize, channels);
        for (number, sample) in written.samples::<i16>().enumerate() {
            let expected = wave.samples.row(number % channels)[number / channels].trunc();
            assert_eq!(f32::from(sample.unwrap()), expected);
        }
    }
    let spec = WavSpec {
        channels: 2,
        sample_rate: 48000,
        bits_per_sample: 32,
        sample_format: SampleFormat::Float,
    };
    let mut file = Cursor::new(Vec::new());
    let mut writer = WavWriter::new(&mut file, spec).unwrap();
    [0.0f32, -1.0, 0.5, 1e-3].iter().for_each(|&sample| writer.write_sample(sample).unwrap());
    writer.finalize().unwrap();
    let wave: Wave = from_bytes(file.into_inner()).unwrap();
    assert_eq!(wave.samples, matrix(2, 2, &[0.0, 16384.0, -32768.0, 32.768]));
}

/// A file of any encoding, in either order of bytes.
fn encoded(big: bool, format: u16, bits: u16, samples: &[&[u8]]) -> Vec<u8> {
    let number = |value: u32, len: usize| {
        let bytes = value.to_le_bytes()[..len].to_vec();
        if big { bytes.into_iter().rev().collect::<Vec<_>>() } else { bytes }
    };
    let width = u32::from(bits / 8);
    let mut out = if big { b"RIFX".to_vec() } else { b"RIFF".to_vec() };
    out.extend(number(36 + samples.len() as u32 * width, 4));
    out.extend(b"WAVEfmt ");
    for (value, len) in [
        (16, 4),
        (format.into(), 2),
        (1, 2),
        (100, 4),
        (100 * width, 4),
        (width, 2),
        (bits.into(), 2),
    ] {
        out.extend(number(value, len));
    }
    out.extend(b"data");
    out.extend(number(samples.len() as u32 * width, 4));
    for &sample in samples {
        let mut sample = sample.to_vec();
        if !big {
            sample.reverse();
        }
        out.extend(sample);
    }
    out
}

#[test]
fn encodings_have_the_same_full_scale_in_both_orders() {
    type Case<'a> = (u16, u16, &'a [&'a [u8]], &'a [f32]);
    let cases: [Case; 6] = [
        (1, 8, &[b"\x00", b"\x80", b"\xff"], &[-32768.0, 0.0, 32512.0]),
        (1, 16, &[b"\x80\x00", b"\x00\x01", b"\x7f\xff"], &[-32768.0, 1.0, 32767.0]),
        (1, 24, &[b"\x80\0\0", b"\x00\x01\x80"], &[-32768.0, 1.5]),
        (1, 32, &[b"\x80\0\0\0", b"\x00\x01\x40\0"], &[-32768.0, 1.25]),
        (3, 32, &[&(-1.0f32).to_be_bytes(), &0.5f32.to_be_bytes()], &[-32768.0, 16384.0]),
        (3, 64, &[&(-1.0f64).to_be_bytes(), &0.5f64.to_be_bytes()], &[-32768.0, 16384.0]),
    ];
    for (format, bits, samples, expected) in cases {
        for big in [false, true] {
            let bytes = encoded(big, format, bits, samples);
            let wave: Wave = from_bytes(bytes.clone()).unwrap();
            assert_eq!(wave.samples.values, expected, "{format} {bits} {big}");
            let info: WaveInfo = from_bytes(bytes).unwrap();
            assert_eq!((info.samples, info.channels), (Some(samples.len() as u64), 1));
        }
    }
    for (format, bits) in [(1, 12), (1, 64), (3, 16), (2, 8), (7, 8), (6, 8), (0x55, 16)] {
        let error = from_bytes::<Wave>(encoded(false, format, bits, &[b"\0"])).unwrap_err();
        assert!(error.help().is_some(), "{error}");
    }
}
