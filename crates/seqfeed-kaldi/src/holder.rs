//! The trait of types that tables can hold.

use seqfeed_core::{Error, Problem, Result};

use crate::object_reader::ObjectReader;
use crate::range::Range;
use crate::specifier::Rspecifier;
use crate::tables::options::ReadOptions;
use crate::tables::typing::Typing;
use crate::{OBJECT, SCRIPT};

pub use crate::mode::Mode;

/// A type of objects that tables hold. It can be read from an archive or file, and written there.
///
/// All readers and writers of tables take any type with this trait. Kaldi's own types have it. A
/// type of your own needs [`read`](Self::read) and [`write`](Self::write):
///
/// ```
/// use seqfeed_core::{Key, Result};
/// use seqfeed_io::Opener;
/// use seqfeed_kaldi::{Holder, Mode, ObjectReader, SequentialReader, TableWriter};
///
/// /// Where a word begins and how long it lasts, in frames.
/// #[derive(Debug, Default, PartialEq)]
/// struct Segment {
///     start: i32,
///     frames: i32,
/// }
///
/// impl Holder for Segment {
///     const TYPE: &'static str = "segment";
///
///     fn read(reader: &mut ObjectReader, mode: Mode) -> Result<Self> {
///         reader.expect_token("<Segment>", mode)?;
///         let (start, frames) = (reader.read_basic(mode)?, reader.read_basic(mode)?);
///         Ok(Self { start, frames })
///     }
///
///     fn write(&self, out: &mut Vec<u8>, mode: Mode) -> Result<()> {
///         out.extend_from_slice(b"<Segment> ");
///         self.start.write_basic(out, mode);
///         self.frames.write_basic(out, mode);
///         out.extend_from_slice(if mode == Mode::Text { b"\n" } else { b"" });
///         Ok(())
///     }
/// }
/// # use seqfeed_kaldi::Basic;
///
/// # let directory = tempfile::tempdir().unwrap();
/// # let name = directory.path().join("segments.ark").display().to_string();
/// let segment = Segment { start: 3, frames: 12 };
/// let mut table = TableWriter::create(&format!("ark,t:{name}"), &Opener::default())?;
/// table.write(Key(b"word1"), &segment)?;
/// table.close()?;
/// for entry in SequentialReader::<Segment>::open(&format!("ark:{name}"), &Opener::default())? {
///     let (key, value) = entry?;
///     assert_eq!((key.as_slice(), value), (&b"word1"[..], Segment { start: 3, frames: 12 }));
/// }
/// # Ok::<(), seqfeed_core::Error>(())
/// ```
pub trait Holder: Sized + Send + 'static {
    /// The name of the type in messages: "float matrix".
    const TYPE: &'static str;

    /// Whether the binary form begins with `\0B`, which distinguishes it from text.
    ///
    /// If this is false (tokens, waves, OpenFst's formats), [`read`](Self::read) has to find out
    /// the form itself; the mode that it is given means nothing.
    const HEADER: bool = true;

    /// The type to read the objects of a table as, if they can be of several types. It is decided
    /// once for a table, before its first object is read.
    #[doc(hidden)]
    fn typing(table: &Rspecifier, options: &ReadOptions) -> Result<Typing> {
        let _ = (table, options);
        Ok(Typing::default())
    }

    /// The type to read the objects of an archive as, if the archive is a stream.
    #[doc(hidden)]
    fn typing_of_stream(options: &ReadOptions) -> Typing {
        let _ = options;
        Typing::default()
    }

    /// Reads an object. The reader stands behind the `\0B`, or at the object's first byte of text
    /// (in an archive, behind the blank after the key).
    ///
    /// It reads up to the end of the object, and no further. In text, this includes the end of the
    /// line.
    ///
    /// # Errors
    ///
    /// Fails if there is no such object. The place is where this became clear.
    fn read(reader: &mut ObjectReader, mode: Mode) -> Result<Self>;

    /// Reads an object into an older one, to use its memory again.
    ///
    /// # Errors
    ///
    /// As [`read`](Self::read). The value is then unspecified.
    fn read_into(&mut self, reader: &mut ObjectReader, mode: Mode) -> Result<()> {
        *self = Self::read(reader, mode)?;
        Ok(())
    }

    /// Skips an object. Implement it if headers give the length.
    ///
    /// # Errors
    ///
    /// Fails if it is visible that there is no such object.
    fn skip(reader: &mut ObjectReader, mode: Mode) -> Result<()> {
        Self::read(reader, mode).map(drop)
    }

    /// Reads a part of an object without reading all of it, if possible. Otherwise it reads nothing
    /// and returns `None`.
    ///
    /// # Errors
    ///
    /// As [`read`](Self::read) and [`extract`](Self::extract).
    fn read_part(reader: &mut ObjectReader, mode: Mode, range: &Range) -> Result<Option<Self>> {
        let _ = (reader, mode, range);
        Ok(None)
    }

    /// Appends an object, as text or in the binary form without `\0B`.
    ///
    /// # Errors
    ///
    /// Fails if the format cannot hold this value, or not in this mode.
    fn write(&self, out: &mut Vec<u8>, mode: Mode) -> Result<()>;

    /// The same as [`write`](Self::write), but may leave out bytes at the end of the object that
    /// lie in memory in the written form. These are returned instead, so that large objects are not
    /// copied once more.
    ///
    /// # Errors
    ///
    /// As [`write`](Self::write).
    fn write_start(&self, out: &mut Vec<u8>, mode: Mode) -> Result<&[u8]> {
        self.write(out, mode)?;
        Ok(&[])
    }

    /// The number of rows (for a vector, of elements) that a range counts, for types that have
    /// ranges.
    fn rows(&self) -> Option<usize> {
        None
    }

    /// The part of an object for a range in a script file.
    ///
    /// # Errors
    ///
    /// Fails if the type has no ranges, or if the range does not fit the object.
    fn extract(&self, range: &Range) -> Result<Self> {
        let _ = range;
        let what = format!("an object of type {} has no ranges", Self::TYPE);
        Err(Error::format(SCRIPT, Problem::Unsupported(what.into()))
            .with_help("take the range in brackets out of the script file"))
    }
}

/// Appends an object, with `\0B` before it if its type has one. This is the form behind the key in
/// an archive, and alone in a file.
///
/// # Errors
///
/// As [`Holder::write`].
pub fn write_object<T: Holder>(value: &T, out: &mut Vec<u8>, mode: Mode) -> Result<()> {
    if T::HEADER && mode == Mode::Binary {
        out.extend_from_slice(b"\0B");
    }
    value.write(out, mode)
}

/// The same as [`write_object`], without the bytes that [`Holder::write_start`] returns.
pub(crate) fn write_object_start<'a, T: Holder>(
    value: &'a T,
    out: &mut Vec<u8>,
    mode: Mode,
) -> Result<&'a [u8]> {
    if T::HEADER && mode == Mode::Binary {
        out.extend_from_slice(b"\0B");
    }
    value.write_start(out, mode)
}

impl ObjectReader {
    /// Reads an object with its `\0B`, if its type has one: from behind the key in an archive, or
    /// from a file of its own.
    ///
    /// # Errors
    ///
    /// As [`Holder::read`].
    pub fn read<T: Holder>(&mut self) -> Result<T> {
        let mode = self.read_mode::<T>()?;
        T::read(self, mode)
    }

    /// Reads an object into an older one.
    ///
    /// # Errors
    ///
    /// As [`Holder::read_into`].
    pub fn read_into<T: Holder>(&mut self, value: &mut T) -> Result<()> {
        let mode = self.read_mode::<T>()?;
        value.read_into(self, mode)
    }

    /// Skips an object.
    ///
    /// # Errors
    ///
    /// As [`Holder::skip`].
    pub fn skip<T: Holder>(&mut self) -> Result<()> {
        let mode = self.read_mode::<T>()?;
        T::skip(self, mode)
    }

    /// Reads a part of an object if this is possible without reading all of it. Otherwise returns
    /// `None`, and the object can still be read.
    pub(crate) fn read_part<T: Holder>(&mut self, range: &Range) -> Result<Option<T>> {
        // The mark is consumed only when it is clear that a part will be read.
        let start = self.position();
        let mode = self.read_mode::<T>()?;
        let part = T::read_part(self, mode, range)?;
        if part.is_none() && mode == Mode::Binary && !self.seek(start)? {
            self.mode_read = Some(Mode::Binary);
        }
        Ok(part)
    }

    fn read_mode<T: Holder>(&mut self) -> Result<Mode> {
        if let Some(mode) = self.mode_read.take() {
            return Ok(mode);
        }
        if !T::HEADER || self.peek()? != Some(0) {
            return Ok(Mode::Text);
        }
        match self.ensure(2)? {
            [0, b'B', ..] => {
                self.consume(2);
                Ok(Mode::Binary)
            }
            _ => Err(self.unexpected(OBJECT, "\"\\0B\" before a binary object")),
        }
    }
}
