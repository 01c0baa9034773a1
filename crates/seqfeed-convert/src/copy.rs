//! Copies of Kaldi's tables, with objects of any type.

use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::io::{BufRead, Read as _};

use seqfeed_core::{Error, Key, Result};
use seqfeed_io::{Input, InputFiles, Opener, Output, RxFilename, WxFilename};
use seqfeed_kaldi::{
    AnyObject, CompressedMatrix, CompressionMethod, Mode, ObjectType, RandomAccessReader,
    ReadOptions, ReadReport, Rspecifier, ScriptLine, SequentialReader, TableKind, TableType,
    TableWriter, WriteReport, Wspecifier,
};

use crate::Target;

/// Options of a copy.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct CopyOptions {
    /// The type of the objects. By default it is found from the data.
    pub object_type: Option<ObjectType>,
    /// The compression of matrices.
    pub compress: Option<CompressionMethod>,
    /// Whether to write text, as the option `t` of a wspecifier does.
    pub text: bool,
    /// The keys to copy; by default all.
    pub select: Option<HashSet<Vec<u8>>>,
    /// Keys not to copy.
    pub exclude: HashSet<Vec<u8>>,
    /// Whether to copy in ascending order of keys (by bytes, as in Kaldi with `LC_ALL=C`).
    pub sort: bool,
    /// The number of objects to copy, from the first on.
    pub head: Option<u64>,
    /// The number of tables to write. Each is a run of about equally many objects; their names are
    /// numbered.
    pub split: Option<usize>,
    /// Opens names, and says whether they may be commands.
    pub opener: Opener,
    /// Further files that are read and must not be overwritten. The files of the table are known.
    pub inputs: InputFiles,
}

/// The report of a copy.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CopyReport {
    /// The objects and bytes written, of all tables together.
    pub written: WriteReport,
    /// Objects that were present but not asked for.
    pub left_out: u64,
    /// Unreadable objects that were passed over because of the option `p`.
    pub skipped: u64,
    /// The first errors of these, in words.
    pub damage: Vec<String>,
    /// Keys that were asked for but are missing. Not known if only the first objects were looked
    /// at.
    pub missing: Vec<Vec<u8>>,
    /// The type of the table, if the objects do not say their type themselves.
    pub table_type: Option<TableType>,
}

/// Copies a table. Its objects may be of any type, and of several. One object is in memory at a
/// time; with [`sort`](CopyOptions::sort), the keys and positions of all objects are too.
///
/// Tables appear under their names when all of them are whole. `progress` is called for each object
/// that was written.
///
/// ```
/// use seqfeed::io::Opener;
/// use seqfeed_convert::{CopyOptions, copy_table};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let directory = tempfile::tempdir()?;
/// # let path = |name: &str| directory.path().join(name).display().to_string();
/// std::fs::write(path("a.txt"), "b 4 5\na 1 2 3\n")?;
/// let (from, to) = (format!("ark:{}", path("a.txt")), format!("ark:{}", path("b.txt")));
/// let mut options = CopyOptions::default();
/// (options.text, options.sort) = (true, true);
/// let report = copy_table(&from, &to, &options, &mut || {})?;
/// assert_eq!(report.written.objects, 2);
/// assert_eq!(std::fs::read_to_string(path("b.txt"))?, "a 1 2 3 \nb 4 5 \n");
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// Fails if specifiers are wrong; if a file would be written that is read or written already; or if
/// objects cannot be read, written or compressed (since they are not matrices). Also fails if the
/// objects may be of several types, and the output depends on the type; when sorting, if a key
/// stands twice; when splitting, if the table can be read only once.
pub fn copy_table(
    from: &(impl AsRef<OsStr> + ?Sized),
    to: &(impl AsRef<OsStr> + ?Sized),
    options: &CopyOptions,
    progress: &mut dyn FnMut(),
) -> Result<CopyReport> {
    let (from, to) = (from.as_ref(), to.as_ref());
    let to = match options.text {
        true => as_text(to)?,
        false => to.to_owned(),
    };
    let inputs = InputFiles::record();
    let reading = ReadOptions {
        opener: options.opener.clone(),
        object_type: options.object_type,
        written_as: Some(if Wspecifier::parse(&to)?.text { Mode::Text } else { Mode::Binary }),
        ..ReadOptions::default()
    };
    let parts = options.split.unwrap_or(1);
    if parts == 0 {
        return Err(Error::usage("a table cannot be split into no tables"));
    }
    if parts > MOST_TABLES {
        return Err(Error::usage(format!(
            "a table can be split into {MOST_TABLES} tables at most, not {parts}"
        )));
    }
    // Names are checked before anything is read.
    let names: Vec<OsString> = (0..parts)
        .map(|part| match parts {
            1 => Ok(to.clone()),
            _ => Target::parse(&to)?.numbered_table(part, parts),
        })
        .collect::<Result<_>>()?;
    let outputs = Outputs::new(&names, &[options.inputs.clone(), inputs])?;
    look_at_entries(from, &outputs)?;
    let mut choice = Choice::new(options);
    if options.sort {
        return sorted(from, names, outputs, &reading, choice, progress);
    }
    let each = match parts {
        1 => u64::MAX,
        _ => {
            let total = count(from, &reading, options)?;
            if total < parts as u64 {
                return Err(Error::usage(format!(
                    "{total} objects cannot be split into {parts} tables"
                )));
            }
            total
        }
    };
    let mut reader = SequentialReader::<AnyObject>::open_with(from, &reading)?;
    let mut writing = Writing::new(names, outputs, each, options)?;
    let (mut key, mut object) = (Vec::new(), AnyObject::default());
    while choice.goes_on() && reader.next_into(&mut key, &mut object)? {
        if choice.takes(&key) {
            writing.write(Key(&key), &object)?;
            progress();
        }
    }
    let complete = choice.goes_on();
    let table_type = reader.table_type().cloned();
    let read = if complete { reader.close()? } else { reader.report().clone() };
    let written = writing.finish()?;
    let report = choice.report(written, &read, complete);
    Ok(CopyReport { table_type, ..report })
}

/// The outputs, to be compared with the inputs.
struct Outputs {
    names: Vec<WxFilename>,
    inputs: [InputFiles; 2],
}

impl Outputs {
    /// The outputs of the wspecifiers. The names in script files come later.
    fn new(wspecifiers: &[OsString], inputs: &[InputFiles; 2]) -> Result<Self> {
        let mut names = Vec::new();
        for wspecifier in wspecifiers {
            let table = Wspecifier::parse(wspecifier)?;
            // A script file alone is an input.
            let script = table.archive.is_some().then_some(table.script).flatten();
            for name in table.archive.iter().chain(&script) {
                names.push(WxFilename::parse(name)?);
            }
        }
        let outputs = Self { names, inputs: inputs.clone() };
        outputs.check()?;
        Ok(outputs)
    }

    /// Fails if one of them is an input or is another output.
    fn check(&self) -> Result<()> {
        self.inputs.iter().try_for_each(|inputs| inputs.check_outputs(&self.names))
    }
}

/// The most tables for a split: each has a name before anything is read.
const MOST_TABLES: usize = 1 << 20;

/// The most bytes of a line of a script file that is looked at.
const MOST_OF_LINE: usize = 64 << 10;

/// Opens the files that a table is read from, if their names can be read before. Then they are
/// known as inputs.
fn look_at_entries(from: &OsStr, outputs: &Outputs) -> Result<()> {
    let table = Rspecifier::parse(from)?;
    let (name, opener) = (RxFilename::parse(&table.rxfilename)?, Opener::default());
    let location = name.location();
    if !opener.is_file(location) {
        return Ok(());
    }
    if table.kind == TableKind::Archive {
        // A file that cannot be opened fails when it is read.
        let _ = opener.open(location);
        return outputs.check();
    }
    let mut script = Input::open(&location.clone().into(), &opener)?;
    let (mut before, mut line) = (None, Vec::new());
    // A line that is too long, or cannot be read, fails when the table is read.
    while let Ok(1..=MOST_OF_LINE) = {
        line.clear();
        (&mut script).take(MOST_OF_LINE as u64 + 1).read_until(b'\n', &mut line)
    } {
        let text = line.strip_suffix(b"\n").unwrap_or(&line);
        let Ok(line) = ScriptLine::parse(text) else { continue };
        let Ok(name) = RxFilename::parse(&line.rxfilename) else { continue };
        let Some((location, _)) = name.file_and_offset() else { continue };
        if before.as_ref() != Some(location) && opener.is_file(location) {
            let _ = opener.open(location);
        }
        before = Some(location.clone());
    }
    outputs.check()
}

fn sorted(
    from: &OsStr,
    names: Vec<OsString>,
    outputs: Outputs,
    reading: &ReadOptions,
    mut choice: Choice<'_>,
    progress: &mut dyn FnMut(),
) -> Result<CopyReport> {
    let mut reader = RandomAccessReader::<AnyObject>::open_with(from, reading)?;
    let mut keys = reader.sorted_keys()?;
    keys.retain(|key| choice.goes_on() && choice.takes(key));
    if keys.len() < names.len() && names.len() > 1 {
        let (objects, parts) = (keys.len(), names.len());
        return Err(Error::usage(format!("{objects} objects cannot be split into {parts} tables")));
    }
    let mut writing = Writing::new(names, outputs, keys.len() as u64, choice.options)?;
    for key in &keys {
        // With `p` an unreadable object counts as missing, and stands in the report.
        if let Some(object) = reader.get(Key(key))? {
            writing.write(Key(key), object)?;
            progress();
        }
    }
    let complete = choice.goes_on();
    let table_type = reader.table_type().cloned();
    let read = if complete { reader.close()? } else { reader.report().clone() };
    let written = writing.finish()?;
    Ok(CopyReport { table_type, ..choice.report(written, &read, complete) })
}

/// The number of objects that will be copied. Reads no more than keys and headers.
fn count(from: &OsStr, reading: &ReadOptions, options: &CopyOptions) -> Result<u64> {
    let name = RxFilename::parse(&Rspecifier::parse(from)?.rxfilename)?;
    if !name.location().is_seekable() {
        return Err(Error::usage(
            "a table is read twice to be split, and this one can be read once",
        )
        .in_file(name.to_string())
        .with_help("copy it to a file first"));
    }
    let mut reader = SequentialReader::<AnyObject>::open_with(from, reading)?;
    let (mut key, mut choice) = (Vec::new(), Choice::new(options));
    while choice.goes_on() && reader.next_key(&mut key)? {
        choice.takes(&key);
    }
    Ok(choice.taken)
}

/// The objects to copy.
struct Choice<'a> {
    options: &'a CopyOptions,
    taken: u64,
    left_out: u64,
    /// Keys that were asked for and found.
    found: HashSet<Vec<u8>>,
}

impl<'a> Choice<'a> {
    fn new(options: &'a CopyOptions) -> Self {
        Self { options, taken: 0, left_out: 0, found: HashSet::new() }
    }

    fn goes_on(&self) -> bool {
        self.options.head.is_none_or(|head| self.taken < head)
    }

    fn takes(&mut self, key: &[u8]) -> bool {
        let CopyOptions { select, exclude, .. } = self.options;
        let selected = select.as_ref().is_none_or(|select| select.contains(key));
        if selected && select.is_some() && !self.found.contains(key) {
            self.found.insert(key.to_vec());
        }
        let taken = selected && !exclude.contains(key);
        *(if taken { &mut self.taken } else { &mut self.left_out }) += 1;
        taken
    }

    fn report(self, written: WriteReport, read: &ReadReport, complete: bool) -> CopyReport {
        let wanted = self.options.select.iter().flatten();
        let mut missing: Vec<Vec<u8>> = match complete {
            true => wanted.filter(|key| !self.found.contains(*key)).cloned().collect(),
            false => Vec::new(),
        };
        missing.sort_unstable();
        let left_out = self.left_out;
        let damage = read.errors.iter().map(ToString::to_string).collect();
        let skipped = read.skipped;
        CopyReport { written, left_out, skipped, damage, missing, table_type: None }
    }
}

/// The tables that are written one after another.
struct Writing<'a> {
    names: std::vec::IntoIter<OsString>,
    to_be: Outputs,
    parts: u64,
    /// The number of all objects. Not needed for a single table.
    total: u64,
    part: u64,
    objects: u64,
    writer: TableWriter<AnyObject>,
    /// Tables that are whole, but have no names yet.
    outputs: Vec<Output>,
    written: WriteReport,
    options: &'a CopyOptions,
}

impl<'a> Writing<'a> {
    fn new(
        names: Vec<OsString>,
        mut to_be: Outputs,
        total: u64,
        options: &'a CopyOptions,
    ) -> Result<Self> {
        let parts = names.len() as u64;
        let mut names = names.into_iter();
        let first = names.next().unwrap_or_default();
        // The inputs are known by now, unless their names come through a pipe.
        to_be.check()?;
        let writer = TableWriter::create(&first, &options.opener)?;
        to_be.names.extend_from_slice(writer.object_names());
        to_be.check()?;
        let (outputs, written) = (Vec::new(), WriteReport::default());
        let (part, objects) = (0, 0);
        Ok(Self { names, to_be, parts, total, part, objects, writer, outputs, written, options })
    }

    fn write(&mut self, key: Key<'_>, object: &AnyObject) -> Result<()> {
        let end =
            (u128::from(self.total) * u128::from(self.part + 1) / u128::from(self.parts)) as u64;
        if self.objects == end
            && let Some(name) = self.names.next()
        {
            let next = TableWriter::create(&name, &self.options.opener)?;
            let whole = std::mem::replace(&mut self.writer, next).into_outputs()?;
            put_away(whole, &mut self.written, &mut self.outputs);
            self.part += 1;
        }
        self.objects += 1;
        match self.options.compress {
            None => self.writer.write(key, object),
            Some(method) => {
                let object = compressed(object, method).map_err(|error| error.of_key(key))?;
                self.writer.write(key, &object)
            }
        }
    }

    fn finish(mut self) -> Result<WriteReport> {
        let whole = self.writer.into_outputs()?;
        put_away(whole, &mut self.written, &mut self.outputs);
        self.to_be.check()?;
        Output::finish_together(self.outputs)?;
        Ok(self.written)
    }
}

/// Keeps a table that is whole until all tables are.
fn put_away(
    (report, files): (WriteReport, Vec<Output>),
    written: &mut WriteReport,
    outputs: &mut Vec<Output>,
) {
    written.objects += report.objects;
    written.skipped += report.skipped;
    written.bytes += report.bytes;
    outputs.extend(files);
}

fn compressed(object: &AnyObject, method: CompressionMethod) -> Result<AnyObject> {
    let compressed = match object {
        AnyObject::FloatMatrix(matrix) => CompressedMatrix::compress(matrix, method),
        AnyObject::DoubleMatrix(matrix) => CompressedMatrix::compress(matrix, method),
        AnyObject::CompressedMatrix(matrix) => {
            CompressedMatrix::compress(&matrix.to_matrix::<f32>(), method)
        }
        other => {
            let what = format!("an object of type {} cannot be compressed", other.object_type());
            return Err(Error::corpus(what).with_help("compression is for matrices of floats"));
        }
    };
    compressed.map(AnyObject::CompressedMatrix)
}

/// A wspecifier with the option `t`.
fn as_text(wspecifier: &OsStr) -> Result<OsString> {
    let table = Wspecifier { text: true, ..Wspecifier::parse(wspecifier)? };
    Ok(table.name())
}
