//! The type of a table whose objects do not say what they are: one decision, from all of them.

use seqfeed_core::{Error, Result};

use crate::holder::{Holder, Mode};
use crate::object_reader::ObjectReader;
use crate::objects::any::{AnyObject, ObjectType};
use crate::objects::detect::fits;
use crate::specifier::{Rspecifier, TableKind};
use crate::tables::options::ReadOptions;
use crate::tables::sequential_reader::SequentialReader;

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
    /// The key of the first one.
    pub key: Vec<u8>,
}

/// Finds the type of a table from all of its objects, where the first one does not say it itself;
/// none where each object says it, or where the table can be read only once (a command, standard
/// input, a named pipe).
///
/// # Errors
///
/// As reading the table, but for what `p` passes over.
pub fn find_table_type(table: &Rspecifier, options: &ReadOptions) -> Result<Option<TableType>> {
    let name = options.name(&table.rxfilename)?;
    let (seqfeed_io::RxFilename::File(path) | seqfeed_io::RxFilename::Offset(path, _)) = &name
    else {
        return Ok(None);
    };
    if !path.is_file() {
        return Ok(None);
    }
    let plain = Rspecifier { background: false, ..table.clone() };
    // What is passed over is reported when the table is read.
    let reading = ReadOptions { warnings: None, object_type: None, ..options.clone() };
    let mut reader = SequentialReader::<Fitting>::open_with(&plain.name(), &reading)?;
    let mut evidence = Evidence::default();
    let (mut key, mut value) = (Vec::new(), Fitting::default());
    loop {
        match reader.next_into(&mut key, &mut value) {
            Ok(true) => {}
            // What is damaged is an error when it is read.
            Ok(false) => break,
            Err(_) if table.kind == TableKind::Script => continue,
            Err(_) => break,
        }
        if value.types.is_empty() {
            if evidence.first.is_none() {
                return Ok(None);
            }
            value.types.extend(value.taken);
        }
        evidence.add(&key, &value);
    }
    Ok(evidence.decide())
}

/// What is known of a table.
#[derive(Default)]
struct Evidence {
    first: Option<(Vec<u8>, ObjectType)>,
    types: Vec<ObjectType>,
    text: bool,
    mixed: bool,
}

impl Evidence {
    fn add(&mut self, key: &[u8], object: &Fitting) {
        match &self.first {
            None => {
                self.first = object.taken.map(|taken| (key.to_vec(), taken));
                self.types.clone_from(&object.types);
            }
            Some((_, taken)) => {
                self.mixed |= object.taken != Some(*taken);
                self.types.retain(|one| object.types.contains(one));
                // The order of the last one that has something to say: zeros say nothing.
                if object.types.len() <= self.types.len() {
                    let types = std::mem::take(&mut self.types);
                    self.types =
                        object.types.iter().copied().filter(|one| types.contains(one)).collect();
                }
            }
        }
        self.text |= !object.binary;
    }

    fn decide(self) -> Option<TableType> {
        let (key, taken) = self.first?;
        let Self { mut types, text, mixed, .. } = self;
        let object_type = match types.contains(&taken) && !mixed {
            true => Some(taken),
            // Lines stay as they are, where they are written as lines again.
            false if text => None,
            false => types.first().copied(),
        };
        types.retain(|&one| Some(one) != object_type);
        let words = [ObjectType::Token, ObjectType::TokenVector];
        if types.iter().all(|one| words.contains(one)) {
            // One word or several: the same bytes.
            types.clear();
        }
        Some(TableType { object_type, others: types, binary: !text, mixed, key })
    }
}

/// An object that is read over: what it may be.
#[derive(Default)]
struct Fitting {
    taken: Option<ObjectType>,
    types: Vec<ObjectType>,
    binary: bool,
}

impl Holder for Fitting {
    const TYPE: &'static str = "object";
    const HEADER: bool = false;

    fn read(reader: &mut ObjectReader, mode: Mode) -> Result<Self> {
        let found = fits(reader)?;
        reader.object_type = Some(found.taken);
        let skipped = AnyObject::skip(reader, mode);
        reader.object_type = None;
        skipped?;
        Ok(Self { taken: Some(found.taken), types: found.types, binary: found.binary })
    }

    fn write(&self, _: &mut Vec<u8>, _: Mode) -> Result<()> {
        Err(Error::usage("what an object may be is not written"))
    }

    fn extract(&self, _: &crate::Range) -> Result<Self> {
        Ok(Self { taken: self.taken, types: self.types.clone(), binary: self.binary })
    }
}
