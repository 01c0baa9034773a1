//! Cuts one order of all ranks into minibatches, and deals them to the ranks.
//!
//! ```text
//! order ─ (similar lengths) ─ cut at its seams ─ deal a step to the ranks
//! ```

use std::sync::Arc;

use seqfeed_core::{Index, Result};

use crate::cut::{Cut, Lengths};
use crate::deal::Deal;
use crate::order::{Cursor, OrderedUnit, Units, all_units};
use crate::run::Run;
use crate::settings::{Settings, Steps, Unit};
use crate::similar::Similar;
use crate::stages::{Needs, Planned, Position, Stages};
use crate::state::State;
use crate::swept_chunk::SweptChunk;
use crate::tokens::Tokens;

pub(crate) struct Dealt {
    units: Units,
    similar: Option<Similar>,
    cut: Cut,
    deal: Deal,
    run: Run,
    unit: Unit,
    /// Samples that were delivered to all ranks.
    samples: u64,
}

impl Dealt {
    /// Deals an order; `index` has the samples that are dealt out.
    pub(crate) fn new(
        index: &Arc<Index>,
        cursor: Cursor,
        settings: &Settings,
        steps: Steps,
        tokens: Option<Arc<Tokens>>,
    ) -> Self {
        let deal = Deal::new(settings, steps);
        let cut = Cut::new(settings.unit, settings.batch, deal.step().1);
        let cut = cut.within(steps.limits, tokens);
        let mut dealt = Self {
            units: Units::new(cursor, all_units(index, settings.unit)),
            similar: Similar::new(index, settings, steps, cut.clone()),
            cut,
            deal,
            run: Run::of(settings),
            unit: settings.unit,
            samples: 0,
        };
        dealt.pass_over();
        dealt
    }

    /// Whether a whole sweep has a step.
    pub(crate) fn has_step(&self) -> bool {
        let count = self.deal.step().0;
        !self.drops_units() || self.cut.first_full(&self.units, 0, count).is_some()
    }

    /// Whether units that do not fill a minibatch are passed over. This needs minibatches whose
    /// size does not depend on the lengths of units.
    fn drops_units(&self) -> bool {
        self.deal.drops() && self.similar.is_none() && self.cut.units().is_some()
    }

    /// Passes over units that do not fill a minibatch. Returns whether the sweep has no step left.
    fn pass_over(&mut self) -> bool {
        if !self.drops_units() {
            return self.is_exhausted();
        }
        match self.cut.first_full(&self.units, self.units.item(), self.deal.step().0) {
            Some(item) => self.units.go_to(item),
            None => return true,
        }
        false
    }

    /// Whether all units of the sweep were taken.
    fn is_exhausted(&self) -> bool {
        self.units.item() >= self.units.total()
            && self.similar.as_ref().is_none_or(Similar::is_empty)
    }

    /// The minibatches of one step. There may be fewer than ranks.
    fn step(&mut self) -> Vec<Vec<OrderedUnit>> {
        let mut left = self.run.left(self.samples);
        let mut step = Vec::new();
        for _ in 0..self.deal.step().0 {
            if left == Some(0) {
                break;
            }
            let taken = match &mut self.similar {
                Some(similar) => similar.take(&mut self.units),
                None => self.cut.take(&mut self.units, left),
            };
            let Some(items) = taken else { break };
            left = left.map(|left| left.saturating_sub(samples(&items)));
            step.push(items);
            if self.drops_units() {
                self.pass_over_seam();
            }
        }
        step
    }

    /// Passes over the units before a seam, if they do not fill a minibatch.
    fn pass_over_seam(&mut self) {
        if let Some(item) = self.cut.first_full(&self.units, self.units.item(), 1) {
            self.units.go_to(item);
        }
    }

    fn next_sweep(&mut self) {
        self.units.next_sweep();
        self.pass_over();
    }
}

impl Stages for Dealt {
    fn next(&mut self) -> Option<Planned> {
        let mut sweeps_without = 0;
        while sweeps_without < 2 {
            let sweep = self.units.sweep();
            if self.run.is_over(sweep, self.samples) {
                return None;
            }
            let step = self.step();
            self.samples += step.iter().map(|items| samples(items)).sum::<u64>();
            let exhausted = self.is_exhausted();
            let items = self.deal.own(step, &self.cut, exhausted);
            let end_of_sweep = self.pass_over();
            if end_of_sweep {
                self.next_sweep();
            }
            match items {
                Some(items) => return Some(Planned::new(sweep, end_of_sweep, items)),
                None => sweeps_without += u32::from(end_of_sweep),
            }
        }
        None
    }

    fn save(&self, state: &mut State) {
        (state.order, state.samples) = (self.units.state(), self.samples);
        state.deal = self.deal.state();
        if let Some((pool, first)) = self.similar.as_ref().and_then(Similar::state) {
            (state.pool, state.order.item) = (pool, first);
        }
    }

    fn restore(&mut self, state: &State, index: &Index) -> Result<()> {
        match self.units.cursor.repeats() {
            true => state.check_samples()?,
            false => state.check_numbers(index, self.unit)?,
        }
        self.deal.restore(state.deal)?;
        if !self.units.start(state.order) {
            return Err(state.without_place());
        }
        self.samples = state.samples;
        if let Some(similar) = &mut self.similar {
            similar.restore(state.pool, &mut self.units)?;
        }
        // With another batch size, the next step may begin at another place.
        if self.drops_units() && self.pass_over() && self.units.item() > 0 {
            self.next_sweep();
        }
        Ok(())
    }

    fn window(&self) -> Vec<SweptChunk> {
        let similar = self.similar.iter().flat_map(Similar::window);
        // An order may load the first chunks of the next sweep, but there may be none. Components
        // of a mixture count sweeps of their own.
        let sweeps = self.run.sweeps.filter(|_| !self.units.cursor.repeats());
        let is_in_run =
            |(chunk, _): &(SweptChunk, u32)| sweeps.is_none_or(|most| chunk.sweep < most);
        self.deal.of_window(similar.chain(self.units.window().filter(is_in_run)))
    }

    fn position(&self) -> Position {
        let (sweep, order) = self.units.position();
        Position { sweep, order, pool: self.similar.as_ref().map_or(0, Similar::position) }
    }

    fn digest(&self, digest: u64) -> u64 {
        self.units.cursor.digest(digest)
    }

    fn needs(&self, index: &Index, lengths: &Lengths) -> Needs {
        let (cursor, similar) = (&self.units.cursor, self.similar.as_ref());
        let samples = similar.map_or(0, |similar| similar.most_samples(lengths.longest()));
        let cut = self.cut.largest(lengths, cursor.repeats());
        let sequences = index.len() as u64;
        let bytes = similar.map_or(0, |similar| similar.most_bytes(sequences, cut.segments));
        let largest = self.deal.largest(cut);
        Needs {
            samples: cursor.most_samples(index).saturating_add(samples),
            bytes: cursor
                .most_bytes(index, self.unit)
                .saturating_add(bytes)
                .saturating_add(self.cut.tokens_bytes()),
            step: self.deal.in_step(largest.samples),
            largest,
        }
    }
}

fn samples(items: &[OrderedUnit]) -> u64 {
    items.iter().map(|item| u64::from(item.samples)).sum()
}
