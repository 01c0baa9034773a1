//! The type of keys in Arrow files.

use arrow_schema::DataType;
use seqfeed_core::{Index, Key};

/// The type in which keys are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyType {
    /// Text (`utf8`).
    Text,
    /// Bytes (`binary`).
    Bytes,
    /// Numbers (`int64`).
    Number,
}

impl KeyType {
    /// The type that fits all keys of an index: numbers if all are decimal numbers in their usual
    /// form, else text, or bytes if a key is not UTF-8.
    ///
    /// ```
    /// use seqfeed_arrow::KeyType;
    /// use seqfeed_core::{IndexBuilder, Key};
    ///
    /// let of = |keys: &[&[u8]]| {
    ///     let mut builder = IndexBuilder::new(1);
    ///     keys.iter().for_each(|key| builder.push(Key(key), 1));
    ///     KeyType::of(&builder.finish())
    /// };
    /// assert_eq!(of(&[b"7", b"-12"]), KeyType::Number);
    /// assert_eq!(of(&[b"7", b"012"]), KeyType::Text);
    /// assert_eq!(of(&[b"7", b"\xff"]), KeyType::Bytes);
    /// ```
    #[must_use]
    pub fn of(index: &Index) -> Self {
        let all = |holds: &dyn Fn(Key<'_>) -> bool| {
            (0..index.len() as u32).all(|sequence| holds(index.key(sequence)))
        };
        match () {
            () if !index.is_empty() && all(&|key| number_of(key).is_some()) => KeyType::Number,
            () if all(&|key| key.as_str().is_some()) => KeyType::Text,
            () => KeyType::Bytes,
        }
    }

    pub(crate) fn data_type(self) -> DataType {
        match self {
            KeyType::Text => DataType::Utf8,
            KeyType::Bytes => DataType::Binary,
            KeyType::Number => DataType::Int64,
        }
    }
}

/// The number of a key, if the key is a number in its usual form.
pub(crate) fn number_of(key: Key<'_>) -> Option<i64> {
    let text = key.as_str()?;
    let number: i64 = text.parse().ok()?;
    (number.to_string() == text).then_some(number)
}
