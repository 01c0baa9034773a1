//! Converts Python's arrays to the samples of a sequence in one stream.

use numpy::PyUntypedArray;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use seqfeed::{Element, Error, Extent, Key, Kind, Stream};
use seqfeed_core::Block;

use crate::errors;

/// The samples of one sequence in one stream: bytes in the machine's order, which the caller cannot
/// change.
pub(crate) struct Samples {
    pub(crate) stream: Stream,
    count: usize,
    values: PyBackedBytes,
    /// For sparse samples, the index of each value, and the ends of samples.
    sparse: Option<(Vec<i32>, Vec<u32>)>,
}

const TAKEN: &str = "floats are float32 or float64 arrays of shape (samples, dim), labels integers of shape \
                     (samples,), sparse samples seqfeed.Sparse";

impl Samples {
    /// Reads the value of a key in a stream. A stream without a name is `features` or `labels`,
    /// depending on its values.
    pub(crate) fn of(key: &[u8], name: Option<&str>, value: &Bound<'_, PyAny>) -> PyResult<Self> {
        Reading { key, name }.samples(value)
    }

    /// Adds the sequence to a block of the stream.
    pub(crate) fn push_to(&self, block: &mut Block) {
        match &self.sparse {
            Some((indices, ends)) => block.push_sparse(&self.values, indices, ends),
            None => block.push_bytes(self.count).copy_from_slice(&self.values),
        }
    }
}

/// The value that is being read, for messages.
struct Reading<'a> {
    key: &'a [u8],
    name: Option<&'a str>,
}

impl Reading<'_> {
    fn refuse(&self, what: &str) -> PyErr {
        let what = match self.name {
            Some(name) => format!("stream {name}: {what}"),
            None => what.to_owned(),
        };
        errors::to_python(&Error::usage(what).of_key(Key(self.key)).with_help(TAKEN))
    }

    fn samples(&self, value: &Bound<'_, PyAny>) -> PyResult<Samples> {
        if value.hasattr("indptr")? {
            return self.sparse(value);
        }
        let array = match value.is_instance_of::<PyUntypedArray>() {
            true => value.clone(),
            false if value.hasattr("__array__")? => {
                value.py().import("numpy")?.call_method1("asarray", (value,))?
            }
            false => {
                return Err(self.refuse(&format!("found {}", value.get_type().name()?)));
            }
        };
        let (kind, size) = kind_of(&array)?;
        let shape: Vec<usize> = array.getattr("shape")?.extract()?;
        match (kind, &shape[..]) {
            ('f', &[count, dim]) if dim > 0 && (size == 4 || size == 8) => {
                let element = if size == 4 { Element::F32 } else { Element::F64 };
                let values = bytes_of(&array, element)?;
                self.stream(Kind::Dense, element, dim, count, values, None)
            }
            ('i' | 'u', &[count]) => {
                let values = self.integers(&array, "labels")?;
                self.stream(Kind::Label, Element::I32, 1, count, values, None)
            }
            _ => {
                let (dtype, shape) = (array.getattr("dtype")?, array.getattr("shape")?);
                Err(self.refuse(&format!("found {dtype} of shape {shape}")))
            }
        }
    }

    /// Sparse rows: `seqfeed.Sparse`, or a scipy matrix in the same form.
    fn sparse(&self, value: &Bound<'_, PyAny>) -> PyResult<Samples> {
        let format =
            value.getattr("format").ok().and_then(|format| format.extract::<String>().ok());
        if let Some(format) = format.filter(|format| format != "csr") {
            return Err(self.refuse(&format!("a sparse matrix is in the form {format}, not csr")));
        }
        let array = |name: &str| {
            let array = value.getattr(name)?;
            value.py().import("numpy")?.call_method1("asarray", (array,))
        };
        let (data, indices, indptr) = (array("data")?, array("indices")?, array("indptr")?);
        let (rows, dim): (usize, usize) = value.getattr("shape")?.extract()?;
        let ints =
            |array: &Bound<'_, PyAny>| Ok::<_, PyErr>(matches!(kind_of(array)?.0, 'i' | 'u'));
        let dims =
            [&data, &indices, &indptr].map(|array| array.getattr("ndim")?.extract::<usize>());
        let (kind, size) = kind_of(&data)?;
        let [Ok(1), Ok(1), Ok(1)] = dims else {
            return Err(self.refuse("data, indices and indptr of sparse rows have one dim each"));
        };
        if kind != 'f' || !(size == 4 || size == 8) || !ints(&indices)? || !ints(&indptr)? {
            return Err(self.refuse(
                "sparse rows have data of float32 or float64, and integers as indices and indptr",
            ));
        }
        let element = if size == 4 { Element::F32 } else { Element::F64 };
        let values = bytes_of(&data, element)?;
        let indices = numbers(&self.integers(&indices, "indices")?);
        let ends = numbers(&self.integers(&indptr, "indptr")?);
        let count = values.len() / element.size();
        let sound = ends.first() == Some(&0)
            && ends.len() == rows + 1
            && ends.is_sorted()
            && ends[rows] as usize == count
            && indices.len() == count;
        if !sound {
            return Err(self.refuse("data, indices, indptr and shape of sparse rows disagree"));
        }
        if !indices.iter().all(|&index| index >= 0 && (index as usize) < dim) {
            return Err(self.refuse(&format!("an index of sparse rows is not below {dim}")));
        }
        let ends = ends[1..].iter().map(|&end| end as u32).collect();
        self.stream(Kind::Sparse, element, dim, rows, values, Some((indices, ends)))
    }

    /// Integers of any type as int32.
    fn integers(&self, array: &Bound<'_, PyAny>, what: &str) -> PyResult<PyBackedBytes> {
        let narrow = array.call_method1("astype", ("=i4",))?;
        let same = array.rich_compare(&narrow, pyo3::basic::CompareOp::Eq)?;
        if !same.call_method0("all")?.is_truthy()? {
            return Err(self.refuse(&format!("{what} do not fit int32")));
        }
        bytes_of(&narrow, Element::I32)
    }

    fn stream(
        &self,
        kind: Kind,
        element: Element,
        dim: usize,
        count: usize,
        values: PyBackedBytes,
        sparse: Option<(Vec<i32>, Vec<u32>)>,
    ) -> PyResult<Samples> {
        if u32::try_from(count).is_err() {
            return Err(self.refuse("a sequence has fewer than 2^32 samples"));
        }
        let own = if kind == Kind::Label { "labels" } else { "features" };
        let name = self.name.unwrap_or(own).to_owned();
        let stream = Stream { name, kind, element, dim, extent: Extent::Samples };
        Ok(Samples { stream, count, values, sparse })
    }
}

/// numpy's letter for the kind of a type, and its size in bytes.
fn kind_of(array: &Bound<'_, PyAny>) -> PyResult<(char, usize)> {
    let dtype = array.getattr("dtype")?;
    Ok((dtype.getattr("kind")?.extract()?, dtype.getattr("itemsize")?.extract()?))
}

/// A copy of an array's values, row after row, in the machine's byte order.
fn bytes_of(array: &Bound<'_, PyAny>, element: Element) -> PyResult<PyBackedBytes> {
    let dtype = match element {
        Element::F64 => "=f8",
        Element::I32 => "=i4",
        _ => "=f4",
    };
    Ok(array.call_method1("astype", (dtype,))?.call_method0("tobytes")?.extract()?)
}

fn numbers(bytes: &[u8]) -> Vec<i32> {
    bytes.as_chunks::<4>().0.iter().map(|bytes| i32::from_ne_bytes(*bytes)).collect()
}
