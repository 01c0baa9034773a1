//! Objects without a Python type: transducers and examples for networks.

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyType};
use seqfeed::kaldi::{AnyObject, Mode, ObjectReader, ObjectType, write_object};

use crate::{errors, keys};

/// An object of Kaldi's without a Python type (a transducer, a lattice, an example for a network).
/// It can be copied from table to table, or looked at as text.
#[pyclass(frozen, module = "seqfeed.kaldi", eq)]
#[derive(PartialEq)]
pub(crate) struct KaldiObject {
    pub(crate) object: AnyObject,
}

impl KaldiObject {
    fn bytes(&self, mode: Mode) -> PyResult<Vec<u8>> {
        let mut bytes = Vec::new();
        errors::raise(write_object(&self.object, &mut bytes, mode))?;
        Ok(bytes)
    }
}

#[pymethods]
impl KaldiObject {
    /// The name of its type, such as `lattice`.
    #[getter]
    fn object_type(&self) -> &'static str {
        self.object.object_type().name()
    }

    /// As text, if the type has a text form.
    fn to_text<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        Ok(keys::to_python(py, &self.bytes(Mode::Text)?)?.into_any())
    }

    /// As bytes, in the form inside tables.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &self.bytes(Mode::Binary)?))
    }

    /// Makes an object from the bytes of `to_bytes`.
    #[classmethod]
    fn from_bytes(
        _class: &Bound<'_, PyType>,
        py: Python<'_>,
        object_type: &str,
        data: Vec<u8>,
    ) -> PyResult<Self> {
        let object_type: ObjectType = errors::raise(object_type.parse())?;
        let read = py.detach(|| {
            AnyObject::read_as(object_type, &mut ObjectReader::from_bytes("bytes", data))
        });
        Ok(Self { object: errors::raise(read)? })
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let make = py.get_type::<Self>().getattr("from_bytes")?;
        Ok((make, (self.object_type(), self.to_bytes(py)?)).into_pyobject(py)?.into_any())
    }

    fn __repr__(&self) -> String {
        format!("<seqfeed.kaldi.KaldiObject {}>", self.object_type())
    }
}

/// The names of all types of objects.
#[pyfunction]
pub(crate) fn object_types() -> Vec<&'static str> {
    ObjectType::ALL.iter().map(|object_type| object_type.name()).collect()
}
