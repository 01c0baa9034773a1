//! Writes a corpus as HTK's files.

use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::io::Write;
use std::os::unix::ffi::OsStrExt;

use seqfeed_core::{Block, Error, Key, Kind, Result, Sink, Stream, Written, numbers};
use seqfeed_htk::label::{self, Labels, MLF_HEADER, Transcription, write_mlf_entry};
use seqfeed_htk::param::{ArchiveWriter, Base, Encoding, Values, append_integers};
use seqfeed_htk::script::{Script, ScriptOptions, Segment, Style, write_entry};
use seqfeed_io::{
    Opener, Output, OutputDirectory, WxFilename, name_from_text, name_to_text, path_from_text,
};

use crate::formats::{listed, one_stream};

/// The most states for labels: the range of CNTK's readers.
const STATES: i32 = 1 << 16;

/// The arrangement of the frames of utterances.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HtkLayout {
    /// In one archive.
    Archive,
    /// In a file for each, in a directory.
    Files,
}

/// Writes HTK's files: frames, a script, and labels with their names.
pub(crate) struct HtkSink {
    frames: Frames,
    script: Output,
    features: usize,
    transcriptions: Option<Transcriptions>,
    text: Vec<u8>,
}

/// The frames of all utterances.
enum Frames {
    Archive { writer: ArchiveWriter, physical: OsString },
    Files(Files),
}

impl HtkSink {
    /// `states` has names of labels; the first one is for label 0. Missing names are `s0`, `s1`,
    /// ...
    pub(crate) fn create(
        prefix: &str,
        layout: HtkLayout,
        streams: &[Stream],
        encoding: &Encoding,
        states: &[String],
        opener: &Opener,
    ) -> Result<Self> {
        let features = one_stream(streams, "floats", |kind| kind == Kind::Dense)?;
        let Some(features) = features else {
            return Err(Error::usage("there is no stream of floats to be written as HTK features"));
        };
        let labels = one_stream(streams, "labels", |kind| kind != Kind::Dense)?;
        let create = |end: &str| Output::create(&file_of(prefix, end)?, opener);
        let columns = streams[features].dim;
        let frames = match layout {
            HtkLayout::Archive => {
                let name = file_of(prefix, "htk")?;
                let base = prefix.rsplit('/').next().unwrap_or(prefix);
                Frames::Archive {
                    writer: ArchiveWriter::create(&name, encoding.clone(), columns, opener)?,
                    physical: name_from_text(&format!(".../{base}.htk")),
                }
            }
            HtkLayout::Files => Frames::Files(Files::create(prefix, encoding.clone(), columns)?),
        };
        let mut script = create("scp")?;
        script.set_points_into_others();
        let transcriptions = match labels {
            Some(stream) => {
                let (mlf, list) = (create("mlf")?, create("states")?);
                let period = f64::from(encoding.period);
                Some(Transcriptions::new(stream, states, period, mlf, list)?)
            }
            None => None,
        };
        Ok(Self { frames, script, features, transcriptions, text: Vec::new() })
    }
}

impl Sink for HtkSink {
    fn write(&mut self, key: Key<'_>, blocks: &[Block], number: usize) -> Result<()> {
        let samples = blocks[self.features].samples(number);
        let values = &*numbers::<f32>(samples.bytes());
        let logical = [key.0, b".htk"].concat();
        self.text.clear();
        let text = &mut self.text;
        let written = match &mut self.frames {
            Frames::Archive { writer, physical } => writer.write(values).and_then(|segment| {
                write_entry(&logical, physical.as_bytes(), Some(segment), Style::Cntk, text)
            }),
            Frames::Files(files) => files.write(key, values).and_then(|physical| {
                // The whole range: CNTK's scripts always give the frames.
                let last = (values.len() / files.columns).checked_sub(1);
                let segment = last.and_then(|last| Segment::new(0, u32::try_from(last).ok()));
                write_entry(&logical, physical.as_bytes(), segment, Style::Cntk, text)
            }),
        };
        written.and_then(|()| check_entry(text, key)).map_err(|error| error.of_key(key))?;
        self.script.write_all(text).map_err(|error| self.script.error(error))?;
        match &mut self.transcriptions {
            Some(transcriptions) => transcriptions.write(key, blocks, number, samples.len()),
            None => Ok(()),
        }
    }

    fn finish(self: Box<Self>) -> Result<Written> {
        let (mut outputs, mut files) = (Vec::new(), None);
        match self.frames {
            Frames::Archive { writer, .. } => outputs.push(writer.into_output()?),
            Frames::Files(directory) => files = Some(directory),
        }
        if let Some(transcriptions) = self.transcriptions {
            outputs.extend(transcriptions.into_outputs()?);
        }
        // The script comes last, since it says that the others exist.
        outputs.push(self.script);
        let mut written = Written::default();
        if let Some(files) = &files {
            written.files.push(name_to_text(files.directory.target()));
            written.bytes += files.written;
        }
        written.files.extend(outputs.iter().map(|output| listed(output.wxfilename())));
        written.bytes += outputs.iter().map(Output::written).sum::<u64>();
        let appear = || files.as_mut().map_or(Ok(()), |files| files.directory.appear());
        Output::finish_together_with(outputs, appear)?;
        Ok(written)
    }
}

/// Refuses an entry that HTK, or a feed without CNTK's readers, would read in another way. CNTK
/// does not know quotes, but HTK wants them around names that begin with `-` or contain blanks.
fn check_entry(entry: &[u8], key: Key<'_>) -> Result<()> {
    let script = Script::parse(entry.to_vec(), &ScriptOptions::default());
    let is_same = |script: &Script| {
        script.len() == 1 && script.get(0).is_some_and(|entry| *entry.key() == *key.0)
    };
    match script {
        Ok(script) if is_same(&script) => Ok(()),
        _ => Err(Error::corpus("a script that HTK and CNTK both read cannot say this name").with_help(
            "names of sequences and files have no blanks, and do not begin with `-` or a quote; \
             write another format, such as ark,scp:",
        )),
    }
}

/// A directory of parameter files. It appears with the script, and keeps its mark until all files
/// are there.
struct Files {
    directory: OutputDirectory,
    written: u64,
    encoding: Encoding,
    columns: usize,
    shorts: Vec<i16>,
    bytes: Vec<u8>,
}

impl Files {
    fn create(prefix: &str, encoding: Encoding, columns: usize) -> Result<Self> {
        let directory = OutputDirectory::create(&path_from_text(prefix))?;
        Ok(Self { directory, written: 0, encoding, columns, shorts: Vec::new(), bytes: Vec::new() })
    }

    /// Writes a file. Returns its name, relative to the script's directory.
    fn write(&mut self, key: Key<'_>, values: &[f32]) -> Result<OsString> {
        if key.0.is_empty() || key.0.iter().any(|byte| matches!(byte, b'/' | b'\0')) {
            return Err(Error::corpus("this key cannot be the name of a file")
                .with_help("write one archive (htk:NAME)"));
        }
        let mut name = OsStr::from_bytes(key.0).to_owned();
        name.push(".htk");
        self.bytes.clear();
        let values = if matches!(self.encoding.kind.base(), Base::Waveform | Base::Discrete) {
            self.shorts.clear();
            append_integers(values, &mut self.shorts)?;
            Values::Shorts(&self.shorts)
        } else {
            Values::Floats(values)
        };
        self.encoding.encode(values, self.columns, &mut self.bytes)?;
        if !self.directory.write(&name, &self.bytes)? {
            return Err(Error::format("HTK script", seqfeed_core::Problem::DuplicateKey));
        }
        self.written += self.bytes.len() as u64;
        let mut physical = self.directory.target().file_name().unwrap_or_default().to_owned();
        physical.push("/");
        physical.push(name);
        Ok(physical)
    }
}

/// A file with the common prefix of several files.
fn file_of(prefix: &str, end: &str) -> Result<WxFilename> {
    WxFilename::parse(&name_from_text(&format!("{prefix}.{end}")))
}

/// Whether both HTK and CNTK read a name unchanged.
fn is_bare(name: &str) -> bool {
    let (mut labels, mut text) = (Labels::new(), Vec::new());
    labels.push(Some(0.0), Some(1.0), name.as_bytes(), 0.0);
    let written = label::write(&mut text, &Transcription { alternatives: vec![labels] });
    written.is_ok() && text == format!("0 1 {name}\n").into_bytes()
}

/// The label files.
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
        Ok(Self { stream, mlf, states, names: names.to_vec(), seen, period, text: Vec::new() })
    }

    fn write(
        &mut self,
        key: Key<'_>,
        blocks: &[Block],
        number: usize,
        frames: usize,
    ) -> Result<()> {
        let classes = numbers::<i32>(blocks[self.stream].samples(number).bytes());
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
                // A number would need quotes in a label file, and CNTK's reader takes the quotes as
                // part of the name.
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
