//! Several files, one after another.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

use crate::wrapper::in_sweep;
use crate::{
    About, Block, Draw, Error, Index, IndexBuilder, Key, Most, Remark, Result, SampleRates, Source,
    Stream,
};

/// Sources that follow one another, as one source. All have the same streams.
///
/// Their chunks stay unchanged, so only files with wanted chunks are read.
pub struct Series {
    name: String,
    parts: Vec<Arc<dyn Source>>,
    streams: Vec<Stream>,
    index: Arc<Index>,
    /// The first sequence of each source, and the number of all sequences.
    firsts: Vec<u32>,
    /// Whether each source draws random numbers of its own.
    draws: bool,
}

/// How a [`Series`] makes its keys.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SeriesKeys {
    /// The keys of the files.
    Own,
    /// `file:key`, with files counted from 0: for files that each number their own sequences.
    Numbered,
    /// `name/key`, with a name for each source: for the components of a mixture. Then each source
    /// also has random numbers of its own, since their keys may be the same.
    Named(Vec<String>),
}

impl Series {
    /// Puts sources one after another.
    ///
    /// # Errors
    ///
    /// Fails if there are no sources, if their streams differ, or if there are 2^32 - 1 sequences
    /// or more.
    pub fn new(parts: Vec<Arc<dyn Source>>, keys: SeriesKeys) -> Result<Self> {
        let Some(first) = parts.first() else {
            return Err(Error::usage("a series of files needs one file at least"));
        };
        let streams = first.streams().to_vec();
        let mut builder = IndexBuilder::new(u64::MAX);
        let mut firsts = vec![0];
        for (number, part) in parts.iter().enumerate() {
            if part.streams() != streams {
                let (here, there) = (described(part.streams()), described(&streams));
                return Err(Error::corpus(format!(
                    "it has {here}, but {} has {there}",
                    first.name()
                ))
                .in_file(part.name())
                .with_help("files that follow one another must have the same streams"));
            }
            let index = part.index();
            if builder.len() + index.len() >= u32::MAX as usize {
                return Err(Error::corpus("there are 2^32 sequences or more").in_file(part.name()));
            }
            for chunk in 0..index.chunk_count() {
                for sequence in index.chunk(chunk) {
                    let (key, samples) = (index.key(sequence), index.samples(sequence));
                    let mut whole = match &keys {
                        SeriesKeys::Own => {
                            builder.push(key, samples);
                            continue;
                        }
                        SeriesKeys::Numbered => format!("{number}:").into_bytes(),
                        SeriesKeys::Named(names) => format!("{}/", names[number]).into_bytes(),
                    };
                    whole.extend_from_slice(key.0);
                    builder.push(Key(&whole), samples);
                }
                builder.end_chunk();
            }
            firsts.push(builder.len() as u32);
        }
        let names: Vec<&str> = match &parts[..] {
            [one] => vec![one.name()],
            [one, two] => vec![one.name(), two.name()],
            [one, .., last] => vec![one.name(), "...", last.name()],
            [] => Vec::new(),
        };
        let name = names.join(" ");
        let draws = matches!(keys, SeriesKeys::Named(_));
        Ok(Self { name, parts, streams, index: Arc::new(builder.finish()), firsts, draws })
    }

    /// The source of a sequence.
    fn part_of(&self, sequence: u32) -> usize {
        self.firsts.partition_point(|&first| first <= sequence) - 1
    }

    /// Calls `load` with each run of sequences of one source, numbered as there.
    fn each_part(
        &self,
        sequences: &[u32],
        mut load: impl FnMut(&dyn Source, &[u32]) -> Result<()>,
    ) -> Result<()> {
        for run in sequences.chunk_by(|&a, &b| self.part_of(a) == self.part_of(b)) {
            let part = self.part_of(run[0]);
            let theirs: Vec<u32> = run.iter().map(|&s| s - self.firsts[part]).collect();
            load(self.parts[part].as_ref(), &theirs)?;
        }
        Ok(())
    }
}

fn described(streams: &[Stream]) -> String {
    let each = streams.iter().map(|s| format!("{} ({} x {})", s.name, s.element.name(), s.dim));
    each.collect::<Vec<_>>().join(", ")
}

impl crate::Wrapper for Series {
    fn name(&self) -> &str {
        &self.name
    }

    fn streams(&self) -> &[Stream] {
        &self.streams
    }

    fn index(&self) -> &Arc<Index> {
        &self.index
    }

    fn load(&self, sequences: &[u32], blocks: &mut [Block]) -> Result<()> {
        self.each_part(sequences, |part, theirs| part.load(theirs, blocks))
    }

    fn load_stream(&self, stream: usize, sequences: &[u32], block: &mut Block) -> Result<()> {
        self.each_part(sequences, |part, theirs| part.load_stream(stream, theirs, block))
    }

    fn length(&self, stream: usize, sequence: u32) -> Option<u32> {
        let part = self.part_of(sequence);
        self.parts[part].length(stream, sequence - self.firsts[part])
    }

    fn in_sweep(&self, draw: Draw) -> Option<Arc<dyn Source>> {
        let own = |number: usize| if self.draws { draw.within(number as u64) } else { draw };
        let (name, index) = (self.name.clone(), Arc::clone(&self.index));
        let (streams, firsts) = (self.streams.clone(), self.firsts.clone());
        let parts = in_sweep(&self.parts, own)?;
        Some(Arc::new(Self { name, parts, streams, index, firsts, draws: self.draws }))
    }

    fn about(&self) -> About {
        let all: Vec<About> = self.parts.iter().map(|part| part.about()).collect();
        let format = match &all[..] {
            [one] => one.format.clone(),
            [first, ..] => format!("{} sources, the first one: {}", all.len(), first.format),
            [] => String::new(),
        };
        let rates: BTreeSet<&String> =
            all.iter().flat_map(|about| about.sample_rates.keys()).collect();
        let rate_of = |stream: &String, sequence: u32| {
            let part = self.part_of(sequence);
            let key = self.parts[part].index().key(sequence - self.firsts[part]);
            // A component of a mixture may lack the stream.
            let any = || all.iter().find_map(|about| about.sample_rates.get(stream));
            let rates = all[part].sample_rates.get(stream).or_else(any);
            rates.map_or(0, |rates| rates.of_key(key))
        };
        let rates = rates.into_iter().filter_map(|stream| {
            let rates = SampleRates::of(&self.index, |sequence| rate_of(stream, sequence))?;
            Some((stream.clone(), rates))
        });
        // The keys of a part may be others here.
        let sample_rates = rates.collect();
        About { format, sample_rates, ..all.into_iter().fold(About::default(), About::and) }
    }

    fn examine(&self) -> Result<Vec<Remark>> {
        self.parts.iter().try_fold(Vec::new(), |mut all, part| {
            all.extend(part.examine()?);
            Ok(all)
        })
    }

    fn fault(&self, sequence: u32) -> Option<Error> {
        let part = self.part_of(sequence);
        self.parts[part].fault(sequence - self.firsts[part])
    }

    fn files(&self) -> Vec<u32> {
        let parts = self.parts.iter().zip(&self.firsts);
        let files =
            parts.flat_map(|(part, first)| part.files().into_iter().map(move |f| first + f));
        let mut files: Vec<u32> = files.collect();
        files.dedup();
        files
    }

    fn held_bytes(&self) -> u64 {
        self.parts.iter().map(|part| part.held_bytes()).max().unwrap_or(0)
    }

    fn most(&self, stream: usize, sequences: Range<u32>) -> Most {
        let parts = self.parts.iter().zip(self.firsts.windows(2));
        let theirs = parts.map(|(part, ends)| {
            let within = |sequence: u32| sequence.clamp(ends[0], ends[1]) - ends[0];
            part.most(stream, within(sequences.start)..within(sequences.end))
        });
        theirs.fold(Most::default(), Most::and)
    }

    fn most_of_one(&self, stream: usize) -> Most {
        self.parts.iter().map(|part| part.most_of_one(stream)).fold(Most::default(), Most::or)
    }

    fn is_held(&self, stream: usize) -> bool {
        self.parts.iter().any(|part| part.is_held(stream))
    }

    fn kept_bytes(&self) -> u64 {
        self.parts.iter().map(|part| part.kept_bytes()).fold(0, u64::saturating_add)
    }

    fn loading_bytes(&self) -> u64 {
        self.parts.iter().map(|part| part.loading_bytes()).max().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Element, Extent, Kind};

    /// Sequence `n` of a part has `n + 1` samples of `value + n`.
    struct Part(Vec<Stream>, Arc<Index>, i32);

    impl Source for Part {
        fn name(&self) -> &str {
            "part"
        }
        fn streams(&self) -> &[Stream] {
            &self.0
        }
        fn index(&self) -> &Arc<Index> {
            &self.1
        }
        fn load(&self, sequences: &[u32], blocks: &mut [Block]) -> Result<()> {
            for &sequence in sequences {
                blocks[0].push_i32(sequence as usize + 1).fill(self.2 + sequence as i32);
            }
            Ok(())
        }
    }

    fn part(value: i32, sequences: u32, dim: usize) -> Arc<dyn Source> {
        let mut builder = IndexBuilder::new(3);
        (0..sequences).for_each(|n| builder.push(Key(n.to_string().as_bytes()), n + 1));
        let stream = Stream {
            name: "labels".into(),
            kind: Kind::Label,
            element: Element::I32,
            dim,
            extent: Extent::Samples,
        };
        Arc::new(Part(vec![stream], Arc::new(builder.finish()), value))
    }

    #[test]
    fn files_follow_one_another() {
        let parts = vec![part(10, 2, 1), part(0, 0, 1), part(20, 3, 1)];
        let series = Series::new(parts, SeriesKeys::Numbered).unwrap();
        assert_eq!(series.index().len(), 5);
        assert_eq!(series.index().key(3), Key(b"2:1"));
        assert_eq!(series.files(), [0, 2]);
        assert_eq!(series.index().chunk_count(), 3, "those of the parts");
        let mut block = Block::of(&series.streams()[0]);
        series.load_stream(0, &[4, 1, 2], &mut block).unwrap();
        let firsts = (0..3).map(|i| block.samples(i).row(0).to_vec());
        assert_eq!(firsts.collect::<Vec<_>>(), [22i32, 11, 20].map(|v| v.to_ne_bytes().to_vec()));
    }

    #[test]
    fn keys_have_the_names_of_their_sources() {
        let names = SeriesKeys::Named(["clean", "noisy"].map(str::to_owned).to_vec());
        let series = Series::new(vec![part(10, 2, 1), part(0, 1, 1)], names).unwrap();
        let keys: Vec<String> = (0..3).map(|s| series.index().key(s).to_string()).collect();
        assert_eq!(keys, ["clean/0", "clean/1", "noisy/0"]);
    }

    #[test]
    fn files_must_be_alike() {
        let error = Series::new(vec![part(0, 1, 1), part(0, 1, 2)], SeriesKeys::Own).err().unwrap();
        assert!(error.message().contains("int32 x 2"), "{error}");
        assert!(Series::new(Vec::new(), SeriesKeys::Own).is_err());
    }
}
