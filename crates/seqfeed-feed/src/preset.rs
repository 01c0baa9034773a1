//! Feeds as CNTK and PDNN make them: each composes stages, and is the only place of its quirks.

mod partitions;
mod timeline;
mod worker;

pub(crate) use self::partitions::partitions;
pub(crate) use self::timeline::TimelineStages;
pub(crate) use self::worker::WorkerStages;
