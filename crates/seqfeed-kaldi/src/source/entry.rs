//! The position of each sequence of a table, and the expected shape of objects.

use std::collections::HashMap;

use seqfeed_core::{Damage, Error, Extent, Problem, Result, Tolerance};
use seqfeed_core::{JoinReport, Key};

use super::decode::Region;
use super::header::Object;
use super::options::Role;
use crate::OBJECT;
use crate::range::Range;

/// The position of a sequence: 24 bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry {
    /// Offset of the object, or in the spool of its first row.
    pub(crate) offset: u64,
    /// Number of the file; [`SPOOL`] for the spool.
    pub(crate) file: u32,
    /// Rows before the first wanted one.
    pub(crate) first_row: u32,
    /// The number of wanted rows.
    pub(crate) rows: u32,
}

/// The file number of the spool.
pub(crate) const SPOOL: u32 = u32::MAX;

/// The entries of a table.
#[derive(Default)]
pub(crate) struct Entries {
    pub(crate) entries: Vec<Entry>,
    /// Column ranges, for the few sequences that have one: first column and number.
    pub(crate) cols: HashMap<u32, (u32, u32)>,
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
