//! Tables as streams of Arrow's record batches, through its C interface.

use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use seqfeed::arrow::{RecordBatches, WriteOptions};
use seqfeed::{Description, Source, Value};

use crate::interrupt::interruptible;
use crate::keys::Name;
use crate::table::{Backend, Recipe, TableValue};

/// The capsule for `__arrow_c_stream__`. It releases the stream if nobody has taken it.
pub(crate) fn stream<'py>(
    py: Python<'py>,
    backend: &Arc<dyn Backend>,
    recipe: &Recipe,
) -> PyResult<Bound<'py, PyCapsule>> {
    let (backend, recipe) = (Arc::clone(backend), recipe.clone());
    let batches = interruptible(py, move || {
        let source = match (backend.corpus(), recipe) {
            (Some(corpus), _) => corpus,
            (None, Recipe::Corpus { description, opener }) => {
                Arc::clone(description.open(&opener)?.corpus())
            }
            (None, Recipe::File(_)) => {
                return Err(seqfeed::Error::usage("the table of a file object has no streams")
                    .with_help("open it by its name"));
            }
            (None, Recipe::Kaldi { rspecifier, options, .. }) => {
                let stream = stream_of(backend.as_ref(), &rspecifier)?;
                let mut given = seqfeed::Table::new();
                given.insert(stream.to_owned(), Value::String(rspecifier.in_description()));
                let description = Description::from_options(given)?;
                Arc::clone(description.open_exactly(&options.opener)?.corpus())
            }
        };
        RecordBatches::new(source as Arc<dyn Source>, WriteOptions::default().group_samples)
    })?;
    PyCapsule::new_with_value(py, batches.into_ffi(), c"arrow_array_stream")
}

/// The name of the stream of a Kaldi table: labels if the first object has integers. Standard input
/// cannot be looked at before it is read.
fn stream_of(backend: &dyn Backend, rspecifier: &Name) -> seqfeed::Result<&'static str> {
    use seqfeed::kaldi::AnyObject::{Int32, Int32Vector, Int32VectorVector};
    if rspecifier.bytes().trim_ascii_end().ends_with(b":-") {
        return Ok("features");
    }
    let first = backend.walk()?.next(&mut Vec::new())?;
    Ok(match first {
        Some(TableValue::Object(crate::kaldi::Value::Object(
            Int32(_) | Int32Vector(_) | Int32VectorVector(_),
        ))) => "labels",
        _ => "features",
    })
}
