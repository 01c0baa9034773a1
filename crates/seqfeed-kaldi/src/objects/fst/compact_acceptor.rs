//! OpenFst's binary files of the type `compact_acceptor`, with the supervision of chain training.
//!
//! ```text
//! header, (states + 1) x end of the state's elements before it:u32
//! elements: label:i32 weight:f32 next:i32; a final weight is the first of its state, with -1 twice
//! ```

use seqfeed_core::{Error, Problem, Result};

use super::binary::{Header, start_of};
use super::{FstArc, FstState, FstWeight, StdVectorFst, TropicalWeight, properties};
use crate::OBJECT;
use crate::object_reader::ObjectReader;

const TYPE: &[u8] = b"compact_acceptor";
const INSIDE: &str = "a compact acceptor";
/// The label of an element that is a final weight, not an arc.
const FINAL: i32 = -1;

pub(crate) fn read_compact_acceptor(reader: &mut ObjectReader) -> Result<StdVectorFst> {
    let start = reader.position();
    let header = Header::read(reader)?;
    if header.fst_type != TYPE || header.arc_type != b"standard" {
        let found = format!(
            "a transducer of type {} with {} arcs",
            header.fst_type.escape_ascii(),
            header.arc_type.escape_ascii()
        );
        let what = format!("{found}, where a compact acceptor with standard arcs is expected");
        return Err(reader.error_at(start, OBJECT, Problem::Unsupported(what.into())));
    }
    let Some(count) = usize::try_from(header.states).ok().filter(|&count| count < 1 << 31) else {
        let allowed = "0 or more".into();
        let problem =
            Problem::OutOfRange { what: "number of states", found: header.states, allowed };
        return Err(reader.error_at(start, OBJECT, problem));
    };
    let mut ends: Vec<u32> = Vec::new();
    reader.read_values(count + 1, &mut ends, INSIDE)?;
    if ends[0] != 0 || ends.windows(2).any(|pair| pair[0] > pair[1]) {
        let what = "the offsets of the states do not rise".into();
        return Err(reader.error_at(start, OBJECT, Problem::Unsupported(what)));
    }
    let elements = ends[count] as usize;
    let mut words: Vec<i32> = Vec::new();
    reader.read_values(3 * elements, &mut words, INSIDE)?;
    let mut fst = StdVectorFst {
        start: start_of(header.start),
        states: Vec::with_capacity(count),
        properties: Some(header.properties),
    };
    for pair in ends.windows(2) {
        let mut state = FstState::default();
        let elements = words[3 * pair[0] as usize..3 * pair[1] as usize].chunks_exact(3);
        for (nth, element) in elements.enumerate() {
            let (label, next) = (element[0], element[2]);
            let weight = TropicalWeight(f32::from_bits(element[1] as u32));
            if label == FINAL {
                if nth > 0 {
                    let what = "a final weight stands behind arcs of its state".into();
                    return Err(reader.error_at(start, OBJECT, Problem::Unsupported(what)));
                }
                state.final_weight = (weight != TropicalWeight::zero()).then_some(weight);
            } else {
                let next_state = next as u32;
                state.arcs.push(FstArc { ilabel: label, olabel: label, weight, next_state });
            }
        }
        fst.states.push(state);
    }
    fst.check().map_err(|error| error.in_file(reader.name()).at_byte(start))?;
    Ok(fst)
}

pub(crate) fn write_compact_acceptor(fst: &StdVectorFst, out: &mut Vec<u8>) -> Result<()> {
    fst.check()?;
    let wrong = |arc: &&FstArc<_>| arc.ilabel != arc.olabel || arc.ilabel == FINAL;
    if let Some(arc) = fst.states.iter().flat_map(|state| &state.arcs).find(wrong) {
        let what = format!(
            "an arc with the labels {} and {} cannot stand in a compact acceptor",
            arc.ilabel, arc.olabel
        );
        return Err(Error::format(OBJECT, Problem::Unsupported(what.into())));
    }
    // The end of the elements of each state.
    let mut ends = vec![0u32];
    for state in &fst.states {
        let elements = state.arcs.len() + usize::from(state.final_weight.is_some());
        let before = ends.last().copied().unwrap_or(0);
        let end = u32::try_from(elements).ok().and_then(|elements| before.checked_add(elements));
        let Some(end) = end else {
            let what = "more arcs than a compact acceptor can have".into();
            return Err(Error::format(OBJECT, Problem::Unsupported(what)));
        };
        ends.push(end);
    }
    Header {
        fst_type: TYPE.to_vec(),
        arc_type: b"standard".to_vec(),
        properties: properties::of_compact(fst),
        start: fst.start.map_or(-1, i64::from),
        states: fst.states.len() as i64,
        arcs: fst.states.iter().map(|state| state.arcs.len() as i64).sum(),
    }
    .write(out);
    ends.iter().for_each(|end| out.extend_from_slice(&end.to_le_bytes()));
    for state in &fst.states {
        if let Some(TropicalWeight(weight)) = state.final_weight {
            out.extend_from_slice(&FINAL.to_le_bytes());
            out.extend_from_slice(&weight.to_le_bytes());
            out.extend_from_slice(&FINAL.to_le_bytes());
        }
        for arc in &state.arcs {
            out.extend_from_slice(&arc.ilabel.to_le_bytes());
            out.extend_from_slice(&arc.weight.0.to_le_bytes());
            out.extend_from_slice(&arc.next_state.to_le_bytes());
        }
    }
    Ok(())
}
