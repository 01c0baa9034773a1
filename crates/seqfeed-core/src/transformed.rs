//! A source with a transform applied to it.

use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use crate::{
    About, Block, Draw, Error, Extent, Given, Index, IndexBuilder, Kind, Most, Output, Remark,
    Result, Source, Stream, Transform,
};

/// A source whose sequences a [`Transform`] changes while they are loaded.
pub struct Transformed {
    source: Arc<dyn Source>,
    transform: Arc<dyn Transform>,
    outputs: Vec<Output>,
    streams: Vec<Stream>,
    index: Arc<Index>,
    /// The draw on which random values depend beside the sequence.
    draw: Draw,
    scratch: Arc<Scratch>,
}

/// Bytes of input that are loaded before their outputs are made: fewer than a core's cache holds.
const GROUP_BYTES: usize = 256 << 10;

/// Blocks that inputs are loaded into, to be used again: as many as threads load at once.
#[derive(Default)]
struct Scratch(Mutex<Vec<Vec<Block>>>);

impl Scratch {
    fn take(&self) -> Option<Vec<Block>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).pop()
    }

    fn give_back(&self, mut blocks: Vec<Block>) {
        blocks.iter_mut().for_each(Block::clear);
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(blocks);
    }
}

impl Transformed {
    /// Applies a transform to a source.
    ///
    /// # Errors
    ///
    /// Fails if the transform cannot be applied to the source's streams, or if it changes the
    /// lengths of sequences but keeps a stream with one sample a time step.
    pub fn new(source: Arc<dyn Source>, transform: Arc<dyn Transform>) -> Result<Self> {
        let inputs = source.streams().len();
        let outputs = transform.outputs(source.streams())?;
        if outputs.iter().flat_map(Output::of).any(|&of| of >= inputs) {
            let what =
                format!("transform {} asks for a stream that is not there", transform.name());
            return Err(Error::usage(what));
        }
        for output in &outputs {
            check_row(transform.as_ref(), output)?;
            let Output::Changed { of, stream } = output else { continue };
            let input = &source.streams()[*of];
            let form = |stream: &Stream| (stream.kind, stream.element, stream.dim, stream.extent);
            if input.kind == Kind::Sparse || form(input) != form(stream) {
                let (name, stream) = (transform.name(), &input.name);
                let what = format!("transform {name} cannot change stream {stream} in place");
                return Err(Error::usage(what).in_file(source.name()));
            }
        }
        let streams = outputs.iter().map(|output| output.stream().clone()).collect();
        let index = index(source.index(), transform.as_ref());
        // If all streams have lengths of their own, a sequence is as long as the longest.
        let made = outputs.iter().any(|output| {
            matches!(output, Output::Made { stream, .. } if stream.extent == Extent::Samples)
        });
        let kept = outputs.iter().find(|output| match output {
            Output::Kept { of, stream } | Output::Changed { of, stream } => {
                match (source.streams()[*of].extent, stream.extent) {
                    (Extent::Samples, Extent::Samples) => true,
                    (Extent::Own, _) => !made,
                    _ => false,
                }
            }
            Output::Made { .. } => false,
        });
        if let (false, Some(kept)) = (Arc::ptr_eq(&index, source.index()), kept) {
            let (name, stream) = (transform.name(), &kept.stream().name);
            let what = format!("{name} gives sequences other lengths, but stream {stream} stays");
            return Err(Error::usage(what)
                .in_file(source.name())
                .with_help("apply it to all streams together (`transforms` at the top)"));
        }
        let draw = Draw::default();
        let source = source.in_sweep(inner(draw, &transform)).unwrap_or(source);
        let scratch = Arc::default();
        Ok(Self { source, transform, outputs, streams, index, draw, scratch })
    }

    /// The source.
    #[must_use]
    pub fn source(&self) -> &Arc<dyn Source> {
        &self.source
    }

    /// The stream whose block can be filled in place. The output must be kept or changed, and no
    /// other output may need that stream.
    fn in_place(&self, output: &Output) -> Option<usize> {
        let (Output::Kept { of, .. } | Output::Changed { of, .. }) = output else { return None };
        let uses = self.outputs.iter().flat_map(Output::of).filter(|other| *other == of);
        (uses.count() == 1).then_some(*of)
    }

    /// Makes the outputs that are not filled in place, and checks lengths.
    fn finish(
        &self,
        number: usize,
        sequences: &[u32],
        loaded: &[Block],
        to: &mut Block,
        already: usize,
    ) -> Result<()> {
        let output = &self.outputs[number];
        let in_place = self.in_place(output).is_some();
        for (place, &sequence) in sequences.iter().enumerate() {
            let masked = self.index.is_masked(sequence);
            let (key, streams, draw) = (self.index.key(sequence), self.source.streams(), self.draw);
            let of = output.of();
            match output {
                Output::Made { .. } if masked => push_nothing(to),
                Output::Made { .. } => {
                    let given = Given { key, streams, blocks: loaded, of, place, draw };
                    self.transform.apply(number, &given, to)?;
                }
                _ if in_place => {}
                Output::Kept { of, .. } | Output::Changed { of, .. } => {
                    to.push_copy(&loaded[*of], place);
                }
            }
            if let (Output::Changed { .. }, false) = (output, masked) {
                let given = Given { key, streams, blocks: &[], of, place, draw };
                self.transform.change(number, &given, to.samples_mut(already + place))?;
            }
            if !masked && self.is_new_length(output) {
                self.check(&self.streams[number], sequence, to.sequence_len(already + place))?;
            }
        }
        Ok(())
    }

    /// Whether an output has other lengths than its inputs, or may have.
    fn is_new_length(&self, output: &Output) -> bool {
        match output {
            Output::Kept { of, stream } | Output::Changed { of, stream } => {
                self.source.streams()[*of].extent != stream.extent
            }
            Output::Made { .. } => true,
        }
    }

    /// Another number of samples would shift all that follow.
    fn check(&self, stream: &Stream, sequence: u32, found: usize) -> Result<()> {
        let expected = match stream.extent {
            Extent::Samples => self.index.samples(sequence) as usize,
            Extent::Sequence => 1,
            Extent::Own => return Ok(()),
        };
        if found == expected {
            return Ok(());
        }
        Err(Error::corpus(format!(
            "stream {} has {found} samples, but the sequence has {expected} frames",
            stream.name
        ))
        .in_file(self.source.name())
        .of_key(self.index.key(sequence))
        .with_help("frames can be dealt out where all streams have a sample for each of them"))
    }

    /// Sequences in groups whose inputs stay in the cache until their outputs are made.
    fn groups<'a>(
        &self,
        sequences: &'a [u32],
        is_changed: impl Fn(usize) -> bool,
    ) -> impl Iterator<Item = &'a [u32]> {
        let streams = self.source.streams().iter().enumerate();
        let changed = streams.filter(|(of, stream)| is_changed(*of) && stream.kind != Kind::Sparse);
        let sample_bytes: usize = changed.map(|(_, stream)| stream.sample_bytes()).sum();
        let index = Arc::clone(self.source.index());
        let mut rest = sequences;
        std::iter::from_fn(move || {
            let mut bytes = 0;
            let count = rest.iter().take_while(|&&sequence| {
                let fits = bytes < GROUP_BYTES;
                bytes += index.samples(sequence) as usize * sample_bytes;
                fits
            });
            let (group, behind) = rest.split_at(count.count());
            rest = behind;
            (!group.is_empty()).then_some(group)
        })
    }

    /// Blocks for the streams of the source, with room for sequences in those that are needed.
    fn new_scratch(&self, sequences: &[u32], is_needed: impl Fn(usize) -> bool) -> Vec<Block> {
        let mut blocks = self.scratch.take().unwrap_or_else(|| self.source.new_blocks());
        for (number, stream) in self.source.streams().iter().enumerate() {
            if is_needed(number) && stream.extent == Extent::Samples && self.source.is_held(number)
            {
                let index = self.source.index();
                let samples = sequences.iter().map(|&one| index.samples(one) as usize).sum();
                blocks[number].reserve(samples);
            }
        }
        blocks
    }

    /// Takes memory for an output once, not group by group.
    fn reserve(&self, output: usize, sequences: &[u32], block: &mut Block) {
        let stream = &self.streams[output];
        if stream.extent == Extent::Samples
            && stream.kind != Kind::Sparse
            && crate::Wrapper::is_held(self, output)
        {
            let samples = |&sequence: &u32| self.index.samples(sequence) as usize;
            block.reserve(sequences.iter().map(samples).sum());
        }
    }

    /// Loads sequences, and makes all outputs.
    fn load_group(
        &self,
        sequences: &[u32],
        only: Option<usize>,
        blocks: &mut [Block],
    ) -> Result<()> {
        let already: Vec<usize> = blocks.iter().map(Block::len).collect();
        let in_place = |of| self.outputs.iter().any(|output| self.in_place(output) == Some(of));
        let is_needed = |of| only.is_none_or(|only| only == of) && !in_place(of);
        let mut loaded = self.new_scratch(sequences, is_needed);
        let swap = |loaded: &mut [Block], blocks: &mut [Block]| {
            for (output, block) in self.outputs.iter().zip(blocks) {
                if let Some(of) = self.in_place(output) {
                    std::mem::swap(&mut loaded[of], block);
                }
            }
        };
        swap(&mut loaded, blocks);
        let result = match only {
            Some(only) => self.source.load_stream(only, sequences, &mut loaded[only]),
            None => self.source.load(sequences, &mut loaded),
        };
        swap(&mut loaded, blocks);
        result?;
        let mut blocks = blocks.iter_mut().zip(already).enumerate();
        blocks.try_for_each(|(number, (block, already))| {
            self.finish(number, sequences, &loaded, block, already)
        })?;
        self.scratch.give_back(loaded);
        Ok(())
    }

    /// Loads sequences, and makes one output.
    fn load_group_of(&self, stream: usize, sequences: &[u32], block: &mut Block) -> Result<()> {
        let already = block.len();
        let output = &self.outputs[stream];
        if let Some(of) = self.in_place(output) {
            self.source.load_stream(of, sequences, block)?;
            return self.finish(stream, sequences, &[], block, already);
        }
        let of = output.of();
        let mut loaded = self.new_scratch(sequences, |number| of.len() > 1 || of == [number]);
        match of {
            [] => {}
            [only] => self.source.load_stream(*only, sequences, &mut loaded[*only])?,
            _ => self.source.load(sequences, &mut loaded)?,
        }
        self.finish(stream, sequences, &loaded, block, already)?;
        self.scratch.give_back(loaded);
        Ok(())
    }

    /// The only stream of the source that is needed, if there is just one.
    fn only_input(&self) -> Option<usize> {
        let mut inputs = self.outputs.iter().flat_map(Output::of);
        let first = *inputs.next()?;
        inputs.all(|&other| other == first).then_some(first)
    }

    fn most_of(&self, output: usize, samples: u64, most: impl Fn(usize) -> Most) -> Most {
        match &self.outputs[output] {
            Output::Kept { of, .. } | Output::Changed { of, .. } => most(*of),
            Output::Made { of, stream } => {
                let given = of.iter().map(|&of| most(of)).fold(Most::default(), Most::and);
                let samples = match stream.extent {
                    // A transform that repeats samples gives as many of each.
                    Extent::Own => {
                        let of_one = self.transform.samples(1).max(1);
                        given.samples.saturating_mul(of_one.into())
                    }
                    _ => samples,
                };
                let least = match stream.kind {
                    Kind::Sparse => self.transform.most(output, given),
                    _ => None,
                };
                least.unwrap_or_else(|| Most::all_of(stream, samples))
            }
        }
    }
}

/// The most values of a sample that a transform may make.
const MOST_VALUES: usize = 1 << 24;

/// Refuses streams whose samples have no values, or more than any network takes.
fn check_row(transform: &dyn Transform, output: &Output) -> Result<()> {
    let (name, stream) = (transform.name(), output.stream());
    match stream.dim {
        _ if matches!(output, Output::Kept { .. }) || stream.kind == Kind::Sparse => Ok(()),
        0 => Err(Error::usage(format!("{name} leaves no values of stream {}", stream.name))),
        1..=MOST_VALUES => Ok(()),
        _ => Err(Error::usage(format!(
            "{name} makes more than {MOST_VALUES} values of each sample of stream {}",
            stream.name
        ))),
    }
}

/// The draw for the input of a transform. It differs from the transform's own draw if the transform
/// is random.
fn inner(draw: Draw, transform: &Arc<dyn Transform>) -> Draw {
    if transform.varies() { draw.within(0) } else { draw }
}

/// The index with the new lengths; the same index if they stay.
fn index(index: &Arc<Index>, transform: &dyn Transform) -> Arc<Index> {
    let mut sequences = 0..index.len() as u32;
    if sequences
        .all(|sequence| transform.samples(index.samples(sequence)) == index.samples(sequence))
    {
        return Arc::clone(index);
    }
    // Chunks stay, so that sequences that are loaded together stay together.
    let mut builder = IndexBuilder::like(index, u64::MAX);
    for chunk in 0..index.chunk_count() {
        for sequence in index.chunk(chunk) {
            let (key, samples) = (index.key(sequence), transform.samples(index.samples(sequence)));
            match index.is_masked(sequence) {
                true => builder.push_masked(key, samples),
                false => builder.push(key, samples),
            }
        }
        builder.end_chunk();
    }
    Arc::new(builder.finish())
}

/// A masked sequence: it only keeps its place.
fn push_nothing(block: &mut Block) {
    match block.is_sparse() {
        true => block.push_sparse(&[], &[], &[]),
        false => drop(block.push_bytes(0)),
    }
}

impl crate::Wrapper for Transformed {
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
        let only = self.only_input();
        let is_changed = |of| {
            let made = |output: &Output| {
                !matches!(output, Output::Kept { .. }) && output.of().contains(&of)
            };
            self.outputs.iter().any(made)
        };
        for (number, block) in blocks.iter_mut().enumerate() {
            self.reserve(number, sequences, block);
        }
        for group in self.groups(sequences, is_changed) {
            self.load_group(group, only, blocks)?;
        }
        Ok(())
    }

    fn load_stream(&self, stream: usize, sequences: &[u32], block: &mut Block) -> Result<()> {
        let output = &self.outputs[stream];
        let is_changed = |of| !matches!(output, Output::Kept { .. }) && output.of().contains(&of);
        self.reserve(stream, sequences, block);
        for group in self.groups(sequences, is_changed) {
            self.load_group_of(stream, group, block)?;
        }
        Ok(())
    }

    fn length(&self, stream: usize, sequence: u32) -> Option<u32> {
        match (&self.outputs[stream], self.streams[stream].extent) {
            (_, Extent::Sequence) => Some(1),
            (_, Extent::Samples) => Some(self.index.samples(sequence)),
            (Output::Kept { of, .. } | Output::Changed { of, .. }, Extent::Own) => {
                self.source.length(*of, sequence)
            }
            (Output::Made { .. }, Extent::Own) => None,
        }
    }

    fn in_sweep(&self, draw: Draw) -> Option<Arc<dyn Source>> {
        let inner = self.source.in_sweep(inner(draw, &self.transform));
        if inner.is_none() && !self.transform.varies() {
            return None;
        }
        Some(Arc::new(Self {
            source: inner.unwrap_or_else(|| Arc::clone(&self.source)),
            transform: Arc::clone(&self.transform),
            outputs: self.outputs.clone(),
            streams: self.streams.clone(),
            index: Arc::clone(&self.index),
            draw,
            scratch: Arc::clone(&self.scratch),
        }))
    }

    fn about(&self) -> About {
        self.transform.about(self.source.about())
    }

    fn examine(&self) -> Result<Vec<Remark>> {
        self.source.examine()
    }

    fn fault(&self, sequence: u32) -> Option<Error> {
        self.source.fault(sequence)
    }

    fn files(&self) -> Vec<u32> {
        self.source.files()
    }

    fn held_bytes(&self) -> u64 {
        // The inputs of a change are loaded first. Samples in shared memory are copied to change.
        let of_own = |output: &&Output| match self.in_place(output) {
            Some(of) => matches!(output, Output::Changed { .. }) && !self.source.is_held(of),
            None => true,
        };
        let made = self.outputs.iter().filter(of_own);
        let made = made.map(Output::stream).filter(|stream| stream.extent != Extent::Sequence);
        let made: u64 = made.map(|stream| stream.sample_bytes() as u64).sum();
        made.saturating_add(self.source.held_bytes())
    }

    fn most(&self, stream: usize, sequences: Range<u32>) -> Most {
        let samples = match self.streams[stream].extent {
            Extent::Sequence => u64::from(sequences.end - sequences.start),
            _ => self.index.start(sequences.end) - self.index.start(sequences.start),
        };
        self.most_of(stream, samples, |of| self.source.most(of, sequences.clone()))
    }

    fn most_of_one(&self, stream: usize) -> Most {
        let longest = (0..self.index.len() as u32).map(|sequence| self.index.samples(sequence));
        let samples = match self.streams[stream].extent {
            Extent::Sequence => 1,
            _ => longest.max().unwrap_or(0).into(),
        };
        self.most_of(stream, samples, |of| self.source.most_of_one(of))
    }

    fn is_held(&self, stream: usize) -> bool {
        let output = &self.outputs[stream];
        let is_changed = matches!(output, Output::Changed { .. });
        is_changed || self.in_place(output).is_none_or(|of| self.source.is_held(of))
    }

    fn kept_bytes(&self) -> u64 {
        self.source.kept_bytes().saturating_add(self.transform.kept_bytes())
    }

    fn loading_bytes(&self) -> u64 {
        // Streams that are not filled in place are loaded into other blocks.
        let in_place: Vec<usize> =
            self.outputs.iter().filter_map(|output| self.in_place(output)).collect();
        let only = self.only_input();
        let beside = |of: &usize| !in_place.contains(of) && only.is_none_or(|only| only == *of);
        let beside: Vec<usize> = (0..self.source.streams().len()).filter(beside).collect();
        let index = self.source.index();
        let bytes = |chunk: usize| -> u64 {
            let streams = beside.iter().map(|&of| (of, &self.source.streams()[of]));
            let bytes = streams
                .map(|(of, stream)| self.source.most(of, index.chunk(chunk)).block_bytes(stream));
            bytes.fold(0, u64::saturating_add)
        };
        let most = (0..index.chunk_count()).map(bytes).max().unwrap_or(0);
        most.saturating_add(self.source.loading_bytes())
            .saturating_add(self.transform.loading_bytes())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::{Element, Key, SamplesMut, numbers};

    /// Sequence `s` has `s + 1` samples, or one that only keeps its place: `[s, t]` each, and
    /// labels `t`.
    struct Counted(Vec<Stream>, Arc<Index>);

    impl Counted {
        fn new(sequences: u32) -> Self {
            let mut builder = IndexBuilder::new(4);
            for sequence in 0..sequences {
                let key = format!("{sequence}");
                match sequence % 4 {
                    2 => builder.push_masked(Key(key.as_bytes()), sequence + 1),
                    _ => builder.push(Key(key.as_bytes()), sequence + 1),
                }
            }
            let stream = |name: &str, kind, element, dim| Stream {
                name: name.to_owned(),
                kind,
                element,
                dim,
                extent: Extent::Samples,
            };
            let streams = vec![
                stream("features", Kind::Dense, Element::F32, 2),
                stream("labels", Kind::Label, Element::I32, 1),
            ];
            Self(streams, Arc::new(builder.finish()))
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
                let samples = if sequence % 4 == 2 { 0 } else { sequence as usize + 1 };
                for (t, row) in blocks[0].push_f32(samples).chunks_mut(2).enumerate() {
                    row.copy_from_slice(&[sequence as f32, t as f32]);
                }
                let labels = blocks[1].push_i32(samples).iter_mut().enumerate();
                labels.for_each(|(t, label)| *label = t as i32);
            }
            Ok(())
        }
    }

    /// Every second sample of all streams; and the sum of its features as one value a sequence.
    struct Halved;

    impl Transform for Halved {
        fn name(&self) -> &str {
            "halved"
        }
        fn outputs(&self, streams: &[Stream]) -> Result<Vec<Output>> {
            let mut outputs = Output::change(streams, |_| true, |stream| stream);
            let extent = Extent::Sequence;
            let sum = Stream { name: "sum".to_owned(), extent, dim: 1, ..streams[0].clone() };
            outputs.push(Output::Made { of: vec![0], stream: sum });
            Ok(outputs)
        }
        fn samples(&self, samples: u32) -> u32 {
            samples.div_ceil(2)
        }
        fn apply(&self, output: usize, given: &Given<'_>, to: &mut Block) -> Result<()> {
            let samples = given.samples(0);
            if output == 2 {
                to.push_f32(1).fill(numbers::<f32>(samples.bytes()).iter().sum());
                return Ok(());
            }
            let rows = (0..samples.len()).step_by(2).flat_map(|n| samples.row(n));
            let rows: Vec<u8> = rows.copied().collect();
            to.push_bytes(samples.len().div_ceil(2)).copy_from_slice(&rows);
            Ok(())
        }
    }

    /// The labels, kept twice, and once under another name.
    struct Twice;

    impl Transform for Twice {
        fn name(&self) -> &str {
            "twice"
        }
        fn outputs(&self, streams: &[Stream]) -> Result<Vec<Output>> {
            let again = Stream { name: "again".to_owned(), ..streams[1].clone() };
            let kept = |stream: &Stream| Output::Kept { of: 1, stream: stream.clone() };
            Ok(vec![kept(&streams[1]), kept(&again)])
        }
        fn apply(&self, _output: usize, _given: &Given<'_>, _to: &mut Block) -> Result<()> {
            Ok(())
        }
    }

    /// Features times ten in place; and the features that went in, under another name.
    struct Tenfold {
        and_before: bool,
    }

    impl Transform for Tenfold {
        fn name(&self) -> &str {
            "tenfold"
        }
        fn outputs(&self, streams: &[Stream]) -> Result<Vec<Output>> {
            let mut outputs = Output::change_in_place(streams, |stream| stream.kind == Kind::Dense);
            let stream = Stream { name: "before".to_owned(), ..streams[0].clone() };
            outputs.extend(self.and_before.then_some(Output::Kept { of: 0, stream }));
            Ok(outputs)
        }
        fn change(&self, _: usize, given: &Given<'_>, values: SamplesMut<'_>) -> Result<()> {
            assert_eq!((given.stream(0).name.as_str(), given.key().0.len()), ("features", 1));
            values.into_numbers::<f32>().iter_mut().for_each(|value| *value *= 10.0);
            Ok(())
        }
    }

    fn transformed(transform: impl Transform + 'static) -> Transformed {
        Transformed::new(Arc::new(Counted::new(9)), Arc::new(transform)).unwrap()
    }

    #[test]
    fn lengths_follow_and_chunks_stay() {
        let halved = transformed(Halved);
        let (index, before) = (halved.index(), Counted::new(9).1);
        let lengths: Vec<u32> = (0..9).map(|sequence| index.samples(sequence)).collect();
        assert_eq!(lengths, [1, 1, 2, 2, 3, 3, 4, 4, 5]);
        assert_eq!(index.chunk_count(), before.chunk_count());
        assert!((0..index.chunk_count()).all(|chunk| index.chunk(chunk) == before.chunk(chunk)));
        assert!((0..9).all(|sequence| index.is_masked(sequence) == (sequence % 4 == 2)));
    }

    #[test]
    fn a_stream_alone_is_as_all_together() {
        let all = [
            (transformed(Halved), 3),
            (transformed(Twice), 2),
            (transformed(Tenfold { and_before: false }), 2),
            (transformed(Tenfold { and_before: true }), 3),
        ];
        for (source, streams) in all {
            let sequences = [7, 0, 2, 8, 5];
            let mut all = source.new_blocks();
            source.load(&[1], &mut all).unwrap();
            source.load(&sequences, &mut all).unwrap();
            assert_eq!(all.len(), streams);
            for (number, whole) in all.iter().enumerate() {
                let mut one = Block::of(&source.streams()[number]);
                source.load_stream(number, &sequences, &mut one).unwrap();
                let most = source.most(number, 0..9);
                for (place, sequence) in sequences.into_iter().enumerate() {
                    let (one, whole) = (one.samples(place), whole.samples(place + 1));
                    assert_eq!(one.bytes(), whole.bytes(), "{number} {sequence}");
                    assert!(one.len() as u64 <= source.most_of_one(number).samples);
                    assert!(most.samples >= one.len() as u64);
                }
            }
        }
    }

    #[test]
    fn values_are_those_of_the_transform() {
        let source = transformed(Halved);
        let mut blocks = source.new_blocks();
        source.load(&[4, 2], &mut blocks).unwrap();
        let floats = |block: usize, place| numbers::<f32>(blocks[block].samples(place).bytes());
        assert_eq!(*floats(0, 0), [4.0, 0.0, 4.0, 2.0, 4.0, 4.0]);
        assert_eq!(*numbers::<i32>(blocks[1].samples(0).bytes()), [0, 2, 4]);
        assert_eq!(*floats(2, 0), [30.0]);
        assert!(blocks.iter().all(|block| block.samples(1).is_empty()));
    }

    #[test]
    fn values_change_in_place() {
        for and_before in [false, true] {
            let source = transformed(Tenfold { and_before });
            let mut blocks = source.new_blocks();
            source.load(&[5], &mut blocks).unwrap();
            source.load(&[1, 2], &mut blocks).unwrap();
            let floats = |block: usize, place| numbers::<f32>(blocks[block].samples(place).bytes());
            assert_eq!(floats(0, 0)[..4], [50.0, 0.0, 50.0, 10.0]);
            assert_eq!(*floats(0, 1), [10.0, 0.0, 10.0, 10.0]);
            assert!(floats(0, 2).is_empty());
            if and_before {
                assert_eq!(*floats(2, 1), [1.0, 0.0, 1.0, 1.0]);
            }
        }
    }

    #[test]
    fn memory_for_inputs_is_used_again() {
        let source = transformed(Halved);
        let mut blocks = source.new_blocks();
        let mut memory = || {
            blocks.iter_mut().for_each(Block::clear);
            source.load(&[8, 4], &mut blocks).unwrap();
            let scratch = source.scratch.0.lock().unwrap();
            assert_eq!(scratch.len(), 1);
            scratch[0][0].owned_bytes()
        };
        let first = memory();
        assert!(first > 0 && memory() == first);
    }

    #[test]
    fn another_length_than_was_said_is_an_error() {
        struct Lying;
        impl Transform for Lying {
            fn name(&self) -> &str {
                "lying"
            }
            fn outputs(&self, streams: &[Stream]) -> Result<Vec<Output>> {
                Ok(Output::change(streams, |stream| stream.kind == Kind::Label, |stream| stream))
            }
            fn apply(&self, _output: usize, given: &Given<'_>, to: &mut Block) -> Result<()> {
                to.push_i32(given.samples(0).len() + 1);
                Ok(())
            }
        }
        let source = transformed(Lying);
        let error = source.load(&[3], &mut source.new_blocks()).unwrap_err();
        assert!(error.message().contains("labels has 5 samples"), "{error}");
        assert_eq!(error.place().key.as_deref(), Some("3"));
    }
}
