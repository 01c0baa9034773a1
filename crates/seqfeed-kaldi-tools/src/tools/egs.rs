//! `nnet3-copy-egs`, `nnet3-shuffle-egs`, `nnet3-subset-egs`.
//!
//! All draws are those of Kaldi with GNU's libraries: the same seed gives the same examples in the
//! same order.

use seqfeed_core::Key;
use seqfeed_kaldi::{NnetExample, NnetIo, RandomAccessReader, TableWriter, Token};

use crate::c_random::CRandom;
use crate::call::{Call, Outcome, Stop, abort, some, throw};
use crate::cxx_shuffle::shuffle as shuffle_entries;
use crate::options::opt;
use crate::tools::egs_frames::Selection;
use crate::writing::close;

const COPY_USAGE: &str = "Copies examples for nnet3; with several outputs, deals them out in turns. Can take some of their frames.\n\
Usage: nnet3-copy-egs [options] <egs-rspecifier> <egs-wspecifier1> [<egs-wspecifier2> ...]\n\
e.g.: nnet3-copy-egs ark:train.egs ark,t:text.egs\n\
  or: nnet3-copy-egs ark:train.egs ark:1.egs ark:2.egs\n\
See also: nnet3-shuffle-egs, nnet3-subset-egs\n";

const SEED: &str = "Seed of the random numbers";

/// In tools that shuffle, today's Kaldi seeds only the order with it.
const SHUFFLE_SEED: &str =
    "Seed of the order; other numbers are drawn alike whatever it is, as in Kaldi";

pub(super) fn copy(call: &mut Call<'_>) -> Outcome {
    const PLACE: &str = "main():nnet3bin/nnet3-copy-egs.cc";
    let (mut random, mut seed, mut keep) = (false, 0, 1.0f32);
    let mut frame = String::new();
    let (mut left, mut right, mut shift) = (-1, -1, 0);
    let (mut weights, mut outputs) = (String::new(), String::new());
    let names = call.parse(
        COPY_USAGE,
        2..=usize::MAX,
        &mut [
            opt("random", &mut random, "Deal examples out at random, not in turns"),
            opt(
                "frame-shift",
                &mut shift,
                "Added to the times of all but the ivector, after frames are taken",
            ),
            opt(
                "keep-proportion",
                &mut keep,
                "Keep this part of the examples, at random; if more than 1, so many copies",
            ),
            opt("srand", &mut seed, SEED),
            opt("frame", &mut frame, "Take one frame of the output: a number, or 'random'"),
            opt(
                "left-context",
                &mut left,
                "Cut the input's frames before the output off to so many",
            ),
            opt(
                "right-context",
                &mut right,
                "Cut the input's frames behind the output off to so many",
            ),
            opt(
                "weights",
                &mut weights,
                "Rspecifier of a number for each key, by which the supervision is multiplied",
            ),
            opt(
                "outputs",
                &mut outputs,
                "Rspecifier of a name for each key (such as output-0), which 'output' gets",
            ),
        ],
    )?;
    if keep.is_nan() || keep < 0.0 {
        return abort(format_args!("--keep-proportion={keep}: must be 0 or more"));
    }
    let mut selection = Selection::new(&frame, left, right, shift)?;
    let mut drawn = CRandom::new(seed);
    let mut table = call.table::<NnetExample>(&names[0])?;
    let mut outputs = Outputs::open(call, &weights, &outputs)?;
    let create = |name: &String| call.create::<NnetExample>(name);
    let mut writers: Vec<_> = names[1..].iter().map(create).collect::<Result<_, Stop>>()?;
    let (mut read, mut written, mut failed) = (0u64, 0u64, 0u64);
    while let Some((key, example)) = table.next()? {
        read += 1;
        // Kaldi computes in 64 bits with the 32-bit value of the option.
        let copies = f64::from(keep).floor();
        let rest = (f64::from(keep) - copies) as f32;
        let copies = copies as u64 + u64::from(drawn.with_probability(rest));
        if !outputs.change(call, key, example)? {
            failed += 1;
            continue;
        }
        for _ in 0..copies {
            let count = writers.len() as u64;
            let turn = if random { drawn.rand() as u64 } else { written };
            let writer = &mut writers[(turn % count) as usize];
            match &mut selection {
                None => writer.write(key, example)?,
                Some(selection) => match selection.take(call, key, example, &mut drawn)? {
                    None => continue,
                    Some(part) => writer.write(key, &part)?,
                },
            }
            written += 1;
        }
    }
    table.close()?;
    for writer in writers {
        close(writer)?;
    }
    let message = format!(
        "Read {read} neural-network training examples, wrote {written}, {failed} examples had errors."
    );
    call.log(PLACE, message);
    some(written)
}

/// `--weights` and `--outputs`: the changes of the examples' outputs.
struct Outputs {
    weights: Option<RandomAccessReader<f32>>,
    names: Option<RandomAccessReader<Token>>,
}

impl Outputs {
    fn open(call: &Call<'_>, weights: &str, names: &str) -> Result<Self, Stop> {
        let weights = (!weights.is_empty()).then(|| call.random(weights)).transpose()?;
        let names = (!names.is_empty()).then(|| call.random(names)).transpose()?;
        Ok(Self { weights, names })
    }

    /// Changes an example. Returns false if the tables lack it; then it is left out, with a
    /// warning.
    fn change(
        &mut self,
        call: &mut Call<'_>,
        key: Key<'_>,
        example: &mut NnetExample,
    ) -> Result<bool, Stop> {
        const PLACE: &str = "main():nnet3bin/nnet3-copy-egs.cc";
        if let Some(weights) = &mut self.weights {
            let Some(&weight) = weights.get(key)? else {
                call.warn(PLACE, format_args!("No weight for example key {key}"));
                return Ok(false);
            };
            if weight != 1.0 {
                output(example)?.features.scale(weight);
            }
        }
        if let Some(names) = &mut self.names {
            let Some(name) = names.get(key)? else {
                call.warn(PLACE, format_args!("No new output-name for example key {key}"));
                return Ok(false);
            };
            let Ok(name) = String::from_utf8(name.0.clone()) else {
                return throw(
                    "nnet3bin/nnet3-copy-egs.cc",
                    format!("{name} is no name of an output"),
                );
            };
            output(example)?.name = name;
        }
        Ok(true)
    }
}

fn output(example: &mut NnetExample) -> Result<&mut NnetIo, Stop> {
    match example.io.iter_mut().find(|io| io.name == "output") {
        Some(output) => Ok(output),
        None => throw(
            "nnet3bin/nnet3-copy-egs.cc",
            "the example has no output of the name 'output' to be weighted or renamed",
        ),
    }
}

const SHUFFLE_USAGE: &str = "Copies examples for nnet3 in random order. All are in memory at once, unless there is a --buffer-size.\n\
Usage: nnet3-shuffle-egs [options] <egs-rspecifier> <egs-wspecifier>\n\
e.g.: nnet3-shuffle-egs --srand=1 ark:train.egs ark:shuffled.egs\n\
See also: nnet3-copy-egs, nnet3-subset-egs\n";

/// An example with its key.
type Entry = (Vec<u8>, NnetExample);

fn write(writer: &mut TableWriter<NnetExample>, entry: &Entry) -> Result<(), Stop> {
    Ok(writer.write(Key(&entry.0), &entry.1)?)
}

pub(super) fn shuffle(call: &mut Call<'_>) -> Outcome {
    let (mut seed, mut buffer_size) = (0, 0);
    let names = call.parse(
        SHUFFLE_USAGE,
        2..=2,
        &mut [
            opt("srand", &mut seed, SHUFFLE_SEED),
            opt(
                "buffer-size",
                &mut buffer_size,
                "If more than 0, shuffle only so far, in a buffer of so many examples",
            ),
        ],
    )?;
    let Ok(size) = usize::try_from(buffer_size) else {
        return abort(format_args!("--buffer-size={buffer_size}: must be 0 or more"));
    };
    let mut drawn = CRandom::never_seeded();
    let mut table = call.table::<NnetExample>(&names[0])?;
    let mut writer = call.create::<NnetExample>(&names[1])?;
    if size == 0 {
        let mut entries: Vec<Entry> = Vec::new();
        while let Some((key, example)) = table.next()? {
            entries.push((key.0.to_vec(), std::mem::take(example)));
        }
        shuffle_entries(&mut entries, seed);
        entries.iter().try_for_each(|entry| write(&mut writer, entry))?;
    } else {
        // It grows only as far as places are filled.
        let mut places: Vec<Option<Entry>> = Vec::new();
        while let Some((key, example)) = table.next()? {
            let place = drawn.below(buffer_size) as usize;
            if places.len() <= place {
                places.resize_with(place + 1, || None);
            }
            let entry = (key.0.to_vec(), std::mem::take(example));
            if let Some(entry) = places[place].replace(entry) {
                write(&mut writer, &entry)?;
            }
        }
        places.iter().flatten().try_for_each(|entry| write(&mut writer, entry))?;
    }
    table.close()?;
    let done = close(writer)?.objects;
    let how = if size > 0 { "using a buffer (partial randomization)" } else { "" };
    call.log(
        "main():nnet3bin/nnet3-shuffle-egs.cc",
        format_args!("Shuffled order of {done} neural-network training examples {how}"),
    );
    some(done)
}

const SUBSET_USAGE: &str = "Copies a random subset of examples for nnet3, of a given size. The subset is in memory.\n\
Usage: nnet3-subset-egs [options] <egs-rspecifier> <egs-wspecifier>\n\
e.g.: nnet3-copy-egs [options] ark:train.egs ark:- | nnet3-subset-egs --n=1000 ark:- ark:subset.egs\n\
See also: nnet3-copy-egs, nnet3-shuffle-egs\n";

pub(super) fn subset(call: &mut Call<'_>) -> Outcome {
    let (mut seed, mut n, mut randomize) = (0, 1000, true);
    let names = call.parse(
        SUBSET_USAGE,
        2..=2,
        &mut [
            opt("srand", &mut seed, SHUFFLE_SEED),
            opt("n", &mut n, "Number of examples to write"),
            opt("randomize-order", &mut randomize, "Write them in random order"),
        ],
    )?;
    let Some(size) = usize::try_from(n).ok().filter(|&size| size > 0) else {
        return abort(format_args!("--n={n}: must be more than 0"));
    };
    let mut drawn = CRandom::never_seeded();
    let mut table = call.table::<NnetExample>(&names[0])?;
    let mut entries: Vec<Entry> = Vec::new();
    let mut read = 0u64;
    while let Some((key, example)) = table.next()? {
        read += 1;
        if entries.len() < size {
            entries.push((key.0.to_vec(), std::mem::take(example)));
        } else if drawn.with_probability(n as f32 / read as f32) {
            let place = drawn.below(n) as usize;
            entries[place] = (key.0.to_vec(), std::mem::take(example));
        }
    }
    table.close()?;
    if randomize {
        shuffle_entries(&mut entries, seed);
    }
    let mut writer = call.create::<NnetExample>(&names[1])?;
    entries.iter().try_for_each(|entry| write(&mut writer, entry))?;
    let written = close(writer)?.objects;
    call.log(
        "main():nnet3bin/nnet3-subset-egs.cc",
        format_args!(
            "Selected a subset of {written} out of {read} neural-network training examples "
        ),
    );
    some(read)
}
