//! Names for reading and writing, and the files, pipes and streams that they name.
//!
//! Speech corpora name their data by Kaldi's *extended filenames*: a file, a file and an offset,
//! standard input or output, or a command whose output is read. This crate parses these names
//! ([`RxFilename`], [`WxFilename`]) and opens them:
//!
//! * [`Input`]: a stream of bytes read once from front to back, decompressed where its first bytes
//!   say so (gzip, bzip2, zstd).
//! * [`DataFile`]: a regular file read at offsets by several threads; [`Mapped`] is the same file
//!   in memory; [`Spool`] makes one from data that can only be read once.
//! * [`OpenFiles`]: many files, of which few are open at a time.
//! * [`Beside`]: finds the files that a file names.
//! * [`LineLimit`]: limits the length of keys, words and lines of text.
//! * [`ReadAt`] and [`Store`]: the traits of storage other than the file system, such as an object
//!   store. [`Opener::with_store`] registers a store for a scheme of URLs.
//! * [`UntilFailed`]: wraps a decoder, and does not call it again after its first error.
//! * [`Output`]: a file that appears under its name only when it is complete, or a command, or
//!   standard output; [`OutputDirectory`] is a directory of files that does so.
//! * [`InputFiles`]: the files that were opened for reading, so that no output overwrites them.
//!
//! A command runs only if the caller's [`Opener`] allows it. Names may come from data files, and
//! reading data must not run programs unexpectedly.
//!
//! ```
//! use std::io::Read;
//! use seqfeed_io::{Input, Output, Opener, RxFilename};
//! # use std::io::Write;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let directory = tempfile::tempdir()?;
//! let path = directory.path().join("feats.ark");
//! let mut output = Output::create(&path.clone().into(), &Opener::default())?;
//! output.write_all(b"utt1 [ 1 2 ]\n")?;
//! output.finish()?;
//!
//! let name = RxFilename::parse(&format!("{}:5", path.display()))?;
//! let mut input = Input::open(&name, &Opener::default())?;
//! let mut text = String::new();
//! input.read_to_string(&mut text)?;
//! input.finish()?;
//! assert_eq!(text, "[ 1 2 ]\n");
//! # Ok(())
//! # }
//! ```
//!
//! The cargo features `gzip`, `bzip2` and `zstd` are on by default. A file in a compression that
//! was left out gives an error that names the feature.
//!
//! The crate is written for Unix.

#![deny(unsafe_code)]

mod atomic;
mod beside;
mod buffered;
mod compressed_output;
mod compression;
mod data_file;
mod decode;
mod directory;
mod glob;
#[cfg(feature = "gzip")]
mod gzip;
mod input;
mod interrupts;
mod line_limit;
mod lines;
mod location;
mod mapped;
mod name_text;
mod names;
mod open_files;
mod opener;
mod output;
mod passing;
mod pipe;
mod probe;
mod read_at;
mod recording;
mod remove;
mod runs;
mod same_file;
mod settings_file;
mod specifier;
mod spool;
mod standard_input;
mod standard_output;
mod temporary;
mod until_failed;

pub use atomic::write_atomically;
pub use beside::Beside;
pub use compressed_output::CompressedOutput;
pub use compression::Compression;
pub use data_file::DataFile;
pub use directory::make_directory;
pub use input::{Input, OnFailedCommand};
pub use interrupts::on_interrupt;
pub use line_limit::{LINE_LIMIT, LineLimit, too_long};
pub use location::{Location, Url};
pub use mapped::Mapped;
pub use name_text::{name_from_text, name_to_text, path_from_text, shown_name};
pub use names::{RxFilename, WxFilename};
pub use open_files::OpenFiles;
pub use opener::Opener;
pub use output::Output;
pub use pipe::FailedCommand;
pub use probe::{FileKind, Probe};
pub use read_at::{Identity, ReadAt, Store};
pub use recording::Recording;
pub use remove::remove_if_there;
pub use runs::run_of;
pub use same_file::InputFiles;
pub use settings_file::read_record;
pub use spool::Spool;
pub use temporary::{
    LeftBehind, OutputDirectory, TemporaryFilesRemoved, remove_left_behind, remove_temporary_files,
};
pub use until_failed::UntilFailed;
