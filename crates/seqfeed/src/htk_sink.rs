//! Any corpus as HTK's files.

use std::collections::HashSet;
use std::io::Write;

use seqfeed_core::{Block, Element, Error, Key, Kind, Result, Source, Stream};
use seqfeed_htk::label::{self, Labels, MLF_HEADER, Transcription, write_mlf_entry};
use seqfeed_htk::param::{ArchiveWriter, Encoding};
use seqfeed_htk::script::{Style, write_entry};
use seqfeed_io::{Output, Policy, WxFilename};

use crate::sequences::each_sequence;

/// Most states that labels can name: what CNTK's readers can hold.
const STATES: i32 = 1 << 16;

/// How HTK's files are written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HtkOptions {
    /// Kind, frame period and byte order of the archive.
    pub encoding: Encoding,
    /// Names of the labels, the first one for label 0; those that are missing are `s` and the number.
    pub states: Vec<String>,
    /// Most sequences that are written.
    pub most: u64,
}

impl Default for HtkOptions {
    fn default() -> Self {
        Self { encoding: Encoding::default(), states: Vec::new(), most: u64::MAX }
    }
}

/// Writes a corpus as HTK's files, in its order, one chunk in memory at a time:
///
/// | file | what |
/// | --- | --- |
/// | `PREFIX.htk` | an archive: the frames of all sequences in one parameter file |
/// | `PREFIX.scp` | a script: `key.htk=.../name.htk[first,last]`, beside the archive |
/// | `PREFIX.mlf` | the labels, equal ones side by side as one segment, with times in 100 ns; if there are labels |
/// | `PREFIX.states` | the names of the labels, one a line; if there are labels |
///
/// Labels are a label stream, or a sparse one that has one value a sample. All files appear together.
/// CNTK's readers, and ours, take the times of labels for those of frames of 10 ms: with another
/// [period](Encoding::period) the labels are for HTK only.
///
/// # Errors
///
/// Fails if data cannot be read or written, or if the files cannot say them: several streams of floats
/// or of labels, 64-bit floats, no frames, negative labels, lengths that differ, keys or names of states
/// that HTK and CNTK do not both read as they are.
pub fn write_htk(
    source: &dyn Source,
    prefix: &str,
    options: &HtkOptions,
    policy: &Policy,
) -> Result<()> {
    let streams = source.streams();
    let features = one_stream(streams, "floats", |kind| kind == Kind::Dense)?.ok_or_else(|| {
        Error::usage("there is no stream of floats to be written as HTK features")
    })?;
    let labels = one_stream(streams, "labels", |kind| kind != Kind::Dense)?;
    if streams[features].element != Element::F32 {
        return Err(Error::usage(format!(
            "stream {} has {} values; HTK's are float32",
            streams[features].name,
            streams[features].element.name()
        )));
    }
    let create =
        |end: &str| Output::create(&WxFilename::parse(&format!("{prefix}.{end}"))?, policy);
    let name = WxFilename::parse(&format!("{prefix}.htk"))?;
    let columns = streams[features].dim;
    let mut archive = ArchiveWriter::create(&name, options.encoding.clone(), columns, policy)?;
    let mut script = create("scp")?;
    let base = prefix.rsplit('/').next().unwrap_or(prefix);
    let physical = format!(".../{base}.htk");
    let mut transcriptions = match labels {
        Some(stream) => {
            Some(Transcriptions::new(stream, options, create("mlf")?, create("states")?)?)
        }
        None => None,
    };
    let mut text = Vec::new();
    each_sequence(source, options.most, |key, blocks, number| {
        let samples = blocks[features].samples(number);
        let values: Vec<f32> = bytemuck::pod_collect_to_vec(samples.bytes());
        let segment = archive.write(&values).map_err(|error| error.of_key(key))?;
        text.clear();
        let logical = [key.0, b".htk"].concat();
        write_entry(&logical, physical.as_bytes(), Some(segment), Style::Cntk, &mut text)
            .map_err(|error| error.of_key(key))?;
        script.write_all(&text).map_err(|error| script.error(error))?;
        if let Some(transcriptions) = &mut transcriptions {
            let stream = &streams[transcriptions.stream];
            let classes = classes(stream, &blocks[transcriptions.stream], number)
                .map_err(|error| error.of_key(key))?;
            if classes.len() != samples.len() {
                let what = format!("{} labels for {} frames", classes.len(), samples.len());
                return Err(Error::corpus(what).of_key(key));
            }
            transcriptions.write(key, &classes)?;
        }
        Ok(())
    })?;
    let mut outputs = vec![archive.into_output()?];
    outputs.extend(
        transcriptions.map(Transcriptions::into_outputs).transpose()?.into_iter().flatten(),
    );
    // The script says that the others are there.
    outputs.push(script);
    Output::finish_together(outputs)
}

/// The number of the only stream of a kind.
fn one_stream(streams: &[Stream], what: &str, is: impl Fn(Kind) -> bool) -> Result<Option<usize>> {
    let mut found = (0..streams.len()).filter(|&number| is(streams[number].kind));
    let first = found.next();
    match (first, found.next()) {
        (Some(first), Some(second)) => Err(Error::usage(format!(
            "streams {} and {} are both {what}; HTK's files hold one",
            streams[first].name, streams[second].name
        ))
        .with_help("give the corpus with the streams that shall be written")),
        _ => Ok(first),
    }
}

/// The class of each sample of a sequence.
fn classes(stream: &Stream, block: &Block, number: usize) -> Result<Vec<i32>> {
    if stream.kind != Kind::Sparse {
        return Ok(bytemuck::pod_collect_to_vec(block.samples(number).bytes()));
    }
    let samples = block.sparse_samples(number);
    if (0..samples.len()).any(|sample| samples.values_in(sample..sample + 1).len() != 1) {
        return Err(Error::corpus(format!(
            "a sample of the sparse stream {} has not one value, so it is no label",
            stream.name
        )));
    }
    Ok(samples.indices.to_vec())
}

/// Whether HTK and CNTK both read a name as it is.
fn is_bare(name: &str) -> bool {
    let (mut labels, mut text) = (Labels::new(), Vec::new());
    labels.push(Some(0.0), Some(1.0), name.as_bytes(), 0.0);
    let written = label::write(&mut text, &Transcription { alternatives: vec![labels] });
    written.is_ok() && text == format!("0 1 {name}\n").into_bytes()
}

/// The labels' files.
struct Transcriptions {
    stream: usize,
    mlf: Output,
    states: Output,
    names: Vec<String>,
    seen: HashSet<String>,
    period: f64,
    text: Vec<u8>,
}

impl Transcriptions {
    fn new(stream: usize, options: &HtkOptions, mut mlf: Output, states: Output) -> Result<Self> {
        let mut seen = HashSet::new();
        for name in &options.states {
            if !is_bare(name) {
                return Err(Error::usage(format!("{name:?} cannot be the name of a state")).with_help(
                    "names of states are printable ASCII without blanks and backslashes, do not begin \
                     with a quote and are no numbers: CNTK knows no quotes, which HTK needs for others",
                ));
            }
            if !seen.insert(name.clone()) {
                return Err(Error::usage(format!("the state {name} is named twice"))
                    .with_help("the names of states are their classes: each is another one"));
            }
        }
        mlf.write_all(MLF_HEADER).map_err(|error| mlf.error(error))?;
        let period = f64::from(options.encoding.period);
        let names = options.states.clone();
        Ok(Self { stream, mlf, states, names, seen, period, text: Vec::new() })
    }

    fn write(&mut self, key: Key<'_>, classes: &[i32]) -> Result<()> {
        let mut labels = Labels::new();
        let mut start = 0;
        for run in classes.chunk_by(|a, b| a == b) {
            let Some(state) = usize::try_from(run[0]).ok().filter(|_| run[0] < STATES) else {
                let what =
                    format!("label {} is no state, which count from 0 to {}", run[0], STATES - 1);
                return Err(Error::corpus(what).of_key(key));
            };
            while self.names.len() <= state {
                let name = format!("s{}", self.names.len());
                if !self.seen.insert(name.clone()) {
                    return Err(Error::usage(format!(
                        "label {} has no name, and {name} is that of another one",
                        self.names.len()
                    ))
                    .with_help("give the names of all states"));
                }
                self.names.push(name);
            }
            let end = start + run.len();
            let time = |frame: usize| Some(frame as f64 * self.period);
            labels.push(time(start), time(end), self.names[state].as_bytes(), 0.0);
            start = end;
        }
        self.text.clear();
        let name = [b"*/", key.0, b".lab"].concat();
        let transcription = Transcription { alternatives: vec![labels] };
        write_mlf_entry(&mut self.text, &name, &transcription)
            .map_err(|error| error.of_key(key))?;
        self.mlf.write_all(&self.text).map_err(|error| self.mlf.error(error))
    }

    fn into_outputs(self) -> Result<[Output; 2]> {
        let Self { mlf, mut states, names, .. } = self;
        for name in names {
            writeln!(states, "{name}").map_err(|error| states.error(error))?;
        }
        Ok([states, mlf])
    }
}
