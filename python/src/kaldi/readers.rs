//! Readers whose type is known only at run time.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

use seqfeed::Result;
use seqfeed::io::{LINE_LIMIT, Opener, RxFilename};
use seqfeed::kaldi::{
    AnyObject, Holder, MatrixShape, ObjectType, RandomAccessReader, Range, ReadOptions,
    SequentialReader, Token, TokenVector, WaveInfo,
};
use seqfeed_core::{Error, Key};

use crate::kaldi::{Origin, Random, Sequential, Value, Wanted, lent};
use crate::keys::Name;

/// Makes a value of the object of a key.
type ToValue<T> = fn(T, Key<'_>) -> Result<Value>;

/// A reader in order, and what it reads the next object in the place of.
struct InOrder<T: Holder>(SequentialReader<T>, fn() -> T, ToValue<T>);

impl<T: Holder + Default> Sequential for InOrder<T> {
    fn next(&mut self, key: &mut Vec<u8>) -> Result<Option<Value>> {
        let mut object = self.1();
        let found = self.0.next_into(key, &mut object)?;
        found.then(|| self.2(object, Key(key))).transpose()
    }

    fn next_key(&mut self, key: &mut Vec<u8>) -> Result<bool> {
        self.0.next_key(key)
    }

    fn value(&mut self) -> Result<Value> {
        self.2(self.0.take_value()?, Key(b""))
    }

    fn skipped(&self) -> u64 {
        self.0.report().skipped
    }
}

/// A reader for random access.
struct ByKey<T>(RandomAccessReader<T>, ToValue<T>);

impl<T: Holder + Clone> Random for ByKey<T> {
    fn take(&mut self, key: Key<'_>) -> Result<Option<Value>> {
        self.0.take(key)?.map(|object| self.1(object, key)).transpose()
    }

    fn take_part(&mut self, key: Key<'_>, range: &Range) -> Result<Option<Value>> {
        self.0.take_part(key, range)?.map(|object| self.1(object, key)).transpose()
    }

    fn contains(&mut self, key: Key<'_>) -> Result<bool> {
        self.0.contains(key)
    }
}

/// A table with keys from another table: Kaldi's `RandomAccessTableReaderMapped`.
struct Mapped {
    table: Box<dyn Random>,
    map: RandomAccessReader<Token>,
    map_name: Name,
}

impl Mapped {
    fn key(&mut self, key: Key<'_>) -> Result<Vec<u8>> {
        match self.map.get(key)? {
            Some(Token(mapped)) => Ok(mapped.clone()),
            None => Err(Error::corpus(format!("the map {} has no entry for it", self.map_name))
                .of_key(key)
                .with_help("add a line `key other-key` to it")),
        }
    }
}

impl Random for Mapped {
    fn take(&mut self, key: Key<'_>) -> Result<Option<Value>> {
        let mapped = self.key(key)?;
        self.table.take(Key(&mapped))
    }

    fn take_part(&mut self, key: Key<'_>, range: &Range) -> Result<Option<Value>> {
        let mapped = self.key(key)?;
        self.table.take_part(Key(&mapped), range)
    }

    fn contains(&mut self, key: Key<'_>) -> Result<bool> {
        let mapped = self.key(key)?;
        self.table.contains(Key(&mapped))
    }
}

/// Opens a table for random access, by keys that a map of tokens translates to those of the table.
pub(crate) fn open_mapped(
    rspecifier: &Name,
    map: &Name,
    wanted: Option<Wanted>,
    options: &ReadOptions,
) -> Result<Box<dyn Random>> {
    let table = open_random(rspecifier, wanted, options)?;
    let reader = RandomAccessReader::open_with(map, options)?;
    Ok(Box::new(Mapped { table, map: reader, map_name: map.clone() }))
}

/// The value of an object whose type nobody has said. It is no name of an object, as they stand in
/// script files: places in archives (`feats.ark:13`) and commands (`sox a.wav - |`).
fn guessed(object: AnyObject, key: Key<'_>) -> Result<Value> {
    let name = match &object {
        AnyObject::Token(Token(name)) => name.clone(),
        AnyObject::TokenVector(TokenVector(words)) => words.join(&b' '),
        _ => return Ok(Value::Object(object)),
    };
    let parsed = RxFilename::parse(OsStr::from_bytes(&name));
    let is_name =
        parsed.is_ok_and(|name| name.offset().is_some() || name.location().command().is_some());
    if !is_name {
        return Ok(Value::Object(object));
    }
    let name = name.escape_ascii();
    let what = format!("the value is the name of an object, `{name}`: is this a script file?");
    let error = Error::usage(what);
    let error = if key.0.is_empty() { error } else { error.of_key(key) };
    Err(error.with_help(
        "open it with `scp:` instead of `ark:`; as words, with object_type=\"token\" or \"token-vector\"",
    ))
}

/// What makes values of objects of a type, or of the type that they say.
fn to_value(object_type: Option<ObjectType>) -> ToValue<AnyObject> {
    match object_type {
        Some(_) => |object, _| Ok(Value::Object(object)),
        None => guessed,
    }
}

/// The opener for the arguments of readers.
pub(crate) fn opener(allow_pipes: bool, line_limit: Option<usize>) -> Opener {
    Opener::allowing_pipes(allow_pipes).with_line_limit(line_limit.unwrap_or(LINE_LIMIT))
}

/// The read options for the arguments of readers.
pub(crate) fn read_options(allow_pipes: bool, line_limit: Option<usize>) -> ReadOptions {
    ReadOptions { opener: opener(allow_pipes, line_limit), ..ReadOptions::default() }
}

/// Opens a table for reading in order. Without a given type, it is found from the data.
pub(crate) fn open_sequential(
    origin: Origin<'_>,
    wanted: Option<Wanted>,
    options: &ReadOptions,
) -> Result<Box<dyn Sequential>> {
    let object_type = match wanted {
        Some(Wanted::Own(own)) => return own.open_sequential(origin, options),
        Some(Wanted::Shape) => {
            let reader = origin.open(options)?;
            return Ok(Box::new(InOrder(reader, MatrixShape::default, |shape, _| {
                Ok(Value::Shape(shape))
            })));
        }
        Some(Wanted::WaveInfo) => {
            let reader = origin.open(options)?;
            return Ok(Box::new(InOrder(reader, WaveInfo::default, |info, _| {
                Ok(Value::WaveInfo(info))
            })));
        }
        Some(Wanted::Object(object_type)) => Some(object_type),
        None => None,
    };
    let reader = origin.open(&ReadOptions { object_type, ..options.clone() })?;
    // Matrices lie in memory that is used again.
    let empty: fn() -> AnyObject = match object_type {
        None | Some(ObjectType::FloatMatrix) => || AnyObject::FloatMatrix(lent::matrix()),
        Some(ObjectType::DoubleMatrix) => || AnyObject::DoubleMatrix(lent::matrix()),
        Some(_) => AnyObject::default,
    };
    Ok(Box::new(InOrder(reader, empty, to_value(object_type))))
}

/// Opens a table for random access.
pub(crate) fn open_random(
    rspecifier: &Name,
    wanted: Option<Wanted>,
    options: &ReadOptions,
) -> Result<Box<dyn Random>> {
    let object_type = match wanted {
        Some(Wanted::Own(own)) => return own.open_random(rspecifier, options),
        Some(Wanted::Shape) => {
            let reader = RandomAccessReader::open_with(rspecifier, options)?;
            return Ok(Box::new(ByKey(reader, |shape, _| Ok(Value::Shape(shape)))));
        }
        Some(Wanted::WaveInfo) => {
            let reader = RandomAccessReader::open_with(rspecifier, options)?;
            return Ok(Box::new(ByKey(reader, |info, _| Ok(Value::WaveInfo(info)))));
        }
        Some(Wanted::Object(object_type)) => Some(object_type),
        None => None,
    };
    let options = ReadOptions { object_type, ..options.clone() };
    let reader = RandomAccessReader::open_with(rspecifier, &options)?;
    Ok(Box::new(ByKey(reader, to_value(object_type))))
}
