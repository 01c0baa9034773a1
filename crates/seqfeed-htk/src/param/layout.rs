//! The layout of a file, from its header and its length: positions and types of frames.

use std::fmt;

use seqfeed_core::{Error, Problem, Result};

use super::header::{HEADER, LONGEST_PERIOD};
use super::{Base, ByteOrder, DamagedIrefc, FORMAT, Header, ParamKind, ReadOptions};

/// The storage of values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Storage {
    /// 32-bit floats.
    Floats,
    /// 16-bit integers that are the values: waveforms and symbols.
    Shorts,
    /// 16-bit integers that are 32767 times the values: IREFC.
    Scaled,
    /// 16-bit integers; values are `(integer + b) / a` with an `a` and a `b` for each column: `_C`.
    Compressed,
}

impl Storage {
    /// Bytes of one stored value.
    #[must_use]
    pub fn bytes(self) -> usize {
        if self == Self::Floats { 4 } else { 2 }
    }
}

/// A warning about a file that can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Warning {
    /// The sample period is 0, or over 0.1 s; HTK refuses such files.
    Period(i32),
    /// Samples have more than 5000 bytes; HTK refuses such files.
    WideSamples(u16),
    /// There are no frames; HTK refuses most such files.
    NoFrames,
    /// The file ends early.
    Truncated {
        /// Frames by the header.
        promised: u64,
        /// Whole frames in the file.
        present: u64,
    },
    /// The file ends before the checksum or inside it; nothing can be verified.
    NoChecksum,
    /// There are more bytes than those of frames and checksum.
    Trailing(u64),
    /// The base kind has no name; values are read as floats.
    UnknownBase(u8),
    /// Waveforms and symbols are never compressed, whatever the kind says.
    NotCompressed,
    /// The columns cannot be divided into the blocks of the kind (statics, deltas, ...).
    UnevenBlocks(usize),
    /// An IREFC file that `HCopy` has damaged was repaired.
    RepairedIrefc,
    /// An IREFC file that `HCopy` seems to have damaged is read as its header says.
    DamagedIrefc,
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Period(period) => write!(f, "the sample period is {period} (times 100 ns)"),
            Self::WideSamples(bytes) => write!(f, "samples have {bytes} bytes, HTK's have to 5000"),
            Self::NoFrames => f.write_str("there are no frames"),
            Self::Truncated { promised, present } => {
                write!(f, "the file is cut short: {present} of {promised} frames are there")
            }
            Self::NoChecksum => f.write_str("the checksum is missing"),
            Self::Trailing(bytes) => write!(f, "{bytes} bytes behind the data are ignored"),
            Self::UnknownBase(code) => write!(f, "kind {code} is unknown, taken for floats"),
            Self::NotCompressed => f.write_str("the kind says _C, but has no compressed form"),
            Self::UnevenBlocks(columns) => {
                write!(f, "{columns} columns are not a multiple of the kind's blocks")
            }
            Self::RepairedIrefc => f.write_str("IREFC as HCopy writes it, read as compressed"),
            Self::DamagedIrefc => {
                f.write_str("IREFC with the length of those that HCopy damages, read as it is")
            }
        }
    }
}

/// The positions and types of a file's frames, from its header, checked against its length.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    header: Header,
    storage: Storage,
    columns: usize,
    frames: u64,
    data_offset: u64,
    checksum_offset: Option<u64>,
    warnings: Vec<Warning>,
}

impl Layout {
    /// The number of first bytes of a file that [`find`](Self::find) needs.
    pub const HEAD: usize = HEADER;

    /// Finds the layout from the first bytes of a file and its length.
    ///
    /// If [`ReadOptions::order`] is not set, the byte order is chosen by plausibility. Best is the
    /// order in which the header agrees with the file's length. Otherwise it is the order within
    /// HTK's limits (1 to 5000 bytes a sample, periods up to 0.1 s, at least one sample). If both
    /// are, it is big-endian. A header outside of these limits is accepted only if it agrees with
    /// the file's length, or merely lacks a period.
    ///
    /// # Errors
    ///
    /// Fails if the bytes are not a header; if frames cannot have the form in it; or if the file is
    /// shorter than it says (unless [allowed](ReadOptions::allow_truncated)). Places are bytes of
    /// the file. The caller adds its name.
    pub fn find(head: &[u8], file_bytes: u64, options: &ReadOptions) -> Result<Self> {
        let Some(&bytes) = head.first_chunk::<HEADER>() else {
            let missing = Some((HEADER - head.len()) as u64);
            return Err(end("the header", missing).at_byte(head.len() as u64));
        };
        let header = find_header(bytes, file_bytes, options)?;
        Self::of_header(header, file_bytes, options)
    }

    fn of_header(header: Header, file_bytes: u64, options: &ReadOptions) -> Result<Self> {
        let mut warnings = Vec::new();
        let (kind, base) = (header.kind, header.kind.base());
        if kind.has(ParamKind::INDEXED) {
            let what = format!("{kind}: indexes into a codebook (_V) in a file");
            return Err(Error::format(FORMAT, Problem::Unsupported(what.into())).at_byte(10));
        }
        let compressed = kind.has(ParamKind::COMPRESSED);
        let mut storage = match base {
            Base::Waveform | Base::Discrete => {
                warnings.extend(compressed.then_some(Warning::NotCompressed));
                Storage::Shorts
            }
            _ if compressed => Storage::Compressed,
            Base::Irefc => Storage::Scaled,
            Base::Other(code) => {
                warnings.push(Warning::UnknownBase(code));
                Storage::Floats
            }
            _ => Storage::Floats,
        };
        let columns = columns_of(&header, storage)?;
        let frame_bytes = u64::from(header.sample_bytes);
        let scales = 4 * frame_bytes;
        let damaged =
            header.irefc_surplus().is_some() && file_bytes == header.file_bytes() + scales;
        let mut data_offset = HEADER as u64;
        if damaged {
            match options.damaged_irefc {
                DamagedIrefc::Refuse => return Err(damaged_irefc()),
                DamagedIrefc::Literal => warnings.push(Warning::DamagedIrefc),
                DamagedIrefc::Repair => {
                    warnings.push(Warning::RepairedIrefc);
                    storage = Storage::Compressed;
                    data_offset += scales;
                }
            }
        }
        let mut promised = u64::try_from(header.samples).unwrap_or(0);
        if storage == Storage::Compressed && !damaged {
            data_offset += scales;
            promised = promised.checked_sub(4).ok_or_else(|| {
                let found = i64::from(header.samples);
                let allowed = "4 or more: scales of compressed files count as 4".into();
                let problem = Problem::OutOfRange { what: "number of samples", found, allowed };
                Error::format(FORMAT, problem).at_byte(0)
            })?;
        }
        if file_bytes < data_offset {
            return Err(end("scales", Some(data_offset - file_bytes)).at_byte(file_bytes));
        }
        warnings.extend(oddities(&header, columns));

        let mut layout = Self {
            header,
            storage,
            columns,
            frames: promised,
            data_offset,
            checksum_offset: None,
            warnings,
        };
        layout.measure(file_bytes, options)?;
        Ok(layout)
    }

    /// Compares frames and checksum with the length of the file.
    fn measure(&mut self, file_bytes: u64, options: &ReadOptions) -> Result<()> {
        let frame_bytes = u64::from(self.header.sample_bytes);
        let data_end = self.data_offset + self.frames * frame_bytes;
        let has_checksum = self.header.has_checksum();
        let end_of_all = data_end + if has_checksum { 2 } else { 0 };
        if file_bytes < end_of_all && !options.allow_truncated {
            let inside = if file_bytes < data_end { "frames" } else { "the checksum" };
            return Err(end(inside, Some(end_of_all - file_bytes)).at_byte(file_bytes));
        }
        if file_bytes < data_end {
            let present = (file_bytes - self.data_offset) / frame_bytes;
            self.warnings.push(Warning::Truncated { promised: self.frames, present });
            self.frames = present;
        } else if file_bytes < end_of_all {
            self.warnings.push(Warning::NoChecksum);
        } else {
            self.checksum_offset = has_checksum.then_some(data_end);
            let trailing = Some(file_bytes - end_of_all).filter(|&bytes| bytes > 0);
            self.warnings.extend(trailing.map(Warning::Trailing));
        }
        if self.frames == 0 {
            self.warnings.push(Warning::NoFrames);
        }
        Ok(())
    }

    /// The header.
    #[must_use]
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// The storage of values.
    #[must_use]
    pub fn storage(&self) -> Storage {
        self.storage
    }

    /// The number of values of a frame.
    #[must_use]
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// The number of frames that can be read.
    #[must_use]
    pub fn frames(&self) -> u64 {
        self.frames
    }

    /// Bytes of a stored frame.
    #[must_use]
    pub fn frame_bytes(&self) -> usize {
        usize::from(self.header.sample_bytes)
    }

    /// The offset of the first frame.
    #[must_use]
    pub fn data_offset(&self) -> u64 {
        self.data_offset
    }

    /// The end of the last frame.
    #[must_use]
    pub fn data_end(&self) -> u64 {
        self.data_offset + self.frames * u64::from(self.header.sample_bytes)
    }

    /// The range of the scales of compressed values: all `a`, then all `b`. Empty if there are
    /// none.
    #[must_use]
    pub fn scales(&self) -> std::ops::Range<u64> {
        HEADER as u64..self.data_offset
    }

    /// The offset of the checksum, if there is one. It covers the bytes from 12 up to it.
    #[must_use]
    pub fn checksum_offset(&self) -> Option<u64> {
        self.checksum_offset
    }

    /// Warnings about the file.
    #[must_use]
    pub fn warnings(&self) -> &[Warning] {
        &self.warnings
    }

    /// Compares the computed checksum of a file with the stored one.
    pub(super) fn compare_checksum(
        &self,
        offset: u64,
        expected: u16,
        stored: [u8; 2],
    ) -> Result<()> {
        let found = self.header.order.u16(stored);
        if found == expected {
            return Ok(());
        }
        let allowed = format!("{expected}, by the data").into();
        let problem = Problem::OutOfRange { what: "checksum", found: found.into(), allowed };
        // No checksum is that large.
        let help = if found == u16::MAX {
            "the checksum was never written"
        } else {
            "the file is damaged; reading can be told not to verify checksums"
        };
        Err(Error::format(FORMAT, problem).at_byte(offset).with_help(help))
    }
}

fn end(inside: &'static str, missing: Option<u64>) -> Error {
    Error::format(FORMAT, Problem::UnexpectedEnd { inside, missing })
}

/// The header in the plausible byte order.
fn find_header(bytes: [u8; HEADER], file_bytes: u64, options: &ReadOptions) -> Result<Header> {
    let rank = |order| {
        let header = Header::from_bytes(bytes, order);
        let believed = match (header.fits(file_bytes), header.is_within_limits()) {
            (true, true) => 4,
            (true, false) => 3,
            (false, true) => 2,
            (false, false) => {
                let lacks_period = header.period == 0
                    && header.sample_bytes.is_multiple_of(2)
                    && !matches!(header.kind.base(), Base::Other(_))
                    && Header { period: 1, ..header }.is_within_limits();
                u8::from(lacks_period)
            }
        };
        (if header.is_possible() { believed } else { 0 }, header)
    };
    let given = rank(options.order.unwrap_or(ByteOrder::Big));
    let other = rank(given.1.order.other());
    match options.order {
        Some(_) if given.1.is_possible() => return Ok(given.1),
        None if given.0 > 0 && given.0 >= other.0 => return Ok(given.1),
        None if other.0 > 0 => return Ok(other.1),
        _ => {}
    }
    let expected = "a header (samples, period, bytes of a sample, kind)".into();
    let problem = Problem::Unexpected { expected, found: bytes.to_vec() };
    let help = match options.order {
        None => "this is no HTK parameter file: the header makes no sense in either byte order",
        Some(_) if other.0 > 0 => "the header makes sense in the other byte order",
        Some(_) => "the header makes no sense in this byte order",
    };
    Err(Error::format(FORMAT, problem).at_byte(0).with_help(help))
}

fn columns_of(header: &Header, storage: Storage) -> Result<usize> {
    let bytes = usize::from(header.sample_bytes);
    let value = storage.bytes();
    let single = header.kind.base() != Base::Waveform || bytes == 2;
    if bytes > 0 && bytes.is_multiple_of(value) && single {
        return Ok(bytes / value);
    }
    let allowed = match (single, value) {
        (false, _) => "2 for a waveform",
        (_, 2) => "a multiple of 2",
        _ => "a multiple of 4",
    };
    let what = "bytes of a sample";
    let problem = Problem::OutOfRange { what, found: bytes as i64, allowed: allowed.into() };
    Err(Error::format(FORMAT, problem).at_byte(8))
}

/// Warnings about a header, beside those from the length of its file.
fn oddities(header: &Header, columns: usize) -> impl Iterator<Item = Warning> {
    let period = header.period;
    let odd_period = period <= 0 || period > LONGEST_PERIOD;
    let wide = header.sample_bytes > 5000;
    let blocks = columns / header.kind.static_columns(columns).max(1);
    let even = header.kind.static_columns(columns) * blocks == columns;
    [
        odd_period.then_some(Warning::Period(period)),
        wide.then_some(Warning::WideSamples(header.sample_bytes)),
        (!even).then_some(Warning::UnevenBlocks(columns)),
    ]
    .into_iter()
    .flatten()
}

fn damaged_irefc() -> Error {
    let what = "IREFC as HCopy 3.4.1 writes it by mistake: compressed, without saying so";
    Error::format(FORMAT, Problem::Unsupported(what.into()))
        .at_byte(HEADER as u64)
        .with_help("such files can be repaired in reading; HCopy itself reads them wrongly")
}
