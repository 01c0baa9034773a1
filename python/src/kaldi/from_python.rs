//! Converts Python's values to Kaldi's objects.

use numpy::{Element, PyArrayDyn, PyArrayMethods, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::exceptions::{PyOverflowError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyFloat, PyInt, PyList, PyString, PyTuple};
use seqfeed::kaldi::{
    AnyObject, Blob, CompressedMatrix, CompressionMethod, GaussPosterior, HtkMatrix, Matrix,
    NumpyArray, ObjectType, PackedMatrix, Posterior, SparseMatrix, SparseVector, Token,
    TokenVector, Vector, Wave,
};

use crate::kaldi::object::KaldiObject;
use crate::{errors, keys};

/// Options for converting values to objects.
#[derive(Clone, Copy, Default)]
pub(crate) struct Conversion {
    /// The type of all objects. Without it, each value decides its own type.
    pub(crate) object_type: Option<ObjectType>,
    /// The compression of matrices of floats.
    pub(crate) compression: Option<CompressionMethod>,
}

impl Conversion {
    pub(crate) fn object(self, value: &Bound<'_, PyAny>) -> PyResult<AnyObject> {
        let object_type = match self.object_type {
            Some(object_type) => object_type,
            None => infer(value)?,
        };
        let object = convert(value, object_type)?;
        let Some(method) = self.compression else { return Ok(object) };
        let compressed = match &object {
            AnyObject::FloatMatrix(matrix) => CompressedMatrix::compress(matrix, method),
            AnyObject::DoubleMatrix(matrix) => CompressedMatrix::compress(matrix, method),
            _ => return Ok(object),
        };
        Ok(AnyObject::CompressedMatrix(errors::raise(compressed)?))
    }
}

/// The type of object for a value.
fn infer(value: &Bound<'_, PyAny>) -> PyResult<ObjectType> {
    let py = value.py();
    let class = |name: &str| py.import("seqfeed._types")?.getattr(name);
    if let Ok(object) = value.cast::<KaldiObject>() {
        return Ok(object.get().object.object_type());
    }
    if value.is_instance_of::<PyBool>() {
        return Ok(ObjectType::Bool);
    }
    if value.is_instance_of::<PyInt>() {
        return Ok(ObjectType::Int32);
    }
    if value.is_instance_of::<PyFloat>() {
        return Ok(ObjectType::Double);
    }
    if value.is_instance_of::<PyString>() {
        return Ok(ObjectType::Token);
    }
    if value.is_instance(&class("Sparse")?)? {
        return Ok(ObjectType::SparseMatrix);
    }
    if value.is_instance(&class("Wave")?)? {
        return Ok(ObjectType::Wave);
    }
    if value.is_instance(&class("HtkMatrix")?)? {
        return Ok(ObjectType::HtkMatrix);
    }
    if value.is_instance(&class("PackedMatrix")?)? {
        let values = asarray(&value.getattr("values")?)?;
        return Ok(match kind_of(&values)? {
            ('f', 8) => ObjectType::DoublePackedMatrix,
            _ => ObjectType::FloatPackedMatrix,
        });
    }
    if value.is_instance_of::<PyList>() || value.is_instance_of::<PyTuple>() {
        return infer_list(value);
    }
    infer_array(&asarray(value)?)
}

fn infer_array(array: &Bound<'_, PyUntypedArray>) -> PyResult<ObjectType> {
    match (array.ndim(), kind_of(array)?) {
        (2, ('f', 8)) => Ok(ObjectType::DoubleMatrix),
        (2, ('f', _)) => Ok(ObjectType::FloatMatrix),
        (1, ('f', 8)) => Ok(ObjectType::DoubleVector),
        (1, ('f', _)) => Ok(ObjectType::FloatVector),
        (1, ('i' | 'u', _)) => Ok(ObjectType::Int32Vector),
        (0, ('f', 8)) => Ok(ObjectType::Double),
        (0, ('f', _)) => Ok(ObjectType::Float),
        (0, ('i' | 'u', _)) => Ok(ObjectType::Int32),
        (0, ('b', _)) => Ok(ObjectType::Bool),
        (dims, _) => Err(PyTypeError::new_err(format!(
            "an array of {dims} dimensions and dtype {} is written as no type of object by itself; give an \
             object_type, or another dtype",
            array.dtype()
        ))),
    }
}

fn infer_list(list: &Bound<'_, PyAny>) -> PyResult<ObjectType> {
    let items: Vec<Bound<'_, PyAny>> = list.extract()?;
    let unclear = || {
        PyTypeError::new_err(
            "a list of numbers, of words, of lists of numbers, or of frames of (number, value) pairs is \
             expected; an object_type says which where that is not clear",
        )
    };
    let all = |test: &dyn Fn(&Bound<'_, PyAny>) -> bool| items.iter().all(test);
    let is_int = |item: &Bound<'_, PyAny>| item.hasattr("__index__").unwrap_or(false);
    let is_list = |item: &Bound<'_, PyAny>| item.is_instance_of::<PyList>();
    if all(&is_int) {
        return Ok(ObjectType::Int32Vector);
    }
    if all(&|item| item.is_instance_of::<PyString>()) {
        return Ok(ObjectType::TokenVector);
    }
    if all(&|item| is_int(item) || item.is_instance_of::<PyFloat>()) {
        return Ok(ObjectType::DoubleVector);
    }
    if all(&|item| item.is_instance_of::<PyUntypedArray>()) {
        return Ok(ObjectType::Int32VectorVector);
    }
    if all(&|item| item.is_instance_of::<PyTuple>()) {
        let first = items.first().ok_or_else(unclear)?;
        let pair: (Bound<'_, PyAny>, Bound<'_, PyAny>) = first.extract().map_err(|_| unclear())?;
        let ints = is_int(&pair.0) && is_int(&pair.1);
        return Ok(if ints { ObjectType::Int32PairVector } else { ObjectType::FloatPairVector });
    }
    if !all(&is_list) {
        return Err(unclear());
    }
    for item in &items {
        let Ok(entry) = item.get_item(0) else { continue };
        if is_int(&entry) {
            return Ok(ObjectType::Int32VectorVector);
        }
        let pair = pair(&entry).map_err(|_| unclear())?;
        let vectors = pair.1.is_instance_of::<PyUntypedArray>();
        return Ok(if vectors { ObjectType::GaussPosterior } else { ObjectType::Posterior });
    }
    Ok(ObjectType::Int32VectorVector)
}

/// Converts a value to an object of a type.
fn convert(value: &Bound<'_, PyAny>, object_type: ObjectType) -> PyResult<AnyObject> {
    if let Ok(object) = value.cast::<KaldiObject>() {
        let object = &object.get().object;
        if object.object_type() == object_type {
            return Ok(object.clone());
        }
        return Err(PyTypeError::new_err(format!(
            "an object of type {object_type} is expected, found one of type {}",
            object.object_type()
        )));
    }
    Ok(match object_type {
        ObjectType::FloatMatrix => AnyObject::FloatMatrix(matrix(value)?),
        ObjectType::DoubleMatrix => AnyObject::DoubleMatrix(matrix(value)?),
        ObjectType::FloatVector => AnyObject::FloatVector(Vector(vector(value)?)),
        ObjectType::DoubleVector => AnyObject::DoubleVector(Vector(vector(value)?)),
        ObjectType::CompressedMatrix => {
            let compressed =
                CompressedMatrix::compress::<f32>(&matrix(value)?, CompressionMethod::Auto);
            AnyObject::CompressedMatrix(errors::raise(compressed)?)
        }
        ObjectType::SparseMatrix => AnyObject::SparseMatrix(SparseMatrix { rows: sparse(value)? }),
        ObjectType::SparseVector => AnyObject::SparseVector(sparse_row(value)?),
        ObjectType::DoubleSparseMatrix => {
            AnyObject::DoubleSparseMatrix(SparseMatrix { rows: sparse(value)? })
        }
        ObjectType::DoubleSparseVector => AnyObject::DoubleSparseVector(sparse_row(value)?),
        ObjectType::FloatPackedMatrix => AnyObject::FloatPackedMatrix(packed(value)?),
        ObjectType::DoublePackedMatrix => AnyObject::DoublePackedMatrix(packed(value)?),
        ObjectType::Int8 => AnyObject::Int8(value.extract()?),
        ObjectType::Int16 => AnyObject::Int16(value.extract()?),
        ObjectType::Int32 => AnyObject::Int32(value.extract()?),
        ObjectType::Int64 => AnyObject::Int64(value.extract()?),
        ObjectType::Uint8 => AnyObject::Uint8(value.extract()?),
        ObjectType::Uint16 => AnyObject::Uint16(value.extract()?),
        ObjectType::Uint32 => AnyObject::Uint32(value.extract()?),
        ObjectType::Uint64 => AnyObject::Uint64(value.extract()?),
        ObjectType::Float => AnyObject::Float(value.extract()?),
        ObjectType::Double => AnyObject::Double(value.extract()?),
        ObjectType::Bool => AnyObject::Bool(truth(value)?),
        ObjectType::Int32Vector => AnyObject::Int32Vector(integers(value)?),
        ObjectType::Int8Vector => AnyObject::Int8Vector(integers(value)?),
        ObjectType::Int16Vector => AnyObject::Int16Vector(integers(value)?),
        ObjectType::Int64Vector => AnyObject::Int64Vector(integers(value)?),
        ObjectType::FloatBasicVector => AnyObject::FloatBasicVector(vector(value)?),
        ObjectType::DoubleBasicVector => AnyObject::DoubleBasicVector(vector(value)?),
        ObjectType::Blob => match value.cast::<PyBytes>() {
            Ok(bytes) => AnyObject::Blob(Blob(bytes.as_bytes().to_vec())),
            Err(_) => return Err(errors::wrong_type("bytes", value)),
        },
        ObjectType::Int32VectorVector => AnyObject::Int32VectorVector(
            items(value)?.iter().map(integers).collect::<PyResult<_>>()?,
        ),
        ObjectType::Int32PairVector => {
            AnyObject::Int32PairVector(pairs(value, integers, "integers")?)
        }
        ObjectType::FloatPairVector => AnyObject::FloatPairVector(pairs(value, vector, "floats")?),
        ObjectType::Token => AnyObject::Token(Token(keys::from_python(value)?)),
        ObjectType::TokenVector => AnyObject::TokenVector(TokenVector(
            items(value)?.iter().map(keys::from_python).collect::<PyResult<_>>()?,
        )),
        ObjectType::Posterior => {
            AnyObject::Posterior(Posterior(frames(value, |weight| weight.extract())?))
        }
        ObjectType::GaussPosterior => {
            let vector = |values: &Bound<'_, PyAny>| vector(values).map(Vector);
            AnyObject::GaussPosterior(GaussPosterior(frames(value, vector)?))
        }
        ObjectType::Wave => AnyObject::Wave(Wave {
            sample_rate: value.getattr("sample_rate")?.extract()?,
            samples: matrix(&value.getattr("samples")?)?,
            warnings: Vec::new(),
        }),
        ObjectType::HtkMatrix => AnyObject::HtkMatrix(HtkMatrix {
            matrix: matrix(&value.getattr("matrix")?)?,
            sample_period: value.getattr("sample_period")?.extract()?,
            kind: value.getattr("kind")?.extract()?,
        }),
        ObjectType::FloatNumpyArray => {
            let (shape, values) = values_of(value, &[1, 2])?;
            AnyObject::FloatNumpyArray(NumpyArray { shape, values })
        }
        ObjectType::DoubleNumpyArray => {
            let (shape, values) = values_of(value, &[1, 2])?;
            AnyObject::DoubleNumpyArray(NumpyArray { shape, values })
        }
        other => {
            return Err(errors::wrong_type(&format!("a KaldiObject of type {other}"), value));
        }
    })
}

fn items<'py>(value: &Bound<'py, PyAny>) -> PyResult<Vec<Bound<'py, PyAny>>> {
    if value.is_instance_of::<PyString>() {
        return Err(errors::wrong_type("a list", value));
    }
    value.try_iter()?.collect()
}

/// A pair, in any kind of sequence: JSON has only lists.
fn pair<'py>(value: &Bound<'py, PyAny>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
    if value.is_instance_of::<PyTuple>() {
        return value.extract();
    }
    match <[_; 2]>::try_from(items(value)?) {
        Ok([first, second]) => Ok((first, second)),
        Err(_) => Err(errors::wrong_type("a pair", value)),
    }
}

/// Pairs of two numbers.
fn pairs<T: Copy>(
    value: &Bound<'_, PyAny>,
    read: impl Fn(&Bound<'_, PyAny>) -> PyResult<Vec<T>>,
    what: &str,
) -> PyResult<Vec<(T, T)>> {
    let pair = |pair: &Bound<'_, PyAny>| match read(pair)?[..] {
        [first, second] => Ok((first, second)),
        _ => Err(PyValueError::new_err(format!("pairs of two {what} are expected"))),
    };
    items(value)?.iter().map(pair).collect()
}

/// Frames of pairs of a number and something else.
fn frames<T>(
    value: &Bound<'_, PyAny>,
    read: impl Fn(&Bound<'_, PyAny>) -> PyResult<T>,
) -> PyResult<Vec<Vec<(i32, T)>>> {
    let entry = |entry: &Bound<'_, PyAny>| {
        let (number, other) = pair(entry)?;
        Ok((number.extract()?, read(&other)?))
    };
    let frame = |frame: &Bound<'_, PyAny>| items(frame)?.iter().map(entry).collect();
    items(value)?.iter().map(frame).collect()
}

/// A boolean, or a number for one; the text "false" is refused.
fn truth(value: &Bound<'_, PyAny>) -> PyResult<bool> {
    let number = value.hasattr("__index__")? || value.hasattr("__float__")?;
    match value.is_instance_of::<PyBool>() || number {
        true => value.is_truthy(),
        false => Err(errors::wrong_type("a truth value", value)),
    }
}

fn asarray<'py>(value: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyUntypedArray>> {
    if let Ok(array) = value.cast::<PyUntypedArray>() {
        return Ok(array.clone());
    }
    let array = value.py().import("numpy")?.call_method1("asarray", (value,))?;
    Ok(array.cast_into::<PyUntypedArray>()?)
}

/// The kind and the size of an array's dtype.
fn kind_of(array: &Bound<'_, PyUntypedArray>) -> PyResult<(char, usize)> {
    let dtype = array.getattr("dtype")?;
    Ok((dtype.getattr("kind")?.extract()?, dtype.getattr("itemsize")?.extract()?))
}

/// The values of an array of floats, row after row, as `T`: a copy.
fn values_of<T: Element + Copy>(
    value: &Bound<'_, PyAny>,
    dims: &[usize],
) -> PyResult<(Vec<usize>, Vec<T>)> {
    let array = asarray(value)?;
    let (kind, _) = kind_of(&array)?;
    if !matches!(kind, 'f' | 'i' | 'u' | 'b') {
        return Err(PyTypeError::new_err(format!(
            "an array of numbers is expected, found {}",
            array.dtype()
        )));
    }
    // An empty list has one dimension, whatever the expected form.
    if !dims.contains(&array.ndim()) {
        return Err(PyValueError::new_err(format!(
            "an array of {} dimensions is expected, found {}",
            dims.iter().map(ToString::to_string).collect::<Vec<_>>().join(" or "),
            array.ndim()
        )));
    }
    let array = array.call_method1("astype", (numpy::dtype::<T>(value.py()),))?;
    let array = array.cast_into::<PyArrayDyn<T>>()?.readonly();
    let shape = array.shape().to_vec();
    let values = match array.as_slice() {
        Ok(values) if array.is_c_contiguous() => values.to_vec(),
        _ => array.as_array().iter().copied().collect(),
    };
    Ok((shape, values))
}

fn matrix<T: Element + Copy>(value: &Bound<'_, PyAny>) -> PyResult<Matrix<T>> {
    let (shape, values) = values_of(value, &[2])?;
    Ok(Matrix { rows: shape[0], cols: shape[1], values })
}

fn vector<T: Element + Copy>(value: &Bound<'_, PyAny>) -> PyResult<Vec<T>> {
    Ok(values_of(value, &[1])?.1)
}

fn packed<T: Element + Copy>(value: &Bound<'_, PyAny>) -> PyResult<PackedMatrix<T>> {
    let size = value.getattr("size")?.extract()?;
    Ok(PackedMatrix { size, values: vector(&value.getattr("values")?)? })
}

/// Integers that must fit their type.
fn integers<T>(value: &Bound<'_, PyAny>) -> PyResult<Vec<T>>
where
    T: Element + Copy + TryFrom<i64> + TryFrom<u64>,
{
    let array = asarray(value)?;
    let empty = array.len() == 0;
    let (kind, size) = kind_of(&array)?;
    if array.ndim() != 1 {
        return Err(PyValueError::new_err(format!(
            "integers in one dimension are expected, found {} dimensions",
            array.ndim()
        )));
    }
    if empty {
        return Ok(Vec::new());
    }
    if !matches!(kind, 'i' | 'u') {
        return Err(PyTypeError::new_err(format!(
            "integers are expected, found {}",
            array.dtype()
        )));
    }
    if kind == 'i' && size == size_of::<T>() {
        return vector(array.as_any());
    }
    let bits = 8 * size_of::<T>();
    let wide = || PyOverflowError::new_err(format!("an integer does not fit {bits} bits"));
    if kind == 'u' && size == 8 {
        let numbers = vector::<u64>(array.as_any())?;
        return numbers.iter().map(|&n| T::try_from(n).map_err(|_| wide())).collect();
    }
    let numbers = vector::<i64>(array.as_any())?;
    numbers.iter().map(|&n| T::try_from(n).map_err(|_| wide())).collect()
}

/// The rows of a `seqfeed.Sparse` or of a `scipy.sparse` matrix in row form.
fn sparse<T: Element + Copy>(value: &Bound<'_, PyAny>) -> PyResult<Vec<SparseVector<T>>> {
    let data = vector::<T>(&value.getattr("data")?)?;
    let indices = integers::<i32>(&value.getattr("indices")?)?;
    let indptr = integers::<i64>(&value.getattr("indptr")?)?;
    let (rows, dim): (usize, usize) = value.getattr("shape")?.extract()?;
    let ends: Vec<usize> = indptr.iter().map(|&end| end.max(0) as usize).collect();
    let fits = ends.len() == rows + 1
        && ends.is_sorted()
        && ends.last() == Some(&data.len())
        && indices.len() == data.len();
    if !fits {
        return Err(PyValueError::new_err(
            "data, indices and indptr of the sparse rows do not fit",
        ));
    }
    let row = |ends: &[usize]| SparseVector {
        dim,
        pairs: indices[ends[0]..ends[1]]
            .iter()
            .copied()
            .zip(data[ends[0]..ends[1]].iter().copied())
            .collect(),
    };
    Ok(ends.windows(2).map(row).collect())
}

/// The one row of a sparse matrix.
fn sparse_row<T: Element + Copy>(value: &Bound<'_, PyAny>) -> PyResult<SparseVector<T>> {
    let [row] = <[_; 1]>::try_from(sparse(value)?)
        .map_err(|_| PyValueError::new_err("a sparse vector has one row"))?;
    Ok(row)
}
