//! Minibatches whose arrays use the feed's own memory.

use std::mem::ManuallyDrop;

use numpy::ndarray::{ArrayView, IxDyn};
use numpy::{Element, PyArrayDyn};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyIterator, PyList, PyMapping, PyString};
use seqfeed::{Kind, Layout};
use seqfeed_core::Array;

use crate::{errors, keys, values};

/// The memory of a minibatch: the base object of its arrays. The feed gets it back when the last
/// array is deleted.
#[pyclass(frozen, module = "seqfeed._seqfeed", name = "_Memory")]
struct Memory {
    minibatch: ManuallyDrop<seqfeed::Minibatch>,
    process: u32,
}

impl Drop for Memory {
    fn drop(&mut self) {
        // A forked child does not have the feed that wants the memory back, but its lock may be
        // held.
        if self.process == std::process::id() {
            // SAFETY: it is not used again.
            unsafe { ManuallyDrop::drop(&mut self.minibatch) };
        }
    }
}

/// One minibatch: a mapping of the names of streams to arrays, with further properties.
#[pyclass(frozen, module = "seqfeed", mapping)]
pub(crate) struct Minibatch {
    memory: Py<Memory>,
    arrays: Py<PyDict>,
}

/// The addresses of a stream's values, taken while the minibatch can be changed.
struct BufferPointers {
    values: Pointer,
    count: usize,
    indices: (*mut i32, usize),
    offsets: (*mut u64, usize),
}

enum Pointer {
    F32(*mut f32),
    F64(*mut f64),
    I32(*mut i32),
    I64(*mut i64),
    /// Floats of 16 bits, as their bits.
    F16(*mut u16),
    /// The upper 16 bits of 32-bit floats.
    BF16(*mut u16),
}

impl Minibatch {
    pub(crate) fn new(py: Python<'_>, mut minibatch: seqfeed::Minibatch) -> PyResult<Self> {
        let counts: Vec<usize> = minibatch.streams().map(|batch| batch.values()).collect();
        let places: Vec<BufferPointers> = minibatch
            .memory_mut()
            .zip(counts)
            .map(|((array, indices, offsets), count)| {
                let values = match array {
                    Array::F32(values) => Pointer::F32(values.as_mut_ptr()),
                    Array::F64(values) => Pointer::F64(values.as_mut_ptr()),
                    Array::I32(values) => Pointer::I32(values.as_mut_ptr()),
                    Array::I64(values) => Pointer::I64(values.as_mut_ptr()),
                    Array::F16(values) => Pointer::F16(values.as_mut_ptr().cast()),
                    Array::BF16(values) => Pointer::BF16(values.as_mut_ptr().cast()),
                    _ => Pointer::I32(std::ptr::NonNull::dangling().as_ptr()),
                };
                let (indices, offsets) =
                    ((indices.as_mut_ptr(), indices.len()), (offsets.as_mut_ptr(), offsets.len()));
                BufferPointers { values, count, indices, offsets }
            })
            .collect();
        let memory = Bound::new(
            py,
            Memory { minibatch: ManuallyDrop::new(minibatch), process: std::process::id() },
        )?;
        let arrays = PyDict::new(py);
        for (batch, place) in memory.get().minibatch.streams().zip(places) {
            let stream = batch.stream();
            let array = if stream.kind == Kind::Sparse {
                let shape = batch.shape();
                let rows = shape[..shape.len() - 1].iter().product();
                values::sparse(
                    py,
                    view_values(&memory, &[place.count], &place.values)?,
                    view(&memory, &[place.indices.1], place.indices.0),
                    view(&memory, &[place.offsets.1], place.offsets.0.cast::<i64>()),
                    (rows, stream.dim),
                )?
            } else {
                let mut shape = batch.shape();
                if stream.kind == Kind::Label && stream.dim == 1 {
                    shape.pop();
                }
                view_values(&memory, &shape, &place.values)?
            };
            arrays.set_item(&stream.name, array)?;
        }
        Ok(Self { memory: memory.unbind(), arrays: arrays.unbind() })
    }

    pub(crate) fn batch(&self) -> &seqfeed::Minibatch {
        &self.memory.get().minibatch
    }

    /// Puts arrays of the caller's in the place of some streams' arrays.
    pub(crate) fn replace(&self, others: &Bound<'_, PyMapping>) -> PyResult<()> {
        let py = others.py();
        let arrays = self.arrays.bind(py);
        for item in others.items()?.iter() {
            let (name, other): (Bound<'_, PyAny>, Bound<'_, PyAny>) = item.extract()?;
            let Some(array) = arrays.get_item(&name)? else {
                return Err(errors::no_stream(&name, arrays.keys().iter()));
            };
            if !other.is_instance(&array.get_type())? {
                let expected = format!("{} for stream {name}", array.get_type().name()?);
                return Err(errors::wrong_type(&expected, &other));
            }
            let dense = other.is_instance_of::<numpy::PyUntypedArray>();
            // Frameworks take no arrays that go backwards or cannot be written to.
            let other = if dense {
                py.import("numpy")?.call_method1("require", (other, py.None(), ["C", "W"]))?
            } else {
                other
            };
            arrays.set_item(name, other)?;
        }
        Ok(())
    }

    /// Copies the arrays of some streams into memory of the caller's.
    pub(crate) fn fill(&self, py: Python<'_>, buffers: &Bound<'_, PyDict>) -> PyResult<()> {
        let arrays = self.arrays.bind(py);
        for (name, buffer) in buffers.iter() {
            let Some(array) = arrays.get_item(&name)? else {
                return Err(errors::no_stream(&name, arrays.keys().iter()));
            };
            if !array.is_instance_of::<numpy::PyUntypedArray>() {
                return Err(PyValueError::new_err(format!(
                    "stream {name} is sparse: it has no buffer to be copied into"
                )));
            }
            let filled = fill_one(&name, &array, &buffer)?;
            arrays.set_item(name, filled)?;
        }
        Ok(())
    }
}

/// Copies an array to the beginning of a buffer. Returns the array there.
fn fill_one<'py>(
    name: &Bound<'py, PyAny>,
    array: &Bound<'py, PyAny>,
    buffer: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    if !buffer.is_instance_of::<numpy::PyUntypedArray>() {
        return Err(errors::wrong_type("a numpy array as buffer", buffer));
    }
    let flags = buffer.getattr("flags")?;
    let usable =
        flags.getattr("c_contiguous")?.is_truthy()? && flags.getattr("writeable")?.is_truthy()?;
    let (have, need) = (buffer.getattr("dtype")?, array.getattr("dtype")?);
    if !usable || !have.eq(&need)? {
        return Err(PyValueError::new_err(format!(
            "the buffer of stream {name} must be contiguous, writable and {need}, it is {have}"
        )));
    }
    let size: usize = array.getattr("size")?.extract()?;
    let room: usize = buffer.getattr("size")?.extract()?;
    if room < size {
        return Err(PyValueError::new_err(format!(
            "the buffer of stream {name} holds {room} values, but the minibatch has {size}"
        )));
    }
    let flat = buffer.call_method1("reshape", (-1,))?;
    let slice = pyo3::types::PySlice::new(buffer.py(), 0, size as isize, 1);
    let filled = flat.get_item(slice)?.call_method1("reshape", (array.getattr("shape")?,))?;
    buffer.py().import("numpy")?.call_method1("copyto", (&filled, array))?;
    Ok(filled)
}

fn view_values<'py>(
    memory: &Bound<'py, Memory>,
    shape: &[usize],
    values: &Pointer,
) -> PyResult<Bound<'py, PyAny>> {
    Ok(match *values {
        Pointer::F32(start) => view(memory, shape, start),
        Pointer::F64(start) => view(memory, shape, start),
        Pointer::I32(start) => view(memory, shape, start),
        Pointer::I64(start) => view(memory, shape, start),
        Pointer::F16(start) => view(memory, shape, start).call_method1("view", ("float16",))?,
        Pointer::BF16(start) => {
            let bits = view(memory, shape, start);
            // numpy itself has no such type.
            match memory.py().import("ml_dtypes") {
                Ok(types) => bits.call_method1("view", (types.getattr("bfloat16")?,))?,
                Err(_) => bits,
            }
        }
    })
}

/// An array over a minibatch's memory, which stays alive as long as the array.
fn view<'py, T: Element>(
    memory: &Bound<'py, Memory>,
    shape: &[usize],
    start: *mut T,
) -> Bound<'py, PyAny> {
    // SAFETY: the pointers come from the minibatch's own vectors, which hold at least as many
    // values, were not moved nor changed in length since then, and live in `memory`, the array's
    // base; Rust does not look at their values again before `memory` is dropped, so that Python may
    // write to them.
    unsafe {
        let array = ArrayView::from_shape_ptr(IxDyn(shape), start.cast_const());
        PyArrayDyn::borrow_from_array(&array, memory.clone().into_any()).into_any()
    }
}

fn numbers(py: Python<'_>, numbers: impl Iterator<Item = u64>) -> PyResult<Bound<'_, PyAny>> {
    let numbers: Vec<i64> = numbers.map(|number| number as i64).collect();
    values::array(py, &[numbers.len()], numbers)
}

#[pymethods]
impl Minibatch {
    /// The arrays, by the names of their streams.
    #[getter]
    fn arrays(&self, py: Python<'_>) -> Py<PyDict> {
        self.arrays.clone_ref(py)
    }

    /// For each sequence (or for each frame, if frames are dealt out) the key of its utterance.
    #[getter]
    fn utterances<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let list = PyList::empty(py);
        let mut last: Option<(u32, Bound<'py, PyString>)> = None;
        for (segment, key) in self.batch().segments().iter().zip(self.batch().keys()) {
            let text = match &last {
                Some((sequence, text)) if *sequence == segment.sequence => text.clone(),
                _ => keys::to_python(py, key.0)?,
            };
            list.append(&text)?;
            last = Some((segment.sequence, text));
        }
        Ok(list)
    }

    /// Number of samples of each sequence, int64.
    #[getter]
    fn lengths<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        numbers(py, self.batch().segments().iter().map(|segment| u64::from(segment.samples)))
    }

    /// The first sample of each sequence in the minibatch, counted in its utterance from 0, int64.
    #[getter]
    fn starts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        numbers(py, self.batch().segments().iter().map(|segment| u64::from(segment.first)))
    }

    /// The number of samples before each sequence, and in all, int64: one entry more than
    /// sequences.
    #[getter]
    fn offsets<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        numbers(py, self.batch().offsets().iter().copied())
    }

    /// The rows of the sequences in a stream, int64 of shape (sequences, 2): the first row, counted
    /// over all rows of the array one after another, and the number of rows.
    fn rows<'py>(&self, py: Python<'py>, stream: &str) -> PyResult<Bound<'py, PyAny>> {
        let minibatch = self.batch();
        let unknown = || {
            let name = PyString::new(py, stream);
            errors::no_stream(name.as_any(), self.arrays.bind(py).keys().iter())
        };
        let batch = minibatch.stream(stream).ok_or_else(unknown)?;
        let rows: Vec<i64> = (0..minibatch.len())
            .flat_map(|segment| {
                let (first, count) = batch.rows_of(segment);
                [first as i64, count as i64]
            })
            .collect();
        values::array(py, &[rows.len() / 2, 2], rows)
    }

    /// Number of sequences, or of frames if frames are dealt out.
    #[getter]
    fn sequences(&self) -> usize {
        self.batch().len()
    }

    /// Number of samples, without padding.
    #[getter]
    fn samples(&self) -> usize {
        self.batch().samples()
    }

    /// Number of this minibatch of this rank since the very start, from 0.
    #[getter]
    fn index(&self) -> u64 {
        self.batch().index()
    }

    /// The sweep of this minibatch, from 0.
    #[getter]
    fn sweep(&self) -> u64 {
        self.batch().sweep()
    }

    /// Whether the sweep ends with it, on all ranks.
    #[getter]
    fn end_of_sweep(&self) -> bool {
        self.batch().end_of_sweep()
    }

    /// The layout of samples in the arrays: frames, padded, concatenated, packed or truncated.
    #[getter]
    fn layout(&self) -> &'static str {
        match self.batch().layout() {
            Layout::Frames => "frames",
            Layout::Padded => "padded",
            Layout::Concatenated => "concatenated",
            Layout::Packed => "packed",
            Layout::Truncated => "truncated",
        }
    }

    /// The state of the feed after this minibatch, for `Feed.load_state_dict`.
    fn state_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        py.import("json")?.call_method1("loads", (self.batch().state().to_json(),))
    }

    fn __getitem__<'py>(
        &self,
        py: Python<'py>,
        stream: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let arrays = self.arrays.bind(py);
        arrays.get_item(stream)?.ok_or_else(|| errors::no_stream(stream, arrays.keys().iter()))
    }

    fn __contains__(&self, py: Python<'_>, stream: &Bound<'_, PyAny>) -> PyResult<bool> {
        self.arrays.bind(py).contains(stream)
    }

    fn __len__(&self, py: Python<'_>) -> usize {
        self.arrays.bind(py).len()
    }

    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyIterator>> {
        self.arrays.bind(py).as_any().try_iter()
    }

    /// The names of the streams.
    fn keys<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.arrays.bind(py).call_method0("keys")
    }

    /// The arrays.
    fn values<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.arrays.bind(py).call_method0("values")
    }

    /// Pairs of name and array.
    fn items<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.arrays.bind(py).call_method0("items")
    }

    /// The array of a stream, or `default` if there is no such stream.
    #[pyo3(signature = (stream, default=None))]
    fn get<'py>(
        &self,
        py: Python<'py>,
        stream: &str,
        default: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        Ok(self.arrays.bind(py).get_item(stream)?.or(default))
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let mut parts =
            vec![format!("index={}", self.index()), format!("samples={}", self.samples())];
        for (name, array) in self.arrays.bind(py).iter() {
            parts.push(format!("{name}: {}", array.getattr("shape")?.repr()?));
        }
        Ok(format!("<seqfeed.Minibatch {}>", parts.join(", ")))
    }
}
