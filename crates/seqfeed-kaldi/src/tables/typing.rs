//! What objects are read as, where a reader takes objects of any type.

use std::sync::Arc;

use seqfeed_core::{Error, Key, Result};

use crate::mode::Mode;
use crate::objects::object_type::ObjectType;

/// What is known of the types of a table's objects. Readers pass it from one object to the next.
#[doc(hidden)]
#[derive(Clone, Debug, Default)]
pub struct Typing {
    /// The type of all objects.
    pub(crate) known: Option<ObjectType>,
    /// What was found of several objects together.
    pub(crate) found: Option<Arc<TableType>>,
    /// What objects are that say it themselves, or fit one type only: the last one. In text, the
    /// type that settles what others are.
    pub(crate) seen: Option<ObjectType>,
    pub(crate) need: Need,
    /// All objects are in this stream, and none was read yet.
    pub(crate) whole: bool,
}

/// What a type is needed for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Need {
    /// Nothing: the caller looks at what else an object may be.
    #[default]
    Nothing,
    Values,
    Writing(Mode),
}

impl Need {
    /// Whether objects of another type would have other values, as which they stand in the one or
    /// the other form.
    pub(crate) fn tells_types_apart(self, binary: bool) -> bool {
        match self {
            Self::Nothing => false,
            Self::Values => true,
            Self::Writing(mode) => (mode == Mode::Binary) != binary,
        }
    }
}

impl Typing {
    /// All objects are of this type.
    pub(crate) fn known(object_type: ObjectType) -> Self {
        Self { known: Some(object_type), ..Self::default() }
    }

    /// What was found of all objects together.
    pub(crate) fn found(found: TableType) -> Self {
        Self { known: found.object_type, found: Some(Arc::new(found)), ..Self::default() }
    }

    /// Each object is looked at when it is read; with `whole`, all objects are in one stream.
    pub(crate) fn by_object(need: Need, whole: bool) -> Self {
        Self { need, whole, ..Self::default() }
    }

    /// As [`by_object`](Self::by_object), where the first object is a text that settles what others
    /// are.
    pub(crate) fn settled(self, seen: ObjectType) -> Self {
        Self { seen: Some(seen), whole: false, ..self }
    }

    /// The same for the entries of a script file, which are in streams of their own.
    pub(crate) fn of_entries(&self) -> Self {
        Self { whole: false, ..self.clone() }
    }
}

/// What the objects of a table are, as far as all of them together tell.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct TableType {
    /// The type that all of them are read as. None, where each says its own, or no type fits all.
    pub object_type: Option<ObjectType>,
    /// Other types that fit all of them as well, with other values.
    pub others: Vec<ObjectType>,
    /// Whether all are binary.
    pub binary: bool,
    /// Whether each for itself would be taken for another type.
    pub mixed: bool,
    /// The key of the first one, or of the first one with numbers that are not canonical.
    pub key: Vec<u8>,
    /// Whether there are numbers in text that are not written as their type writes them, as with
    /// leading zeros: as words they are other values.
    pub noncanonical: bool,
}

impl TableType {
    /// Fails where the objects may be of several types, and their values would differ.
    pub(crate) fn check(&self, need: Need) -> Result<()> {
        // Texts that all are taken for one type are of that type: it is the usual one.
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

/// The error that nothing says which of several types is meant.
pub(crate) fn several_types(types: &[ObjectType]) -> Error {
    let names: Vec<&str> = types.iter().map(|one| one.name()).collect();
    Error::corpus(format!(
        "the objects do not say what they are, and fit several types: {}",
        names.join(", ")
    ))
    .with_help(format!("say which type is meant with --type, such as {}", names[0]))
}
