//! The position of each sequence of a table, and the expected shape of objects.

use std::collections::HashMap;

use seqfeed_core::{Damage, Error, Extent, Problem, Result, Tolerance};
use seqfeed_core::{JoinReport, Key};

use super::decode::Region;
use super::header::Object;
use super::options::Role;
use crate::OBJECT;
use crate::range::Range;

/// The position of a sequence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    /// Offset of the object, or in the spool of its first row.
    pub(crate) offset: u64,
    /// Number of the file; [`SPOOL`] for the spool.
    pub(crate) file: u32,
    /// Rows before the first wanted one; `None` if all are wanted.
    pub(crate) first_row: Option<u32>,
}

/// The file number of the spool.
pub(crate) const SPOOL: u32 = u32::MAX;

/// The mark of whole objects: no object has so many rows.
const WHOLE: u32 = u32::MAX;

/// The entries of a table. They have as many rows as the index has samples.
#[derive(Default)]
pub(crate) struct Entries {
    places: Places,
    /// Rows before the first wanted one, or [`WHOLE`]. Empty if all sequences are whole objects.
    first_rows: Vec<u32>,
    /// Column ranges, for the few sequences that have one: first column and number.
    pub(crate) cols: HashMap<u32, (u32, u32)>,
}

impl Entries {
    pub(crate) fn len(&self) -> usize {
        self.places.len()
    }

    pub(crate) fn push(&mut self, entry: Entry) {
        if entry.first_row.is_some() && self.first_rows.is_empty() {
            self.first_rows.resize(self.len(), WHOLE);
        }
        if entry.first_row.is_some() || !self.first_rows.is_empty() {
            self.first_rows.push(entry.first_row.unwrap_or(WHOLE));
        }
        self.places.push(entry.file, entry.offset);
    }

    pub(crate) fn get(&self, sequence: u32) -> Entry {
        let (file, offset) = self.places.get(sequence as usize);
        let first_row = self.first_rows.get(sequence as usize).copied();
        Entry { offset, file, first_row: first_row.filter(|&row| row != WHOLE) }
    }
}

/// Files and offsets: 8 bytes each, or 12 where there are many files or a very large one.
enum Places {
    /// The number of the file in the upper 16 bits. They are all set for the spool.
    Few(Vec<u64>),
    /// The number of the file, and both halves of the offset.
    Many(Vec<[u32; 3]>),
}

impl Default for Places {
    fn default() -> Self {
        Self::Few(Vec::new())
    }
}

const OFFSET_BITS: u32 = 48;

impl Places {
    fn len(&self) -> usize {
        match self {
            Self::Few(places) => places.len(),
            Self::Many(places) => places.len(),
        }
    }

    fn push(&mut self, file: u32, offset: u64) {
        let few = match file {
            SPOOL => Some(0xffff),
            _ => Some(u64::from(file)).filter(|&file| file < 0xffff),
        };
        match (&mut *self, few) {
            (Self::Few(places), Some(few)) if offset >> OFFSET_BITS == 0 => {
                places.push(few << OFFSET_BITS | offset);
            }
            (Self::Few(places), _) => {
                let places = 0..places.len();
                let mut many: Vec<_> = places.map(|place| Self::many(self.get(place))).collect();
                many.push(Self::many((file, offset)));
                *self = Self::Many(many);
            }
            (Self::Many(places), _) => places.push(Self::many((file, offset))),
        }
    }

    fn many((file, offset): (u32, u64)) -> [u32; 3] {
        [file, (offset >> 32) as u32, offset as u32]
    }

    fn get(&self, place: usize) -> (u32, u64) {
        match self {
            Self::Few(places) => {
                let file = match places[place] >> OFFSET_BITS {
                    0xffff => SPOOL,
                    file => file as u32,
                };
                (file, places[place] & ((1 << OFFSET_BITS) - 1))
            }
            Self::Many(places) => {
                let [file, high, low] = places[place];
                (file, u64::from(high) << 32 | u64::from(low))
            }
        }
    }
}

/// The expected form of a table's objects.
#[derive(Clone, Copy)]
pub(crate) struct Expected {
    pub(crate) role: Role,
    pub(crate) extent: Extent,
}

impl Expected {
    /// Whether a single integer is expected, where a vector could stand too.
    pub(crate) fn is_scalar(self) -> bool {
        self.role == Role::Labels && self.extent == Extent::Sequence
    }

    /// Rows and columns of an object, as samples and their values.
    pub(crate) fn shape(self, object: &Object) -> Result<(u32, u32)> {
        let wrong = |what: &'static str, help: &'static str| {
            Err(Error::format(OBJECT, Problem::Unsupported(what.into())).with_help(help))
        };
        match (self.role, object) {
            (Role::Labels, Object::Integers { count }) => Ok((*count, 1)),
            (Role::Labels, Object::Scalar { .. }) => Ok((1, 1)),
            (Role::Labels, _) => wrong(
                "labels are expected (int32), but these are floats",
                "is this a table of features? streams of floats are of kind \"dense\"",
            ),
            (Role::Features, Object::Integers { .. } | Object::Scalar { .. }) => wrong(
                "features are expected (floats), but these are integers",
                "is this a table of labels? streams of integers are of kind \"label\"",
            ),
            (Role::Features, Object::Vector { dim, .. }) => match self.extent {
                Extent::Samples | Extent::Own => Ok((*dim, 1)),
                Extent::Sequence => Ok((u32::from(*dim > 0), *dim)),
            },
            (Role::Features, Object::Matrix { rows, cols, .. }) => self.matrix(*rows, *cols),
            (Role::Features, Object::Compressed(header)) => self.matrix(header.rows, header.cols),
        }
    }

    pub(crate) fn matrix(self, rows: u32, cols: u32) -> Result<(u32, u32)> {
        if self.extent == Extent::Sequence && rows > 1 {
            let what =
                format!("one vector a sequence is expected, but this matrix has {rows} rows");
            return Err(Error::format(OBJECT, Problem::Unsupported(what.into()))
                .with_help("take extent = \"samples\" for one a time step"));
        }
        Ok((rows, cols))
    }
}

/// The part of an object for a range. If a vector is one sample, the rows of the range are its
/// elements.
pub(crate) fn part(shape: (u32, u32), range: Option<&Range>, extent: Extent) -> Result<Region> {
    let (rows, cols) = shape;
    let ((first_row, rows), (first_col, cols)) = match range {
        None => ((0, rows), (0, cols)),
        Some(range) if extent == Extent::Sequence && range.cols.is_none() => {
            ((0, rows), range.rows_of(cols)?)
        }
        Some(range) => (range.rows_of(rows)?, range.cols_of(cols)?),
    };
    let span = |first: u32, count: u32| first as usize..first as usize + count as usize;
    Ok(Region { rows: span(first_row, rows), cols: span(first_col, cols) })
}

/// The most errors that are kept.
const FAULTS: usize = 10_000;

/// Objects that could not be read, and the allowed number of them.
pub(crate) struct Skips {
    pub(crate) tolerance: Tolerance,
    pub(crate) count: u64,
    pub(crate) report: JoinReport,
    /// The first errors.
    pub(crate) faults: Vec<Damage>,
}

impl Skips {
    pub(crate) fn new(tolerance: Tolerance) -> Self {
        Self { tolerance, count: 0, report: JoinReport::default(), faults: Vec::new() }
    }

    /// Skips an object if this is allowed.
    pub(crate) fn absorb(&mut self, key: Key<'_>, error: Error) -> Result<()> {
        let error = error.of_key(key);
        self.count += 1;
        let damage = self.tolerance.excuse(self.count, error)?;
        self.report.add("unreadable", format!("{key} ({damage})"));
        if self.faults.len() < FAULTS {
            self.faults.push(damage);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_come_back() {
        let offsets = [0, 17, (1 << 48) - 1, 1 << 48, u64::MAX];
        let files = [0, 1, 0xfffe, SPOOL, 0xffff, 1 << 16, SPOOL - 1];
        let all = files.iter().flat_map(|&file| {
            offsets.map(|offset| Entry { offset, file, first_row: (file % 3).checked_sub(1) })
        });
        let few = all.clone().filter(|entry| entry.offset >> 48 == 0);
        let few = few.filter(|entry| entry.file < 0xffff || entry.file == SPOOL);
        let (few, all): (Vec<_>, Vec<_>) = (few.collect(), all.collect());
        for list in [&few[..], &all, &[&few[..], &all].concat()] {
            let mut entries = Entries::default();
            list.iter().for_each(|&entry| entries.push(entry));
            assert_eq!(entries.len(), list.len());
            assert_eq!(matches!(entries.places, Places::Few(_)), list.len() == few.len());
            for (number, &entry) in list.iter().enumerate() {
                assert_eq!(entries.get(number as u32), entry);
            }
        }
    }
}
