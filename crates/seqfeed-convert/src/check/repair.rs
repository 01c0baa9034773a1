//! A copy of a corpus without its errors.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;

use seqfeed_core::{Draw, Element, Error, Extent, Key, Kind, Result, Stream};
use seqfeed_io::{Opener, OutputDirectory, shown_name};
use seqfeed_kaldi::{Holder, Matrix, Posterior, TableWriter, Wspecifier};
use serde::Serialize;

use super::Check;
use super::checked_source::CheckedSource;
use super::keys::by_key;
use seqfeed::{Description, Sample, Sequence, SequenceStream};

/// A summary of a repaired copy: what it holds, and what was left out.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Repair {
    /// Sequences in the copy.
    pub sequences: u64,
    /// Samples of the first stream.
    pub samples: u64,
    /// Keys that were left out, by reason.
    pub left_out: BTreeMap<&'static str, Vec<String>>,
    /// Sequences whose ends were cut off.
    pub trimmed: Vec<Trimmed>,
}

/// A sequence that was cut to the shortest of its streams.
#[derive(Clone, Debug, Serialize)]
pub struct Trimmed {
    /// The key.
    pub key: String,
    /// Its number of samples now.
    pub samples: u32,
    /// The number of samples of its longest stream before.
    pub before: u32,
}

/// A table of one type or another.
enum Table {
    F32(TableWriter<Matrix<f32>>),
    F64(TableWriter<Matrix<f64>>),
    Labels(TableWriter<Vec<i32>>),
    Label(TableWriter<i32>),
    Posteriors(TableWriter<Posterior>),
}

impl Check {
    /// Writes a repaired copy into a new directory, which appears when it is whole. For each stream
    /// there is an archive and a script file of Kaldi's, sorted by key. `corpus.toml` has the
    /// settings of `description`. `report.json` has the findings and the keys that were left out.
    ///
    /// These sequences are left out: those that cannot be read or have values that are not finite;
    /// later ones of the same key; those that a stream lacks; and entries of script files that lead
    /// to the objects of other keys. If lengths differ by a few samples ([`CheckOptions::trim`]),
    /// all streams are cut to the shortest. If they differ by more, the sequence is left out.
    ///
    /// [`CheckOptions::trim`]: super::CheckOptions::trim
    ///
    /// # Errors
    ///
    /// Fails if the directory is not empty, if no sequence remains, or if writing fails.
    pub fn repair(&self, description: &Description, directory: &Path) -> Result<Repair> {
        let shown = shown_name(directory);
        let draws = |part: &&CheckedSource| part.source.in_sweep(Draw::default()).is_some();
        if let Some(part) = self.parts.iter().find(draws) {
            return Err(Error::usage("a copy would keep random values of one sweep")
                .in_file(part.source.name())
                .with_help("leave out the transforms that draw them; the copy can have them"));
        }
        let output = OutputDirectory::create_with_parents(directory)?;
        let mut repair =
            Repair { sequences: 0, samples: 0, left_out: BTreeMap::new(), trimmed: Vec::new() };
        let kept = self.kept(&mut repair);
        if kept.is_empty() {
            return Err(Error::corpus("no sequence is left to be written")
                .in_file(shown)
                .with_help("see the findings of the check"));
        }
        let mut streams = Vec::new();
        for part in &self.parts {
            let part_streams = part.source.streams().iter();
            streams.extend(
                part_streams
                    .map(|stream| new_table(stream, &output))
                    .collect::<Result<Vec<_>>>()?,
            );
        }
        for (numbers, samples) in &kept {
            let mut tables = streams.iter_mut();
            for (part, &number) in self.parts.iter().zip(numbers) {
                let mut sequence = Sequence::load(part.source.as_ref(), number)?;
                if has_time_steps(part) {
                    sequence.keep_samples(&(0..*samples as usize));
                }
                for stream in sequence.streams() {
                    let Some(table) = tables.next() else { break };
                    table.write(sequence.key(), stream)?;
                }
            }
            repair.sequences += 1;
            repair.samples += u64::from(*samples);
        }
        streams.into_iter().try_for_each(Table::close)?;
        let report = serde_json::json!({
            "summary": self.summary(),
            "repair": &repair,
            "findings": self.findings(),
        });
        output.write("report.json", format!("{report:#}\n").as_bytes())?;
        let described = description.over_tables(&self.tables()).to_toml();
        output.write("corpus.toml", described.as_bytes())?;
        output.finish()?;
        Ok(repair)
    }

    /// The streams of the copy, and the names of their tables.
    fn tables(&self) -> Vec<(&Stream, String)> {
        let streams = self.parts.iter().flat_map(|part| part.source.streams());
        streams.map(|stream| (stream, format!("scp:{}.scp", file_name(&stream.name)))).collect()
    }

    /// For each sequence that is written, its number in each source, and its samples; sorted by
    /// key.
    fn kept(&self, repair: &mut Repair) -> Vec<(Vec<u32>, u32)> {
        let keys: Vec<HashMap<Key<'_>, u32>> =
            self.parts.iter().map(|part| by_key(part.source.as_ref())).collect();
        let bad: Vec<HashSet<u32>> =
            self.bad.iter().map(|bad| bad.iter().copied().collect()).collect();
        let Some(primary) = self.parts.first() else { return Vec::new() };
        let index = primary.source.index();
        let mut order: Vec<u32> = (0..index.len() as u32).collect();
        order.sort_by_key(|&sequence| (index.key(sequence), sequence));
        let mut kept = Vec::new();
        for sequence in order {
            let key = index.key(sequence);
            let mut leave_out = |why| {
                repair.left_out.entry(why).or_default().push(key.to_string());
            };
            if keys[0].get(&key) != Some(&sequence) {
                leave_out("duplicate key");
                continue;
            }
            let numbers: Option<Vec<u32>> =
                keys.iter().map(|keys| keys.get(&key).copied()).collect();
            let Some(numbers) = numbers else {
                leave_out("missing in a stream");
                continue;
            };
            if numbers.iter().zip(&bad).any(|(number, bad)| bad.contains(number)) {
                leave_out("unreadable or not all numbers");
                continue;
            }
            let shown = key.to_string();
            if self.parts.iter().any(|part| part.of_others.contains(&shown)) {
                leave_out("another key's object");
                continue;
            }
            let lengths: Vec<u32> = self
                .parts
                .iter()
                .zip(&numbers)
                .filter(|(part, _)| has_time_steps(part))
                .map(|(part, &number)| part.source.index().samples(number))
                .collect();
            let (Some(&least), Some(&most)) = (lengths.iter().min(), lengths.iter().max()) else {
                let first = primary.source.index().samples(sequence);
                kept.push((numbers, first));
                continue;
            };
            if least == 0 {
                leave_out("empty");
            } else if most - least > self.trim {
                leave_out("different lengths");
            } else {
                if most > least {
                    let key = key.to_string();
                    repair.trimmed.push(Trimmed { key, samples: least, before: most });
                }
                kept.push((numbers, least));
            }
        }
        kept
    }
}

/// Whether the streams of a source have one sample a time step: not one sample a sequence, and no
/// lengths of their own.
fn has_time_steps(part: &CheckedSource) -> bool {
    part.source.streams().iter().any(|stream| stream.extent == Extent::Samples)
}

/// The name of a stream as a file name.
fn file_name(stream: &str) -> String {
    let safe = |letter: char| {
        if letter.is_alphanumeric() || "-_.".contains(letter) { letter } else { '_' }
    };
    stream.chars().map(safe).collect()
}

fn new_table(stream: &Stream, output: &OutputDirectory) -> Result<Table> {
    Ok(match (stream.kind, stream.element, stream.extent) {
        (Kind::Dense, Element::F64, _) => Table::F64(create(stream, output)?),
        (Kind::Dense, ..) => Table::F32(create(stream, output)?),
        (Kind::Sparse, ..) => Table::Posteriors(create(stream, output)?),
        (.., Extent::Sequence) => Table::Label(create(stream, output)?),
        _ => Table::Labels(create(stream, output)?),
    })
}

/// A table in a directory. Its script file names the archive under its final name.
fn create<T: Holder>(stream: &Stream, output: &OutputDirectory) -> Result<TableWriter<T>> {
    let name = file_name(&stream.name);
    let archive = format!("{name}.ark");
    let wspecifier = Wspecifier {
        archive: Some(output.path().join(&archive).into_os_string()),
        script: Some(output.path().join(format!("{name}.scp")).into_os_string()),
        text: false,
        flush: false,
        permissive: false,
    };
    let mut table = TableWriter::create(&wspecifier.name(), &Opener::default())?;
    table.call_archive(output.target().join(archive));
    Ok(table)
}

impl Table {
    fn write(&mut self, key: Key<'_>, stream: &SequenceStream) -> Result<()> {
        let (rows, cols) = (stream.range().len(), stream.stream().dim);
        match self {
            Table::F32(table) => {
                let values: Vec<f32> = dense(stream).map(|value| value as f32).collect();
                table.write(key, &Matrix { rows, cols, values })
            }
            Table::F64(table) => {
                let values = dense(stream).collect();
                table.write(key, &Matrix { rows, cols, values })
            }
            Table::Labels(table) => table.write(key, &labels(stream).collect()),
            Table::Label(table) => match labels(stream).next() {
                Some(label) => table.write(key, &label),
                None => Ok(()),
            },
            Table::Posteriors(table) => {
                let frames = stream.samples().map(|sample| match sample {
                    Sample::Sparse(given) => {
                        given.into_iter().map(|(number, value)| (number, value as f32)).collect()
                    }
                    _ => Vec::new(),
                });
                table.write(key, &Posterior(frames.collect()))
            }
        }
    }

    fn close(self) -> Result<()> {
        match self {
            Table::F32(table) => table.close(),
            Table::F64(table) => table.close(),
            Table::Labels(table) => table.close(),
            Table::Label(table) => table.close(),
            Table::Posteriors(table) => table.close(),
        }
        .map(drop)
    }
}

fn dense(stream: &SequenceStream) -> impl Iterator<Item = f64> {
    stream.samples().flat_map(|sample| match sample {
        Sample::Dense(values) => values,
        _ => Vec::new(),
    })
}

fn labels(stream: &SequenceStream) -> impl Iterator<Item = i32> {
    stream.samples().filter_map(|sample| match sample {
        Sample::Label(label) => Some(label),
        _ => None,
    })
}
