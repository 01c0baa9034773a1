//! Tables as a source of sequences.

mod load;

use std::collections::HashMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::sync::Arc;

use seqfeed_core::{
    About, Block, Damage, Element, Error, Extent, Index, IndexBuilder, JoinReport, Key, Kind,
    Problem, Remark, Result, Source, Stream, Tolerance,
};
use seqfeed_io::{Beside, Compression, Location, RxFilename};

use super::archive::{ArchiveScan, Found, header_at, inside};
use super::decode::Region;
use super::entry::{Entries, Entry, Expected, SPOOL, Skips, part};
use super::examined::TableNames;
use super::files::Files;
use super::header::Object;
use super::headers::Headers;
use super::lengths::Lengths;
use super::options::{Role, TableOptions, shown};
use super::spooler::{Spooler, read_archive};
use load::Loader;

use crate::object_reader::ObjectReader;
use crate::range::Range;
use crate::specifier::{Rspecifier, TableKind};
use crate::{OBJECT, SCRIPT, ScriptLine};

/// One or more tables that follow one another, as a [`Source`] of one stream.
///
/// Opening reads keys and headers. Objects that cannot be read twice in place (text, compressed
/// containers, pipes, standard input) are decoded once into an unnamed temporary file.
pub struct TableSource {
    name: String,
    streams: Vec<Stream>,
    pub(crate) index: Arc<Index>,
    pub(crate) expected: Expected,
    pub(crate) table: Entries,
    pub(crate) files: Files,
    pub(crate) map: bool,
    /// Whether all data can be used in place: float matrices of the stream's type, whole rows.
    in_place: bool,
    spooled_bytes: u64,
    /// Whether objects may not have been looked at, because a file states their lengths.
    stated_lengths: bool,
    counts: Counts,
    tables: Vec<TableKind>,
    report: JoinReport,
    faults: Vec<Damage>,
    names: TableNames,
}

#[derive(Clone, Copy, Default)]
struct Counts {
    matrices: u64,
    /// Matrices and vectors of 64-bit floats.
    doubles: u64,
    compressed: u64,
    vectors: u64,
    decoded: u64,
    /// Objects that were not looked at, since a file states their lengths.
    stated: u64,
}

impl TableSource {
    /// Opens tables by their rspecifiers.
    ///
    /// # Errors
    ///
    /// Fails if a name is wrong or not allowed, if a file cannot be read, or if too many objects
    /// are faulty: damaged, of another type, or with another number of columns than the first one.
    pub fn open(rspecifiers: &[impl AsRef<OsStr>], options: &TableOptions) -> Result<Self> {
        let mut opening = SourceBuilder::new(options);
        let mut tables = Vec::new();
        for text in rspecifiers {
            let rspecifier = Rspecifier::parse(text)?;
            tables.push(rspecifier.kind);
            // `p` asks to pass over unreadable objects.
            opening.skips.tolerance =
                if rspecifier.permissive { Tolerance::Skip } else { options.errors };
            let lengths = options.lengths.as_ref();
            if let (TableKind::Archive, Some(_)) = (rspecifier.kind, lengths) {
                return Err(Error::usage(format!(
                    "{}: lengths are for script files",
                    shown(&[text])
                ))
                .with_help("leave them out: an archive is read from front to back anyway"));
            }
            opening.lengths =
                lengths.map(|name| Lengths::open(name, &options.opener)).transpose()?;
            match rspecifier.kind {
                TableKind::Archive => opening.archive(&rspecifier.rxfilename),
                TableKind::Script => opening.script(&rspecifier.rxfilename),
            }
            .map_err(|error| rspecifier.explain(error))?;
        }
        opening.finish(shown(rspecifiers), tables, TableNames::new(rspecifiers, options))
    }

    /// Opens the objects that the lines of a script file lead to. The script was made of another
    /// file, such as a manifest, with a line for each of its lines. Names are looked for beside
    /// that file.
    ///
    /// # Errors
    ///
    /// The same as [`open`](Self::open). Errors have the lines of `script`, and its name.
    pub fn of_script(
        script: ObjectReader,
        file: &RxFilename,
        options: &TableOptions,
    ) -> Result<Self> {
        let mut opening = SourceBuilder::new(options);
        let name = script.name().to_owned();
        opening.script_lines(script, &Beside::of(file, &options.opener))?;
        let names: [&OsStr; 0] = [];
        opening.finish(name, vec![TableKind::Script], TableNames::new(&names, options))
    }

    /// The format of the tables in words: "kaldi archive, 8 matrices, 3 of them compressed".
    fn format(&self) -> String {
        let Counts { matrices, compressed, vectors, decoded, stated, .. } = self.counts;
        let container = match &self.tables[..] {
            [TableKind::Archive] => "kaldi archive",
            [TableKind::Script] => "kaldi script file",
            _ => "kaldi tables",
        };
        let mut text = container.to_owned();
        let parts = [
            (matrices, "matrices"),
            (compressed, "compressed matrices"),
            (vectors, "vectors"),
            (decoded, "decoded from text or a stream"),
            (stated, "of stated lengths"),
        ];
        for (count, what) in parts.into_iter().filter(|&(count, _)| count > 0) {
            text += &format!(", {count} {what}");
        }
        text
    }
}

/// A source that is being built.
struct SourceBuilder<'a> {
    options: &'a TableOptions,
    expected: Expected,
    builder: IndexBuilder,
    table: Entries,
    files: Files,
    /// By the names in the current script file, without offsets: in another script file, the same
    /// names may mean other files.
    by_name: hashbrown::HashMap<Vec<u8>, (u32, Container)>,
    by_location: HashMap<Location, (u32, Container)>,
    headers: Headers,
    lengths: Option<Lengths>,
    /// The length that is stated for the current line.
    stated: Option<u32>,
    /// The first object of each file, where lengths are known.
    first_objects: HashMap<u32, Object>,
    spooler: Spooler,
    skips: Skips,
    dim: Option<u32>,
    counts: Counts,
    in_place: bool,
}

/// Whether a file's objects can be read in place.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Container {
    Plain,
    Compressed,
}

/// The position of an object.
struct Located {
    offset: u64,
    file: u32,
    part: Region,
    /// Whether it has a range, so that it need not be all of the object.
    is_part: bool,
}

impl<'a> SourceBuilder<'a> {
    fn new(options: &'a TableOptions) -> Self {
        let extent = options.extent.unwrap_or(Extent::Samples);
        let expected = Expected { role: options.role, extent };
        Self {
            options,
            expected,
            builder: IndexBuilder::like(options.like.as_ref(), options.chunk_samples),
            table: Entries::default(),
            files: Files::new(&options.opener),
            by_name: hashbrown::HashMap::new(),
            by_location: HashMap::new(),
            headers: Headers::default(),
            lengths: None,
            stated: None,
            first_objects: HashMap::new(),
            spooler: Spooler::new(expected, options.element),
            skips: Skips::new(options.errors),
            dim: None,
            counts: Counts::default(),
            in_place: true,
        }
    }

    fn finish(
        self,
        name: String,
        tables: Vec<TableKind>,
        names: TableNames,
    ) -> Result<TableSource> {
        let Self {
            expected,
            builder,
            table,
            mut files,
            spooler,
            skips,
            dim,
            counts,
            in_place,
            options,
            ..
        } = self;
        let spooled_bytes = spooler.bytes();
        if let Some(spool) = spooler.finish() {
            files.set_spool(spool.into_data_file()?);
        }
        let stream = Stream {
            name: options.stream.clone(),
            kind: match options.role {
                Role::Features => Kind::Dense,
                Role::Labels => Kind::Label,
            },
            element: options.element,
            dim: dim.unwrap_or(1) as usize,
            extent: expected.extent,
        };
        Ok(TableSource {
            name,
            streams: vec![stream],
            index: Arc::new(builder.finish()),
            expected,
            table,
            files,
            map: options.map,
            in_place,
            spooled_bytes,
            stated_lengths: options.lengths.is_some(),
            counts,
            tables,
            report: skips.report,
            faults: skips.faults,
            names,
        })
    }

    /// Adds a sequence, if it has the same number of columns as the others.
    fn add(&mut self, key: Key<'_>, located: &Located, whole_cols: u32) -> Result<()> {
        let Region { rows, cols } = &located.part;
        if !rows.is_empty() {
            let found = cols.len() as u32;
            let expected = *self.dim.get_or_insert(found);
            if found != expected {
                let problem = Problem::CountMismatch {
                    what: "columns (the number of the first object of the table is expected)",
                    expected: expected.into(),
                    found: found.into(),
                };
                let error = Error::format(OBJECT, problem).at_byte(located.offset);
                return self.skips.absorb(key, error);
            }
        }
        let number = self.table.len() as u32;
        if found_cols(cols) != (0, whole_cols) {
            self.table.cols.insert(number, (cols.start as u32, cols.len() as u32));
            self.in_place = false;
        }
        let first_row = located.is_part.then_some(rows.start as u32);
        self.table.push(Entry { offset: located.offset, file: located.file, first_row });
        self.builder.push(key, rows.len() as u32);
        Ok(())
    }

    /// Adds an object. If it was not looked at, a file states its length.
    fn add_binary(
        &mut self,
        key: Key<'_>,
        (object, is_seen): (&Object, bool),
        (file, offset): (u32, u64),
        range: Option<&Range>,
    ) -> Result<()> {
        let shape = self.expected.shape(object)?;
        let part = part(shape, range, self.expected.extent)?;
        match is_seen {
            true => self.count(object),
            false => self.counts.stated += 1,
        }
        self.add(key, &Located { offset, file, part, is_part: range.is_some() }, shape.1)
    }

    /// Counts an object that was looked at.
    fn count(&mut self, object: &Object) {
        let width = self.options.element.size() as u32;
        if let Object::Matrix { width: 8, .. } | Object::Vector { width: 8, .. } = object {
            self.counts.doubles += 1;
        }
        match object {
            Object::Matrix { width: own, .. } => {
                self.counts.matrices += 1;
                self.in_place &= *own == width;
            }
            Object::Compressed(_) => {
                self.counts.compressed += 1;
                self.in_place = false;
            }
            _ => {
                self.counts.vectors += 1;
                self.in_place = false;
            }
        }
    }

    fn add_spooled(&mut self, key: Key<'_>, spooled: &super::spooler::Spooled) -> Result<()> {
        self.counts.decoded += 1;
        let part = Region { rows: 0..spooled.rows as usize, cols: 0..spooled.cols as usize };
        let located = Located { offset: spooled.offset, file: SPOOL, part, is_part: false };
        self.add(key, &located, spooled.cols)
    }

    fn archive(&mut self, rxfilename: &OsStr) -> Result<()> {
        let name = self.options.opener.rxfilename(rxfilename)?;
        let Some((location, offset)) = name.file_and_offset() else { return self.stream(&name) };
        let Some(file) = self.options.opener.open_plain(location)? else {
            return self.stream(&name);
        };
        let number = self.files.add(location);
        let line_limit = self.options.opener.line_limit();
        let mut scan = ArchiveScan::new(&file, offset, self.expected.is_scalar(), line_limit);
        let mut key = Vec::new();
        loop {
            match scan.next(&mut key) {
                Ok(None) => return Ok(()),
                Ok(Some(Found::Binary { header, offset })) => {
                    let place = |error: Error| error.in_file(file.name()).at_byte(offset);
                    let added =
                        self.add_binary(Key(&key), (&header.object, true), (number, offset), None);
                    if let Err(error) = added {
                        self.skips.absorb(Key(&key), place(error))?;
                    }
                }
                Ok(Some(Found::Text { key_offset })) => {
                    return self.stream(&RxFilename::at(location.clone(), key_offset));
                }
                Err(error) => {
                    let error = hint_at_script_file(error, &key);
                    return self.skips.absorb(Key(&key), error);
                }
            }
        }
    }

    /// An archive that is read from front to back.
    fn stream(&mut self, name: &RxFilename) -> Result<()> {
        let mut reader = ObjectReader::open(name, &self.options.opener)?;
        let mut spooler =
            std::mem::replace(&mut self.spooler, Spooler::new(self.expected, self.options.element));
        let mut failure = None;
        let read = read_archive(&mut reader, &mut spooler, |key, spooled| match spooled {
            Ok(spooled) => self.add_spooled(key, &spooled),
            Err(error) => {
                failure = Some((key.0.to_vec(), error));
                Ok(())
            }
        });
        self.spooler = spooler;
        read?;
        // A failed command explains missing data.
        reader.finish()?;
        match failure {
            Some((key, error)) => self.skips.absorb(Key(&key), hint_at_script_file(error, &key)),
            None => Ok(()),
        }
    }

    fn script(&mut self, rxfilename: &OsStr) -> Result<()> {
        let name = self.options.opener.rxfilename(rxfilename)?;
        let beside = Beside::of(&name, &self.options.opener);
        self.script_lines(ObjectReader::open(&name, &self.options.opener)?, &beside)
    }

    fn script_lines(&mut self, mut reader: ObjectReader, beside: &Beside) -> Result<()> {
        self.by_name.clear();
        let file = reader.name().to_owned();
        let mut line = Vec::new();
        for number in 1u64.. {
            let place = |error: Error| error.in_line_of(file.as_str(), number);
            if !reader.read_script_line(&mut line).map_err(place)? {
                break;
            }
            let parsed = ScriptLine::parse(&line).map_err(place)?;
            // No object is damaged if that file is wrong, so this is never passed over.
            self.stated = match &mut self.lengths {
                Some(lengths) => lengths.of(parsed.key)?,
                None => None,
            };
            if let Err(error) = self.script_entry(&parsed, beside) {
                self.skips.absorb(parsed.key, place(error))?;
            }
        }
        reader.finish()
    }

    fn script_entry(&mut self, line: &ScriptLine<'_>, beside: &Beside) -> Result<()> {
        let ScriptLine { key, rxfilename, range, .. } = line;
        // Most lines lead to a file that other lines led to.
        let (before, offset) = split_offset(rxfilename.as_bytes());
        let (file, container) = match self.by_name.get(before) {
            Some(&known) => known,
            None => {
                let name = parse_name(rxfilename)?;
                let Some((location, _)) = name.file_and_offset() else {
                    return self.script_stream(*key, &name, range.as_ref());
                };
                let found = self.file(location, beside)?;
                // A name with a pipe is told about without an offset, but not with one.
                if !before.contains(&b'|') {
                    self.by_name.insert(before.to_vec(), found);
                }
                found
            }
        };
        match container {
            Container::Plain => {
                self.script_object(*key, rxfilename, (file, offset), range.as_ref())
            }
            Container::Compressed => {
                let name = parse_name(rxfilename)?;
                let name = name.with_location(self.files.location(file).clone());
                self.script_stream(*key, &name, range.as_ref())
            }
        }
    }

    /// An object of a file that is not compressed.
    fn script_object(
        &mut self,
        key: Key<'_>,
        name: &OsStr,
        (file, offset): (u32, u64),
        range: Option<&Range>,
    ) -> Result<()> {
        let data = self.files.get(file)?;
        let place = |error: Error| error.in_file(data.name()).at_byte(offset);
        if offset >= data.len() {
            let allowed = format!("less than the {} bytes of the file", data.len()).into();
            let found = i64::try_from(offset).unwrap_or(i64::MAX);
            let problem = Problem::OutOfRange { what: "the offset", found, allowed };
            return Err(place(Error::format(SCRIPT, problem))
                .with_help("was the archive written again after the script file?"));
        }
        if let Some(object) = self.object_of_length(file, range) {
            return self.add_binary(key, (&object, false), (file, offset), range).map_err(place);
        }
        let bytes = self.headers.at(file, &data, offset)?;
        if bytes.first() != Some(&0) {
            let name = parse_name(name)?.with_location(self.files.location(file).clone());
            let read = self.script_stream(key, &name, range);
            return read.map_err(|error| match offset {
                0 => place(error).with_help(
                    "if this is an archive, the script file must say where in it the object is \
                     (name:offset)",
                ),
                _ => place(error).with_help(
                    "does the offset point to the beginning of an object? was the archive written \
                     again after the script file?",
                ),
            });
        }
        let header = header_at(bytes, self.expected.is_scalar()).map_err(place)?;
        inside(&data, &header, offset)?;
        if self.lengths.is_some() {
            self.first_objects.entry(file).or_insert(header.object);
        }
        self.add_binary(key, (&header.object, true), (file, offset), range).map_err(place)
    }

    /// An object whose length is stated: the first one of its file, with that length. It is looked
    /// at when it is loaded. `None` if its header must be read now.
    fn object_of_length(&self, file: u32, range: Option<&Range>) -> Option<Object> {
        let rows = self.stated.filter(|_| range.is_none())?;
        self.first_objects.get(&file)?.of_rows(rows)
    }

    /// An object that is read from front to back.
    fn script_stream(
        &mut self,
        key: Key<'_>,
        name: &RxFilename,
        range: Option<&Range>,
    ) -> Result<()> {
        let mut reader = ObjectReader::open(name, &self.options.opener.of_contents())?;
        let spooled = self.spooler.read(&mut reader, range);
        reader.finish()?;
        self.add_spooled(key, &spooled?)
    }

    /// The number of a file that a script file names. The name is relative to the working
    /// directory, as in Kaldi. If there is no such file, it is relative to the script file or to
    /// the directory of the description.
    fn file(&mut self, name: &Location, beside: &Beside) -> Result<(u32, Container)> {
        let mut found = beside.find(name);
        let opener = &self.options.opener;
        if self.options.or_compressed && !opener.exists(&found) {
            let places = beside.places(name);
            let mut compressed =
                places.flat_map(|place| [".gz", ".bz2"].map(|end| place.with_end(end)));
            found = compressed.find(|place| opener.exists(place)).unwrap_or(found);
        }
        if let Some(&known) = self.by_location.get(&found) {
            return Ok(known);
        }
        let number = self.files.add(&found);
        let container = match self.files.get(number)?.compression()? {
            Compression::None => Container::Plain,
            _ => Container::Compressed,
        };
        self.by_location.insert(found, (number, container));
        Ok((number, container))
    }
}

/// The name of an object in a script file. A wrong one is the fault of that file, not of the
/// caller.
fn parse_name(name: &OsStr) -> Result<RxFilename> {
    RxFilename::parse(name).map_err(|error| {
        let wrong = Error::format(SCRIPT, Problem::Unsupported(error.message().into()));
        match error.help() {
            Some(help) => wrong.with_help(help.to_owned()),
            None => wrong,
        }
    })
}

/// The part of a name before the offset, and the offset; 0 if there is none, or if it is one that
/// is better refused.
fn split_offset(name: &[u8]) -> (&[u8], u64) {
    let digits = name.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
    let (before, offset) = name.split_at(name.len() - digits);
    match before.strip_suffix(b":") {
        Some(before) if (1..=18).contains(&digits) => {
            let digits = offset.iter().map(|digit| u64::from(digit - b'0'));
            (before, digits.fold(0, |offset, digit| 10 * offset + digit))
        }
        _ => (name, 0),
    }
}

fn found_cols(cols: &std::ops::Range<usize>) -> (u32, u32) {
    (cols.start as u32, cols.len() as u32)
}

/// A hint for a script file that was opened as an archive: it fails at its first line.
fn hint_at_script_file(error: Error, key: &[u8]) -> Error {
    if key.is_empty() {
        return error;
    }
    error.with_help("is this a script file? open it with `scp:` instead of `ark:`")
}

impl Source for TableSource {
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
        let narrowed = self.counts.doubles > 0 && self.streams[0].element == Element::F32;
        About {
            format: self.format(),
            report: self.report.clone(),
            faults: self.faults.clone(),
            spooled_bytes: self.spooled_bytes,
            narrowed: narrowed.then(|| self.streams[0].name.clone()).into_iter().collect(),
            ..About::default()
        }
    }

    fn examine(&self) -> Result<Vec<Remark>> {
        self.names.examine(self)
    }

    fn load(&self, sequences: &[u32], blocks: &mut [Block]) -> Result<()> {
        if self.held_bytes() > 0 {
            let rows = |&sequence: &u32| self.index.samples(sequence) as usize;
            blocks[0].reserve(sequences.iter().map(rows).sum());
        }
        let mut loader = Loader::new(self, &mut blocks[0]);
        for &sequence in sequences {
            loader.load(sequence).map_err(|error| error.of_key(self.index.key(sequence)))?;
        }
        Ok(())
    }

    fn is_held(&self, _stream: usize) -> bool {
        !(self.map && self.in_place)
    }

    fn loading_bytes(&self) -> u64 {
        // An object while it is decoded: at most 8 bytes a value.
        self.most_of_one(0).values.saturating_mul(8)
    }

    fn held_bytes(&self) -> u64 {
        match self.map && self.in_place {
            true => 0,
            false => self.streams[0].sample_bytes() as u64,
        }
    }
}
