//! What conversions say that they have written.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::Loss;
use crate::fingerprint::Fingerprint;

/// What a conversion has written.
#[derive(Clone, Debug, Serialize)]
pub struct ConvertReport {
    /// The format.
    pub format: &'static str,
    /// What was lost.
    pub losses: Vec<Loss>,
    /// Bytes of all files, and of what went to standard output, commands and the names in
    /// script files.
    pub bytes: u64,
    /// What all shards hold together.
    #[serde(flatten)]
    pub fingerprint: Fingerprint,
    /// By stream, how many sequences were not written, as a script file (`scp,p:`) has no name
    /// for their keys.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub not_written: BTreeMap<String, u64>,
    /// The shards, in order; one, where the corpus was not divided.
    pub shards: Vec<ShardReport>,
    /// The description that opens what was written, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
}

/// What a shard holds.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ShardReport {
    /// Its files.
    pub files: Vec<String>,
    /// Bytes of its files, and of what went to standard output, commands and the names in
    /// script files.
    pub bytes: u64,
    /// What is in it.
    pub fingerprint: Fingerprint,
    /// By stream, how many of its sequences were not written, as a script file (`scp,p:`) has no
    /// name for their keys.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub not_written: BTreeMap<String, u64>,
    /// Whether an earlier run has written it.
    #[serde(default)]
    pub kept: bool,
}
