//! Conversions being done: shards side by side.

use std::ops::Range;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

#[cfg(feature = "arrow")]
use seqfeed_arrow::{Compress, KeyType, WriteOptions};
use seqfeed_core::{Error, Index, Result, Sink, Source, Stream};
use seqfeed_io::{CompressedOutput, WxFilename, write_atomically};
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

/// What a conversion has written.
#[derive(Clone, Debug, Serialize)]
pub struct ConvertReport {
    /// The format.
    pub format: &'static str,
    /// What was lost.
    pub losses: Vec<Loss>,
    /// Bytes of all files.
    pub bytes: u64,
    /// What all shards hold together.
    #[serde(flatten)]
    pub fingerprint: Fingerprint,
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
    /// Bytes of its files; of those that are files.
    pub bytes: u64,
    /// What is in it.
    pub fingerprint: Fingerprint,
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
    /// Files appear when they are whole. Shards that an earlier run of the same conversion has left whole are
    /// kept.
    ///
    /// # Errors
    ///
    /// Fails before anything is written if something would be lost that may not, if there are fewer sequences than
    /// shards, or if files cannot be made; later, if data cannot be read or written. Shards that are whole by then
    /// stay.
    pub fn run(&self, progress: &(dyn Fn(u64) + Sync)) -> Result<ConvertReport> {
        self.run_until(&AtomicBool::new(false), progress)
    }

    /// As [`run`](Self::run), until another thread asks it to stop: no file of a shard that was not whole by then
    /// appears.
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
            (0..others).for_each(|_| drop(scope.spawn(work)));
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
        let Some(path) = options.target.file_beside("shards.json") else { return Ok(None) };
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
        let mut sink =
            self.sink(&targets[shard], shard, targets.len(), source.streams(), samples)?;
        let mut fingerprinter = Fingerprinter::new(source.streams());
        let lengths = range.clone().filter(|&sequence| !index.is_withheld(sequence));
        let mut lengths = lengths.map(|sequence| u64::from(index.samples(sequence)));
        let mut done = 0;
        each_sequence_ahead(
            source,
            range,
            |key, blocks, number| fingerprinter.add(key, blocks, number),
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
        let files = sink.finish()?;
        let bytes = files.iter().map(|file| bytes_of(Path::new(file))).sum();
        let report = ShardReport { files, bytes, fingerprint: fingerprinter.finish(), kept: false };
        if let Some(record) = record {
            lock(record).add(shard, probe, &report)?;
        }
        Ok(report)
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
        let policy = &options.policy;
        let name = || WxFilename::parse(target.name());
        let arrays = |container| -> Result<Box<dyn Sink>> {
            Ok(Box::new(ArraysSink::create(&name()?, container, streams, samples, policy)?))
        };
        let htk = |layout| -> Result<Box<dyn Sink>> {
            let (encoding, states) = (&options.encoding, &options.states);
            Ok(Box::new(HtkSink::create(target.name(), layout, streams, encoding, states, policy)?))
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
                    policy: *policy,
                };
                Ok(Box::new(KaldiSink::create(&tables, streams, &options)?))
            }
            TargetFormat::Htk => htk(HtkLayout::Archive),
            TargetFormat::HtkFiles => htk(HtkLayout::Files),
            TargetFormat::Ctf => {
                let out = CompressedOutput::create(&name()?, policy)?;
                Ok(Box::new(CtfSink::new(out, streams, !self.keeps_keys)?))
            }
            TargetFormat::PFile => Ok(Box::new(PFileSink::create(&name()?, streams, policy)?)),
            TargetFormat::Pickle => arrays(Container::Pickle(options.protocol)),
            TargetFormat::Npy => arrays(Container::Npy),
            TargetFormat::Npz => arrays(Container::Npz),
            TargetFormat::Alignments => {
                Ok(Box::new(AlignmentSink::create(&name()?, streams, policy)?))
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
        let (name, policy) = (WxFilename::parse(target.name())?, &self.options.policy);
        let sink = ArrowSink::create(&name, container, streams, keys, &writing, policy)?;
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
                description = Some(path.display().to_string());
            }
        }
        Ok(ConvertReport {
            format: self.options.target.format().name(),
            losses: self.losses.clone(),
            bytes: shards.iter().map(|shard| shard.bytes).sum(),
            fingerprint: all,
            shards,
            description,
        })
    }
}

/// A hash of a shard's first, middle and last sequence: another source with the same keys and lengths is told by
/// it, mostly, without being read.
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

/// Bytes of a file, or of the files in a directory; none for what is no file.
fn bytes_of(path: &Path) -> u64 {
    let Ok(found) = std::fs::metadata(path) else { return 0 };
    if !found.is_dir() {
        return if found.is_file() { found.len() } else { 0 };
    }
    let entries = std::fs::read_dir(path).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.metadata().ok()).map(|found| found.len()).sum()
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
        let target = Target::parse(&directory.path().join("x.ctf").display().to_string()).unwrap();
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
