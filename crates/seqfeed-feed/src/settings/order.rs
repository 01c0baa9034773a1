//! In which order units come.

/// In which order the units of a sweep come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// As they lie in the corpus.
    Sequential,
    /// Shuffled anew in each sweep, inside a window.
    Shuffle(Shuffle),
    /// Frames in the order of the corpus, each swapped with another one no farther than half so
    /// many frames: CNTK's `readMethod = rollingWindow`. With [`Unit::Frame`](super::Unit::Frame)
    /// and [`Cut::Steps`](super::Cut::Steps) or [`Cut::Worker`](super::Cut::Worker). Seeded with
    /// the number of the sweep.
    Rolling(u64),
}

/// How a sweep is shuffled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shuffle {
    /// How far it reaches.
    pub window: Window,
    /// Sweep `s` is shuffled with `seed + s`.
    pub seed: u64,
    /// What random numbers are drawn.
    pub generator: Generator,
}

/// What random numbers a shuffle draws.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Generator {
    /// C++'s `mt19937_64`, as CNTK's newer readers.
    #[default]
    MersenneTwister,
    /// The C library's `rand`, as CNTK's `HTKMLFReader` if it is not told otherwise.
    Rand,
}

/// How far a shuffle reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Window {
    /// So many chunks, as CNTK's `randomizationWindow` with
    /// `sampleBasedRandomizationWindow = false`.
    Chunks(u64),
    /// So many samples, as CNTK's with `sampleBasedRandomizationWindow = true`.
    Samples(u64),
    /// The whole corpus: one permutation of all units. A state is restored at once, and the
    /// permutation takes no memory; the data must be mapped or fit in memory.
    Corpus,
}

impl Default for Shuffle {
    /// In a window of 32 chunks, with seed 0.
    fn default() -> Self {
        let (window, generator) = (Window::Chunks(32), Generator::default());
        Self { window, seed: 0, generator }
    }
}

impl Default for Order {
    fn default() -> Self {
        Self::Shuffle(Shuffle::default())
    }
}

impl Order {
    /// A shuffle in a window.
    #[must_use]
    pub fn shuffle(window: Window, seed: u64) -> Self {
        Self::Shuffle(Shuffle { window, seed, ..Shuffle::default() })
    }

    /// How it is shuffled, if it is.
    #[must_use]
    pub fn shuffled(&self) -> Option<Shuffle> {
        match *self {
            Self::Shuffle(shuffle) => Some(shuffle),
            Self::Sequential | Self::Rolling(_) => None,
        }
    }

    /// What it is seeded with: 0 where nothing is shuffled, or where the number of the sweep alone
    /// is the seed.
    #[must_use]
    pub fn seed(&self) -> u64 {
        self.shuffled().map_or(0, |shuffle| shuffle.seed)
    }
}
