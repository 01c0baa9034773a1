//! `noise`: normally distributed, or of another corpus.

use std::cell::Cell;
use std::sync::Arc;

use seqfeed_core::{Error, Extent, Kind, Result, Source, Stream, Transform};
use seqfeed_transform::{MixedNoise, MixedNoiseRule, Noise, NoiseDomain};
use serde::Deserialize;
use toml::Value;

use super::{TransformContext, TransformSpec, plain};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Options {
    /// The name of the corpus with the noise.
    corpus: String,
    /// The least and the greatest signal-to-noise ratio, in decibels.
    snr: [f64; 2],
    domain: NoiseDomain,
}

pub(super) fn make(
    spec: &TransformSpec,
    context: &TransformContext<'_>,
) -> Result<Arc<dyn Transform>> {
    let has = |key: &str| spec.options.contains_key(key);
    if !["corpus", "snr", "domain"].into_iter().any(has) {
        return plain::<Noise>(spec, context);
    }
    if has("deviation") {
        return Err(Error::usage(
            "transform noise: it is either normally distributed (`deviation`) or of a `corpus`",
        )
        .with_help("give two transforms for both"));
    }
    let mut spec = spec.clone();
    // One number is both.
    if let Some(one @ (Value::Integer(_) | Value::Float(_))) = spec.options.get("snr").cloned() {
        spec.options.insert("snr".to_owned(), Value::Array(vec![one.clone(), one]));
    }
    let Options { corpus, snr, domain } = spec.read()?;
    let wanted = context.stream.map(|number| context.source.streams()[number].name.as_str());
    let source = open(&corpus, context)?;
    let stream = stream_of(source.streams(), wanted, &corpus)?;
    Ok(Arc::new(MixedNoise::new(MixedNoiseRule { snr, domain }, source, stream)?))
}

thread_local! {
    /// Whether this thread opens a corpus of noise.
    static OPENS: Cell<bool> = const { Cell::new(false) };
}

/// Opens a corpus of noise. It has no such noise itself, so no corpus can lead to itself.
fn open(name: &str, context: &TransformContext<'_>) -> Result<Arc<dyn Source>> {
    if OPENS.replace(true) {
        let what = format!("transform noise: `{name}` is the noise of a corpus of noise");
        return Err(Error::usage(what).with_help("leave it out of the corpus of noise"));
    }
    let opened = (context.open_corpus)(name, context.opener);
    OPENS.set(false);
    opened
}

/// The number of the stream with noise: the only dense one, or the one of the same name.
fn stream_of(streams: &[Stream], wanted: Option<&str>, corpus: &str) -> Result<usize> {
    let is_dense =
        |stream: &Stream| stream.kind == Kind::Dense && stream.extent != Extent::Sequence;
    let dense: Vec<usize> =
        (0..streams.len()).filter(|&number| is_dense(&streams[number])).collect();
    let same = dense.iter().find(|&&number| Some(streams[number].name.as_str()) == wanted);
    match (&dense[..], same) {
        ([only], _) => Ok(*only),
        (_, Some(same)) => Ok(*same),
        ([], None) => Err(Error::usage(format!(
            "transform noise: `{corpus}` has no dense stream with frames"
        ))),
        (_, None) => {
            let names: Vec<&str> = dense.iter().map(|&of| streams[of].name.as_str()).collect();
            let what = "transform noise: it is not said which stream of noise is meant";
            Err(Error::usage(what).in_file(corpus).with_help(format!(
                "there are {}: give the transform to a stream of one of these names",
                names.join(", ")
            )))
        }
    }
}
