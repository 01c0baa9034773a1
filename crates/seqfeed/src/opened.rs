//! An open corpus.

use std::sync::Arc;

use seqfeed_core::{Corpus, JoinReport, Result, Source};
use seqfeed_feed::{Cut, Feed, Partitions, Preview, Settings, State};

/// An open corpus, with the settings of its feed.
#[derive(Clone, Debug)]
pub struct Opened {
    corpus: Arc<Corpus>,
    settings: Settings,
    /// Warnings about its names and settings. Its sources have further ones.
    warnings: Vec<String>,
}

impl Opened {
    pub(crate) fn new(corpus: Corpus, settings: Settings, warnings: Vec<String>) -> Self {
        Self { corpus: Arc::new(corpus), settings, warnings }
    }

    /// The corpus.
    #[must_use]
    pub fn corpus(&self) -> &Arc<Corpus> {
        &self.corpus
    }

    /// The settings of its feed.
    #[must_use]
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The sequences that were skipped while opening and joining.
    #[must_use]
    pub fn report(&self) -> JoinReport {
        self.corpus.about().report
    }

    /// Bytes decoded into temporary files, because the data cannot be read in place.
    #[must_use]
    pub fn spooled_bytes(&self) -> u64 {
        self.corpus.about().spooled_bytes
    }

    /// Seconds from one sample to the next, if the files of a stream state them (HTK's do). The
    /// first value found counts.
    #[must_use]
    pub fn frame_shift(&self) -> Option<f64> {
        self.corpus.about().frame_shift
    }

    /// Seconds from one sample of a stream to the next: the value of its own files, or else of
    /// another stream's.
    #[must_use]
    pub fn frame_shift_of(&self, stream: &str) -> Option<f64> {
        let mut sources = self.corpus.sources().iter();
        let own = sources.find(|source| source.streams().iter().any(|s| s.name == stream));
        own.and_then(|source| source.about().frame_shift).or_else(|| self.frame_shift())
    }

    /// Warnings that stop nothing: names in a configuration that no reader knows, and errors that
    /// were passed over in the data so far.
    #[must_use]
    pub fn warnings(&self) -> Vec<String> {
        self.warnings.iter().cloned().chain(self.corpus.about().warnings).collect()
    }

    /// Warnings about its names and settings alone.
    pub(crate) fn own_warnings(&self) -> &[String] {
        &self.warnings
    }

    /// The same corpus, with the settings for one sweep: the minibatches of sweep `sweep` for rank
    /// `rank` of `ranks`. `threads` is the number of packing threads, if given.
    #[must_use]
    pub fn one_sweep(&self, sweep: u64, rank: usize, ranks: usize, threads: Option<usize>) -> Self {
        let mut opened = self.clone();
        let settings = &mut opened.settings;
        (settings.sweeps, settings.rank, settings.ranks) = (Some(1), rank, ranks);
        settings.threads = threads.unwrap_or(settings.threads);
        // Its components go on where they stand after the sweeps before.
        if let Some(mixture) = &mut settings.mixture {
            mixture.first_sweep = sweep;
            return opened;
        }
        let reshuffles =
            !matches!(settings.cut, Cut::Partitions(Partitions { reshuffle: false, .. }));
        if reshuffles {
            settings.order = settings.order.after(sweep);
        }
        settings.transform_seed = settings.transform_seed.wrapping_add(sweep);
        opened
    }

    /// The minibatches that [`feed`](Opened::feed) will give from the beginning, without their
    /// data. Loads nothing.
    ///
    /// # Errors
    ///
    /// The same as [`Preview::new`].
    pub fn preview(&self) -> Result<Preview> {
        Preview::new(Arc::clone(&self.corpus) as Arc<dyn Source>, &self.settings)
    }

    /// Starts feeding, from the beginning or from a state.
    ///
    /// # Errors
    ///
    /// The same as [`Feed::new`].
    pub fn feed(&self, state: Option<&State>) -> Result<Feed> {
        Feed::new(Arc::clone(&self.corpus) as Arc<dyn Source>, self.settings.clone(), state)
    }
}
