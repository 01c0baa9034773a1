//! Weights of transducers and lattices.

use seqfeed_core::float_text::write_g;
use seqfeed_core::number_text::{ParseInteger, parse_f64};
use seqfeed_core::{Problem, Result};

use crate::OBJECT;
use crate::object_reader::ObjectReader;
use crate::objects::matrix::size;

/// The widths of a weight's parts, from the arc type: 4 or 8 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Widths {
    pub(crate) float: usize,
    pub(crate) integer: usize,
}

/// A kind of weight.
pub trait FstWeight: Clone + PartialEq + std::fmt::Debug + Send + 'static {
    /// OpenFst's name of arcs with such weights.
    const ARC_TYPE: &'static str;
    /// Whether arcs have one label, not two.
    const ACCEPTOR: bool;

    /// The weight of an impossible path: infinity. It is written for states that are not final.
    fn zero() -> Self;
    /// The neutral weight.
    fn one() -> Self;
    /// The fewest bytes in binary.
    fn least_bytes(widths: Widths) -> usize;
    /// Reads a weight.
    ///
    /// # Errors
    ///
    /// Fails if the stream ends before that, or a length is negative.
    fn read(reader: &mut ObjectReader, widths: Widths) -> Result<Self>;
    /// Appends the weight in 4-byte numbers.
    fn write(&self, out: &mut Vec<u8>);
    /// Reads a weight from the whole of `text`.
    fn parse(text: &[u8]) -> Option<Self>;
    /// Appends the weight as text.
    fn write_text(&self, out: &mut Vec<u8>, digits: usize);
}

/// The cost of a path is the sum along it. The cost of several paths is the least.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TropicalWeight(
    /// The cost.
    pub f32,
);

/// The costs of a lattice's arc. Paths are compared by the sum of both.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LatticeWeight {
    /// Cost of the graph: language model, pronunciation, transitions.
    pub graph: f32,
    /// Cost of the acoustics.
    pub acoustic: f32,
}

/// The costs of a compact lattice's arc, and its transition identifiers.
#[derive(Clone, Debug, PartialEq)]
pub struct CompactLatticeWeight {
    /// The costs.
    pub weight: LatticeWeight,
    /// Transition identifiers.
    pub labels: Vec<i32>,
}

fn read_float(reader: &mut ObjectReader, widths: Widths) -> Result<f32> {
    Ok(match widths.float {
        4 => f32::from_le_bytes(reader.read_array("a weight")?),
        _ => f64::from_le_bytes(reader.read_array("a weight")?) as f32,
    })
}

/// Reads a float as C's `strtod` does (except hexadecimal numbers), and rounds it. A number that is
/// too large becomes infinite.
fn parse_float(text: &[u8]) -> Option<f32> {
    if text == b"BadNumber" {
        return Some(f32::NAN);
    }
    if let Some((value, len)) = parse_f64(text) {
        return (len == text.len()).then_some(value as f32);
    }
    let (sign, name) = match text {
        [b'-', name @ ..] => (-1.0, name),
        [b'+', name @ ..] => (1.0, name),
        name => (1.0, name),
    };
    let is = |other: &[u8]| name.eq_ignore_ascii_case(other);
    match () {
        () if is(b"inf") || is(b"infinity") => Some(sign * f32::INFINITY),
        () if is(b"nan") => Some(sign * f32::NAN),
        () => None,
    }
}

fn write_float(out: &mut Vec<u8>, value: f32, digits: usize) {
    if value.is_nan() {
        out.extend_from_slice(b"BadNumber");
    } else if value.is_infinite() {
        out.extend_from_slice(if value > 0.0 { b"Infinity" } else { b"-Infinity" });
    } else {
        write_g(out, f64::from(value), digits);
    }
}

impl FstWeight for TropicalWeight {
    const ARC_TYPE: &'static str = "standard";
    const ACCEPTOR: bool = false;

    fn zero() -> Self {
        Self(f32::INFINITY)
    }

    fn one() -> Self {
        Self(0.0)
    }

    fn least_bytes(_: Widths) -> usize {
        4
    }

    fn read(reader: &mut ObjectReader, widths: Widths) -> Result<Self> {
        read_float(reader, widths).map(Self)
    }

    fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.0.to_le_bytes());
    }

    fn parse(text: &[u8]) -> Option<Self> {
        parse_float(text).map(Self)
    }

    fn write_text(&self, out: &mut Vec<u8>, digits: usize) {
        write_float(out, self.0, digits);
    }
}

impl LatticeWeight {
    /// The costs of two paths one after another.
    #[must_use]
    pub fn times(self, other: Self) -> Self {
        Self { graph: self.graph + other.graph, acoustic: self.acoustic + other.acoustic }
    }
}

impl FstWeight for LatticeWeight {
    const ARC_TYPE: &'static str = "lattice4";
    const ACCEPTOR: bool = false;

    fn zero() -> Self {
        Self { graph: f32::INFINITY, acoustic: f32::INFINITY }
    }

    fn one() -> Self {
        Self { graph: 0.0, acoustic: 0.0 }
    }

    fn least_bytes(widths: Widths) -> usize {
        2 * widths.float
    }

    fn read(reader: &mut ObjectReader, widths: Widths) -> Result<Self> {
        let graph = read_float(reader, widths)?;
        Ok(Self { graph, acoustic: read_float(reader, widths)? })
    }

    fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.graph.to_le_bytes());
        out.extend_from_slice(&self.acoustic.to_le_bytes());
    }

    fn parse(text: &[u8]) -> Option<Self> {
        let comma = text.iter().position(|&byte| byte == b',')?;
        let graph = parse_float(&text[..comma])?;
        Some(Self { graph, acoustic: parse_float(&text[comma + 1..])? })
    }

    fn write_text(&self, out: &mut Vec<u8>, digits: usize) {
        write_float(out, self.graph, digits);
        out.push(b',');
        write_float(out, self.acoustic, digits);
    }
}

impl FstWeight for CompactLatticeWeight {
    const ARC_TYPE: &'static str = "compactlattice44";
    const ACCEPTOR: bool = true;

    fn zero() -> Self {
        Self { weight: LatticeWeight::zero(), labels: Vec::new() }
    }

    fn one() -> Self {
        Self { weight: LatticeWeight::one(), labels: Vec::new() }
    }

    fn least_bytes(widths: Widths) -> usize {
        LatticeWeight::least_bytes(widths) + 4
    }

    fn read(reader: &mut ObjectReader, widths: Widths) -> Result<Self> {
        let weight = LatticeWeight::read(reader, widths)?;
        let start = reader.position();
        let count = i32::from_le_bytes(reader.read_array("a weight")?);
        let count = size("number of labels", count)
            .map_err(|error| error.in_file(reader.name()).at_byte(start))?;
        let mut labels = Vec::new();
        if widths.integer == 4 {
            reader.read_values(count, &mut labels, "labels of a weight")?;
            return Ok(Self { weight, labels });
        }
        let mut wide: Vec<i64> = Vec::new();
        reader.read_values(count, &mut wide, "labels of a weight")?;
        for label in wide {
            let Ok(label) = i32::try_from(label) else {
                let allowed = "a number of 32 bits".into();
                let problem = Problem::OutOfRange { what: "a label", found: label, allowed };
                return Err(reader.error_at(start, OBJECT, problem));
            };
            labels.push(label);
        }
        Ok(Self { weight, labels })
    }

    fn write(&self, out: &mut Vec<u8>) {
        self.weight.write(out);
        out.extend_from_slice(&(self.labels.len() as i32).to_le_bytes());
        self.labels.iter().for_each(|label| out.extend_from_slice(&label.to_le_bytes()));
    }

    fn parse(text: &[u8]) -> Option<Self> {
        let comma = text.iter().rposition(|&byte| byte == b',')?;
        let weight = LatticeWeight::parse(&text[..comma])?;
        let mut labels = Vec::new();
        if comma + 1 < text.len() {
            for label in text[comma + 1..].split(|&byte| byte == b'_') {
                let (value, len) = i32::parse_integer(label)?;
                if len != label.len() {
                    return None;
                }
                labels.push(value);
            }
        }
        Some(Self { weight, labels })
    }

    fn write_text(&self, out: &mut Vec<u8>, digits: usize) {
        self.weight.write_text(out, digits);
        out.push(b',');
        for (number, label) in self.labels.iter().enumerate() {
            if number > 0 {
                out.push(b'_');
            }
            out.extend_from_slice(itoa::Buffer::new().format(*label).as_bytes());
        }
    }
}
