//! OpenFst's binary files of the type `compact_acceptor`, which hold the supervision of chain
//! training.
//!
//! ```text
//! header, (states + 1) x end of the state's elements before it:u32
//! elements: label:i32 weight:f32 next:i32; a final weight is the first of its state, with -1 and -1
//! ```

use seqfeed_core::{Problem, Result};

use super::binary::{Header, start_of};
use super::{FstArc, FstState, StdVectorFst, TropicalWeight, properties};
use crate::OBJECT;
use crate::object_reader::ObjectReader;

const TYPE: &[u8] = b"compact_acceptor";
const INSIDE: &str = "a compact acceptor";

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
        for element in elements {
            let (label, next) = (element[0], element[2]);
            let weight = TropicalWeight(f32::from_bits(element[1] as u32));
            if label == -1 {
                state.final_weight = Some(weight);
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
    if let Some(arc) =
        fst.states.iter().flat_map(|state| &state.arcs).find(|arc| arc.ilabel != arc.olabel)
    {
        let what = format!(
            "an arc with the labels {} and {} cannot stand in an acceptor",
            arc.ilabel, arc.olabel
        );
        return Err(seqfeed_core::Error::format(OBJECT, Problem::Unsupported(what.into())));
    }
    // One that lies in memory as it is cannot be changed.
    let known = || (properties::of(fst) & !3) | properties::EXPANDED;
    Header {
        fst_type: TYPE.to_vec(),
        arc_type: b"standard".to_vec(),
        properties: fst.properties.unwrap_or_else(known),
        start: fst.start.map_or(-1, i64::from),
        states: fst.states.len() as i64,
        arcs: fst.states.iter().map(|state| state.arcs.len() as i64).sum(),
    }
    .write(out);
    let mut end = 0u32;
    out.extend_from_slice(&end.to_le_bytes());
    for state in &fst.states {
        end += (state.arcs.len() + usize::from(state.final_weight.is_some())) as u32;
        out.extend_from_slice(&end.to_le_bytes());
    }
    for state in &fst.states {
        if let Some(TropicalWeight(weight)) = state.final_weight {
            out.extend_from_slice(&(-1i32).to_le_bytes());
            out.extend_from_slice(&weight.to_le_bytes());
            out.extend_from_slice(&(-1i32).to_le_bytes());
        }
        for arc in &state.arcs {
            out.extend_from_slice(&arc.ilabel.to_le_bytes());
            out.extend_from_slice(&arc.weight.0.to_le_bytes());
            out.extend_from_slice(&arc.next_state.to_le_bytes());
        }
    }
    Ok(())
}
