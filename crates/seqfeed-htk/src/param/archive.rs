//! Archives: many utterances in one parameter file.

use std::io::Write;

use seqfeed_core::{Error, Result};
use seqfeed_io::{Opener, Output, WxFilename};

use super::encode::{append_floats, append_integers, append_shorts};
use super::header::HEADER;
use super::{Base, Checksum, Encoding, Header, ParamKind};
use crate::script::Segment;

/// Writes an archive: one parameter file with the frames of many utterances, one after another. A
/// script lists the frames of each utterance.
///
/// Nothing is kept in memory. [`finish`](Self::finish) or [`into_output`](Self::into_output) makes
/// the file appear under its name.
///
/// ```
/// use seqfeed_htk::param::{ArchiveWriter, Encoding, ParamFile, ReadOptions};
/// use seqfeed_io::{Opener, WxFilename};
///
/// # let directory = tempfile::tempdir().unwrap();
/// # let path = directory.path().join("x.htk");
/// let name = WxFilename::parse(&path.display().to_string())?;
/// let mut archive = ArchiveWriter::create(&name, Encoding::default(), 2, &Opener::default())?;
/// archive.write(&[1.0, 2.0])?;
/// let second = archive.write(&[3.0, 4.0, 5.0, 6.0])?;
/// archive.finish()?;
/// assert_eq!((second.first(), second.end()), (1, Some(3)));
/// let file = ParamFile::open(&path, &ReadOptions::default())?;
/// let mut frames = [0.0; 4];
/// file.read_frames(1..3, &mut frames)?;
/// assert_eq!(frames, [3.0, 4.0, 5.0, 6.0]);
/// # Ok::<(), seqfeed_core::Error>(())
/// ```
#[derive(Debug)]
pub struct ArchiveWriter {
    output: Output,
    encoding: Encoding,
    /// Whether values are 16-bit integers.
    integers: bool,
    sample_bytes: i16,
    columns: usize,
    frames: i32,
    sum: Checksum,
    shorts: Vec<i16>,
    bytes: Vec<u8>,
}

impl ArchiveWriter {
    /// Begins an archive of frames of `columns` values.
    ///
    /// # Errors
    ///
    /// Fails if the kind is compressed (such a file begins with scales, which need all values); if
    /// frames are empty or have more than 32767 bytes; if the file cannot be made; or if it is a
    /// pipe (the number of frames stands before them).
    pub fn create(
        name: &WxFilename,
        encoding: Encoding,
        columns: usize,
        opener: &Opener,
    ) -> Result<Self> {
        let refuse = |what: String| Err(Error::usage(what).in_file(name.to_string()));
        let kind = encoding.kind;
        let integers = matches!(kind.base(), Base::Waveform | Base::Discrete);
        if kind.base() == Base::Irefc
            || kind.has(ParamKind::COMPRESSED)
            || kind.has(ParamKind::INDEXED)
        {
            return refuse(format!("an archive of kind {kind} cannot be written piece by piece"));
        }
        let value_bytes = if integers { 2 } else { 4 };
        let most = if kind.base() == Base::Waveform { 1 } else { i16::MAX as usize / value_bytes };
        let sample_bytes =
            columns.checked_mul(value_bytes).filter(|_| (1..=most).contains(&columns));
        let Some(sample_bytes) = sample_bytes.and_then(|bytes| i16::try_from(bytes).ok()) else {
            return refuse(format!("frames of {columns} values, possible are 1 to {most}"));
        };
        let mut output = Output::create(name, opener)?;
        if !output.can_write_over() {
            return refuse(
                "a parameter file begins with the number of its frames, which is known at \
                           its end: it needs a file to go back in"
                    .to_owned(),
            );
        }
        output.write_all(&[0; HEADER]).map_err(|error| output.error(error))?;
        let sum = Checksum::new(encoding.order);
        let (shorts, bytes) = (Vec::new(), Vec::new());
        Ok(Self {
            output,
            encoding,
            integers,
            sample_bytes,
            columns,
            frames: 0,
            sum,
            shorts,
            bytes,
        })
    }

    /// Writes the frames of an utterance. Returns their range.
    ///
    /// # Errors
    ///
    /// Fails if there are no frames or not whole ones; after 2^31 - 1 frames; if the kind has
    /// 16-bit integers and a value is not one; and if writing fails.
    pub fn write(&mut self, values: &[f32]) -> Result<Segment> {
        let frames = values.len() / self.columns;
        if frames == 0 || !values.len().is_multiple_of(self.columns) {
            let what = format!("{} values are not frames of {}", values.len(), self.columns);
            return Err(Error::usage(what).in_file(self.output.name().to_owned()));
        }
        let first = self.frames.unsigned_abs();
        let end = i32::try_from(frames).ok().and_then(|frames| self.frames.checked_add(frames));
        let Some((end, segment)) = end.and_then(|end| {
            let last = Some(end.unsigned_abs() - 1);
            Some((end, Segment::new(first, last)?))
        }) else {
            let what = format!("an archive has at most {} frames", i32::MAX);
            return Err(Error::usage(what).in_file(self.output.name().to_owned()));
        };
        self.bytes.clear();
        if self.integers {
            self.shorts.clear();
            append_integers(values, &mut self.shorts)?;
            append_shorts(self.encoding.order, &self.shorts, &mut self.bytes);
        } else {
            append_floats(self.encoding.order, values, &mut self.bytes);
        }
        if self.encoding.kind.has(ParamKind::CHECKSUM) {
            self.sum.update(&self.bytes);
        }
        self.output.write_all(&self.bytes).map_err(|error| self.output.error(error))?;
        self.frames = end;
        Ok(segment)
    }

    /// Ends the archive, which appears under its name.
    ///
    /// # Errors
    ///
    /// If writing fails.
    pub fn finish(self) -> Result<()> {
        self.into_output()?.finish()
    }

    /// Ends the archive without giving it its name yet, so that it appears together with other
    /// files.
    ///
    /// # Errors
    ///
    /// If writing fails.
    pub fn into_output(mut self) -> Result<Output> {
        let Encoding { kind, period, order } = self.encoding;
        if kind.has(ParamKind::CHECKSUM) {
            let sum = order.of_u16(self.sum.value());
            self.output.write_all(&sum).map_err(|error| self.output.error(error))?;
        }
        let sample_bytes = self.sample_bytes.unsigned_abs();
        let header = Header { samples: self.frames, period, sample_bytes, kind, order };
        self.output.write_over(&header.to_bytes(), 0)?;
        Ok(self.output)
    }
}
