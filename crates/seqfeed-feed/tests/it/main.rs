//! What a feed promises, on corpora in memory.

mod cntk;
mod layouts;
mod memory_corpus;
mod ranks;
mod resume;
