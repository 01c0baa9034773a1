//! Sources made of other sources.

use std::ops::Range;
use std::sync::Arc;

use crate::source::reserve;
use crate::{About, Block, Draw, Error, Index, Most, Remark, Result, Source, Stream};

/// Declares `Wrapper`, and makes each wrapper a `Source`: so a wrapper has each method that stands
/// here.
macro_rules! wrapper {
    ($(
        $(#[$doc:meta])*
        fn $method:ident(&self $(, $argument:ident: $type:ty)*) $(-> $result:ty)?;
    )*) => {
        /// A source made of others: a join, a series, a view.
        ///
        /// It has the methods of [`Source`], all without defaults. A default would lose information
        /// in silence where a wrapper forgets to pass it on. Each type that implements `Wrapper` is
        /// a `Source`.
        pub trait Wrapper: Send + Sync {
            $(
                $(#[$doc])*
                fn $method(&self $(, $argument: $type)*) $(-> $result)?;
            )*
        }

        // A method that is added to `Source` must be passed on here, and so become a method of
        // `Wrapper`.
        #[deny(clippy::missing_trait_methods)]
        impl<W: Wrapper> Source for W {
            $(
                fn $method(&self $(, $argument: $type)*) $(-> $result)? {
                    Wrapper::$method(self $(, $argument)*)
                }
            )*

            // These two follow from the others.

            fn new_blocks(&self) -> Vec<Block> {
                Wrapper::streams(self).iter().map(Block::of).collect()
            }

            fn load_chunk(&self, chunk: usize, blocks: &mut [Block]) -> Result<()> {
                let Range { start, end } = Wrapper::index(self).chunk(chunk);
                reserve(self, start..end, blocks);
                let sequences: Vec<u32> = (start..end).collect();
                Wrapper::load(self, &sequences, blocks)
            }
        }
    };
}

wrapper! {
    /// As [`Source::name`].
    fn name(&self) -> &str;

    /// As [`Source::streams`].
    fn streams(&self) -> &[Stream];

    /// As [`Source::index`].
    fn index(&self) -> &Arc<Index>;

    /// As [`Source::load`].
    ///
    /// # Errors
    ///
    /// As there.
    fn load(&self, sequences: &[u32], blocks: &mut [Block]) -> Result<()>;

    /// As [`Source::length`].
    fn length(&self, stream: usize, sequence: u32) -> Option<u32>;

    /// As [`Source::in_sweep`].
    fn in_sweep(&self, draw: Draw) -> Option<Arc<dyn Source>>;

    /// As [`Source::about`].
    fn about(&self) -> About;

    /// As [`Source::examine`].
    ///
    /// # Errors
    ///
    /// As there.
    fn examine(&self) -> Result<Vec<Remark>>;

    /// As [`Source::fault`].
    fn fault(&self, sequence: u32) -> Option<Error>;

    /// As [`Source::load_stream`].
    ///
    /// # Errors
    ///
    /// As there.
    fn load_stream(&self, stream: usize, sequences: &[u32], block: &mut Block) -> Result<()>;

    /// As [`Source::files`].
    fn files(&self) -> Vec<u32>;

    /// As [`Source::held_bytes`].
    fn held_bytes(&self) -> u64;

    /// As [`Source::most`].
    fn most(&self, stream: usize, sequences: Range<u32>) -> Most;

    /// As [`Source::most_of_one`].
    fn most_of_one(&self, stream: usize) -> Most;

    /// As [`Source::is_held`].
    fn is_held(&self, stream: usize) -> bool;

    /// As [`Source::kept_bytes`].
    fn kept_bytes(&self) -> u64;

    /// As [`Source::loading_bytes`].
    fn loading_bytes(&self) -> u64;
}

/// Sources with the values of a sweep, each with its own draw. `None` if all stay unchanged.
pub(crate) fn in_sweep(
    sources: &[Arc<dyn Source>],
    draw: impl Fn(usize) -> Draw,
) -> Option<Vec<Arc<dyn Source>>> {
    let each = sources.iter().enumerate();
    let changed: Vec<_> = each.map(|(number, source)| source.in_sweep(draw(number))).collect();
    let varies = changed.iter().any(Option::is_some);
    let or_same = |(changed, same): (Option<_>, &Arc<dyn Source>)| match changed {
        Some(changed) => changed,
        None => Arc::clone(same),
    };
    varies.then(|| changed.into_iter().zip(sources).map(or_same).collect())
}
