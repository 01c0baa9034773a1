//! Runs a conversion: shards side by side.

use std::collections::{BTreeMap, HashSet};
use std::ops::Range;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use seqfeed_core::{Error, Index, Key, Result, Sink, Source, Stream, Transformed, Written};
use seqfeed_io::{WxFilename, name_to_text, remove_if_there, write_atomically};
use twox_hash::XxHash3_64;

use super::ConvertPlan;
use super::record::RecordFile;
use super::report::{ConvertReport, ShardReport};
use super::shaped::shaped;
use super::target::Target;
use crate::fingerprint::{Fingerprint, Fingerprinter};
use crate::sequences::each_sequence_ahead;
use seqfeed::Writing;

/// The end of the name of the record of shards.
const RECORD: &str = "shards.json";

/// Why a shard is given up: another one has failed, or the caller has asked to stop.
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
    /// Runs the conversion. `progress` gets the numbers of samples as they are done, from several
    /// threads.
    ///
    /// Files appear when they are whole. Shards that an earlier run of the same conversion has
    /// completed are kept.
    ///
    /// # Errors
    ///
    /// Fails before anything is written if there would be losses that are not allowed, if there are
    /// fewer sequences than shards, or if files cannot be made. Fails later if data cannot be read
    /// or written. Shards that are whole by then stay.
    pub fn run(&self, progress: &(dyn Fn(u64) + Sync)) -> Result<ConvertReport> {
        self.run_until(&AtomicBool::new(false), progress)
    }

    /// The same as [`run`](Self::run), until another thread asks it to stop. After that, no file of
    /// an unfinished shard appears.
    ///
    /// # Errors
    ///
    /// The same as [`run`](Self::run), and if it was asked to stop.
    pub fn run_until(
        &self,
        asked: &AtomicBool,
        progress: &(dyn Fn(u64) + Sync),
    ) -> Result<ConvertReport> {
        self.check_losses()?;
        // Others may have made files since the conversion was planned.
        self.check_outputs()?;
        let source = shaped(&self.corpus, &self.picks)?;
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
            // If no more threads can be started, fewer do the same work.
            (0..others).for_each(|_| drop(thread::Builder::new().spawn_scoped(scope, work)));
            work();
        });
        if let Some(error) = lock(&failure).take() {
            return Err(error);
        }
        let shards: Vec<ShardReport> = lock(&reports).drain(..).flatten().collect();
        self.report(source.streams(), &targets, shards)
    }

    /// Checks that all losses are allowed. [`run`](Self::run) does this first.
    ///
    /// # Errors
    ///
    /// Fails if they are not.
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

    /// Each shard must have at least one sequence.
    fn check_shards(&self, index: &Index) -> Result<()> {
        let (shards, sequences) = (self.options.sharding.shards, index.len());
        if shards <= sequences {
            return Ok(());
        }
        Err(Error::usage(format!("{sequences} sequences cannot be divided into {shards} shards")))
    }

    /// The sequences of each shard: runs with about as many samples each.
    fn ranges(&self, index: &Index) -> Result<Vec<Range<u32>>> {
        self.check_shards(index)?;
        let (shards, sequences) = (self.options.sharding.shards, index.len() as u32);
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

    /// The record of shards. `None` for an undivided conversion, which is always written.
    fn record(&self, source: &Transformed) -> Result<Option<RecordFile>> {
        if self.options.sharding.shards == 1 {
            return Ok(None);
        }
        let options = &self.options;
        let Some(path) = options.target.file_beside(RECORD) else { return Ok(None) };
        // Everything that decides the written bytes.
        let conversion = format!(
            "{} -> {:?} {} {:?}; streams {:?}; others {:?}; options {:?}; sound {:?}; states {:016x}; index {:016x}",
            source.name(),
            options.target,
            options.sharding.shards,
            self.picks,
            source.streams(),
            options.others,
            self.format_options,
            self.sound,
            XxHash3_64::oneshot(options.states.join("\n").as_bytes()),
            source.index().digest(),
        );
        let conversion = format!("{:016x}", XxHash3_64::oneshot(conversion.as_bytes()));
        // With `anew` the old record is not read, but a new one is written.
        RecordFile::open(path, conversion).map(Some)
    }

    #[allow(clippy::too_many_arguments)]
    fn shard(
        &self,
        source: &Transformed,
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
        let mut lengths = index.unmasked(range.clone()).map(|one| u64::from(index.samples(one)));
        let samples = lengths.clone().sum();
        let streams = source.streams();
        let (target, count) = (&targets[shard], targets.len());
        let mut sink =
            target.format().sink(&self.writing(target, shard, count, streams, samples)?)?;
        let left_out = left_out(sink.as_ref(), index, &range, streams.len());
        let mut fingerprinter = Fingerprinter::new(streams);
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
        // Files of the corpus may have been opened since the run began.
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

    /// Fails if a file would be written that is read, or would be written twice.
    pub(super) fn check_outputs(&self) -> Result<()> {
        let target = &self.options.target;
        let count = self.options.sharding.shards;
        let source = shaped(&self.corpus, &self.picks)?;
        // Before names are made for all shards.
        self.check_shards(source.index())?;
        let mut names = Vec::new();
        for shard in 0..count {
            let target = target.shard(shard, count)?;
            let writing = self.writing(&target, shard, count, source.streams(), 0)?;
            names.extend(target.format().outputs(&writing)?);
        }
        names.extend(self.description.clone().map(WxFilename::from));
        if count > 1 {
            names.extend(target.file_beside(RECORD).map(WxFilename::from));
        }
        self.options.inputs.check_outputs(&names)
    }

    /// Removes an old description. New files appear one after another, and no description may name
    /// them as one corpus before all are there.
    fn remove_old_description(&self) -> Result<()> {
        self.description.as_deref().map_or(Ok(()), remove_if_there)
    }

    /// The data of one shard for a sink.
    pub(super) fn writing<'a>(
        &'a self,
        target: &'a Target,
        shard: usize,
        count: usize,
        streams: &'a [Stream],
        samples: u64,
    ) -> Result<Writing<'a>> {
        let numbered = |(stream, name): &(usize, String)| {
            Ok((*stream, self.options.target.numbered(name, shard, count)?))
        };
        Ok(Writing {
            name: target.name(),
            names: self.names.iter().map(numbered).collect::<Result<_>>()?,
            streams,
            sound: &self.sound,
            index: self.corpus.index(),
            samples,
            keeps_keys: self.keeps_keys,
            allow_lossy: self.options.allow_lossy,
            options: &self.format_options,
            states: &self.options.states,
            opener: &self.options.opener,
            inputs: &self.options.inputs,
        })
    }

    /// The description of the written shards, with names relative to the directory of a file.
    pub(super) fn described(
        &self,
        parts: &[Writing<'_>],
        fingerprint: &Fingerprint,
        base: &Path,
    ) -> Option<String> {
        let streams = parts.first()?.streams;
        let largest = fingerprint.streams.iter().map(|stream| stream.largest).collect();
        let described = self.options.target.format().describe(&seqfeed::WrittenParts {
            parts,
            streams,
            largest,
            base,
        })?;
        let text = toml::to_string(&described).ok()?;
        Some(format!("# Written by seqfeed convert. Names are relative to this file.\n{text}"))
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
            let parts = targets.iter().enumerate();
            let parts =
                parts.map(|(shard, target)| self.writing(target, shard, targets.len(), streams, 0));
            let parts = parts.collect::<Result<Vec<_>>>()?;
            let base =
                path.parent().filter(|base| *base != Path::new("")).unwrap_or(Path::new("."));
            if let Some(text) = self.described(&parts, &all, base) {
                write_atomically(path, text.as_bytes(), true)?;
                description = Some(name_to_text(path));
            }
        }
        let names: Vec<String> = targets.iter().map(|target| target.name().to_owned()).collect();
        self.options.target.format().complete(&names)?;
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

/// A hash of a shard's first, middle and last sequence. It mostly detects another source with the
/// same keys and lengths, without reading all of it.
fn probe(source: &Transformed, range: &Range<u32>) -> Result<String> {
    let index = source.index();
    let mut some = vec![range.start, range.start + (range.end - range.start) / 2, range.end - 1];
    some.dedup();
    some.retain(|&sequence| !index.is_masked(sequence));
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

/// For each stream the keys of the sequences that a sink leaves out.
fn left_out<'a>(
    sink: &dyn Sink,
    index: &'a Index,
    range: &Range<u32>,
    streams: usize,
) -> Vec<HashSet<&'a [u8]>> {
    let keys = |stream: usize| {
        let keys = index.unmasked(range.clone()).map(|sequence| index.key(sequence));
        keys.filter(|&key| !sink.takes(stream, key)).map(|Key(key)| key).collect()
    };
    (0..streams).map(keys).collect()
}

/// The data stay valid after a panic: each change is made as a whole.
fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use seqfeed_core::{Element, Extent, Key, Kind};

    use super::*;
    use seqfeed::CorpusSpool;

    use crate::ConvertOptions;

    #[test]
    fn names_that_do_not_tell_what_a_file_holds_are_not_described() {
        let described = |name: &str| {
            let mut spool = CorpusSpool::new("made", vec![labels()]).unwrap();
            let mut blocks = spool.new_blocks();
            blocks[0].push_i32(1);
            spool.push(Key(b"0"), &blocks, 0).unwrap();
            let mut options = ConvertOptions::new(Target::parse(name).unwrap());
            options.allow_lossy = true;
            let plan = ConvertPlan::new(&spool.finish().unwrap(), options).unwrap();
            let target = plan.options.target.clone();
            let streams = [labels()];
            let writing = plan.writing(&target, 0, 1, &streams, 0).unwrap();
            let nothing = Fingerprinter::new(&streams).finish();
            plan.described(&[writing], &nothing, Path::new(".")).is_some()
        };
        for name in ["x.pfile", "x.ctf.gz", "ctf:x"] {
            assert!(described(name), "{name}");
        }
        // A description of these would open something else, or nothing.
        for name in ["pfile:x", "pfile:x.npz", "ctf:x.json", "ctf:x#y"] {
            assert!(!described(name), "{name}");
        }
    }

    fn labels() -> Stream {
        let (kind, element, extent) = (Kind::Label, Element::I32, Extent::Samples);
        Stream { name: "labels".to_owned(), kind, element, dim: 1, extent }
    }

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
