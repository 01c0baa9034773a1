//! A corpus that a program makes, sequence by sequence.

use std::collections::HashSet;
use std::sync::Arc;

use seqfeed_core::{
    Block, Chunking, Corpus, Error, Extent, Index, IndexBuilder, JoinPolicy, Key, Problem, Result,
    Source, Stream,
};
use seqfeed_io::{DataFile, Spool};

/// The most samples of a chunk, unless a single sequence has more. A conversion has three chunks in
/// memory.
const CHUNK_SAMPLES: u64 = 32_768;
const CHUNK_BYTES: u64 = 16 << 20;

/// Collects sequences in an unnamed temporary file, and then makes a [`Corpus`] of them. This is
/// for a program that makes sequences and feeds them, or converts them to any format
/// (`seqfeed-convert`).
///
/// Keys and lengths are in memory, samples are not. The file is in the directory for temporary
/// files (`TMPDIR`, else `/tmp`) and is removed with its last user.
///
/// ```
/// use seqfeed::{CorpusSpool, Element, Extent, Key, Kind, Source, Stream};
/// use seqfeed_core::Block;
///
/// # fn main() -> seqfeed::Result<()> {
/// let stream = Stream {
///     name: "features".to_owned(),
///     kind: Kind::Dense,
///     element: Element::F32,
///     dim: 2,
///     extent: Extent::Samples,
/// };
/// let mut spool = CorpusSpool::new("what I made", vec![stream])?;
/// let mut blocks = spool.new_blocks();
/// for number in 0..3 {
///     blocks.iter_mut().for_each(Block::clear);
///     blocks[0].push_f32(2).fill(number as f32);
///     spool.push(Key(number.to_string().as_bytes()), &blocks, 0)?;
/// }
/// assert_eq!(spool.finish()?.index().total_samples(), 6);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct CorpusSpool {
    name: String,
    streams: Vec<Stream>,
    /// `None` after a failed write: the contents of the file are not known then.
    spool: Option<Spool>,
    index: IndexBuilder,
    /// The start of each sequence in the file, and the end of all.
    starts: Vec<u64>,
    chunk_start: u64,
    keys: HashSet<Box<[u8]>>,
    /// The bytes of the current sequence.
    record: Vec<u8>,
}

impl CorpusSpool {
    /// Makes an empty spool for sequences of some streams. The name is for messages.
    ///
    /// # Errors
    ///
    /// Fails if there is no stream; if two streams have one name, or one has none; if samples would
    /// have no values; or if no temporary file can be made.
    pub fn new(name: impl Into<String>, streams: Vec<Stream>) -> Result<Self> {
        if streams.is_empty() {
            return Err(Error::usage("a sequence has one stream at least"));
        }
        for (number, stream) in streams.iter().enumerate() {
            if stream.name.is_empty() {
                return Err(Error::usage("a stream has no name"));
            }
            if stream.dim == 0 {
                let what = format!("stream {}: samples hold one value at least", stream.name);
                return Err(Error::usage(what));
            }
            if streams[..number].iter().any(|other| other.name == stream.name) {
                return Err(Error::usage(format!("two streams are called {}", stream.name)));
            }
        }
        Ok(Self {
            name: name.into(),
            streams,
            spool: Some(Spool::new()?),
            index: IndexBuilder::new(CHUNK_SAMPLES),
            starts: vec![0],
            chunk_start: 0,
            keys: HashSet::new(),
            record: Vec::new(),
        })
    }

    /// The streams of all sequences.
    #[must_use]
    pub fn streams(&self) -> &[Stream] {
        &self.streams
    }

    /// Number of sequences so far.
    #[must_use]
    pub fn len(&self) -> usize {
        self.index.len()
    }

    /// Whether there are no sequences yet.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.index.is_empty()
    }

    /// Empty blocks, one for each stream, to fill for [`push`](Self::push).
    #[must_use]
    pub fn new_blocks(&self) -> Vec<Block> {
        self.streams.iter().map(Block::of).collect()
    }

    /// Adds sequence number `number` of `blocks`; there is one block for each stream.
    ///
    /// # Errors
    ///
    /// Fails if the key is invalid (empty, or with white space or control characters) or repeated;
    /// if the sequence is empty or its streams differ in length; or if blocks do not fit the
    /// streams. Then nothing is added. Also fails if writing fails; then nothing more can be added.
    pub fn push(&mut self, key: Key<'_>, blocks: &[Block], number: usize) -> Result<()> {
        let samples = self.check(key, blocks, number).map_err(|error| error.of_key(key))?;
        self.record.clear();
        for block in blocks {
            append(&mut self.record, block, number);
        }
        let Some(mut spool) = self.spool.take() else {
            return Err(unknown_rest());
        };
        spool.write_all(&self.record)?;
        let end = spool.position();
        self.spool = Some(spool);
        self.starts.push(end);
        self.keys.insert(key.0.into());
        self.index.push(key, samples);
        if end - self.chunk_start >= CHUNK_BYTES {
            self.index.end_chunk();
            self.chunk_start = end;
        }
        Ok(())
    }

    /// Ends the spool, and returns the corpus of everything that was added.
    ///
    /// # Errors
    ///
    /// Fails if there are no sequences, or if writing fails or has failed.
    pub fn finish(self) -> Result<Arc<Corpus>> {
        if self.is_empty() {
            return Err(Error::corpus("there are no sequences").in_file(self.name));
        }
        let file = self.spool.ok_or_else(unknown_rest)?.into_data_file()?;
        let spooled = Spooled {
            file: file.with_name(self.name),
            streams: self.streams,
            index: Arc::new(self.index.finish()),
            starts: self.starts,
        };
        let rules = JoinPolicy { chunks: Chunking::Primary, ..JoinPolicy::default() };
        Corpus::join(vec![Arc::new(spooled)], &rules).map(Arc::new)
    }

    /// Checks that a sequence can be added, and returns its length.
    fn check(&self, key: Key<'_>, blocks: &[Block], number: usize) -> Result<u32> {
        if !key.is_valid() {
            return Err(Error::corpus(format!("\"{}\" is no key", key.0.escape_ascii()))
                .with_help(
                    "a key is not empty and holds neither white space nor control characters",
                ));
        }
        if self.keys.contains(key.0) {
            return Err(Error::corpus("the key was written before").with_help("keys are unique"));
        }
        if self.len() as u64 >= u64::from(u32::MAX) - 1 {
            return Err(Error::corpus("there are 2^32 sequences or more"));
        }
        if blocks.len() != self.streams.len() {
            return Err(Error::usage(format!(
                "{} blocks were given for {} streams",
                blocks.len(),
                self.streams.len()
            )));
        }
        let mut agreed: Option<(usize, &str)> = None;
        let mut longest = None;
        for (stream, block) in self.streams.iter().zip(blocks) {
            let name = stream.name.as_str();
            let other = Block::of(stream);
            let shape = |block: &Block| (block.element(), block.dim(), block.is_sparse());
            if shape(block) != shape(&other) || number >= block.len() {
                return Err(Error::usage(format!("the block of stream {name} is another's")));
            }
            let found = block.sequence_len(number);
            match (stream.extent, agreed) {
                (Extent::Own, _) => longest = longest.max(Some(found)),
                (Extent::Sequence, _) if found != 1 => {
                    let what =
                        format!("stream {name} has {found} samples, not one for the sequence");
                    return Err(Error::corpus(what));
                }
                (Extent::Sequence, _) => {}
                (Extent::Samples, Some((expected, first))) if expected != found => {
                    let what = format!("{name} has {found} samples, but {first} has {expected}");
                    return Err(Error::corpus(what));
                }
                (Extent::Samples, Some(_)) => {}
                (Extent::Samples, None) => agreed = Some((found, name)),
            }
        }
        match agreed.map(|(samples, _)| samples).or(longest).unwrap_or(1) {
            0 => Err(Error::corpus("the sequence is empty").with_help("leave it out")),
            // A block holds fewer than 2^32 samples of a sequence.
            samples => Ok(samples as u32),
        }
    }
}

fn unknown_rest() -> Error {
    Error::corpus("an earlier sequence could not be written, so this is not a whole corpus")
}

/// Appends one sequence of a block: the number of samples; for sparse samples, the number of
/// values, the ends of samples and the indices; then the values.
fn append(record: &mut Vec<u8>, block: &Block, number: usize) {
    let mut count = |count: usize| record.extend((count as u32).to_ne_bytes());
    count(block.sequence_len(number));
    if !block.is_sparse() {
        record.extend_from_slice(block.samples(number).bytes());
        return;
    }
    let samples = block.sparse_samples(number);
    count(samples.indices.len());
    (1..=samples.len()).for_each(|end| count(samples.values_in(0..end).end));
    record.extend_from_slice(bytemuck::cast_slice(samples.indices));
    record.extend_from_slice(samples.values);
}

/// The source of the corpus.
struct Spooled {
    file: DataFile,
    streams: Vec<Stream>,
    index: Arc<Index>,
    starts: Vec<u64>,
}

impl Source for Spooled {
    fn name(&self) -> &str {
        self.file.name()
    }

    fn streams(&self) -> &[Stream] {
        &self.streams
    }

    fn index(&self) -> &Arc<Index> {
        &self.index
    }

    fn load(&self, sequences: &[u32], blocks: &mut [Block]) -> Result<()> {
        let mut record = Vec::new();
        for &sequence in sequences {
            let (start, end) = (self.starts[sequence as usize], self.starts[sequence as usize + 1]);
            record.resize((end - start) as usize, 0);
            self.file.read_exact_at(&mut record, start, "a sequence")?;
            let mut rest = Rest(&record);
            for block in blocks.iter_mut() {
                rest.take(block).ok_or_else(|| {
                    let problem = Problem::UnexpectedEnd { inside: "a sequence", missing: None };
                    let error = Error::format("temporary file", problem);
                    error.in_file(self.file.name()).of_key(self.index.key(sequence))
                })?;
            }
        }
        Ok(())
    }
}

/// The rest of a sequence's bytes.
struct Rest<'a>(&'a [u8]);

impl<'a> Rest<'a> {
    fn bytes(&mut self, count: usize) -> Option<&'a [u8]> {
        let (bytes, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(bytes)
    }

    fn count(&mut self) -> Option<usize> {
        Some(u32::from_ne_bytes(self.bytes(4)?.try_into().ok()?) as usize)
    }

    /// Moves one sequence into a block.
    fn take(&mut self, block: &mut Block) -> Option<()> {
        let samples = self.count()?;
        if !block.is_sparse() {
            let bytes = self.bytes(samples * block.dim() * block.element().size())?;
            block.push_bytes(samples).copy_from_slice(bytes);
            return Some(());
        }
        let count = self.count()?;
        let ends: Vec<u32> = bytemuck::pod_collect_to_vec(self.bytes(4 * samples)?);
        let indices: Vec<i32> = bytemuck::pod_collect_to_vec(self.bytes(4 * count)?);
        block.push_sparse(self.bytes(count * block.element().size())?, &indices, &ends);
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use seqfeed_core::{Element, Kind};

    use super::*;

    fn stream(name: &str, kind: Kind, element: Element, dim: usize) -> Stream {
        Stream { name: name.to_owned(), kind, element, dim, extent: Extent::Samples }
    }

    fn streams() -> Vec<Stream> {
        vec![
            stream("a", Kind::Dense, Element::F64, 2),
            stream("b", Kind::Sparse, Element::F32, 9),
            stream("c", Kind::Label, Element::I32, 1),
        ]
    }

    /// Two samples: the second one of `b` has two values.
    fn fill(blocks: &mut [Block], value: i32) {
        blocks.iter_mut().for_each(Block::clear);
        blocks[0].push_f64(2).fill(value.into());
        let values: Vec<u8> = [1f32, 2.0].iter().flat_map(|v| v.to_ne_bytes()).collect();
        blocks[1].push_sparse(&values, &[value % 9, 8], &[0, 2]);
        blocks[2].push_i32(2).copy_from_slice(&[value, -value]);
    }

    #[test]
    fn gives_back_what_was_added() {
        let mut spool = CorpusSpool::new("made", streams()).unwrap();
        let mut blocks = spool.new_blocks();
        for value in 0..20 {
            fill(&mut blocks, value);
            spool.push(Key(format!("k{value}").as_bytes()), &blocks, 0).unwrap();
        }
        let corpus = spool.finish().unwrap();
        assert_eq!((corpus.name(), corpus.index().len()), ("made", 20));
        assert_eq!(corpus.index().key(7), Key(b"k7"));
        let mut found = corpus.new_blocks();
        corpus.load(&[13, 2], &mut found).unwrap();
        for (number, value) in [13, 2].into_iter().enumerate() {
            fill(&mut blocks, value);
            assert_eq!(found[0].samples(number).bytes(), blocks[0].samples(0).bytes());
            assert_eq!(found[2].samples(number).bytes(), blocks[2].samples(0).bytes());
            let (found, wanted) = (found[1].sparse_samples(number), blocks[1].sparse_samples(0));
            assert_eq!((found.values, found.indices), (wanted.values, wanted.indices));
            assert_eq!((found.values_in(0..1), found.values_in(1..2)), (0..0, 0..2));
        }
    }

    #[test]
    fn chunks_are_bounded() {
        let wide = stream("a", Kind::Dense, Element::F32, 1 << 20);
        let mut spool = CorpusSpool::new("made", vec![wide]).unwrap();
        let mut blocks = spool.new_blocks();
        blocks[0].push_f32(1);
        for key in [b"a", b"b", b"c", b"d", b"e"] {
            spool.push(Key(key), &blocks, 0).unwrap();
        }
        let corpus = spool.finish().unwrap();
        assert_eq!(corpus.index().chunk(0), 0..4, "4 MiB each");
    }

    #[test]
    fn what_does_not_fit_is_not_added() {
        let mut spool = CorpusSpool::new("made", streams()).unwrap();
        let mut blocks = spool.new_blocks();
        fill(&mut blocks, 1);
        spool.push(Key(b"k"), &blocks, 0).unwrap();
        let mut refused = |key: &[u8], blocks: &[Block], what: &str| {
            let error = spool.push(Key(key), blocks, 0).unwrap_err();
            assert!(error.to_string().contains(what), "{error}");
        };
        refused(b"k", &blocks, "(key k): the key was written before");
        refused(b"a b", &blocks, "\"a b\" is no key");
        refused(b"", &blocks, "is no key");
        refused(b"l", &blocks[..2], "2 blocks were given for 3 streams");
        blocks[2] = Block::new(Element::I32, 1);
        refused(b"l", &blocks, "the block of stream c is another's");
        blocks[2].push_i32(3).fill(0);
        refused(b"l", &blocks, "(key l): c has 3 samples, but a has 2");
        let mut empty: Vec<Block> = streams().iter().map(Block::of).collect();
        empty[0].push_f64(0);
        empty[1].push_sparse(&[], &[], &[]);
        empty[2].push_i32(0);
        refused(b"l", &empty, "the sequence is empty");
        assert_eq!(spool.len(), 1);
        assert_eq!(spool.finish().unwrap().index().len(), 1);
    }

    #[test]
    fn streams_are_checked() {
        let refused = |streams: Vec<Stream>| CorpusSpool::new("made", streams).unwrap_err();
        assert!(refused(Vec::new()).is_usage());
        assert!(refused(vec![stream("", Kind::Label, Element::I32, 1)]).is_usage());
        assert!(refused(vec![stream("a", Kind::Dense, Element::F32, 0)]).is_usage());
        let twice = vec![stream("a", Kind::Dense, Element::F32, 1); 2];
        assert!(refused(twice).message().contains("two streams are called a"));
        let none = CorpusSpool::new("made", streams()).unwrap().finish().unwrap_err();
        assert_eq!(none.to_string(), "made: there are no sequences");
    }

    #[test]
    fn lengths_may_be_streams_own() {
        let mut speaker = stream("speaker", Kind::Dense, Element::F32, 2);
        speaker.extent = Extent::Sequence;
        let mut own = stream("own", Kind::Label, Element::I32, 1);
        own.extent = Extent::Own;
        let mut spool = CorpusSpool::new("made", vec![speaker, own]).unwrap();
        let mut blocks = spool.new_blocks();
        blocks[0].push_f32(1).fill(2.0);
        blocks[1].push_i32(5).fill(3);
        spool.push(Key(b"k"), &blocks, 0).unwrap();
        blocks[0].clear();
        blocks[0].push_f32(2);
        let error = spool.push(Key(b"l"), &blocks, 0).unwrap_err();
        assert!(error.message().contains("not one for the sequence"), "{error}");
        let corpus = spool.finish().unwrap();
        assert_eq!(corpus.index().samples(0), 5);
        let mut found = corpus.new_blocks();
        corpus.load(&[0], &mut found).unwrap();
        assert_eq!((found[0].sequence_len(0), found[1].sequence_len(0)), (1, 5));
    }
}
