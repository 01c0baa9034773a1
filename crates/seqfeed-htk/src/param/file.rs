//! Parameter files on disk.

use std::ops::Range;
use std::path::Path;

use seqfeed_core::{Error, Result};
use seqfeed_io::{Compression, DataFile, Location, Opener};

use super::header::HEADER;
use super::{Checksum, Decoder, Header, Layout, ReadOptions, Warning};
use crate::decoded::decode;

/// The bytes to read at once: they stay in the cache until they are decoded.
const PIECE: usize = 1 << 17;

/// Scales within these bytes come with the header: those of up to 128 columns.
const FIRST: usize = HEADER + 1024;

/// A parameter file, open for reading frames at any place, from several threads at once.
#[derive(Debug)]
pub struct ParamFile {
    file: DataFile,
    layout: Layout,
    decoder: Decoder,
    verify: bool,
}

impl ParamFile {
    /// Opens a file of the file system, as [`open_at`](Self::open_at) does.
    ///
    /// # Errors
    ///
    /// As [`open_at`](Self::open_at).
    pub fn open(path: &Path, options: &ReadOptions) -> Result<Self> {
        Self::open_at(&path.into(), options, &Opener::default())
    }

    /// Opens a file and reads its header.
    ///
    /// A compressed file (gzip, bzip2, zstd) is first decoded into a temporary one. (In HTK such
    /// files are read through a filter, `HPARMFILTER`.)
    ///
    /// # Errors
    ///
    /// If it cannot be opened or decoded, or as [`Layout::find`].
    pub fn open_at(location: &Location, options: &ReadOptions, opener: &Opener) -> Result<Self> {
        let file = opener.open(location)?;
        let mut first = [0; FIRST];
        let count = file.read_at(&mut first, 0)?;
        if Compression::detect(&first[..count]) == Compression::None {
            return Self::begin(file, &first[..count], options);
        }
        Self::new(decode(location, file.name(), opener)?, options)
    }

    /// Takes an open file, such as a spool. It is not decompressed.
    ///
    /// # Errors
    ///
    /// As [`open`](Self::open).
    pub fn new(file: DataFile, options: &ReadOptions) -> Result<Self> {
        let mut first = [0; FIRST];
        let count = file.read_at(&mut first, 0)?;
        Self::begin(file, &first[..count], options)
    }

    fn begin(file: DataFile, first: &[u8], options: &ReadOptions) -> Result<Self> {
        let named = |error: Error| error.in_file(file.name());
        let layout = Layout::find(first, file.len(), options).map_err(named)?;
        let scales = layout.scales();
        let (start, end) = (scales.start as usize, scales.end as usize);
        let decoder = match first.get(start..end) {
            Some(scales) => Decoder::new(&layout, scales)?,
            None => {
                let mut bytes = vec![0; end - start];
                file.read_exact_at(&mut bytes, scales.start, "scales")?;
                Decoder::new(&layout, &bytes)?
            }
        };
        Ok(Self { file, layout, decoder, verify: options.verify })
    }

    /// The name for messages.
    #[must_use]
    pub fn name(&self) -> &str {
        self.file.name()
    }

    /// The header.
    #[must_use]
    pub fn header(&self) -> &Header {
        self.layout.header()
    }

    /// The layout of the frames.
    #[must_use]
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// The number of frames that can be read.
    #[must_use]
    pub fn frames(&self) -> u64 {
        self.layout.frames()
    }

    /// The number of values of a frame.
    #[must_use]
    pub fn columns(&self) -> usize {
        self.layout.columns()
    }

    /// Warnings about the file.
    #[must_use]
    pub fn warnings(&self) -> &[Warning] {
        self.layout.warnings()
    }

    /// Reads frames as floats (waveforms and symbols too). The checksum is not checked.
    ///
    /// # Errors
    ///
    /// If there are too few frames, if `out` has another size than they need, if the file has
    /// become shorter, or if the operating system fails to read.
    pub fn read_frames(&self, frames: Range<u64>, out: &mut [f32]) -> Result<()> {
        self.read_frames_to_bytes(frames, bytemuck::cast_slice_mut(out))
    }

    /// The same, with the floats as bytes in the machine's order, as in blocks.
    ///
    /// # Errors
    ///
    /// As [`read_frames`](Self::read_frames).
    pub fn read_frames_to_bytes(&self, frames: Range<u64>, out: &mut [u8]) -> Result<()> {
        self.check(&frames, out.len(), 4)?;
        self.read(&frames, out, |_| {})
    }

    /// Appends frames to `out`.
    ///
    /// # Errors
    ///
    /// As [`read_frames`](Self::read_frames). `out` is then unchanged.
    pub fn append_frames(&self, frames: Range<u64>, out: &mut Vec<f32>) -> Result<()> {
        let values = self.values_of(&frames)?;
        let start = out.len();
        out.resize(start + values, 0.0);
        self.read_frames(frames, &mut out[start..]).inspect_err(|_| out.truncate(start))
    }

    /// Appends all frames to `out`. Verifies the checksum on the way, if the options ask for it.
    ///
    /// # Errors
    ///
    /// As [`append_frames`](Self::append_frames), and if the checksum is wrong.
    pub fn append_all(&self, out: &mut Vec<f32>) -> Result<()> {
        let frames = 0..self.frames();
        let Some(offset) = self.layout.checksum_offset().filter(|_| self.verify) else {
            return self.append_frames(frames, out);
        };
        let values = self.values_of(&frames)?;
        let start = out.len();
        out.resize(start + values, 0.0);
        let mut read = || {
            let mut sum = self.sum_of_scales()?;
            let bytes = bytemuck::cast_slice_mut(&mut out[start..]);
            self.read(&frames, bytes, |piece| sum.update(piece))?;
            self.compare(&sum, offset)
        };
        read().inspect_err(|_| out.truncate(start))
    }

    /// Reads frames of waveforms and symbols unchanged.
    ///
    /// # Errors
    ///
    /// As [`read_frames`](Self::read_frames), and if the values are not integers.
    pub fn read_i16(&self, frames: Range<u64>, out: &mut [i16]) -> Result<()> {
        self.check(&frames, out.len(), 1)?;
        let mut buffer = vec![0; self.piece_bytes(&frames)];
        let mut rest = out;
        self.pieces(&frames, &mut buffer, |bytes| {
            let (part, behind) = std::mem::take(&mut rest).split_at_mut(bytes.len() / 2);
            rest = behind;
            self.decoder.decode_i16(bytes, part)
        })
    }

    /// Verifies the checksum, which reads the whole file. Returns whether there is one.
    ///
    /// # Errors
    ///
    /// If it is wrong, or the operating system fails to read.
    pub fn verify(&self) -> Result<bool> {
        let Some(offset) = self.layout.checksum_offset() else { return Ok(false) };
        let mut sum = self.sum_of_scales()?;
        let frames = 0..self.frames();
        let mut buffer = vec![0; self.piece_bytes(&frames)];
        self.pieces(&frames, &mut buffer, |bytes| {
            sum.update(bytes);
            Ok(())
        })?;
        self.compare(&sum, offset).map(|()| true)
    }

    fn sum_of_scales(&self) -> Result<Checksum> {
        let mut sum = Checksum::new(self.header().order);
        let scales = self.layout.scales();
        let mut bytes = vec![0; (scales.end - scales.start) as usize];
        self.file.read_exact_at(&mut bytes, scales.start, "scales")?;
        sum.update(&bytes);
        Ok(sum)
    }

    fn compare(&self, sum: &Checksum, offset: u64) -> Result<()> {
        let mut stored = [0; 2];
        self.file.read_exact_at(&mut stored, offset, "the checksum")?;
        let compared = self.layout.compare_checksum(offset, sum.value(), stored);
        compared.map_err(|error| error.in_file(self.name()))
    }

    /// The number of values in frames, if the frames exist.
    fn values_of(&self, frames: &Range<u64>) -> Result<usize> {
        if frames.start > frames.end || frames.end > self.frames() {
            let message = format!(
                "frames {} to {} are wanted, the file has {}",
                frames.start,
                frames.end,
                self.frames()
            );
            return Err(Error::usage(message).in_file(self.name()));
        }
        let count = usize::try_from(frames.end - frames.start).ok();
        let values = count.and_then(|count| count.checked_mul(self.columns()));
        values.ok_or_else(|| Error::usage("more values than memory can hold").in_file(self.name()))
    }

    /// Fails unless the frames exist and need exactly `units`. Each value takes `units_per_value`
    /// of these.
    fn check(&self, frames: &Range<u64>, units: usize, units_per_value: usize) -> Result<()> {
        let values = self.values_of(frames)?;
        if values.checked_mul(units_per_value) == Some(units) {
            return Ok(());
        }
        Err(Error::usage(format!("room for {values} values is needed")).in_file(self.name()))
    }

    /// Reads and decodes frames. `show` gets their stored bytes.
    fn read(&self, frames: &Range<u64>, out: &mut [u8], mut show: impl FnMut(&[u8])) -> Result<()> {
        if self.decoder.is_in_place() {
            let mut offset = self.offset(frames.start);
            for piece in out.chunks_mut(PIECE) {
                self.file.read_exact_at(piece, offset, "frames")?;
                show(piece);
                self.decoder.decode_in_place(piece);
                offset += piece.len() as u64;
            }
            return Ok(());
        }
        let mut buffer = vec![0; self.piece_bytes(frames)];
        let mut rest = out;
        self.pieces(frames, &mut buffer, |bytes| {
            show(bytes);
            let (part, behind) = std::mem::take(&mut rest).split_at_mut(2 * bytes.len());
            rest = behind;
            self.decoder.decode_to_bytes(bytes, part)
        })
    }

    fn offset(&self, frame: u64) -> u64 {
        self.layout.data_offset() + frame * self.layout.frame_bytes() as u64
    }

    /// Bytes of the largest part to read at once: whole frames.
    fn piece_bytes(&self, frames: &Range<u64>) -> usize {
        let frame_bytes = self.layout.frame_bytes();
        let most = (PIECE / frame_bytes).max(1) as u64;
        most.min(frames.end - frames.start) as usize * frame_bytes
    }

    /// Reads frames part by part.
    fn pieces(
        &self,
        frames: &Range<u64>,
        buffer: &mut [u8],
        mut each: impl FnMut(&[u8]) -> Result<()>,
    ) -> Result<()> {
        let (mut offset, end) = (self.offset(frames.start), self.offset(frames.end));
        while offset < end {
            let len = buffer.len().min((end - offset) as usize);
            self.file.read_exact_at(&mut buffer[..len], offset, "frames")?;
            each(&buffer[..len])?;
            offset += len as u64;
        }
        Ok(())
    }
}
