//! Whatever is asked of a source that is made of others reaches them.

use std::path::Path;
use std::sync::{Arc, Mutex};

use seqfeed_core::{
    About, Aligned, Block, Chunking, Corpus, Element, Error, Extent, Index, IndexBuilder,
    JoinPolicy, Kept, Key, Kind, Remark, Result, Series, SeriesKeys, Source, Stream, Tolerance,
};

/// Four sequences of one sample; the second is wrong. It records what was asked.
struct Recorder {
    streams: Vec<Stream>,
    index: Arc<Index>,
    asked: Mutex<Vec<&'static str>>,
}

impl Recorder {
    fn new() -> Arc<Self> {
        let mut builder = IndexBuilder::new(2);
        (0..4).for_each(|n| builder.push(Key(format!("utt{n}").as_bytes()), 1));
        let stream = |name: &str| Stream {
            name: name.into(),
            kind: Kind::Label,
            element: Element::I32,
            dim: 1,
            extent: Extent::Samples,
        };
        Arc::new(Self {
            streams: vec![stream("a"), stream("b")],
            index: Arc::new(builder.finish()),
            asked: Mutex::default(),
        })
    }

    fn note(&self, what: &'static str) {
        self.asked.lock().unwrap().push(what);
    }

    fn take(&self) -> Vec<&'static str> {
        std::mem::take(&mut self.asked.lock().unwrap())
    }

    fn fill(&self, sequences: &[u32], block: &mut Block) -> Result<()> {
        for &sequence in sequences {
            if sequence == 1 {
                return Err(self.fault(1).unwrap());
            }
            block.push_i32(1)[0] = sequence as i32;
        }
        Ok(())
    }
}

impl Source for Recorder {
    fn name(&self) -> &str {
        "recorder"
    }
    fn streams(&self) -> &[Stream] {
        &self.streams
    }
    fn index(&self) -> &Arc<Index> {
        &self.index
    }
    fn about(&self) -> About {
        self.note("about");
        About { warnings: vec!["odd".to_owned()], ..About::default() }
    }
    fn examine(&self) -> Result<Vec<Remark>> {
        self.note("examine");
        Ok(Vec::new())
    }
    fn load(&self, sequences: &[u32], blocks: &mut [Block]) -> Result<()> {
        self.note("load");
        blocks.iter_mut().try_for_each(|block| self.fill(sequences, block))
    }
    fn fault(&self, sequence: u32) -> Option<Error> {
        self.note("fault");
        (sequence == 1).then(|| Error::corpus("wrong").of_key(self.index.key(sequence)))
    }
    fn load_stream(&self, _stream: usize, sequences: &[u32], block: &mut Block) -> Result<()> {
        self.note("load_stream");
        self.fill(sequences, block)
    }
    fn files(&self) -> Vec<u32> {
        self.note("files");
        vec![0, 3]
    }
    fn held_bytes(&self) -> u64 {
        self.note("held_bytes");
        77
    }
}

/// A corpus in which the second sequence is not passed over.
fn joined(source: Arc<dyn Source>, errors: Tolerance) -> Result<Corpus> {
    let policy = JoinPolicy { errors, chunks: Chunking::Primary, ..JoinPolicy::default() };
    Corpus::join(vec![source], &policy)
}

#[test]
fn each_question_reaches_the_source() {
    let recorder = Recorder::new();
    let source = || Arc::clone(&recorder) as Arc<dyn Source>;
    let aligned = Aligned::new(source(), source().streams().to_vec());
    let wrappers: [(&str, Arc<dyn Source>); 4] = [
        ("aligned", Arc::new(aligned)),
        ("series", Arc::new(Series::new(vec![source()], SeriesKeys::Own).unwrap())),
        ("kept", Arc::new(Kept::new(source()))),
        ("corpus", Arc::new(joined(source(), Tolerance::Skip).unwrap())),
    ];
    for (name, wrapper) in wrappers {
        recorder.take();
        let mut block = Block::of(&wrapper.streams()[1]);
        let last = wrapper.index().len() as u32 - 1;
        wrapper.load_stream(1, &[last], &mut block).unwrap();
        assert_eq!(block.samples(0).row(0), 3i32.to_ne_bytes(), "{name}");
        let files = wrapper.files();
        assert_eq!(files, [0, last], "{name}");
        assert!(wrapper.held_bytes() >= 77, "{name}");
        assert_eq!(wrapper.about().warnings, ["odd"], "{name}");
        assert!(wrapper.examine().unwrap().is_empty());
        assert!(wrapper.fault(0).is_none());
        assert_eq!(wrapper.fault(1).is_some(), name != "corpus", "{name}");
        let asked = recorder.take();
        for what in ["files", "held_bytes", "fault", "about", "examine"] {
            assert!(asked.contains(&what), "{name}: {what} did not arrive");
        }
        // What is kept was loaded as a whole.
        let loaded = if name == "kept" { "load" } else { "load_stream" };
        assert!(asked.contains(&loaded), "{name}: {asked:?}");
    }
}

#[test]
fn wrong_sequences_behind_a_wrapper_are_passed_over_when_the_corpus_is_joined() {
    for wrapped in [
        Arc::new(Series::new(vec![Recorder::new(), Recorder::new()], SeriesKeys::Numbered).unwrap())
            as Arc<dyn Source>,
        Arc::new(Kept::new(Recorder::new())),
        // Alone, and with nothing to join: its own index would do if nothing was wrong.
        Recorder::new(),
    ] {
        let sequences = wrapped.index().len();
        let error = joined(Arc::clone(&wrapped), Tolerance::Stop).unwrap_err();
        assert_eq!(error.message(), "wrong");
        let corpus = joined(wrapped, Tolerance::Skip).unwrap();
        assert_eq!(corpus.index().len(), sequences - sequences / 4);
        let mut blocks = corpus.new_blocks();
        for chunk in 0..corpus.index().chunk_count() {
            corpus.load_chunk(chunk, &mut blocks).unwrap();
        }
        assert_eq!(blocks[0].len(), corpus.index().len());
    }
}

/// Every type that holds another source must be a `Wrapper`, whose methods have no defaults.
#[test]
fn no_source_that_holds_another_one_has_defaults() {
    let mut directories = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("..")];
    let mut wrappers = 0;
    while let Some(directory) = directories.pop() {
        for entry in std::fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() && !path.ends_with("target") && !path.ends_with("tests") {
                directories.push(path);
            } else if path.extension().is_some_and(|end| end == "rs") {
                let text = std::fs::read_to_string(&path).unwrap();
                let code = text.split("#[cfg(test)]").next().unwrap_or_default();
                let lines = || code.lines().filter(|line| !line.trim_start().starts_with("//"));
                let holds = lines().any(|line| {
                    line.starts_with("    ")
                        && line.contains(": ")
                        && line.ends_with(',')
                        && !line.contains('(')
                        && line.contains("dyn Source")
                });
                wrappers += u32::from(lines().any(|line| line.contains("::Wrapper for ")));
                let implements =
                    |line: &str| line.contains("Source for ") && !line.contains("impl<W: Wrapper>");
                let has_defaults = lines().any(implements);
                assert!(!(holds && has_defaults), "{}: implement Wrapper", path.display());
            }
        }
    }
    assert_eq!(wrappers, 7);
}
