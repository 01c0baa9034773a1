//! Readers of a type that is known only at run time.

use seqfeed::Result;
use seqfeed::io::Policy;
use seqfeed::kaldi::{
    AnyObject, CompactLattice, CompressedMatrix, GaussPosterior, Holder, HtkMatrix, Lattice,
    Matrix, NnetChainExample, NnetExample, NumpyArray, ObjectReader, ObjectType, PackedMatrix,
    Posterior, RandomAccessReader, Range, SequentialReader, SparseMatrix, SparseVector,
    StdVectorFst, Token, TokenVector, Vector, Wave,
};
use seqfeed_core::{Error, Key};

/// A sequential reader of objects of some type.
pub(crate) trait Sequential: Send {
    fn next(&mut self, key: &mut Vec<u8>) -> Result<Option<AnyObject>>;
    fn next_key(&mut self, key: &mut Vec<u8>) -> Result<bool>;
    /// Objects that `p` passed over.
    fn skipped(&self) -> u64;
}

/// A random-access reader of objects of some type.
pub(crate) trait Random: Send {
    fn take(&mut self, key: Key<'_>) -> Result<Option<AnyObject>>;
    fn take_part(&mut self, key: Key<'_>, range: &Range) -> Result<Option<AnyObject>>;
    fn contains(&mut self, key: Key<'_>) -> Result<bool>;
}

/// A reader, and what makes its objects any objects.
struct Typed<R, T>(R, fn(T) -> AnyObject);

impl<T: Holder> Sequential for Typed<SequentialReader<T>, T> {
    fn next(&mut self, key: &mut Vec<u8>) -> Result<Option<AnyObject>> {
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

impl<T: Holder + Clone> Random for Typed<RandomAccessReader<T>, T> {
    fn take(&mut self, key: Key<'_>) -> Result<Option<AnyObject>> {
        Ok(self.0.take(key)?.map(self.1))
    }

    fn take_part(&mut self, key: Key<'_>, range: &Range) -> Result<Option<AnyObject>> {
        Ok(self.0.take_part(key, range)?.map(self.1))
    }

    fn contains(&mut self, key: Key<'_>) -> Result<bool> {
        self.0.contains(key)
    }
}

macro_rules! readers {
    ($($variant:ident($type:ty),)*) => {
        /// Opens a table in order; without a type, each object's is learned from its data.
        pub(crate) fn open_sequential(
            rspecifier: &str,
            object_type: Option<ObjectType>,
            policy: &Policy,
        ) -> Result<Box<dyn Sequential>> {
            match object_type {
                None => Ok(Box::new(Typed(SequentialReader::open(rspecifier, policy)?, same))),
                $(Some(ObjectType::$variant) => Ok(Box::new(Typed(
                    SequentialReader::<$type>::open(rspecifier, policy)?,
                    AnyObject::$variant,
                ))),)*
                Some(other) => Err(unknown(other)),
            }
        }

        /// Opens a table for random access.
        pub(crate) fn open_random(
            rspecifier: &str,
            object_type: Option<ObjectType>,
            policy: &Policy,
        ) -> Result<Box<dyn Random>> {
            match object_type {
                None => Ok(Box::new(Typed(RandomAccessReader::open(rspecifier, policy)?, same))),
                $(Some(ObjectType::$variant) => Ok(Box::new(Typed(
                    RandomAccessReader::<$type>::open(rspecifier, policy)?,
                    AnyObject::$variant,
                ))),)*
                Some(other) => Err(unknown(other)),
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
    FloatNumpyArray(NumpyArray<f32>),
    DoubleNumpyArray(NumpyArray<f64>),
}

fn same(object: AnyObject) -> AnyObject {
    object
}

fn unknown(object_type: ObjectType) -> Error {
    Error::usage(format!("tables of {object_type} cannot be read from Python"))
}

/// Reads one object, of a type or of any.
pub(crate) fn read_one(
    reader: &mut ObjectReader,
    object_type: Option<ObjectType>,
) -> Result<AnyObject> {
    match object_type {
        Some(object_type) => AnyObject::read_as(object_type, reader),
        None => reader.read(),
    }
}
