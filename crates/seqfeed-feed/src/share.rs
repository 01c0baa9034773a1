//! The units that a rank takes out of an order that ranks divide.

use serde::{Deserialize, Serialize};

use crate::swept_chunk::SweptChunk;

/// A rank's position in dealing single units.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ShareState {
    /// The number by which the next unit is dealt, if units are dealt one by one. It runs on over
    /// sweeps.
    pub dealt: u64,
}

/// The way an order is divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum By {
    /// Not at all: each rank has all of it.
    All,
    /// By every n-th chunk of a sweep's order of chunks.
    Chunk,
    /// By every n-th unit.
    Unit,
}

/// The share of one rank.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Share {
    by: By,
    rank: u64,
    ranks: u64,
}

impl Share {
    /// The share of rank `rank` of `ranks`.
    pub(crate) fn new(by: By, rank: usize, ranks: usize) -> Self {
        Self { by, rank: rank as u64, ranks: ranks.max(1) as u64 }
    }

    pub(crate) fn by(&self) -> By {
        self.by
    }

    pub(crate) fn rank(&self) -> u64 {
        self.rank
    }

    pub(crate) fn ranks(&self) -> u64 {
        self.ranks
    }

    /// Whether a unit is this rank's. `place` is the place of its chunk in the order of chunks,
    /// `number` the number by which it is dealt.
    #[inline]
    pub(crate) fn owns(&self, place: u32, number: u64) -> bool {
        match self.by {
            By::All => true,
            By::Chunk => self.owns_chunk(place),
            By::Unit => self.has_turn(number),
        }
    }

    /// Whether the units of a chunk can be this rank's.
    #[inline]
    pub(crate) fn owns_chunk(&self, place: u32) -> bool {
        self.by != By::Chunk || self.has_turn(place.into())
    }

    /// Whether it is this rank's turn, if ranks take turns.
    #[inline]
    fn has_turn(&self, number: u64) -> bool {
        number % self.ranks == self.rank
    }

    /// The chunks of a window that are this rank's. A window has the place of each chunk.
    pub(crate) fn of_window(
        &self,
        window: impl IntoIterator<Item = (SweptChunk, u32)>,
    ) -> Vec<SweptChunk> {
        let own = window.into_iter().filter(|&(_, place)| self.owns_chunk(place));
        own.map(|(chunk, _)| chunk).collect()
    }

    /// This rank's share of `count` things, if ranks take turns.
    pub(crate) fn of(&self, count: u64) -> u64 {
        count / self.ranks + u64::from(self.rank < count % self.ranks)
    }

    /// This rank's first unit, and the distance from one to the next.
    pub(crate) fn stride(&self) -> (u64, u64) {
        match self.by {
            By::Unit => (self.rank, self.ranks),
            By::All | By::Chunk => (0, 1),
        }
    }
}
