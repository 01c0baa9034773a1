//! A corpus as HTK's files.

use std::collections::HashSet;
use std::fs;
use std::io::Write;
use std::path::Path;

use seqfeed_core::{Block, Error, Key, Kind, Result, Sink, Stream};
use seqfeed_htk::label::{self, Labels, MLF_HEADER, Transcription, write_mlf_entry};
use seqfeed_htk::param::{ArchiveWriter, Encoding, Values as ParamValues};
use seqfeed_htk::script::{Segment, Style, write_entry};
use seqfeed_io::{Output, OutputDirectory, Policy, WxFilename};

use super::one_stream;
use super::values::Values;

/// Most states that labels can name: what CNTK's readers can hold.
const STATES: i32 = 1 << 16;

/// Where the frames of utterances lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HtkLayout {
    /// In one archive.
    Archive,
    /// In a file each, in a directory.
    Files,
}

/// Writes HTK's files: frames, a script, and labels with their names.
pub(crate) struct HtkSink {
    frames: Frames,
    script: Output,
    features: usize,
    transcriptions: Option<Transcriptions>,
    floats: Values<f32>,
    text: Vec<u8>,
}

/// The frames of all utterances.
enum Frames {
    Archive { writer: ArchiveWriter, physical: String },
    Files(Files),
}

impl HtkSink {
    /// `states` are names of labels, the first one for label 0; those that are missing are `s0`, `s1`, ...
    pub(crate) fn create(
        prefix: &str,
        layout: HtkLayout,
        streams: &[Stream],
        encoding: &Encoding,
        states: &[String],
        policy: &Policy,
    ) -> Result<Self> {
        let features = one_stream(streams, "floats", |kind| kind == Kind::Dense)?;
        let Some(features) = features else {
            return Err(Error::usage("there is no stream of floats to be written as HTK features"));
        };
        let labels = one_stream(streams, "labels", |kind| kind != Kind::Dense)?;
        let create =
            |end: &str| Output::create(&WxFilename::parse(&format!("{prefix}.{end}"))?, policy);
        let columns = streams[features].dim;
        let frames = match layout {
            HtkLayout::Archive => {
                let name = WxFilename::parse(&format!("{prefix}.htk"))?;
                let base = prefix.rsplit('/').next().unwrap_or(prefix);
                Frames::Archive {
                    writer: ArchiveWriter::create(&name, encoding.clone(), columns, policy)?,
                    physical: format!(".../{base}.htk"),
                }
            }
            HtkLayout::Files => Frames::Files(Files::create(prefix, encoding.clone(), columns)?),
        };
        let script = create("scp")?;
        let transcriptions = match labels {
            Some(stream) => {
                let (mlf, list) = (create("mlf")?, create("states")?);
                let period = f64::from(encoding.period);
                Some(Transcriptions::new(stream, states, period, mlf, list)?)
            }
            None => None,
        };
        let (floats, text) = (Values::default(), Vec::new());
        Ok(Self { frames, script, features, transcriptions, floats, text })
    }
}

impl Sink for HtkSink {
    fn write(&mut self, key: Key<'_>, blocks: &[Block], number: usize) -> Result<()> {
        let samples = blocks[self.features].samples(number);
        let values = self.floats.of(samples.bytes());
        let logical = [key.0, b".htk"].concat();
        self.text.clear();
        let text = &mut self.text;
        let written = match &mut self.frames {
            Frames::Archive { writer, physical } => writer.write(values).and_then(|segment| {
                write_entry(&logical, physical.as_bytes(), Some(segment), Style::Cntk, text)
            }),
            Frames::Files(files) => files.write(key, values).and_then(|physical| {
                // All of it: CNTK's scripts always say which frames.
                let last = (values.len() / files.columns).checked_sub(1);
                let segment = last.and_then(|last| Segment::new(0, u32::try_from(last).ok()));
                write_entry(&logical, physical.as_bytes(), segment, Style::Cntk, text)
            }),
        };
        written.map_err(|error| error.of_key(key))?;
        self.script.write_all(text).map_err(|error| self.script.error(error))?;
        match &mut self.transcriptions {
            Some(transcriptions) => transcriptions.write(key, blocks, number, samples.len()),
            None => Ok(()),
        }
    }

    fn finish(self: Box<Self>) -> Result<Vec<String>> {
        let mut outputs = Vec::new();
        let mut names = Vec::new();
        match self.frames {
            Frames::Archive { writer, .. } => outputs.push(writer.into_output()?),
            Frames::Files(files) => names.push(files.appear()?),
        }
        if let Some(transcriptions) = self.transcriptions {
            outputs.extend(transcriptions.into_outputs()?);
        }
        // The script says that the others are there.
        outputs.push(self.script);
        names.extend(outputs.iter().map(|output| output.name().to_owned()));
        Output::finish_together(outputs)?;
        Ok(names)
    }
}

/// A directory of parameter files, which appears when it is whole.
struct Files {
    directory: OutputDirectory,
    encoding: Encoding,
    columns: usize,
    bytes: Vec<u8>,
}

impl Files {
    fn create(prefix: &str, encoding: Encoding, columns: usize) -> Result<Self> {
        let directory = OutputDirectory::create(Path::new(prefix))?;
        Ok(Self { directory, encoding, columns, bytes: Vec::new() })
    }

    /// Writes a file; its name, relative to the script's directory.
    fn write(&mut self, key: Key<'_>, values: &[f32]) -> Result<String> {
        let Some(name) =
            key.as_str().filter(|name| !name.contains(['/', '\0']) && !name.is_empty())
        else {
            return Err(Error::corpus("this key cannot be the name of a file")
                .with_help("write one archive (htk:NAME)"));
        };
        self.bytes.clear();
        self.encoding.encode(ParamValues::Floats(values), self.columns, &mut self.bytes)?;
        let path = self.directory.path().join(format!("{name}.htk"));
        if path.exists() {
            return Err(Error::format("HTK script", seqfeed_core::Problem::DuplicateKey));
        }
        fs::write(&path, &self.bytes).map_err(|error| {
            Error::io("writing", error)
                .in_file(self.directory.target().join(name).display().to_string())
        })?;
        let directory = self.directory.target().file_name().unwrap_or_default().to_string_lossy();
        Ok(format!("{directory}/{name}.htk"))
    }

    fn appear(self) -> Result<String> {
        let name = self.directory.target().display().to_string();
        self.directory.finish()?;
        Ok(name)
    }
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
    integers: Values<i32>,
    text: Vec<u8>,
}

impl Transcriptions {
    fn new(
        stream: usize,
        names: &[String],
        period: f64,
        mut mlf: Output,
        states: Output,
    ) -> Result<Self> {
        let mut seen = HashSet::new();
        for name in names {
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
        let (names, integers) = (names.to_vec(), Values::default());
        Ok(Self { stream, mlf, states, names, seen, period, integers, text: Vec::new() })
    }

    fn write(
        &mut self,
        key: Key<'_>,
        blocks: &[Block],
        number: usize,
        frames: usize,
    ) -> Result<()> {
        let classes = self.integers.of(blocks[self.stream].samples(number).bytes());
        if classes.len() != frames {
            let what = format!("{} labels for {frames} frames", classes.len());
            return Err(Error::corpus(what).of_key(key));
        }
        let mut labels = Labels::new();
        let mut start = 0;
        for run in classes.chunk_by(|a, b| a == b) {
            let Some(state) = usize::try_from(run[0]).ok().filter(|_| run[0] < STATES) else {
                let what =
                    format!("label {} is no state, which count from 0 to {}", run[0], STATES - 1);
                return Err(Error::corpus(what).of_key(key));
            };
            while self.names.len() <= state {
                // A number would need quotes in a label file, with which CNTK's reader takes it for another name.
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
