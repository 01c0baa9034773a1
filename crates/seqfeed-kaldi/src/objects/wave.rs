//! Waves: WAVE files, also inside archives.

use seqfeed_core::{Error, ErrorKind, Problem, Result};

use crate::holder::{Holder, Mode};
use crate::object_reader::ObjectReader;
use crate::objects::matrix::Matrix;
use crate::objects::wave_header::{Encoding, WAVE, WaveHeader};

/// Memory is taken for at most this many samples before they have been read.
const STEP: usize = 1 << 19;

/// Bytes of a written header.
const HEADER_BYTES: u32 = 44;

/// Sound: Kaldi's `WaveData`.
///
/// Samples have the values of 16-bit integers, from -32768 to 32767. Other encodings, which Kaldi
/// refuses, are scaled to the full scale of 16 bits:
///
/// ```text
/// 8 bits, unsigned   (v - 128) * 256
/// 16 bits            v
/// 24 bits            v / 256         exact
/// 32 bits            v / 65536       rounded to 24 significant bits
/// 32-bit floats      v * 32768       exact
/// 64-bit floats      v * 32768       rounded to 24 significant bits
/// ```
///
/// Waves are written with a header of 44 bytes and 16-bit samples, cut off toward zero and limited
/// to their range. Chunks other than format and samples are skipped when a wave is read, so they
/// are lost.
///
/// Sizes in the headers of waves are often wrong. If a header promises more samples than there are,
/// the existing ones are read, and [`warnings`](Self::warnings) says so.
///
/// ```
/// use seqfeed_kaldi::{Matrix, Mode, ObjectReader, Wave, write_object};
///
/// let samples = Matrix { rows: 1, cols: 3, values: vec![0.0, 100.9, -40000.0] };
/// let wave = Wave { sample_rate: 16000.0, samples, warnings: Vec::new() };
/// assert_eq!(wave.clipped(), 1);
/// let mut out = Vec::new();
/// write_object(&wave, &mut out, Mode::Binary)?;
/// assert_eq!(out.len(), 44 + 3 * 2);
/// let wave: Wave = ObjectReader::from_bytes("memory", out).read()?;
/// assert_eq!(wave.samples.values, [0.0, 100.0, -32768.0]);
/// # Ok::<(), seqfeed_core::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Wave {
    /// Samples a second.
    pub sample_rate: f32,
    /// A row for each channel, a column for each sample.
    pub samples: Matrix<f32>,
    /// Errors in the file that did not prevent reading it.
    pub warnings: Vec<String>,
}

impl Wave {
    /// Length in seconds.
    #[must_use]
    pub fn duration(&self) -> f32 {
        self.samples.cols as f32 / self.sample_rate
    }

    /// The number of samples outside the range of 16 bits. They are limited to it when written.
    #[must_use]
    pub fn clipped(&self) -> usize {
        let out_of_range = |value: &&f32| value.trunc() > 32767.0 || value.trunc() < -32768.0;
        self.samples.values.iter().filter(out_of_range).count()
    }
}

impl Holder for Wave {
    const TYPE: &'static str = "wave";
    const HEADER: bool = false;

    fn read(reader: &mut ObjectReader, mode: Mode) -> Result<Self> {
        let mut wave = Self::default();
        wave.read_into(reader, mode)?;
        Ok(wave)
    }

    fn read_into(&mut self, reader: &mut ObjectReader, _: Mode) -> Result<()> {
        let mut header = WaveHeader::read(reader)?;
        let start = reader.position();
        let values = &mut self.samples.values;
        values.clear();
        read_samples(reader, &header, values)?;
        check_length(&mut header, reader.position() - start);
        let channels = usize::from(header.channels);
        let samples = values.len() / channels;
        if samples == 0 {
            let problem = Problem::Unsupported("a wave without samples".into());
            return Err(reader.error_at(start, WAVE, problem));
        }
        values.truncate(samples * channels);
        if channels > 1 {
            *values = apart(values, channels);
        }
        (self.samples.rows, self.samples.cols) = (channels, samples);
        self.sample_rate = header.rate as f32;
        header.skip_behind(reader)?;
        self.warnings = header.warnings;
        Ok(())
    }

    fn skip(reader: &mut ObjectReader, _: Mode) -> Result<()> {
        let mut header = WaveHeader::read(reader)?;
        skip_samples(reader, &mut header)
    }

    fn write(&self, out: &mut Vec<u8>, mode: Mode) -> Result<()> {
        let refuse =
            |what: &str| Err(Error::format(WAVE, Problem::Unsupported(what.to_owned().into())));
        if mode == Mode::Text {
            return refuse("a wave as text");
        }
        let Matrix { rows: channels, cols: samples, values } = &self.samples;
        if values.is_empty() {
            return refuse("a wave without samples");
        }
        if channels.checked_mul(*samples) != Some(values.len()) {
            return refuse("a wave whose channels times samples are not as many as its values");
        }
        if values.iter().any(|value| value.is_nan()) {
            return refuse("a wave with samples that are no numbers");
        }
        let align = channels.checked_mul(2).and_then(|bytes| u16::try_from(bytes).ok());
        let (Some(align), Ok(channel_count)) = (align, u16::try_from(*channels)) else {
            return refuse("a wave of more than 32767 channels");
        };
        let bytes = u32::try_from(values.len() * 2).ok();
        let sizes = bytes.and_then(|bytes| Some((bytes, bytes.checked_add(HEADER_BYTES - 8)?)));
        let Some((bytes, riff)) = sizes else {
            return refuse("a wave of more than 4 GB");
        };
        // Cut off, as by Kaldi. The comparison is false for NaN.
        let rate = self.sample_rate.trunc();
        let byte_rate = f64::from(rate) * f64::from(align);
        if !(rate >= 0.0 && byte_rate <= f64::from(u32::MAX)) {
            return refuse("a wave with such a sample rate");
        }
        out.extend_from_slice(b"RIFF");
        out.extend_from_slice(&riff.to_le_bytes());
        out.extend_from_slice(b"WAVEfmt ");
        out.extend_from_slice(&16u32.to_le_bytes());
        out.extend_from_slice(&1u16.to_le_bytes());
        out.extend_from_slice(&channel_count.to_le_bytes());
        out.extend_from_slice(&(rate as u32).to_le_bytes());
        out.extend_from_slice(&(byte_rate as u32).to_le_bytes());
        out.extend_from_slice(&align.to_le_bytes());
        out.extend_from_slice(&16u16.to_le_bytes());
        out.extend_from_slice(b"data");
        out.extend_from_slice(&bytes.to_le_bytes());
        let start = out.len();
        out.resize(start + bytes as usize, 0);
        let (written, _) = out[start..].as_chunks_mut::<2>();
        for (channel, row) in values.chunks_exact(*samples).enumerate() {
            for (to, &value) in written[channel..].iter_mut().step_by(*channels).zip(row) {
                // The conversion cuts off toward zero and limits the range.
                *to = (value as i16).to_le_bytes();
            }
        }
        Ok(())
    }
}

/// The header of a wave: Kaldi's `WaveInfo`.
///
/// Reading one from a table skips the samples, so it works with archives too (in Kaldi it does
/// not). For a file with a single wave, [`read_header`](Self::read_header) does not even skip them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WaveInfo {
    /// Samples a second.
    pub sample_rate: f32,
    /// Number of channels.
    pub channels: usize,
    /// Samples of each channel, from the header. `None` if they go on to the end of the stream.
    pub samples: Option<u64>,
    /// Bytes of a sample of all channels.
    pub block_align: u64,
    /// Whether numbers are big-endian (RIFX).
    pub big_endian: bool,
    /// Errors in the file that did not prevent reading it.
    pub warnings: Vec<String>,
}

impl WaveInfo {
    /// Length in seconds, from the header. `None` if samples go on to the end of the stream.
    #[must_use]
    pub fn duration(&self) -> Option<f32> {
        Some(self.samples? as f32 / self.sample_rate)
    }

    /// Reads the header of a wave, and no samples.
    ///
    /// # Errors
    ///
    /// Fails if there is no header, or if [`Wave`] cannot read samples of this kind.
    pub fn read_header(reader: &mut ObjectReader) -> Result<Self> {
        Ok(Self::new(WaveHeader::read(reader)?))
    }

    fn new(header: WaveHeader) -> Self {
        Self {
            sample_rate: header.rate as f32,
            channels: header.channels.into(),
            samples: header.data.map(|bytes| bytes / header.align()),
            block_align: header.align(),
            big_endian: header.big_endian,
            warnings: header.warnings,
        }
    }
}

impl Holder for WaveInfo {
    const TYPE: &'static str = "header of a wave";
    const HEADER: bool = false;

    fn read(reader: &mut ObjectReader, _: Mode) -> Result<Self> {
        let mut header = WaveHeader::read(reader)?;
        skip_samples(reader, &mut header)?;
        Ok(Self::new(header))
    }

    /// Always fails: a header alone is not an object.
    fn write(&self, _: &mut Vec<u8>, _: Mode) -> Result<()> {
        let what = "a wave without its samples".into();
        Err(Error::format(WAVE, Problem::Unsupported(what)))
    }
}

/// Reads the samples to their end or the end of the stream, with channels interleaved.
fn read_samples(
    reader: &mut ObjectReader,
    header: &WaveHeader,
    values: &mut Vec<f32>,
) -> Result<()> {
    let width = header.encoding.bytes();
    let mut left = header.data.unwrap_or(u64::MAX);
    values.reserve((left / width as u64).min(STEP as u64) as usize);
    while left > 0 {
        let buffer = reader.ensure(width)?;
        let there = usize::try_from(left).map_or(buffer.len(), |left| left.min(buffer.len()));
        if there == 0 {
            break;
        }
        let whole = there / width * width;
        // The bytes after the last whole sample belong to the object too.
        let taken = if whole == 0 { there } else { whole };
        decode(header.encoding, header.big_endian, &buffer[..whole], values);
        reader.consume(taken);
        left -= taken as u64;
    }
    Ok(())
}

/// Appends samples.
pub(crate) fn decode(encoding: Encoding, big_endian: bool, bytes: &[u8], values: &mut Vec<f32>) {
    fn extend<const N: usize>(values: &mut Vec<f32>, bytes: &[u8], decode: fn([u8; N]) -> f32) {
        values.extend(bytes.as_chunks().0.iter().map(|&bytes| decode(bytes)));
    }
    /// Scales a sample of 32 bits. Shorter samples are in its upper bits.
    fn scaled(value: i32) -> f32 {
        value as f32 / 65536.0
    }
    match (encoding, big_endian) {
        (Encoding::U8, _) => {
            extend(values, bytes, |[a]: [u8; 1]| (f32::from(a) - 128.0) * 256.0);
        }
        (Encoding::I16, false) => {
            values.extend(bytes.as_chunks().0.iter().map(|&v| f32::from(i16::from_le_bytes(v))));
        }
        (Encoding::I16, true) => {
            values.extend(bytes.as_chunks().0.iter().map(|&v| f32::from(i16::from_be_bytes(v))));
        }
        (Encoding::I24, false) => {
            extend(values, bytes, |[a, b, c]| scaled(i32::from_le_bytes([0, a, b, c])));
        }
        (Encoding::I24, true) => {
            extend(values, bytes, |[a, b, c]| scaled(i32::from_be_bytes([a, b, c, 0])));
        }
        (Encoding::I32, false) => extend(values, bytes, |v| scaled(i32::from_le_bytes(v))),
        (Encoding::I32, true) => extend(values, bytes, |v| scaled(i32::from_be_bytes(v))),
        (Encoding::Values, _) => extend(values, bytes, f32::from_ne_bytes),
        (Encoding::F32, false) => extend(values, bytes, |v| f32::from_le_bytes(v) * 32768.0),
        (Encoding::F32, true) => extend(values, bytes, |v| f32::from_be_bytes(v) * 32768.0),
        (Encoding::F64, false) => {
            extend(values, bytes, |v| (f64::from_le_bytes(v) * 32768.0) as f32);
        }
        (Encoding::F64, true) => {
            extend(values, bytes, |v| (f64::from_be_bytes(v) * 32768.0) as f32);
        }
    }
}

/// Separates interleaved channels.
fn apart(interleaved: &[f32], channels: usize) -> Vec<f32> {
    let mut values = Vec::with_capacity(interleaved.len());
    for channel in 0..channels {
        values.extend(interleaved[channel..].iter().step_by(channels));
    }
    values
}

/// Skips the samples and the chunks after them.
fn skip_samples(reader: &mut ObjectReader, header: &mut WaveHeader) -> Result<()> {
    let start = reader.position();
    match header.data.map(|bytes| reader.skip_bytes(bytes, "a wave")) {
        Some(Ok(())) => {}
        // Fewer samples than in the header are not an error.
        Some(Err(error)) if !is_end(&error) => return Err(error),
        _ => loop {
            let buffered = reader.fill()?.len();
            if buffered == 0 {
                break;
            }
            reader.consume(buffered);
        },
    }
    check_length(header, reader.position() - start);
    header.skip_behind(reader)
}

fn is_end(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::Format { problem: Problem::UnexpectedEnd { .. }, .. })
}

/// Adds a warning if there are fewer bytes of samples than in the header.
fn check_length(header: &mut WaveHeader, found: u64) {
    if let Some(expected) = header.data.filter(|&expected| found < expected) {
        header.warnings.push(format!(
            "the header says {expected} bytes of samples, there are {found}: is the file cut short?"
        ));
    }
}
