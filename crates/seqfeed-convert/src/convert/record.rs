//! The record of the shards of a conversion, so that whole shards are not written again.

use std::collections::BTreeMap;
use std::path::PathBuf;

use seqfeed_core::{Error, Problem, Result};
use seqfeed_io::{
    FileKind, Opener, Probe, path_from_text, read_record, shown_name, write_atomically,
};
use serde::{Deserialize, Serialize};
use twox_hash::XxHash3_64;

use super::report::ShardReport;

/// The file beside the shards that lists the whole ones: `out.shards.json`.
#[derive(Debug)]
pub(super) struct RecordFile {
    path: PathBuf,
    record: Record,
}

#[derive(Debug, Default, Serialize, Deserialize)]
struct Record {
    /// The source and the target of the conversion: shards of another conversion do not count.
    conversion: String,
    shards: BTreeMap<usize, Recorded>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Recorded {
    /// A hash of some of the shard's sequences in the source.
    probe: String,
    /// Sizes of its files.
    sizes: Vec<u64>,
    #[serde(flatten)]
    report: ShardReport,
    /// A hash of all this. A record that was changed, by hand or by a disk, is not believed.
    #[serde(default)]
    check: String,
}

impl Recorded {
    fn hash(&self) -> Option<String> {
        let plain = Self { check: String::new(), ..self.clone() };
        let text = serde_json::to_vec(&plain).ok()?;
        Some(format!("{:016x}", XxHash3_64::oneshot(&text)))
    }
}

/// The file as it is now, if it exists.
fn found(file: &str) -> Option<Probe> {
    Opener::default().probe(&path_from_text(file).into()).ok()
}

/// The most bytes of a record. It has a line for each shard.
const MOST_OF_RECORD: u64 = 256 << 20;

impl RecordFile {
    /// The record of a conversion, with the shards of an earlier run of the same conversion.
    ///
    /// # Errors
    ///
    /// Fails if there is a file that is not a record.
    pub(super) fn open(path: PathBuf, conversion: String) -> Result<Self> {
        let name = shown_name(&path);
        let record = match read_record(&path, "bytes of a record of shards", MOST_OF_RECORD) {
            Ok(text) => serde_json::from_slice::<Record>(&text).map_err(|error| {
                let problem = Problem::Unsupported(error.to_string().into());
                Error::format("record of shards", problem)
                    .in_file(name)
                    .with_help("remove the file to write all shards anew")
            })?,
            Err(error) if error.is_not_found() => Record::default(),
            Err(error) => return Err(error),
        };
        let record = match record.conversion == conversion {
            true => record,
            false => Record { conversion, shards: BTreeMap::new() },
        };
        Ok(Self { path, record })
    }

    /// The report of a shard, if its files are unchanged.
    pub(super) fn whole(&self, shard: usize, probe: &str) -> Option<ShardReport> {
        let recorded = self.record.shards.get(&shard).filter(|recorded| recorded.probe == probe)?;
        if recorded.hash().as_ref() != Some(&recorded.check) {
            return None;
        }
        let files = recorded.report.files.iter().zip(&recorded.sizes);
        let same = |(file, size): (&String, &u64)| {
            found(file).is_some_and(|is| is.kind == FileKind::Directory || is.len == *size)
        };
        let all = recorded.report.files.len() == recorded.sizes.len();
        (all && files.into_iter().all(same))
            .then(|| ShardReport { kept: true, ..recorded.report.clone() })
    }

    /// Notes that a shard is whole.
    ///
    /// # Errors
    ///
    /// Fails if the record cannot be written.
    pub(super) fn add(&mut self, shard: usize, probe: String, report: &ShardReport) -> Result<()> {
        let size = |file: &String| found(file).map_or(0, |found| found.len);
        let sizes = report.files.iter().map(size).collect();
        let mut recorded = Recorded { probe, sizes, report: report.clone(), check: String::new() };
        recorded.check = recorded.hash().unwrap_or_default();
        self.record.shards.insert(shard, recorded);
        let text = serde_json::to_vec_pretty(&self.record)
            .map_err(|error| Error::io("writing", error.into()))?;
        write_atomically(&self.path, &text, false)
    }
}
