//! What can be held in a table.

use seqfeed_core::{Error, Problem, Result};

use crate::object_reader::ObjectReader;
use crate::range::Range;
use crate::specifier::Rspecifier;
use crate::tables::options::ReadOptions;
use crate::tables::typing::Typing;
use crate::{OBJECT, SCRIPT};

pub use crate::mode::Mode;

/// A type of objects that tables hold: how one is read from an archive or file, and written there.
///
/// All readers and writers of tables take any type that has this; Kaldi's own types have it
/// already. An own type needs [`read`](Self::read) and [`write`](Self::write):
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
    /// What an object is called in messages: "float matrix".
    const TYPE: &'static str;

    /// Whether the binary form begins with `\0B`, and is told from text by it.
    ///
    /// Where this is false (tokens, waves, OpenFst's formats), [`read`](Self::read) has to find out
    /// itself what there is; the mode that it is given says nothing.
    const HEADER: bool = true;

    /// What the objects of a table are read as, where they can be of several types: one decision
    /// for a table, before its first object is read.
    #[doc(hidden)]
    fn typing(table: &Rspecifier, options: &ReadOptions) -> Result<Typing> {
        let _ = (table, options);
        Ok(Typing::default())
    }

    /// What the objects of an archive are read as that is a stream.
    #[doc(hidden)]
    fn typing_of_stream(options: &ReadOptions) -> Typing {
        let _ = options;
        Typing::default()
    }

    /// Reads an object; the reader stands behind the `\0B`, or at the object's first byte of text
    /// (in an archive: behind the blank after the key).
    ///
    /// Reads no further than the object's end (with its line's end, in text).
    ///
    /// # Errors
    ///
    /// Fails if there is no such object, placed where that became clear.
    fn read(reader: &mut ObjectReader, mode: Mode) -> Result<Self>;

    /// Reads an object in the place of an older one, whose memory may be used again.
    ///
    /// # Errors
    ///
    /// As [`read`](Self::read). The value is then anything.
    fn read_into(&mut self, reader: &mut ObjectReader, mode: Mode) -> Result<()> {
        *self = Self::read(reader, mode)?;
        Ok(())
    }

    /// Reads over an object. Worth an implementation of its own where headers tell the length.
    ///
    /// # Errors
    ///
    /// Fails if there is no such object, as far as that can be seen.
    fn skip(reader: &mut ObjectReader, mode: Mode) -> Result<()> {
        Self::read(reader, mode).map(drop)
    }

    /// Reads a part of an object without reading all of it, if that can be done; otherwise reads
    /// nothing at all and gives nothing.
    ///
    /// # Errors
    ///
    /// As [`read`](Self::read) and [`extract`](Self::extract).
    fn read_part(reader: &mut ObjectReader, mode: Mode, range: &Range) -> Result<Option<Self>> {
        let _ = (reader, mode, range);
        Ok(None)
    }

    /// Appends an object, as it stands behind the `\0B` or as text.
    ///
    /// # Errors
    ///
    /// Fails if the format has no way to say this value, or not in this mode.
    fn write(&self, out: &mut Vec<u8>, mode: Mode) -> Result<()>;

    /// As [`write`](Self::write), except for bytes at the object's end that lie in memory just as
    /// they are written: these are given instead, so that who writes large objects does not copy
    /// them once more.
    ///
    /// # Errors
    ///
    /// As [`write`](Self::write).
    fn write_start(&self, out: &mut Vec<u8>, mode: Mode) -> Result<&[u8]> {
        self.write(out, mode)?;
        Ok(&[])
    }

    /// How many rows (of a vector: elements) there are for a range to count, in types that
    /// have ranges.
    fn rows(&self) -> Option<usize> {
        None
    }

    /// The part of an object that a range in a script file means.
    ///
    /// # Errors
    ///
    /// Fails if the type knows no ranges, or if the range does not fit the object.
    fn extract(&self, range: &Range) -> Result<Self> {
        let _ = range;
        let what = format!("an object of type {} has no ranges", Self::TYPE);
        Err(Error::format(SCRIPT, Problem::Unsupported(what.into()))
            .with_help("take the range in brackets out of the script file"))
    }
}

/// Appends an object with the `\0B` before it where its type has one: what stands behind the key in
/// an archive, or alone in a file.
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

/// As [`write_object`], except for the bytes that [`Holder::write_start`] gives.
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
    /// Reads an object with its `\0B`, if its type has one: what stands behind the key in an
    /// archive, or alone in a file.
    ///
    /// # Errors
    ///
    /// As [`Holder::read`].
    pub fn read<T: Holder>(&mut self) -> Result<T> {
        let mode = self.read_mode::<T>()?;
        T::read(self, mode)
    }

    /// Reads an object in the place of an older one.
    ///
    /// # Errors
    ///
    /// As [`Holder::read_into`].
    pub fn read_into<T: Holder>(&mut self, value: &mut T) -> Result<()> {
        let mode = self.read_mode::<T>()?;
        value.read_into(self, mode)
    }

    /// Reads over an object.
    ///
    /// # Errors
    ///
    /// As [`Holder::skip`].
    pub fn skip<T: Holder>(&mut self) -> Result<()> {
        let mode = self.read_mode::<T>()?;
        T::skip(self, mode)
    }

    /// Reads a part of an object if that can be done without reading all of it; otherwise gives
    /// nothing, and the object is still to be read.
    pub(crate) fn read_part<T: Holder>(&mut self, range: &Range) -> Result<Option<T>> {
        // The mark stays where it is until it is clear that a part will be read.
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
