//! Converts Kaldi's objects to Python's values.

use std::slice;

use numpy::IntoPyArray;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList};
use seqfeed::kaldi::{AnyObject, Matrix, PackedMatrix, SparseVector};

use crate::kaldi::Value;
use crate::kaldi::lent;
use crate::kaldi::object::KaldiObject;
use crate::{keys, values};

/// A Python value for a value that was read.
pub(crate) fn value_to_python(py: Python<'_>, value: Value) -> PyResult<Bound<'_, PyAny>> {
    match value {
        Value::Object(object) => object_to_python(py, object),
        Value::Own(object) => Ok(object.bind(py).clone()),
        Value::Shape(shape) => values::named(
            py,
            "MatrixShape",
            &[
                ("rows", shape.rows.into_pyobject(py)?.into_any()),
                ("cols", shape.cols.into_pyobject(py)?.into_any()),
            ],
        ),
        Value::WaveInfo(info) => values::named(
            py,
            "WaveInfo",
            &[
                ("sample_rate", info.sample_rate.into_pyobject(py)?.into_any()),
                ("channels", info.channels.into_pyobject(py)?.into_any()),
                ("samples", info.samples.into_pyobject(py)?.into_any()),
                ("block_align", info.block_align.into_pyobject(py)?.into_any()),
                ("big_endian", info.big_endian.into_pyobject(py)?.to_owned().into_any()),
            ],
        ),
    }
}

/// A Python value for an object: arrays for numbers, text and lists for the rest.
fn object_to_python(py: Python<'_>, object: AnyObject) -> PyResult<Bound<'_, PyAny>> {
    Ok(match object {
        AnyObject::FloatMatrix(matrix) => lent::array(py, matrix)?,
        AnyObject::DoubleMatrix(matrix) => lent::array(py, matrix)?,
        AnyObject::CompressedMatrix(matrix) => {
            let full = py.detach(|| {
                let mut full = lent::matrix::<f32>();
                matrix.decompress_into(&mut full);
                full
            });
            lent::array(py, full)?
        }
        AnyObject::FloatVector(vector) => vector.0.into_pyarray(py).into_any(),
        AnyObject::DoubleVector(vector) => vector.0.into_pyarray(py).into_any(),
        AnyObject::SparseMatrix(matrix) => sparse_rows(py, &matrix.rows, matrix.cols())?,
        AnyObject::SparseVector(row) => sparse_rows(py, slice::from_ref(&row), row.dim)?,
        AnyObject::DoubleSparseMatrix(matrix) => sparse_rows(py, &matrix.rows, matrix.cols())?,
        AnyObject::DoubleSparseVector(row) => sparse_rows(py, slice::from_ref(&row), row.dim)?,
        AnyObject::FloatPackedMatrix(matrix) => packed(py, matrix)?,
        AnyObject::DoublePackedMatrix(matrix) => packed(py, matrix)?,
        AnyObject::Int8(number) => number.into_pyobject(py)?.into_any(),
        AnyObject::Int16(number) => number.into_pyobject(py)?.into_any(),
        AnyObject::Int32(number) => number.into_pyobject(py)?.into_any(),
        AnyObject::Int64(number) => number.into_pyobject(py)?.into_any(),
        AnyObject::Uint8(number) => number.into_pyobject(py)?.into_any(),
        AnyObject::Uint16(number) => number.into_pyobject(py)?.into_any(),
        AnyObject::Uint32(number) => number.into_pyobject(py)?.into_any(),
        AnyObject::Uint64(number) => number.into_pyobject(py)?.into_any(),
        AnyObject::Float(number) => number.into_pyobject(py)?.into_any(),
        AnyObject::Double(number) => number.into_pyobject(py)?.into_any(),
        AnyObject::Bool(value) => value.into_pyobject(py)?.to_owned().into_any(),
        AnyObject::Int32Vector(numbers) => numbers.into_pyarray(py).into_any(),
        AnyObject::Int8Vector(numbers) => numbers.into_pyarray(py).into_any(),
        AnyObject::Int16Vector(numbers) => numbers.into_pyarray(py).into_any(),
        AnyObject::Int64Vector(numbers) => numbers.into_pyarray(py).into_any(),
        AnyObject::FloatBasicVector(numbers) => numbers.into_pyarray(py).into_any(),
        AnyObject::DoubleBasicVector(numbers) => numbers.into_pyarray(py).into_any(),
        AnyObject::Blob(blob) => PyBytes::new(py, &blob.0).into_any(),
        AnyObject::Int32VectorVector(vectors) => {
            list(py, vectors.into_iter().map(|vector| Ok(vector.into_pyarray(py).into_any())))?
        }
        AnyObject::Int32PairVector(pairs) => pair_array(py, &pairs)?,
        AnyObject::FloatPairVector(pairs) => pair_array(py, &pairs)?,
        AnyObject::Token(token) => keys::to_python(py, &token.0)?.into_any(),
        AnyObject::TokenVector(words) => {
            list(py, words.0.iter().map(|word| Ok(keys::to_python(py, word)?.into_any())))?
        }
        AnyObject::Posterior(posterior) => posterior.0.into_pyobject(py)?.into_any(),
        AnyObject::GaussPosterior(posterior) => list(
            py,
            posterior.0.into_iter().map(|frame| {
                list(
                    py,
                    frame.into_iter().map(|(number, values)| {
                        Ok((number, values.0.into_pyarray(py)).into_pyobject(py)?.into_any())
                    }),
                )
            }),
        )?,
        AnyObject::Wave(wave) => values::named(
            py,
            "Wave",
            &[
                ("sample_rate", wave.sample_rate.into_pyobject(py)?.into_any()),
                ("samples", matrix_array(py, wave.samples)?),
            ],
        )?,
        AnyObject::HtkMatrix(htk) => values::named(
            py,
            "HtkMatrix",
            &[
                ("matrix", matrix_array(py, htk.matrix)?),
                ("sample_period", htk.sample_period.into_pyobject(py)?.into_any()),
                ("kind", htk.kind.into_pyobject(py)?.into_any()),
            ],
        )?,
        AnyObject::FloatNumpyArray(array) => values::array(py, &array.shape, array.values)?,
        AnyObject::DoubleNumpyArray(array) => values::array(py, &array.shape, array.values)?,
        other => Bound::new(py, KaldiObject { object: other })?.into_any(),
    })
}

fn matrix_array<T: numpy::Element>(
    py: Python<'_>,
    matrix: Matrix<T>,
) -> PyResult<Bound<'_, PyAny>> {
    values::array(py, &[matrix.rows, matrix.cols], matrix.values)
}

fn pair_array<'py, T: numpy::Element + Copy>(
    py: Python<'py>,
    pairs: &[(T, T)],
) -> PyResult<Bound<'py, PyAny>> {
    let values = pairs.iter().flat_map(|&(first, second)| [first, second]).collect();
    values::array(py, &[pairs.len(), 2], values)
}

fn packed<T: numpy::Element>(
    py: Python<'_>,
    matrix: PackedMatrix<T>,
) -> PyResult<Bound<'_, PyAny>> {
    let fields = [
        ("size", matrix.size.into_pyobject(py)?.into_any()),
        ("values", matrix.values.into_pyarray(py).into_any()),
    ];
    values::named(py, "PackedMatrix", &fields)
}

fn sparse_rows<'py, T: numpy::Element + Copy>(
    py: Python<'py>,
    rows: &[SparseVector<T>],
    cols: usize,
) -> PyResult<Bound<'py, PyAny>> {
    let pairs = || rows.iter().flat_map(|row| &row.pairs);
    let data: Vec<T> = pairs().map(|&(_, value)| value).collect();
    let indices: Vec<i32> = pairs().map(|&(index, _)| index).collect();
    let mut indptr = vec![0i64];
    indptr.extend(rows.iter().scan(0, |end, row| {
        *end += row.pairs.len() as i64;
        Some(*end)
    }));
    values::sparse(
        py,
        data.into_pyarray(py).into_any(),
        indices.into_pyarray(py).into_any(),
        indptr.into_pyarray(py).into_any(),
        (rows.len(), cols),
    )
}

fn list<'py>(
    py: Python<'py>,
    items: impl Iterator<Item = PyResult<Bound<'py, PyAny>>>,
) -> PyResult<Bound<'py, PyAny>> {
    let list = PyList::empty(py);
    for item in items {
        list.append(item?)?;
    }
    Ok(list.into_any())
}
