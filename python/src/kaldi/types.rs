//! Readers of a type that is known only at run time.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::PyString;
use seqfeed::Result;
use seqfeed::io::{Input, LINE_LIMIT, Opener, RxFilename};
use seqfeed::kaldi::{
    AnyObject, Basic as _, Blob, CompactLattice, CompressedMatrix, GaussPosterior, Holder,
    HtkMatrix, Lattice, Matrix, MatrixShape, Mode, NnetChainExample, NnetExample, NumpyArray,
    ObjectReader, ObjectType, PackedMatrix, Posterior, RandomAccessReader, Range, ReadOptions,
    SequentialReader, SparseMatrix, SparseVector, StdVectorFst, Token, TokenVector, Vector, Wave,
    WaveInfo,
};
use seqfeed_core::{Error, Key};

use crate::errors;
use crate::kaldi::lent;
use crate::kaldi::own::{OpenRandom, Own, OwnType};
use crate::keys::Name;

/// What is read: an object, or what its header says of it.
#[derive(Clone)]
pub(crate) enum Value {
    Object(AnyObject),
    Own(Arc<Py<PyAny>>),
    Shape(MatrixShape),
    WaveInfo(WaveInfo),
}

/// What objects are read as.
#[derive(Clone)]
pub(crate) enum Wanted {
    Object(ObjectType),
    Shape,
    WaveInfo,
    Own(OwnType),
}

impl Wanted {
    /// From the argument `object_type`: a name, or a class.
    pub(crate) fn of(object_type: &Bound<'_, PyAny>) -> PyResult<Self> {
        let Ok(name) = object_type.cast::<PyString>() else {
            return OwnType::of(object_type).map(Self::Own);
        };
        Ok(match name.to_str()? {
            "matrix-shape" => Self::Shape,
            "wave-info" => Self::WaveInfo,
            name => Self::Object(errors::raise(name.parse())?),
        })
    }

    /// As [`of`](Self::of), where it need not be given.
    pub(crate) fn given(object_type: Option<&Bound<'_, PyAny>>) -> PyResult<Option<Self>> {
        object_type.map(Self::of).transpose()
    }

    /// What it was made from.
    pub(crate) fn to_python<'py>(&self, py: Python<'py>) -> Bound<'py, PyAny> {
        let name = match self {
            Self::Object(object_type) => object_type.name(),
            Self::Shape => "matrix-shape",
            Self::WaveInfo => "wave-info",
            Self::Own(own) => return own.class().bind(py).clone(),
        };
        PyString::new(py, name).into_any()
    }
}

/// A sequential reader of objects of some type.
pub(crate) trait Sequential: Send {
    fn next(&mut self, key: &mut Vec<u8>) -> Result<Option<Value>>;
    /// The next key; its object is read by `value`, once, or gone over.
    fn next_key(&mut self, key: &mut Vec<u8>) -> Result<bool>;
    fn value(&mut self) -> Result<Value>;
    /// Objects that `p` passed over.
    fn skipped(&self) -> u64;
}

/// A random-access reader of objects of some type.
pub(crate) trait Random: Send {
    fn take(&mut self, key: Key<'_>) -> Result<Option<Value>>;
    fn take_part(&mut self, key: Key<'_>, range: &Range) -> Result<Option<Value>>;
    fn contains(&mut self, key: Key<'_>) -> Result<bool>;
}

/// A reader, and what makes its objects values.
struct Typed<R, T>(R, fn(T) -> Value);

impl<T: Holder> Sequential for Typed<SequentialReader<T>, T> {
    fn next(&mut self, key: &mut Vec<u8>) -> Result<Option<Value>> {
        let Some(entry) = self.0.next() else { return Ok(None) };
        let (found, object) = entry?;
        *key = found;
        Ok(Some(self.1(object)))
    }

    fn next_key(&mut self, key: &mut Vec<u8>) -> Result<bool> {
        self.0.next_key(key)
    }

    fn value(&mut self) -> Result<Value> {
        self.0.take_value().map(self.1)
    }

    fn skipped(&self) -> u64 {
        self.0.report().skipped
    }
}

/// Matrices, in memory that is used again.
struct Matrices<T: Holder>(SequentialReader<T>, fn() -> T, fn(T) -> Value);

impl<T: Holder + Default> Sequential for Matrices<T> {
    fn next(&mut self, key: &mut Vec<u8>) -> Result<Option<Value>> {
        let mut object = self.1();
        Ok(self.0.next_into(key, &mut object)?.then(|| self.2(object)))
    }

    fn next_key(&mut self, key: &mut Vec<u8>) -> Result<bool> {
        self.0.next_key(key)
    }

    fn value(&mut self) -> Result<Value> {
        self.0.take_value().map(self.2)
    }

    fn skipped(&self) -> u64 {
        self.0.report().skipped
    }
}

/// A table whose keys another one gives: Kaldi's `RandomAccessTableReaderMapped`.
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

/// Opens a table for random access by keys that a map of tokens turns into those of the table.
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

/// A reader that was not told what there is: names of objects are no objects.
struct Guessed<R>(R);

impl<R: Sequential> Sequential for Guessed<R> {
    fn next(&mut self, key: &mut Vec<u8>) -> Result<Option<Value>> {
        let value = self.0.next(key)?;
        check_guess(value.as_ref(), Key(key))?;
        Ok(value)
    }

    fn next_key(&mut self, key: &mut Vec<u8>) -> Result<bool> {
        self.0.next_key(key)
    }

    fn value(&mut self) -> Result<Value> {
        let value = self.0.value()?;
        check_guess(Some(&value), Key(b""))?;
        Ok(value)
    }

    fn skipped(&self) -> u64 {
        self.0.skipped()
    }
}

impl<R: Random> Random for Guessed<R> {
    fn take(&mut self, key: Key<'_>) -> Result<Option<Value>> {
        let value = self.0.take(key)?;
        check_guess(value.as_ref(), key)?;
        Ok(value)
    }

    fn take_part(&mut self, key: Key<'_>, range: &Range) -> Result<Option<Value>> {
        self.0.take_part(key, range)
    }

    fn contains(&mut self, key: Key<'_>) -> Result<bool> {
        self.0.contains(key)
    }
}

/// Fails for what stands in script files: places in archives (`feats.ark:13`) and commands
/// (`sox a.wav - |`).
pub(crate) fn check_guess(value: Option<&Value>, key: Key<'_>) -> Result<()> {
    let name = match value {
        Some(Value::Object(AnyObject::Token(Token(name)))) => name.clone(),
        Some(Value::Object(AnyObject::TokenVector(TokenVector(words)))) => words.join(&b' '),
        _ => return Ok(()),
    };
    let parsed = RxFilename::parse(OsStr::from_bytes(&name));
    let is_name =
        parsed.is_ok_and(|name| name.offset().is_some() || name.location().command().is_some());
    if !is_name {
        return Ok(());
    }
    let name = name.escape_ascii();
    let what = format!("the value is the name of an object, `{name}`: is this a script file?");
    let error = Error::usage(what);
    let error = if key.0.is_empty() { error } else { error.of_key(key) };
    Err(error.with_help(
        "open it with `scp:` instead of `ark:`; as words, with object_type=\"token\" or \"token-vector\"",
    ))
}

/// What opens names, by the arguments of readers.
pub(crate) fn opener(allow_pipes: bool, line_limit: Option<usize>) -> Opener {
    Opener::allowing_pipes(allow_pipes).with_line_limit(line_limit.unwrap_or(LINE_LIMIT))
}

/// How tables are read, by the arguments of readers.
pub(crate) fn read_options(allow_pipes: bool, line_limit: Option<usize>) -> ReadOptions {
    ReadOptions { opener: opener(allow_pipes, line_limit), ..ReadOptions::default() }
}

/// What is read in order: a table by its name, or a stream with an archive.
pub(crate) enum Origin<'a> {
    Named(&'a Name),
    Stream(Box<Input>),
}

impl Origin<'_> {
    pub(crate) fn open<T: Holder>(self, options: &ReadOptions) -> Result<SequentialReader<T>> {
        match self {
            Self::Named(rspecifier) => SequentialReader::open_with(rspecifier, options),
            Self::Stream(stream) => Ok(SequentialReader::of_stream(*stream, options)),
        }
    }
}

/// Opens a table in order; without a type, that of its objects is learned from the data.
pub(crate) fn open_sequential(
    origin: Origin<'_>,
    wanted: Option<Wanted>,
    options: &ReadOptions,
) -> Result<Box<dyn Sequential>> {
    match wanted {
        None => Ok(Box::new(Guessed(Matrices(
            origin.open(options)?,
            || AnyObject::FloatMatrix(lent::matrix()),
            Value::Object,
        )))),
        Some(Wanted::Object(ObjectType::FloatMatrix)) => {
            Ok(Box::new(Matrices(origin.open(options)?, lent::matrix::<f32>, |matrix| {
                Value::Object(AnyObject::FloatMatrix(matrix))
            })))
        }
        Some(Wanted::Object(ObjectType::DoubleMatrix)) => {
            Ok(Box::new(Matrices(origin.open(options)?, lent::matrix::<f64>, |matrix| {
                Value::Object(AnyObject::DoubleMatrix(matrix))
            })))
        }
        Some(wanted) => open_sequential_as(origin, wanted, options),
    }
}

impl<T: Holder + Clone> Random for Typed<RandomAccessReader<T>, T> {
    fn take(&mut self, key: Key<'_>) -> Result<Option<Value>> {
        Ok(self.0.take(key)?.map(self.1))
    }

    fn take_part(&mut self, key: Key<'_>, range: &Range) -> Result<Option<Value>> {
        Ok(self.0.take_part(key, range)?.map(self.1))
    }

    fn contains(&mut self, key: Key<'_>) -> Result<bool> {
        self.0.contains(key)
    }
}

macro_rules! readers {
    ($($variant:ident($type:ty),)*) => {
        fn open_sequential_as(
            origin: Origin<'_>,
            wanted: Wanted,
            options: &ReadOptions,
        ) -> Result<Box<dyn Sequential>> {
            match wanted {
                Wanted::Shape => Ok(Box::new(Typed(origin.open(options)?, Value::Shape))),
                Wanted::WaveInfo => Ok(Box::new(Typed(origin.open(options)?, Value::WaveInfo))),
                Wanted::Own(own) => own.open_sequential(origin, options),
                $(Wanted::Object(ObjectType::$variant) => Ok(Box::new(Typed(
                    origin.open::<$type>(options)?,
                    |object| Value::Object(AnyObject::$variant(object)),
                ))),)*
                Wanted::Object(other) => Err(unknown(other)),
            }
        }

        /// Opens a table for random access.
        pub(crate) fn open_random(
            rspecifier: &Name,
            wanted: Option<Wanted>,
            options: &ReadOptions,
        ) -> Result<Box<dyn Random>> {
            match wanted {
                None => Ok(Box::new(Guessed(Typed(
                    RandomAccessReader::open_with(rspecifier, options)?,
                    Value::Object,
                )))),
                Some(Wanted::Own(own)) => own.open_random(&Named(rspecifier, options)),
                Some(Wanted::Shape) => Ok(Box::new(Typed(
                    RandomAccessReader::open_with(rspecifier, options)?,
                    Value::Shape,
                ))),
                Some(Wanted::WaveInfo) => Ok(Box::new(Typed(
                    RandomAccessReader::open_with(rspecifier, options)?,
                    Value::WaveInfo,
                ))),
                $(Some(Wanted::Object(ObjectType::$variant)) => Ok(Box::new(Typed(
                    RandomAccessReader::<$type>::open_with(rspecifier, options)?,
                    |object| Value::Object(AnyObject::$variant(object)),
                ))),)*
                Some(Wanted::Object(other)) => Err(unknown(other)),
            }
        }

        impl Wanted {
            /// Reads an object inside of another one, without a header of its own.
            pub(crate) fn read_inside(&self, reader: &mut ObjectReader, mode: Mode) -> Result<Value> {
                match self {
                    Self::Shape => MatrixShape::read(reader, mode).map(Value::Shape),
                    Self::WaveInfo => WaveInfo::read(reader, mode).map(Value::WaveInfo),
                    Self::Own(own) => own.read_inside(reader, mode),
                    $(Self::Object(ObjectType::$variant) => <$type as Holder>::read(reader, mode)
                        .map(|object| Value::Object(AnyObject::$variant(object))),)*
                    Self::Object(other) => Err(unknown(*other)),
                }
            }
        }

        /// Appends an object inside of another one, without a header of its own.
        pub(crate) fn write_inside(
            object: &AnyObject,
            out: &mut Vec<u8>,
            mode: Mode,
        ) -> Result<()> {
            match object {
                $(AnyObject::$variant(object) => object.write(out, mode),)*
                other => Err(unknown(other.object_type())),
            }
        }
    };
}

macro_rules! basics {
    ($($variant:ident($type:ty),)*) => {
        /// The types of basic values.
        #[derive(Clone, Copy)]
        pub(crate) enum Basic {
            $($variant,)*
        }

        impl Basic {
            pub(crate) fn object_type(self) -> ObjectType {
                match self {
                    $(Self::$variant => ObjectType::$variant,)*
                }
            }

            /// Reads a value inside of an object.
            pub(crate) fn read(self, reader: &mut ObjectReader, mode: Mode) -> Result<Value> {
                match self {
                    $(Self::$variant => reader
                        .read_basic::<$type>(mode)
                        .map(|value| Value::Object(AnyObject::$variant(value))),)*
                }
            }
        }

        /// Appends a value of a basic type.
        pub(crate) fn write_basic(value: &AnyObject, out: &mut Vec<u8>, mode: Mode) {
            match value {
                $(AnyObject::$variant(value) => value.write_basic(out, mode),)*
                _ => {}
            }
        }

        impl std::str::FromStr for Basic {
            type Err = Error;

            fn from_str(name: &str) -> Result<Self> {
                match name.parse() {
                    $(Ok(ObjectType::$variant) => Ok(Self::$variant),)*
                    _ => {
                        let names = [$(ObjectType::$variant.name()),*].join(", ");
                        Err(Error::usage(format!("there is no basic type `{name}`"))
                            .with_help(format!("they are {names}")))
                    }
                }
            }
        }
    };
}

// All types that are read. Basic values also stand inside of objects.
macro_rules! types {
    (basic { $($basic:ident($basic_type:ty),)* } $($variant:ident($type:ty),)*) => {
        readers! { $($basic($basic_type),)* $($variant($type),)* }
        basics! { $($basic($basic_type),)* }
    };
}

types! {
    basic {
        Int8(i8),
        Int16(i16),
        Int32(i32),
        Int64(i64),
        Uint8(u8),
        Uint16(u16),
        Uint32(u32),
        Uint64(u64),
        Float(f32),
        Double(f64),
        Bool(bool),
    }
    FloatMatrix(Matrix<f32>),
    DoubleMatrix(Matrix<f64>),
    FloatVector(Vector<f32>),
    DoubleVector(Vector<f64>),
    CompressedMatrix(CompressedMatrix),
    SparseMatrix(SparseMatrix<f32>),
    SparseVector(SparseVector<f32>),
    DoubleSparseMatrix(SparseMatrix<f64>),
    DoubleSparseVector(SparseVector<f64>),
    FloatPackedMatrix(PackedMatrix<f32>),
    DoublePackedMatrix(PackedMatrix<f64>),
    Int32Vector(Vec<i32>),
    Int8Vector(Vec<i8>),
    Int16Vector(Vec<i16>),
    Int64Vector(Vec<i64>),
    FloatBasicVector(Vec<f32>),
    DoubleBasicVector(Vec<f64>),
    Int32VectorVector(Vec<Vec<i32>>),
    Int32PairVector(Vec<(i32, i32)>),
    FloatPairVector(Vec<(f32, f32)>),
    Token(Token),
    TokenVector(TokenVector),
    Posterior(Posterior),
    GaussPosterior(GaussPosterior),
    Wave(Wave),
    HtkMatrix(HtkMatrix),
    NnetExample(NnetExample),
    NnetChainExample(NnetChainExample),
    Fst(StdVectorFst),
    Lattice(Lattice),
    CompactLattice(CompactLattice),
    Blob(Blob),
    FloatNumpyArray(NumpyArray<f32>),
    DoubleNumpyArray(NumpyArray<f64>),
}

/// A table that is to be opened for objects of an own type.
struct Named<'a>(&'a Name, &'a ReadOptions);

impl OpenRandom for Named<'_> {
    fn with_header(&self) -> Result<RandomAccessReader<Own<true>>> {
        RandomAccessReader::open_with(self.0, self.1)
    }

    fn without_header(&self) -> Result<RandomAccessReader<Own<false>>> {
        RandomAccessReader::open_with(self.0, self.1)
    }
}

fn unknown(object_type: ObjectType) -> Error {
    Error::usage(format!("tables of {object_type} cannot be read from Python"))
}

/// Reads one object, of a type or of any.
pub(crate) fn read_one(reader: &mut ObjectReader, wanted: Option<&Wanted>) -> Result<Value> {
    match wanted {
        Some(Wanted::Object(object_type)) => {
            AnyObject::read_as(*object_type, reader).map(Value::Object)
        }
        Some(Wanted::Shape) => reader.read().map(Value::Shape),
        Some(Wanted::WaveInfo) => reader.read().map(Value::WaveInfo),
        Some(Wanted::Own(own)) => own.read(reader),
        None => reader.read_any().map(Value::Object),
    }
}

impl Value {
    /// The part of it that a range means.
    pub(crate) fn extract(self, range: &Range) -> Result<Self> {
        match self {
            Self::Object(object) => object.extract(range).map(Self::Object),
            Self::Shape(shape) => shape.extract(range).map(Self::Shape),
            Self::WaveInfo(info) => info.extract(range).map(Self::WaveInfo),
            Self::Own(own) => Own::<true>(own).extract(range).map(|own| Self::Own(own.0)),
        }
    }
}
