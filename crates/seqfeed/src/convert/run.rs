//! Conversions being done: shards side by side.

use std::collections::{BTreeMap, HashSet};
use std::ops::Range;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

#[cfg(feature = "arrow")]
use seqfeed_arrow::{Compress, KeyType, WriteOptions};
use seqfeed_core::{Error, Index, Key, Kind, Result, Sink, Source, Stream, Written};
use seqfeed_io::{
    CompressedOutput, OutputDirectory, WxFilename, name_from_text, name_to_text, path_from_text,
    shown_name, write_atomically,
};
use seqfeed_kaldi::Wspecifier;
use seqfeed_pdnn::pickle::Container;
use serde::{Deserialize, Serialize};
use twox_hash::XxHash3_64;

use super::describe::describe;
use super::record::RecordFile;
use super::shaped::Shaped;
use super::target::{Target, TargetFormat, numbered_wspecifier};
use super::{ConvertPlan, Loss};
use crate::fingerprint::{Fingerprint, Fingerprinter};
use crate::sequences::each_sequence_ahead;
use crate::sinks::{
    AlignmentSink, ArraysSink, CtfSink, HtkLayout, HtkSink, KaldiOptions, KaldiSink, KaldiTable,
    PFileSink,
};
#[cfg(feature = "arrow")]
use crate::sinks::{ArrowContainer, ArrowSink};

/// What the name of the record of shards ends with.
const RECORD: &str = "shards.json";

/// What a conversion has written.
#[derive(Clone, Debug, Serialize)]
pub struct ConvertReport {
    /// The format.
    pub format: &'static str,
    /// What was lost.
    pub losses: Vec<Loss>,
    /// Bytes of all files, and of what went to standard output, commands and the names in
    /// script files.
    pub bytes: u64,
    /// What all shards hold together.
    #[serde(flatten)]
    pub fingerprint: Fingerprint,
    /// By stream, how many sequences were not written, as a script file (`scp,p:`) has no name
    /// for their keys.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub not_written: BTreeMap<String, u64>,
    /// The shards, in order; one, where the corpus was not divided.
    pub shards: Vec<ShardReport>,
    /// The description that opens what was written, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
}

/// What a shard holds.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ShardReport {
    /// Its files.
    pub files: Vec<String>,
    /// Bytes of its files, and of what went to standard output, commands and the names in
    /// script files.
    pub bytes: u64,
    /// What is in it.
    pub fingerprint: Fingerprint,
    /// By stream, how many of its sequences were not written, as a script file (`scp,p:`) has no
    /// name for their keys.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub not_written: BTreeMap<String, u64>,
    /// Whether an earlier run has written it.
    #[serde(default)]
    pub kept: bool,
}

/// Why a shard is given up: another one has failed, or somebody has asked.
struct Stop<'a> {
    failed: AtomicBool,
    asked: &'a AtomicBool,
}

impl Stop<'_> {
    fn check(&self) -> Result<()> {
        if self.asked.load(Ordering::Relaxed) {
            return Err(Error::corpus("the conversion was asked to stop"));
        }
        if self.failed.load(Ordering::Relaxed) {
            return Err(Error::corpus("another shard has failed"));
        }
        Ok(())
    }
}

impl ConvertPlan {
    /// Does the conversion; `progress` is told of samples as they are done, from several threads.
    ///
    /// Files appear when they are whole. Shards that an earlier run of the same conversion has left
    /// whole are kept.
    ///
    /// # Errors
    ///
    /// Fails before anything is written if something would be lost that may not, if there are fewer
    /// sequences than shards, or if files cannot be made; later, if data cannot be read or written.
    /// Shards that are whole by then stay.
    pub fn run(&self, progress: &(dyn Fn(u64) + Sync)) -> Result<ConvertReport> {
        self.run_until(&AtomicBool::new(false), progress)
    }

    /// As [`run`](Self::run), until another thread asks it to stop: no file of a shard that was not
    /// whole by then appears.
    ///
    /// # Errors
    ///
    /// As [`run`](Self::run), and if it was asked to stop.
    pub fn run_until(
        &self,
        asked: &AtomicBool,
        progress: &(dyn Fn(u64) + Sync),
    ) -> Result<ConvertReport> {
        self.check_losses()?;
        // Others may have made files since it was planned.
        self.check_outputs()?;
        let source = Shaped::new(self.corpus.as_ref(), self.picks.clone());
        let ranges = self.ranges(source.index())?;
        let targets: Vec<Target> = (0..ranges.len())
            .map(|shard| self.options.target.shard(shard, ranges.len()))
            .collect::<Result<_>>()?;
        let record = self.record(&source)?.map(Mutex::new);
        let reports = Mutex::new(vec![None; ranges.len()]);
        let failure: Mutex<Option<Error>> = Mutex::new(None);
        let (next, stop) = (AtomicUsize::new(0), Stop { failed: AtomicBool::new(false), asked });
        let work = || {
            while !stop.failed.load(Ordering::Relaxed) {
                let shard = next.fetch_add(1, Ordering::Relaxed);
                let Some(range) = ranges.get(shard) else { break };
                let done = self.shard(
                    &source,
                    shard,
                    &targets,
                    range.clone(),
                    record.as_ref(),
                    &stop,
                    progress,
                );
                match done {
                    Ok(report) => lock(&reports)[shard] = Some(report),
                    Err(error) => {
                        stop.failed.store(true, Ordering::Relaxed);
                        lock(&failure).get_or_insert(error);
                    }
                }
            }
        };
        thread::scope(|scope| {
            let others = self.options.sharding.jobs.min(ranges.len()) - 1;
            // Where threads are scarce, fewer do the same work.
            (0..others).for_each(|_| drop(thread::Builder::new().spawn_scoped(scope, work)));
            work();
        });
        if let Some(error) = lock(&failure).take() {
            return Err(error);
        }
        let shards: Vec<ShardReport> = lock(&reports).drain(..).flatten().collect();
        self.report(source.streams(), &targets, shards)
    }

    /// Whether all that would be lost may be lost, as [`run`](Self::run) asks at first.
    ///
    /// # Errors
    ///
    /// Fails if not.
    pub fn check_losses(&self) -> Result<()> {
        if self.losses.is_empty() || self.options.allow_lossy {
            return Ok(());
        }
        let count = self.losses.len();
        let things = if count == 1 { "thing" } else { "things" };
        Err(Error::corpus(format!(
            "{} cannot hold all of the corpus: {count} {things} would be lost",
            self.options.target.format().name()
        ))
        .with_help("if that is all right, allow it with --allow-lossy"))
    }

    /// The sequences of each shard: runs with about as many samples each.
    fn ranges(&self, index: &Index) -> Result<Vec<Range<u32>>> {
        let (shards, sequences) = (self.options.sharding.shards, index.len() as u32);
        if shards as u64 > u64::from(sequences) {
            return Err(Error::usage(format!(
                "{sequences} sequences cannot be divided into {shards} shards"
            )));
        }
        let mut start = 0;
        let range = |shard: usize| {
            let share =
                (u128::from(index.total_samples()) * (shard as u128 + 1) / shards as u128) as u64;
            let left = (shards - 1 - shard) as u32;
            let end = match left {
                0 => sequences,
                _ => index
                    .sequence_at(share.min(index.total_samples().saturating_sub(1)), 0..sequences),
            };
            let range = start..end.clamp(start + 1, sequences - left);
            start = range.end;
            range
        };
        Ok((0..shards).map(range).collect())
    }

    /// The record of shards; none for a whole, which is always written.
    fn record(&self, source: &Shaped<'_>) -> Result<Option<RecordFile>> {
        if self.options.sharding.shards == 1 {
            return Ok(None);
        }
        let options = &self.options;
        let Some(path) = options.target.file_beside(RECORD) else { return Ok(None) };
        // All that decides which bytes are written.
        let conversion = format!(
            "{} -> {:?} {} {:?}; streams {:?}; others {:?}; compress {:?} {:?}; waves {:?}; {:?}; {:?}; states {:016x}; index {:016x}",
            source.name(),
            options.target,
            options.sharding.shards,
            self.picks,
            source.streams(),
            options.others,
            options.compress,
            options.zstd,
            self.waves,
            options.protocol,
            options.encoding,
            XxHash3_64::oneshot(options.states.join("\n").as_bytes()),
            source.index().digest(),
        );
        let conversion = format!("{:016x}", XxHash3_64::oneshot(conversion.as_bytes()));
        // An anew conversion does not look at what is recorded, but records what it writes.
        RecordFile::open(path, conversion).map(Some)
    }

    #[allow(clippy::too_many_arguments)]
    fn shard(
        &self,
        source: &Shaped<'_>,
        shard: usize,
        targets: &[Target],
        range: Range<u32>,
        record: Option<&Mutex<RecordFile>>,
        stop: &Stop<'_>,
        progress: &(dyn Fn(u64) + Sync),
    ) -> Result<ShardReport> {
        stop.check()?;
        let index = source.index();
        let probe = match record {
            Some(_) => probe(source, &range)?,
            None => String::new(),
        };
        if let Some(record) = record
            && !self.options.sharding.anew
            && let Some(report) = lock(record).whole(shard, &probe)
        {
            progress(index.start(range.end) - index.start(range.start));
            return Ok(report);
        }
        let samples = range
            .clone()
            .filter(|&sequence| !index.is_withheld(sequence))
            .map(|sequence| u64::from(index.samples(sequence)))
            .sum();
        let streams = source.streams();
        let mut sink = self.sink(&targets[shard], shard, targets.len(), streams, samples)?;
        let left_out = left_out(sink.as_ref(), index, &range, streams.len());
        let mut fingerprinter = Fingerprinter::new(streams);
        let lengths = range.clone().filter(|&sequence| !index.is_withheld(sequence));
        let mut lengths = lengths.map(|sequence| u64::from(index.samples(sequence)));
        let mut done = 0;
        each_sequence_ahead(
            source,
            range,
            |key, blocks, number| {
                let written = |stream: usize| !left_out[stream].contains(key.0);
                fingerprinter.add_streams(key, blocks, number, written);
            },
            |key, blocks, number| {
                stop.check()?;
                sink.write(key, blocks, number)?;
                done += lengths.next().unwrap_or(0);
                if done >= 1 << 12 {
                    progress(done);
                    done = 0;
                }
                Ok(())
            },
        )?;
        progress(done);
        stop.check()?;
        // Files of the corpus may have been opened since it began.
        self.check_outputs()?;
        self.remove_old_description()?;
        let Written { files, bytes } = sink.finish()?;
        let named = streams.iter().map(|stream| stream.name.clone());
        let counted = named.zip(left_out.iter().map(|keys| keys.len() as u64));
        let report = ShardReport {
            files,
            bytes,
            fingerprint: fingerprinter.finish(),
            not_written: counted.filter(|(_, count)| *count > 0).collect(),
            kept: false,
        };
        if let Some(record) = record {
            lock(record).add(shard, probe, &report)?;
        }
        Ok(report)
    }

    /// Fails if a file would be written that is read, or twice.
    pub(super) fn check_outputs(&self) -> Result<()> {
        let target = &self.options.target;
        let count = self.options.sharding.shards;
        let mut names = Vec::new();
        for shard in 0..count {
            names.extend(self.outputs(&target.shard(shard, count)?, shard, count)?);
        }
        names.extend(self.description.clone().map(WxFilename::File));
        if count > 1 {
            names.extend(target.file_beside(RECORD).map(WxFilename::File));
        }
        self.options.inputs.check_outputs(&names)
    }

    /// The files of a shard, as far as they are known before it is written: script files
    /// name others.
    fn outputs(&self, target: &Target, shard: usize, count: usize) -> Result<Vec<WxFilename>> {
        let streams: Vec<Stream> =
            Shaped::new(self.corpus.as_ref(), self.picks.clone()).streams().to_vec();
        let mut names = Vec::new();
        match target.format() {
            TargetFormat::Kaldi => {
                for (_, wspecifier) in self.tables(target, shard, count, &streams)? {
                    let table = Wspecifier::parse(&name_from_text(&wspecifier))?;
                    // A script file alone is read.
                    let script = table.archive.is_some().then_some(table.script).flatten();
                    names.extend(table.archive.into_iter().chain(script));
                }
            }
            TargetFormat::Htk | TargetFormat::HtkFiles => {
                let labels = streams.iter().any(|stream| stream.kind != Kind::Dense);
                let archive = (target.format() == TargetFormat::Htk).then_some("htk");
                let labels = labels.then_some(["mlf", "states"]).into_iter().flatten();
                let ends = archive.into_iter().chain(["scp"]).chain(labels);
                let name = |end| name_from_text(&format!("{}.{end}", target.name()));
                names.extend(ends.map(name));
            }
            _ => names.push(name_from_text(target.name())),
        }
        names.iter().map(WxFilename::parse).collect()
    }

    /// Where files appear anew one after another, no description tells that they belong together
    /// before all are there.
    fn remove_old_description(&self) -> Result<()> {
        let Some(path) = &self.description else { return Ok(()) };
        match std::fs::remove_file(path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                Err(Error::io("removing", error).in_file(shown_name(path)))
            }
            _ => Ok(()),
        }
    }

    /// The wspecifiers of streams, with Kaldi's tables.
    pub(super) fn tables(
        &self,
        target: &Target,
        shard: usize,
        count: usize,
        streams: &[Stream],
    ) -> Result<Vec<(usize, String)>> {
        if target.format() != TargetFormat::Kaldi {
            return Ok(Vec::new());
        }
        if target.wspecifier().is_some() {
            let numbered = |(stream, text): &(usize, String)| {
                Ok((
                    *stream,
                    match count {
                        1 => text.clone(),
                        _ => numbered_wspecifier(text, shard, count)?,
                    },
                ))
            };
            return self.wspecifiers.iter().map(numbered).collect();
        }
        let stem = target.name();
        let table = |(number, stream): (usize, &Stream)| {
            let name = format!("{stem}.{}", stream.name);
            (number, format!("ark,scp:{name}.ark,{name}.scp"))
        };
        Ok(streams.iter().enumerate().map(table).collect())
    }

    fn sink(
        &self,
        target: &Target,
        shard: usize,
        count: usize,
        streams: &[Stream],
        samples: u64,
    ) -> Result<Box<dyn Sink>> {
        let options = &self.options;
        let opener = &options.opener;
        let name = || WxFilename::parse(&name_from_text(target.name()));
        let arrays = |container| -> Result<Box<dyn Sink>> {
            Ok(Box::new(ArraysSink::create(&name()?, container, streams, samples, opener)?))
        };
        let htk = |layout| -> Result<Box<dyn Sink>> {
            let (encoding, states) = (&options.encoding, &options.states);
            Ok(Box::new(HtkSink::create(target.name(), layout, streams, encoding, states, opener)?))
        };
        match target.format() {
            TargetFormat::Kaldi => {
                let tables = self.tables(target, shard, count, streams)?;
                let tables: Vec<KaldiTable> = tables
                    .into_iter()
                    .map(|(stream, wspecifier)| KaldiTable {
                        stream,
                        wspecifier,
                        waves: self.waves.get(&stream).cloned(),
                    })
                    .collect();
                let options = KaldiOptions {
                    compress: options.compress,
                    round_waves: options.allow_lossy,
                    opener: opener.clone(),
                    inputs: options.inputs.clone(),
                };
                Ok(Box::new(KaldiSink::create(&tables, streams, &options)?))
            }
            TargetFormat::Htk => htk(HtkLayout::Archive),
            TargetFormat::HtkFiles => htk(HtkLayout::Files),
            TargetFormat::Ctf => {
                let out = CompressedOutput::create(&name()?, opener)?;
                Ok(Box::new(CtfSink::new(out, streams, !self.keeps_keys)?))
            }
            TargetFormat::PFile => Ok(Box::new(PFileSink::create(&name()?, streams, opener)?)),
            TargetFormat::Pickle => arrays(Container::Pickle(options.protocol)),
            TargetFormat::Npy => arrays(Container::Npy),
            TargetFormat::Npz => arrays(Container::Npz),
            TargetFormat::Alignments => {
                Ok(Box::new(AlignmentSink::create(&name()?, streams, opener)?))
            }
            TargetFormat::Parquet | TargetFormat::Arrow => self.columnar_sink(target, streams),
        }
    }

    #[cfg(feature = "arrow")]
    fn columnar_sink(&self, target: &Target, streams: &[Stream]) -> Result<Box<dyn Sink>> {
        let container = match target.format() {
            TargetFormat::Parquet => ArrowContainer::Parquet,
            _ => ArrowContainer::Ipc,
        };
        let writing = WriteOptions {
            compress: self.options.zstd.map_or(Compress::None, Compress::Zstd),
            ..WriteOptions::default()
        };
        // Of the whole corpus, so that all shards have the same columns.
        let keys = KeyType::of(self.corpus.index());
        let (name, opener) =
            (WxFilename::parse(&name_from_text(target.name()))?, &self.options.opener);
        let sink = ArrowSink::create(&name, container, streams, keys, &writing, opener)?;
        Ok(Box::new(sink))
    }

    #[cfg(not(feature = "arrow"))]
    fn columnar_sink(&self, target: &Target, _: &[Stream]) -> Result<Box<dyn Sink>> {
        Err(crate::arrow_files::not_built(target.name()))
    }

    fn report(
        &self,
        streams: &[Stream],
        targets: &[Target],
        shards: Vec<ShardReport>,
    ) -> Result<ConvertReport> {
        let mut all = Fingerprinter::new(streams).finish();
        shards.iter().for_each(|shard| all.add(&shard.fingerprint));
        let mut description = None;
        if let Some(path) = &self.description {
            let tables: Vec<Vec<(usize, String)>> = targets
                .iter()
                .enumerate()
                .map(|(shard, target)| self.tables(target, shard, targets.len(), streams))
                .collect::<Result<_>>()?;
            let base =
                path.parent().filter(|base| *base != Path::new("")).unwrap_or(Path::new("."));
            if let Some(text) = describe(targets, &tables, streams, &all, base) {
                write_atomically(path, text.as_bytes(), true)?;
                description = Some(name_to_text(path));
            }
        }
        if self.options.target.format() == TargetFormat::HtkFiles {
            let mut directories = targets.iter().map(|target| path_from_text(target.name()));
            directories.try_for_each(|directory| OutputDirectory::unmark(&directory))?;
        }
        let mut not_written: BTreeMap<String, u64> = BTreeMap::new();
        for (stream, count) in shards.iter().flat_map(|shard| &shard.not_written) {
            *not_written.entry(stream.clone()).or_default() += count;
        }
        Ok(ConvertReport {
            format: self.options.target.format().name(),
            losses: self.losses.clone(),
            bytes: shards.iter().map(|shard| shard.bytes).sum(),
            fingerprint: all,
            not_written,
            shards,
            description,
        })
    }
}

/// A hash of a shard's first, middle and last sequence: another source with the same keys and
/// lengths is told by it, mostly, without being read.
fn probe(source: &Shaped<'_>, range: &Range<u32>) -> Result<String> {
    let index = source.index();
    let mut some = vec![range.start, range.start + (range.end - range.start) / 2, range.end - 1];
    some.dedup();
    some.retain(|&sequence| !index.is_withheld(sequence));
    let mut blocks = source.new_blocks();
    source.load(&some, &mut blocks)?;
    let mut fingerprinter = Fingerprinter::new(source.streams());
    for (number, &sequence) in some.iter().enumerate() {
        fingerprinter.add(index.key(sequence), &blocks, number);
    }
    let found = fingerprinter.finish();
    let each = found.streams.iter().map(|stream| format!("{:016x}", stream.sequences));
    Ok(each.collect::<Vec<_>>().join(" "))
}

/// For each stream the keys of those sequences that a sink leaves out.
fn left_out<'a>(
    sink: &dyn Sink,
    index: &'a Index,
    range: &Range<u32>,
    streams: usize,
) -> Vec<HashSet<&'a [u8]>> {
    let keys = |stream: usize| {
        let there = range.clone().filter(|&sequence| !index.is_withheld(sequence));
        let keys = there.map(|sequence| index.key(sequence));
        keys.filter(|&key| !sink.takes(stream, key)).map(|Key(key)| key).collect()
    };
    (0..streams).map(keys).collect()
}

/// What a thread that panicked left is as good as any: it is noted whole.
fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use seqfeed_core::{Element, Extent, Key, Kind};

    use super::*;
    use crate::{ConvertOptions, CorpusSpool};

    #[test]
    fn a_conversion_that_was_stopped_leaves_nothing() {
        let stream = Stream {
            name: "features".to_owned(),
            kind: Kind::Dense,
            element: Element::F32,
            dim: 2,
            extent: Extent::Samples,
        };
        let mut spool = CorpusSpool::new("made", vec![stream]).unwrap();
        let mut blocks = spool.new_blocks();
        blocks[0].push_f32(5000);
        spool.push(Key(b"0"), &blocks, 0).unwrap();
        spool.push(Key(b"1"), &blocks, 0).unwrap();
        let corpus = spool.finish().unwrap();
        let directory = tempfile::tempdir().unwrap();
        let target = Target::parse(&directory.path().join("x.ctf")).unwrap();
        let mut options = ConvertOptions::new(target);
        let plan = ConvertPlan::new(&corpus, options.clone()).unwrap();
        // In the middle, and before anything.
        let asked = AtomicBool::new(false);
        for _ in 0..2 {
            let stop = |_samples| asked.store(true, Ordering::Relaxed);
            let error = plan.run_until(&asked, &stop).unwrap_err();
            assert_eq!(error.message(), "the conversion was asked to stop");
        }
        options.sharding.shards = 2;
        let plan = ConvertPlan::new(&corpus, options).unwrap();
        plan.run_until(&asked, &|_samples| {}).unwrap_err();
        assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0);
    }
}
