//! Reads back what a conversion has written.

use std::path::Path;

use seqfeed_core::{Error, Kind, Result, Source, Stream};

use super::shaped::shaped;
use super::target::Target;
use super::{ConvertPlan, ConvertReport, ShardReport};
use crate::fingerprint::{Fingerprint, StreamFingerprint, fingerprint};
use seqfeed::Description;
use seqfeed::Keys;

/// The result of a successful verification.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verified {
    /// The number of shards that were read.
    pub shards: usize,
}

impl ConvertPlan {
    /// Reads back what [`run`](Self::run) has written, including shards that were kept. Compares
    /// values, and keys if the format holds them.
    ///
    /// # Errors
    ///
    /// Fails if the written data differ from the source or cannot be read; if their values are
    /// rounded on purpose (compressed matrices, Kaldi's text); or if no description can name them
    /// (standard output, commands).
    pub fn verify(&self, report: &ConvertReport) -> Result<Verified> {
        self.check_verifiable()?;
        let source = shaped(&self.corpus, &self.picks)?;
        let mut verified = Verified::default();
        for (number, shard) in report.shards.iter().enumerate() {
            let target = self.options.target.shard(number, report.shards.len())?;
            let base = target.description_file();
            let base = base.as_deref().and_then(Path::parent).unwrap_or(Path::new(""));
            let base = if base == Path::new("") { Path::new(".") } else { base };
            let (streams, count) = (source.streams(), report.shards.len());
            let writing = self.writing(&target, number, count, streams, 0)?;
            let text = self.described(&[writing], &shard.fingerprint, base);
            let text = text.ok_or_else(|| unreadable(&target))?;
            let mut description = Description::from_toml(&text)?;
            description.base = Some(base.into());
            let opened = description.open(&self.options.opener)?;
            let found = fingerprint(opened.corpus().as_ref())?;
            self.compare(&target, streams, shard, &found)?;
            verified.shards += 1;
        }
        Ok(verified)
    }

    /// Checks that the written values will read back unchanged. Call it before anything is written.
    ///
    /// # Errors
    ///
    /// Fails if they will not.
    pub fn check_verifiable(&self) -> Result<()> {
        let options = &self.options;
        let (target, format) = (&options.target, options.target.format());
        let rounds = format.rounds(target.name(), &options.options);
        if let Some(rounds) = rounds {
            return Err(Error::usage(format!(
                "--verify compares values, and {rounds} rounds them"
            )));
        }
        if options.target.description_file().is_none() {
            return Err(unreadable(&options.target));
        }
        Ok(())
    }

    /// Compares the data that were read back.
    fn compare(
        &self,
        target: &Target,
        streams: &[Stream],
        shard: &ShardReport,
        found: &Fingerprint,
    ) -> Result<()> {
        let differ = |what: String| {
            Err(Error::corpus(what).in_file(target.name()).with_help(
                "this should not be: has something else written to the file, or is the disk damaged?",
            ))
        };
        let one = target.format().capabilities().keys == Keys::OneSequence;
        let expected = &shard.fingerprint;
        if !one && found.sequences != expected.sequences {
            return differ(format!(
                "{} sequences were written, {} are read back",
                expected.sequences, found.sequences
            ));
        }
        // Formats with names of their own keep the order of streams: features come before labels.
        let named = |stream: &StreamFingerprint| {
            found.streams.iter().find(|other| other.name == stream.name)
        };
        let by_name = expected.streams.iter().any(|stream| named(stream).is_some());
        let mut dense_first: Vec<usize> = (0..streams.len()).collect();
        dense_first.sort_by_key(|&number| streams[number].kind != Kind::Dense);
        for (position, number) in dense_first.into_iter().enumerate() {
            let stream = &expected.streams[number];
            let other = match by_name {
                true => named(stream),
                false => found.streams.get(position),
            };
            let Some(other) = other else {
                return differ(format!("stream {} is not read back", stream.name));
            };
            // Sound that was cut off to 16 bits, as allowed, has other values.
            let rounded = self.sound.contains_key(&number) && self.options.allow_lossy;
            let keyed = self.keeps_keys && other.sequences != stream.sequences;
            let differs = other.values != stream.values || keyed;
            if other.samples != stream.samples || differs && !rounded {
                return differ(format!(
                    "stream {}: {} samples with checksum {:016x} were written, {} with {:016x} are read back",
                    stream.name, stream.samples, stream.values, other.samples, other.values
                ));
            }
        }
        Ok(())
    }
}

fn unreadable(target: &Target) -> Error {
    Error::usage("what is written here cannot be read back to be verified")
        .in_file(target.name())
        .with_help("write to files, or leave out --verify")
}
