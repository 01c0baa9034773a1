//! The source of labels in text.

use std::collections::{BTreeMap, HashMap};
use std::ffi::{OsStr, OsString};
use std::ops::Range;
use std::sync::Arc;

use seqfeed_core::{
    About, Block, Damage, Element, Error, Extent, Index, IndexBuilder, JoinReport, Key, Kind,
    Problem, Result, Source, Stream, SymbolTable, Tolerance,
};
use seqfeed_io::{DataFile, Opener, run_of, shown_name};

use crate::form::{Form, Value};
use crate::lines::{Line, Lines};
use crate::splitter::Splitter;
use crate::tokenize::Tokenize;

/// Bytes of neighbouring lines to read at once, and the largest gap between them.
const RUN: u64 = 1 << 20;
const GAP: u64 = 64 << 10;
/// The errors that are kept.
const FAULTS: usize = 10_000;

/// The symbols of a stream.
#[derive(Clone, Debug, Default)]
pub enum Symbols {
    /// Those in the data, sorted bytewise, numbered from 0.
    #[default]
    Found,
    /// A table, and its name in messages.
    Table(Arc<SymbolTable>, String),
}

/// The options for opening a [`TextSource`].
#[derive(Clone, Debug)]
pub struct TextOptions {
    /// The name of the stream.
    pub stream: String,
    /// The form of lines.
    pub form: Form,
    /// How texts are divided into symbols.
    pub splitter: Splitter,
    /// The symbols.
    pub symbols: Symbols,
    /// The symbol that stands for all that are not in the table. Without it they are errors.
    pub unknown: Option<Vec<u8>>,
    /// A tokenizer, in place of splitter, symbols and the unknown symbol.
    pub tokenizer: Option<Arc<dyn Tokenize>>,
    /// The number of labels in a sequence: a number of its own, one, or one for each time step.
    pub extent: Extent,
    /// A table that leads from the keys of the source to keys of the file, such as `utt2spk` for a
    /// file of speakers.
    pub through: Option<OsString>,
    /// The most labels in a chunk of the source's index.
    pub chunk_samples: u64,
    /// The rule for lines that cannot be used.
    pub errors: Tolerance,
    /// Opens files, and limits lines.
    pub opener: Opener,
    /// An index that likely has the same keys: that of the stream which the table is joined to. If
    /// so, they are in memory once.
    pub like: Option<Arc<Index>>,
}

impl TextOptions {
    /// Words as labels, with symbols from the data.
    #[must_use]
    pub fn new(stream: impl Into<String>) -> Self {
        Self {
            stream: stream.into(),
            form: Form::Text,
            splitter: Splitter::default(),
            symbols: Symbols::Found,
            unknown: None,
            tokenizer: None,
            extent: Extent::Own,
            through: None,
            chunk_samples: 32_768,
            errors: Tolerance::Stop,
            opener: Opener::default(),
            like: None,
        }
    }
}

/// The labels that stand for the symbols of a text, as a [`Source`] of one stream.
///
/// The files are read once to find each line and its number of labels; the text is not kept. A
/// sequence takes 16 bytes beside its key, or 4 with one label for the whole sequence.
pub struct TextSource {
    name: String,
    streams: Vec<Stream>,
    index: Arc<Index>,
    files: Vec<DataFile>,
    labels: Labels,
    form: Form,
    splitter: Splitter,
    symbols: Arc<SymbolTable>,
    /// The label of unknown symbols.
    unknown: Option<i32>,
    tokenizer: Option<Arc<dyn Tokenize>>,
    longest: u64,
    report: JoinReport,
    faults: Vec<Damage>,
}

/// The labels of each sequence.
enum Labels {
    /// The labels themselves, one a sequence.
    Numbers(Vec<i32>),
    /// The lines where they stand.
    Lines(Vec<Place>),
}

/// A line of a file.
#[derive(Clone, Copy)]
struct Place {
    offset: u64,
    bytes: u32,
    file: u32,
}

impl Place {
    fn range(self) -> Range<u64> {
        self.offset..self.offset + u64::from(self.bytes)
    }
}

/// What a line gives.
#[derive(Clone, Copy)]
struct Row {
    place: Place,
    samples: u32,
    /// The only label. For symbols of the data, the number in the order in which they were found.
    label: i32,
}

impl TextSource {
    /// Opens files that follow one another. Names are extended file names; compressed files and
    /// pipes are copied to a temporary file.
    ///
    /// # Errors
    ///
    /// Fails if a file cannot be read, if the table has no symbol for unknown ones, or if more
    /// lines than allowed cannot be used: without a key, with unknown symbols, or with another
    /// number of symbols than one where one is expected.
    pub fn open(names: &[impl AsRef<OsStr>], options: &TextOptions) -> Result<Self> {
        let mut opening = Opening::new(options)?;
        let mut rows: Vec<(Vec<u8>, Row)> = Vec::new();
        let mut files = Vec::new();
        for name in names {
            let name = options.opener.rxfilename(name.as_ref())?;
            let file = DataFile::decoded(&name, &options.opener)?;
            opening.file(&file, files.len() as u32, &mut rows)?;
            files.push(file);
        }
        if let Some(through) = &options.through {
            rows = opening.through(through, rows)?;
        }
        let Opening { found, report, faults, table, unknown, longest, .. } = opening;
        let symbols = match table {
            Some(table) => table,
            None => Arc::new(SymbolTable::sorted(found.keys().cloned())),
        };
        let mut renumbered = vec![0; found.len()];
        for (name, number) in &found {
            renumbered[*number as usize] = symbols.number(name).unwrap_or_default();
        }
        let mut builder = IndexBuilder::like(options.like.as_ref(), options.chunk_samples);
        let mut labels = match options.extent {
            Extent::Sequence => Labels::Numbers(Vec::with_capacity(rows.len())),
            _ => Labels::Lines(Vec::with_capacity(rows.len())),
        };
        for (key, row) in &rows {
            builder.push(Key(key), row.samples);
            match &mut labels {
                Labels::Lines(places) => places.push(row.place),
                Labels::Numbers(numbers) => {
                    let label = renumbered.get(row.label as usize);
                    numbers.push(label.copied().unwrap_or(row.label));
                }
            }
        }
        let stream = Stream {
            name: options.stream.clone(),
            kind: Kind::Label,
            element: Element::I32,
            dim: 1,
            extent: options.extent,
        };
        if options.extent == Extent::Sequence {
            files.clear();
        }
        Ok(Self {
            name: names.iter().map(shown_name).collect::<Vec<_>>().join(" "),
            streams: vec![stream],
            index: Arc::new(builder.finish()),
            files,
            labels,
            form: options.form.clone(),
            splitter: options.splitter.clone(),
            symbols,
            unknown,
            tokenizer: options.tokenizer.clone(),
            longest,
            report,
            faults,
        })
    }

    /// The table of its symbols.
    #[must_use]
    pub fn symbols(&self) -> &Arc<SymbolTable> {
        &self.symbols
    }

    /// Appends the labels of a line.
    fn decode(&self, sequence: u32, line: &[u8], labels: &mut Vec<i32>) -> Result<()> {
        labels.clear();
        let changed = || {
            let what = "the line is not the one that was there when the file was opened";
            Error::format(self.form.name(), Problem::Unsupported(what.into()))
        };
        let (_, value) = self.form.parse(line)?;
        match &self.tokenizer {
            Some(tokenizer) => tokenizer.tokenize(&value, labels)?,
            None => self.splitter.each(&value, |symbol| {
                let label = self.symbols.number(symbol).or(self.unknown);
                labels.push(label.ok_or_else(changed)?);
                Ok(())
            })?,
        }
        match labels.len() == self.index.samples(sequence) as usize {
            true => Ok(()),
            false => Err(changed()),
        }
    }
}

/// A source that is being opened.
struct Opening<'a> {
    options: &'a TextOptions,
    /// The given table, its name, and the label of unknown symbols.
    table: Option<Arc<SymbolTable>>,
    table_name: &'a str,
    unknown: Option<i32>,
    /// Symbols of the data, in the order in which they were found.
    found: HashMap<Vec<u8>, i32>,
    /// The labels of a line.
    tokens: Vec<i32>,
    /// Bytes of the longest line.
    longest: u64,
    wrong: u64,
    report: JoinReport,
    faults: Vec<Damage>,
}

impl<'a> Opening<'a> {
    fn new(options: &'a TextOptions) -> Result<Self> {
        let stream = &options.stream;
        let (table, table_name) = match (&options.tokenizer, &options.symbols) {
            (Some(tokenizer), _) => (Some(Arc::clone(tokenizer.symbols())), "the tokenizer"),
            (None, Symbols::Found) => (None, ""),
            (None, Symbols::Table(table, name)) => (Some(Arc::clone(table)), name.as_str()),
        };
        let mut unknown = None;
        let splitter = &options.splitter;
        let special =
            [("unknown", &options.unknown), ("begin", &splitter.begin), ("end", &splitter.end)];
        for (key, symbol) in special.into_iter().filter(|_| options.tokenizer.is_none()) {
            let (Some(symbol), Some(table)) = (symbol, &table) else { continue };
            let Some(number) = table.number(symbol) else {
                let symbol = Key(symbol);
                return Err(Error::usage(format!(
                    "stream {stream}: {key} = \"{symbol}\", but {table_name} has no such symbol"
                ))
                .with_help(format!("add {symbol} to the symbols, or name one that is there")));
            };
            if key == "unknown" {
                unknown = Some(number);
            }
        }
        if table.is_none() && options.unknown.is_some() {
            return Err(Error::usage(format!(
                "stream {stream}: unknown has no effect: all symbols of the data get a number"
            ))
            .with_help("give a table with `symbols`, or leave unknown out"));
        }
        Ok(Self {
            options,
            table,
            table_name,
            unknown,
            found: HashMap::new(),
            tokens: Vec::new(),
            longest: 0,
            wrong: 0,
            report: JoinReport::default(),
            faults: Vec::new(),
        })
    }

    /// Adds the lines of a file.
    fn file(&mut self, file: &DataFile, number: u32, rows: &mut Vec<(Vec<u8>, Row)>) -> Result<()> {
        let mut lines = Lines::new(file, self.options.opener.line_limit());
        while let Some(line) = lines.next_line()? {
            self.longest = self.longest.max(line.text.len() as u64);
            match self.line(&line, number) {
                Ok(row) => rows.push(row),
                Err(error) => self.absorb(error.in_file(file.name()).at_line(line.number))?,
            }
            if rows.len() >= u32::MAX as usize - 1 {
                let problem = Problem::Unsupported("2^32 lines or more".into());
                return Err(Error::format(self.options.form.name(), problem).in_file(file.name()));
            }
        }
        Ok(())
    }

    fn line(&mut self, line: &Line<'_>, file: u32) -> Result<(Vec<u8>, Row)> {
        let (key, value) = self.options.form.parse(line.text)?;
        let row = self.row(line, &value, file).map_err(|error| error.of_key(Key(&key)))?;
        Ok((key.into_owned(), row))
    }

    fn row(&mut self, line: &Line<'_>, value: &Value<'_>, file: u32) -> Result<Row> {
        let (samples, label) = match &self.options.tokenizer {
            Some(tokenizer) => {
                self.tokens.clear();
                tokenizer.tokenize(value, &mut self.tokens)?;
                (self.tokens.len() as u32, self.tokens.last().copied().unwrap_or_default())
            }
            None => self.symbols(value)?,
        };
        let options = self.options;
        if options.extent == Extent::Sequence && samples != 1 {
            let what = format!("one label is expected for the sequence, but {samples} stand here");
            return Err(Error::format(options.form.name(), Problem::Unsupported(what.into()))
                .with_help(match samples {
                    0 => "give the key a symbol",
                    _ if options.tokenizer.is_some() => "leave extent out: each token is a label",
                    _ => "take units = \"lines\", or extent = \"own\" for a list of labels",
                }));
        }
        // A line is no longer than the limit allows, but a limit may be set.
        let bytes = u32::try_from(line.text.len()).map_err(|_| {
            let problem = Problem::Unsupported("a line of 2^32 bytes or more".into());
            Error::format(options.form.name(), problem)
        })?;
        Ok(Row { place: Place { offset: line.offset, bytes, file }, samples, label })
    }

    /// The number of symbols of a text, and the last one.
    fn symbols(&mut self, value: &Value<'_>) -> Result<(u32, i32)> {
        let (mut samples, mut label) = (0, 0);
        let Self { options, table, table_name, unknown, found, .. } = self;
        options.splitter.each(value, |symbol| {
            label = match table {
                Some(table) => {
                    let known = table.number(symbol).or(*unknown);
                    known.ok_or_else(|| no_symbol(options.form.name(), symbol, table_name))?
                }
                None => match found.get(symbol) {
                    Some(number) => *number,
                    None => {
                        let number = found.len() as i32;
                        found.insert(symbol.to_vec(), number);
                        number
                    }
                },
            };
            samples += 1;
            Ok(())
        })?;
        Ok((samples, label))
    }

    /// The rows by the keys of another table, which leads to the keys of these rows.
    fn through(&mut self, name: &OsStr, rows: Vec<(Vec<u8>, Row)>) -> Result<Vec<(Vec<u8>, Row)>> {
        let rows: HashMap<Vec<u8>, Row> = rows.into_iter().collect();
        let name = self.options.opener.rxfilename(name)?;
        let file = DataFile::decoded(&name, &self.options.opener)?;
        let mut lines = Lines::new(&file, self.options.opener.line_limit());
        let mut found = Vec::new();
        while let Some(line) = lines.next_line()? {
            let row = Form::Text.parse(line.text).and_then(|(key, value)| {
                let Value::Text(other) = value else { return Ok(None) };
                let row = rows.get(&*other).copied();
                let missing = || {
                    let what = format!("`{}` is not in the stream's source", Key(&other));
                    Error::format("table of text", Problem::Unsupported(what.into()))
                        .of_key(Key(&key))
                        .with_help("add it there, or leave the key out here")
                };
                row.map(|row| Some((key.to_vec(), row))).ok_or_else(missing)
            });
            match row {
                Ok(row) => found.extend(row),
                Err(error) => self.absorb(error.in_file(file.name()).at_line(line.number))?,
            }
        }
        Ok(found)
    }

    /// Passes over a line if this is allowed.
    fn absorb(&mut self, error: Error) -> Result<()> {
        self.wrong += 1;
        let damage = self.options.errors.excuse(self.wrong, error)?;
        let key = damage.place().key.clone().unwrap_or_default();
        self.report.add("unusable lines", format!("{key} ({damage})"));
        if self.faults.len() < FAULTS {
            self.faults.push(damage);
        }
        Ok(())
    }
}

fn no_symbol(format: &'static str, symbol: &[u8], table: &str) -> Error {
    let what = format!("there is no symbol `{}` in {table}", Key(symbol));
    Error::format(format, Problem::Unsupported(what.into()))
        .with_help("add it there, or say with `unknown` which symbol stands for such")
}

impl Source for TextSource {
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
        let symbols = [(self.streams[0].name.clone(), Arc::clone(&self.symbols))];
        let spooled = self.files.iter().map(DataFile::spooled_bytes);
        About {
            format: format!("{}, {} symbols", self.form.name(), self.symbols.len()),
            report: self.report.clone(),
            faults: self.faults.clone(),
            spooled_bytes: spooled.sum(),
            symbols: BTreeMap::from(symbols),
            ..About::default()
        }
    }

    fn load(&self, sequences: &[u32], blocks: &mut [Block]) -> Result<()> {
        let places = match &self.labels {
            Labels::Numbers(numbers) => {
                for &sequence in sequences {
                    blocks[0].push_i32(1)[0] = numbers[sequence as usize];
                }
                return Ok(());
            }
            Labels::Lines(places) => places,
        };
        let (mut bytes, mut labels) = (Vec::new(), Vec::new());
        let mut rest = sequences;
        while let Some(&first) = rest.first() {
            let file = places[first as usize].file;
            let run = rest.iter().map(|&sequence| places[sequence as usize]);
            let run = run.take_while(|place| place.file == file).map(Place::range);
            let (count, Range { start, end }) = run_of(run, RUN, GAP);
            let (run, behind) = rest.split_at(count);
            bytes.resize((end - start) as usize, 0);
            let data = &self.files[file as usize];
            let of_key = |error: Error, sequence| error.of_key(self.index.key(sequence));
            data.read_exact_at(&mut bytes, start, "text").map_err(|error| of_key(error, first))?;
            for &sequence in run {
                let place = places[sequence as usize];
                let from = (place.offset - start) as usize;
                let line = &bytes[from..from + place.bytes as usize];
                self.decode(sequence, line, &mut labels).map_err(|error| {
                    of_key(error.in_file(data.name()).at_byte(place.offset), sequence)
                })?;
                blocks[0].push_i32(labels.len()).copy_from_slice(&labels);
            }
            rest = behind;
        }
        Ok(())
    }

    fn kept_bytes(&self) -> u64 {
        match &self.labels {
            Labels::Numbers(numbers) => (numbers.capacity() * size_of::<i32>()) as u64,
            Labels::Lines(_) => 0,
        }
    }

    fn loading_bytes(&self) -> u64 {
        match &self.labels {
            Labels::Numbers(_) => 0,
            // The lines that are read at once, and one of them as labels.
            Labels::Lines(_) => {
                let tokenizer = self.tokenizer.as_ref();
                let tokens = tokenizer.map_or(0, |tokenizer| tokenizer.bytes(self.longest));
                RUN.max(self.longest) + 5 * self.longest + tokens
            }
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::splitter::Units;
    use crate::symbols::parse_symbols;

    fn opened(text: &str, change: impl FnOnce(&mut TextOptions)) -> Result<TextSource> {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), text).unwrap();
        let mut options = TextOptions::new("text");
        change(&mut options);
        TextSource::open(&[file.path()], &options)
    }

    /// The labels of all sequences, the last one first.
    fn labels(source: &TextSource) -> Vec<Vec<i32>> {
        let mut blocks = source.new_blocks();
        let sequences: Vec<u32> = (0..source.index().len() as u32).rev().collect();
        source.load(&sequences, &mut blocks).unwrap();
        let of = |place| bytemuck::pod_collect_to_vec(blocks[0].samples(place).bytes());
        (0..sequences.len()).map(of).collect()
    }

    fn table(text: &str) -> Symbols {
        Symbols::Table(Arc::new(parse_symbols(text.as_bytes()).unwrap()), "tokens.txt".to_owned())
    }

    #[test]
    fn symbols_are_those_of_the_data() {
        let source = opened("u1 two one\nu2\nu3 one\n", |_| {}).unwrap();
        assert_eq!(labels(&source), [vec![0], vec![], vec![1, 0]]);
        assert_eq!(source.about().symbols["text"].name(1), Some(&b"two"[..]));
        let source = opened("u1 ba a\nu2 b", |options| {
            options.splitter.units = Units::Characters;
            options.splitter.end = Some(b"</s>".to_vec());
        });
        // </s>, <space>, a, b
        assert_eq!(labels(&source.unwrap()), [vec![3, 0], vec![3, 2, 1, 2, 0]]);
    }

    #[test]
    fn unknown_symbols_have_a_symbol_or_are_errors() {
        let text = "u1 one three\nu2 one\n";
        let error =
            opened(text, |options| options.symbols = table("one 3\n<unk> 5\n")).err().unwrap();
        let shown = error.to_string();
        assert!(
            shown.contains("no symbol `three` in tokens.txt") && shown.contains("u1"),
            "{shown}"
        );
        assert!(shown.contains(":1") && error.help().unwrap().contains("unknown"), "{shown}");
        let source = opened(text, |options| {
            options.symbols = table("one 3\n<unk> 5\n");
            options.unknown = Some(b"<unk>".to_vec());
        });
        assert_eq!(labels(&source.unwrap()), [vec![3], vec![3, 5]]);
        let source = opened(text, |options| {
            options.symbols = table("one\n");
            options.errors = Tolerance::Skip;
        });
        let source = source.unwrap();
        assert_eq!((labels(&source), source.about().report.total()), (vec![vec![0]], 1));
        let error = opened(text, |options| {
            options.symbols = table("one\n");
            options.unknown = Some(b"<unk>".to_vec());
        });
        assert!(error.err().unwrap().is_usage());
    }

    #[test]
    fn one_label_stands_for_a_sequence() {
        let sequence = |options: &mut TextOptions| options.extent = Extent::Sequence;
        let source = opened("u1 spk2\nu2 spk1\nu3 spk2\n", sequence).unwrap();
        assert_eq!(labels(&source), [[1], [0], [1]]);
        assert_eq!((source.index().total_samples(), source.kept_bytes()), (3, 12));
        let error = opened("u1 spk2 x\n", sequence).err().unwrap();
        assert!(error.message().contains("2 stand here"), "{error}");
    }

    #[test]
    fn one_table_leads_to_another() {
        let through = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(through.path(), "u1 b\nu2 a\nu3 b\n").unwrap();
        let with = |options: &mut TextOptions| {
            options.extent = Extent::Sequence;
            options.through = Some(through.path().into());
        };
        assert_eq!(labels(&opened("a m\nb f\n", with).unwrap()), [[0], [1], [0]]);
        let error = opened("a m\n", with).err().unwrap();
        assert!(error.message().contains("`b` is not in"), "{error}");
        assert_eq!(error.place().key.as_deref(), Some("u1"));
    }

    #[test]
    fn many_lines_are_found_again() {
        let line = |n: usize| format!("u{n} {}\n", vec![format!("w{}", n % 7); n % 50].join("  "));
        let text: String = (0..3000).map(line).collect();
        let found = labels(&opened(&text, |_| {}).unwrap());
        for (n, labels) in found.into_iter().rev().enumerate() {
            assert_eq!(labels, vec![(n % 7) as i32; n % 50]);
        }
    }
}
