//! The parameter files of a source, of which only some are open at a time.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use seqfeed_core::{Error, Problem, Result};

use crate::param::{ParamFile, ParamKind, ReadOptions};

/// Files that are open at most.
const OPEN: usize = 128;

/// What all files of a source have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shape {
    pub(super) kind: ParamKind,
    pub(super) columns: usize,
    pub(super) period: i32,
}

/// Parameter files by their numbers.
#[derive(Debug)]
pub(super) struct Files {
    names: Vec<PathBuf>,
    options: ReadOptions,
    shape: Option<Shape>,
    open: Mutex<Open>,
}

/// Those that are open, with the time at which each was used last.
#[derive(Debug, Default)]
struct Open {
    files: HashMap<u32, (Arc<ParamFile>, u64)>,
    time: u64,
}

impl Files {
    pub(super) fn new(options: ReadOptions) -> Self {
        Self { names: Vec::new(), options, shape: None, open: Mutex::default() }
    }

    /// What the first file has, and all others must.
    pub(super) fn shape(&self) -> Option<Shape> {
        self.shape
    }

    /// Adds a file; its number and how many frames it has.
    ///
    /// # Errors
    ///
    /// When it cannot be opened, or is unlike the ones before.
    pub(super) fn add(&mut self, path: PathBuf) -> Result<(u32, u64)> {
        let file = self.open_file(&path)?;
        if self.shape.is_none() {
            self.shape = Some(shape(&file));
        }
        let number = self.names.len() as u32;
        let frames = file.frames();
        self.names.push(path);
        self.keep(number, Arc::new(file));
        Ok((number, frames))
    }

    /// A file, opened again if it has been closed since.
    pub(super) fn get(&self, number: u32) -> Result<Arc<ParamFile>> {
        if let Ok(mut open) = self.open.lock() {
            open.time += 1;
            let time = open.time;
            if let Some((file, used)) = open.files.get_mut(&number) {
                *used = time;
                return Ok(Arc::clone(file));
            }
        }
        let file = Arc::new(self.open_file(&self.names[number as usize])?);
        self.keep(number, Arc::clone(&file));
        Ok(file)
    }

    fn keep(&self, number: u32, file: Arc<ParamFile>) {
        let Ok(mut open) = self.open.lock() else { return };
        if open.files.len() >= OPEN
            && let Some((&oldest, _)) = open.files.iter().min_by_key(|(_, (_, used))| *used)
        {
            open.files.remove(&oldest);
        }
        open.time += 1;
        let time = open.time;
        open.files.insert(number, (file, time));
    }

    fn open_file(&self, path: &Path) -> Result<ParamFile> {
        let file = ParamFile::open(path, &self.options)?;
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
