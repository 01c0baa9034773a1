//! The types of numbers in arrays.

use std::fmt;

/// A type of numbers in an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Number {
    /// `bool`, a byte of 0 or 1.
    Bool,
    /// `int8`.
    I8,
    /// `int16`.
    I16,
    /// `int32`.
    I32,
    /// `int64`.
    I64,
    /// `uint8`.
    U8,
    /// `uint16`.
    U16,
    /// `uint32`.
    U32,
    /// `uint64`.
    U64,
    /// `float16`.
    F16,
    /// `float32`.
    F32,
    /// `float64`.
    F64,
}

/// A type of numbers and the order of their bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dtype {
    /// The type.
    pub number: Number,
    /// Whether the most significant byte comes first.
    pub big_endian: bool,
}

const NUMBERS: [(Number, &str); 12] = [
    (Number::Bool, "b1"),
    (Number::I8, "i1"),
    (Number::I16, "i2"),
    (Number::I32, "i4"),
    (Number::I64, "i8"),
    (Number::U8, "u1"),
    (Number::U16, "u2"),
    (Number::U32, "u4"),
    (Number::U64, "u8"),
    (Number::F16, "f2"),
    (Number::F32, "f4"),
    (Number::F64, "f8"),
];

impl Number {
    /// Size of a number in bytes.
    #[must_use]
    pub fn size(self) -> usize {
        match self {
            Number::Bool | Number::I8 | Number::U8 => 1,
            Number::I16 | Number::U16 | Number::F16 => 2,
            Number::I32 | Number::U32 | Number::F32 => 4,
            Number::I64 | Number::U64 | Number::F64 => 8,
        }
    }

    /// numpy's code of two characters (`f4`).
    #[must_use]
    pub fn code(self) -> &'static str {
        NUMBERS.iter().find(|(number, _)| *number == self).map_or("", |(_, code)| code)
    }

    /// The type for a code, if it is a type of numbers.
    #[must_use]
    pub fn from_code(code: &[u8]) -> Option<Self> {
        NUMBERS.iter().find(|(_, text)| text.as_bytes() == code).map(|(number, _)| *number)
    }
}

impl Dtype {
    /// A type in the machine's order of bytes.
    #[must_use]
    pub fn native(number: Number) -> Self {
        Self { number, big_endian: cfg!(target_endian = "big") && number.size() > 1 }
    }

    /// A little-endian type.
    #[must_use]
    pub fn little(number: Number) -> Self {
        Self { number, big_endian: false }
    }

    /// The type for a description such as `<f4`, if it is a type of numbers. `=` is the machine's
    /// order.
    #[must_use]
    pub fn from_description(text: &[u8]) -> Option<Self> {
        let (order, code) = match text {
            [order @ (b'<' | b'>' | b'=' | b'|'), code @ ..] => (*order, code),
            code => (b'=', code),
        };
        Number::from_code(code).map(|number| Self::native(number).with_order(order))
    }

    /// The same with the byte order for one of numpy's characters `<`, `>`, `=`, `|`.
    pub(super) fn with_order(self, order: u8) -> Self {
        match order {
            _ if self.number.size() == 1 => Self::little(self.number),
            b'<' => Self { big_endian: false, ..self },
            b'>' => Self { big_endian: true, ..self },
            b'=' => Self::native(self.number),
            _ => self,
        }
    }

    /// Whether the bytes are in the machine's order.
    #[must_use]
    pub fn is_native(self) -> bool {
        self.number.size() == 1 || self.big_endian == cfg!(target_endian = "big")
    }
}

impl fmt::Display for Dtype {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let order = match self.number.size() {
            1 => '|',
            _ if self.big_endian => '>',
            _ => '<',
        };
        write!(f, "{order}{}", self.number.code())
    }
}

/// Converts a float of 16 bits exactly to 32 bits.
pub(super) fn half(bits: u16) -> f32 {
    let sign = u32::from(bits >> 15) << 31;
    let exponent = u32::from(bits >> 10) & 31;
    let fraction = u32::from(bits) & 0x3ff;
    let rest = match (exponent, fraction) {
        // Zeros and subnormal numbers: a fraction times 2^-24, which is exact.
        (0, fraction) => (fraction as f32 * (1.0 / 16_777_216.0)).to_bits(),
        (31, fraction) => 0x7f80_0000 | fraction << 13,
        (exponent, fraction) => (exponent + 127 - 15) << 23 | fraction << 13,
    };
    f32::from_bits(sign | rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn descriptions_come_back() {
        for (number, code) in NUMBERS {
            for order in ["<", ">"] {
                let text =
                    if number.size() == 1 { format!("|{code}") } else { format!("{order}{code}") };
                let dtype = Dtype::from_description(text.as_bytes()).unwrap();
                assert_eq!((dtype.to_string(), dtype.number), (text, number));
            }
        }
        for other in ["<c8", "|O", "<U5", "|V3", "", "<", "f16", "<i4\0"] {
            assert_eq!(Dtype::from_description(other.as_bytes()), None, "{other}");
        }
    }

    #[test]
    fn halves_are_exact() {
        let cases = [
            (0x3c00, 1.0),
            (0xc000, -2.0),
            (0x0001, 5.960_464_5e-8),
            (0x7bff, 65504.0),
            (0x03ff, 6.097_555e-5),
        ];
        for (bits, value) in cases {
            assert_eq!(half(bits), value);
        }
        assert!(
            half(0x7e00).is_nan()
                && half(0xfc00) == f32::NEG_INFINITY
                && half(0x8000).is_sign_negative()
        );
    }
}
