//! Arrays of keys and of lengths.

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef};
use arrow_schema::DataType;
use seqfeed_core::{Error, Key, Problem, Result};

use crate::ARROW;
use crate::piece::{EachKey, null_in};

/// Calls `each` with the key of each row.
pub(crate) fn each_key(array: &ArrayRef, each: &mut EachKey<'_>) -> Result<()> {
    if array.null_count() > 0 {
        return Err(null_in("of keys"));
    }
    macro_rules! numbers {
        ($($name:ident $type:ty),*) => {
            match array.data_type() {
                $(DataType::$name => {
                    for value in array.as_primitive::<$type>().values() {
                        each(Key(value.to_string().as_bytes()))?;
                    }
                    return Ok(());
                })*
                _ => {}
            }
        };
    }
    numbers!(Int8 Int8Type, Int16 Int16Type, Int32 Int32Type, Int64 Int64Type,
             UInt8 UInt8Type, UInt16 UInt16Type, UInt32 UInt32Type, UInt64 UInt64Type);
    if let Some(dictionary) = array.as_any_dictionary_opt() {
        let mut words = Vec::new();
        each_key(dictionary.values(), &mut |key| {
            words.push(key.0.to_vec());
            Ok(())
        })?;
        for word in dictionary.normalized_keys() {
            let word = words.get(word).ok_or_else(|| null_in("of keys"))?;
            each(Key(word))?;
        }
        return Ok(());
    }
    let mut give = |bytes: &[u8]| each(Key(bytes));
    match array.data_type() {
        DataType::Utf8 => {
            array.as_string::<i32>().iter().flatten().try_for_each(|k| give(k.as_bytes()))
        }
        DataType::LargeUtf8 => {
            array.as_string::<i64>().iter().flatten().try_for_each(|k| give(k.as_bytes()))
        }
        DataType::Utf8View => {
            array.as_string_view().iter().flatten().try_for_each(|k| give(k.as_bytes()))
        }
        DataType::Binary => array.as_binary::<i32>().iter().flatten().try_for_each(give),
        DataType::LargeBinary => array.as_binary::<i64>().iter().flatten().try_for_each(give),
        DataType::BinaryView => array.as_binary_view().iter().flatten().try_for_each(give),
        other => Err(Error::usage(format!("keys cannot be of type {other}"))),
    }
}

/// The lengths in an array.
pub(crate) fn lengths(array: &ArrayRef) -> Result<Vec<u32>> {
    if array.null_count() > 0 {
        return Err(null_in("of lengths"));
    }
    let Some(array) = array.as_primitive_opt::<Int32Type>() else {
        return Err(Error::usage(format!("lengths cannot be of type {}", array.data_type())));
    };
    let length = |&found: &i32| {
        u32::try_from(found).map_err(|_| {
            let (what, allowed) = ("the length of a sequence", "0 at least".into());
            Error::format(ARROW, Problem::OutOfRange { what, found: found.into(), allowed })
        })
    };
    array.values().iter().map(length).collect()
}
