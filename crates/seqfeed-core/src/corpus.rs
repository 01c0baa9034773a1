//! Several sources joined by key.

mod join;
mod lookup;
mod report;

pub use report::{Dropped, JoinReport};

use std::collections::HashSet;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use crate::wrapper::in_sweep;
use crate::{
    About, Block, Draw, Error, Extent, Index, Most, Problem, Remark, Result, Source, Stream,
    Tolerance,
};

/// Several [`Source`]s joined by key. A corpus is itself a source.
///
/// The first source is the *primary* one: its order is the order of the corpus, and each of its
/// keys is looked up in the others. A source may lack a sequence, or its streams may differ in
/// length. Then the [`JoinPolicy`] says whether the sequence is dropped or stops the join. The
/// [`JoinReport`] lists the dropped sequences.
pub struct Corpus {
    name: String,
    sources: Vec<Arc<dyn Source>>,
    streams: Vec<Stream>,
    index: Arc<Index>,
    /// For each source the numbers of our sequences there; empty if they are the same.
    rows: Arc<[Vec<u32>]>,
    length: LengthRule,
    report: JoinReport,
}

/// What a join does with sequences that do not fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JoinPolicy {
    /// For keys of the first source that another source lacks.
    pub missing: Tolerance,
    /// For faulty sequences: lengths that differ between streams.
    pub errors: Tolerance,
    /// How sequences are grouped into chunks.
    pub chunks: Chunking,
    /// The rule for the length of a sequence.
    pub length: LengthRule,
    /// Whether faulty sequences that are passed over stay in the index, [masked](Index::is_masked).
    /// Otherwise the corpus leaves them out.
    pub mask_wrong: bool,
}

/// How the sequences of a corpus are grouped into chunks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Chunking {
    /// At most so many samples in a chunk, whatever the sources. So the same corpus has the same
    /// chunks in every container.
    Samples(u64),
    /// As in the primary source.
    Primary,
}

/// The rule for the length of a sequence of a corpus, in samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LengthRule {
    /// The length that all streams agree on; if they do not, the sequence is faulty. Streams with
    /// lengths of their own ([`Extent::Own`]) do not count. If there are no others, the longest one
    /// counts.
    Agreed,
    /// The longest length in any source.
    Longest,
    /// The length in the source with this number.
    Source(usize),
    /// The length in the primary source. Further samples in other sources are not used. A sequence
    /// with fewer samples there is faulty.
    Primary,
}

impl Default for JoinPolicy {
    /// Missing keys are skipped and reported, faulty sequences stop the join; chunks of 32,768
    /// samples.
    fn default() -> Self {
        Self {
            missing: Tolerance::Skip,
            errors: Tolerance::Stop,
            chunks: Chunking::Samples(32_768),
            length: LengthRule::Agreed,
            mask_wrong: false,
        }
    }
}

impl Corpus {
    /// Joins sources by key; the first is the primary one.
    ///
    /// # Errors
    ///
    /// Fails if there is no source; if two streams have one name; if a source other than the first
    /// has a key twice (unless lengths need not agree: then the first one counts); if more
    /// sequences do not fit than the policy allows; or if none is left.
    pub fn join(sources: Vec<Arc<dyn Source>>, policy: &JoinPolicy) -> Result<Self> {
        let draw = |number| Draw::default().within(number as u64);
        let sources = in_sweep(&sources, draw).unwrap_or(sources);
        let Some(primary) = sources.first().cloned() else {
            return Err(Error::usage("a corpus needs one source at least"));
        };
        let streams = distinct_streams(&sources)?;
        if sources.len() == 1 && policy.chunks == Chunking::Primary {
            let index = primary.index();
            // There is nothing to join and nothing to drop, so the source's own index will do.
            let is_whole = |s| index.samples(s) > 0 && primary.fault(s).is_none();
            if !index.is_empty() && (0..index.len() as u32).all(is_whole) {
                let (name, index) = (primary.name().to_owned(), Arc::clone(index));
                let (rows, report) = (Arc::from([Vec::new()]), JoinReport::default());
                let length = policy.length;
                return Ok(Self { name, sources, streams, index, rows, length, report });
            }
        }
        let (rows, builder, report) = join::join(&sources, policy)?;
        let name = sources.iter().map(|source| source.name()).collect::<Vec<_>>().join(" + ");
        let index = Arc::new(builder.finish());
        let (rows, length) = (rows.into(), policy.length);
        Ok(Self { name, sources, streams, index, rows, length, report })
    }

    /// What the join dropped.
    #[must_use]
    pub fn report(&self) -> &JoinReport {
        &self.report
    }

    /// The sources it joins.
    #[must_use]
    pub fn sources(&self) -> &[Arc<dyn Source>] {
        &self.sources
    }
}

impl crate::Wrapper for Corpus {
    fn name(&self) -> &str {
        &self.name
    }

    fn streams(&self) -> &[Stream] {
        &self.streams
    }

    fn index(&self) -> &Arc<Index> {
        &self.index
    }

    fn load(&self, sequences: &[u32], mut blocks: &mut [Block]) -> Result<()> {
        if self.index.has_masked() && sequences.iter().any(|&s| self.index.is_masked(s)) {
            return self.load_unmasked(sequences, blocks);
        }
        for (source, rows) in self.sources.iter().zip(&*self.rows) {
            let (own, rest) = blocks.split_at_mut(source.streams().len());
            if rows.is_empty() {
                source.load(sequences, own)?;
            } else {
                let theirs: Vec<u32> = sequences.iter().map(|&s| rows[s as usize]).collect();
                source.load(&theirs, own)?;
            }
            self.check_lengths(source.as_ref(), sequences, own)?;
            blocks = rest;
        }
        Ok(())
    }

    fn load_stream(&self, stream: usize, sequences: &[u32], block: &mut Block) -> Result<()> {
        let mut first = 0;
        for (source, rows) in self.sources.iter().zip(&*self.rows) {
            let own = source.streams();
            if stream >= first + own.len() {
                first += own.len();
                continue;
            }
            let already = block.len();
            let theirs: Vec<u32> = match rows.is_empty() {
                true => sequences.to_vec(),
                false => sequences.iter().map(|&s| rows[s as usize]).collect(),
            };
            source.load_stream(stream - first, &theirs, block)?;
            let stream = &own[stream - first];
            return self.check_stream(source.as_ref(), stream, sequences, block, already);
        }
        Err(Error::usage(format!("{} has no stream number {stream}", self.name)))
    }

    fn length(&self, stream: usize, sequence: u32) -> Option<u32> {
        if self.streams[stream].extent == Extent::Samples {
            return Some(self.index.samples(sequence));
        }
        let mut first = 0;
        for (source, rows) in self.sources.iter().zip(&*self.rows) {
            let own = source.streams().len();
            if stream < first + own {
                let theirs = rows.get(sequence as usize).copied().unwrap_or(sequence);
                return source.length(stream - first, theirs);
            }
            first += own;
        }
        None
    }

    fn in_sweep(&self, draw: Draw) -> Option<Arc<dyn Source>> {
        let sources = in_sweep(&self.sources, |number| draw.within(number as u64))?;
        Some(Arc::new(Self {
            name: self.name.clone(),
            sources,
            streams: self.streams.clone(),
            index: Arc::clone(&self.index),
            rows: Arc::clone(&self.rows),
            length: self.length,
            report: self.report.clone(),
        }))
    }

    fn about(&self) -> About {
        let joined = About { report: self.report.clone(), ..About::default() };
        self.sources
            .iter()
            .map(|source| source.about())
            .chain([joined])
            .fold(About::default(), About::and)
    }

    fn examine(&self) -> Result<Vec<Remark>> {
        self.sources.iter().try_fold(Vec::new(), |mut all, source| {
            all.extend(source.examine()?);
            Ok(all)
        })
    }

    fn fault(&self, sequence: u32) -> Option<Error> {
        // A masked sequence is never loaded.
        if self.index.is_masked(sequence) {
            return None;
        }
        self.sources.iter().zip(&*self.rows).find_map(|(source, rows)| {
            source.fault(rows.get(sequence as usize).copied().unwrap_or(sequence))
        })
    }

    fn files(&self) -> Vec<u32> {
        let mut files = self.sources[0].files();
        // The primary source may have more sequences than the corpus: some were dropped.
        let rows = &self.rows[0];
        for first in &mut files {
            *first = match rows.is_empty() {
                true => (*first).min(self.index.len() as u32),
                false => rows.partition_point(|row| row < first) as u32,
            };
        }
        files.dedup();
        files
    }

    fn held_bytes(&self) -> u64 {
        self.sources.iter().map(|source| source.held_bytes()).sum()
    }

    fn most(&self, stream: usize, sequences: Range<u32>) -> Most {
        let (source, rows, stream) = self.source_of(stream);
        if rows.is_empty() {
            return source.most(stream, sequences);
        }
        let rows = &rows[sequences.start as usize..sequences.end as usize];
        let runs = rows.chunk_by(|a, b| a.checked_add(1) == Some(*b));
        let runs = runs.map(|run| source.most(stream, run[0]..run[run.len() - 1] + 1));
        runs.fold(Most::default(), Most::and)
    }

    fn most_of_one(&self, stream: usize) -> Most {
        let (source, _, stream) = self.source_of(stream);
        source.most_of_one(stream)
    }

    fn is_held(&self, stream: usize) -> bool {
        let (source, _, stream) = self.source_of(stream);
        source.is_held(stream)
    }

    fn kept_bytes(&self) -> u64 {
        self.sources.iter().map(|source| source.kept_bytes()).fold(0, u64::saturating_add)
    }

    fn loading_bytes(&self) -> u64 {
        // Sources load one after another.
        self.sources.iter().map(|source| source.loading_bytes()).max().unwrap_or(0)
    }
}

impl Corpus {
    /// The source of a stream, the numbers of our sequences there, and the number of the stream
    /// there.
    fn source_of(&self, mut stream: usize) -> (&dyn Source, &[u32], usize) {
        for (source, rows) in self.sources.iter().zip(&*self.rows) {
            match stream.checked_sub(source.streams().len()) {
                Some(rest) => stream = rest,
                None => return (source.as_ref(), rows, stream),
            }
        }
        unreachable!("a stream of the corpus")
    }

    /// Loads all but the masked sequences, whose blocks are empty.
    fn load_unmasked(&self, sequences: &[u32], blocks: &mut [Block]) -> Result<()> {
        let masked = |s: &u32| self.index.is_masked(*s);
        for run in sequences.chunk_by(|a, b| masked(a) == masked(b)) {
            if !masked(&run[0]) {
                self.load(run, blocks)?;
                continue;
            }
            for block in blocks.iter_mut() {
                for _ in run {
                    match block.is_sparse() {
                        true => block.push_sparse(&[], &[], &[]),
                        false => drop(block.push_bytes(0)),
                    }
                }
            }
        }
        Ok(())
    }

    /// A source may give another number of samples than its index has. This would shift all samples
    /// behind it, so it is an error.
    fn check_lengths(&self, source: &dyn Source, sequences: &[u32], own: &[Block]) -> Result<()> {
        let mut streams = source.streams().iter().zip(own);
        streams.try_for_each(|(stream, block)| {
            let already = block.len().saturating_sub(sequences.len());
            self.check_stream(source, stream, sequences, block, already)
        })
    }

    /// Checks the contents of a block from sequence number `already` on.
    fn check_stream(
        &self,
        source: &dyn Source,
        stream: &Stream,
        sequences: &[u32],
        block: &Block,
        already: usize,
    ) -> Result<()> {
        for (i, &sequence) in sequences.iter().enumerate() {
            let expected = match stream.extent {
                Extent::Samples => self.index.samples(sequence) as usize,
                Extent::Sequence => 1,
                Extent::Own => continue,
            };
            let found = block.sequence_len(already + i);
            let longer = self.length == LengthRule::Primary && found > expected;
            if found != expected && !longer {
                let problem = Problem::CountMismatch {
                    what: "samples of the sequence",
                    expected: expected as u64,
                    found: found as u64,
                };
                return Err(Error::format("stream", problem)
                    .in_file(source.name())
                    .of_key(self.index.key(sequence))
                    .with_help(format!(
                        "stream {} is not as long as the file said when it was opened: its streams disagree in \
                         length, or the file has changed since",
                        stream.name
                    )));
            }
        }
        Ok(())
    }
}

impl fmt::Debug for Corpus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Corpus")
            .field("name", &self.name)
            .field("streams", &self.streams)
            .field("index", &self.index)
            .finish_non_exhaustive()
    }
}

fn distinct_streams(sources: &[Arc<dyn Source>]) -> Result<Vec<Stream>> {
    let mut streams: Vec<Stream> = Vec::new();
    let mut names = HashSet::new();
    for stream in sources.iter().flat_map(|source| source.streams()) {
        if !names.insert(stream.name.as_str()) {
            return Err(Error::usage(format!("two streams have the name {}", stream.name)));
        }
        streams.push(stream.clone());
    }
    Ok(streams)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Element, IndexBuilder, Key, Kind};

    /// A source in memory: key and values of each sequence.
    struct Memory {
        streams: Vec<Stream>,
        index: Arc<Index>,
        values: Vec<Vec<f32>>,
    }

    fn source(name: &str, extent: Extent, data: &[(&str, &[f32])]) -> Arc<dyn Source> {
        let mut builder = IndexBuilder::new(100);
        for (key, values) in data {
            builder.push(Key(key.as_bytes()), values.len() as u32);
        }
        let (kind, element) = (Kind::Dense, Element::F32);
        let stream = Stream { name: name.into(), kind, element, dim: 1, extent };
        Arc::new(Memory {
            streams: vec![stream],
            index: Arc::new(builder.finish()),
            values: data.iter().map(|(_, values)| values.to_vec()).collect(),
        })
    }

    impl Source for Memory {
        fn name(&self) -> &str {
            "memory"
        }
        fn streams(&self) -> &[Stream] {
            &self.streams
        }
        fn index(&self) -> &Arc<Index> {
            &self.index
        }
        fn load(&self, sequences: &[u32], blocks: &mut [Block]) -> Result<()> {
            for &sequence in sequences {
                let values = &self.values[sequence as usize];
                blocks[0].push_f32(values.len()).copy_from_slice(values);
            }
            Ok(())
        }
    }

    fn features() -> Arc<dyn Source> {
        source(
            "x",
            Extent::Samples,
            &[("a", &[1.0]), ("b", &[2.0, 3.0]), ("c", &[4.0]), ("d", &[])],
        )
    }

    #[test]
    fn joins_by_key_and_says_what_it_dropped() {
        let labels =
            source("y", Extent::Samples, &[("d", &[]), ("b", &[20.0, 30.0]), ("c", &[40.0])]);
        let corpus = Corpus::join(vec![features(), labels], &JoinPolicy::default()).unwrap();
        assert_eq!(corpus.index().len(), 2);
        let dropped: Vec<String> =
            corpus.report().dropped.iter().map(ToString::to_string).collect();
        assert_eq!(dropped, ["1 not in stream y: a", "1 empty: d"]);
        let mut blocks = corpus.new_blocks();
        corpus.load_chunk(0, &mut blocks).unwrap();
        assert_eq!(blocks[1].samples(0).row(1), 30f32.to_ne_bytes());
        assert_eq!(blocks[0].samples(1).row(0), 4f32.to_ne_bytes());
    }

    #[test]
    fn policies_stop_or_skip_up_to_a_number() {
        let labels = || source("y", Extent::Samples, &[("b", &[1.0]), ("c", &[1.0])]);
        let join = |missing, errors| {
            let policy = JoinPolicy { missing, errors, ..JoinPolicy::default() };
            Corpus::join(vec![features(), labels()], &policy)
        };
        let error = join(Tolerance::Stop, Tolerance::Skip).unwrap_err();
        assert_eq!(error.message(), "the key is not in stream y");
        let error = join(Tolerance::Skip, Tolerance::Stop).unwrap_err();
        assert_eq!(error.message(), "y has 1 samples, but x has 2");
        assert_eq!(error.place().key.as_deref(), Some("b"));
        let error = join(Tolerance::SkipUpTo(1), Tolerance::Skip).unwrap_err();
        assert!(error.message().contains("number 2 of such sequences, at most 1"), "{error}");
        assert_eq!(join(Tolerance::Skip, Tolerance::SkipUpTo(1)).unwrap().index().len(), 1);
    }

    #[test]
    fn failures_of_the_environment_are_no_wrong_sequences() {
        /// A source that says of its second sequence what the system said.
        struct Faulty(Arc<dyn Source>, i32);
        impl Source for Faulty {
            fn name(&self) -> &str {
                self.0.name()
            }
            fn streams(&self) -> &[Stream] {
                self.0.streams()
            }
            fn index(&self) -> &Arc<Index> {
                self.0.index()
            }
            fn load(&self, sequences: &[u32], blocks: &mut [Block]) -> Result<()> {
                self.0.load(sequences, blocks)
            }
            fn fault(&self, sequence: u32) -> Option<Error> {
                let said = || std::io::Error::from_raw_os_error(self.1);
                (sequence == 1).then(|| Error::io("reading", said()))
            }
        }
        let (no_such_file, no_handles) = (2, 24);
        for (code, excused) in [(no_such_file, true), (no_handles, false)] {
            for mask_wrong in [false, true] {
                let errors = Tolerance::Skip;
                let policy = JoinPolicy { errors, mask_wrong, ..JoinPolicy::default() };
                let corpus = Corpus::join(vec![Arc::new(Faulty(features(), code))], &policy);
                assert_eq!(corpus.is_ok(), excused, "{code}");
            }
        }
    }

    #[test]
    fn a_sample_for_a_whole_sequence_needs_no_equal_length() {
        let speakers = source("spk", Extent::Sequence, &[("a", &[7.0]), ("b", &[8.0])]);
        let corpus = Corpus::join(vec![features(), speakers], &JoinPolicy::default()).unwrap();
        assert_eq!((corpus.index().len(), corpus.index().samples(1)), (2, 2));
    }

    #[test]
    fn refuses_what_cannot_be_joined() {
        let twice = source("y", Extent::Samples, &[("a", &[1.0]), ("a", &[2.0])]);
        let error = Corpus::join(vec![features(), twice], &JoinPolicy::default()).unwrap_err();
        assert_eq!(error.place().key.as_deref(), Some("a"));
        let error = Corpus::join(vec![features(), features()], &JoinPolicy::default()).unwrap_err();
        assert!(error.is_usage());
        let other = source("y", Extent::Samples, &[("z", &[1.0])]);
        let error = Corpus::join(vec![features(), other], &JoinPolicy::default()).unwrap_err();
        assert!(error.message().starts_with("no sequence is left"), "{error}");
    }
}
