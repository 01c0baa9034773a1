//! The settings of the order.

/// The order of the units of a sweep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// The order of the corpus.
    Sequential,
    /// Shuffled anew in each sweep, inside a window.
    Shuffle(Shuffle),
    /// Frames in the order of the corpus, each swapped with another one at most half this many
    /// frames away: CNTK's `readMethod = rollingWindow`. Needs [`Unit::Frame`](super::Unit::Frame),
    /// and [`Cut::Steps`](super::Cut::Steps) or [`Cut::Worker`](super::Cut::Worker). The seed is
    /// the number of the sweep.
    Rolling(u64),
    /// Shuffled anew in each sweep, block by block. A state is restored at once.
    Blocks(Blocks),
}

/// How a sweep is shuffled in blocks: chunks are permuted over the whole corpus, and cut into
/// blocks of nearly one size. The units of each block are permuted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Blocks {
    /// The size of a block at most. The next one is loaded while one is dealt out, so two are in
    /// memory.
    pub window: Window,
    /// Sweep `s` is shuffled with `seed + s`.
    pub seed: u64,
}

/// How a sweep is shuffled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shuffle {
    /// How far the shuffle reaches.
    pub window: Window,
    /// Sweep `s` is shuffled with `seed + s`.
    pub seed: u64,
    /// The generator of its random numbers.
    pub generator: Generator,
}

/// The generator of a shuffle's random numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Generator {
    /// C++'s `mt19937_64`, as in CNTK's newer readers.
    #[default]
    MersenneTwister,
    /// The C library's `rand`, the default of CNTK's `HTKMLFReader`.
    Rand,
}

/// How far a shuffle reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Window {
    /// A number of chunks, as CNTK's `randomizationWindow` with
    /// `sampleBasedRandomizationWindow = false`.
    Chunks(u64),
    /// A number of samples, as with `sampleBasedRandomizationWindow = true` in CNTK.
    Samples(u64),
    /// The whole corpus: one permutation of all units. A state is restored at once, and the
    /// permutation takes no memory. The data must be mapped or fit in memory.
    Corpus,
}

impl Default for Shuffle {
    /// In a window of 32 chunks, with seed 0.
    fn default() -> Self {
        let (window, generator) = (Window::Chunks(32), Generator::default());
        Self { window, seed: 0, generator }
    }
}

impl Default for Blocks {
    /// Of 32 chunks, with seed 0.
    fn default() -> Self {
        Self { window: Window::Chunks(32), seed: 0 }
    }
}

impl Default for Order {
    /// In blocks of 32 chunks, with seed 0.
    fn default() -> Self {
        Self::Blocks(Blocks::default())
    }
}

impl Order {
    /// A shuffle inside a window.
    #[must_use]
    pub fn shuffle(window: Window, seed: u64) -> Self {
        Self::Shuffle(Shuffle { window, seed, ..Shuffle::default() })
    }

    /// The window of a shuffle with a seed, and the seed.
    #[must_use]
    pub fn shuffled(&self) -> Option<(Window, u64)> {
        match *self {
            Self::Shuffle(Shuffle { window, seed, .. }) | Self::Blocks(Blocks { window, seed }) => {
                Some((window, seed))
            }
            Self::Sequential | Self::Rolling(_) => None,
        }
    }

    /// The generator of a shuffle that has one.
    #[must_use]
    pub fn generator(&self) -> Option<Generator> {
        match self {
            Self::Shuffle(shuffle) => Some(shuffle.generator),
            Self::Sequential | Self::Rolling(_) | Self::Blocks(_) => None,
        }
    }

    /// The seed. It is 0 if nothing is shuffled, or if the number of the sweep alone is the seed.
    #[must_use]
    pub fn seed(&self) -> u64 {
        self.shuffled().map_or(0, |(_, seed)| seed)
    }

    /// The same order, `sweeps` sweeps later.
    #[must_use]
    pub fn after(self, sweeps: u64) -> Self {
        match self {
            Self::Shuffle(shuffle) => {
                Self::Shuffle(Shuffle { seed: shuffle.seed.wrapping_add(sweeps), ..shuffle })
            }
            Self::Blocks(blocks) => {
                Self::Blocks(Blocks { seed: blocks.seed.wrapping_add(sweeps), ..blocks })
            }
            Self::Sequential | Self::Rolling(_) => self,
        }
    }
}
