//! Reads objects of a script file in any order of keys.

use std::cmp::Ordering;

use seqfeed_core::{Error, Key, Problem, Result};

use crate::holder::Holder;
use crate::range::Range;
use crate::specifier::Rspecifier;
use crate::tables::object_loader::ObjectLoader;
use crate::tables::options::{Excuses, ReadOptions};
use crate::tables::script_lines::ScriptLines;
use crate::{SCRIPT, ScriptLine};

/// A script file in memory, sorted by key.
pub(crate) struct RandomAccessScript<T> {
    name: String,
    /// The lines one after another, with the beginning and end of each and the end of its key.
    text: Vec<u8>,
    lines: Vec<Line>,
    loader: ObjectLoader<T>,
    permissive: bool,
    /// The line of `value`, if it could be loaded.
    loaded: Option<usize>,
    value: Option<T>,
    pub(crate) excuses: Excuses,
}

#[derive(Clone, Copy)]
struct Line {
    start: u64,
    len: u32,
    key_len: u32,
}

impl<T: Holder> RandomAccessScript<T> {
    pub(crate) fn open(rspecifier: &Rspecifier, options: &ReadOptions) -> Result<Self> {
        let mut reader = ScriptLines::open(&rspecifier.rxfilename, options)?;
        let (mut text, mut lines) = (Vec::new(), Vec::new());
        while let Some(ScriptLine { key, rest, .. }) = reader.next()? {
            let start = text.len() as u64;
            text.extend_from_slice(key.0);
            text.push(b' ');
            text.extend_from_slice(rest);
            let too_long = || Error::usage("a line of a script file is longer than 4 GiB");
            let len = u32::try_from(text.len() as u64 - start).map_err(|_| too_long())?;
            lines.push(Line { start, len, key_len: key.0.len() as u32 });
        }
        let name = reader.name().to_owned();
        let mut script = Self {
            name,
            text,
            lines,
            loader: ObjectLoader::new(options, &rspecifier.rxfilename)?,
            permissive: rspecifier.permissive,
            loaded: None,
            value: None,
            excuses: Excuses::new(options),
        };
        script.sort(rspecifier.sorted)?;
        Ok(script)
    }

    /// All keys, sorted.
    pub(crate) fn keys(&self) -> Vec<Vec<u8>> {
        let key = |line: &Line| self.text[line.start as usize..][..line.key_len as usize].to_vec();
        self.lines.iter().map(key).collect()
    }

    /// Sorts the lines, or checks that they are sorted.
    fn sort(&mut self, sorted: bool) -> Result<()> {
        let Self { text, lines, .. } = self;
        let key = |line: &Line| &text[line.start as usize..][..line.key_len as usize];
        if !sorted {
            // Keys that are already sorted, which is common, take one pass.
            lines.sort_by(|a, b| key(a).cmp(key(b)));
        }
        for (number, pair) in lines.windows(2).enumerate() {
            let (before, after) = (Key(key(&pair[0])), Key(key(&pair[1])));
            let error = match before.cmp(&after) {
                Ordering::Less => continue,
                Ordering::Equal => Error::format(SCRIPT, Problem::DuplicateKey).of_key(after),
                Ordering::Greater => {
                    let what = format!("keys are not sorted: {before} is followed by {after}");
                    Error::format(SCRIPT, Problem::Unsupported(what.into()))
                        .at_line(number as u64 + 2)
                        .with_help(SORT_HELP)
                }
            };
            return Err(error.in_file(self.name.as_str()));
        }
        Ok(())
    }

    fn line(&self, number: usize) -> &[u8] {
        let Line { start, len, .. } = self.lines[number];
        &self.text[start as usize..][..len as usize]
    }

    fn find(&self, key: Key<'_>) -> Option<usize> {
        let key_at = |line: &Line| &self.text[line.start as usize..][..line.key_len as usize];
        // Keys are mostly asked for in order.
        let next = self.loaded.map_or(0, |loaded| loaded + 1);
        if self.lines.get(next).is_some_and(|line| key_at(line) == key.0) {
            return Some(next);
        }
        self.lines.binary_search_by(|line| key_at(line).cmp(key.0)).ok()
    }

    fn load(&mut self, number: usize) -> Result<()> {
        if self.loaded == Some(number) && self.value.is_some() {
            return Ok(());
        }
        let mut value = self.value.take();
        self.loaded = Some(number);
        let line = ScriptLine::parse(self.line(number))?;
        let (rxfilename, range, key) =
            (line.rxfilename.to_owned(), line.range, line.key.0.to_vec());
        self.loader
            .load(&rxfilename, range.as_ref(), &mut value)
            .map_err(|error| error.of_key(Key(&key)))?;
        self.value = value;
        Ok(())
    }

    pub(crate) fn get(&mut self, key: Key<'_>) -> Result<Option<&T>> {
        let Some(number) = self.find(key) else { return Ok(None) };
        match self.load(number) {
            Ok(()) => Ok(self.value.as_ref()),
            Err(error) => self.excuse(error).map(|()| None),
        }
    }

    /// Passes over an object that cannot be read, if `p` allows it.
    fn excuse(&mut self, error: Error) -> Result<()> {
        if self.permissive { self.excuses.skip_once(error) } else { Err(error) }
    }

    pub(crate) fn take(&mut self, key: Key<'_>) -> Result<Option<T>> {
        Ok(if self.get(key)?.is_some() { self.value.take() } else { None })
    }

    pub(crate) fn take_part(&mut self, key: Key<'_>, range: &Range) -> Result<Option<T>> {
        let Some(number) = self.find(key) else { return Ok(None) };
        let line = ScriptLine::parse(self.line(number))?;
        if line.range.is_some() || self.loaded == Some(number) && self.value.is_some() {
            return self.get(key)?.map(|value| value.extract(range)).transpose();
        }
        let (rxfilename, mut part) = (line.rxfilename.to_owned(), None);
        match self.loader.load(&rxfilename, Some(range), &mut part) {
            Ok(()) => Ok(part),
            Err(error) => self.excuse(error.of_key(key)).map(|()| None),
        }
    }

    pub(crate) fn contains(&mut self, key: Key<'_>) -> Result<bool> {
        match self.find(key) {
            None => Ok(false),
            Some(number) if self.permissive => match self.load(number) {
                Ok(()) => Ok(true),
                Err(error) => self.excuse(error).map(|()| false),
            },
            Some(_) => Ok(true),
        }
    }
}

/// The cure for keys in the wrong order.
pub(crate) const SORT_HELP: &str = "sort by bytes (`LC_ALL=C sort`), or take the option `s` out: nothing is kept in memory without it";
