//! The kind of the values in a parameter file.

use std::fmt;
use std::str::FromStr;

use seqfeed_core::{Error, Problem};

use super::FORMAT;

/// The kind of a parameter file: a [base](Base), and qualifiers for its additions.
///
/// Names are HTK's: the base, then qualifiers of one letter after underscores. They are read in any
/// order and printed in HTK's order (`_E _D _N _A _T _C _K _Z _0 _V`).
///
/// ```
/// use seqfeed_htk::param::{Base, ParamKind};
///
/// let kind: ParamKind = "MFCC_0_D_A_Z".parse()?;
/// assert_eq!(kind.base(), Base::Mfcc);
/// assert!(kind.has(ParamKind::DELTAS) && !kind.has(ParamKind::COMPRESSED));
/// assert_eq!(kind.to_string(), "MFCC_D_A_Z_0");
/// # Ok::<(), seqfeed_core::Error>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct ParamKind(pub u16);

impl ParamKind {
    /// `_E`: with log energy.
    pub const ENERGY: u16 = 0o100;
    /// `_N`: the absolute energy is left out.
    pub const NO_ENERGY: u16 = 0o200;
    /// `_D`: with deltas.
    pub const DELTAS: u16 = 0o400;
    /// `_A`: with accelerations.
    pub const ACCELERATIONS: u16 = 0o1000;
    /// `_C`: compressed to 16 bits. This concerns the file, not the values.
    pub const COMPRESSED: u16 = 0o2000;
    /// `_Z`: the static values have a mean of zero.
    pub const ZERO_MEAN: u16 = 0o4000;
    /// `_K`: with a checksum. This concerns the file, not the values.
    pub const CHECKSUM: u16 = 0o10000;
    /// `_0`: with the cepstral coefficient 0.
    pub const C0: u16 = 0o20000;
    /// `_V`: with indexes into a codebook.
    pub const INDEXED: u16 = 0o40000;
    /// `_T`: with third differentials.
    pub const THIRDS: u16 = 0o100_000;

    /// Letters and bits, in the order in which they are printed.
    const QUALIFIERS: [(char, u16); 10] = [
        ('E', Self::ENERGY),
        ('D', Self::DELTAS),
        ('N', Self::NO_ENERGY),
        ('A', Self::ACCELERATIONS),
        ('T', Self::THIRDS),
        ('C', Self::COMPRESSED),
        ('K', Self::CHECKSUM),
        ('Z', Self::ZERO_MEAN),
        ('0', Self::C0),
        ('V', Self::INDEXED),
    ];

    /// The kind without qualifiers.
    #[must_use]
    pub fn base(self) -> Base {
        Base::from_code((self.0 & 0o77) as u8)
    }

    /// Whether it has a qualifier (one of the constants), or all of several.
    #[must_use]
    pub fn has(self, qualifiers: u16) -> bool {
        self.0 & qualifiers == qualifiers
    }

    /// The kind with further qualifiers.
    #[must_use]
    pub fn with(self, qualifiers: u16) -> Self {
        Self(self.0 | (qualifiers & !0o77))
    }

    /// The kind without some qualifiers.
    #[must_use]
    pub fn without(self, qualifiers: u16) -> Self {
        Self(self.0 & !(qualifiers & !0o77))
    }

    /// The kind of the values after reading: as in HTK, without `_C` and `_K`, which concern the
    /// file, and with LPREFC for IREFC.
    #[must_use]
    pub fn of_values(self) -> Self {
        let kind = self.without(Self::COMPRESSED | Self::CHECKSUM);
        if kind.base() == Base::Irefc { Self((kind.0 & !0o77) | Base::Lprefc.code()) } else { kind }
    }

    /// The number of static columns among `columns`. The others are deltas and so on, in blocks of
    /// the same width. Widths are not stored. Like HTK, this divides; the rest belongs to the last
    /// block.
    #[must_use]
    pub fn static_columns(self, columns: usize) -> usize {
        if self.has(Self::THIRDS) {
            columns / 4
        } else if self.has(Self::ACCELERATIONS) {
            columns / 3
        } else if self.has(Self::DELTAS) {
            columns / 2
        } else {
            columns
        }
    }

    /// The column that HTK leaves out of a file of a kind with `_N`: the last static one. It is the
    /// energy, or c0 if there is no energy.
    #[must_use]
    pub fn suppressed_column(self, columns: usize) -> Option<usize> {
        let energy = self.has(Self::ENERGY) || self.has(Self::C0);
        let last = self.static_columns(columns).checked_sub(1);
        last.filter(|_| energy && self.has(Self::NO_ENERGY))
    }
}

impl From<Base> for ParamKind {
    fn from(base: Base) -> Self {
        Self(base.code())
    }
}

impl fmt::Display for ParamKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.base())?;
        for (letter, bit) in Self::QUALIFIERS {
            if self.has(bit) {
                write!(f, "_{letter}")?;
            }
        }
        Ok(())
    }
}

impl fmt::Debug for ParamKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ParamKind({self})")
    }
}

impl FromStr for ParamKind {
    type Err = Error;

    /// Parses a name. As in HTK, LPDELCEP is `LPCEPSTRA_D`, and `_F` has no effect.
    ///
    /// # Errors
    ///
    /// If the base or a qualifier is unknown. (HTK takes unknown bases for ANON.)
    fn from_str(name: &str) -> Result<Self, Error> {
        let unknown = |expected: &'static str, found: &str| {
            let found = found.as_bytes().to_vec();
            Error::format(FORMAT, Problem::Unexpected { expected: expected.into(), found })
        };
        let mut parts = name.split('_');
        let base = parts.next().unwrap_or_default();
        let mut kind = match Base::NAMES.iter().position(|&known| known == base) {
            _ if base == "LPDELCEP" => Self::from(Base::Lpcepstra).with(Self::DELTAS),
            Some(code) => Self(code as u16),
            None => {
                return Err(unknown("a kind of parameters", name)
                    .with_help(format!("kinds are {}", Base::NAMES.join(", "))));
            }
        };
        for part in parts {
            let known = Self::QUALIFIERS.iter().find(|(letter, _)| part == letter.to_string());
            match known {
                Some(&(_, bit)) => kind = kind.with(bit),
                None if part == "F" => {}
                None => {
                    return Err(unknown("a qualifier", part)
                        .with_help("qualifiers are _E _D _N _A _T _C _K _Z _0 _V"));
                }
            }
        }
        Ok(kind)
    }
}

/// The kind of the values, without qualifiers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Base {
    /// Samples of a waveform (16 bits).
    Waveform,
    /// Coefficients of linear prediction.
    Lpc,
    /// Reflection coefficients.
    Lprefc,
    /// Cepstra of linear prediction.
    Lpcepstra,
    /// The same with deltas, of HTK 1.
    Lpdelcep,
    /// Reflection coefficients, multiplied by 32767 (16 bits).
    Irefc,
    /// Mel-frequency cepstra.
    Mfcc,
    /// Log energies of mel channels.
    Fbank,
    /// Energies of mel channels.
    Melspec,
    /// Defined by the user.
    User,
    /// Symbols (16 bits).
    Discrete,
    /// Cepstra of perceptual linear prediction.
    Plp,
    /// Any.
    Anon,
    /// A code that has no name in HTK (13 to 63). HTK reads such files as floats.
    Other(u8),
}

impl Base {
    /// Names by code.
    const NAMES: [&str; 13] = [
        "WAVEFORM",
        "LPC",
        "LPREFC",
        "LPCEPSTRA",
        "LPDELCEP",
        "IREFC",
        "MFCC",
        "FBANK",
        "MELSPEC",
        "USER",
        "DISCRETE",
        "PLP",
        "ANON",
    ];

    const BY_CODE: [Self; 13] = [
        Self::Waveform,
        Self::Lpc,
        Self::Lprefc,
        Self::Lpcepstra,
        Self::Lpdelcep,
        Self::Irefc,
        Self::Mfcc,
        Self::Fbank,
        Self::Melspec,
        Self::User,
        Self::Discrete,
        Self::Plp,
        Self::Anon,
    ];

    fn from_code(code: u8) -> Self {
        Self::BY_CODE.get(usize::from(code)).copied().unwrap_or(Self::Other(code))
    }

    /// The number in files.
    #[must_use]
    pub fn code(self) -> u16 {
        match self {
            Self::Other(code) => u16::from(code) & 0o77,
            _ => Self::BY_CODE.iter().position(|&base| base == self).unwrap_or(0) as u16,
        }
    }
}

impl fmt::Display for Base {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match Self::NAMES.get(usize::from(self.code())) {
            Some(name) => f.write_str(name),
            None => write!(f, "BASE{}", self.code()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_in_any_order_and_shown_in_one() {
        for (name, bits, shown) in [
            ("MFCC_0_D_A_Z", 0o25406, "MFCC_D_A_Z_0"),
            ("USER", 9, "USER"),
            ("PLP_T_A_D_E", 0o101_513, "PLP_E_D_A_T"),
            ("LPDELCEP", 0o403, "LPCEPSTRA_D"),
            ("FBANK_K_C_F", 0o12007, "FBANK_C_K"),
            ("WAVEFORM", 0, "WAVEFORM"),
        ] {
            let kind: ParamKind = name.parse().unwrap();
            assert_eq!((kind.0, kind.to_string().as_str()), (bits, shown), "{name}");
        }
        for name in ["", "MFC", "MFCC_", "MFCC_X", "MFCC_DA", "_D", "MFCC__D", "mfcc", "MFCC_é"] {
            assert!(name.parse::<ParamKind>().is_err(), "{name}");
        }
    }

    #[test]
    fn every_number_has_a_name() {
        for bits in 0..=u16::MAX {
            let kind = ParamKind(bits);
            assert_eq!(kind.base().code(), bits & 0o77);
            if kind.base() != Base::Lpdelcep && bits & 0o77 < 13 {
                assert_eq!(kind.to_string().parse::<ParamKind>().unwrap(), kind);
            }
        }
    }

    #[test]
    fn the_suppressed_column_is_the_last_static_one() {
        let column =
            |name: &str, columns| name.parse::<ParamKind>().unwrap().suppressed_column(columns);
        assert_eq!(column("MFCC_E_D_N", 26), Some(12));
        assert_eq!(column("MFCC_0_D_A_N", 39), Some(12));
        assert_eq!(column("MFCC_E_D", 26), None);
        assert_eq!(column("MFCC_D_N", 26), None);
        assert_eq!(column("MFCC_E_D_N", 1), None);
    }
}
