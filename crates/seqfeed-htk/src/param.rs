//! Parameter files: features, waveforms and symbols with HTK's 12-byte header.
//!
//! ```text
//! offset  bytes
//!      0      4  number of samples (frames; with _C 4 more)        int32
//!      4      4  sample period, in units of 100 ns                 int32
//!      8      2  bytes of one sample                               uint16
//!     10      2  kind: 6 bits of base, 10 bits of qualifiers       uint16
//!     12         with _C: a[columns], b[columns]                   float32
//!                frames                                            float32 or int16
//!                with _K: a checksum                               uint16
//! ```
//!
//! A whole file is in one byte order, by HTK's default big-endian. The file does not say which one:
//! it is [found](Layout::find) by plausibility.
//!
//! * [`ParamFile`] reads files; [`decode`] reads from memory. Both use a [`Layout`] (the header,
//!   checked against the length of the file) and a [`Decoder`].
//! * [`Encoding`] writes files, byte for byte as `HCopy` does; [`ArchiveWriter`] writes many
//!   utterances into one.
//!
//! ```
//! use seqfeed_htk::param::{self, Encoding, ReadOptions, Values};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let encoding = Encoding { kind: "MFCC_0_K".parse()?, ..Encoding::default() };
//! let mut file = Vec::new();
//! encoding.encode(Values::Floats(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]), 3, &mut file)?;
//! let (layout, values) = param::decode(&file, &ReadOptions::default())?;
//! assert_eq!((layout.frames(), layout.columns()), (2, 3));
//! assert_eq!(layout.header().kind.to_string(), "MFCC_K_0");
//! assert_eq!(values, [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
//! # Ok(())
//! # }
//! ```

mod archive;
mod checksum;
mod decode;
mod encode;
mod file;
mod header;
mod kind;
mod layout;
mod options;

pub use archive::ArchiveWriter;
pub use checksum::Checksum;
pub use decode::{Decoder, decode};
pub use encode::{Encoding, Values, append_integers};
pub use file::ParamFile;
pub use header::{ByteOrder, Header};
pub use kind::{Base, ParamKind};
pub use layout::{Layout, Storage, Warning};
pub use options::{DamagedIrefc, ReadOptions};

/// The name of the format in messages.
const FORMAT: &str = "HTK parameter file";
