//! A pool of memory for matrices: fresh memory costs more than reading into it.

use std::mem::take;
use std::sync::Mutex;

use numpy::ndarray::{ArrayView, IxDyn};
use numpy::{Element, PyArrayDyn};
use pyo3::prelude::*;
use seqfeed::kaldi::Matrix;

use crate::values;

/// Smaller arrays have memory of their own: the allocator keeps it ready.
const SMALLEST: usize = 1 << 15;

/// The most buffers to keep.
const BUFFERS: usize = 8;
const BYTES: usize = 1 << 25;

/// Returned buffers of both types.
static RETURNED: Returned =
    Returned { floats: Mutex::new(Vec::new()), doubles: Mutex::new(Vec::new()) };

struct Returned {
    floats: Mutex<Vec<Vec<f32>>>,
    doubles: Mutex<Vec<Vec<f64>>>,
}

/// Floats and doubles.
pub(crate) trait Lendable: Element + Copy + 'static {
    fn returned() -> &'static Mutex<Vec<Vec<Self>>>;
    fn memory(values: Vec<Self>) -> Memory;
}

impl Lendable for f32 {
    fn returned() -> &'static Mutex<Vec<Vec<Self>>> {
        &RETURNED.floats
    }

    fn memory(values: Vec<Self>) -> Memory {
        Memory { floats: values, doubles: Vec::new() }
    }
}

impl Lendable for f64 {
    fn returned() -> &'static Mutex<Vec<Vec<Self>>> {
        &RETURNED.doubles
    }

    fn memory(values: Vec<Self>) -> Memory {
        Memory { floats: Vec::new(), doubles: values }
    }
}

/// A matrix to read into, with memory from the pool if there is any.
///
/// A lock that is held is not waited for: in a forked child, its holder may not exist.
pub(crate) fn matrix<T: Lendable>() -> Matrix<T> {
    let values = T::returned().try_lock().ok().and_then(|mut returned| returned.pop());
    Matrix { rows: 0, cols: 0, values: values.unwrap_or_default() }
}

fn give_back<T: Lendable>(values: Vec<T>) {
    if values.capacity() == 0 {
        return;
    }
    if let Ok(mut returned) = T::returned().try_lock() {
        let bytes = |values: &Vec<T>| values.capacity() * size_of::<T>();
        let kept: usize = returned.iter().map(bytes).sum();
        if returned.len() < BUFFERS && kept + bytes(&values) <= BYTES {
            returned.push(values);
        }
    }
}

/// The memory of an array: its base object.
#[pyclass(frozen, module = "seqfeed._seqfeed", name = "_MatrixMemory")]
pub(crate) struct Memory {
    floats: Vec<f32>,
    doubles: Vec<f64>,
}

impl Drop for Memory {
    fn drop(&mut self) {
        give_back(take(&mut self.floats));
        give_back(take(&mut self.doubles));
    }
}

/// Makes a matrix an array that owns its memory, and returns the memory to the pool at its end.
pub(crate) fn array<T: Lendable>(py: Python<'_>, matrix: Matrix<T>) -> PyResult<Bound<'_, PyAny>> {
    let Matrix { rows, cols, mut values } = matrix;
    // A vector with much spare room would waste memory that nobody can see.
    if values.capacity() > 4 * values.len() {
        let own = values.as_slice().to_vec();
        give_back(values);
        return values::array(py, &[rows, cols], own);
    }
    if values.len() * size_of::<T>() < SMALLEST || rows.checked_mul(cols) != Some(values.len()) {
        return values::array(py, &[rows, cols], values);
    }
    let place = values.as_mut_ptr();
    let memory = Bound::new(py, T::memory(values))?;
    // SAFETY: the vector stays at its address, in an object that nothing else can access, and that
    // the array keeps alive as its base. It has as many values as the shape says.
    Ok(unsafe {
        let view = ArrayView::from_shape_ptr(IxDyn(&[rows, cols]), place.cast_const());
        PyArrayDyn::borrow_from_array(&view, memory.into_any()).into_any()
    })
}
