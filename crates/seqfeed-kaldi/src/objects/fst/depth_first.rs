//! A depth-first walk through a transducer.

use super::VectorFst;

/// The result of a walk. It begins at the start state. States that cannot be reached from there
/// follow in the order of their numbers, as OpenFst visits them.
pub(super) struct DepthFirst {
    /// The states in the order in which they were found.
    pub(super) found: Vec<usize>,
    /// The states in the order in which they were left for the last time, when all states that can
    /// be reached from them had been left.
    pub(super) left: Vec<usize>,
    /// The number of states that were found from the start.
    pub(super) reached: usize,
    /// The strongly connected component of each state. Arcs lead to the same or to a lower
    /// component.
    pub(super) component: Vec<usize>,
}

/// Walks through a transducer. No arc and no start may lead to a missing state.
pub(super) fn depth_first<W>(fst: &VectorFst<W>) -> DepthFirst {
    const NEVER: usize = usize::MAX;
    let count = fst.states.len();
    let mut walk = DepthFirst {
        found: Vec::with_capacity(count),
        left: Vec::with_capacity(count),
        reached: 0,
        component: vec![NEVER; count],
    };
    // Tarjan's algorithm: a component is complete when its first found state is left.
    let mut found_at = vec![NEVER; count];
    let mut lowest = vec![NEVER; count];
    let (mut open, mut path, mut components) = (Vec::new(), Vec::new(), 0);
    let start = fst.start.map(|start| start as usize);
    for (nth, root) in start.into_iter().chain(0..count).enumerate() {
        if found_at[root] != NEVER {
            continue;
        }
        path.push((root, 0));
        while let Some((state, next)) = path.pop() {
            if next == 0 {
                found_at[state] = walk.found.len();
                lowest[state] = walk.found.len();
                walk.found.push(state);
                open.push(state);
            }
            if let Some(arc) = fst.states[state].arcs.get(next) {
                let to = arc.next_state as usize;
                path.push((state, next + 1));
                if found_at[to] == NEVER {
                    path.push((to, 0));
                } else if walk.component[to] == NEVER {
                    lowest[state] = lowest[state].min(found_at[to]);
                }
                continue;
            }
            walk.left.push(state);
            if lowest[state] == found_at[state] {
                while let Some(member) = open.pop() {
                    walk.component[member] = components;
                    if member == state {
                        break;
                    }
                }
                components += 1;
            }
            if let Some(&(before, _)) = path.last() {
                lowest[before] = lowest[before].min(lowest[state]);
            }
        }
        if nth == 0 && start.is_some() {
            walk.reached = walk.found.len();
        }
    }
    walk
}
