//! How parameter files are read.

use super::ByteOrder;

/// How parameter files are read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadOptions {
    /// The byte order, where the caller knows it. Otherwise it is found by what makes sense.
    pub order: Option<ByteOrder>,
    /// Whether a file that is shorter than its header says gives the whole frames that are there,
    /// with a warning, as HTK does without one. Otherwise it is an error.
    pub allow_truncated: bool,
    /// Whether the checksum of `_K` files is verified before a whole file is given.
    pub verify: bool,
    /// What to do with IREFC files that `HCopy` 3.4.1 has damaged.
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

/// What to do with IREFC files as `HCopy` 3.4.1 writes them.
///
/// IREFC files hold reflection coefficients multiplied by 32767. What `HCopy` writes under this
/// kind is compressed as with `_C`, without the qualifier and without counting the scales as
/// samples; HTK itself then reads garbage. Such files are recognised by their length: they are
/// longer than their header says by exactly the 8 bytes a column of the scales.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DamagedIrefc {
    /// It is an error.
    #[default]
    Refuse,
    /// It is read as what it is: compressed.
    Repair,
    /// It is read as what it says, as HTK does: right only if the bytes behind the frames are
    /// something else.
    Literal,
}
