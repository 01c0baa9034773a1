//! Streams named by Arrow and Parquet files.

use std::path::Path;
use std::sync::Arc;

use seqfeed_arrow::{ArrowOptions, ArrowSource, ColumnChoice};
use seqfeed_core::{Element, Error, Extent, Kind, Result, Series, SeriesKeys, Source};
use seqfeed_io::{Policy, RxFilename};

use crate::htk_files::OpenedStream;

/// Extensions of such files.
const ENDS: [&str; 5] = [".arrow", ".arrows", ".feather", ".ipc", ".parquet"];

/// Whether a name is that of such a file: `train.parquet`, or one column of it, `train.parquet#features`.
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
pub(crate) struct Wanted<'a> {
    pub(crate) stream: &'a str,
    pub(crate) kind: Option<Kind>,
    pub(crate) element: Option<Element>,
    pub(crate) extent: Option<Extent>,
    pub(crate) chunk_samples: u64,
    pub(crate) policy: Policy,
    pub(crate) base: Option<&'a Path>,
}

/// Opens all columns of files that follow one another.
pub(crate) fn open_all(names: &[String], wanted: &Wanted<'_>) -> Result<OpenedStream> {
    if let Some(name) = names.iter().find(|name| split(name).1.is_some()) {
        let (file, column) = split(name);
        return Err(Error::usage(format!("{name} is one column, not a corpus")).with_help(format!(
            "name the file alone ({file}), or give the stream: `[streams.{}]` with `source = \"{name}\"`",
            column.unwrap_or_default()
        )));
    }
    let options = ArrowOptions { chunk_samples: wanted.chunk_samples, ..ArrowOptions::default() };
    open(names, wanted, |name| ArrowSource::open(name, &options, &wanted.policy))
}

/// Opens one stream: the column that is named, or that has the stream's name, or the only one.
pub(crate) fn open_one(names: &[String], wanted: &Wanted<'_>) -> Result<OpenedStream> {
    open(names, wanted, |name| {
        let (file, column) = split(name);
        let mut options =
            ArrowOptions { chunk_samples: wanted.chunk_samples, ..ArrowOptions::default() };
        let column = match column {
            Some(column) => column.to_owned(),
            None => {
                let all = ArrowSource::open(file, &options, &wanted.policy)?;
                let streams: Vec<&str> =
                    all.streams().iter().map(|stream| stream.name.as_str()).collect();
                match streams[..] {
                    [only] => only.to_owned(),
                    _ if streams.contains(&wanted.stream) => wanted.stream.to_owned(),
                    _ => {
                        return Err(Error::usage(format!(
                            "stream {}: which column is meant? there are {}",
                            wanted.stream,
                            streams.join(", ")
                        ))
                        .in_file(file)
                        .with_help(format!("name it: {file}#{}", streams[0])));
                    }
                }
            }
        };
        options.columns = vec![ColumnChoice {
            column,
            stream: wanted.stream.to_owned(),
            kind: wanted.kind,
            element: wanted.element,
            extent: wanted.extent,
        }];
        ArrowSource::open(file, &options, &wanted.policy)
    })
}

fn open(
    names: &[String],
    wanted: &Wanted<'_>,
    open: impl Fn(&str) -> Result<ArrowSource>,
) -> Result<OpenedStream> {
    let mut parts: Vec<Arc<dyn Source>> = Vec::new();
    let (mut formats, mut spooled_bytes) = (Vec::new(), 0);
    for name in names {
        let (file, column) = split(name);
        if !is_arrow(name) {
            let what = format!("{name} is no Arrow or Parquet file, as the others are");
            return Err(Error::usage(what));
        }
        let file = match wanted.base {
            Some(base) => shown(RxFilename::parse(file)?.relative_to(base)),
            None => file.to_owned(),
        };
        let column = column.map(|column| format!("#{column}")).unwrap_or_default();
        let part = open(&format!("{file}{column}"))?;
        spooled_bytes += part.spooled_bytes();
        formats.push(part.format().to_owned());
        parts.push(Arc::new(part));
    }
    let format = match &formats[..] {
        [one] => one.clone(),
        all => format!("{} files, the first one: {}", all.len(), all[0]),
    };
    let source: Arc<dyn Source> = match parts.len() {
        1 => parts.remove(0),
        _ => Arc::new(Series::new(parts, SeriesKeys::Own)?),
    };
    Ok(OpenedStream { spooled_bytes, ..OpenedStream::new(source, format) })
}

fn shown(name: RxFilename) -> String {
    match name {
        RxFilename::File(path) => path.display().to_string(),
        other => other.to_string(),
    }
}
