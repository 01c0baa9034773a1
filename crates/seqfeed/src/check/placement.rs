//! Script files of Kaldi whose entries lead to the objects of other keys.

use std::collections::HashSet;
use std::path::Path;

use seqfeed_core::{Key, Result, Source};
use seqfeed_io::shown_name;
use seqfeed_kaldi::{KeyThere, Misplaced, misplaced_entries};

use super::{Finding, Severity};
use crate::name::names_of;

/// Looks at the script files of a stream; the sequences whose objects are those of others.
pub(super) fn check(
    stream: &str,
    tables: &[String],
    base: Option<&Path>,
    source: &dyn Source,
    found: &mut Vec<Finding>,
) -> Result<HashSet<u32>> {
    let mut of_others = HashSet::new();
    for table in names_of(tables) {
        let misplaced = match misplaced_entries(&table, base) {
            Ok(misplaced) => misplaced,
            // The table itself could be opened: this is not known then.
            Err(error) => error.damage().map(|_| Vec::new())?,
        };
        for entry in &misplaced {
            if let KeyThere::OfAnother(key) = &entry.found {
                found.push(of_another(stream, entry, Key(key)));
                of_others.insert(entry.key.clone());
            }
        }
        found.extend(renamed(stream, &misplaced));
    }
    let index = source.index();
    let is_of_other = |&number: &u32| of_others.contains(index.key(number).0);
    Ok(match of_others.is_empty() {
        true => HashSet::new(),
        false => (0..index.len() as u32).filter(is_of_other).collect(),
    })
}

const CURE: &str = "was the archive written again after the script file? write both together \
                    (ark,scp:feats.ark,feats.scp)";

/// An entry that leads to the object of another one.
fn of_another(stream: &str, entry: &Misplaced, key: Key<'_>) -> Finding {
    let (offset, archive) = (entry.offset, shown_name(&entry.archive));
    let message = format!("the object at {offset} of {archive} is that of {key}");
    finding(Severity::Error, "other-object", stream, entry, message).cure(CURE)
}

/// Entries that lead to objects of keys that the script file does not have: one finding for all.
fn renamed(stream: &str, misplaced: &[Misplaced]) -> Option<Finding> {
    let newer = |entry: &&Misplaced| match entry.found {
        KeyThere::OfAnother(_) => None,
        KeyThere::Other { archive_is_newer } => Some(archive_is_newer),
    };
    let others: Vec<&Misplaced> = misplaced.iter().filter(|entry| newer(entry).is_some()).collect();
    let is_newer = |entry: &&&Misplaced| newer(entry) == Some(true);
    let first = others.iter().find(is_newer).or(others.first())?;
    let (severity, cure) = match newer(first) {
        Some(true) => (Severity::Warning, CURE),
        _ => (Severity::Note, "nothing, if the keys were changed in the script file on purpose"),
    };
    let (offset, archive) = (first.offset, shown_name(&first.archive));
    let mut message = format!("the object at {offset} of {archive} has another key there");
    if others.len() > 1 {
        message += &format!("; {} more like it", others.len() - 1);
    }
    Some(finding(severity, "other-key", stream, first, message).cure(cure))
}

fn finding(
    severity: Severity,
    kind: &'static str,
    stream: &str,
    entry: &Misplaced,
    message: String,
) -> Finding {
    let place = format!("{}:{}", shown_name(&entry.script), entry.line);
    Finding::new(severity, kind, message).stream(stream).key(Key(&entry.key)).at(place)
}
