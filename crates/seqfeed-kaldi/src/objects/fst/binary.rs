//! OpenFst's binary files of the type `vector`.

use seqfeed_core::{Error, Problem, Result};

use super::weight::Widths;
use super::{FstArc, FstState, FstWeight, VectorFst, properties};
use crate::OBJECT;
use crate::object_reader::ObjectReader;

const MAGIC: i32 = 0x7eb2_fdd6;
/// The version of files that OpenFst writes, and the oldest that it reads.
const VERSION: i32 = 2;
/// The flag for tables of symbols.
const HAS_SYMBOLS: i32 = 3;
/// The flag for padding between the parts.
const IS_ALIGNED: i32 = 4;
/// Memory for arcs is taken in steps of at most this many.
const STEP: usize = 1 << 12;
/// The longest accepted name of a type.
const LONGEST_NAME: usize = 100;

/// The header before the states.
pub(super) struct Header {
    pub(super) fst_type: Vec<u8>,
    pub(super) arc_type: Vec<u8>,
    pub(super) properties: u64,
    pub(super) start: i64,
    pub(super) states: i64,
    pub(super) arcs: i64,
}

fn read_i32(reader: &mut ObjectReader) -> Result<i32> {
    reader.read_array(INSIDE).map(i32::from_le_bytes)
}

fn read_i64(reader: &mut ObjectReader) -> Result<i64> {
    reader.read_array(INSIDE).map(i64::from_le_bytes)
}

const INSIDE: &str = "a transducer";

fn read_name(reader: &mut ObjectReader) -> Result<Vec<u8>> {
    let start = reader.position();
    let len = read_i32(reader)?;
    let Some(len) = usize::try_from(len).ok().filter(|&len| len <= LONGEST_NAME) else {
        let (what, found) = ("length of a type's name", i64::from(len));
        let problem = Problem::OutOfRange { what, found, allowed: "0 to 100".into() };
        return Err(reader.error_at(start, OBJECT, problem));
    };
    let mut name = vec![0; len];
    reader.read_exact(&mut name, INSIDE)?;
    Ok(name)
}

impl Header {
    pub(super) fn read(reader: &mut ObjectReader) -> Result<Self> {
        let start = reader.position();
        if read_i32(reader)? != MAGIC {
            let expected = "the magic number of OpenFst (d6 fd b2 7e)".into();
            let problem = Problem::Unexpected { expected, found: Vec::new() };
            return Err(reader.error_at(start, OBJECT, problem));
        }
        let (fst_type, arc_type) = (read_name(reader)?, read_name(reader)?);
        let (version, flags) = (read_i32(reader)?, read_i32(reader)?);
        if version < VERSION {
            let what = format!("the transducer is of version {version}, from an old OpenFst");
            return Err(reader
                .error_at(start, OBJECT, Problem::Unsupported(what.into()))
                .with_help("convert it with `fstconvert`"));
        }
        if flags & IS_ALIGNED != 0 && fst_type != b"vector" {
            let what = "the transducer has padding in it".into();
            return Err(reader
                .error_at(start, OBJECT, Problem::Unsupported(what))
                .with_help("write it with `--fst_align=false`"));
        }
        if flags & HAS_SYMBOLS != 0 {
            let what = "the transducer has tables of symbols in it".into();
            return Err(reader
                .error_at(start, OBJECT, Problem::Unsupported(what))
                .with_help("take them out: `fstsymbols --clear_isymbols --clear_osymbols`"));
        }
        let properties = u64::from_le_bytes(reader.read_array(INSIDE)?);
        let (start, states, arcs) = (read_i64(reader)?, read_i64(reader)?, read_i64(reader)?);
        Ok(Self { fst_type, arc_type, properties, start, states, arcs })
    }

    pub(super) fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&MAGIC.to_le_bytes());
        for name in [&self.fst_type, &self.arc_type] {
            out.extend_from_slice(&(name.len() as i32).to_le_bytes());
            out.extend_from_slice(name);
        }
        out.extend_from_slice(&VERSION.to_le_bytes());
        out.extend_from_slice(&0i32.to_le_bytes());
        out.extend_from_slice(&self.properties.to_le_bytes());
        for number in [self.start, self.states, self.arcs] {
            out.extend_from_slice(&number.to_le_bytes());
        }
    }
}

/// The arc type of the next transducer. Nothing is consumed.
pub(super) fn peek_arc_type(reader: &mut ObjectReader) -> Result<Vec<u8>> {
    let bytes = reader.ensure(4 + 2 * (4 + LONGEST_NAME))?;
    let name_at = |at: usize| {
        let len = i32::from_le_bytes(*bytes.get(at..)?.first_chunk()?);
        bytes.get(at + 4..)?.get(..usize::try_from(len).ok()?)
    };
    let arc_type = name_at(4).and_then(|fst_type| name_at(8 + fst_type.len()));
    Ok(arc_type.unwrap_or_default().to_vec())
}

fn no_state(state: u32, count: usize) -> Error {
    unsupported(format!("there is no state {}, only {count}", state as i32))
}

fn unsupported(what: String) -> Error {
    Error::format(OBJECT, Problem::Unsupported(what.into()))
}

/// Reads a transducer with one of some arc types.
pub(super) fn read<W: FstWeight>(
    reader: &mut ObjectReader,
    arc_types: &[&str],
) -> Result<VectorFst<W>> {
    let start = reader.position();
    let header = Header::read(reader)?;
    let place = |error: Error| error.in_file(reader.name()).at_byte(start);
    if header.fst_type != b"vector" {
        let found = header.fst_type.escape_ascii();
        return Err(place(unsupported(format!("a transducer of type {found}, not vector")))
            .with_help("convert it: `fstconvert --fst_type=vector`"));
    }
    if !arc_types.iter().any(|arc_type| arc_type.as_bytes() == header.arc_type) {
        let found = header.arc_type.escape_ascii();
        let wanted = arc_types.join(" or ");
        return Err(place(unsupported(format!(
            "arcs of type {found}, where {wanted} is expected"
        ))));
    }
    let wide =
        |at: usize| header.arc_type.get(header.arc_type.len().wrapping_sub(at)) == Some(&b'8');
    let compact = header.arc_type.starts_with(b"compact");
    let float = if wide(if compact { 2 } else { 1 }) { 8 } else { 4 };
    let integer = if compact && wide(1) { 8 } else { 4 };
    let widths = Widths { float, integer };
    let least = W::least_bytes(widths);
    // A transducer that was written to a stream does not say the number of states.
    let count = usize::try_from(header.states).ok();
    if let Some(count) = count {
        reader.check_there((count as u64).saturating_mul(least as u64 + 8), INSIDE)?;
    }
    let mut fst = VectorFst { properties: Some(header.properties), ..VectorFst::default() };
    while count.map_or(reader.peek()?.is_some(), |count| fst.states.len() < count) {
        let weight = W::read(reader, widths)?;
        let final_weight = (weight != W::zero()).then_some(weight);
        let at = reader.position();
        let arcs = read_i64(reader)?;
        let Ok(arcs) = usize::try_from(arcs) else {
            let (what, allowed) = ("number of arcs", "0 or more".into());
            let problem = Problem::OutOfRange { what, found: arcs, allowed };
            return Err(reader.error_at(at, OBJECT, problem));
        };
        reader.check_there((arcs as u64).saturating_mul(least as u64 + 12), INSIDE)?;
        let mut state = FstState { final_weight, arcs: Vec::with_capacity(arcs.min(STEP)) };
        for _ in 0..arcs {
            let (ilabel, olabel) = (read_i32(reader)?, read_i32(reader)?);
            let weight = W::read(reader, widths)?;
            let at = reader.position();
            let next_state = read_i32(reader)? as u32;
            if let Some(count) = count.filter(|&count| next_state as usize >= count) {
                return Err(no_state(next_state, count).in_file(reader.name()).at_byte(at));
            }
            state.arcs.push(FstArc { ilabel, olabel, weight, next_state });
        }
        fst.states.push(state);
    }
    fst.start = start_of(header.start);
    fst.check().map_err(|error| error.in_file(reader.name()).at_byte(start))?;
    Ok(fst)
}

/// The start state; -1 is none. The check finds a start that does not fit.
pub(super) fn start_of(start: i64) -> Option<u32> {
    (start != -1).then(|| u32::try_from(start).unwrap_or(u32::MAX))
}

impl<W: FstWeight> VectorFst<W> {
    /// Fails if an arc or the start leads to a missing state.
    pub(super) fn check(&self) -> Result<()> {
        let count = self.states.len();
        let arcs = self.states.iter().flat_map(|state| &state.arcs).map(|arc| arc.next_state);
        match self.start.into_iter().chain(arcs).find(|&state| state as usize >= count) {
            None if i32::try_from(count).is_ok() => Ok(()),
            None => Err(unsupported(format!("{count} states are more than the format can say"))),
            Some(state) => Err(no_state(state, count)),
        }
    }
}

pub(super) fn write<W: FstWeight>(fst: &VectorFst<W>, out: &mut Vec<u8>) -> Result<()> {
    fst.check()?;
    Header {
        fst_type: b"vector".to_vec(),
        arc_type: W::ARC_TYPE.into(),
        properties: properties::of_vector(fst),
        start: fst.start.map_or(-1, i64::from),
        states: fst.states.len() as i64,
        arcs: 0,
    }
    .write(out);
    for state in &fst.states {
        state.final_weight.as_ref().unwrap_or(&W::zero()).write(out);
        out.extend_from_slice(&(state.arcs.len() as i64).to_le_bytes());
        for arc in &state.arcs {
            out.extend_from_slice(&arc.ilabel.to_le_bytes());
            out.extend_from_slice(&arc.olabel.to_le_bytes());
            arc.weight.write(out);
            out.extend_from_slice(&arc.next_state.to_le_bytes());
        }
    }
    Ok(())
}
