//! Names for reading and writing, and what stands behind them.
//!
//! Corpora of the last decades name their data by Kaldi's *extended filenames*: a file, a file and
//! an offset, standard input or output, or a command whose output is read. This crate knows the
//! names ([`RxFilename`], [`WxFilename`]) and opens them:
//!
//! * [`Input`]: a stream of bytes read once from front to back, decompressed where its first bytes
//!   say so (gzip, bzip2, zstd).
//! * [`DataFile`]: a regular file read at offsets by several threads; [`Mapped`] is the same file
//!   in memory; [`Spool`] makes one from data that can only be read once.
//! * [`Output`]: a file that appears under its name only when it is complete, or a command, or
//!   standard output; [`OutputDirectory`] is a directory of files that does so.
//!
//! Commands only run where the caller's [`Policy`] allows it: names come out of data files, and
//! reading data must not run programs by surprise.
//!
//! ```
//! use std::io::Read;
//! use seqfeed_io::{Input, Output, Policy, RxFilename, WxFilename};
//! # use std::io::Write;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let directory = tempfile::tempdir()?;
//! let path = directory.path().join("feats.ark");
//! let mut output = Output::create(&WxFilename::File(path.clone()), &Policy::default())?;
//! output.write_all(b"utt1 [ 1 2 ]\n")?;
//! output.finish()?;
//!
//! let name = RxFilename::parse(&format!("{}:5", path.display()))?;
//! let mut input = Input::open(&name, &Policy::default())?;
//! let mut text = String::new();
//! input.read_to_string(&mut text)?;
//! input.finish()?;
//! assert_eq!(text, "[ 1 2 ]\n");
//! # Ok(())
//! # }
//! ```
//!
//! The crate is written for Unix.

#![deny(unsafe_code)]

mod atomic;
mod buffered;
mod compressed_output;
mod compression;
mod data_file;
mod decode;
mod input;
mod interrupts;
mod mapped;
mod names;
mod output;
mod pipe;
mod policy;
mod recording;
mod runs;
mod specifier;
mod spool;
mod standard;
mod temporary;

pub use atomic::write_atomically;
pub use compressed_output::CompressedOutput;
pub use compression::Compression;
pub use data_file::DataFile;
pub use input::Input;
pub use interrupts::on_interrupt;
pub use mapped::Mapped;
pub use names::{RxFilename, WxFilename};
pub use output::Output;
pub use policy::Policy;
pub use recording::Recording;
pub use runs::run_of;
pub use spool::Spool;
pub use temporary::OutputDirectory;
