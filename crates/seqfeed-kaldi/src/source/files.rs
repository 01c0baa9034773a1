//! The files of a table: many names, few of them open at a time.

use std::sync::{Arc, OnceLock};

use seqfeed_core::{Error, Result};
use seqfeed_io::{DataFile, Location, Mapped, OpenFiles, Opener};

use super::entry::SPOOL;

pub(crate) struct Files {
    locations: Vec<Location>,
    maps: Vec<OnceLock<Arc<Mapped>>>,
    spool: Option<Arc<DataFile>>,
    spool_map: OnceLock<Arc<Mapped>>,
    opener: Opener,
    open: OpenFiles<DataFile>,
}

impl Files {
    pub(crate) fn new(opener: &Opener) -> Self {
        Self {
            locations: Vec::new(),
            maps: Vec::new(),
            spool: None,
            spool_map: OnceLock::new(),
            opener: opener.clone(),
            open: opener.open_files(),
        }
    }

    /// Adds a file. Returns its number.
    pub(crate) fn add(&mut self, file: &Location) -> u32 {
        self.locations.push(file.clone());
        self.maps.push(OnceLock::new());
        (self.locations.len() - 1) as u32
    }

    pub(crate) fn location(&self, file: u32) -> &Location {
        &self.locations[file as usize]
    }

    pub(crate) fn set_spool(&mut self, spool: DataFile) {
        self.spool = Some(Arc::new(spool));
    }

    /// An open file.
    pub(crate) fn get(&self, file: u32) -> Result<Arc<DataFile>> {
        if file == SPOOL {
            let spool = self.spool.as_ref().ok_or_else(|| Error::usage("there is no spool"))?;
            return Ok(Arc::clone(spool));
        }
        self.open.get(file, || self.opener.open(self.location(file)))
    }

    /// A mapped file.
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
