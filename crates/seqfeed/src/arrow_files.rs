//! Streams named by Arrow and Parquet files.

#[cfg(feature = "arrow")]
mod opening;

use std::path::Path;

#[cfg(feature = "arrow")]
pub(crate) use opening::{open_all, open_one};
use seqfeed_core::{Element, Extent, Kind};
#[cfg(not(feature = "arrow"))]
use seqfeed_core::{Error, Result};
use seqfeed_io::Opener;

/// Extensions of such files.
const ENDS: [&str; 5] = [".arrow", ".arrows", ".feather", ".ipc", ".parquet"];

/// Whether a name is that of such a file: `train.parquet`, or one column of it,
/// `train.parquet#features`.
pub(crate) fn is_arrow(name: &str) -> bool {
    let file = split(name).0.to_ascii_lowercase();
    let rspecifier = name.split_once(':').is_some_and(|(kind, _)| {
        kind.split(',').any(|word| word == "ark" || word == "scp" || word == "htk")
    });
    !rspecifier && ENDS.iter().any(|end| file.ends_with(end))
}

/// The file, and the column.
fn split(name: &str) -> (&str, Option<&str>) {
    match name.rsplit_once('#') {
        Some((file, column)) => (file, Some(column)),
        None => (name, None),
    }
}

/// The column that a name means, if it means one.
pub(crate) fn column(name: &str) -> Option<&str> {
    split(name).1.filter(|_| is_arrow(name))
}

/// What a stream of such files is asked for.
#[cfg_attr(not(feature = "arrow"), expect(dead_code, reason = "nothing opens such files"))]
pub(crate) struct Wanted<'a> {
    pub(crate) stream: &'a str,
    pub(crate) kind: Option<Kind>,
    pub(crate) element: Option<Element>,
    pub(crate) extent: Option<Extent>,
    pub(crate) chunk_samples: u64,
    pub(crate) opener: Opener,
    pub(crate) base: Option<&'a Path>,
}

/// What is said of such files by a library that was built without the crates that read
/// and write them.
#[cfg(not(feature = "arrow"))]
pub(crate) fn not_built(name: &str) -> Error {
    Error::usage(
        "Arrow and Parquet files need the cargo feature `arrow`, without which this was built",
    )
    .in_file(name)
    .with_help("build with it: seqfeed = { features = [\"arrow\"] }")
}

#[cfg(not(feature = "arrow"))]
pub(crate) fn open_all(
    names: &[String],
    _: &Wanted<'_>,
) -> Result<std::sync::Arc<dyn seqfeed_core::Source>> {
    Err(not_built(names.first().map_or("", String::as_str)))
}

#[cfg(not(feature = "arrow"))]
pub(crate) fn open_one(
    names: &[String],
    wanted: &Wanted<'_>,
) -> Result<std::sync::Arc<dyn seqfeed_core::Source>> {
    open_all(names, wanted)
}
