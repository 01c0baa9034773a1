//! Readers of a type that is known only at run time.

use seqfeed::Result;
use seqfeed::io::Policy;
use seqfeed::kaldi::{
    AnyObject, Blob, CompactLattice, CompressedMatrix, GaussPosterior, Holder, HtkMatrix, Lattice,
    Matrix, MatrixShape, NnetChainExample, NnetExample, NumpyArray, ObjectReader, ObjectType,
    PackedMatrix, Posterior, RandomAccessReader, Range, SequentialReader, SparseMatrix,
    SparseVector, StdVectorFst, Token, TokenVector, Vector, Wave, WaveInfo,
};
use seqfeed_core::{Error, Key};

use crate::kaldi::lent;

/// What is read: an object, or what its header says of it.
#[derive(Clone)]
pub(crate) enum Value {
    Object(AnyObject),
    Shape(MatrixShape),
    WaveInfo(WaveInfo),
}

/// What objects are read as.
#[derive(Clone, Copy)]
pub(crate) enum Wanted {
    Object(ObjectType),
    Shape,
    WaveInfo,
}

impl Wanted {
    /// From the argument `object_type`.
    pub(crate) fn parse(name: Option<&str>) -> Result<Option<Self>> {
        Ok(match name {
            None => None,
            Some("matrix-shape") => Some(Self::Shape),
            Some("wave-info") => Some(Self::WaveInfo),
            Some(name) => Some(Self::Object(name.parse()?)),
        })
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Object(object_type) => object_type.name(),
            Self::Shape => "matrix-shape",
            Self::WaveInfo => "wave-info",
        }
    }
}

/// A sequential reader of objects of some type.
pub(crate) trait Sequential: Send {
    fn next(&mut self, key: &mut Vec<u8>) -> Result<Option<Value>>;
    fn next_key(&mut self, key: &mut Vec<u8>) -> Result<bool>;
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

    fn skipped(&self) -> u64 {
        self.0.report().skipped
    }
}

/// Opens a table in order; without a type, each object's is learned from its data.
pub(crate) fn open_sequential(
    rspecifier: &str,
    wanted: Option<Wanted>,
    policy: &Policy,
) -> Result<Box<dyn Sequential>> {
    match wanted {
        None => Ok(Box::new(Matrices(
            SequentialReader::open(rspecifier, policy)?,
            || AnyObject::FloatMatrix(lent::matrix()),
            Value::Object,
        ))),
        Some(Wanted::Object(ObjectType::FloatMatrix)) => Ok(Box::new(Matrices(
            SequentialReader::open(rspecifier, policy)?,
            lent::matrix::<f32>,
            |matrix| Value::Object(AnyObject::FloatMatrix(matrix)),
        ))),
        Some(Wanted::Object(ObjectType::DoubleMatrix)) => Ok(Box::new(Matrices(
            SequentialReader::open(rspecifier, policy)?,
            lent::matrix::<f64>,
            |matrix| Value::Object(AnyObject::DoubleMatrix(matrix)),
        ))),
        Some(wanted) => open_sequential_as(rspecifier, wanted, policy),
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
            rspecifier: &str,
            wanted: Wanted,
            policy: &Policy,
        ) -> Result<Box<dyn Sequential>> {
            match wanted {
                Wanted::Shape => Ok(Box::new(Typed(
                    SequentialReader::open(rspecifier, policy)?,
                    Value::Shape,
                ))),
                Wanted::WaveInfo => Ok(Box::new(Typed(
                    SequentialReader::open(rspecifier, policy)?,
                    Value::WaveInfo,
                ))),
                $(Wanted::Object(ObjectType::$variant) => Ok(Box::new(Typed(
                    SequentialReader::<$type>::open(rspecifier, policy)?,
                    |object| Value::Object(AnyObject::$variant(object)),
                ))),)*
                Wanted::Object(other) => Err(unknown(other)),
            }
        }

        /// Opens a table for random access.
        pub(crate) fn open_random(
            rspecifier: &str,
            wanted: Option<Wanted>,
            policy: &Policy,
        ) -> Result<Box<dyn Random>> {
            match wanted {
                None => Ok(Box::new(Typed(
                    RandomAccessReader::open(rspecifier, policy)?,
                    Value::Object,
                ))),
                Some(Wanted::Shape) => Ok(Box::new(Typed(
                    RandomAccessReader::open(rspecifier, policy)?,
                    Value::Shape,
                ))),
                Some(Wanted::WaveInfo) => Ok(Box::new(Typed(
                    RandomAccessReader::open(rspecifier, policy)?,
                    Value::WaveInfo,
                ))),
                $(Some(Wanted::Object(ObjectType::$variant)) => Ok(Box::new(Typed(
                    RandomAccessReader::<$type>::open(rspecifier, policy)?,
                    |object| Value::Object(AnyObject::$variant(object)),
                ))),)*
                Some(Wanted::Object(other)) => Err(unknown(other)),
            }
        }
    };
}

readers! {
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
    Int32Vector(Vec<i32>),
    Int8Vector(Vec<i8>),
    Int16Vector(Vec<i16>),
    Int64Vector(Vec<i64>),
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

fn unknown(object_type: ObjectType) -> Error {
    Error::usage(format!("tables of {object_type} cannot be read from Python"))
}

/// Reads one object, of a type or of any.
pub(crate) fn read_one(reader: &mut ObjectReader, wanted: Option<Wanted>) -> Result<Value> {
    match wanted {
        Some(Wanted::Object(object_type)) => {
            AnyObject::read_as(object_type, reader).map(Value::Object)
        }
        Some(Wanted::Shape) => reader.read().map(Value::Shape),
        Some(Wanted::WaveInfo) => reader.read().map(Value::WaveInfo),
        None => reader.read().map(Value::Object),
    }
}

impl Value {
    /// The part of it that a range means.
    pub(crate) fn extract(self, range: &Range) -> Result<Self> {
        match self {
            Self::Object(object) => object.extract(range).map(Self::Object),
            Self::Shape(shape) => shape.extract(range).map(Self::Shape),
            Self::WaveInfo(info) => info.extract(range).map(Self::WaveInfo),
        }
    }
}
