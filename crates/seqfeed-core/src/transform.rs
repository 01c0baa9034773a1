//! What is done to sequences between files and a feed.

use crate::{About, Block, Draw, Key, Most, Random, Result, Samples, SparseSamples, Stream};

/// A change of sequences: streams go in, streams come out.
///
/// [`Transformed`](crate::Transformed) applies one to a source, in the threads that load. What
/// comes out of a sequence depends on nothing but what goes in, its key and, for transforms that
/// [vary](Self::varies), the seed and the sweep of the feed.
///
/// ```
/// use std::sync::Arc;
/// use seqfeed_core::{Block, Given, Kind, Output, Result, Stream, Transform, numbers};
///
/// /// Every second sample of floats.
/// struct Halved;
///
/// impl Transform for Halved {
///     fn name(&self) -> &str {
///         "halved"
///     }
///     fn outputs(&self, streams: &[Stream]) -> Result<Vec<Output>> {
///         Ok(Output::change(streams, |stream| stream.kind == Kind::Dense, |stream| stream))
///     }
///     fn samples(&self, samples: u32) -> u32 {
///         samples.div_ceil(2)
///     }
///     fn apply(&self, _output: usize, given: &Given<'_>, to: &mut Block) -> Result<()> {
///         let samples = given.samples(0);
///         let rows = (0..samples.len()).step_by(2).flat_map(|n| samples.row(n));
///         let rows: Vec<u8> = rows.copied().collect();
///         to.push_bytes(samples.len().div_ceil(2)).copy_from_slice(&rows);
///         Ok(())
///     }
/// }
/// ```
pub trait Transform: Send + Sync {
    /// What it is called in messages and descriptions.
    fn name(&self) -> &str;

    /// What comes out where these streams go in, in the order of the streams that come out.
    ///
    /// # Errors
    ///
    /// Fails if it is not for such streams.
    fn outputs(&self, streams: &[Stream]) -> Result<Vec<Output>>;

    /// How many samples come out of a sequence with so many, in streams with one sample a time
    /// step: as many, unless it says otherwise.
    fn samples(&self, samples: u32) -> u32 {
        samples
    }

    /// Whether values are others in each sweep: whether [`apply`](Self::apply) takes
    /// [random numbers](Given::random).
    fn varies(&self) -> bool {
        false
    }

    /// What is known of the data that come out: as of those that go in, unless it says otherwise.
    fn about(&self, about: About) -> About {
        about
    }

    /// Adds one sequence to the block of an output that is [made](Output::Made).
    ///
    /// # Errors
    ///
    /// Fails if what was given cannot be changed so.
    fn apply(&self, output: usize, given: &Given<'_>, to: &mut Block) -> Result<()>;

    /// The most that comes out in an output where so much goes in, if that is less than all values
    /// of as many samples as [`samples`](Self::samples) says: of sparse streams.
    fn most(&self, output: usize, given: Most) -> Option<Most> {
        let _ = (output, given);
        None
    }
}

/// A stream that comes out of a [`Transform`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Output {
    /// A stream that goes in, by its number, with all its values. What it is called and
    /// what it means may change.
    Kept {
        /// Its number among those that go in.
        of: usize,
        /// What it is when it comes out.
        stream: Stream,
    },
    /// A stream that is made of others.
    Made {
        /// The numbers of those that are needed for it.
        of: Vec<usize>,
        /// What it is.
        stream: Stream,
    },
}

impl Output {
    /// All streams, of which some are changed, each by itself: those for which `is` holds become
    /// what `change` makes of them. Others are kept.
    #[must_use]
    pub fn change(
        streams: &[Stream],
        is: impl Fn(&Stream) -> bool,
        change: impl Fn(Stream) -> Stream,
    ) -> Vec<Self> {
        let output = |(number, stream): (usize, &Stream)| match is(stream) {
            true => Self::Made { of: vec![number], stream: change(stream.clone()) },
            false => Self::Kept { of: number, stream: stream.clone() },
        };
        streams.iter().enumerate().map(output).collect()
    }

    /// The stream that comes out.
    #[must_use]
    pub fn stream(&self) -> &Stream {
        match self {
            Self::Kept { stream, .. } | Self::Made { stream, .. } => stream,
        }
    }

    /// The streams that go in for it.
    #[must_use]
    pub fn of(&self) -> &[usize] {
        match self {
            Self::Kept { of, .. } => std::slice::from_ref(of),
            Self::Made { of, .. } => of,
        }
    }
}

/// A sequence that goes into a [`Transform`].
pub struct Given<'a> {
    pub(crate) key: Key<'a>,
    pub(crate) streams: &'a [Stream],
    pub(crate) blocks: &'a [Block],
    /// The streams that are needed for the output.
    pub(crate) of: &'a [usize],
    /// Its place in the blocks.
    pub(crate) place: usize,
    pub(crate) draw: Draw,
}

impl<'a> Given<'a> {
    /// Its key.
    #[must_use]
    pub fn key(&self) -> Key<'a> {
        self.key
    }

    /// Random numbers that depend on seed, sweep, transform and key alone: for transforms that
    /// [vary](Transform::varies). They are the same for all outputs of a sequence.
    #[must_use]
    pub fn random(&self) -> Random {
        self.draw.random(self.key)
    }

    /// The same, but others for each output.
    #[must_use]
    pub fn random_of(&self, output: usize) -> Random {
        self.draw.within(output as u64).random(self.key)
    }

    /// The samples of the first, second ... stream that the output is [made of](Output::Made).
    ///
    /// # Panics
    ///
    /// If there is no such stream, or if it is sparse.
    #[must_use]
    pub fn samples(&self, number: usize) -> Samples<'a> {
        self.blocks[self.of[number]].samples(self.place)
    }

    /// The same of a sparse stream.
    ///
    /// # Panics
    ///
    /// If there is no such stream, or if it is not sparse.
    #[must_use]
    pub fn sparse_samples(&self, number: usize) -> SparseSamples<'a> {
        self.blocks[self.of[number]].sparse_samples(self.place)
    }

    /// What such a stream is.
    ///
    /// # Panics
    ///
    /// If there is no such stream.
    #[must_use]
    pub fn stream(&self, number: usize) -> &'a Stream {
        &self.streams[self.of[number]]
    }
}
