//! The feeds of CNTK and PDNN. Each preset composes stages, and is the only place for its quirks.

mod partitions;
mod timeline;
mod worker;

pub(crate) use self::partitions::partitions;
pub(crate) use self::timeline::TimelineStages;
pub(crate) use self::worker::WorkerStages;
