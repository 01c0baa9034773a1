//! Utterances cut into segments of one length.

use std::ops::Range;
use std::sync::Arc;

use crate::{
    About, Block, Draw, Error, Extent, Index, IndexBuilder, JoinReport, Key, Kind, Most, Remark,
    Result, Source, SparseSamples, Stream,
};

/// Bytes of utterances that are loaded before their segments are made.
const GROUP_BYTES: u64 = 1 << 20;

/// What happens to context beyond the ends of an utterance.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SegmentEnds {
    /// The first and last frame stand for the missing ones.
    #[default]
    Repeat,
    /// Segments keep away from the ends, so that all context is there.
    Drop,
}

/// What happens to the samples behind the last whole segment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SegmentRest {
    /// They are left out.
    #[default]
    Drop,
    /// They are a shorter segment.
    Keep,
    /// The segment that has them ends with the utterance, and begins earlier than otherwise.
    Shift,
}

/// How utterances are cut into segments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SegmentRule {
    /// Samples of a segment, without context.
    pub length: u32,
    /// Samples from the beginning of one segment to that of the next.
    pub shift: u32,
    /// Samples of context before a segment, in dense streams.
    pub left: u32,
    /// Samples of context behind a segment, in dense streams.
    pub right: u32,
    /// What happens at the ends of an utterance.
    pub ends: SegmentEnds,
    /// What happens behind the last whole segment.
    pub rest: SegmentRest,
}

impl SegmentRule {
    /// The segments of an utterance that begin at a multiple of the shift, and whether the last one
    /// is a rest.
    fn count(&self, samples: u32) -> (u32, bool) {
        let Range { start, end } = self.inside(samples);
        let available = end - start;
        let whole = match available.checked_sub(self.length) {
            Some(more) => more / self.shift + 1,
            None => 0,
        };
        // 64 bits: the next segment may begin beyond all samples.
        let next = u64::from(whole) * u64::from(self.shift);
        let covered = match whole {
            0 => 0,
            _ => next - u64::from(self.shift) + u64::from(self.length),
        };
        let has_rest = next.max(covered) < u64::from(available);
        let is_made = match self.rest {
            SegmentRest::Drop => false,
            SegmentRest::Keep => true,
            // There must be enough samples to go back to.
            SegmentRest::Shift => whole > 0,
        };
        (whole + u32::from(has_rest && is_made), has_rest && is_made)
    }

    /// The samples that segments may have.
    fn inside(&self, samples: u32) -> Range<u32> {
        match self.ends {
            SegmentEnds::Repeat => 0..samples,
            SegmentEnds::Drop => {
                let start = self.left.min(samples);
                start..samples.saturating_sub(self.right).max(start)
            }
        }
    }

    /// The samples of a segment, without context.
    fn segment(&self, samples: u32, number: u32) -> Range<u32> {
        let Range { start, end } = self.inside(samples);
        let (count, has_rest) = self.count(samples);
        // All but a rest begin among the samples.
        let begin = start + number * self.shift;
        match has_rest && number + 1 == count {
            true if self.rest == SegmentRest::Shift => end - self.length..end,
            true => begin..end,
            false => begin..begin + self.length,
        }
    }
}

/// A source whose sequences are segments of another source's utterances.
///
/// Segment `START..END` of utterance `utt` has the key `utt-START-END`, with at least seven digits,
/// so that keys sort as the segments lie. A chunk has the segments of a chunk's utterances.
///
/// With context, dense streams are longer than others: they have a length of their own, unless all
/// streams with one sample a time step are dense.
pub struct Segmented {
    source: Arc<dyn Source>,
    rule: SegmentRule,
    /// The number of segments before each utterance and in all.
    firsts: Arc<[u32]>,
    streams: Arc<[Stream]>,
    index: Arc<Index>,
    report: JoinReport,
}

/// The most samples of context on one side: six seconds of sound, far more frames than any network
/// sees. Each segment has them in memory.
const MOST_CONTEXT: u32 = 100_000;

impl Segmented {
    /// Cuts the utterances of a source.
    ///
    /// # Errors
    ///
    /// Fails if the length or the shift is 0, if there is too much context or too many segments, or
    /// if a stream has a length of its own, which nothing divides among segments.
    pub fn new(source: Arc<dyn Source>, rule: SegmentRule) -> Result<Self> {
        let reach = u64::from(rule.length) + u64::from(rule.left) + u64::from(rule.right);
        if rule.length == 0 || rule.shift == 0 || reach > u64::from(u32::MAX) {
            return Err(Error::usage(format!(
                "segments of {} samples with {} and {} of context, {} apart, cannot be had",
                rule.length, rule.left, rule.right, rule.shift
            ))
            .with_help("give a length and a shift of 1 at least, all below 2^32"));
        }
        if rule.left.max(rule.right) > MOST_CONTEXT {
            return Err(Error::usage(format!(
                "segments with {} and {} samples of context: at most {MOST_CONTEXT} are possible",
                rule.left, rule.right
            )));
        }
        if let Some(own) = source.streams().iter().find(|stream| stream.extent == Extent::Own) {
            let what = format!(
                "stream {} has a length of its own: its samples do not belong to segments",
                own.name
            );
            return Err(Error::usage(what)
                .in_file(source.name())
                .with_help("leave out the stream, or [segments]"));
        }
        let frames = |stream: &&Stream| stream.extent == Extent::Samples;
        let context = rule.left + rule.right;
        let mut of_frames = source.streams().iter().filter(frames);
        // The samples of a segment count with their context if all streams have it.
        let alike = context == 0 || of_frames.all(|stream| stream.kind == Kind::Dense);
        let streams = source.streams().iter().map(|stream| match stream.extent {
            Extent::Samples if !alike && stream.kind == Kind::Dense => {
                Stream { extent: Extent::Own, ..stream.clone() }
            }
            _ => stream.clone(),
        });
        let streams: Arc<[Stream]> = streams.collect();
        let counted = if alike { context } else { 0 };
        let (index, firsts, report) = index(&source, &rule, counted)?;
        Ok(Self { source, rule, firsts, streams, index: Arc::new(index), report })
    }

    /// The utterance of a segment, and the segment's samples in it.
    fn place(&self, segment: u32) -> (u32, Range<u32>) {
        let utterance = self.firsts.partition_point(|&first| first <= segment) - 1;
        let samples = self.source.index().samples(utterance as u32);
        (utterance as u32, self.rule.segment(samples, segment - self.firsts[utterance]))
    }

    /// The samples of a stream in a segment: first and last, some of them perhaps beyond the ends.
    fn reach(&self, stream: &Stream, segment: &Range<u32>) -> Range<i64> {
        let (start, end) = (i64::from(segment.start), i64::from(segment.end));
        match stream.kind {
            Kind::Dense => start - i64::from(self.rule.left)..end + i64::from(self.rule.right),
            Kind::Label | Kind::Sparse => start..end,
        }
    }

    /// Appends a segment of a stream, out of its utterance.
    fn cut(&self, stream: usize, segment: u32, from: &Block, at: usize, to: &mut Block) {
        let described = &self.source.streams()[stream];
        if self.index.is_masked(segment) {
            match to.is_sparse() {
                true => to.push_sparse(&[], &[], &[]),
                false => drop(to.push_bytes(0)),
            }
            return;
        }
        if described.extent == Extent::Sequence {
            to.push_copy(from, at);
            return;
        }
        let reach = self.reach(described, &self.place(segment).1);
        if from.is_sparse() {
            push_sparse(to, from.sparse_samples(at), reach.start as usize..reach.end as usize);
            return;
        }
        let samples = from.samples(at);
        let (len, width) = (samples.len() as i64, samples.row_bytes());
        let inside = reach.start.clamp(0, len)..reach.end.clamp(0, len);
        let (before, behind) = (inside.start - reach.start, reach.end - inside.end);
        let out = to.push_bytes((reach.end - reach.start) as usize);
        let (first, rest) = out.split_at_mut(before as usize * width);
        let (middle, last) = rest.split_at_mut(rest.len() - behind as usize * width);
        middle.copy_from_slice(samples.rows(inside.start as usize..inside.end as usize));
        for out in first.chunks_exact_mut(width) {
            out.copy_from_slice(samples.row(0));
        }
        for out in last.chunks_exact_mut(width) {
            out.copy_from_slice(samples.row(len as usize - 1));
        }
    }

    /// Loads segments by groups of utterances. `load` fills blocks with utterances, one block for
    /// each of `streams`.
    fn load_of(
        &self,
        segments: &[u32],
        streams: Range<usize>,
        blocks: &mut [Block],
        load: impl Fn(&[u32], &mut [Block]) -> Result<()>,
    ) -> Result<()> {
        let index = self.source.index();
        let bytes: u64 = self.source.streams()[streams.clone()]
            .iter()
            .map(|stream| stream.sample_bytes() as u64)
            .sum();
        let mut loaded: Vec<Block> =
            self.source.streams()[streams.clone()].iter().map(Block::of).collect();
        let mut rest = segments;
        while !rest.is_empty() {
            // Neighbours of one utterance need it once.
            let (mut utterances, mut taken, mut count) = (Vec::new(), 0u64, 0);
            for &segment in rest {
                let (utterance, _) = self.place(segment);
                if utterances.last() != Some(&utterance) {
                    let more = u64::from(index.samples(utterance)).saturating_mul(bytes);
                    if count > 0 && taken.saturating_add(more) > GROUP_BYTES {
                        break;
                    }
                    taken = taken.saturating_add(more);
                    utterances.push(utterance);
                }
                count += 1;
            }
            loaded.iter_mut().for_each(Block::clear);
            load(&utterances, &mut loaded)?;
            let mut at = 0;
            for &segment in &rest[..count] {
                let (utterance, _) = self.place(segment);
                while utterances[at] != utterance {
                    at += 1;
                }
                for (stream, (from, to)) in streams.clone().zip(loaded.iter().zip(&mut *blocks)) {
                    self.check(stream, utterance, from, at)?;
                    self.cut(stream, segment, from, at, to);
                }
            }
            rest = &rest[count..];
        }
        Ok(())
    }

    /// Segments are cut by the lengths of the index.
    fn check(&self, stream: usize, utterance: u32, loaded: &Block, at: usize) -> Result<()> {
        let described = &self.source.streams()[stream];
        let index = self.source.index();
        let expected = match described.extent {
            _ if index.is_masked(utterance) => return Ok(()),
            Extent::Sequence => 1,
            Extent::Samples | Extent::Own => index.samples(utterance) as usize,
        };
        let found = loaded.sequence_len(at);
        if found == expected {
            return Ok(());
        }
        let what = format!("stream {} has {found} samples, not {expected}", described.name);
        Err(Error::corpus(what).in_file(self.source.name()).of_key(index.key(utterance)))
    }
}

/// The index of segments, the number of segments before each utterance, and the utterances that
/// have none. `context` counts as samples of each segment.
fn index(
    source: &Arc<dyn Source>,
    rule: &SegmentRule,
    context: u32,
) -> Result<(Index, Arc<[u32]>, JoinReport)> {
    let of = source.index();
    let all = (0..of.len() as u32).map(|utterance| u64::from(rule.count(of.samples(utterance)).0));
    let all: u64 = all.sum();
    if all >= u64::from(u32::MAX) {
        let what = format!("there are {all} segments; at most 2^32 - 2 can be had");
        return Err(Error::usage(what)
            .in_file(source.name())
            .with_help("give a larger shift, or a part of the corpus"));
    }
    let (mut builder, mut report) = (IndexBuilder::new(u64::MAX), JoinReport::default());
    let mut firsts = Vec::with_capacity(of.len() + 1);
    for chunk in 0..of.chunk_count() {
        for utterance in of.chunk(chunk) {
            firsts.push(builder.len() as u32);
            let (key, samples) = (of.key(utterance), of.samples(utterance));
            let (count, _) = rule.count(samples);
            if count == 0 {
                report.add("shorter than a segment", key.to_string());
            }
            for number in 0..count {
                let Range { start, end } = rule.segment(samples, number);
                let mut name = key.0.to_vec();
                name.extend_from_slice(format!("-{start:07}-{end:07}").as_bytes());
                let (name, samples) = (Key(&name), end - start + context);
                match of.is_masked(utterance) {
                    true => builder.push_masked(name, samples),
                    false => builder.push(name, samples),
                }
            }
        }
        builder.end_chunk();
    }
    firsts.push(builder.len() as u32);
    if builder.is_empty() && !of.is_empty() {
        let what = format!(
            "[segments] leaves nothing: no utterance has {} samples",
            u64::from(rule.length)
        );
        return Err(Error::corpus(what)
            .in_file(source.name())
            .with_help("give a shorter length, or segment-rest = \"keep\""));
    }
    Ok((builder.finish(), firsts.into(), report))
}

fn push_sparse(to: &mut Block, samples: SparseSamples<'_>, range: Range<usize>) {
    let values = samples.values_in(range.clone());
    let size = match samples.indices.len() {
        0 => 0,
        all => samples.values.len() / all,
    };
    let ends = (range.start + 1..=range.end)
        .map(|end| (samples.values_in(range.start..end).end - values.start) as u32);
    let ends: Vec<u32> = ends.collect();
    let bytes = &samples.values[values.start * size..values.end * size];
    to.push_sparse(bytes, &samples.indices[values], &ends);
}

impl crate::Wrapper for Segmented {
    fn name(&self) -> &str {
        self.source.name()
    }

    fn streams(&self) -> &[Stream] {
        &self.streams
    }

    fn index(&self) -> &Arc<Index> {
        &self.index
    }

    fn load(&self, sequences: &[u32], blocks: &mut [Block]) -> Result<()> {
        let streams = 0..self.streams.len();
        self.load_of(sequences, streams, blocks, |utterances, loaded| {
            self.source.load(utterances, loaded)
        })
    }

    fn load_stream(&self, stream: usize, sequences: &[u32], block: &mut Block) -> Result<()> {
        let blocks = std::slice::from_mut(block);
        self.load_of(sequences, stream..stream + 1, blocks, |utterances, loaded| {
            self.source.load_stream(stream, utterances, &mut loaded[0])
        })
    }

    fn length(&self, stream: usize, sequence: u32) -> Option<u32> {
        let described = &self.source.streams()[stream];
        if described.extent == Extent::Sequence {
            return Some(1);
        }
        let reach = self.reach(described, &self.place(sequence).1);
        Some((reach.end - reach.start) as u32)
    }

    fn in_sweep(&self, draw: Draw) -> Option<Arc<dyn Source>> {
        Some(Arc::new(Self {
            source: self.source.in_sweep(draw)?,
            rule: self.rule,
            firsts: Arc::clone(&self.firsts),
            streams: Arc::clone(&self.streams),
            index: Arc::clone(&self.index),
            report: self.report.clone(),
        }))
    }

    fn about(&self) -> About {
        let mut about = self.source.about();
        about.report.dropped.extend(self.report.dropped.iter().cloned());
        about
    }

    fn examine(&self) -> Result<Vec<Remark>> {
        self.source.examine()
    }

    fn fault(&self, sequence: u32) -> Option<Error> {
        self.source.fault(self.place(sequence).0)
    }

    fn files(&self) -> Vec<u32> {
        let first = |&file: &u32| self.firsts[file as usize];
        let mut files: Vec<u32> = self.source.files().iter().map(first).collect();
        files.dedup();
        // Files without a segment.
        files.retain(|&file| file == 0 || (file as usize) < self.index.len());
        files
    }

    fn held_bytes(&self) -> u64 {
        let rule = &self.rule;
        let of_stream = |(own, from): (&Stream, &Stream)| {
            let bytes = from.sample_bytes() as u64;
            match own.extent {
                Extent::Sequence => 0,
                Extent::Samples => bytes,
                // For each sample that counts, the context comes along.
                Extent::Own => {
                    let all = u64::from(rule.length) + u64::from(rule.left + rule.right);
                    bytes.saturating_mul(all.div_ceil(rule.length.into()))
                }
            }
        };
        let streams = self.streams.iter().zip(self.source.streams());
        streams.map(of_stream).fold(0, u64::saturating_add)
    }

    fn most(&self, stream: usize, sequences: Range<u32>) -> Most {
        let each = sequences.map(|sequence| self.most_in(stream, sequence));
        each.fold(Most::default(), Most::and)
    }

    fn most_of_one(&self, stream: usize) -> Most {
        let each = 0..self.index.len() as u32;
        let each = each.map(|sequence| self.most_in(stream, sequence));
        each.fold(Most::default(), Most::or)
    }

    fn is_held(&self, _stream: usize) -> bool {
        true
    }

    fn kept_bytes(&self) -> u64 {
        self.source.kept_bytes()
    }

    fn loading_bytes(&self) -> u64 {
        // A group of utterances, or a single one that is larger.
        let streams = self.source.streams().iter().enumerate();
        let longest = streams.map(|(number, stream)| {
            let most = self.source.most_of_one(number).block_bytes(stream);
            // Sparse values and the growing of memory.
            most.saturating_mul(2)
        });
        let longest = longest.fold(0, u64::saturating_add);
        let group = GROUP_BYTES.saturating_mul(6).saturating_add(longest);
        group.saturating_add(self.source.loading_bytes())
    }
}

impl Segmented {
    fn most_in(&self, stream: usize, sequence: u32) -> Most {
        let samples = u64::from(crate::Wrapper::length(self, stream, sequence).unwrap_or(0));
        let described = &self.streams[stream];
        let all = Most::all_of(described, samples);
        if described.kind != Kind::Sparse {
            return all;
        }
        let (utterance, _) = self.place(sequence);
        let given = self.source.most(stream, utterance..utterance + 1);
        Most { values: all.values.min(given.values), ..all }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::{Element, numbers};

    /// Utterance `u` has features `1000 u + t`, labels and sparse labels of the same numbers, and
    /// one label `u`. The third is masked.
    struct Counted(Vec<Stream>, Arc<Index>);

    const STREAMS: [(&str, Kind, Extent); 4] = [
        ("features", Kind::Dense, Extent::Samples),
        ("labels", Kind::Label, Extent::Samples),
        ("sparse", Kind::Sparse, Extent::Samples),
        ("speaker", Kind::Label, Extent::Sequence),
    ];

    impl Counted {
        fn new(lengths: &[u32], streams: usize) -> Arc<Self> {
            let mut builder = IndexBuilder::new(12);
            for (number, &samples) in lengths.iter().enumerate() {
                let key = format!("utt{number}");
                match number {
                    2 => builder.push_masked(Key(key.as_bytes()), samples),
                    _ => builder.push(Key(key.as_bytes()), samples),
                }
            }
            let stream = |(name, kind, extent): (&str, Kind, Extent)| {
                let element = if kind == Kind::Dense { Element::F32 } else { Element::I32 };
                Stream { name: name.to_owned(), kind, element, dim: 1, extent }
            };
            let streams = STREAMS.into_iter().take(streams).map(stream).collect();
            Arc::new(Self(streams, Arc::new(builder.finish())))
        }
    }

    impl Source for Counted {
        fn name(&self) -> &str {
            "counted"
        }
        fn streams(&self) -> &[Stream] {
            &self.0
        }
        fn index(&self) -> &Arc<Index> {
            &self.1
        }
        fn load(&self, sequences: &[u32], blocks: &mut [Block]) -> Result<()> {
            for &sequence in sequences {
                let samples = if sequence == 2 { 0 } else { self.1.samples(sequence) as i32 };
                let all: Vec<i32> = (0..samples).map(|t| 1000 * sequence as i32 + t).collect();
                for (block, stream) in blocks.iter_mut().zip(&self.0) {
                    match (stream.kind, stream.extent) {
                        (Kind::Dense, _) => {
                            let out = block.push_f32(all.len()).iter_mut().zip(&all);
                            out.for_each(|(to, &value)| *to = value as f32);
                        }
                        (Kind::Sparse, _) => {
                            let values: Vec<u8> =
                                all.iter().flat_map(|value| value.to_ne_bytes()).collect();
                            let ends: Vec<u32> = (1..=all.len() as u32).collect();
                            block.push_sparse(&values, &vec![0; all.len()], &ends);
                        }
                        (_, Extent::Sequence) => block.push_i32(1)[0] = sequence as i32,
                        _ => block.push_i32(all.len()).copy_from_slice(&all),
                    }
                }
            }
            Ok(())
        }
    }

    fn rule(length: u32, shift: u32, left: u32, right: u32) -> SegmentRule {
        let (ends, rest) = (SegmentEnds::Repeat, SegmentRest::Drop);
        SegmentRule { length, shift, left, right, ends, rest }
    }

    /// The segments of an utterance, found by looking at each sample.
    fn expected(rule: &SegmentRule, samples: u32) -> Vec<Range<u32>> {
        let inside: Vec<u32> = (0..samples)
            .filter(|&t| match rule.ends {
                SegmentEnds::Repeat => true,
                SegmentEnds::Drop => t >= rule.left && t + rule.right < samples,
            })
            .collect();
        let mut found = Vec::new();
        let mut at = 0;
        while let Some(piece) = inside.get(at..at + rule.length as usize) {
            found.push(piece[0]..piece[0] + rule.length);
            at += rule.shift as usize;
        }
        let last = inside.last().map_or(0, |last| last + 1);
        let covered = found.last().map_or(0, |piece| piece.end);
        if at < inside.len() && covered < last {
            match rule.rest {
                SegmentRest::Drop => {}
                SegmentRest::Keep => found.push(inside[at]..last),
                SegmentRest::Shift if found.is_empty() => {}
                SegmentRest::Shift => found.push(last - rule.length..last),
            }
        }
        found
    }

    #[test]
    fn each_sample_is_where_it_belongs() {
        let mut seed = 7u64;
        let mut draw = |below: u32| {
            seed = seed
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) as u32 % below
        };
        let mut cut = 0;
        for _ in 0..600 {
            let lengths: Vec<u32> = (0..1 + draw(6)).map(|_| draw(30)).collect();
            let rule = SegmentRule {
                ends: [SegmentEnds::Repeat, SegmentEnds::Drop][draw(2) as usize],
                rest: [SegmentRest::Drop, SegmentRest::Keep, SegmentRest::Shift][draw(3) as usize],
                ..rule(1 + draw(9), 1 + draw(12), draw(5), draw(5))
            };
            let streams = [1, 4][draw(2) as usize];
            let source = Counted::new(&lengths, streams);
            let all: Vec<(u32, Range<u32>)> = lengths
                .iter()
                .enumerate()
                .flat_map(|(utterance, &samples)| {
                    expected(&rule, samples).into_iter().map(move |piece| (utterance as u32, piece))
                })
                .collect();
            let segmented = match Segmented::new(source.clone(), rule) {
                Ok(segmented) => segmented,
                Err(error) => {
                    assert!(
                        all.is_empty() && error.message().contains("leaves nothing"),
                        "{error}"
                    );
                    continue;
                }
            };
            let index = Source::index(&segmented);
            assert_eq!(index.len(), all.len(), "{rule:?} {lengths:?}");
            // In an order of their own, and some of them twice.
            let mut order: Vec<u32> = (0..all.len() as u32).collect();
            order.extend((0..5).map(|_| draw(all.len().max(1) as u32)).filter(|_| !all.is_empty()));
            order.reverse();
            let mut blocks = segmented.new_blocks();
            segmented.load(&order, &mut blocks).unwrap();
            for (place, &segment) in order.iter().enumerate() {
                let (utterance, piece) = &all[segment as usize];
                let key = format!("utt{utterance}-{:07}-{:07}", piece.start, piece.end);
                assert_eq!(index.key(segment).to_string(), key);
                let context = if streams == 1 { rule.left + rule.right } else { 0 };
                assert_eq!(index.samples(segment), piece.end - piece.start + context);
                assert_eq!(index.is_masked(segment), *utterance == 2);
                if *utterance == 2 {
                    assert!(blocks.iter().all(|block| block.sequence_len(place) == 0));
                    continue;
                }
                let last = i64::from(lengths[*utterance as usize]) - 1;
                let at = |t: i64| i64::from(1000 * utterance) + t.clamp(0, last);
                let (start, end) = (i64::from(piece.start), i64::from(piece.end));
                let wide = start - i64::from(rule.left)..end + i64::from(rule.right);
                let features: Vec<f32> = wide.map(|t| at(t) as f32).collect();
                assert_eq!(*numbers::<f32>(blocks[0].samples(place).bytes()), features);
                let length = Source::length(&segmented, 0, segment);
                assert_eq!(length, Some(features.len() as u32));
                if streams == 1 {
                    continue;
                }
                let labels: Vec<i32> = (start..end).map(|t| at(t) as i32).collect();
                assert_eq!(*numbers::<i32>(blocks[1].samples(place).bytes()), labels);
                let sparse = blocks[2].sparse_samples(place);
                assert_eq!(
                    (&*numbers::<i32>(sparse.values), sparse.len()),
                    (&labels[..], labels.len())
                );
                assert_eq!(*numbers::<i32>(blocks[3].samples(place).bytes()), [*utterance as i32]);
            }
            for (number, block) in blocks.iter().enumerate() {
                let mut alone = Block::of(&segmented.streams[number]);
                segmented.load_stream(number, &order, &mut alone).unwrap();
                let lengths = |block: &Block| -> Vec<usize> {
                    (0..order.len()).map(|place| block.sequence_len(place)).collect()
                };
                assert_eq!(lengths(&alone), lengths(block));
                for (place, &segment) in order.iter().enumerate() {
                    let most = Source::most(&segmented, number, segment..segment + 1).samples;
                    assert!(block.sequence_len(place) as u64 <= most);
                    assert!(most <= Source::most_of_one(&segmented, number).samples);
                }
            }
            // The chunks are those of the utterances.
            for chunk in 0..index.chunk_count() {
                let chunk: Vec<u32> =
                    index.chunk(chunk).map(|segment| all[segment as usize].0).collect();
                let of = source.index();
                let theirs =
                    (0..of.chunk_count()).find(|&other| of.chunk(other).contains(&chunk[0]));
                assert!(
                    chunk.iter().all(|utterance| of.chunk(theirs.unwrap()).contains(utterance))
                );
            }
            let without = lengths.iter().filter(|&&samples| expected(&rule, samples).is_empty());
            let reported: u64 =
                segmented.about().report.dropped.iter().map(|group| group.count).sum();
            assert_eq!(reported, without.count() as u64);
            cut += all.len();
        }
        assert!(cut > 1000, "{cut}");
    }

    #[test]
    fn what_cannot_be_cut_is_refused() {
        let source = || Counted::new(&[100], 4);
        for wrong in
            [rule(0, 1, 0, 0), rule(1, 0, 0, 0), rule(u32::MAX, 1, 1, 0), rule(1, 1, 0, 1 << 30)]
        {
            assert!(Segmented::new(source(), wrong).err().unwrap().is_usage());
        }
        let long = Segmented::new(source(), rule(101, 1, 0, 0)).err().unwrap();
        assert!(long.message().contains("no utterance has 101 samples"), "{long}");
        let mut own = Counted::new(&[100], 2);
        Arc::get_mut(&mut own).unwrap().0[1].extent = Extent::Own;
        let own = Segmented::new(own, rule(10, 10, 0, 0)).err().unwrap();
        assert!(own.message().contains("labels has a length of its own"), "{own}");
    }

    #[test]
    fn utterances_are_loaded_once_for_all_their_segments() {
        struct Once(Arc<Counted>, std::sync::Mutex<Vec<u32>>);
        impl Source for Once {
            fn name(&self) -> &str {
                "once"
            }
            fn streams(&self) -> &[Stream] {
                self.0.streams()
            }
            fn index(&self) -> &Arc<Index> {
                self.0.index()
            }
            fn load(&self, sequences: &[u32], blocks: &mut [Block]) -> Result<()> {
                self.1.lock().unwrap().extend(sequences);
                self.0.load(sequences, blocks)
            }
        }
        let once = Arc::new(Once(Counted::new(&[9, 30, 4, 12], 4), std::sync::Mutex::default()));
        let segmented = Segmented::new(once.clone(), rule(3, 2, 1, 1)).unwrap();
        for chunk in 0..segmented.index.chunk_count() {
            segmented.load_chunk(chunk, &mut segmented.new_blocks()).unwrap();
        }
        assert_eq!(*once.1.lock().unwrap(), [0, 1, 2, 3]);
    }
}
