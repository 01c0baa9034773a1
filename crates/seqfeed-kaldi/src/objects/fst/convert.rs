//! Lattices into compact ones and back.

use std::collections::HashMap;

use super::{
    CompactLattice, CompactLatticeWeight, FstArc, FstState, FstWeight, Lattice, LatticeWeight,
};

impl CompactLattice {
    /// The same lattice with one transition identifier an arc: the word and the costs on the first of
    /// a chain. States keep their numbers, new ones come behind.
    #[must_use]
    pub fn to_lattice(&self) -> Lattice {
        let mut states: Vec<FstState<LatticeWeight>> = Vec::new();
        states.resize_with(self.states.len(), FstState::default);
        let add = |states: &mut Vec<FstState<LatticeWeight>>| {
            states.push(FstState::default());
            states.len() - 1
        };
        let arc = |ilabel, olabel, weight, next: usize| FstArc {
            ilabel,
            olabel,
            weight,
            next_state: next as u32,
        };
        for (number, state) in self.states.iter().enumerate() {
            if let Some(CompactLatticeWeight { weight, labels }) = &state.final_weight {
                let (mut current, mut weight) = (number, *weight);
                for &label in labels {
                    let next = add(&mut states);
                    states[current].arcs.push(arc(label, 0, weight, next));
                    (current, weight) = (next, LatticeWeight::one());
                }
                states[current].final_weight = Some(weight);
            }
            for FstArc { olabel, weight, next_state, .. } in &state.arcs {
                let (mut current, mut word, mut cost) = (number, *olabel, weight.weight);
                let (last, chain) = match weight.labels.split_last() {
                    Some((last, chain)) => (*last, chain),
                    None => (0, &[][..]),
                };
                for &label in chain {
                    let next = add(&mut states);
                    states[current].arcs.push(arc(label, word, cost, next));
                    (current, word, cost) = (next, 0, LatticeWeight::one());
                }
                states[current].arcs.push(arc(last, word, cost, *next_state as usize));
            }
        }
        Lattice { start: self.start, states, properties: None }
    }
}

impl Lattice {
    /// The same lattice with a word an arc: chains of arcs without words are put together. States that
    /// cannot be reached are left out; the others are in topological order, if there is one.
    #[must_use]
    pub fn to_compact(&self) -> CompactLattice {
        let Some(start) = self.start else { return CompactLattice::default() };
        let mut arcs_in = vec![0u32; self.states.len()];
        for arc in self.states.iter().flat_map(|state| &state.arcs) {
            arcs_in[arc.next_state as usize] += 1;
        }
        // A state inside of a chain: one way in, one way out, and no word on that.
        let inside = |number: u32| {
            let state = &self.states[number as usize];
            number != start
                && arcs_in[number as usize] == 1
                && state.final_weight.is_none()
                && matches!(&state.arcs[..], [arc] if arc.olabel == 0)
        };
        let mut kept: HashMap<u32, FstState<CompactLatticeWeight>> = HashMap::new();
        let mut waiting = vec![start];
        while let Some(number) = waiting.pop() {
            if kept.contains_key(&number) {
                continue;
            }
            let state = &self.states[number as usize];
            let final_weight = state
                .final_weight
                .map(|weight| CompactLatticeWeight { weight, labels: Vec::new() });
            let arcs = state.arcs.iter().map(|first| {
                let mut weight = CompactLatticeWeight { weight: first.weight, labels: Vec::new() };
                let mut arc = first;
                loop {
                    if arc.ilabel != 0 {
                        weight.labels.push(arc.ilabel);
                    }
                    if !inside(arc.next_state) {
                        break;
                    }
                    arc = &self.states[arc.next_state as usize].arcs[0];
                    weight.weight = weight.weight.times(arc.weight);
                }
                let word = first.olabel;
                FstArc { ilabel: word, olabel: word, weight, next_state: arc.next_state }
            });
            let arcs: Vec<_> = arcs.collect();
            waiting.extend(arcs.iter().map(|arc| arc.next_state));
            kept.insert(number, FstState { final_weight, arcs });
        }
        let order = order(&kept, start);
        let numbers: HashMap<u32, u32> = order.iter().copied().zip(0..).collect();
        let states = order
            .iter()
            .filter_map(|number| kept.remove(number))
            .map(|mut state| {
                for arc in &mut state.arcs {
                    arc.next_state = numbers[&arc.next_state];
                }
                state
            })
            .collect();
        CompactLattice { start: Some(numbers[&start]), states, properties: None }
    }
}

/// The states in topological order, or as they are numbered if there is a cycle.
fn order(states: &HashMap<u32, FstState<CompactLatticeWeight>>, start: u32) -> Vec<u32> {
    let mut finished = Vec::new();
    let mut entered: HashMap<u32, bool> = HashMap::new();
    let mut path = vec![(start, 0)];
    entered.insert(start, true);
    let mut cyclic = false;
    while let Some((state, next)) = path.pop() {
        match states[&state].arcs.get(next) {
            None => {
                entered.insert(state, false);
                finished.push(state);
            }
            Some(arc) => {
                path.push((state, next + 1));
                match entered.get(&arc.next_state) {
                    Some(on_path) => cyclic |= on_path,
                    None => {
                        entered.insert(arc.next_state, true);
                        path.push((arc.next_state, 0));
                    }
                }
            }
        }
    }
    if cyclic {
        finished.sort_unstable();
    } else {
        finished.reverse();
    }
    finished
}
