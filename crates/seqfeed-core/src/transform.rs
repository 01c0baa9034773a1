//! Changes of sequences between files and a feed.

use crate::{
    About, Block, Draw, Error, Key, Most, Random, Result, Samples, SamplesMut, SparseSamples,
    Stream,
};

/// A change of sequences: streams go in, streams come out.
///
/// [`Transformed`](crate::Transformed) applies one to a source, in the threads that load. The
/// output for a sequence depends only on the input, its key and, for transforms that
/// [vary](Self::varies), on the seed and the sweep of the feed.
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
    /// Its name in messages and descriptions.
    fn name(&self) -> &str;

    /// The output streams for these input streams.
    ///
    /// # Errors
    ///
    /// Fails if the transform cannot be applied to such streams.
    fn outputs(&self, streams: &[Stream]) -> Result<Vec<Output>>;

    /// The number of samples that come out of a sequence with `samples` samples, in streams with
    /// one sample a time step. By default the number stays.
    fn samples(&self, samples: u32) -> u32 {
        samples
    }

    /// Whether values change from sweep to sweep, because [`apply`](Self::apply) takes [random
    /// numbers](Given::random).
    fn varies(&self) -> bool {
        false
    }

    /// Facts about the output. By default those about the input.
    fn about(&self, about: About) -> About {
        about
    }

    /// Appends one sequence to the block of an output that is [made](Output::Made).
    ///
    /// # Errors
    ///
    /// Fails if the transform cannot be applied to the given sequence.
    fn apply(&self, output: usize, given: &Given<'_>, to: &mut Block) -> Result<()> {
        let _ = (output, given, to);
        Err(Error::usage(format!("transform {} makes no streams", self.name())))
    }

    /// Changes the values of one sequence in an output that is [changed](Output::Changed).
    ///
    /// `given` has key, description and random numbers. The samples are in `values`.
    ///
    /// # Errors
    ///
    /// Fails if the transform cannot be applied to the given sequence.
    fn change(&self, output: usize, given: &Given<'_>, values: SamplesMut<'_>) -> Result<()> {
        let _ = (output, given, values);
        Err(Error::usage(format!("transform {} changes no values in place", self.name())))
    }

    /// The most bytes that it keeps in memory, such as tables.
    fn kept_bytes(&self) -> u64 {
        0
    }

    /// The most bytes that a thread needs for it beside input and output.
    fn loading_bytes(&self) -> u64 {
        0
    }

    /// The most that an output can hold for so much input. `None` means all values of as many
    /// samples as [`samples`](Self::samples) gives. Only sparse streams need it.
    fn most(&self, output: usize, given: Most) -> Option<Most> {
        let _ = (output, given);
        None
    }
}

/// An output stream of a [`Transform`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Output {
    /// An input stream, by its number, with all its values. Its name and meaning may change.
    Kept {
        /// Its number among the input streams.
        of: usize,
        /// The description of the output stream.
        stream: Stream,
    },
    /// An input stream with as many values of the same type, which change in place: each sequence
    /// is loaded into the memory where it stays.
    Changed {
        /// Its number among the input streams.
        of: usize,
        /// The description of the output stream.
        stream: Stream,
    },
    /// A stream that is made from others.
    Made {
        /// The numbers of the input streams that it needs.
        of: Vec<usize>,
        /// The description of the output stream.
        stream: Stream,
    },
}

impl Output {
    /// All streams, some of which are changed one by one: `change` is applied to those for which
    /// `is` holds. The others are kept.
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

    /// All streams. The values of those for which `is` holds change in place.
    #[must_use]
    pub fn change_in_place(streams: &[Stream], is: impl Fn(&Stream) -> bool) -> Vec<Self> {
        let output = |(of, stream): (usize, &Stream)| match is(stream) {
            true => Self::Changed { of, stream: stream.clone() },
            false => Self::Kept { of, stream: stream.clone() },
        };
        streams.iter().enumerate().map(output).collect()
    }

    /// The output stream.
    #[must_use]
    pub fn stream(&self) -> &Stream {
        match self {
            Self::Kept { stream, .. }
            | Self::Changed { stream, .. }
            | Self::Made { stream, .. } => stream,
        }
    }

    /// The input streams that it needs.
    #[must_use]
    pub fn of(&self) -> &[usize] {
        match self {
            Self::Kept { of, .. } | Self::Changed { of, .. } => std::slice::from_ref(of),
            Self::Made { of, .. } => of,
        }
    }
}

/// An input sequence of a [`Transform`].
pub struct Given<'a> {
    pub(crate) key: Key<'a>,
    pub(crate) streams: &'a [Stream],
    pub(crate) blocks: &'a [Block],
    /// The streams that are needed for the output.
    pub(crate) of: &'a [usize],
    /// Its number in the blocks.
    pub(crate) place: usize,
    pub(crate) draw: Draw,
}

impl<'a> Given<'a> {
    /// Its key.
    #[must_use]
    pub fn key(&self) -> Key<'a> {
        self.key
    }

    /// Random numbers that depend only on seed, sweep, transform and key: for transforms that
    /// [vary](Transform::varies). They are the same for all outputs of a sequence.
    #[must_use]
    pub fn random(&self) -> Random {
        self.draw.random(self.key)
    }

    /// Random numbers that also depend on the output.
    #[must_use]
    pub fn random_of(&self, output: usize) -> Random {
        self.draw.within(output as u64).random(self.key)
    }

    /// The samples of the input stream with this number, counted among those that the output is
    /// [made of](Output::Made).
    ///
    /// # Panics
    ///
    /// If there is no such stream, if it is sparse, or if it changes in place.
    #[must_use]
    pub fn samples(&self, number: usize) -> Samples<'a> {
        self.blocks[self.of[number]].samples(self.place)
    }

    /// The same for a sparse stream.
    ///
    /// # Panics
    ///
    /// If there is no such stream, or if it is not sparse.
    #[must_use]
    pub fn sparse_samples(&self, number: usize) -> SparseSamples<'a> {
        self.blocks[self.of[number]].sparse_samples(self.place)
    }

    /// The description of such a stream.
    ///
    /// # Panics
    ///
    /// If there is no such stream.
    #[must_use]
    pub fn stream(&self, number: usize) -> &'a Stream {
        &self.streams[self.of[number]]
    }
}
