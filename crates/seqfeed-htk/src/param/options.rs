//! Options for reading parameter files.

use super::ByteOrder;

/// Options for reading parameter files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadOptions {
    /// The byte order, if known. By default it is found by plausibility.
    pub order: Option<ByteOrder>,
    /// Whether a file that is shorter than its header says gives its whole frames, with a warning
    /// (HTK does so without a warning). Otherwise it is an error.
    pub allow_truncated: bool,
    /// Whether the checksum of `_K` files is verified before a whole file is returned.
    pub verify: bool,
    /// The treatment of IREFC files that `HCopy` 3.4.1 has damaged.
    pub damaged_irefc: DamagedIrefc,
}

impl Default for ReadOptions {
    /// The byte order is found, short files are errors, checksums are verified, damage is refused.
    fn default() -> Self {
        Self {
            order: None,
            allow_truncated: false,
            verify: true,
            damaged_irefc: DamagedIrefc::Refuse,
        }
    }
}

/// The treatment of IREFC files as written by `HCopy` 3.4.1.
///
/// IREFC files hold reflection coefficients multiplied by 32767. But `HCopy` compresses them as
/// with `_C`, without the qualifier and without counting the scales as samples. HTK itself then
/// reads garbage. Such files are recognised by their length: they are longer than their header says
/// by exactly the scales, 8 bytes a column.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DamagedIrefc {
    /// Refuse it with an error.
    #[default]
    Refuse,
    /// Read it as compressed, which it is.
    Repair,
    /// Read it as its header says, as HTK does. This is right only if the bytes after the frames
    /// are something else.
    Literal,
}
