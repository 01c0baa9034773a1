//! Settings applied to a corpus: all that is known before the first chunk is loaded.

use std::sync::Arc;

use seqfeed_core::{Error, Extent, Index, Kind, Result, Source, Stream, Transformed};

use crate::arrange::Arrange;
use crate::bound::Bound;
use crate::labels::{LabelRules, MapLabels};
use crate::plan::Planner;
use crate::selection::{self, Selection};
use crate::settings::{Settings, Unit};
use crate::state::State;
use crate::stream_type::with_types;
use crate::sweeps::Sweeps;
use crate::tokens::Tokens;

pub(crate) struct Prepared {
    pub(crate) sweeps: Arc<Sweeps>,
    /// The samples that are dealt out.
    pub(crate) index: Arc<Index>,
    pub(crate) selection: Option<Selection>,
    /// Left and right context of each stream.
    pub(crate) context: Vec<(usize, usize)>,
    /// The delivered streams.
    pub(crate) streams: Vec<Stream>,
    pub(crate) arrange: Arrange,
    pub(crate) planner: Planner,
    pub(crate) bound: Bound,
}

impl Prepared {
    /// Prepares the beginning of a run, or what follows a state.
    ///
    /// # Errors
    ///
    /// Fails if the settings contradict themselves or the corpus, or if the state belongs to
    /// another corpus or order.
    pub(crate) fn new(
        source: Arc<dyn Source>,
        settings: &Settings,
        state: Option<&State>,
    ) -> Result<Self> {
        settings.check()?;
        check_units(source.streams(), settings)?;
        let context = contexts(source.streams(), settings)?;
        let selection = selection(source.as_ref(), settings)?;
        let index = match &selection {
            Some(selection) => Arc::clone(&selection.index),
            None => Arc::clone(source.index()),
        };
        let tokens = Tokens::new(source.as_ref(), settings)?;
        let source = with_types(with_labels(source, settings)?, &settings.types)?;
        let streams = delivered(source.streams(), &context);
        let orders = settings.mixture.as_ref().map_or(1, |mixture| mixture.components.len());
        let sweeps = Sweeps::new(Arc::clone(&source), settings.transform_seed, orders);
        let sweeps = Arc::new(sweeps);
        let varies = sweeps.vary();
        let mut planner = Planner::new(&index, &source.files(), settings, tokens, varies)?;
        if let Some(state) = state {
            planner.restore(state, &index)?;
        }
        let arrange = Arrange::new(settings, planner.rows());
        let needs = planner.needs(source.index(), settings.unit);
        let dropped = selection.as_ref().map_or(0, |selection| selection.dropped);
        let source = source.as_ref();
        let bound = Bound::new(source, settings, &needs, &arrange, &streams, dropped, varies);
        Ok(Self { sweeps, index, selection, context, streams, arrange, planner, bound })
    }
}

/// Frames can be dealt out only if all streams have one sample for each frame.
fn check_units(streams: &[Stream], settings: &Settings) -> Result<()> {
    let own = streams.iter().find(|stream| stream.extent == Extent::Own);
    match own {
        Some(stream) if settings.unit == Unit::Frame => Err(Error::usage(format!(
            "stream {} has its own number of samples in each sequence: no frames can be dealt out",
            stream.name
        ))
        .with_help("deal out sequences (unit = \"sequence\")")),
        _ => Ok(()),
    }
}

/// The samples that are dealt out, if labels exclude some.
fn selection(source: &dyn Source, settings: &Settings) -> Result<Option<Selection>> {
    let Some(rules) = &settings.labels else { return Ok(None) };
    if rules.ignore.is_empty() && rules.map.is_empty() {
        return Ok(None);
    }
    selection::check(source, rules)?;
    if rules.ignore.is_empty() {
        return Ok(None);
    }
    if settings.unit == Unit::Sequence {
        return Err(Error::usage("labels are ignored frame by frame, but sequences are dealt out")
            .with_help("deal out frames (unit = \"frame\")"));
    }
    Selection::read(source, rules).map(Some)
}

/// The source with mapped labels. Frames are left out by the labels before the mapping.
fn with_labels(source: Arc<dyn Source>, settings: &Settings) -> Result<Arc<dyn Source>> {
    let rules = settings.labels.as_ref().filter(|rules| !rules.map.is_empty());
    let Some(LabelRules { stream, map, .. }) = rules else { return Ok(source) };
    let map = MapLabels { stream: stream.clone(), map: map.clone() };
    Ok(Arc::new(Transformed::new(source, Arc::new(map))?))
}

fn contexts(streams: &[Stream], settings: &Settings) -> Result<Vec<(usize, usize)>> {
    for context in &settings.context {
        match streams.iter().find(|stream| stream.name == context.stream) {
            None => {
                let names: Vec<&str> = streams.iter().map(|s| s.name.as_str()).collect();
                return Err(Error::usage(format!(
                    "context is asked for stream {}, but the streams are {}",
                    context.stream,
                    names.join(", ")
                )));
            }
            Some(stream) if stream.kind == Kind::Sparse => {
                return Err(Error::usage(format!(
                    "stream {} is sparse: there is no context",
                    stream.name
                )));
            }
            Some(stream) if stream.extent == Extent::Sequence => {
                return Err(Error::usage(format!(
                    "stream {} has one sample a sequence: there is no context",
                    stream.name
                )));
            }
            Some(_) => {}
        }
    }
    let of = |stream: &Stream| {
        let context = settings.context.iter().find(|context| context.stream == stream.name);
        context.map_or((0, 0), |context| (context.left, context.right))
    };
    Ok(streams.iter().map(of).collect())
}

fn delivered(streams: &[Stream], context: &[(usize, usize)]) -> Vec<Stream> {
    let widen = |(stream, &(left, right)): (&Stream, &(usize, usize))| Stream {
        dim: stream.dim * (left + 1 + right),
        ..stream.clone()
    };
    streams.iter().zip(context).map(widen).collect()
}
