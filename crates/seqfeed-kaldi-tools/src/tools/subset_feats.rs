//! `subset-feats`.

use seqfeed_kaldi::Matrix;

use crate::call::{Call, Outcome, abort, some, throw};
use crate::options::opt;
use crate::tools::graphs::{copy_part, read_keys};
use crate::writing::close;

const USAGE: &str = "Copies the features of some utterances: the first ones, or those that a file lists or does not list.\n\
Usage: subset-feats [options] <in-rspecifier> <out-wspecifier>\n\
e.g.: subset-feats --n=100 scp:feats.scp ark:-\n\
  or: subset-feats --include=keys ark:feats.ark ark:-\n\
See also: select-feats, subsample-feats\n";

const PLACE: &str = "main():featbin/subset-feats.cc";

pub(super) fn run(call: &mut Call<'_>) -> Outcome {
    let (mut n, mut include, mut exclude) = (10, String::new(), String::new());
    let names = call.parse(
        USAGE,
        2..=2,
        &mut [
            opt("n", &mut n, "Copy so many utterances"),
            opt("include", &mut include, "File whose lines begin with the keys to copy"),
            opt("exclude", &mut exclude, "File whose lines begin with the keys not to copy"),
        ],
    )?;
    if !include.is_empty() && !exclude.is_empty() {
        return throw(PLACE, "should not have both --exclude and --include option!");
    }
    let included = !include.is_empty();
    if included || !exclude.is_empty() {
        let option = if included { "--include" } else { "--exclude" };
        if n != 10 {
            let message = format!("Should not have both {option} and --n option!");
            return throw(PLACE, message);
        }
        let keys = read_keys(call, if included { &include } else { &exclude })?;
        let (written, total) = copy_part::<Matrix<f32>>(call, &names, &keys, included)?;
        let place = match included {
            true => "CopyIncludedFeats():featbin/subset-feats.cc:52",
            false => "CopyExcludedFeats():featbin/subset-feats.cc:82",
        };
        call.log(place, format_args!(" Wrote {written} out of {total} utterances."));
        return some(written);
    }
    if n < 0 {
        return abort(format_args!("--n={n}: there are no fewer than 0 utterances"));
    }
    let mut writer = call.create::<Matrix<f32>>(&names[1])?;
    let mut table = call.table::<Matrix<f32>>(&names[0])?;
    for _ in 0..n {
        let Some((key, matrix)) = table.next()? else { break };
        writer.write(key, matrix)?;
    }
    table.close()?;
    close(writer)?;
    Ok(0)
}
