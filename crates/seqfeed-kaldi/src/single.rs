//! Objects in files of their own, and several objects behind one header.

use std::ffi::OsStr;
use std::io::Write;

use seqfeed_core::{Error, Result};
use seqfeed_io::{Opener, Output, RxFilename, WxFilename};

use crate::holder::{Holder, Mode, write_object};
use crate::object_reader::{ObjectReader, is_token};
use crate::objects::basic::Basic;
use crate::range::Range;

/// Reads one object by its name: Kaldi's `ReadKaldiObject`.
///
/// The name is a file (`final.mat`), an object in an archive (`feats.ark:119`), standard input
/// (`-`) or, if the opener allows it, a command (`gunzip -c final.mat.gz |`). As in script files, a
/// range in brackets may follow: `feats.ark:119[0:4]` is the first five rows. If a matrix is not
/// compressed, only these rows are read.
///
/// ```
/// use seqfeed_io::Opener;
/// use seqfeed_kaldi::{Matrix, Mode, load, save};
///
/// # let directory = tempfile::tempdir().unwrap();
/// # let name = directory.path().join("transform.mat").display().to_string();
/// let transform = Matrix { rows: 2, cols: 2, values: vec![1.0f32, 0.0, 0.5, 2.0] };
/// save(&name, &transform, Mode::Binary, &Opener::default())?;
/// let read: Matrix<f32> = load(&name, &Opener::default())?;
/// assert_eq!(read, transform);
///
/// let last_row: Matrix<f32> = load(&format!("{name}[1:1]"), &Opener::default())?;
/// assert_eq!(last_row.values, [0.5, 2.0]);
/// # Ok::<(), seqfeed_core::Error>(())
/// ```
///
/// # Errors
///
/// Fails if the name is invalid or not allowed, if there is no such object, if the range does not
/// fit it, or if the command failed. Bytes after the object are ignored.
pub fn load<T: Holder>(name: &(impl AsRef<OsStr> + ?Sized), opener: &Opener) -> Result<T> {
    let (name, range) = Range::split_name(name.as_ref())?;
    let mut reader = ObjectReader::open(&RxFilename::parse(name)?, opener)?;
    let value = match range {
        None => reader.read()?,
        Some(range) => match reader.read_part(&range)? {
            Some(part) => part,
            None => {
                let whole: T = reader.read()?;
                whole.extract(&range).map_err(|error| error.in_file(reader.name()))?
            }
        },
    };
    // A command that failed may not have given the whole object.
    reader.finish()?;
    Ok(value)
}

/// Writes one object to a name: Kaldi's `WriteKaldiObject`. A file appears under its name when it
/// is whole. [`load`] has an example.
///
/// # Errors
///
/// Fails if the name is invalid or not allowed, if the format cannot hold this value, or if writing
/// fails.
pub fn save<T: Holder>(
    name: &(impl AsRef<OsStr> + ?Sized),
    value: &T,
    mode: Mode,
    opener: &Opener,
) -> Result<()> {
    let name = WxFilename::parse(name.as_ref())?;
    let mut bytes = Vec::new();
    write_object(value, &mut bytes, mode)?;
    let mut output = Output::create(&name, opener)?;
    output.write_all(&bytes).map_err(|error| output.error(error))?;
    output.finish()
}

/// Appends a token, such as `<Nnet3>`, and a blank: Kaldi's `WriteToken`.
///
/// # Errors
///
/// Fails if it is not a token: empty, or with white space or control characters.
pub fn write_token(token: impl AsRef<[u8]>, out: &mut Vec<u8>) -> Result<()> {
    let token = token.as_ref();
    if !is_token(token) {
        let what = format!("\"{}\" is no token", token.escape_ascii());
        let help = "a token is not empty and holds neither white space nor control characters";
        return Err(Error::usage(what).with_help(help));
    }
    out.extend_from_slice(token);
    out.push(b' ');
    Ok(())
}

/// Writes several objects, tokens and basic values behind one header, as in Kaldi's models:
/// `InitKaldiOutputStream` and the writes after it.
///
/// A file appears under its name when the writer is [closed](Self::close). A writer that is dropped
/// before leaves nothing. An [`ObjectReader`] reads the file after
/// [`read_header`](ObjectReader::read_header):
///
/// ```
/// use seqfeed_io::{Opener, RxFilename};
/// use seqfeed_kaldi::{Matrix, Mode, ObjectReader, ObjectWriter, Vector};
///
/// # let directory = tempfile::tempdir().unwrap();
/// # let name = directory.path().join("layer.mdl").display().to_string();
/// let weights = Matrix { rows: 1, cols: 2, values: vec![0.5f32, -1.0] };
/// let bias: Vector<f32> = Vector(vec![0.25]);
///
/// let mut writer = ObjectWriter::create(&name, Mode::Binary, &Opener::default())?;
/// writer.write_token("<Layer>")?;
/// writer.write_basic(7i32)?;
/// writer.write_pretty("\n")?;
/// writer.write(&weights)?;
/// writer.write(&bias)?;
/// writer.write_token("</Layer>")?;
/// writer.close()?;
///
/// let mut reader = ObjectReader::open(&RxFilename::parse(&name)?, &Opener::default())?;
/// let mode = reader.read_header()?;
/// reader.expect_token("<Layer>", mode)?;
/// assert_eq!(reader.read_basic::<i32>(mode)?, 7);
/// assert_eq!(reader.read_inside::<Matrix<f32>>(mode)?, weights);
/// assert_eq!(reader.read_inside::<Vector<f32>>(mode)?, bias);
/// reader.expect_token("</Layer>", mode)?;
/// assert!(reader.at_end(mode)?);
/// reader.finish()?;
/// # Ok::<(), seqfeed_core::Error>(())
/// ```
#[derive(Debug)]
pub struct ObjectWriter {
    output: Output,
    mode: Mode,
    /// One value at a time, so that a value that cannot be written leaves no part of itself.
    value: Vec<u8>,
}

impl ObjectWriter {
    /// Opens a wxfilename, and writes `\0B` in binary mode.
    ///
    /// # Errors
    ///
    /// Fails if the name is invalid or not allowed, or if it cannot be written to.
    pub fn create(
        name: &(impl AsRef<OsStr> + ?Sized),
        mode: Mode,
        opener: &Opener,
    ) -> Result<Self> {
        let output = Output::create(&WxFilename::parse(name.as_ref())?, opener)?;
        let mut writer = Self { output, mode, value: Vec::new() };
        if mode == Mode::Binary {
            writer.add(|out, _| {
                out.extend_from_slice(b"\0B");
                Ok(())
            })?;
        }
        Ok(writer)
    }

    /// Whether it writes binary or text.
    #[must_use]
    pub fn mode(&self) -> Mode {
        self.mode
    }

    /// Writes a token and a blank, as [`write_token`].
    ///
    /// # Errors
    ///
    /// Fails if it is not a token, or if writing fails.
    pub fn write_token(&mut self, token: impl AsRef<[u8]>) -> Result<()> {
        self.add(|out, _| write_token(token, out))
    }

    /// Writes a value of a basic type: Kaldi's `WriteBasicType`.
    ///
    /// # Errors
    ///
    /// Fails if writing fails.
    pub fn write_basic(&mut self, value: impl Basic) -> Result<()> {
        self.add(|out, mode| {
            value.write_basic(out, mode);
            Ok(())
        })
    }

    /// Writes an object without a header of its own.
    ///
    /// # Errors
    ///
    /// As [`Holder::write`], and if writing fails.
    pub fn write(&mut self, value: &impl Holder) -> Result<()> {
        self.add(|out, mode| value.write(out, mode))
    }

    /// Writes text that makes the text form easier to read, such as the end of a line. Writes
    /// nothing in binary mode.
    ///
    /// [`expect_pretty`](ObjectReader::expect_pretty) reads it; white space alone needs no reading.
    ///
    /// # Errors
    ///
    /// Fails if writing fails.
    pub fn write_pretty(&mut self, text: &str) -> Result<()> {
        self.add(|out, mode| {
            if mode == Mode::Text {
                out.extend_from_slice(text.as_bytes());
            }
            Ok(())
        })
    }

    /// Completes the file, or waits for the command.
    ///
    /// # Errors
    ///
    /// Fails if writing fails, or if the command fails.
    pub fn close(self) -> Result<()> {
        self.output.finish()
    }

    fn add(&mut self, write: impl FnOnce(&mut Vec<u8>, Mode) -> Result<()>) -> Result<()> {
        self.value.clear();
        write(&mut self.value, self.mode)?;
        let Self { output, value, .. } = self;
        output.write_all(value).map_err(|error| output.error(error))
    }
}

impl ObjectReader {
    /// Reads the `\0B` at the beginning, if there is one, and returns the mode: Kaldi's
    /// `InitKaldiInputStream`. Use this mode to read the rest.
    ///
    /// # Errors
    ///
    /// Fails if there is a zero byte without the `B`.
    pub fn read_header(&mut self) -> Result<Mode> {
        match self.ensure(2)? {
            [0, b'B', ..] => {
                self.consume(2);
                Ok(Mode::Binary)
            }
            [0, ..] => Err(self.unexpected(crate::OBJECT, "\"\\0B\" before a binary object")),
            _ => Ok(Mode::Text),
        }
    }

    /// Reads an object without a header of its own, after the common header.
    ///
    /// # Errors
    ///
    /// As [`Holder::read`].
    pub fn read_inside<T: Holder>(&mut self, mode: Mode) -> Result<T> {
        T::read(self, mode)
    }

    /// Whether nothing is left. White space at the end of text does not count.
    ///
    /// # Errors
    ///
    /// Fails if reading fails.
    pub fn at_end(&mut self, mode: Mode) -> Result<bool> {
        match mode {
            Mode::Binary => Ok(self.peek()?.is_none()),
            Mode::Text => Ok(!self.skip_space()?),
        }
    }

    /// Reads text that only the text form has: Kaldi's `ExpectPretty`. White space before it is
    /// skipped; white space in it matches any white space.
    ///
    /// ```
    /// use seqfeed_kaldi::{Mode, ObjectReader};
    ///
    /// let mut reader = ObjectReader::from_bytes("memory", "dim =\n  12 ");
    /// reader.expect_pretty("dim = ", Mode::Text)?;
    /// assert_eq!(reader.read_basic::<i32>(Mode::Text)?, 12);
    /// # Ok::<(), seqfeed_core::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Fails if other text stands there.
    pub fn expect_pretty(&mut self, text: &str, mode: Mode) -> Result<()> {
        if mode == Mode::Binary {
            return Ok(());
        }
        self.skip_space()?;
        let start = self.position();
        for (number, word) in text.split_ascii_whitespace().enumerate() {
            let before = self.position();
            self.skip_space()?;
            let apart = number == 0 || self.position() > before;
            let found = self.ensure(word.len())?;
            if !apart || !found.starts_with(word.as_bytes()) {
                let found = found[..found.len().min(word.len())].to_vec();
                let expected = format!("\"{}\"", text.escape_debug()).into();
                let problem = seqfeed_core::Problem::Unexpected { expected, found };
                return Err(self.error_at(start, crate::OBJECT, problem));
            }
            self.consume(word.len());
        }
        if text.ends_with(|letter: char| letter.is_ascii_whitespace()) {
            self.skip_space()?;
        }
        Ok(())
    }
}
