//! Loads objects by name. It keeps files open, and keeps an object while ranges of it are wanted.

use std::ffi::{OsStr, OsString};

use seqfeed_core::{Error, ErrorKind, Problem, Result};
use seqfeed_io::{Beside, Location, RxFilename, shown_name};

use crate::OBJECT;
use crate::holder::Holder;
use crate::object_reader::ObjectReader;
use crate::range::Range;
use crate::tables::options::ReadOptions;
use crate::tables::typing::Typing;
use crate::tables::warnings::{Warning, Warnings};

/// Loads objects by rxfilename, with an optional range.
pub(crate) struct ObjectLoader<T> {
    options: ReadOptions,
    beside: Beside,
    /// The file of the last object. The next object in it is only a seek away.
    file: Option<(Location, ObjectReader)>,
    /// The whole object of the last range, and its name.
    whole: Option<(OsString, T)>,
    /// The known types of the objects.
    pub(crate) typing: Typing,
}

impl<T: Holder> ObjectLoader<T> {
    /// For the entries of a script file.
    ///
    /// # Errors
    ///
    /// Fails if the name of the script file is invalid.
    pub(crate) fn new(options: &ReadOptions, script: &OsStr) -> Result<Self> {
        let script = options.opener.rxfilename(script)?;
        let beside = Beside::of(&script, &options.opener);
        let options = ReadOptions { opener: options.opener.of_contents(), ..options.clone() };
        let typing = options.typing.of_entries();
        Ok(Self { options, beside, file: None, whole: None, typing })
    }

    /// Loads an object or a range of it, into an older value if there is one.
    pub(crate) fn load(
        &mut self,
        rxfilename: &OsStr,
        range: Option<&Range>,
        value: &mut Option<T>,
    ) -> Result<()> {
        let Some(range) = range else {
            return self.with_reader(rxfilename, |reader| read_or_replace(reader, value));
        };
        if self.whole.as_ref().is_none_or(|(name, _)| name != rxfilename) {
            // It is not kept while another one is read.
            self.whole = None;
            let loaded =
                self.with_reader(rxfilename, |reader| match reader.read_part(range)? {
                    Some(part) => Ok(Loaded::Region(part)),
                    None => reader.read().map(Loaded::Whole),
                })?;
            match loaded {
                Loaded::Region(part) => {
                    self.check_range(range, &part);
                    *value = Some(part);
                    return Ok(());
                }
                Loaded::Whole(whole) => self.whole = Some((rxfilename.to_owned(), whole)),
            }
        }
        if let Some((name, whole)) = &self.whole {
            let part = whole.extract(range).map_err(|error| error.in_file(shown_name(name)))?;
            self.check_range(range, &part);
            *value = Some(part);
        }
        Ok(())
    }

    fn check_range(&self, range: &Range, part: &T) {
        if let Some(warnings) = &self.options.warnings {
            warnings.check_range(range, part);
        }
    }

    /// A name as Kaldi takes it. If there is no such file, one beside the script file.
    fn found(&self, name: RxFilename) -> RxFilename {
        let file = name.location();
        let open = self.file.as_ref().map(|(open, _)| open);
        if !file.is_relative() || open == Some(file) {
            return name;
        }
        // An open file is not looked for again at each of its entries.
        let known = self.beside.places(file).find(|place| open == Some(place));
        let found = known.unwrap_or_else(|| self.beside.find(file));
        name.with_location(found)
    }

    /// Whether an object can be read only once: from a command, standard input or a named pipe.
    pub(crate) fn passes_once(&self, rxfilename: &OsStr) -> bool {
        match self.options.opener.rxfilename(rxfilename).map(|name| self.found(name)) {
            Ok(name) => self.options.opener.passes_once(name.location()),
            // An invalid name is an error when it is read.
            Err(_) => false,
        }
    }

    fn with_reader<R>(
        &mut self,
        rxfilename: &OsStr,
        read: impl FnOnce(&mut ObjectReader) -> Result<R>,
    ) -> Result<R> {
        let name = self.found(self.options.opener.rxfilename(rxfilename)?);
        let Some((file, offset)) = name.file_and_offset() else {
            let mut reader = self.options.open(&name)?;
            let value = read_typed(&mut reader, &mut self.typing, read)
                .map_err(|error| explain(error, &name))?;
            // Before the object is returned: it may not be whole if the command failed.
            reader.finish()?;
            return Ok(value);
        };
        let offset_name = name.offset().is_some();
        let kept = self.file.take().filter(|(kept, _)| offset_name && kept == file);
        let kept = match kept {
            Some((_, mut reader)) => reader.go_to(offset)?.then_some(reader),
            None => None,
        };
        let mut reader = match kept {
            Some(reader) => reader,
            None => self.options.open(&name)?,
        };
        let value = read_typed(&mut reader, &mut self.typing, read)
            .map_err(|error| explain(error, &name))?;
        // A file with a single object is opened each time, as in Kaldi: it may have been replaced.
        if offset_name {
            self.file = Some((file.clone(), reader));
        }
        Ok(value)
    }
}

/// Reads with the known types of other objects, and learns the type of this one.
fn read_typed<R>(
    reader: &mut ObjectReader,
    typing: &mut Typing,
    read: impl FnOnce(&mut ObjectReader) -> Result<R>,
) -> Result<R> {
    reader.typing = std::mem::take(typing);
    let value = read(reader);
    *typing = std::mem::take(&mut reader.typing);
    value
}

enum Loaded<T> {
    Region(T),
    Whole(T),
}

/// Reads an object, into an older one if there is one.
pub(crate) fn read_or_replace<T: Holder>(
    reader: &mut ObjectReader,
    value: &mut Option<T>,
) -> Result<()> {
    match value {
        Some(value) => reader.read_into(value),
        None => {
            *value = Some(reader.read()?);
            Ok(())
        }
    }
}

/// A name without an offset for an archive is a common mistake.
fn explain(error: Error, name: &RxFilename) -> Error {
    let is_whole_file = name.location().is_seekable() && name.offset().is_none();
    match error.kind() {
        ErrorKind::Format { problem: Problem::Unexpected { .. }, .. } if is_whole_file => error.with_help(format!(
            "if this is an archive, name the object in it by its offset (`{name}:123`), or read the \
             archive with `ark:{name}`"
        )),
        _ => with_cure(error, "leaves out such objects"),
    }
}

/// Adds a cure for an object that cannot be read, if the error has none.
pub(crate) fn with_cure(error: Error, permissive: &str) -> Error {
    let ErrorKind::Format { problem, .. } = error.kind() else { return error };
    let what = match problem {
        Problem::UnexpectedEnd { .. } => "the file is cut short",
        _ => "the object is damaged, or of another type than it is read as",
    };
    error.with_help(format!("{what}; write it again, or take the option `p`, which {permissive}"))
}

impl Warnings {
    /// Warns if a range ends behind its object. `part` is the part that the range gave.
    pub fn check_range<T: Holder>(&self, range: &Range, part: &T) {
        let (Some((first, last)), Some(rows)) = (range.rows, part.rows()) else { return };
        let rows = u64::from(first) + rows as u64;
        if u64::from(last) >= rows {
            let vector = T::TYPE.ends_with("vector");
            self.add(Warning::BeyondEnd { span: (first, last), rows, vector });
        }
    }
}

impl ObjectReader {
    /// Goes to an offset of this stream if this is possible without reading it again.
    fn go_to(&mut self, offset: u64) -> Result<bool> {
        let position = self.position();
        if position == offset {
            return Ok(true);
        }
        let ahead = offset.saturating_sub(position);
        if let Some(left) = self.left(ahead) {
            if left < ahead {
                let len = position + left;
                let allowed = format!("at most {len}, the length of the file").into();
                let found = i64::try_from(offset).unwrap_or(i64::MAX);
                let what = "the offset of the name";
                let problem = Problem::OutOfRange { what, found, allowed };
                return Err(self.error(OBJECT, problem).with_help(
                    "the file is shorter than when the name was written; make its script file again",
                ));
            }
            return self.seek(offset);
        }
        if offset < position {
            return Ok(false);
        }
        self.skip_bytes(offset - position, "the file, before the offset of the name")?;
        Ok(true)
    }
}
