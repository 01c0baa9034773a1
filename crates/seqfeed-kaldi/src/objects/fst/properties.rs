//! The property bits of OpenFst's headers.
//!
//! Most bits come in pairs, one for yes and one for no. If neither is set, the property is unknown.
//! OpenFst writes what it knows: for a transducer of type `vector`, the properties that it tracked
//! while building it; for a `compact_acceptor`, all of them, computed for the purpose.

use super::depth_first::depth_first;
use super::{FstWeight, VectorFst};

const EXPANDED: u64 = 0x1;
const MUTABLE: u64 = 0x2;
const ACCEPTOR: u64 = 0x1_0000;
const NOT_ACCEPTOR: u64 = 0x2_0000;
const I_DETERMINISTIC: u64 = 0x4_0000;
const NOT_I_DETERMINISTIC: u64 = 0x8_0000;
const O_DETERMINISTIC: u64 = 0x10_0000;
const NOT_O_DETERMINISTIC: u64 = 0x20_0000;
const EPSILONS: u64 = 0x40_0000;
const NO_EPSILONS: u64 = 0x80_0000;
const I_EPSILONS: u64 = 0x100_0000;
const NO_I_EPSILONS: u64 = 0x200_0000;
const O_EPSILONS: u64 = 0x400_0000;
const NO_O_EPSILONS: u64 = 0x800_0000;
const I_SORTED: u64 = 0x1000_0000;
const NOT_I_SORTED: u64 = 0x2000_0000;
const O_SORTED: u64 = 0x4000_0000;
const NOT_O_SORTED: u64 = 0x8000_0000;
const WEIGHTED: u64 = 0x1_0000_0000;
const UNWEIGHTED: u64 = 0x2_0000_0000;
const CYCLIC: u64 = 0x4_0000_0000;
const ACYCLIC: u64 = 0x8_0000_0000;
const INITIAL_CYCLIC: u64 = 0x10_0000_0000;
const INITIAL_ACYCLIC: u64 = 0x20_0000_0000;
const TOP_SORTED: u64 = 0x40_0000_0000;
const NOT_TOP_SORTED: u64 = 0x80_0000_0000;
const ACCESSIBLE: u64 = 0x100_0000_0000;
const NOT_ACCESSIBLE: u64 = 0x200_0000_0000;
const COACCESSIBLE: u64 = 0x400_0000_0000;
const NOT_COACCESSIBLE: u64 = 0x800_0000_0000;
const STRING: u64 = 0x1000_0000_0000;
const NOT_STRING: u64 = 0x2000_0000_0000;
const WEIGHTED_CYCLES: u64 = 0x4000_0000_0000;
const UNWEIGHTED_CYCLES: u64 = 0x8000_0000_0000;

/// The lower bits of all pairs that OpenFst has always had. (The pairs about weighted cycles came
/// later; older files lack them.)
const PAIRS: u64 = 0x1555_5555_0000;

/// The bits for a file of type `vector`.
pub(super) fn of_vector<W: FstWeight>(fst: &VectorFst<W>) -> u64 {
    fst.properties.unwrap_or_else(|| as_built(fst)) | EXPANDED | MUTABLE
}

/// The bits for a file of type `compact_acceptor`, which cannot be changed in place.
pub(super) fn of_compact<W: FstWeight>(fst: &VectorFst<W>) -> u64 {
    let knows_all = |bits: &u64| (bits | bits >> 1) & PAIRS == PAIRS;
    let bits = fst.properties.filter(knows_all).unwrap_or_else(|| all(fst));
    (bits & !MUTABLE) | EXPANDED
}

/// The known properties of a transducer to which states, final weights and arcs were added one by
/// one.
fn as_built<W: FstWeight>(fst: &VectorFst<W>) -> u64 {
    let mut bits = shown(fst);
    if bits & TOP_SORTED != 0 {
        bits |= ACYCLIC | INITIAL_ACYCLIC;
    }
    if fst.states.iter().all(|state| state.arcs.is_empty()) {
        bits |= I_DETERMINISTIC | O_DETERMINISTIC | UNWEIGHTED_CYCLES;
    }
    if fst.states.is_empty() {
        bits |= ACCESSIBLE | COACCESSIBLE | STRING;
    }
    bits
}

/// All properties of a transducer.
fn all<W: FstWeight>(fst: &VectorFst<W>) -> u64 {
    let either = |yes: bool, if_yes: u64, if_no: u64| if yes { if_yes } else { if_no };
    let walk = depth_first(fst);
    let component = |state: u32| walk.component[state as usize];
    let (mut cyclic, mut initial_cyclic, mut weighted_cycles) = (false, false, false);
    let (mut i_deterministic, mut o_deterministic) = (true, true);
    let mut labels = Vec::new();
    for (number, state) in fst.states.iter().enumerate() {
        for arc in &state.arcs {
            if component(arc.next_state) == walk.component[number] {
                cyclic = true;
                initial_cyclic |= fst.start.is_some_and(|start| arc.next_state == start);
                weighted_cycles |= is_weight(&arc.weight);
            }
        }
        let mut are_distinct = |label: fn(&super::FstArc<W>) -> i32| {
            labels.clear();
            labels.extend(state.arcs.iter().map(label));
            labels.sort_unstable();
            labels.windows(2).all(|pair| pair[0] != pair[1])
        };
        i_deterministic &= are_distinct(|arc| arc.ilabel);
        o_deterministic &= are_distinct(|arc| arc.olabel);
    }
    let accessible = fst.start.is_none() || walk.reached == fst.states.len();
    shown(fst)
        | either(i_deterministic, I_DETERMINISTIC, NOT_I_DETERMINISTIC)
        | either(o_deterministic, O_DETERMINISTIC, NOT_O_DETERMINISTIC)
        | either(cyclic, CYCLIC, ACYCLIC)
        | either(initial_cyclic, INITIAL_CYCLIC, INITIAL_ACYCLIC)
        | either(weighted_cycles, WEIGHTED_CYCLES, UNWEIGHTED_CYCLES)
        | either(accessible, ACCESSIBLE, NOT_ACCESSIBLE)
        | either(all_end(fst, &walk.left, &walk.component), COACCESSIBLE, NOT_COACCESSIBLE)
        | either(is_string(fst), STRING, NOT_STRING)
}

/// Whether a final state can be reached from every state.
fn all_end<W>(fst: &VectorFst<W>, left: &[usize], component: &[usize]) -> bool {
    let mut ends = vec![false; fst.states.len()];
    // Successors of a state were left before it, except in its own component.
    for &number in left {
        let state = &fst.states[number];
        let leads_on = state.arcs.iter().any(|arc| ends[component[arc.next_state as usize]]);
        ends[component[number]] |= leads_on || state.final_weight.is_some();
    }
    component.iter().all(|&component| ends[component])
}

/// Whether the states make one path in the order of their numbers.
fn is_string<W>(fst: &VectorFst<W>) -> bool {
    let Some((last, before)) = fst.states.split_last() else { return true };
    fst.start.is_none_or(|start| start == 0)
        && last.final_weight.is_some()
        && last.arcs.is_empty()
        && before.iter().zip(1..).all(|(state, next)| {
            state.final_weight.is_none()
                && matches!(&state.arcs[..], [arc] if arc.next_state == next)
        })
}

fn is_weight<W: FstWeight>(weight: &W) -> bool {
    *weight != W::zero() && *weight != W::one()
}

/// Properties that single states and arcs show. Each has an opposite that holds if none shows it.
const SHOWN: [(u64, u64); 8] = [
    (NOT_ACCEPTOR, ACCEPTOR),
    (EPSILONS, NO_EPSILONS),
    (I_EPSILONS, NO_I_EPSILONS),
    (O_EPSILONS, NO_O_EPSILONS),
    (NOT_I_SORTED, I_SORTED),
    (NOT_O_SORTED, O_SORTED),
    (WEIGHTED, UNWEIGHTED),
    (NOT_TOP_SORTED, TOP_SORTED),
];

/// The properties that each state and arc shows alone, or together with the previous arc.
fn shown<W: FstWeight>(fst: &VectorFst<W>) -> u64 {
    let mut seen = 0;
    for (number, state) in fst.states.iter().enumerate() {
        let mut see = |shows: bool, bit: u64| seen |= if shows { bit } else { 0 };
        see(state.final_weight.as_ref().is_some_and(is_weight), WEIGHTED);
        for arc in &state.arcs {
            see(arc.ilabel != arc.olabel, NOT_ACCEPTOR);
            see(arc.ilabel == 0 && arc.olabel == 0, EPSILONS);
            see(arc.ilabel == 0, I_EPSILONS);
            see(arc.olabel == 0, O_EPSILONS);
            see(is_weight(&arc.weight), WEIGHTED);
            see(arc.next_state as usize <= number, NOT_TOP_SORTED);
        }
        for pair in state.arcs.windows(2) {
            see(pair[0].ilabel > pair[1].ilabel, NOT_I_SORTED);
            see(pair[0].olabel > pair[1].olabel, NOT_O_SORTED);
        }
    }
    let holds =
        |&(shown, otherwise): &(u64, u64)| if seen & shown != 0 { shown } else { otherwise };
    SHOWN.iter().map(holds).fold(0, |bits, bit| bits | bit)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::objects::fst::{FstArc, FstState, StdVectorFst, TropicalWeight};

    /// Small transducers, all different: few states, and arcs wherever a generator says.
    fn transducers() -> impl Iterator<Item = StdVectorFst> {
        let mut state = 1u64;
        let mut next = move |below: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) % below
        };
        (0..3000).map(move |_| {
            let count = next(6) + 1;
            let mut states = Vec::new();
            for _ in 0..count {
                let final_weight = (next(3) == 0).then(|| TropicalWeight(next(2) as f32));
                let arcs = (0..next(3)).map(|_| {
                    let (ilabel, weight) = (next(3) as i32, TropicalWeight(next(2) as f32));
                    let next_state = next(count) as u32;
                    FstArc { ilabel, olabel: ilabel, weight, next_state }
                });
                let arcs = arcs.collect();
                states.push(FstState { final_weight, arcs });
            }
            VectorFst { start: Some(next(count) as u32), states, properties: None }
        })
    }

    /// From where to where there is a way of at least one arc.
    fn ways(fst: &StdVectorFst) -> Vec<Vec<bool>> {
        let count = fst.states.len();
        let mut ways = vec![vec![false; count]; count];
        for (from, state) in fst.states.iter().enumerate() {
            state.arcs.iter().for_each(|arc| ways[from][arc.next_state as usize] = true);
        }
        for middle in 0..count {
            for from in 0..count {
                for to in 0..count {
                    ways[from][to] |= ways[from][middle] && ways[middle][to];
                }
            }
        }
        ways
    }

    #[test]
    fn all_is_what_trying_every_way_gives() {
        for fst in transducers() {
            let (bits, ways) = (all(&fst), ways(&fst));
            let states = || 0..fst.states.len();
            let start = fst.start.map_or(0, |start| start as usize);
            let says = |yes: u64, no: u64, expected: bool| {
                assert_eq!(bits & (yes | no), if expected { yes } else { no }, "{fst:?}");
            };
            says(CYCLIC, ACYCLIC, states().any(|s| ways[s][s]));
            says(INITIAL_CYCLIC, INITIAL_ACYCLIC, ways[start][start]);
            says(ACCESSIBLE, NOT_ACCESSIBLE, states().all(|s| s == start || ways[start][s]));
            let is_final = |s: usize| fst.states[s].final_weight.is_some();
            let ends = |s: usize| is_final(s) || states().any(|to| ways[s][to] && is_final(to));
            says(COACCESSIBLE, NOT_COACCESSIBLE, states().all(ends));
            let on_cycle = |s: usize| {
                let mut arcs = fst.states[s].arcs.iter();
                arcs.any(|arc| {
                    let to = arc.next_state as usize;
                    is_weight(&arc.weight) && (to == s || ways[to][s])
                })
            };
            says(WEIGHTED_CYCLES, UNWEIGHTED_CYCLES, states().any(on_cycle));
            assert_eq!((bits | bits >> 1) & PAIRS, PAIRS);
            // What is known without looking is no different.
            assert_eq!(as_built(&fst) & !bits, 0, "{fst:?}");
        }
    }
}
