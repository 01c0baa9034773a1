//! `select`: keeps some dimensions of dense streams, as Kaldi's `select-feats`.

use std::sync::Arc;

use seqfeed_core::{Block, Error, Given, Kind, Output, Result, Stream, Transform};
use seqfeed_io::Opener;
use serde::Deserialize;
use toml::Value;

use super::TransformSpec;

/// More dimensions than any features have.
const MOST: usize = 1 << 20;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Select {
    /// Numbers and ranges, which may run backwards: `0,24-22,3-12`.
    dims: Value,
}

struct Selected {
    dims: Vec<usize>,
}

pub(super) fn make(spec: &TransformSpec, _opener: &Opener) -> Result<Arc<dyn Transform>> {
    let text = match spec.read::<Select>()?.dims {
        Value::String(text) => text.replace(' ', ""),
        Value::Array(several) => several.iter().map(Value::to_string).collect::<Vec<_>>().join(","),
        one => one.to_string(),
    };
    let dims = dims(&text).ok_or_else(|| {
        Error::usage(format!("transform select: expected dims such as `0-12,15`, found `{text}`"))
    })?;
    Ok(Arc::new(Selected { dims }))
}

/// The dimensions of a selection. `None` if it is invalid, or has far too many.
fn dims(text: &str) -> Option<Vec<usize>> {
    let number = |text: &str| text.parse().ok().filter(|number: &usize| *number < MOST);
    let mut dims = Vec::new();
    for part in text.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last) = (number(first)?, number(last)?);
        match first <= last {
            true => dims.extend(first..=last),
            false => dims.extend((last..=first).rev()),
        }
        if dims.len() > MOST {
            return None;
        }
    }
    Some(dims)
}

impl Transform for Selected {
    fn name(&self) -> &str {
        "select"
    }

    fn outputs(&self, streams: &[Stream]) -> Result<Vec<Output>> {
        let is_dense = |stream: &&Stream| stream.kind == Kind::Dense;
        let Some(narrowest) = streams.iter().filter(is_dense).min_by_key(|stream| stream.dim)
        else {
            return Err(Error::usage("transform select: there is no dense stream"));
        };
        if let Some(beyond) = self.dims.iter().find(|&&dim| dim >= narrowest.dim) {
            let (stream, dim) = (&narrowest.name, narrowest.dim);
            return Err(Error::usage(format!(
                "transform select: there is no dimension {beyond}: stream {stream} has {dim}"
            ))
            .with_help("dimensions count from 0"));
        }
        let narrow = |stream: Stream| Stream { dim: self.dims.len(), ..stream };
        Ok(Output::change(streams, |stream| is_dense(&stream), narrow))
    }

    fn apply(&self, _output: usize, given: &Given<'_>, to: &mut Block) -> Result<()> {
        let (samples, size) = (given.samples(0), given.stream(0).element.size());
        let values = to.push_bytes(samples.len()).chunks_exact_mut(size);
        let chosen = (0..samples.len()).flat_map(|row| {
            let row = samples.row(row);
            self.dims.iter().map(move |dim| &row[dim * size..(dim + 1) * size])
        });
        values.zip(chosen).for_each(|(to, value)| to.copy_from_slice(value));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_selections() {
        assert_eq!(dims("0,24-22,3-5").unwrap(), [0, 24, 23, 22, 3, 4, 5]);
        assert_eq!(dims("7").unwrap(), [7]);
        for text in ["", "a", "1,", "-3", "0-99999999", "1048576"] {
            assert!(dims(text).is_none(), "{text}");
        }
        let many = ["0-1048575"; 4].join(",");
        assert!(dims(&many).is_none());
    }
}
