//! Tables of waves as a source of sequences.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::sync::Arc;

use seqfeed_core::{
    About, Block, Element, Error, Extent, Index, IndexBuilder, JoinReport, Key, Kind, Problem,
    Remark, Result, SampleRates, Source, Stream, Tolerance,
};
use seqfeed_io::{Beside, Compression, Input, Location, RxFilename, Spool};

use super::entry::{SPOOL, Skips};
use super::examined::TableNames;
use super::files::Files;
use super::options::{TableOptions, shown};
use crate::holder::{Holder, Mode};
use crate::object_reader::ObjectReader;
use crate::objects::wave::{Wave, decode};
use crate::objects::wave_header::{Encoding, WAVE, WaveHeader};
use crate::specifier::{Rspecifier, TableKind};
use crate::{SCRIPT, ScriptLine};

/// Bytes of a file that are read to find a header. A longer header is read again.
const HEAD: usize = 4096;
/// Bytes by which a wave is recognised: `RIFF`, a size, `WAVE`.
const MAGIC: usize = 12;

/// One or more tables of waves that follow one another, as a [`Source`] of one dense stream. Each
/// sample of the sound is a sample, with one value for each channel.
///
/// Values are those of [`Wave`]: floats with the range of 16-bit integers, whatever the encoding.
/// Opening reads headers; samples are read on demand. Waves from pipes and compressed files are
/// decoded once into an unnamed temporary file.
///
/// ```
/// use seqfeed_core::{Element, Extent, Source, Tolerance};
/// use seqfeed_kaldi::{
///     Matrix, Mode, Role, TableOptions, Wave, WaveSource, write_object,
/// };
/// # let directory = tempfile::tempdir().unwrap();
/// # let path = directory.path().join("wav.ark");
///
/// let samples = Matrix { rows: 2, cols: 3, values: vec![1.0, 2.0, 3.0, -1.0, -2.0, -3.0] };
/// let wave = Wave { sample_rate: 8000.0, samples, warnings: Vec::new() };
/// let mut archive = b"utt1 ".to_vec();
/// write_object(&wave, &mut archive, Mode::Binary)?;
/// std::fs::write(&path, archive).unwrap();
///
/// let options = TableOptions::new("audio", Role::Features, Element::F32);
/// let source = WaveSource::open(&[format!("ark:{}", path.display())], &options)?;
/// assert_eq!((source.index().samples(0), source.streams()[0].dim), (3, 2));
/// assert_eq!(source.sample_rate(0), 8000);
/// let mut blocks = source.new_blocks();
/// source.load(&[0], &mut blocks)?;
/// assert_eq!(blocks[0].samples(0).row(1), [2.0f32, -2.0].map(f32::to_ne_bytes).as_flattened());
/// # Ok::<(), seqfeed_core::Error>(())
/// ```
pub struct WaveSource {
    name: String,
    streams: Vec<Stream>,
    index: Arc<Index>,
    entries: Vec<Entry>,
    files: Files,
    format: String,
    spooled_bytes: u64,
    report: JoinReport,
    warnings: Vec<String>,
    names: TableNames,
}

/// The position of a wave's samples.
#[derive(Clone, Copy)]
struct Entry {
    offset: u64,
    file: u32,
    rate: u32,
    encoding: Encoding,
    big_endian: bool,
}

impl WaveSource {
    /// Whether the first object of a table is a wave. If it is a command, the command is run, if
    /// the opener allows it.
    #[must_use]
    pub fn is_wave(rspecifiers: &[impl AsRef<OsStr>], options: &TableOptions) -> bool {
        let first = || -> Result<bool> {
            let Some(text) = rspecifiers.first() else { return Ok(false) };
            let rspecifier = Rspecifier::parse(text)?;
            let name = options.opener.rxfilename(&rspecifier.rxfilename)?;
            // Reading it takes nothing away from the later reader.
            if !options.opener.is_file(name.location()) {
                return Ok(false);
            }
            let mut input = Input::open(&name, &options.opener)?;
            let mut reader = match rspecifier.kind {
                TableKind::Archive => {
                    let mut reader = ObjectReader::new(input);
                    if !reader.read_key(&mut Vec::new())? {
                        return Ok(false);
                    }
                    reader
                }
                TableKind::Script => {
                    let mut line = Vec::new();
                    input.next_line(&mut line)?;
                    let line = ScriptLine::parse(&line)?;
                    let beside = Beside::of(&name, &options.opener);
                    let name = RxFilename::parse(line.rxfilename)?;
                    let name = name.with_location(beside.find(name.location()));
                    ObjectReader::open(&name, &options.opener.of_contents())?
                }
            };
            let head = reader.ensure(MAGIC)?;
            let riff = head.starts_with(b"RIFF") || head.starts_with(b"RIFX");
            Ok(riff && head.get(8..MAGIC) == Some(b"WAVE"))
        };
        // Opening it will report the error.
        first().unwrap_or(false)
    }

    /// Opens tables by their rspecifiers.
    ///
    /// # Errors
    ///
    /// Fails if a name is wrong or not allowed; if a file cannot be read; if too many waves are
    /// damaged, or differ from the first one in the number of channels; or if another type than
    /// floats is asked for.
    pub fn open(rspecifiers: &[impl AsRef<OsStr>], options: &TableOptions) -> Result<Self> {
        let floats = matches!(options.element, Element::F32 | Element::F64);
        if !floats || !matches!(options.extent, None | Some(Extent::Samples)) {
            return Err(Error::usage(format!("stream {}: these are waves", options.stream))
                .with_help("waves are dense streams of samples"));
        }
        let mut opening = SourceBuilder::new(options);
        for text in rspecifiers {
            let rspecifier = Rspecifier::parse(text)?;
            opening.skips.tolerance =
                if rspecifier.permissive { Tolerance::Skip } else { options.errors };
            match rspecifier.kind {
                TableKind::Archive => opening.archive(&rspecifier.rxfilename)?,
                TableKind::Script => opening.script(&rspecifier.rxfilename)?,
            }
        }
        let SourceBuilder { builder, entries, mut files, spool, skips, channels, warnings, .. } =
            opening;
        let spooled_bytes = spool.as_ref().map_or(0, Spool::position);
        if let Some(spool) = spool {
            files.set_spool(spool.into_data_file()?);
        }
        let stream = Stream {
            name: options.stream.clone(),
            kind: Kind::Dense,
            element: options.element,
            dim: channels.map_or(1, usize::from),
            extent: Extent::Samples,
        };
        let rates = entries.iter().map(|entry| entry.rate);
        let mut format = match (rates.clone().min(), rates.max()) {
            (Some(least), Some(most)) if least == most => format!("waves at {least} Hz"),
            (Some(least), Some(most)) => format!("waves at {least} to {most} Hz"),
            _ => "waves".to_owned(),
        };
        if !warnings.is_empty() {
            format += &format!(", {} wrong sizes in headers", warnings.len());
        }
        Ok(Self {
            name: shown(rspecifiers),
            streams: vec![stream],
            index: Arc::new(builder.finish()),
            entries,
            files,
            format,
            spooled_bytes,
            report: skips.report,
            warnings,
            names: TableNames::new(rspecifiers, options),
        })
    }

    /// Samples a second of a sequence.
    ///
    /// # Panics
    ///
    /// If there is no such sequence.
    #[must_use]
    pub fn sample_rate(&self, sequence: u32) -> u32 {
        self.entries[sequence as usize].rate
    }
}

impl Source for WaveSource {
    fn name(&self) -> &str {
        &self.name
    }

    fn streams(&self) -> &[Stream] {
        &self.streams
    }

    fn index(&self) -> &Arc<Index> {
        &self.index
    }

    fn about(&self) -> About {
        let rates = SampleRates::of(&self.index, |sequence| self.sample_rate(sequence));
        let rate = (!self.index.is_empty()).then(|| self.sample_rate(0));
        About {
            format: self.format.clone(),
            report: self.report.clone(),
            warnings: self.warnings.clone(),
            spooled_bytes: self.spooled_bytes,
            frame_shift: rate.map(|rate| 1.0 / f64::from(rate)),
            sample_rates: rates
                .map(|rates| (self.streams[0].name.clone(), rates))
                .into_iter()
                .collect(),
            ..About::default()
        }
    }

    fn examine(&self) -> Result<Vec<Remark>> {
        self.names.examine(self)
    }

    fn load(&self, sequences: &[u32], blocks: &mut [Block]) -> Result<()> {
        let samples = sequences.iter().map(|&sequence| self.index.samples(sequence) as usize).sum();
        blocks[0].reserve(samples);
        let (channels, mut bytes, mut values) = (self.streams[0].dim, Vec::new(), Vec::new());
        for &sequence in sequences {
            let entry = self.entries[sequence as usize];
            let samples = self.index.samples(sequence) as usize;
            let mut read = || -> Result<()> {
                let file = self.files.get(entry.file)?;
                bytes.resize(samples * channels * entry.encoding.bytes(), 0);
                file.read_exact_at(&mut bytes, entry.offset, "the samples of a wave")
            };
            read().map_err(|error| error.of_key(self.index.key(sequence)))?;
            values.clear();
            decode(entry.encoding, entry.big_endian, &bytes, &mut values);
            match blocks[0].element() {
                Element::F64 => {
                    let out = blocks[0].push_f64(samples).iter_mut();
                    out.zip(&values).for_each(|(out, &value)| *out = value.into());
                }
                _ => blocks[0].push_f32(samples).copy_from_slice(&values),
            }
        }
        Ok(())
    }

    fn loading_bytes(&self) -> u64 {
        // The samples of a wave as in the file, and as floats. Their memory grows from wave to
        // wave.
        self.most_of_one(0).values.saturating_mul(8 + 2 * size_of::<f32>() as u64)
    }
}

impl std::fmt::Debug for WaveSource {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("WaveSource")
            .field("name", &self.name)
            .field("format", &self.format)
            .field("index", &self.index)
            .finish_non_exhaustive()
    }
}

/// A source that is being built.
struct SourceBuilder<'a> {
    options: &'a TableOptions,
    builder: IndexBuilder,
    entries: Vec<Entry>,
    files: Files,
    by_name: HashMap<Location, u32>,
    spool: Option<Spool>,
    skips: Skips,
    channels: Option<u16>,
    warnings: Vec<String>,
}

impl<'a> SourceBuilder<'a> {
    fn new(options: &'a TableOptions) -> Self {
        Self {
            options,
            builder: IndexBuilder::like(options.like.as_ref(), options.chunk_samples),
            entries: Vec::new(),
            files: Files::new(&options.opener),
            by_name: HashMap::new(),
            spool: None,
            skips: Skips::new(options.errors),
            channels: None,
            warnings: Vec::new(),
        }
    }

    /// Adds a wave whose samples lie in a file, with `there` bytes.
    fn add(
        &mut self,
        key: Key<'_>,
        header: &WaveHeader,
        (file, offset): (u32, u64),
        there: u64,
    ) -> Result<()> {
        let said = header.data.unwrap_or(there);
        if said > there {
            self.warnings.push(format!(
                "{key}: the header says {said} bytes of samples, there are {there}: is the file cut short?"
            ));
        }
        let samples = said.min(there) / header.align();
        let wrong = |problem| Err(Error::format(WAVE, problem));
        if samples == 0 {
            return wrong(Problem::Unsupported("a wave without samples".into()));
        }
        let Ok(samples) = u32::try_from(samples) else {
            return wrong(Problem::Unsupported("a wave of 2^32 samples or more".into()));
        };
        let expected = *self.channels.get_or_insert(header.channels);
        if header.channels != expected {
            return wrong(Problem::CountMismatch {
                what: "channels (the number of the first wave of the table is expected)",
                expected: expected.into(),
                found: header.channels.into(),
            });
        }
        self.warnings.extend(header.warnings.iter().map(|warning| format!("{key}: {warning}")));
        let (encoding, big_endian, rate) = (header.encoding, header.big_endian, header.rate);
        self.entries.push(Entry { offset, file, rate, encoding, big_endian });
        self.builder.push(key, samples);
        Ok(())
    }

    fn archive(&mut self, rxfilename: &OsStr) -> Result<()> {
        let name = self.options.opener.rxfilename(rxfilename)?;
        let location = name.location();
        let plain = match location.is_seekable() {
            true => self.options.opener.open_plain(location)?,
            false => None,
        };
        let file = plain.map(|file| (self.files.add(location), file.len()));
        let mut reader = ObjectReader::open(&name, &self.options.opener)?;
        let mut key = Vec::new();
        while reader.read_key(&mut key)? {
            let read = match file {
                Some(file) => self.in_place(&mut reader, Key(&key), file),
                None => self.spooled(&mut reader, Key(&key)),
            };
            if let Err(error) = read {
                // After a wave that cannot be read nothing more can be found.
                return self.skips.absorb(Key(&key), error);
            }
        }
        reader.finish()
    }

    /// Adds the wave of an archive at the reader's position, and skips it.
    fn in_place(
        &mut self,
        reader: &mut ObjectReader,
        key: Key<'_>,
        (file, len): (u32, u64),
    ) -> Result<()> {
        let at = reader.position();
        let header = WaveHeader::read(reader)?;
        let offset = reader.position();
        let there = len.saturating_sub(offset);
        let place = |error: Error| error.in_file(reader.name()).at_byte(at);
        self.add(key, &header, (file, offset), there).map_err(place)?;
        let data = header.data.unwrap_or(there).min(there);
        reader.skip_bytes(data, "a wave")?;
        header.skip_behind(reader)
    }

    /// Decodes the wave at the reader's position into the spool.
    fn spooled(&mut self, reader: &mut ObjectReader, key: Key<'_>) -> Result<()> {
        let at = reader.position();
        let wave = Wave::read(reader, Mode::Binary)?;
        let (channels, samples) = (wave.samples.rows, wave.samples.cols);
        let header = WaveHeader {
            big_endian: cfg!(target_endian = "big"),
            encoding: Encoding::Values,
            rate: wave.sample_rate as u32,
            // The header could not hold more channels.
            channels: channels as u16,
            data: None,
            behind: 0,
            warnings: wave.warnings,
        };
        let spool = match &mut self.spool {
            Some(spool) => spool,
            none => none.insert(Spool::new()?),
        };
        let offset = spool.position();
        let values = &wave.samples.values;
        let mut bytes = Vec::with_capacity(values.len() * 4);
        for sample in 0..samples {
            for channel in 0..channels {
                bytes.extend_from_slice(&values[channel * samples + sample].to_ne_bytes());
            }
        }
        spool.write_all(&bytes)?;
        let added = self.add(key, &header, (SPOOL, offset), bytes.len() as u64);
        added.map_err(|error| error.in_file(reader.name()).at_byte(at))
    }

    fn script(&mut self, rxfilename: &OsStr) -> Result<()> {
        let name = self.options.opener.rxfilename(rxfilename)?;
        let beside = Beside::of(&name, &self.options.opener);
        let mut reader = ObjectReader::open(&name, &self.options.opener)?;
        let file = reader.name().to_owned();
        let mut line = Vec::new();
        for number in 1u64.. {
            let place = |error: Error| error.in_line_of(file.as_str(), number);
            if !reader.read_script_line(&mut line).map_err(place)? {
                break;
            }
            let parsed = ScriptLine::parse(&line).map_err(place)?;
            if let Err(error) = self.script_entry(&parsed, &beside) {
                self.skips.absorb(parsed.key, place(error))?;
            }
        }
        reader.finish()
    }

    fn script_entry(&mut self, line: &ScriptLine<'_>, beside: &Beside) -> Result<()> {
        let wrong = |what: String| Error::format(SCRIPT, Problem::Unsupported(what.into()));
        if line.range.is_some() {
            return Err(wrong("a range of a wave".to_owned())
                .with_help("cut it, for instance with extract-segments"));
        }
        let name = RxFilename::parse(line.rxfilename).map_err(|error| wrong(error.message()))?;
        let Some((file, offset)) = name.file_and_offset() else {
            return self.script_stream(line.key, &name);
        };
        let name = name.with_location(beside.find(file));
        let number = match self.by_name.get(name.location()) {
            Some(&number) => number,
            None => {
                let number = self.files.add(name.location());
                self.by_name.insert(name.location().clone(), number);
                number
            }
        };
        let data = self.files.get(number)?;
        let mut head = vec![0; HEAD];
        let read = data.read_at(&mut head, offset)?;
        if offset == 0 && Compression::detect(&head[..read]) != Compression::None {
            return self.script_stream(line.key, &name);
        }
        head.truncate(read);
        let place = |error: Error| error.in_file(data.name()).at_byte(offset);
        let mut reader = ObjectReader::from_bytes(data.name(), head);
        let (header, start) = match WaveHeader::read(&mut reader) {
            Ok(header) => (header, reader.position()),
            // The chunks before the samples may be long.
            Err(_) if read == HEAD => {
                let mut reader = ObjectReader::open(&name, &self.options.opener.of_contents())?;
                let first = reader.position();
                let header = WaveHeader::read(&mut reader)?;
                (header, reader.position() - first)
            }
            Err(error) if offset > 0 => return Err(place(error)),
            Err(error) => return Err(error),
        };
        let there = data.len().saturating_sub(offset + start);
        self.add(line.key, &header, (number, offset + start), there).map_err(place)
    }

    /// A wave that is read from front to back.
    fn script_stream(&mut self, key: Key<'_>, name: &RxFilename) -> Result<()> {
        let mut reader = ObjectReader::open(name, &self.options.opener.of_contents())?;
        let read = self.spooled(&mut reader, key);
        // A failed command explains missing data.
        reader.finish()?;
        read
    }
}
