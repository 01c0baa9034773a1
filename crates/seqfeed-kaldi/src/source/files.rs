//! The files of a table: many names, few of them open at a time.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use seqfeed_core::{Error, Result};
use seqfeed_io::{DataFile, Mapped, OpenFiles};

use super::entry::SPOOL;

/// Most files open at a time.
const MOST_OPEN: usize = 64;

pub(crate) struct Files {
    paths: Vec<PathBuf>,
    maps: Vec<OnceLock<Arc<Mapped>>>,
    spool: Option<Arc<DataFile>>,
    spool_map: OnceLock<Arc<Mapped>>,
    open: OpenFiles<DataFile>,
}

impl Default for Files {
    fn default() -> Self {
        Self {
            paths: Vec::new(),
            maps: Vec::new(),
            spool: None,
            spool_map: OnceLock::new(),
            open: OpenFiles::new(MOST_OPEN),
        }
    }
}

impl Files {
    /// Adds a file; its number.
    pub(crate) fn add(&mut self, path: &Path) -> u32 {
        self.paths.push(path.to_owned());
        self.maps.push(OnceLock::new());
        (self.paths.len() - 1) as u32
    }

    pub(crate) fn path(&self, file: u32) -> &Path {
        &self.paths[file as usize]
    }

    pub(crate) fn set_spool(&mut self, spool: DataFile) {
        self.spool = Some(Arc::new(spool));
    }

    /// A file, opened if it is not.
    pub(crate) fn get(&self, file: u32) -> Result<Arc<DataFile>> {
        if file == SPOOL {
            let spool = self.spool.as_ref().ok_or_else(|| Error::usage("there is no spool"))?;
            return Ok(Arc::clone(spool));
        }
        self.open.get(file, || DataFile::open(&self.paths[file as usize]))
    }

    /// A file in memory.
    pub(crate) fn map(&self, file: u32) -> Result<Arc<Mapped>> {
        let slot = match file {
            SPOOL => &self.spool_map,
            file => &self.maps[file as usize],
        };
        if let Some(map) = slot.get() {
            return Ok(Arc::clone(map));
        }
        let map = Arc::new(self.get(file)?.map()?);
        Ok(Arc::clone(slot.get_or_init(|| map)))
    }
}
