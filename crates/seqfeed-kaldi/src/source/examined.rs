//! Checks of a table beside its objects: entries that lead to other keys, keys that are not sorted.

use std::ffi::{OsStr, OsString};

use seqfeed_core::{Error, Index, Key, Remark, Result, Severity, Source};
use seqfeed_io::Opener;

use super::options::TableOptions;
use super::placement::{KeyThere, Misplaced, misplaced_entries};

const CURE: &str = "was the archive written again after the script file? write both together \
                    (ark,scp:feats.ark,feats.scp)";

/// The names by which a source's tables were opened.
pub(super) struct TableNames {
    rspecifiers: Vec<OsString>,
    opener: Opener,
}

impl TableNames {
    pub(super) fn new(rspecifiers: &[impl AsRef<OsStr>], options: &TableOptions) -> Self {
        let rspecifiers = rspecifiers.iter().map(|name| name.as_ref().to_owned()).collect();
        Self { rspecifiers, opener: options.opener.clone() }
    }

    /// Checks the script files among them, and the order of keys.
    pub(super) fn examine(&self, source: &impl Source) -> Result<Vec<Remark>> {
        let mut remarks = Vec::new();
        for table in &self.rspecifiers {
            let misplaced = match misplaced_entries(table, &self.opener) {
                Ok(misplaced) => misplaced,
                // The table itself could be opened, so its entries remain unknown.
                Err(error) => error.damage().map(|_| Vec::new())?,
            };
            remarks.extend(misplaced.iter().filter_map(of_another));
            remarks.extend(renamed(&misplaced));
        }
        let at = |remark: Remark| Remark { error: remark.error.in_file(source.name()), ..remark };
        remarks.extend(unsorted(source.index()).map(at));
        Ok(remarks)
    }
}

/// An error for an entry that leads to the object of another key.
fn of_another(entry: &Misplaced) -> Option<Remark> {
    let KeyThere::OfAnother(key) = &entry.found else { return None };
    let (offset, archive) = (entry.offset, &entry.archive);
    let what = format!("the object at {offset} of {archive} is that of {}", Key(key));
    Some(remark(Severity::Error, "other-object", entry, what, CURE))
}

/// One remark for all entries that lead to keys that the script file does not have.
fn renamed(misplaced: &[Misplaced]) -> Option<Remark> {
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
    let (offset, archive) = (first.offset, &first.archive);
    let mut what = format!("the object at {offset} of {archive} has another key there");
    if others.len() > 1 {
        what += &format!("; {} more like it", others.len() - 1);
    }
    Some(remark(severity, "other-key", first, what, cure))
}

/// The first key that is smaller than the previous one.
fn unsorted(index: &Index) -> Option<Remark> {
    let mut behind = 1..index.len() as u32;
    let at = behind.find(|&at| index.key(at).0 < index.key(at - 1).0)?;
    let what = format!(
        "the table is not sorted: this key comes behind {}; Kaldi's tools fail where an rspecifier says `s` or \
         `cs`",
        index.key(at - 1)
    );
    let cure =
        "sort it (LC_ALL=C sort, or seqfeed copy --sort; --fix does); seqfeed needs no order";
    let error = Error::corpus(what).of_key(index.key(at)).with_help(cure);
    Some(Remark { severity: Severity::Note, kind: "unsorted", error })
}

fn remark(
    severity: Severity,
    kind: &'static str,
    entry: &Misplaced,
    what: String,
    cure: &'static str,
) -> Remark {
    let error = Error::corpus(what)
        .in_file(entry.script.to_string())
        .at_line(entry.line)
        .of_key(Key(&entry.key))
        .with_help(cure);
    Remark { severity, kind, error }
}
