//! The values in a pickle.

use std::sync::Arc;

use super::{Array, Bytes};

/// A value from a pickle. A clone shares its contents.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Value {
    /// `None`.
    None,
    /// `True` or `False`.
    Bool(bool),
    /// An integer of 64 bits, also one of numpy's.
    Int(i64),
    /// A float, also one of numpy's.
    Float(f64),
    /// `bytes`, or a `str` of Python 2.
    Bytes(Bytes),
    /// A text.
    Text(Arc<str>),
    /// A tuple.
    Tuple(Arc<[Value]>),
    /// A list.
    List(Arc<[Value]>),
    /// A dictionary, in the order in which it was filled.
    Dict(Arc<[(Value, Value)]>),
    /// An array of numbers.
    Array(Array),
}

impl Value {
    /// A text, or a `str` of Python 2 that is valid text.
    #[must_use]
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Value::Text(text) => Some(text),
            Value::Bytes(bytes) => std::str::from_utf8(bytes.as_slice()).ok(),
            _ => None,
        }
    }

    /// An array.
    #[must_use]
    pub fn as_array(&self) -> Option<&Array> {
        if let Value::Array(array) = self { Some(array) } else { None }
    }

    /// A description for messages.
    pub(super) fn description(&self) -> String {
        match self {
            Value::None => "None".to_owned(),
            Value::Bool(_) => "a bool".to_owned(),
            Value::Int(_) => "an integer".to_owned(),
            Value::Float(_) => "a float".to_owned(),
            Value::Bytes(_) => "bytes".to_owned(),
            Value::Text(_) => "a text".to_owned(),
            Value::Tuple(items) => format!("a tuple of {}", items.len()),
            Value::List(items) => format!("a list of {}", items.len()),
            Value::Dict(items) => format!("a dictionary of {}", items.len()),
            Value::Array(array) => array.description(),
        }
    }
}
