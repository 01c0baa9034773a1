//! The files of a table: many names, few of them open at a time.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock};

use seqfeed_core::{Error, Result};
use seqfeed_io::{DataFile, Mapped};

use super::entry::SPOOL;

/// Most files open at a time.
const MOST_OPEN: usize = 64;

#[derive(Default)]
pub(crate) struct Files {
    paths: Vec<PathBuf>,
    maps: Vec<OnceLock<Arc<Mapped>>>,
    spool: Option<Arc<DataFile>>,
    spool_map: OnceLock<Arc<Mapped>>,
    open: Mutex<Open>,
}

#[derive(Default)]
struct Open {
    /// The file, and when it was last used.
    files: HashMap<u32, (Arc<DataFile>, u64)>,
    clock: u64,
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
        let poisoned = || Error::usage("a thread panicked while it opened a file");
        {
            let mut open = self.open.lock().map_err(|_| poisoned())?;
            open.clock += 1;
            let now = open.clock;
            if let Some((data, used)) = open.files.get_mut(&file) {
                *used = now;
                return Ok(Arc::clone(data));
            }
        }
        let data = Arc::new(DataFile::open(&self.paths[file as usize])?);
        let mut open = self.open.lock().map_err(|_| poisoned())?;
        if open.files.len() >= MOST_OPEN {
            let oldest =
                open.files.iter().min_by_key(|(_, (_, used))| *used).map(|(&file, _)| file);
            oldest.and_then(|oldest| open.files.remove(&oldest));
        }
        let now = open.clock;
        open.files.insert(file, (Arc::clone(&data), now));
        Ok(data)
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
