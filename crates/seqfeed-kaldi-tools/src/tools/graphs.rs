//! `fstcopy`, `lattice-copy`.

use std::collections::BTreeSet;

use seqfeed_kaldi::{CompactLattice, Holder, Lattice, StdVectorFst};

use crate::call::{Call, Outcome, Stop, abort, some, throw};
use crate::options::opt;
use crate::reading::{Counts, fields};

const FST_USAGE: &str = "Copies tables of FSTs.\n\
Usage: fstcopy [options] <fst-rspecifier> <fst-wspecifier>\n\
e.g.: fstcopy ark:1.fsts ark,t:-\n";

pub(super) fn fstcopy(call: &mut Call<'_>) -> Outcome {
    let names = call.parse(FST_USAGE, 2..=2, &mut [])?;
    let done = call.copy((&names[0], &names[1]), |_: &mut StdVectorFst| Ok(()))?.done;
    call.log("main():fstbin/fstcopy.cc", format_args!("Copied {done} FSTs."));
    some(done)
}

const LATTICE_USAGE: &str = "Copies tables of lattices: to text or binary, compact or not, or a part of them.\n\
Usage: lattice-copy [options] <lattice-rspecifier> <lattice-wspecifier>\n\
e.g.: lattice-copy --write-compact=false ark:1.lats ark,t:text.lats\n";

const LATTICE_PLACE: &str = "main():latbin/lattice-copy.cc";

/// `--include`, `--exclude` and `--ignore-missing` follow Kaldi's source.
pub(super) fn lattice_copy(call: &mut Call<'_>) -> Outcome {
    let (mut compact, mut ignore_missing) = (true, false);
    let (mut include, mut exclude) = (String::new(), String::new());
    let doc = "End with 0 even if keys of --include are not there";
    let names = call.parse(
        LATTICE_USAGE,
        2..=2,
        &mut [
            opt("write-compact", &mut compact, "Write compact lattices"),
            opt("include", &mut include, "File whose lines begin with the keys to copy"),
            opt("exclude", &mut exclude, "File whose lines begin with the keys not to copy"),
            opt("ignore-missing", &mut ignore_missing, doc),
        ],
    )?;
    if !include.is_empty() && !exclude.is_empty() {
        let message = "should not have both --exclude and --include option!";
        return throw(LATTICE_PLACE, message);
    }
    if include.is_empty() && exclude.is_empty() {
        let names = (names[0].as_str(), names[1].as_str());
        let copied = match compact {
            true => call.copy(names, |_: &mut CompactLattice| Ok(()))?,
            false => call.copy(names, |_: &mut Lattice| Ok(()))?,
        };
        call.log(LATTICE_PLACE, format_args!("Done copying {} lattices.", copied.done));
        return some(copied.done);
    }
    let included = !include.is_empty();
    let keys = read_keys(call, if included { &include } else { &exclude })?;
    let (written, total) = if compact {
        copy_part::<CompactLattice>(call, &names, &keys, included)?
    } else {
        copy_part::<Lattice>(call, &names, &keys, included)?
    };
    call.log(LATTICE_PLACE, format_args!(" Wrote {written} out of {total} lattices."));
    if ignore_missing {
        return Ok(0);
    }
    let missing = included && written < keys.len() as u64;
    Ok(u8::from(written == 0 || missing))
}

/// The first word of each line.
pub(super) fn read_keys(call: &Call<'_>, name: &str) -> Result<BTreeSet<Vec<u8>>, Stop> {
    let mut lines = call.lines(name)?;
    let mut keys = BTreeSet::new();
    while let Some(line) = lines.next()? {
        match fields(line).first() {
            Some(key) => drop(keys.insert(key.to_vec())),
            None => return abort(format_args!("{name}: there is an empty line among the keys")),
        }
    }
    Ok(keys)
}

/// Copies the objects whose keys are in the set, or those whose keys are not. Returns their number,
/// and the number of all.
pub(super) fn copy_part<T: Holder + Default>(
    call: &mut Call<'_>,
    names: &[String],
    keys: &BTreeSet<Vec<u8>>,
    included: bool,
) -> Result<(u64, u64), Stop> {
    let writer = call.create::<T>(&names[1])?;
    let table = call.table::<T>(&names[0])?;
    let Counts { done, failed, .. } = call.each(table, writer, |_, key, value, writer| {
        let wanted = keys.contains(key.0) == included;
        if wanted {
            writer.write(key, value)?;
        }
        Ok(wanted)
    })?;
    Ok((done, done + failed))
}
