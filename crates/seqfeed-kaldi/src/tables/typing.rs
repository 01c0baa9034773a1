//! What objects are read as, where a reader takes objects of any type.

use std::sync::Arc;

use seqfeed_core::Result;

use crate::holder::Mode;
use crate::object_reader::ObjectReader;
use crate::objects::any::ObjectType;
use crate::objects::detect::{Fits, detect, fits};
use crate::objects::text_fits::is_words;
use crate::tables::options::ReadOptions;
use crate::tables::table_type::{TableType, find_rest_type, several_types};

/// What is known of the types of a table's objects. Readers pass it from one object to the next.
#[doc(hidden)]
#[derive(Clone, Debug, Default)]
pub struct Typing {
    /// The type of all objects.
    known: Option<ObjectType>,
    /// What was found of several objects together.
    pub(crate) found: Option<Arc<TableType>>,
    /// What objects are that say it themselves, or fit one type only: the last one. In text, the
    /// type that [settles](Fits::settles) what others are.
    seen: Option<ObjectType>,
    need: Need,
    /// All objects are in this stream, and none was read yet.
    whole: bool,
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
    pub(crate) fn of(options: &ReadOptions) -> Self {
        options.written_as.map_or(Self::Values, Self::Writing)
    }

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

/// The type that the next object is read as. Nothing is read.
pub(crate) fn type_of_next(reader: &mut ObjectReader) -> Result<ObjectType> {
    if let Some(known) = reader.typing.known {
        return Ok(known);
    }
    let taken = detect(reader)?;
    let need = reader.typing.need;
    let found = fits(reader, taken)?;
    if found.binary && need == Need::Nothing {
        return Ok(taken);
    }
    let apart = need.tells_types_apart(found.binary);
    let whole = std::mem::take(&mut reader.typing.whole) && apart && found.settles().is_none();
    if whole && found.types.len() > 1 {
        let found = find_rest_type(reader)?;
        found.check(need)?;
        reader.typing = Typing::found(found);
        return Ok(reader.typing.known.unwrap_or(taken));
    }
    if !found.binary {
        return type_of_text(reader, &found);
    }
    let types = found.types;
    if types.len() <= 1 {
        let only = types.first().copied().unwrap_or(taken);
        reader.typing.seen = Some(only);
        return Ok(only);
    }
    match reader.typing.seen {
        Some(seen) if types.contains(&seen) => {
            if seen != taken && reader.typing.found.is_none() {
                let found = TableType {
                    object_type: Some(seen),
                    binary: true,
                    mixed: true,
                    ..TableType::default()
                };
                reader.typing.found = Some(Arc::new(found));
            }
            Ok(seen)
        }
        _ if !apart => Ok(taken),
        _ => Err(several_types(&types)),
    }
}

/// The same for text, which has a form that is usual for each type.
fn type_of_text(reader: &mut ObjectReader, found: &Fits) -> Result<ObjectType> {
    if let Some(seen) = reader.typing.seen
        && found.types.contains(&seen)
    {
        return Ok(seen);
    }
    if let Some(settled) = found.settles() {
        reader.typing.seen = Some(settled);
    }
    let words = found.types.iter().copied().find(|&one| is_words(one));
    Ok(match (reader.typing.need, words) {
        // Written as text again, lines keep their words.
        (Need::Writing(Mode::Text), Some(words)) => words,
        (Need::Nothing, Some(words)) if found.noncanonical => words,
        (Need::Nothing, _) => found.taken,
        _ if found.noncanonical => return Err(several_types(&found.types)),
        _ => found.taken,
    })
}
