//! Values as numpy arrays that own their memory.

use numpy::ndarray::{ArrayD, IxDyn};
use numpy::{Element, IntoPyArray};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use seqfeed_core::Array;

/// An array that takes over the memory of values.
pub(crate) fn array<'py, T: Element>(
    py: Python<'py>,
    shape: &[usize],
    values: Vec<T>,
) -> PyResult<Bound<'py, PyAny>> {
    let array = ArrayD::from_shape_vec(IxDyn(shape), values)
        .map_err(|error| pyo3::exceptions::PyRuntimeError::new_err(error.to_string()))?;
    Ok(array.into_pyarray(py).into_any())
}

/// As [`array`], for any type.
pub(crate) fn any_array<'py>(
    py: Python<'py>,
    shape: &[usize],
    values: Array,
) -> PyResult<Bound<'py, PyAny>> {
    match values {
        Array::F32(values) => array(py, shape, values),
        Array::F64(values) => array(py, shape, values),
        Array::I32(values) => array(py, shape, values),
        Array::I64(values) => array(py, shape, values),
        other => Err(pyo3::exceptions::PyNotImplementedError::new_err(format!(
            "arrays of {}",
            other.element().name()
        ))),
    }
}

/// Sparse rows, `seqfeed.Sparse`.
pub(crate) fn sparse<'py>(
    py: Python<'py>,
    data: Bound<'py, PyAny>,
    indices: Bound<'py, PyAny>,
    indptr: Bound<'py, PyAny>,
    shape: (usize, usize),
) -> PyResult<Bound<'py, PyAny>> {
    py.import("seqfeed._types")?.getattr("Sparse")?.call1((data, indices, indptr, shape))
}

/// An object of a class of `seqfeed._types`.
pub(crate) fn named<'py>(
    py: Python<'py>,
    class: &str,
    fields: &[(&str, Bound<'py, PyAny>)],
) -> PyResult<Bound<'py, PyAny>> {
    let details = PyDict::new(py);
    for (name, value) in fields {
        details.set_item(name, value)?;
    }
    py.import("seqfeed._types")?.getattr(class)?.call((), Some(&details))
}
