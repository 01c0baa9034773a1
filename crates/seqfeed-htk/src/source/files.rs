//! The parameter files of a source. Only some are open at a time.

use std::sync::Arc;

use seqfeed_core::{Error, Problem, Result};
use seqfeed_io::{Location, OpenFiles, Opener};

use crate::param::{ParamFile, ParamKind, ReadOptions};

/// The warnings that are kept for messages.
const WARNINGS: usize = 10;

/// The properties that all files of a source share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shape {
    pub(super) kind: ParamKind,
    pub(super) columns: usize,
    pub(super) period: i32,
}

/// Parameter files by number.
#[derive(Debug)]
pub(super) struct Files {
    names: Vec<Location>,
    options: ReadOptions,
    shape: Option<Shape>,
    warnings: u64,
    first_warnings: Vec<String>,
    opener: Opener,
    open: OpenFiles<ParamFile>,
}

impl Files {
    pub(super) fn new(options: ReadOptions, opener: &Opener) -> Self {
        Self {
            names: Vec::new(),
            options,
            shape: None,
            warnings: 0,
            first_warnings: Vec::new(),
            opener: opener.clone(),
            open: opener.open_files(),
        }
    }

    /// The number of warnings about the files, and the first few of them.
    pub(super) fn warnings(&self) -> (u64, &[String]) {
        (self.warnings, &self.first_warnings)
    }

    /// The properties of the first file. All others must have them too.
    pub(super) fn shape(&self) -> Option<Shape> {
        self.shape
    }

    /// Number of files.
    pub(super) fn len(&self) -> usize {
        self.names.len()
    }

    /// Adds a file. Returns its number and its number of frames.
    ///
    /// # Errors
    ///
    /// If it cannot be opened, or differs from the ones before.
    pub(super) fn add(&mut self, name: Location) -> Result<(u32, u64)> {
        let number = self.names.len() as u32;
        let file = self.open.get(number, || self.open_file(&name))?;
        if self.shape.is_none() {
            self.shape = Some(shape(&file));
        }
        self.warnings += file.warnings().len() as u64;
        for warning in file.warnings() {
            if self.first_warnings.len() < WARNINGS {
                self.first_warnings.push(format!("{}: {warning}", file.name()));
            }
        }
        self.names.push(name);
        Ok((number, file.frames()))
    }

    /// A file, opened again if it has been closed since.
    pub(super) fn get(&self, number: u32) -> Result<Arc<ParamFile>> {
        self.open.get(number, || self.open_file(&self.names[number as usize]))
    }

    fn open_file(&self, name: &Location) -> Result<ParamFile> {
        let file = ParamFile::open_at(name, &self.options, &self.opener)?;
        let Some(expected) = self.shape else { return Ok(file) };
        let found = shape(&file);
        if found == expected {
            return Ok(file);
        }
        let say = |shape: Shape| {
            format!("{} of {} values, period {}", shape.kind, shape.columns, shape.period)
        };
        let what = format!("features are {}, not {}", say(found), say(expected));
        let problem = Problem::Unsupported(what.into());
        Err(Error::format("HTK parameter file", problem)
            .in_file(file.name())
            .with_help("all files of a stream have the kind, width and period of the first one"))
    }
}

fn shape(file: &ParamFile) -> Shape {
    let header = file.header();
    Shape { kind: header.kind.of_values(), columns: file.columns(), period: header.period }
}
