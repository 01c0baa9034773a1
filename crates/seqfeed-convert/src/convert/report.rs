//! Reports of conversions.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::Loss;
use crate::fingerprint::Fingerprint;

/// The report of a conversion.
#[derive(Clone, Debug, Serialize)]
pub struct ConvertReport {
    /// The format.
    pub format: &'static str,
    /// What was lost.
    pub losses: Vec<Loss>,
    /// Bytes of all files, and of output to standard output, to commands and to the files that a
    /// script file names.
    pub bytes: u64,
    /// The fingerprint of all shards together.
    #[serde(flatten)]
    pub fingerprint: Fingerprint,
    /// For each stream the number of sequences that were not written, since a script file
    /// (`scp,p:`) does not name their keys.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub not_written: BTreeMap<String, u64>,
    /// The shards, in order. One, if the corpus was not divided.
    pub shards: Vec<ShardReport>,
    /// The description that opens the written files, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
}

/// The report of a shard.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ShardReport {
    /// Its files.
    pub files: Vec<String>,
    /// Bytes of its files, and of output to standard output, to commands and to the files that a
    /// script file names.
    pub bytes: u64,
    /// The fingerprint of its contents.
    pub fingerprint: Fingerprint,
    /// For each stream the number of its sequences that were not written, since a script file
    /// (`scp,p:`) does not name their keys.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub not_written: BTreeMap<String, u64>,
    /// Whether an earlier run wrote it.
    #[serde(default)]
    pub kept: bool,
}
