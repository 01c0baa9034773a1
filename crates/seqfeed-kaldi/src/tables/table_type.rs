//! The type of a table whose objects do not say what they are: one decision, from all of them.

use seqfeed_core::{Error, Key, Result};

use crate::holder::{Holder, Mode};
use crate::object_reader::ObjectReader;
use crate::objects::any::ObjectType;
use crate::objects::detect::{Fits, detect, fits};
use crate::objects::text_fits::{is_bracketed, is_words, may_be_empty};
use crate::specifier::{Rspecifier, TableKind};
use crate::tables::options::ReadOptions;
use crate::tables::sequential_reader::SequentialReader;
use crate::tables::typing::Need;

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

/// What the first object of a table tells, or all of them.
pub(crate) enum Found {
    /// Nothing for others: each is looked at when it is read.
    ByObject,
    /// The first one is a text of this type, and others that fit it are of that type too.
    Settled(ObjectType),
    Together(TableType),
}

/// Finds the type of a table from all of its objects, where the first one does not say it itself.
/// A table that can be read only once (a command, standard input, a named pipe) is not looked at,
/// nor are entries of a script file that can be read once, nor text that is written as text again.
///
/// # Errors
///
/// As reading the table, but for what `p` passes over.
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

/// Finds the type of the objects of an archive from here on, where the first one is next, whose key
/// was read. The rest of the stream is copied into a temporary file for that, and is next again.
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

/// What is known of a table.
#[derive(Default)]
struct Evidence {
    first: Option<(Vec<u8>, ObjectType)>,
    types: Vec<ObjectType>,
    /// The first one that alone fits several types.
    unsure: Option<(Vec<u8>, Vec<ObjectType>)>,
    text: bool,
    mixed: bool,
    /// The first one on an empty line, which is of any type that may be empty.
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
                // The order of the last one that has something to say: zeros say nothing.
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
            // Each object is of a type of its own, and this one does not say of which.
            return Some(TableType { others, binary: true, mixed, key, ..TableType::default() });
        }
        let object_type = match types.contains(&taken) && !mixed {
            true => Some(taken),
            // Nothing but words fits all, or brackets: these are the same values for any type.
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
            // One word or several, one row or a vector: the same bytes.
            types.clear();
        }
        let (key, noncanonical) = match noncanonical {
            Some(key) => (key, true),
            None => (key, false),
        };
        Some(TableType { object_type, others: types, binary: !text, mixed, key, noncanonical })
    }
}

/// Reads over objects, to see what they may be.
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
