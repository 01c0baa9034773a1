//! Opens Arrow and Parquet files as sources.

use std::ffi::OsStr;
use std::sync::Arc;

use seqfeed_arrow::{ArrowOptions, ArrowSource, ColumnChoice};
use seqfeed_core::{Error, Result, Series, SeriesKeys, Source};
use seqfeed_io::name_from_text;

use super::{is_arrow, split};
use crate::format::Wanted;

/// Opens all columns of files that follow one another.
pub(super) fn open_all(names: &[String], wanted: &Wanted<'_>) -> Result<Arc<dyn Source>> {
    if let Some(name) = names.iter().find(|name| split(name).1.is_some()) {
        let (file, column) = split(name);
        return Err(Error::usage(format!("{name} is one column, not a corpus")).with_help(format!(
            "name the file alone ({file}), or give the stream: `[streams.{}]` with `source = \"{name}\"`",
            column.unwrap_or_default()
        )));
    }
    let options = ArrowOptions { chunk_samples: wanted.chunk_samples, ..ArrowOptions::default() };
    open(names, |file, _| ArrowSource::open(file, &options, &wanted.opener))
}

/// Opens one stream: the named column, the column with the stream's name, or the only column.
pub(super) fn open_one(
    names: &[String],
    stream: &str,
    wanted: &Wanted<'_>,
) -> Result<Arc<dyn Source>> {
    open(names, |file, column| {
        let mut options =
            ArrowOptions { chunk_samples: wanted.chunk_samples, ..ArrowOptions::default() };
        let column = match column {
            Some(column) => column.to_owned(),
            None => {
                let all = ArrowSource::open(file, &options, &wanted.opener)?;
                let streams: Vec<&str> =
                    all.streams().iter().map(|stream| stream.name.as_str()).collect();
                match streams[..] {
                    [only] => only.to_owned(),
                    _ if streams.contains(&stream) => stream.to_owned(),
                    _ => {
                        let file = all.name();
                        return Err(Error::usage(format!(
                            "stream {stream}: which column is meant? there are {}",
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
            stream: stream.to_owned(),
            kind: wanted.kind,
            element: wanted.element,
            extent: wanted.extent,
        }];
        ArrowSource::open(file, &options, &wanted.opener)
    })
}

fn open(
    names: &[String],
    open: impl Fn(&OsStr, Option<&str>) -> Result<ArrowSource>,
) -> Result<Arc<dyn Source>> {
    let mut parts: Vec<Arc<dyn Source>> = Vec::new();
    for name in names {
        let (file, column) = split(name);
        if !is_arrow(name) {
            let what = format!("{name} is no Arrow or Parquet file, as the others are");
            return Err(Error::usage(what));
        }
        parts.push(Arc::new(open(&name_from_text(file), column)?));
    }
    Ok(match parts.len() {
        1 => parts.remove(0),
        _ => Arc::new(Series::new(parts, SeriesKeys::Own)?),
    })
}
