//! PDNN's minibatches: partitions of files, shuffled as numpy does, and dealt to ranks.

use std::sync::Arc;

use seqfeed_core::{Error, Index, Result};

use crate::dealt::Dealt;
use crate::order::{self, Cursor};
use crate::settings::{Partial, Partitions, Settings, Steps};

/// The stages for an index of the samples that are dealt out; `files` has the first sequence of
/// each file.
///
/// # Errors
///
/// Fails if no minibatch would ever come, or if more frames must be shuffled together than numpy
/// can.
pub(crate) fn partitions(
    index: &Arc<Index>,
    files: &[u32],
    settings: &Settings,
    how: Partitions,
) -> Result<Dealt> {
    let seed = settings.order.shuffled().map(|(_, seed)| seed);
    let order = order::Partitions::new(index, files, how, seed);
    let (_, longest, together) = order.longest();
    if seed.is_some() && together >= u64::from(u32::MAX) {
        return Err(Error::usage(format!("{together} frames cannot be shuffled together"))
            .with_help("shuffle partitions (stream=True) of fewer than 2^32 frames"));
    }
    let partial = if how.drops_partial { Partial::Drop } else { Partial::Keep };
    let steps = Steps { partial, ..Steps::default() };
    let stages = Dealt::new(index, Cursor::Partitions(Box::new(order)), settings, steps, None);
    if stages.has_step() || settings.samples == Some(0) {
        return Ok(stages);
    }
    let ranks = match settings.ranks {
        1 => String::new(),
        ranks => format!(" for each of {ranks} ranks"),
    };
    Err(Error::usage(format!(
        "no minibatch of {} frames comes out of a sweep{ranks}: the longest partition has \
         {longest} frames, and what does not fill a minibatch is dropped",
        settings.batch.number()
    ))
    .with_help("use a smaller batch or larger partitions, or keep remainders (partial = \"keep\")"))
}
