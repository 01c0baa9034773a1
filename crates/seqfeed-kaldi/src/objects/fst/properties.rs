//! The property bits of OpenFst, as it keeps them while a transducer is built arc by arc.

use super::{FstWeight, VectorFst};

pub(super) const EXPANDED: u64 = 0x1;
const MUTABLE: u64 = 0x2;
const ACCEPTOR: u64 = 0x1_0000;
const NOT_ACCEPTOR: u64 = 0x2_0000;
const I_DETERMINISTIC: u64 = 0x4_0000;
const O_DETERMINISTIC: u64 = 0x10_0000;
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
const ACYCLIC: u64 = 0x8_0000_0000;
const INITIAL_ACYCLIC: u64 = 0x20_0000_0000;
const TOP_SORTED: u64 = 0x40_0000_0000;
const NOT_TOP_SORTED: u64 = 0x80_0000_0000;
const ACCESSIBLE: u64 = 0x100_0000_0000;
const COACCESSIBLE: u64 = 0x400_0000_0000;
const STRING: u64 = 0x1000_0000_0000;
const UNWEIGHTED_CYCLES: u64 = 0x8000_0000_0000;

/// What is known of a transducer to which states, final weights and arcs were added in turn.
pub(super) fn of<W: FstWeight>(fst: &VectorFst<W>) -> u64 {
    let mut bits = EXPANDED | MUTABLE | labels_and_weights(fst);
    let arcs = || {
        fst.states
            .iter()
            .enumerate()
            .flat_map(|(s, state)| state.arcs.iter().map(move |arc| (s, arc)))
    };
    if fst.states.is_empty() {
        bits |= ACCESSIBLE | COACCESSIBLE | STRING;
    }
    if arcs().next().is_none() {
        bits |= I_DETERMINISTIC | O_DETERMINISTIC | UNWEIGHTED_CYCLES;
    }
    let sorted = arcs().all(|(s, arc)| arc.next_state as usize > s);
    bits | if sorted { TOP_SORTED | ACYCLIC | INITIAL_ACYCLIC } else { NOT_TOP_SORTED }
}

/// All that the arcs say each by itself, or with the one before.
pub(super) fn labels_and_weights<W: FstWeight>(fst: &VectorFst<W>) -> u64 {
    let arcs = || fst.states.iter().flat_map(|state| &state.arcs);
    let pairs = || fst.states.iter().flat_map(|state| state.arcs.windows(2));
    let either = |yes: bool, if_yes: u64, if_no: u64| if yes { if_yes } else { if_no };
    let weighted = |weight: &W| *weight != W::zero() && *weight != W::one();
    let any_weight = arcs().any(|arc| weighted(&arc.weight))
        || fst.states.iter().any(|state| state.final_weight.as_ref().is_some_and(weighted));
    either(arcs().all(|arc| arc.ilabel == arc.olabel), ACCEPTOR, NOT_ACCEPTOR)
        | either(arcs().any(|arc| arc.ilabel == 0 && arc.olabel == 0), EPSILONS, NO_EPSILONS)
        | either(arcs().any(|arc| arc.ilabel == 0), I_EPSILONS, NO_I_EPSILONS)
        | either(arcs().any(|arc| arc.olabel == 0), O_EPSILONS, NO_O_EPSILONS)
        | either(pairs().all(|pair| pair[0].ilabel <= pair[1].ilabel), I_SORTED, NOT_I_SORTED)
        | either(pairs().all(|pair| pair[0].olabel <= pair[1].olabel), O_SORTED, NOT_O_SORTED)
        | either(any_weight, WEIGHTED, UNWEIGHTED)
}
