//! The objects of the machine, and their conversion to values.

use std::sync::Arc;

use seqfeed_core::{Error, ErrorKind, Problem, Result};

use super::{Array, Bytes, Callable, Dtype, PICKLE, Value};

/// What lies on the stack: a small value, or the number of an object.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum StackValue {
    None,
    Bool(bool),
    Int(i64),
    Float(f64),
    Object(u32),
}

/// An object that several references may share and change.
#[derive(Debug)]
pub(super) enum Object {
    Bytes(Bytes),
    Text(String),
    /// A large text with one byte for each character.
    Latin1(Bytes),
    Tuple(Vec<StackValue>),
    List(Vec<StackValue>),
    Dict(Vec<(StackValue, StackValue)>),
    Callable(Callable),
    Dtype(Dtype),
    /// An array that has been made but not been filled.
    Unfilled,
    Array(Array),
}

/// All objects of a pickle.
///
/// An opcode makes at most one object, and the contents of an object came over the stack. So memory
/// is at most some fifty times the size of the pickle, and never more than the limit. The bytes of
/// strings and arrays are in the pickle themselves, and do not count.
pub(super) struct Heap {
    objects: Vec<Object>,
    taken: u64,
    limit: u64,
}

/// The deepest nesting of lists. It is deeper than any data need, and such a value can be dropped
/// without overflowing the stack.
const DEEPEST: usize = 100;

impl Heap {
    pub(super) fn new(limit: u64) -> Self {
        Self { objects: Vec::new(), taken: 0, limit }
    }

    /// Counts memory before it is taken.
    pub(super) fn charge(&mut self, bytes: usize) -> Result<()> {
        self.taken += bytes as u64;
        if self.taken > self.limit {
            return Err(Error::new(ErrorKind::Limit {
                what: "bytes of memory for the objects of a pickle (other than arrays)",
                wanted: self.taken,
                limit: self.limit,
            })
            .with_help("store numbers in arrays of numpy, not in lists"));
        }
        Ok(())
    }

    pub(super) fn add(&mut self, object: Object) -> Result<StackValue> {
        self.charge(size_of::<Object>())?;
        let Ok(number) = u32::try_from(self.objects.len()) else {
            return Err(Error::new(ErrorKind::Limit {
                what: "objects of a pickle",
                wanted: self.objects.len() as u64,
                limit: u32::MAX.into(),
            }));
        };
        self.objects.push(object);
        Ok(StackValue::Object(number))
    }

    pub(super) fn get(&self, item: StackValue) -> Option<&Object> {
        if let StackValue::Object(number) = item { self.objects.get(number as usize) } else { None }
    }

    pub(super) fn get_mut(&mut self, item: StackValue) -> Option<&mut Object> {
        if let StackValue::Object(number) = item {
            self.objects.get_mut(number as usize)
        } else {
            None
        }
    }

    pub(super) fn tuple(&self, item: StackValue) -> Option<&[StackValue]> {
        if let Some(Object::Tuple(items)) = self.get(item) { Some(items) } else { None }
    }

    /// The bytes of a string, or of a text whose characters all have one byte.
    pub(super) fn bytes(&self, item: StackValue) -> Option<Bytes> {
        match self.get(item)? {
            Object::Bytes(bytes) | Object::Latin1(bytes) => Some(bytes.clone()),
            Object::Text(text) => {
                let bytes: Option<Vec<u8>> = text.chars().map(|c| u8::try_from(c).ok()).collect();
                bytes.map(|bytes| bytes.as_slice().into())
            }
            _ => None,
        }
    }

    /// A description for messages.
    pub(super) fn describe(&self, item: StackValue) -> String {
        match item {
            StackValue::None => "None".to_owned(),
            StackValue::Bool(_) => "a bool".to_owned(),
            StackValue::Int(value) => format!("the integer {value}"),
            StackValue::Float(value) => format!("the float {value}"),
            StackValue::Object(_) => match self.get(item) {
                Some(Object::Bytes(_)) => "bytes".to_owned(),
                Some(Object::Text(_) | Object::Latin1(_)) => "a text".to_owned(),
                Some(Object::Tuple(items)) => format!("a tuple of {}", items.len()),
                Some(Object::List(items)) => format!("a list of {}", items.len()),
                Some(Object::Dict(items)) => format!("a dictionary of {}", items.len()),
                Some(Object::Callable(callable)) => format!("`{callable}`"),
                Some(Object::Dtype(_)) => "a type of numpy".to_owned(),
                Some(Object::Unfilled) => "an array without contents".to_owned(),
                Some(Object::Array(_)) => "an array".to_owned(),
                None => "nothing".to_owned(),
            },
        }
    }

    /// The value of an item, with all its contents. Shared objects stay shared.
    pub(super) fn into_value(self, item: StackValue) -> Result<Value> {
        let made = self.objects.iter().map(|_| None).collect();
        let mut values = Values { heap: self, made };
        values.value(item, 0)
    }
}

/// Converts objects to values.
struct Values {
    heap: Heap,
    made: Vec<Option<Value>>,
}

impl Values {
    fn value(&mut self, item: StackValue, depth: usize) -> Result<Value> {
        let number = match item {
            StackValue::None => return Ok(Value::None),
            StackValue::Bool(value) => return Ok(Value::Bool(value)),
            StackValue::Int(value) => return Ok(Value::Int(value)),
            StackValue::Float(value) => return Ok(Value::Float(value)),
            StackValue::Object(number) => number as usize,
        };
        let refuse = |what: String| Err(Error::format(PICKLE, Problem::Unsupported(what.into())));
        if let Some(value) = &self.made[number] {
            return Ok(value.clone());
        }
        // An object that contains itself ends here too.
        if depth > DEEPEST {
            return refuse(format!("lists in lists, more than {DEEPEST} deep"));
        }
        let value = match &mut self.heap.objects[number] {
            Object::Bytes(bytes) => Value::Bytes(std::mem::take(bytes)),
            Object::Text(text) => Value::Text(std::mem::take(text).into()),
            Object::Latin1(bytes) => {
                let bytes = std::mem::take(bytes);
                Value::Text(
                    bytes
                        .as_slice()
                        .iter()
                        .map(|&byte| char::from(byte))
                        .collect::<String>()
                        .into(),
                )
            }
            Object::Tuple(items) => {
                let items = items.clone();
                Value::Tuple(self.values(&items, depth)?)
            }
            Object::List(items) => {
                let items = items.clone();
                Value::List(self.values(&items, depth)?)
            }
            Object::Dict(items) => {
                let items = items.clone();
                let pairs = items
                    .iter()
                    .map(|&(key, value)| {
                        Ok((self.value(key, depth + 1)?, self.value(value, depth + 1)?))
                    })
                    .collect::<Result<Vec<_>>>()?;
                Value::Dict(pairs.into())
            }
            Object::Array(array) => {
                let array = array.clone();
                self.heap.objects[number] = Object::Unfilled;
                Value::Array(array)
            }
            Object::Callable(_) | Object::Dtype(_) | Object::Unfilled => {
                return refuse(format!("{} is no data", self.heap.describe(item)));
            }
        };
        self.made[number] = Some(value.clone());
        Ok(value)
    }

    fn values(&mut self, items: &[StackValue], depth: usize) -> Result<Arc<[Value]>> {
        items.iter().map(|&item| self.value(item, depth + 1)).collect()
    }
}
