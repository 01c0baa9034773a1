//! Basic values, which also stand inside of objects.

use seqfeed::Result;
use seqfeed::kaldi::{AnyObject, Basic as _, Mode, ObjectReader, ObjectType};
use seqfeed_core::Error;

use crate::kaldi::Value;

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

            /// Reads a value inside an object.
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

basics! {
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
