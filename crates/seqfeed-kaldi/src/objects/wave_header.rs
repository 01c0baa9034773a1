//! The chunks before and after the samples of a WAVE file.
//!
//! ```text
//! RIFF size:u32 WAVE     RIFX: all numbers big-endian, samples too
//! chunks                 id:4 bytes, size:u32, contents; the one named "fmt " among them
//! data size:u32          the samples
//! chunks
//!
//! fmt    format:u16 channels:u16 rate:u32 bytes a second:u32 bytes of all channels:u16 bits:u16
//!        of format 0xfffe besides: 22:u16 bits:u16 speakers:u32 GUID (the real format in front)
//! ```

use seqfeed_core::{Problem, Result};

use crate::object_reader::ObjectReader;

/// The name of the format in messages.
pub(crate) const WAVE: &str = "WAVE file";

const PCM: u32 = 1;
const FLOAT: u32 = 3;
const EXTENSIBLE: u32 = 0xfffe;

/// The bytes after the format in the GUID of an extensible header.
const GUID_TAIL: [u8; 8] = [0x80, 0x00, 0x00, 0xaa, 0x00, 0x38, 0x9b, 0x71];

/// The most bytes after the samples that are looked at for chunks.
const MOST_BEHIND: u64 = 1 << 20;

/// The encoding of a sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Encoding {
    U8,
    I16,
    I24,
    I32,
    F32,
    F64,
    /// 32-bit floats with the final values. Only the spool has them.
    Values,
}

impl Encoding {
    fn new(format: u32, bits: u16) -> Option<Self> {
        Some(match (format, bits) {
            (PCM, 8) => Self::U8,
            (PCM, 16) => Self::I16,
            (PCM, 24) => Self::I24,
            (PCM, 32) => Self::I32,
            (FLOAT, 32) => Self::F32,
            (FLOAT, 64) => Self::F64,
            _ => return None,
        })
    }

    /// Bytes of a sample.
    pub(crate) fn bytes(self) -> usize {
        match self {
            Self::U8 => 1,
            Self::I16 => 2,
            Self::I24 => 3,
            Self::I32 | Self::F32 | Self::Values => 4,
            Self::F64 => 8,
        }
    }
}

/// The header, read up to the first sample.
#[derive(Debug)]
pub(crate) struct WaveHeader {
    pub(crate) big_endian: bool,
    pub(crate) encoding: Encoding,
    pub(crate) rate: u32,
    pub(crate) channels: u16,
    /// Bytes of the samples. `None` if they go on to the end of the stream; programs that write to
    /// pipes say so.
    pub(crate) data: Option<u64>,
    /// Bytes of the RIFF chunk after the samples, by its size.
    pub(crate) behind: u64,
    pub(crate) warnings: Vec<String>,
}

/// A reader with the order of bytes of the file.
struct Fields<'a> {
    reader: &'a mut ObjectReader,
    big_endian: bool,
}

impl Fields<'_> {
    fn id(&mut self, inside: &'static str) -> Result<[u8; 4]> {
        self.reader.read_array(inside)
    }

    fn u16(&mut self) -> Result<u16> {
        let bytes = self.reader.read_array("the header of a wave")?;
        Ok(if self.big_endian { u16::from_be_bytes(bytes) } else { u16::from_le_bytes(bytes) })
    }

    fn u32(&mut self) -> Result<u32> {
        let bytes = self.reader.read_array("the header of a wave")?;
        Ok(order(self.big_endian, bytes))
    }

    /// Skips the rest of a chunk, with the byte that pads an odd size. Some programs do not write
    /// that byte (and Kaldi ignores it), but no chunk name begins with a zero.
    fn skip_chunk(&mut self, bytes: u32) -> Result<()> {
        self.reader.skip_bytes(bytes.into(), "a chunk of a wave")?;
        if bytes % 2 == 1 && self.reader.peek()? == Some(0) {
            self.reader.consume(1);
        }
        Ok(())
    }

    /// Reads the `fmt ` chunk: encoding, channels, rate.
    fn format(&mut self) -> Result<(Encoding, u16, u32)> {
        let start = self.reader.position();
        let size = self.u32()?;
        let wrong = |fields: &Self, problem| fields.reader.error_at(start, WAVE, problem);
        let out_of_range = |what, found: u64, allowed: String| Problem::OutOfRange {
            what,
            found: i64::try_from(found).unwrap_or(i64::MAX),
            allowed: allowed.into(),
        };
        if size < 16 {
            let problem = out_of_range("size of the fmt chunk", size.into(), "16 or more".into());
            return Err(wrong(self, problem));
        }
        let mut format = u32::from(self.u16()?);
        let channels = self.u16()?;
        let rate = self.u32()?;
        let byte_rate = self.u32()?;
        let align = self.u16()?;
        let bits = self.u16()?;
        let mut rest = size - 16;
        if format == EXTENSIBLE {
            if size < 40 || self.u16()? < 22 {
                let what = "an extensible format without its extension".into();
                return Err(wrong(self, Problem::Unsupported(what)));
            }
            // The number of used bits, and the speakers of the channels.
            self.u16()?;
            self.u32()?;
            format = self.u32()?;
            let (second, third) = (self.u16()?, self.u16()?);
            let tail: [u8; 8] = self.reader.read_array("the header of a wave")?;
            if (second, third, tail) != (0, 0x10, GUID_TAIL) {
                let what = "an extensible format that is not one of Microsoft's".into();
                return Err(wrong(self, Problem::Unsupported(what)));
            }
            rest -= 24;
        }
        self.skip_chunk(rest)?;
        let Some(encoding) = Encoding::new(format, bits) else {
            let name = match format {
                PCM => "integers",
                FLOAT => "floats",
                2 | 0x11 => "ADPCM",
                6 => "A-law",
                7 => "mu-law",
                0x55 => "MP3",
                _ => "another encoding",
            };
            let what = format!("samples of format {format} ({name}) with {bits} bits");
            return Err(wrong(self, Problem::Unsupported(what.into()))
                .with_help("convert it, for instance with: sox in.wav -b 16 -e signed out.wav"));
        };
        let expected_align = u64::from(channels) * encoding.bytes() as u64;
        let expected_rate = u64::from(rate) * expected_align;
        if channels == 0 {
            let problem = out_of_range("number of channels", 0, "1 or more".into());
            return Err(wrong(self, problem));
        }
        if u64::from(byte_rate) != expected_rate {
            let allowed = format!("{expected_rate}, by rate, channels and bits");
            let problem = out_of_range("bytes a second", byte_rate.into(), allowed);
            return Err(wrong(self, problem));
        }
        if u64::from(align) != expected_align {
            let allowed = format!("{expected_align}, by channels and bits");
            let problem = out_of_range("bytes of a sample of all channels", align.into(), allowed);
            return Err(wrong(self, problem));
        }
        Ok((encoding, channels, rate))
    }
}

impl WaveHeader {
    /// Reads up to the first sample.
    pub(crate) fn read(reader: &mut ObjectReader) -> Result<Self> {
        let start = reader.position();
        let magic: [u8; 4] = reader.read_array("the header of a wave")?;
        if !matches!(&magic, b"RIFF" | b"RIFX") {
            let expected = "RIFF or RIFX".into();
            let problem = Problem::Unexpected { expected, found: magic.into() };
            let error = reader.error_at(start, WAVE, problem);
            return Err(match &magic {
                b"NIST" => error.with_help("it is a SPHERE file: convert it with sph2pipe -f wav"),
                b"RF64" | b"BW64" => error.with_help("it is a wave of more than 4 GB: split it"),
                _ => error,
            });
        }
        let mut fields = Fields { big_endian: magic == *b"RIFX", reader };
        let riff = fields.u32()?;
        let at = fields.reader.position();
        let form = fields.id("the header of a wave")?;
        if form != *b"WAVE" {
            let problem = Problem::Unexpected { expected: "WAVE".into(), found: form.into() };
            return Err(fields.reader.error_at(at, WAVE, problem));
        }
        while fields.id("a wave (no fmt chunk)")? != *b"fmt " {
            let size = fields.u32()?;
            fields.skip_chunk(size)?;
        }
        let (encoding, channels, rate) = fields.format()?;
        let mut warnings = Vec::new();
        loop {
            let id = fields.id("a wave (no data chunk)")?;
            if id == *b"data" {
                break;
            }
            let size = fields.u32()?;
            if id == *b"fact" && size != 4 {
                warnings.push(format!("the fact chunk has {size} bytes, not 4"));
            }
            fields.skip_chunk(size)?;
        }
        let data = fields.u32()?;
        let big_endian = fields.big_endian;
        // Sizes from programs that do not know how much they will write; the last one is SoX's.
        let streamed = matches!(riff, 0 | u32::MAX) || matches!(data, 0 | u32::MAX | 0x7fff_f000);
        let (riff, data) = (u64::from(riff), u64::from(data));
        // The RIFF chunk includes everything after its own size.
        let end = reader.position() - start - 8 + data;
        if !streamed && riff.abs_diff(end) > 1 {
            warnings.push(format!(
                "the RIFF chunk has {riff} bytes by its size, {end} by that of the samples"
            ));
        }
        Ok(Self {
            big_endian,
            encoding,
            rate,
            channels,
            data: (!streamed).then_some(data),
            behind: riff.saturating_sub(end),
            warnings,
        })
    }

    /// Bytes of a sample of all channels.
    pub(crate) fn align(&self) -> u64 {
        u64::from(self.channels) * self.encoding.bytes() as u64
    }

    /// Skips the chunks after the samples, so that the next key of an archive is found.
    ///
    /// Sizes in headers may be false. So only a chain of chunks that ends where the RIFF chunk ends
    /// is skipped.
    pub(crate) fn skip_behind(&self, reader: &mut ObjectReader) -> Result<()> {
        let Some(data) = self.data else { return Ok(()) };
        let mut behind = self.behind;
        // No key begins with a zero.
        if data % 2 == 1 && reader.peek()? == Some(0) {
            reader.consume(1);
            behind = behind.saturating_sub(1);
        }
        if !(8..=MOST_BEHIND).contains(&behind) {
            return Ok(());
        }
        let behind = behind as usize;
        let buffer = reader.ensure(behind)?;
        if buffer.get(..behind).is_some_and(|bytes| are_chunks(bytes, self.big_endian)) {
            reader.consume(behind);
        }
        Ok(())
    }
}

fn order(big_endian: bool, bytes: [u8; 4]) -> u32 {
    if big_endian { u32::from_be_bytes(bytes) } else { u32::from_le_bytes(bytes) }
}

/// Whether bytes are consecutive chunks, each padded to an even size (the last one may lack the
/// padding).
fn are_chunks(mut bytes: &[u8], big_endian: bool) -> bool {
    while let Some((&[a, b, c, d, size @ ..], rest)) = bytes.split_first_chunk::<8>() {
        let size = order(big_endian, size) as usize;
        if ![a, b, c, d].iter().all(|byte| matches!(byte, b' '..=b'~')) || size > rest.len() {
            return false;
        }
        bytes = rest.get(size + size % 2..).unwrap_or_default();
    }
    bytes.is_empty()
}

#[cfg(test)]
mod tests {
    use super::are_chunks;

    #[test]
    fn chains_of_chunks_are_told_from_keys() {
        assert!(are_chunks(b"LIST\x04\0\0\0abcd", false));
        assert!(are_chunks(b"LIST\x03\0\0\0abc\0fact\0\0\0\0", false));
        assert!(are_chunks(b"LIST\x03\0\0\0abc", false));
        assert!(are_chunks(b"LIST\0\0\0\x04abcd", true));
        for wrong in
            [&b"LIST\x05\0\0\0abcd"[..], b"LIST\x03\0\0\0abcd5678", b"key RIFF\0\0\0\0WAVE"]
        {
            assert!(!are_chunks(wrong, false));
        }
    }
}
