//! The types of objects.

use seqfeed_core::{Error, Result};

/// Hands all types to a macro: the name of each, what holds it, and what it is called.
macro_rules! with_object_types {
    ($macro:ident) => {
        $macro! {
            /// [`Matrix<f32>`](crate::Matrix).
            FloatMatrix(Matrix<f32>) = "float-matrix",
            /// [`Matrix<f64>`](crate::Matrix).
            DoubleMatrix(Matrix<f64>) = "double-matrix",
            /// [`Vector<f32>`](crate::Vector).
            FloatVector(Vector<f32>) = "float-vector",
            /// [`Vector<f64>`](crate::Vector).
            DoubleVector(Vector<f64>) = "double-vector",
            /// [`CompressedMatrix`](crate::CompressedMatrix).
            CompressedMatrix(CompressedMatrix) = "compressed-matrix",
            /// [`SparseMatrix<f32>`](crate::SparseMatrix).
            SparseMatrix(SparseMatrix<f32>) = "sparse-matrix",
            /// [`SparseVector<f32>`](crate::SparseVector).
            SparseVector(SparseVector<f32>) = "sparse-vector",
            /// [`SparseMatrix<f64>`](crate::SparseMatrix).
            DoubleSparseMatrix(SparseMatrix<f64>) = "double-sparse-matrix",
            /// [`SparseVector<f64>`](crate::SparseVector).
            DoubleSparseVector(SparseVector<f64>) = "double-sparse-vector",
            /// [`PackedMatrix<f32>`](crate::PackedMatrix).
            FloatPackedMatrix(PackedMatrix<f32>) = "float-packed-matrix",
            /// [`PackedMatrix<f64>`](crate::PackedMatrix).
            DoublePackedMatrix(PackedMatrix<f64>) = "double-packed-matrix",
            /// An integer of 8 bits.
            Int8(i8) = "int8",
            /// An integer of 16 bits.
            Int16(i16) = "int16",
            /// An integer of 32 bits.
            Int32(i32) = "int32",
            /// An integer of 64 bits.
            Int64(i64) = "int64",
            /// An unsigned integer of 8 bits.
            Uint8(u8) = "uint8",
            /// An unsigned integer of 16 bits.
            Uint16(u16) = "uint16",
            /// An unsigned integer of 32 bits.
            Uint32(u32) = "uint32",
            /// An unsigned integer of 64 bits.
            Uint64(u64) = "uint64",
            /// A float.
            Float(f32) = "float",
            /// A double.
            Double(f64) = "double",
            /// True or false.
            Bool(bool) = "bool",
            /// A vector of int32: alignments.
            Int32Vector(Vec<i32>) = "int32-vector",
            /// A vector of int8.
            Int8Vector(Vec<i8>) = "int8-vector",
            /// A vector of int16.
            Int16Vector(Vec<i16>) = "int16-vector",
            /// A vector of int64.
            Int64Vector(Vec<i64>) = "int64-vector",
            /// A vector of vectors of int32.
            Int32VectorVector(Vec<Vec<i32>>) = "int32-vector-vector",
            /// A vector of pairs of int32.
            Int32PairVector(Vec<(i32, i32)>) = "int32-pair-vector",
            /// A vector of pairs of floats.
            FloatPairVector(Vec<(f32, f32)>) = "float-pair-vector",
            /// A vector of floats as `std::vector<float>` is written. It is never found from the
            /// data, since only its values differ from a vector of int32.
            FloatBasicVector(Vec<f32>) = "float-basic-vector",
            /// A vector of doubles as `std::vector<double>` is written.
            DoubleBasicVector(Vec<f64>) = "double-basic-vector",
            /// [`Token`](crate::Token).
            Token(Token) = "token",
            /// [`TokenVector`](crate::TokenVector).
            TokenVector(TokenVector) = "token-vector",
            /// [`Posterior`](crate::Posterior).
            Posterior(Posterior) = "posterior",
            /// [`GaussPosterior`](crate::GaussPosterior).
            GaussPosterior(GaussPosterior) = "gauss-posterior",
            /// [`Wave`](crate::Wave).
            Wave(Wave) = "wave",
            /// [`HtkMatrix`](crate::HtkMatrix): never found from the data, since it has no mark.
            HtkMatrix(HtkMatrix) = "htk-matrix",
            /// [`NnetExample`](crate::NnetExample).
            NnetExample(NnetExample) = "nnet-example",
            /// [`NnetChainExample`](crate::NnetChainExample).
            NnetChainExample(NnetChainExample) = "nnet-chain-example",
            /// [`StdVectorFst`](crate::StdVectorFst).
            Fst(StdVectorFst) = "fst",
            /// [`Lattice`](crate::Lattice).
            Lattice(Lattice) = "lattice",
            /// [`CompactLattice`](crate::CompactLattice).
            CompactLattice(CompactLattice) = "compact-lattice",
            /// [`Blob`](crate::Blob): never found from the data.
            Blob(Blob) = "blob",
            /// [`NumpyArray<f32>`](crate::NumpyArray).
            FloatNumpyArray(NumpyArray<f32>) = "float-numpy-array",
            /// [`NumpyArray<f64>`](crate::NumpyArray).
            DoubleNumpyArray(NumpyArray<f64>) = "double-numpy-array",
        }
    };
}
pub(crate) use with_object_types;

macro_rules! object_types {
    ($($(#[$doc:meta])* $variant:ident($type:ty) = $name:literal,)*) => {
        /// The types of objects, with their names on command lines.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum ObjectType {
            $($(#[$doc])* $variant,)*
        }

        impl ObjectType {
            /// All types.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// The name: `float-matrix`.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)*
                }
            }
        }
    };
}
with_object_types!(object_types);

impl std::str::FromStr for ObjectType {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        Self::ALL.iter().copied().find(|object_type| object_type.name() == name).ok_or_else(|| {
            let names: Vec<&str> = Self::ALL.iter().map(|object_type| object_type.name()).collect();
            Error::usage(format!("there is no type of objects `{name}`"))
                .with_help(format!("the types are {}", names.join(", ")))
        })
    }
}

impl std::fmt::Display for ObjectType {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}
