//! The effects of the callables that make numpy's arrays. There are no others.

use seqfeed_core::Result;

use super::callable::{Callable, refused};
use super::objects::{Heap, Object, StackValue};
use super::{Array, Bytes, Dtype, Number, convert};

/// Calls a callable with a tuple of arguments.
pub(super) fn call(
    heap: &mut Heap,
    callable: StackValue,
    arguments: StackValue,
) -> Result<StackValue> {
    let Some(&Object::Callable(callable)) = heap.get(callable) else {
        return Err(refused(format!("{} cannot be called", heap.describe(callable))));
    };
    let wrong = |heap: &Heap| {
        let arguments = heap.tuple(arguments).unwrap_or(&[]);
        let arguments: Vec<String> =
            arguments.iter().take(6).map(|&item| heap.describe(item)).collect();
        refused(format!("`{callable}` cannot be made of ({})", arguments.join(", ")))
    };
    let Some(items) = heap.tuple(arguments) else { return Err(wrong(heap)) };
    let made = match (callable, items) {
        // Its other arguments do not matter: it is filled later, or is not data.
        (Callable::Reconstruct, [class, ..]) if is_ndarray(heap, *class) => Object::Unfilled,
        (Callable::NdArray, [_shape]) => Object::Unfilled,
        (Callable::Dtype, [code, ..]) => {
            let Some(code) = heap.bytes(*code) else { return Err(wrong(heap)) };
            Object::Dtype(dtype(code.as_slice())?)
        }
        (Callable::Scalar, [dtype, data]) => {
            let (Some(&Object::Dtype(dtype)), Some(data)) = (heap.get(*dtype), heap.bytes(*data))
            else {
                return Err(wrong(heap));
            };
            return match convert::scalar(data.as_slice(), dtype) {
                Some(Ok(integer)) if dtype.number == Number::Bool => {
                    Ok(StackValue::Bool(integer != 0))
                }
                Some(Ok(integer)) => Ok(StackValue::Int(integer)),
                Some(Err(float)) => Ok(StackValue::Float(float)),
                None => Err(wrong(heap)),
            };
        }
        (Callable::FromBuffer, [data, dtype, shape, order, rest @ ..])
            if rest.is_empty() || rest == [StackValue::None] =>
        {
            let order = heap.bytes(*order);
            let fortran = match order.as_ref().map(Bytes::as_slice) {
                Some(b"C") => false,
                Some(b"F") => true,
                _ => return Err(wrong(heap)),
            };
            Object::Array(array(heap, *shape, *dtype, fortran, *data)?)
        }
        (Callable::Encode, [text, coding, ..]) => {
            let coding = heap.bytes(*coding);
            let known: [&[u8]; 4] = [b"latin1", b"latin-1", b"iso-8859-1", b"ascii"];
            let bytes = match heap.get(*text) {
                Some(Object::Text(_) | Object::Latin1(_)) => heap.bytes(*text),
                _ => None,
            };
            match (bytes, coding) {
                (Some(bytes), Some(coding)) if known.contains(&coding.as_slice()) => {
                    Object::Bytes(bytes)
                }
                _ => return Err(wrong(heap)),
            }
        }
        (Callable::Bytes, []) => Object::Bytes(Bytes::default()),
        _ => return Err(wrong(heap)),
    };
    heap.add(made)
}

fn is_ndarray(heap: &Heap, item: StackValue) -> bool {
    matches!(heap.get(item), Some(Object::Callable(Callable::NdArray)))
}

fn dtype(code: &[u8]) -> Result<Dtype> {
    if let Some(dtype) = Dtype::from_description(code) {
        return Ok(dtype);
    }
    let shown = code[..code.len().min(32)].escape_ascii();
    if code.first() == Some(&b'O') {
        return Err(refused(format!("an array of objects (type `{shown}`) holds no numbers"))
            .with_help("make it an array of numbers: numpy.asarray(x, dtype='float32')"));
    }
    Err(refused(format!("arrays of type `{shown}` are not read"))
        .with_help("booleans, integers and floats of 16, 32 and 64 bits are"))
}

/// Sets the state of an object that was made.
pub(super) fn build(heap: &mut Heap, item: StackValue, state: StackValue) -> Result<()> {
    let wrong = |heap: &Heap| {
        let what = heap.describe(item);
        let state = heap.describe(state);
        refused(format!("{what} cannot be filled with {state}"))
    };
    let Some(items) = heap.tuple(state) else { return Err(wrong(heap)) };
    let filled = match (heap.get(item), items) {
        (
            Some(Object::Unfilled),
            [shape, dtype, fortran, data] | [_, shape, dtype, fortran, data],
        ) => {
            let fortran = matches!(fortran, StackValue::Bool(true) | StackValue::Int(1));
            Object::Array(array(heap, *shape, *dtype, fortran, *data)?)
        }
        (Some(Object::Dtype(dtype)), [_version, order, ..]) => {
            let Some(order) = heap.bytes(*order) else { return Err(wrong(heap)) };
            let &[order @ (b'<' | b'>' | b'=' | b'|')] = order.as_slice() else {
                return Err(wrong(heap));
            };
            Object::Dtype(dtype.with_order(order))
        }
        _ => return Err(wrong(heap)),
    };
    if let Some(object) = heap.get_mut(item) {
        *object = filled;
    }
    Ok(())
}

fn array(
    heap: &Heap,
    shape: StackValue,
    dtype: StackValue,
    fortran: bool,
    data: StackValue,
) -> Result<Array> {
    let Some(&Object::Dtype(dtype)) = heap.get(dtype) else {
        return Err(refused(format!("{} is not the type of an array", heap.describe(dtype))));
    };
    let dimension = |item: &StackValue| match item {
        StackValue::Int(dim) => usize::try_from(*dim).ok(),
        _ => None,
    };
    let dims = heap.tuple(shape);
    let Some(dims) =
        dims.and_then(|dims| dims.iter().map(dimension).collect::<Option<Vec<usize>>>())
    else {
        return Err(refused(format!("{} is not the shape of an array", heap.describe(shape))));
    };
    let Some(data) = heap.bytes(data) else {
        return Err(refused(format!(
            "{} is not the contents of an array of numbers",
            heap.describe(data)
        )));
    };
    Array::new(dims, dtype, fortran, data)
}
