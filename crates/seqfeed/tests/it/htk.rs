//! Truncated sequences of HTK files.

use std::collections::BTreeMap;
use std::fs;

use seqfeed::io::Opener;
use seqfeed::{Description, Minibatch, Table};

/// A small generator, so that cases are the same everywhere.
struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % n
    }
}

#[test]
fn truncated_rows_hold_every_sequence_once_and_whole() {
    let mut random = Random(1);
    for case in 0..60 {
        let directory = tempfile::tempdir().unwrap();
        let at = directory.path();
        let lengths: Vec<u64> = (0..1 + random.below(25)).map(|_| 1 + random.below(30)).collect();
        let total: u64 = lengths.iter().sum();
        let mut archive = Vec::new();
        archive.extend((total as i32).to_be_bytes());
        archive.extend(100_000i32.to_be_bytes());
        archive.extend([0, 8, 0, 9]);
        let (mut script, mut labels, mut start) = (String::new(), "#!MLF!#\n".to_owned(), 0);
        for (number, &length) in lengths.iter().enumerate() {
            for t in 0..length {
                archive.extend((number as f32).to_be_bytes());
                archive.extend((t as f32).to_be_bytes());
            }
            script += &format!("u{number}.x=.../a.chunk[{start},{}]\n", start + length - 1);
            labels += &format!("\"u{number}.lab\"\n0 {length} s{}\n.\n", number % 3);
            start += length;
        }
        fs::write(at.join("a.chunk"), archive).unwrap();
        fs::write(at.join("a.scp"), script).unwrap();
        fs::write(at.join("a.mlf"), labels).unwrap();
        fs::write(at.join("states"), "s0\ns1\ns2\n").unwrap();
        let (width, rows) = (1 + random.below(9), 1 + random.below(5));
        let method = ["readMethod=none ; randomize=none", "randomize=auto", "randomize=20"];
        let section = format!(
            "reader = [ readerType=HTKDeserializers ; frameMode=false ; truncated=true ; {}\n\
             nbruttsineachrecurrentiter={rows}\nx=[ dim=2 ; scpFile=a.scp ; framesPerChunk={} ]\n\
             y=[ mlfFile=a.mlf ; labelMappingFile=states ; labelDim=3 ] ]",
            method[random.below(3) as usize],
            1 + random.below(60)
        );
        fs::write(at.join("a.cntk"), section).unwrap();
        let mut table = Table::new();
        table.insert("reader".into(), at.join("a.cntk").display().to_string().into());
        table.insert("batch-size".into(), (width as i64).into());
        table.insert("sweeps".into(), 1.into());
        let opened = Description::from_options(table).unwrap().open(&Opener::default()).unwrap();
        let all: Vec<Minibatch> = opened.feed(None).unwrap().map(Result::unwrap).collect();
        check(&all, &lengths, (rows as usize, width as usize), case);
    }
}

fn check(all: &[Minibatch], lengths: &[u64], (rows, width): (usize, usize), case: usize) {
    // For each row the sequences that it held, with how much of the last one.
    let mut held: BTreeMap<usize, Vec<(u32, u64)>> = BTreeMap::new();
    for minibatch in all {
        let features = minibatch.stream("x").unwrap();
        let labels = minibatch.stream("y").unwrap();
        assert_eq!(features.shape(), [rows, width, 2], "{case}");
        let (values, classes) = (features.as_f32().unwrap(), labels.as_sparse().unwrap());
        for (number, segment) in minibatch.segments().iter().enumerate() {
            let (start, count) = features.rows_of(number);
            let row = held.entry(start / width).or_default();
            match row.last_mut() {
                // It goes on where the last minibatch ended.
                Some((sequence, samples)) if segment.first > 0 => {
                    assert_eq!((*sequence, *samples), (segment.sequence, u64::from(segment.first)));
                    *samples += count as u64;
                }
                // A reset: the one before is whole.
                last => {
                    assert_eq!(segment.first, 0, "{case}");
                    if let Some((sequence, samples)) = last {
                        assert_eq!(*samples, lengths[*sequence as usize], "{case}");
                    }
                    row.push((segment.sequence, count as u64));
                }
            }
            for t in 0..count {
                let expected = [segment.sequence as f32, (segment.first as usize + t) as f32];
                assert_eq!(values[2 * (start + t)..][..2], expected, "{case}");
                let at = classes.offsets[start + t] as usize;
                assert_eq!(classes.indices[at], segment.sequence as i32 % 3, "{case}");
            }
        }
    }
    let mut seen = vec![0; lengths.len()];
    for (sequence, samples) in held.into_values().flatten() {
        seen[sequence as usize] += 1;
        assert_eq!(samples, lengths[sequence as usize], "{case}");
    }
    assert!(seen.iter().all(|&times| times == 1), "{case}: {seen:?}");
}
