//! Finds the type of a table whose objects do not say theirs: one decision, from all objects.

use std::sync::Arc;

use seqfeed_core::{Error, Result};

use crate::holder::{Holder, Mode};
use crate::object_reader::ObjectReader;
use crate::objects::detect::{Fits, detect, fits};
use crate::objects::object_type::ObjectType;
use crate::objects::text_fits::{is_bracketed, is_words, may_be_empty};
use crate::specifier::{Rspecifier, TableKind};
use crate::tables::options::ReadOptions;
use crate::tables::sequential_reader::SequentialReader;
use crate::tables::typing::{Need, TableType, Typing, several_types};

impl Need {
    pub(crate) fn of(options: &ReadOptions) -> Self {
        options.written_as.map_or(Self::Values, Self::Writing)
    }
}

/// The findings about a table, from the first object or from all of them.
pub(crate) enum Found {
    /// Nothing for others: the type of each is found when it is read.
    ByObject,
    /// The first object is a text of this type. Others that fit it are of that type too.
    Settled(ObjectType),
    Together(TableType),
}

/// Finds the type of a table from all of its objects, if the first one does not say it itself. Not
/// looked at are: tables that can be read only once (a command, standard input, a named pipe),
/// entries of a script file that can be read only once, and text that is written as text again.
///
/// # Errors
///
/// As reading the table, except for objects that `p` passes over.
pub(crate) fn find_table_type(table: &Rspecifier, options: &ReadOptions) -> Result<Found> {
    let name = options.opener.rxfilename(&table.rxfilename)?;
    if !options.opener.is_file(name.location()) {
        return Ok(Found::ByObject);
    }
    let need = Need::of(options);
    // Damage is an error, or is passed over, when the table is read.
    let plain = Rspecifier { background: false, permissive: false, ..table.clone() };
    let reading = ReadOptions { warnings: None, object_type: None, ..options.clone() };
    let mut reader = SequentialReader::<Fits>::open_with(&plain.name(), &reading)?;
    let (mut evidence, mut key) = (Evidence::default(), Vec::new());
    while let Ok(true) = reader.next_key(&mut key) {
        if reader.object_passes_once() {
            continue;
        }
        match reader.value() {
            Ok(object) if evidence.is_new() => {
                let stays = !object.binary && !need.tells_types_apart(false);
                if object.types.is_empty() || stays {
                    return Ok(Found::ByObject);
                }
                if let Some(settled) = object.settles() {
                    return Ok(Found::Settled(settled));
                }
                evidence.add(&key, object);
            }
            Ok(object) => evidence.add(&key, object),
            Err(_) if table.kind == TableKind::Script => {}
            Err(_) => break,
        }
    }
    Ok(evidence.decide().map_or(Found::ByObject, Found::Together))
}

/// Finds the type of the objects of an archive from here on. The key of the first one has been
/// read. The rest of the stream is copied into a temporary file, and is then read from there.
pub(crate) fn find_rest_type(reader: &mut ObjectReader) -> Result<TableType> {
    let start = reader.position();
    if !reader.seek(start)? {
        reader.spool()?;
    }
    let (mut evidence, mut key) = (Evidence::default(), Vec::new());
    while let Ok(object) = Fits::read(reader, Mode::Binary) {
        evidence.add(&key, &object);
        key.clear();
        if !matches!(reader.read_key(&mut key), Ok(true)) {
            break;
        }
    }
    reader.seek(start)?;
    Ok(evidence.decide().unwrap_or_default())
}

/// The evidence for the type of a table.
#[derive(Default)]
struct Evidence {
    first: Option<(Vec<u8>, ObjectType)>,
    types: Vec<ObjectType>,
    /// The first object that alone fits several types.
    unsure: Option<(Vec<u8>, Vec<ObjectType>)>,
    text: bool,
    mixed: bool,
    /// The first object on an empty line. It is of any type that may be empty.
    empty: Option<Vec<u8>>,
    noncanonical: Option<Vec<u8>>,
}

impl Evidence {
    fn is_new(&self) -> bool {
        self.first.is_none() && self.empty.is_none()
    }

    fn add(&mut self, key: &[u8], object: &Fits) {
        self.text |= !object.binary;
        if object.empty {
            self.empty.get_or_insert_with(|| key.to_vec());
            return;
        }
        if object.noncanonical {
            self.noncanonical.get_or_insert_with(|| key.to_vec());
        }
        let itself = [object.taken];
        let types = if object.types.is_empty() { &itself[..] } else { &object.types };
        match &self.first {
            None => {
                self.first = Some((key.to_vec(), object.taken));
                self.types = types.to_vec();
            }
            Some((_, taken)) => {
                self.mixed |= object.taken != *taken;
                self.types.retain(|one| types.contains(one));
                // The order of the last one that tells something: zeros tell nothing.
                if types.len() <= self.types.len() {
                    let before = std::mem::take(&mut self.types);
                    self.types = types.iter().copied().filter(|one| before.contains(one)).collect();
                }
            }
        }
        if types.len() > 1 && self.unsure.is_none() {
            self.unsure = Some((key.to_vec(), types.to_vec()));
        }
    }

    fn decide(self) -> Option<TableType> {
        let Self { first, mut types, unsure, text, mixed, empty, noncanonical } = self;
        let Some((key, taken)) = first else {
            let (object_type, key) = (Some(ObjectType::TokenVector), empty?);
            return Some(TableType { object_type, key, ..TableType::default() });
        };
        if empty.is_some() {
            types.retain(|&one| may_be_empty(one));
        }
        if types.is_empty()
            && !text
            && let Some((key, others)) = unsure
        {
            // Each object has a type of its own, and this one does not say its type.
            return Some(TableType { others, binary: true, mixed, key, ..TableType::default() });
        }
        let object_type = match types.contains(&taken) && !mixed {
            true => Some(taken),
            // Only words fit all, or only brackets: for any of these types the values are the same.
            false if types.iter().all(|&one| is_words(one) || is_bracketed(one)) => {
                types.first().copied()
            }
            false if text => None,
            false => types.first().copied(),
        };
        let numbers = types.iter().any(|&one| !is_words(one));
        let noncanonical = noncanonical.filter(|_| numbers);
        types.retain(|&one| Some(one) != object_type);
        if noncanonical.is_none() && types.iter().all(|&one| is_words(one) || is_bracketed(one)) {
            // One word or several, one row or a vector: the bytes are the same.
            types.clear();
        }
        let (key, noncanonical) = match noncanonical {
            Some(key) => (key, true),
            None => (key, false),
        };
        Some(TableType { object_type, others: types, binary: !text, mixed, key, noncanonical })
    }
}

/// Skips objects to find their possible types.
impl Holder for Fits {
    const TYPE: &'static str = "object";
    const HEADER: bool = false;

    fn read(reader: &mut ObjectReader, _: Mode) -> Result<Self> {
        let taken = detect(reader)?;
        let found = fits(reader, taken)?;
        reader.skip_as(taken)?;
        Ok(found)
    }

    fn write(&self, _: &mut Vec<u8>, _: Mode) -> Result<()> {
        Err(Error::usage("what an object may be is not written"))
    }

    fn extract(&self, _: &crate::Range) -> Result<Self> {
        Ok(self.clone())
    }
}

/// The type to read the next object as. Nothing is consumed.
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

/// The same for text. Each type has a usual form there.
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
