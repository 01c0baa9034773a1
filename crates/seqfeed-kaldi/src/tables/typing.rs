//! The type to read objects as, in readers of objects of any type.

use std::sync::Arc;

use seqfeed_core::{Error, Key, Result};

use crate::mode::Mode;
use crate::objects::object_type::ObjectType;

/// The known types of a table's objects. Readers pass it from one object to the next.
#[doc(hidden)]
#[derive(Clone, Debug, Default)]
pub struct Typing {
    /// The type of all objects.
    pub(crate) known: Option<ObjectType>,
    /// The findings about several objects together.
    pub(crate) found: Option<Arc<TableType>>,
    /// The type of the last object that says its type itself, or fits only one type. In text, the
    /// type that settles the types of others.
    pub(crate) seen: Option<ObjectType>,
    pub(crate) need: Need,
    /// Whether all objects are in this stream, and none was read yet.
    pub(crate) whole: bool,
}

/// The use of a type.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Need {
    /// None: the caller looks at other possible types itself.
    #[default]
    Nothing,
    Values,
    Writing(Mode),
}

impl Need {
    /// Whether another type would give other values, for objects in binary form or as text.
    pub(crate) fn tells_types_apart(self, binary: bool) -> bool {
        match self {
            Self::Nothing => false,
            Self::Values => true,
            Self::Writing(mode) => (mode == Mode::Binary) != binary,
        }
    }
}

impl Typing {
    /// All objects have this type.
    pub(crate) fn known(object_type: ObjectType) -> Self {
        Self { known: Some(object_type), ..Self::default() }
    }

    /// The findings about all objects together.
    pub(crate) fn found(found: TableType) -> Self {
        Self { known: found.object_type, found: Some(Arc::new(found)), ..Self::default() }
    }

    /// The type of each object is found when it is read. `whole` says that all objects are in one
    /// stream.
    pub(crate) fn by_object(need: Need, whole: bool) -> Self {
        Self { need, whole, ..Self::default() }
    }

    /// As [`by_object`](Self::by_object), after a first object in text that settles the types of
    /// others.
    pub(crate) fn settled(self, seen: ObjectType) -> Self {
        Self { seen: Some(seen), whole: false, ..self }
    }

    /// The same for the entries of a script file, which are in streams of their own.
    pub(crate) fn of_entries(&self) -> Self {
        Self { whole: false, ..self.clone() }
    }
}

/// The type of the objects of a table, as far as all of them together tell.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct TableType {
    /// The type to read all of them as. `None` if each says its own, or no type fits all.
    pub object_type: Option<ObjectType>,
    /// Other types that fit all of them too, but with other values.
    pub others: Vec<ObjectType>,
    /// Whether all are binary.
    pub binary: bool,
    /// Whether each alone would be taken for another type.
    pub mixed: bool,
    /// The key of the first one, or of the first one with numbers that are not canonical.
    pub key: Vec<u8>,
    /// Whether text has numbers that their type would write otherwise, such as with leading zeros.
    /// As words they are other values.
    pub noncanonical: bool,
}

impl TableType {
    /// Fails if the objects may be of several types, and their values would differ.
    pub(crate) fn check(&self, need: Need) -> Result<()> {
        // Texts that are all taken for one type are of that type, which is the usual one.
        let usual = !self.binary && !self.mixed;
        let settled = !self.noncanonical && (self.others.is_empty() || usual);
        if settled || !need.tells_types_apart(self.binary) {
            return Ok(());
        }
        let types: Vec<ObjectType> = self.object_type.iter().chain(&self.others).copied().collect();
        let error = several_types(&types);
        Err(if self.key.is_empty() { error } else { error.of_key(Key(&self.key)) })
    }
}

/// The error for objects of several possible types.
pub(crate) fn several_types(types: &[ObjectType]) -> Error {
    let names: Vec<&str> = types.iter().map(|one| one.name()).collect();
    Error::corpus(format!(
        "the objects do not say what they are, and fit several types: {}",
        names.join(", ")
    ))
    .with_help(format!("say which type is meant with --type, such as {}", names[0]))
}
