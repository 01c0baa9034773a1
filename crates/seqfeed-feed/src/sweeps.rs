//! A source, with the values of each sweep.

use std::sync::{Arc, Mutex, PoisonError};

use seqfeed_core::{Draw, Source};

/// A source. If random transforms change its values, also its form in each current sweep.
pub(crate) struct Sweeps {
    source: Arc<dyn Source>,
    seed: u64,
    varies: bool,
    /// The number of sweeps whose chunks are loaded at a time.
    most: usize,
    kept: Mutex<Vec<(u64, Arc<dyn Source>)>>,
}

impl Sweeps {
    /// `orders` is the number of orders that each stand in a sweep of their own. At the end of a
    /// sweep the chunks of two are loaded.
    pub(crate) fn new(source: Arc<dyn Source>, seed: u64, orders: usize) -> Self {
        let varies = source.in_sweep(Draw::new(seed, 0)).is_some();
        Self { source, seed, varies, most: 2 * orders.max(1), kept: Mutex::default() }
    }

    /// Whether values change from sweep to sweep.
    pub(crate) fn vary(&self) -> bool {
        self.varies
    }

    /// The name of the source in messages.
    pub(crate) fn name(&self) -> &str {
        self.source.name()
    }

    /// Bytes of the blocks of a chunk.
    pub(crate) fn need(&self, chunk: u32) -> u64 {
        let source = &self.source;
        let streams = source.streams().iter().enumerate();
        let held = streams.filter(|(number, _)| source.is_held(*number));
        let chunk = source.index().chunk(chunk as usize);
        held.map(|(number, stream)| source.most(number, chunk.clone()).block_bytes(stream))
            .fold(0, u64::saturating_add)
    }

    /// The source in a sweep.
    pub(crate) fn source(&self, sweep: u64) -> Arc<dyn Source> {
        if !self.varies {
            return Arc::clone(&self.source);
        }
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, source)) = kept.iter().find(|(of, _)| *of == sweep) {
            return Arc::clone(source);
        }
        let source = self.source.in_sweep(Draw::new(self.seed, sweep));
        let source = source.unwrap_or_else(|| Arc::clone(&self.source));
        kept.truncate(self.most - 1);
        kept.insert(0, (sweep, Arc::clone(&source)));
        source
    }
}
