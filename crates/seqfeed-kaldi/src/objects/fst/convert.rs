//! Converts lattices to compact ones and back.

use super::depth_first::depth_first;
use super::{
    CompactLattice, CompactLatticeWeight, FstArc, FstState, FstWeight, Lattice, LatticeWeight,
};

impl CompactLattice {
    /// The same lattice with one transition identifier on each arc. The word and the costs are on
    /// the first arc of a chain. States keep their numbers; new states follow.
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
    /// The same lattice with a word on each arc: chains of arcs without words are joined. The
    /// states are in topological order if there is one, else in the order in which Kaldi finds
    /// them, depth first.
    ///
    /// # Panics
    ///
    /// If an arc leads to a missing state. No lattice that was read has one.
    #[must_use]
    pub fn to_compact(&self) -> CompactLattice {
        let Some(start) = self.start else { return CompactLattice::default() };
        let inside = self.inside_of_chains(start);
        // States are numbered in the order of their first mention.
        let mut numbers: Vec<Option<u32>> = vec![None; self.states.len()];
        let mut states: Vec<FstState<CompactLatticeWeight>> = Vec::new();
        let mut number_of = |states: &mut Vec<FstState<_>>, state: usize| {
            *numbers[state].get_or_insert_with(|| {
                states.push(FstState::default());
                (states.len() - 1) as u32
            })
        };
        for from in depth_first(self).found {
            if inside[from] {
                continue;
            }
            let state = &self.states[from];
            let number = number_of(&mut states, from) as usize;
            states[number].final_weight = state
                .final_weight
                .map(|weight| CompactLatticeWeight { weight, labels: Vec::new() });
            for first in &state.arcs {
                let mut arc = first;
                let mut weight = CompactLatticeWeight { weight: first.weight, labels: Vec::new() };
                loop {
                    if arc.ilabel != 0 {
                        weight.labels.push(arc.ilabel);
                    }
                    let next = arc.next_state as usize;
                    let Some(after) = self.states[next].arcs.first().filter(|_| inside[next])
                    else {
                        break;
                    };
                    arc = after;
                    weight.weight = weight.weight.times(arc.weight);
                }
                let next_state = number_of(&mut states, arc.next_state as usize);
                let word = first.olabel;
                states[number].arcs.push(FstArc { ilabel: word, olabel: word, weight, next_state });
            }
        }
        let start = numbers[start as usize];
        CompactLattice { start, states, properties: None }.in_topological_order()
    }

    /// Which states are inside a chain: one arc in, one arc out without a word. A chain ends, since
    /// no arc leads into a ring of such states.
    fn inside_of_chains(&self, start: u32) -> Vec<bool> {
        let mut arcs_in = vec![0u8; self.states.len()];
        for arc in self.states.iter().flat_map(|state| &state.arcs) {
            let count = &mut arcs_in[arc.next_state as usize];
            *count = count.saturating_add(1);
        }
        let is_inside = |(number, state): (usize, &FstState<LatticeWeight>)| {
            number != start as usize
                && arcs_in[number] == 1
                && state.final_weight.is_none()
                && matches!(&state.arcs[..], [arc] if arc.olabel == 0)
        };
        self.states.iter().enumerate().map(is_inside).collect()
    }
}

impl CompactLattice {
    /// Numbers the states so that arcs lead to higher ones. Changes nothing if there is a cycle.
    fn in_topological_order(mut self) -> Self {
        let walk = depth_first(&self);
        let mut numbers = vec![0; self.states.len()];
        for (number, &state) in walk.left.iter().rev().enumerate() {
            numbers[state] = number;
        }
        let arcs = self.states.iter().zip(&numbers);
        let mut arcs = arcs.flat_map(|(state, from)| state.arcs.iter().map(move |arc| (from, arc)));
        if arcs.any(|(&from, arc)| numbers[arc.next_state as usize] <= from) {
            return self;
        }
        let mut states = Vec::new();
        states.resize_with(self.states.len(), FstState::default);
        for (mut state, &number) in self.states.into_iter().zip(&numbers) {
            for arc in &mut state.arcs {
                arc.next_state = numbers[arc.next_state as usize] as u32;
            }
            states[number] = state;
        }
        self.states = states;
        self.start = self.start.map(|start| numbers[start as usize] as u32);
        self
    }
}
