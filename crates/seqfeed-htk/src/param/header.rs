//! The first 12 bytes.

use super::{Base, ParamKind};

/// The order of bytes in a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ByteOrder {
    /// Most significant byte first: HTK's default on every machine.
    #[default]
    Big,
    /// Least significant byte first (`NATURALREADORDER` and `NATURALWRITEORDER` on x86).
    Little,
}

impl ByteOrder {
    /// The other order.
    #[must_use]
    pub fn other(self) -> Self {
        match self {
            Self::Big => Self::Little,
            Self::Little => Self::Big,
        }
    }

    /// Whether it is the order of this machine.
    pub(super) fn is_native(self) -> bool {
        (self == Self::Little) == cfg!(target_endian = "little")
    }

    pub(super) fn u16(self, bytes: [u8; 2]) -> u16 {
        match self {
            Self::Big => u16::from_be_bytes(bytes),
            Self::Little => u16::from_le_bytes(bytes),
        }
    }

    pub(super) fn u32(self, bytes: [u8; 4]) -> u32 {
        match self {
            Self::Big => u32::from_be_bytes(bytes),
            Self::Little => u32::from_le_bytes(bytes),
        }
    }

    pub(super) fn of_u16(self, value: u16) -> [u8; 2] {
        match self {
            Self::Big => value.to_be_bytes(),
            Self::Little => value.to_le_bytes(),
        }
    }

    pub(super) fn of_u32(self, value: u32) -> [u8; 4] {
        match self {
            Self::Big => value.to_be_bytes(),
            Self::Little => value.to_le_bytes(),
        }
    }
}

/// A header as in a file, valid or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// Number of samples. With `_C` there are 4 frames less.
    pub samples: i32,
    /// The time from one sample to the next, in units of 100 ns: 100000 for 10 ms.
    pub period: i32,
    /// Bytes of one stored sample.
    pub sample_bytes: u16,
    /// The kind of the values.
    pub kind: ParamKind,
    /// The byte order in which it was read.
    pub order: ByteOrder,
}

/// Bytes of a header.
pub(super) const HEADER: usize = 12;

/// The most bytes of a sample in HTK.
const MOST_BYTES: u16 = 5000;
/// The longest period in HTK: a tenth of a second.
pub(super) const LONGEST_PERIOD: i32 = 1_000_000;

impl Header {
    /// Reads 12 bytes in a byte order.
    #[must_use]
    pub fn from_bytes(bytes: [u8; HEADER], order: ByteOrder) -> Self {
        let [a, b, c, d, e, f, g, h, i, j, k, l] = bytes;
        Self {
            samples: order.u32([a, b, c, d]).cast_signed(),
            period: order.u32([e, f, g, h]).cast_signed(),
            sample_bytes: order.u16([i, j]),
            kind: ParamKind(order.u16([k, l])),
            order,
        }
    }

    /// The 12 bytes, in its byte order.
    #[must_use]
    pub fn to_bytes(&self) -> [u8; HEADER] {
        let [a, b, c, d] = self.order.of_u32(self.samples.cast_unsigned());
        let [e, f, g, h] = self.order.of_u32(self.period.cast_unsigned());
        let [i, j] = self.order.of_u16(self.sample_bytes);
        let [k, l] = self.order.of_u16(self.kind.0);
        [a, b, c, d, e, f, g, h, i, j, k, l]
    }

    /// Whether HTK reads files with this header.
    pub(super) fn is_within_limits(&self) -> bool {
        self.samples > 0
            && (1..=LONGEST_PERIOD).contains(&self.period)
            && (1..=MOST_BYTES).contains(&self.sample_bytes)
    }

    /// Whether it can describe frames at all, even if HTK refuses it.
    pub(super) fn is_possible(&self) -> bool {
        self.samples >= 0 && self.period >= 0 && self.sample_bytes > 0
    }

    /// Whether a checksum stands after the frames. Waveforms have none.
    pub(super) fn has_checksum(&self) -> bool {
        self.kind.has(ParamKind::CHECKSUM) && self.kind.base() != Base::Waveform
    }

    /// The length that the file must have. The scales of `_C` are among the samples: 4 of them.
    pub(super) fn file_bytes(&self) -> u64 {
        let samples = u64::try_from(self.samples).unwrap_or(0);
        let checksum = if self.has_checksum() { 2 } else { 0 };
        HEADER as u64 + samples * u64::from(self.sample_bytes) + checksum
    }

    /// The surplus length of an IREFC file that `HCopy` 3.4.1 has damaged: by scales that are not
    /// counted.
    pub(super) fn irefc_surplus(&self) -> Option<u64> {
        let damaged = self.kind.base() == Base::Irefc && !self.kind.has(ParamKind::COMPRESSED);
        damaged.then_some(4 * u64::from(self.sample_bytes))
    }

    /// Whether the length of a file agrees with the header, or with the known damage.
    pub(super) fn fits(&self, file_bytes: u64) -> bool {
        let said = self.file_bytes();
        file_bytes == said || self.irefc_surplus().is_some_and(|more| file_bytes == said + more)
    }
}
