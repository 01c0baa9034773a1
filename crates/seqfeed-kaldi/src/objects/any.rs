//! Objects of any type; the type is found from the data.

use seqfeed_core::Result;

use crate::holder::{Holder, Mode, write_object};
use crate::object_reader::ObjectReader;
use crate::objects::blob::Blob;
use crate::objects::compressed_matrix::CompressedMatrix;
use crate::objects::detect::fitting_types;
use crate::objects::egs::{NnetChainExample, NnetExample};
use crate::objects::fst::{CompactLattice, Lattice, StdVectorFst};
use crate::objects::gauss_posterior::GaussPosterior;
use crate::objects::htk::HtkMatrix;
use crate::objects::matrix::Matrix;
use crate::objects::numpy::NumpyArray;
use crate::objects::object_type::{ObjectType, with_object_types};
use crate::objects::packed_matrix::PackedMatrix;
use crate::objects::posterior::Posterior;
use crate::objects::sparse::{SparseMatrix, SparseVector};
use crate::objects::token::{Token, TokenVector};
use crate::objects::vector::Vector;
use crate::objects::wave::Wave;
use crate::range::Range;
use crate::specifier::{Rspecifier, TableKind};
use crate::tables::find_type::{Found, find_table_type, type_of_next};
use crate::tables::options::ReadOptions;
use crate::tables::typing::{Need, Typing};

macro_rules! any_object {
    ($($(#[$doc:meta])* $variant:ident($type:ty) = $name:literal,)*) => {
        /// An object of any type, for programs that find the type from the data.
        ///
        /// Most binary objects say their type. Integers do not: their type is found from their
        /// order and from the bytes behind them. Text is recognised by its form: a line of integers
        /// is a vector of integers. An object that is written again in the mode in which it was
        /// read gives the same bytes (if Kaldi wrote them). Some objects cannot be told apart, such
        /// as an empty matrix and an empty vector as text. They are read as the simpler type;
        /// [`read_as`](Self::read_as) takes a given type instead.
        ///
        /// ```
        /// use seqfeed_kaldi::{AnyObject, ObjectReader, ObjectType};
        ///
        /// let mut reader = ObjectReader::from_bytes("text", " [\n  1 2 \n  3 4 ]\n");
        /// let object: AnyObject = reader.read()?;
        /// assert_eq!(object.object_type(), ObjectType::FloatMatrix);
        /// # Ok::<(), seqfeed_core::Error>(())
        /// ```
        #[derive(Clone, Debug, PartialEq)]
        #[non_exhaustive]
        pub enum AnyObject {
            $($(#[$doc])* $variant($type),)*
        }

        impl AnyObject {
            /// The type.
            #[must_use]
            pub fn object_type(&self) -> ObjectType {
                match self {
                    $(Self::$variant(_) => ObjectType::$variant,)*
                }
            }

            /// Reads an object of a known type, with its `\0B` if it has one.
            ///
            /// # Errors
            ///
            /// As [`ObjectReader::read`].
            pub fn read_as(object_type: ObjectType, reader: &mut ObjectReader) -> Result<Self> {
                match object_type {
                    $(ObjectType::$variant => reader.read::<$type>().map(Self::$variant),)*
                }
            }

            /// Reads an object of a known type that has no header of its own, since it stands
            /// inside of another one.
            ///
            /// # Errors
            ///
            /// As [`Holder::read`].
            pub fn read_inside(
                object_type: ObjectType,
                reader: &mut ObjectReader,
                mode: Mode,
            ) -> Result<Self> {
                match object_type {
                    $(ObjectType::$variant => <$type>::read(reader, mode).map(Self::$variant),)*
                }
            }

            /// Appends the object without a header, as it stands inside of another one.
            ///
            /// # Errors
            ///
            /// As [`Holder::write`].
            pub fn write_inside(&self, out: &mut Vec<u8>, mode: Mode) -> Result<()> {
                match self {
                    $(Self::$variant(value) => value.write(out, mode),)*
                }
            }

            fn read_over(&mut self, object_type: ObjectType, reader: &mut ObjectReader) -> Result<()> {
                match (&mut *self, object_type) {
                    $((Self::$variant(value), ObjectType::$variant) => return reader.read_into(value),)*
                    _ => {}
                }
                *self = Self::read_as(object_type, reader)?;
                Ok(())
            }

            fn write_whole(&self, out: &mut Vec<u8>, mode: Mode) -> Result<()> {
                match self {
                    $(Self::$variant(value) => write_object(value, out, mode),)*
                }
            }

            fn read_part_as(
                object_type: ObjectType,
                reader: &mut ObjectReader,
                range: &Range,
            ) -> Result<Option<Self>> {
                match object_type {
                    $(ObjectType::$variant => {
                        Ok(reader.read_part::<$type>(range)?.map(Self::$variant))
                    })*
                }
            }

            fn extract_part(&self, range: &Range) -> Result<Self> {
                match self {
                    $(Self::$variant(value) => value.extract(range).map(Self::$variant),)*
                }
            }
        }

        impl ObjectReader {
            /// Skips an object of a type.
            pub(crate) fn skip_as(&mut self, object_type: ObjectType) -> Result<()> {
                match object_type {
                    $(ObjectType::$variant => self.skip::<$type>(),)*
                }
            }
        }
    };
}

with_object_types!(any_object);

impl AnyObject {
    /// Other types that fit the bytes of the object too, if nothing in them tells the type: small
    /// binary objects, and numbers. As text they would look different.
    ///
    /// ```
    /// use seqfeed_kaldi::{AnyObject, ObjectType, Posterior};
    ///
    /// let object = AnyObject::Int32PairVector(vec![(1, 7)]);
    /// assert_eq!(object.other_types(), [ObjectType::Int32VectorVector]); // of one vector with a 7
    /// assert!(AnyObject::Int32Vector(vec![5, 6, 7]).other_types().is_empty());
    /// ```
    #[must_use]
    pub fn other_types(&self) -> Vec<ObjectType> {
        let mut bytes = Vec::new();
        let ambiguous = matches!(
            self.object_type(),
            ObjectType::Int32
                | ObjectType::Float
                | ObjectType::Int64
                | ObjectType::Double
                | ObjectType::Int32Vector
                | ObjectType::Int32PairVector
                | ObjectType::FloatPairVector
                | ObjectType::Int32VectorVector
                | ObjectType::Posterior
        );
        if !ambiguous || self.write_whole(&mut bytes, Mode::Binary).is_err() {
            return Vec::new();
        }
        let mut types =
            fitting_types(bytes.strip_prefix(b"\0B").unwrap_or(&bytes), self.object_type());
        types.retain(|&other| other != self.object_type());
        types
    }
}

impl ObjectReader {
    /// Reads an object, and finds its type from the bytes, with its `\0B` if it has one. Unlike
    /// [`read`](Self::read), it does not choose if a binary object fits several types.
    ///
    /// # Errors
    ///
    /// As [`read`](Self::read), and if several types fit.
    pub fn read_any(&mut self) -> Result<AnyObject> {
        self.typing = Typing::by_object(Need::Values, false);
        self.read()
    }
}

impl Default for AnyObject {
    /// An empty float matrix: the most common type. Others are read into it.
    fn default() -> Self {
        Self::FloatMatrix(Matrix::default())
    }
}

impl Holder for AnyObject {
    const TYPE: &'static str = "object";
    const HEADER: bool = false;

    fn typing(table: &Rspecifier, options: &ReadOptions) -> Result<Typing> {
        if let Some(known) = options.object_type {
            return Ok(Typing::known(known));
        }
        let need = Need::of(options);
        let by_object = Typing::by_object(need, table.kind == TableKind::Archive);
        Ok(match find_table_type(table, options)? {
            Found::ByObject => by_object,
            Found::Settled(seen) => by_object.settled(seen),
            Found::Together(found) => {
                found.check(need)?;
                Typing::found(found)
            }
        })
    }

    fn typing_of_stream(options: &ReadOptions) -> Typing {
        match options.object_type {
            Some(known) => Typing::known(known),
            None => Typing::by_object(Need::of(options), true),
        }
    }

    fn read(reader: &mut ObjectReader, _: Mode) -> Result<Self> {
        let object_type = type_of_next(reader)?;
        Self::read_as(object_type, reader)
    }

    fn read_into(&mut self, reader: &mut ObjectReader, _: Mode) -> Result<()> {
        let object_type = type_of_next(reader)?;
        self.read_over(object_type, reader)
    }

    fn skip(reader: &mut ObjectReader, _: Mode) -> Result<()> {
        let object_type = type_of_next(reader)?;
        reader.skip_as(object_type)
    }

    fn read_part(reader: &mut ObjectReader, _: Mode, range: &Range) -> Result<Option<Self>> {
        if !reader.seek(reader.position())? {
            // The bytes behind the mark would not tell the type again.
            return Ok(None);
        }
        let object_type = type_of_next(reader)?;
        Self::read_part_as(object_type, reader, range)
    }

    fn write(&self, out: &mut Vec<u8>, mode: Mode) -> Result<()> {
        self.write_whole(out, mode)
    }

    fn extract(&self, range: &Range) -> Result<Self> {
        self.extract_part(range)
    }
}
