//! The source of the labels in master label files.

use std::collections::HashSet;
use std::fmt;
use std::ops::Range;
use std::sync::{Arc, Mutex};

use seqfeed_core::{
    About, Block, Damage, Element, Error, Extent, Index, IndexBuilder, Key, Kind, Most, Problem,
    Result, Source, Stream,
};
use seqfeed_io::{DataFile, Location, Opener, run_of};

use super::binary;
use super::features::Keys;
use super::file_span::FileSpan;
use crate::decoded::{FromStart, open_decoded};
use crate::label::MLF_FORMAT;
use crate::label::cntk::{CntkIndex, FrameParser, Utterance};
use crate::state_list::StateList;

/// Bytes of neighbouring utterances to read at once, and the largest gap between them.
const RUN: u64 = 4 << 20;
const GAP: u64 = 64 << 10;
/// The bytes to read ahead if utterances are asked for in order.
const AHEAD: u64 = 1 << 20;
/// Incidents of the index that are kept for messages.
const INCIDENTS: usize = 10_000;
/// The most incidents with a warning of their own.
const SHOWN: usize = 10;

/// The form of labels in a feed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LabelForm {
    /// The class of each frame.
    Class,
    /// A sparse vector for each frame, with a single value: 1 at its class. This is CNTK's form.
    OneHot(Element),
}

/// Options for opening a source of labels.
#[derive(Clone, Debug)]
pub struct MlfOptions {
    /// Name of the stream.
    pub stream: String,
    /// The number of classes; by default that of the state list.
    pub dim: Option<u32>,
    /// The names of the classes. Without them, the fourth column is the class.
    pub states: Option<Arc<StateList>>,
    /// The form of labels.
    pub form: LabelForm,
    /// Whether the value of the first frame of each line is 2 (with [`LabelForm::OneHot`]).
    pub phone_boundaries: bool,
    /// The number of samples in a sequence, for the feed.
    pub extent: Extent,
    /// Whether the files are in CNTK's binary format.
    pub binary: bool,
    /// With readers of CNTK (`traceLevel`): utterances that are left out are not reported, but from
    /// level 1 on there is a warning.
    pub trace_level: Option<i64>,
    /// Warnings about the list of states.
    pub warnings: Vec<String>,
    /// Opens files, and limits lines.
    pub opener: Opener,
}

impl Default for MlfOptions {
    /// Classes, from a fourth column.
    fn default() -> Self {
        Self {
            stream: "labels".to_owned(),
            dim: None,
            states: None,
            form: LabelForm::Class,
            phone_boundaries: false,
            extent: Extent::Samples,
            binary: false,
            trace_level: None,
            warnings: Vec::new(),
            opener: Opener::default(),
        }
    }
}

/// The labels of master label files, as CNTK reads them: one class for each frame.
///
/// The files are read once to find each utterance; they are not kept in memory. An error in an
/// utterance is found when a corpus [asks](Source::fault) for it, or when it is loaded.
pub struct MlfSource {
    name: String,
    streams: Vec<Stream>,
    index: Arc<Index>,
    places: Vec<FileSpan>,
    files: Vec<DataFile>,
    states: Option<Arc<StateList>>,
    dim: u32,
    phone_boundaries: bool,
    binary: bool,
    incidents: u64,
    first_incidents: Vec<Damage>,
    trace_level: Option<i64>,
    warnings: Vec<String>,
    ahead: Mutex<Ahead>,
}

/// A part of a file in memory.
#[derive(Debug, Default)]
struct Ahead {
    file: u32,
    start: u64,
    bytes: Vec<u8>,
    /// The end of the last utterance.
    last: u64,
}

/// The buffers for decoding labels.
#[derive(Default)]
struct Work {
    bytes: Vec<u8>,
    classes: Vec<i32>,
    values: Vec<f32>,
    encoded: Vec<u8>,
    ends: Vec<u32>,
}

impl MlfSource {
    /// Opens label files, one after another, and finds their utterances.
    ///
    /// Utterances that cannot be used (without a name in quotes, without lines, without a dot, with
    /// a repeated key) are left out; [`about`](Source::about) reports them.
    ///
    /// # Errors
    ///
    /// If a file cannot be read or has no header, or if neither a dimension nor a state list is
    /// given.
    pub fn open(files: &[Location], options: &MlfOptions, keys: Keys<'_>) -> Result<Self> {
        let of_states = options.states.as_ref().map(|states| states.len() as u32);
        let Some(dim) = options.dim.or(of_states).filter(|&dim| dim > 0) else {
            return Err(Error::usage(format!(
                "stream {}: how many classes are there?",
                options.stream
            ))
            .with_help("give a state list, or a dimension"));
        };
        let mut found = CntkIndex::with_line_limit(options.opener.line_limit());
        let (mut incidents, mut first_incidents) = (0, Vec::new());
        let mut incident = |error: Error| {
            let damage = error.damage()?;
            incidents += 1;
            if first_incidents.len() < INCIDENTS {
                first_incidents.push(damage);
            }
            Ok(())
        };
        let mut builder = IndexBuilder::new(u64::MAX);
        let (mut places, mut data) = (Vec::new(), Vec::new());
        // Keys of binary files. The index has the keys of other files.
        let mut seen = HashSet::new();
        for location in files {
            let file = open_decoded(location, &options.opener)?;
            if options.binary {
                let number = data.len() as u32;
                binary::index(&file, |name, frames, place| {
                    let key = keys(name)?;
                    if !seen.insert(key.clone()) {
                        let error = Error::format(MLF_FORMAT, Problem::DuplicateKey)
                            .in_file(file.name())
                            .at_byte(place.offset);
                        let help = "the first utterance of a key is used";
                        return incident(error.of_key(Key(&key)).with_help(help));
                    }
                    builder.push(Key(&key), frames);
                    places.push(FileSpan { file: number, ..place });
                    Ok(())
                })?;
            } else {
                found.add(file.name(), FromStart::new(&file), &mut incident)?;
            }
            data.push(file);
        }
        places.reserve(found.len());
        for utterance in found.utterances() {
            match keys(utterance.key.0) {
                Ok(key) => builder.push(Key(&key), utterance.frames),
                Err(error) => {
                    incident(error.in_file(utterance.file).at_line(utterance.line))?;
                    continue;
                }
            }
            places.push(FileSpan {
                offset: utterance.offset,
                bytes: utterance.bytes,
                line: u32::try_from(utterance.line).unwrap_or(u32::MAX),
                file: utterance.file_number as u32,
            });
        }
        let (kind, element, width) = match options.form {
            LabelForm::Class => (Kind::Label, Element::I32, 1),
            LabelForm::OneHot(element) => (Kind::Sparse, element, dim as usize),
        };
        let (name, extent) = (options.stream.clone(), options.extent);
        let names: Vec<&str> = data.iter().map(DataFile::name).collect();
        Ok(Self {
            name: names.join(" + "),
            streams: vec![Stream { name, kind, element, dim: width, extent }],
            index: Arc::new(builder.finish()),
            places,
            files: data,
            states: options.states.clone(),
            dim,
            phone_boundaries: options.phone_boundaries,
            binary: options.binary,
            incidents,
            first_incidents,
            trace_level: options.trace_level,
            warnings: options.warnings.clone(),
            ahead: Mutex::default(),
        })
    }

    /// Decodes the classes of an utterance, and with phone boundaries the values.
    fn decode(&self, sequence: u32, bytes: &[u8], work: &mut Work) -> Result<()> {
        work.classes.clear();
        work.values.clear();
        let place = self.places[sequence as usize];
        let key = self.index.key(sequence);
        let file = self.files[place.file as usize].name();
        let frames = self.index.samples(sequence);
        let values = self.phone_boundaries.then_some(&mut work.values);
        if self.binary {
            let decoded = binary::decode(bytes, frames, self.dim, &mut work.classes, values);
            return decoded.map_err(|e| e.in_file(file).at_byte(place.offset).of_key(key));
        }
        let utterance = Utterance {
            key,
            file,
            file_number: place.file as usize,
            offset: place.offset,
            bytes: place.bytes,
            line: place.line.into(),
            frames,
        };
        let parser = FrameParser::new(self.states.as_deref(), self.dim);
        parser.parse(&utterance, bytes, &mut work.classes, values)
    }

    /// Adds decoded labels to a block.
    fn push(&self, work: &mut Work, block: &mut Block) {
        let frames = work.classes.len();
        if !block.is_sparse() {
            block.push_i32(frames).copy_from_slice(&work.classes);
            return;
        }
        if work.ends.len() < frames {
            work.ends = (1..=frames as u32).collect();
        }
        work.encoded.clear();
        let value = |frame: usize| work.values.get(frame).copied().unwrap_or(1.0);
        match block.element() {
            Element::F64 => {
                let values = (0..frames).flat_map(|frame| f64::from(value(frame)).to_ne_bytes());
                work.encoded.extend(values);
            }
            _ => work.encoded.extend((0..frames).flat_map(|frame| value(frame).to_ne_bytes())),
        }
        block.push_sparse(&work.encoded, &work.classes, &work.ends[..frames]);
    }

    /// The bytes of an utterance, for utterances that are asked for in order.
    fn read_ahead(&self, place: FileSpan, work: &mut Work) -> Result<()> {
        let file = &self.files[place.file as usize];
        let (start, len) = (place.offset, place.bytes as usize);
        work.bytes.clear();
        let Ok(mut ahead) = self.ahead.lock() else { return Ok(()) };
        let held = ahead.start + ahead.bytes.len() as u64;
        if ahead.file != place.file || start < ahead.start || start + len as u64 > held {
            let goes_on =
                ahead.file == place.file && (ahead.last..=ahead.last + GAP).contains(&start);
            let wanted = if goes_on { AHEAD.max(len as u64) } else { len as u64 };
            let count = wanted.min(file.len().saturating_sub(start)).max(len as u64);
            ahead.bytes.resize(count as usize, 0);
            (ahead.file, ahead.start) = (place.file, start);
            if let Err(error) = file.read_exact_at(&mut ahead.bytes, start, "an utterance") {
                ahead.bytes.clear();
                return Err(error);
            }
        }
        let from = (start - ahead.start) as usize;
        work.bytes.extend_from_slice(&ahead.bytes[from..from + len]);
        ahead.last = start + len as u64;
        Ok(())
    }
}

impl Source for MlfSource {
    fn name(&self) -> &str {
        &self.name
    }

    fn streams(&self) -> &[Stream] {
        &self.streams
    }

    fn index(&self) -> &Arc<Index> {
        &self.index
    }

    fn fault(&self, sequence: u32) -> Option<Error> {
        let mut work = Work::default();
        let place = self.places[sequence as usize];
        if let Err(error) = self.read_ahead(place, &mut work) {
            return Some(error.of_key(self.index.key(sequence)));
        }
        let bytes = std::mem::take(&mut work.bytes);
        self.decode(sequence, &bytes, &mut work).err()
    }

    fn about(&self) -> About {
        let binary = if self.binary { "binary " } else { "" };
        let mut about = About {
            format: format!("{binary}master label file, {} classes", self.dim),
            faults: self.first_incidents.clone(),
            warnings: self.warnings.clone(),
            ..About::default()
        };
        let (count, first) = (self.incidents, &self.first_incidents);
        let Some(level) = self.trace_level else {
            for error in first {
                let key = error.place().key.clone().unwrap_or_default();
                let example = format!("{key} ({}: {})", error.place(), error.message());
                about.report.add("unusable labels", example);
            }
            for _ in first.len() as u64..count {
                about.report.add("unusable labels", Key(b"").to_string());
            }
            return about;
        };
        let said = first
            .iter()
            .take(SHOWN)
            .map(|error| format!("left out: {}: {}", error.place(), error.message()));
        about.warnings.extend(said);
        let more = count.saturating_sub(SHOWN as u64);
        about.warnings.extend((more > 0).then(|| format!("{more} more utterances were left out")));
        about.warnings.retain(|_| level >= 1);
        about
    }

    fn load(&self, sequences: &[u32], blocks: &mut [Block]) -> Result<()> {
        let mut work = Work::default();
        let mut bytes = Vec::new();
        let mut rest = sequences;
        while let Some(&first) = rest.first() {
            let file = self.places[first as usize].file;
            let places = rest.iter().map(|&sequence| self.places[sequence as usize]);
            let places = places.take_while(|place| place.file == file).map(FileSpan::range);
            let (count, Range { start, end }) = run_of(places, RUN, GAP);
            let (run, behind) = rest.split_at(count);
            bytes.resize((end - start) as usize, 0);
            let data = &self.files[file as usize];
            data.read_exact_at(&mut bytes, start, "labels")
                .map_err(|error| error.of_key(self.index.key(first)))?;
            for &sequence in run {
                let place = self.places[sequence as usize];
                let from = (place.offset - start) as usize;
                let bytes = &bytes[from..from + place.bytes as usize];
                self.decode(sequence, bytes, &mut work)?;
                self.push(&mut work, &mut blocks[0]);
            }
            rest = behind;
        }
        Ok(())
    }

    fn most(&self, _stream: usize, sequences: Range<u32>) -> Most {
        // One value a frame, sparse or not.
        let samples = self.index.start(sequences.end) - self.index.start(sequences.start);
        Most { samples, values: samples }
    }

    fn most_of_one(&self, stream: usize) -> Most {
        let each = (0..self.index.len() as u32).map(|s| self.most(stream, s..s + 1));
        each.fold(Most::default(), Most::or)
    }

    fn loading_bytes(&self) -> u64 {
        // The text of labels that is read at once, and one utterance as frames.
        let text = self.places.iter().map(|place| u64::from(place.bytes));
        let (all, longest) =
            text.fold((0, 0), |(all, longest), bytes| (all + bytes, bytes.max(longest)));
        let frames = self.most_of_one(0).samples.saturating_mul(48);
        frames + longest.max(RUN + GAP).min(all + GAP)
    }

    fn held_bytes(&self) -> u64 {
        match self.streams[0].kind {
            // A value, its index, and the end of the sample's values.
            Kind::Sparse => (self.streams[0].element.size() + 4 + size_of::<usize>()) as u64,
            _ => self.streams[0].sample_bytes() as u64,
        }
    }
}

impl fmt::Debug for MlfSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MlfSource")
            .field("name", &self.name)
            .field("streams", &self.streams)
            .field("index", &self.index)
            .finish_non_exhaustive()
    }
}
