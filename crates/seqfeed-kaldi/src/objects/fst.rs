//! Finite-state transducers and lattices, in the formats of OpenFst and Kaldi.
//!
//! ```text
//! binary   magic:i32 (7eb2fdd6) type arcs: strings with an i32 length before them
//!          version:i32 flags:i32 properties:u64 start:i64 states:i64 arcs:i64
//! vector   for each state: final weight, n:i64, n arcs (ilabel:i32 olabel:i32 weight next:i32)
//! text     LF, lines `from to ilabel olabel weight` and `state weight`, an empty line
//! ```
//!
//! Neutral weights are left out of text. None of these formats has a `\0B`: the magic number or the
//! end of a line tells binary from text.

mod binary;
mod compact_acceptor;
mod convert;
mod depth_first;
mod properties;
mod text;
mod weight;

use seqfeed_core::Result;

pub(crate) use self::compact_acceptor::{read_compact_acceptor, write_compact_acceptor};
pub(crate) use self::text::{read_fst_text, write_fst_text};
pub use self::weight::{CompactLatticeWeight, FstWeight, LatticeWeight, TropicalWeight};
use crate::OBJECT;
use crate::holder::{Holder, Mode};
use crate::object_reader::{ObjectReader, is_space};

/// Digits of weights in text, outside of objects with a `\0B`.
const DIGITS: usize = 6;

/// A transducer with its states and arcs in memory one after another: OpenFst's `VectorFst`.
///
/// ```
/// use seqfeed_kaldi::{FstArc, FstState, TropicalWeight, VectorFst};
///
/// let arc = FstArc { ilabel: 1, olabel: 2, weight: TropicalWeight(0.5), next_state: 1 };
/// let fst = VectorFst {
///     start: Some(0),
///     states: vec![
///         FstState { final_weight: None, arcs: vec![arc] },
///         FstState { final_weight: Some(TropicalWeight(0.0)), arcs: vec![] },
///     ],
///     properties: None,
/// };
/// # let _ = fst;
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct VectorFst<W> {
    /// The state where paths begin; `None` in an empty transducer.
    pub start: Option<u32>,
    /// The states.
    pub states: Vec<FstState<W>>,
    /// The property bits of the file that it was read from. They are written again. If there are
    /// none, OpenFst's bits are written. Remove them if you change the transducer.
    pub properties: Option<u64>,
}

/// A state of a transducer.
#[derive(Clone, Debug, PartialEq)]
pub struct FstState<W> {
    /// The weight of paths that end here; `None` if no path may.
    pub final_weight: Option<W>,
    /// Arcs that leave the state.
    pub arcs: Vec<FstArc<W>>,
}

/// An arc of a transducer.
#[derive(Clone, Debug, PartialEq)]
pub struct FstArc<W> {
    /// Input label; 0 is none.
    pub ilabel: i32,
    /// Output label; 0 is none.
    pub olabel: i32,
    /// Weight.
    pub weight: W,
    /// The next state.
    pub next_state: u32,
}

/// A transducer over OpenFst's `StdArc`: grammars, training graphs.
pub type StdVectorFst = VectorFst<TropicalWeight>;

/// A lattice: transition identifiers in, words out, with costs of graph and acoustics.
pub type Lattice = VectorFst<LatticeWeight>;

/// A lattice with one word on each arc, and its transition identifiers in the weight.
pub type CompactLattice = VectorFst<CompactLatticeWeight>;

impl<W> Default for VectorFst<W> {
    fn default() -> Self {
        Self { start: None, states: Vec::new(), properties: None }
    }
}

impl<W> Default for FstState<W> {
    fn default() -> Self {
        Self { final_weight: None, arcs: Vec::new() }
    }
}

/// Whether text is next. Otherwise it is a binary transducer.
fn is_text(reader: &mut ObjectReader) -> Result<bool> {
    match reader.peek()? {
        Some(0xd6) => Ok(false),
        Some(byte) if is_space(byte) => Ok(true),
        _ => Err(reader.unexpected(
            OBJECT,
            "a transducer or lattice (OpenFst's magic, or the end of the line before its text)",
        )),
    }
}

impl Holder for StdVectorFst {
    const TYPE: &'static str = "transducer";
    const HEADER: bool = false;

    fn read(reader: &mut ObjectReader, _: Mode) -> Result<Self> {
        if is_text(reader)? {
            return read_fst_text(reader);
        }
        binary::read(reader, &["standard"])
    }

    fn write(&self, out: &mut Vec<u8>, mode: Mode) -> Result<()> {
        match mode {
            Mode::Binary => binary::write(self, out),
            Mode::Text => write_fst_text(self, out, DIGITS),
        }
    }
}

impl Holder for Lattice {
    const TYPE: &'static str = "lattice";
    const HEADER: bool = false;

    /// Reads a lattice of either kind. A compact one is converted.
    fn read(reader: &mut ObjectReader, _: Mode) -> Result<Self> {
        let (plain, compact) = read_lattice(reader)?;
        Ok(plain.or_else(|| Some(compact?.to_lattice())).unwrap_or_default())
    }

    fn write(&self, out: &mut Vec<u8>, mode: Mode) -> Result<()> {
        match mode {
            Mode::Binary => binary::write(self, out),
            Mode::Text => write_fst_text(self, out, DIGITS),
        }
    }
}

impl Holder for CompactLattice {
    const TYPE: &'static str = "compact lattice";
    const HEADER: bool = false;

    /// Reads a lattice of either kind. Chains of a plain one are joined.
    fn read(reader: &mut ObjectReader, _: Mode) -> Result<Self> {
        let (plain, compact) = read_lattice(reader)?;
        Ok(compact.or_else(|| Some(plain?.to_compact())).unwrap_or_default())
    }

    fn write(&self, out: &mut Vec<u8>, mode: Mode) -> Result<()> {
        match mode {
            Mode::Binary => binary::write(self, out),
            Mode::Text => write_fst_text(self, out, DIGITS),
        }
    }
}

/// Reads a lattice as its own kind, or as both if its text fits both.
fn read_lattice(reader: &mut ObjectReader) -> Result<(Option<Lattice>, Option<CompactLattice>)> {
    if is_text(reader)? {
        return text::read_lattice_text(reader);
    }
    let arc_type = binary::peek_arc_type(reader)?;
    if arc_type.starts_with(b"compact") {
        let types =
            ["compactlattice44", "compactlattice84", "compactlattice48", "compactlattice88"];
        return Ok((None, Some(binary::read(reader, &types)?)));
    }
    Ok((Some(binary::read(reader, &["lattice4", "lattice8"])?), None))
}
