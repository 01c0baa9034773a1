//! The caller's own transform: a function that changes each minibatch before it is returned.

use std::time::{Duration, Instant};

use pyo3::exceptions::{PyRuntimeError, PyStopIteration, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::PyMapping;

use crate::errors;
use crate::minibatch::Minibatch;

/// The function. It may write to the arrays of its minibatch, or return others for them.
pub(super) struct Transform(Py<PyAny>);

impl Transform {
    pub(super) fn new(function: Bound<'_, PyAny>) -> PyResult<Self> {
        if function.is_callable() {
            return Ok(Self(function.unbind()));
        }
        let found = function.get_type().name()?;
        Err(PyTypeError::new_err(format!(
            "transform is a function that takes a minibatch, found {found} (`transforms` names those of \
             the library)"
        )))
    }

    pub(super) fn clone_ref(&self, py: Python<'_>) -> Self {
        Self(self.0.clone_ref(py))
    }

    /// Changes a minibatch. Returns how long it took.
    pub(super) fn apply(&self, minibatch: &Bound<'_, Minibatch>) -> PyResult<Duration> {
        let py = minibatch.py();
        let started = Instant::now();
        let changed = self.0.bind(py).call1((minibatch,)).and_then(|arrays| {
            if arrays.is_none() {
                return Ok(());
            }
            match arrays.cast::<PyMapping>() {
                Ok(arrays) => minibatch.get().replace(arrays),
                Err(_) => Err(errors::wrong_type("a dictionary of arrays or None", &arrays)),
            }
        });
        match changed {
            Ok(()) => Ok(started.elapsed()),
            Err(error) => Err(self.explain(minibatch, error)),
        }
    }

    /// The exception of the function, with a note that names the function and the minibatch.
    fn explain(&self, minibatch: &Bound<'_, Minibatch>, error: PyErr) -> PyErr {
        let py = minibatch.py();
        let name = self.0.getattr(py, "__qualname__").map(|name| name.to_string());
        let name = name.unwrap_or_else(|_| self.0.to_string());
        let note =
            format!("in the transform {name} of minibatch {}", minibatch.get().batch().index());
        if error.is_instance_of::<PyStopIteration>(py) {
            // It would end the loop as if there were no more minibatches.
            let raised = PyRuntimeError::new_err(format!("StopIteration {note}"));
            raised.set_cause(py, Some(error));
            return raised;
        }
        // Python 3.10 has no notes.
        let _ = error.value(py).call_method1("add_note", (note,));
        error
    }
}
