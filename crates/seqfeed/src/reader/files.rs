//! The files of a reader, and what there is to say about them.

use std::sync::Arc;

use seqfeed_cntk::ctf::{CacheUse, CtfSource, Repeated};
use seqfeed_core::{Damage, Error, Source};
use seqfeed_htk::source::{HtkSource, MlfSource};
use seqfeed_io::shown_name;

use crate::htk_files::parameter_warnings;

/// Most warnings shown of a file.
const SHOWN: usize = 10;

/// A file of a reader.
#[derive(Clone, Debug)]
pub(crate) struct ReaderFile {
    pub(crate) source: FileSource,
    /// What is to be said of it (`traceLevel`): 0 errors, 1 warnings, 2 everything.
    pub(crate) trace_level: i64,
}

/// What reads it.
#[derive(Clone, Debug)]
pub(crate) enum FileSource {
    Ctf(Arc<CtfSource>),
    Htk(Arc<HtkSource>),
    /// With what is odd about its list of states.
    Mlf(Arc<MlfSource>, Vec<String>),
}

impl ReaderFile {
    /// What it is: "CTF, index from x.cache".
    pub(crate) fn format(&self) -> String {
        match &self.source {
            FileSource::Ctf(ctf) => match ctf.cache() {
                CacheUse::No => "CTF".to_owned(),
                CacheUse::Read(path) => format!("CTF, index from {}", shown_name(path)),
                CacheUse::Made(_) => "CTF, index cache being made".to_owned(),
            },
            FileSource::Htk(htk) => htk.format(),
            FileSource::Mlf(mlf, _) => mlf.format(),
        }
    }

    /// Bytes decoded into a temporary file.
    pub(crate) fn spooled_bytes(&self) -> u64 {
        match &self.source {
            FileSource::Ctf(ctf) => ctf.spooled_bytes(),
            FileSource::Htk(_) | FileSource::Mlf(..) => 0,
        }
    }

    /// What was passed over when it was opened.
    pub(crate) fn faults(&self) -> Vec<Damage> {
        match &self.source {
            FileSource::Ctf(_) => Vec::new(),
            FileSource::Htk(htk) => htk.faults().to_vec(),
            FileSource::Mlf(mlf, _) => mlf.incidents().1.to_vec(),
        }
    }

    /// The parameter files it reads.
    pub(crate) fn parameters(&self) -> Option<Arc<HtkSource>> {
        match &self.source {
            FileSource::Htk(htk) => Some(Arc::clone(htk)),
            FileSource::Ctf(_) | FileSource::Mlf(..) => None,
        }
    }

    /// Seconds from one frame to the next, where it says so.
    pub(crate) fn frame_shift(&self) -> Option<f64> {
        match &self.source {
            FileSource::Htk(htk) => htk.frame_shift(),
            FileSource::Ctf(_) | FileSource::Mlf(..) => None,
        }
    }

    /// What is worth a warning so far.
    pub(crate) fn warnings(&self) -> Vec<String> {
        if self.trace_level < 1 {
            return Vec::new();
        }
        match &self.source {
            FileSource::Ctf(ctf) => {
                let mut warnings = ctf_warnings(ctf);
                if self.trace_level >= 2 {
                    warnings.extend(undeclared(ctf));
                }
                warnings
            }
            FileSource::Htk(htk) => {
                let dropped = htk.report().dropped.iter();
                let dropped = dropped.map(|dropped| format!("{}: {dropped}", htk.name()));
                dropped.chain(parameter_warnings(htk)).collect()
            }
            FileSource::Mlf(mlf, states) => {
                let (count, first) = mlf.incidents();
                let first = &first[..first.len().min(SHOWN)];
                let more = count.saturating_sub(first.len() as u64);
                let more = (more > 0).then(|| format!("{more} more utterances were left out"));
                let said = first.iter().map(|error| format!("left out: {}", one_line(error)));
                states.iter().cloned().chain(said).chain(more).collect()
            }
        }
    }
}

/// An error without its help.
fn one_line(error: &Error) -> String {
    format!("{}: {}", error.place(), error.message())
}

/// What is wrong with ids that come again.
pub(crate) fn repeated_ids(repeated: &Repeated) -> String {
    let Repeated { key, ids } = repeated;
    let others = match ids {
        1 => String::new(),
        2 => ", and so does one other".to_owned(),
        _ => format!(", and so do {} others", ids - 1),
    };
    format!(
        "sequence ids must be unique, but {key} comes again behind other sequences{others}: each time it is \
         a sequence of its own"
    )
}

/// Inputs in a file that nobody declares.
pub(crate) fn undeclared(ctf: &CtfSource) -> Vec<String> {
    let name = ctf.name();
    let said = |input: seqfeed_cntk::ctf::UndeclaredInput| {
        format!(
            "{name} @ {}: input |{} is not declared: its samples are passed over",
            input.offset, input.name
        )
    };
    ctf.incidents().undeclared().into_iter().map(said).collect()
}

fn ctf_warnings(ctf: &CtfSource) -> Vec<String> {
    let mut warnings = Vec::new();
    if let CacheUse::Made(Some(reason)) = ctf.cache() {
        warnings.push(format!("the index was made anew: {reason}"));
    }
    let (name, incidents) = (ctf.name(), ctf.incidents());
    if let Some(repeated) = ctf.repeated() {
        warnings.push(format!("{name}: {}", repeated_ids(repeated)));
    }
    let first = incidents.first_warnings();
    let first = &first[..first.len().min(SHOWN)];
    let offsets: Vec<u64> = first.iter().map(|one| one.offset).collect();
    let lines = ctf.lines_of(&offsets).unwrap_or_else(|_| vec![None; first.len()]);
    warnings.extend(first.iter().zip(lines).map(|(one, line)| match line {
        Some(at) => format!("{name}:{}:{}: {}", at.line, at.column, one.message),
        None => format!("{name} @ {}: {}", one.offset, one.message),
    }));
    let (errors, more) = (incidents.errors(), incidents.warnings().saturating_sub(SHOWN as u64));
    if more > 0 {
        warnings.push(format!("{name}: {more} more warnings"));
    }
    if errors > 0 {
        warnings.push(format!("{name}: {errors} errors were passed over"));
    }
    warnings
}
