//! Recognises compressed data by the first bytes.

use std::fmt;

/// The compression of data, recognised by the first bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Compression {
    /// None, or an unknown one.
    #[default]
    None,
    /// gzip (RFC 1952), one member or more.
    Gzip,
    /// bzip2, one stream or more.
    Bzip2,
    /// Zstandard (RFC 8878), one frame or more.
    Zstd,
}

/// The number of bytes that is enough to recognise every kind.
pub(crate) const ENOUGH: usize = 10;

/// One beginning of compressed data: bytes under a mask.
struct Magic {
    compression: Compression,
    bytes: &'static [u8],
    mask: &'static [u8],
}

// A bzip2 stream is `BZh`, a level, and a number. The number begins a block (the digits of pi), or,
// without blocks, the end (the digits of its square root). A bare `BZh` may begin a text. The level
// is checked beyond the mask.
const BZIP2_MASK: &[u8] = &[255, 255, 255, 0xf0, 255, 255, 255, 255, 255, 255];

const MAGICS: [Magic; 5] = [
    Magic { compression: Compression::Gzip, bytes: b"\x1f\x8b\x08", mask: &[255; 3] },
    Magic { compression: Compression::Bzip2, bytes: b"BZh01AY&SY", mask: BZIP2_MASK },
    Magic { compression: Compression::Bzip2, bytes: b"BZh0\x17rE8P\x90", mask: BZIP2_MASK },
    Magic { compression: Compression::Zstd, bytes: b"\x28\xb5\x2f\xfd", mask: &[255; 4] },
    // A frame to skip, which may come first: 0x184D2A50 to 0x184D2A5F.
    Magic {
        compression: Compression::Zstd,
        bytes: b"\x50\x2a\x4d\x18",
        mask: &[0xf0, 255, 255, 255],
    },
];

impl Magic {
    /// Whether the bytes agree with the magic, as far as they reach.
    fn agrees(&self, first: &[u8]) -> bool {
        let level_fits = self.compression != Compression::Bzip2
            || !matches!(first.get(3), Some(b) if !(b'1'..=b'9').contains(b));
        level_fits
            && first
                .iter()
                .zip(self.bytes)
                .zip(self.mask)
                .all(|((a, b), mask)| a & mask == b & mask)
    }
}

impl Compression {
    /// Recognises the compression by the first bytes; ten are enough for all kinds.
    ///
    /// ```
    /// use seqfeed_io::Compression;
    ///
    /// assert_eq!(Compression::detect(b"\x1f\x8b\x08\0\0\0\0\0"), Compression::Gzip);
    /// assert_eq!(Compression::detect(b"BZhang-1 [ 0 1 ]"), Compression::None);
    /// ```
    #[must_use]
    pub fn detect(first_bytes: &[u8]) -> Self {
        MAGICS
            .iter()
            .find(|magic| first_bytes.len() >= magic.bytes.len() && magic.agrees(first_bytes))
            .map_or(Self::None, |magic| magic.compression)
    }

    /// Whether more bytes could change the result of [`detect`](Self::detect). So a stream that
    /// someone types need not give ten bytes if the first one decides.
    pub(crate) fn is_undecided(first_bytes: &[u8]) -> bool {
        MAGICS
            .iter()
            .any(|magic| first_bytes.len() < magic.bytes.len() && magic.agrees(first_bytes))
    }
}

/// For builds without some kinds of compression.
#[cfg(not(all(feature = "gzip", feature = "bzip2", feature = "zstd")))]
impl Compression {
    /// The error for a kind that was left out. Cargo features have the names of the kinds.
    pub(crate) fn left_out(self) -> seqfeed_core::Error {
        seqfeed_core::Error::usage(format!("{self} was left out when this program was built"))
            .with_help(format!("build it with the cargo feature `{self}`, or decompress the file"))
    }
}

impl fmt::Display for Compression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::None => "uncompressed",
            Self::Gzip => "gzip",
            Self::Bzip2 => "bzip2",
            Self::Zstd => "zstd",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tells_by_the_first_bytes() {
        let cases: [(&[u8], Compression); 11] = [
            (b"\x1f\x8b\x08\x00", Compression::Gzip),
            (b"\x1f\x8b\x07", Compression::None),
            (b"BZh91AY&SY", Compression::Bzip2),
            (b"BZh1\x17\x72\x45\x38\x50\x90rest", Compression::Bzip2),
            (b"BZh01AY&SY", Compression::None),
            (b"BZh91AY&S", Compression::None),
            (b"\x28\xb5\x2f\xfd", Compression::Zstd),
            (b"\x5f\x2a\x4d\x18", Compression::Zstd),
            (b"\x60\x2a\x4d\x18", Compression::None),
            (b"utt1 [", Compression::None),
            (b"", Compression::None),
        ];
        for (bytes, expected) in cases {
            assert_eq!(Compression::detect(bytes), expected, "{}", bytes.escape_ascii());
        }
    }

    #[test]
    fn asks_for_more_only_while_it_matters() {
        for undecided in [&b""[..], b"\x1f", b"B", b"BZh9", b"BZh91AY&S", b"P", b"\x28\xb5"] {
            assert!(Compression::is_undecided(undecided), "{}", undecided.escape_ascii());
        }
        for decided in [&b"a"[..], b"\0B", b"BZh0", b"BZhang", b"PF", b"\x1f\x8b\x08"] {
            assert!(!Compression::is_undecided(decided), "{}", decided.escape_ascii());
        }
        assert!(!Compression::is_undecided(&[0; ENOUGH]));
    }
}
