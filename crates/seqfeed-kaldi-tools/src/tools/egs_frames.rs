//! Takes frames out of examples for nnet3: `--frame`, `--left-context`, `--right-context`,
//! `--frame-shift`.

use seqfeed_core::Key;
use seqfeed_kaldi::{GeneralMatrix, NnetExample, NnetIo};

use crate::c_random::CRandom;
use crate::call::{Call, Stop, throw};
use crate::frames;
use crate::number::integer;

/// The frame of the output.
enum Frame {
    All,
    Random,
    Number(i32),
}

/// The selected part of examples.
pub(super) struct Selection {
    frame: Frame,
    left: i32,
    right: i32,
    shift: i32,
    warned_left: bool,
    warned_right: bool,
}

/// The first and last time of a stream.
type Times = (i32, i32);

const PLACE: &str = "SelectFromExample():nnet3bin/nnet3-copy-egs.cc";

impl Selection {
    /// The selection for options. `None` if examples stay whole.
    pub(super) fn new(
        frame: &str,
        left: i32,
        right: i32,
        shift: i32,
    ) -> Result<Option<Self>, Stop> {
        let frame = match frame {
            "" if left == -1 && right == -1 && shift == 0 => return Ok(None),
            "" => Frame::All,
            "random" => Frame::Random,
            number => match integer(number) {
                Some(number) => Frame::Number(number),
                None => return throw(PLACE, format_args!("Invalid option --frame='{number}'")),
            },
        };
        Ok(Some(Self { frame, left, right, shift, warned_left: false, warned_right: false }))
    }

    /// The selected part of an example. `None` if it has no such frame.
    pub(super) fn take(
        &mut self,
        call: &mut Call<'_>,
        key: Key<'_>,
        example: &NnetExample,
        random: &mut CRandom,
    ) -> Result<Option<NnetExample>, Stop> {
        let (mut input, mut output) =
            (times(key, example, "input")?, times(key, example, "output")?);
        match self.frame {
            Frame::All => {}
            Frame::Random => {
                let count = output.1.wrapping_sub(output.0).wrapping_add(1);
                let frame = output.0 + random.below(count);
                output = (frame, frame);
            }
            Frame::Number(frame) if (output.0..=output.1).contains(&frame) => {
                output = (frame, frame);
            }
            Frame::Number(_) => return Ok(None),
        }
        if self.left != -1 {
            let first = output.0.saturating_sub(self.left);
            if input.0 > first && !self.warned_left {
                self.warned_left = true;
                let message = format!(
                    "You requested --left-context={}, but example only has left-context of {} (will warn only \
                     once; this may be harmless if using any --*left-context-initial options)",
                    self.left,
                    output.0.saturating_sub(input.0)
                );
                call.warn(PLACE, message);
            }
            input.0 = input.0.max(first);
        }
        if self.right != -1 {
            let last = output.1.saturating_add(self.right);
            if input.1 < last && !self.warned_right {
                self.warned_right = true;
                let message = format!(
                    "You requested --right-context={}, but example only has right-context of {} (will warn only \
                     once; this may be harmless if using any --*right-context-final options.",
                    self.right,
                    input.1.saturating_sub(output.1)
                );
                call.warn(PLACE, message);
            }
            input.1 = input.1.min(last);
        }
        let mut part = NnetExample { io: Vec::with_capacity(example.io.len()) };
        for io in &example.io {
            let mut io = match io.name.as_str() {
                "input" => within(key, io, input)?,
                "output" => within(key, io, output)?,
                _ => io.clone(),
            };
            if io.name != "ivector" {
                for index in &mut io.indexes {
                    index.t = index.t.wrapping_add(self.shift);
                }
            }
            part.io.push(io);
        }
        Ok(Some(part))
    }
}

/// The times of a stream in an example that has not been merged with others.
fn times(key: Key<'_>, example: &NnetExample, name: &str) -> Result<Times, Stop> {
    const PLACE: &str = "ContainsSingleExample():nnet3bin/nnet3-copy-egs.cc";
    if example.io.iter().flat_map(|io| &io.indexes).any(|index| index.n != 0) {
        let message = format!(
            "{key}: Too late to perform frame selection/context reduction on these examples (already merged?)"
        );
        return throw(PLACE, message);
    }
    let io = example.io.iter().find(|io| io.name == name);
    let all = io.into_iter().flat_map(|io| &io.indexes).map(|index| index.t);
    match all.fold(None, |times: Option<Times>, t| {
        times.map_or(Some((t, t)), |(first, last)| Some((first.min(t), last.max(t))))
    }) {
        Some(times) => Ok(times),
        None => throw(PLACE, format_args!("{key}: the example has no stream named '{name}'")),
    }
}

/// The frames of a stream within some times. Frames of a compressed matrix are decompressed.
fn within(key: Key<'_>, io: &NnetIo, (first, last): Times) -> Result<NnetIo, Stop> {
    const PLACE: &str = "FilterExample():nnet3bin/nnet3-copy-egs.cc";
    let name = &io.name;
    if io.features.rows() != io.indexes.len() {
        let (rows, indexes) = (io.features.rows(), io.indexes.len());
        let message = format!("{key}: '{name}' has {rows} rows and {indexes} indexes");
        return throw(PLACE, message);
    }
    let kept: Vec<usize> =
        (0..io.indexes.len()).filter(|&row| (first..=last).contains(&io.indexes[row].t)).collect();
    if kept.len() == io.indexes.len() {
        return Ok(io.clone());
    }
    if kept.is_empty() {
        let message = format!("{key}: FilterExample removed all indexes for '{name}'");
        return throw(PLACE, message);
    }
    let features = match &io.features {
        GeneralMatrix::Full(matrix) => {
            GeneralMatrix::Full(frames::rows(matrix, kept.iter().copied()))
        }
        GeneralMatrix::Compressed(matrix) => {
            GeneralMatrix::Full(frames::rows(&matrix.to_matrix(), kept.iter().copied()))
        }
        GeneralMatrix::Sparse(matrix) => {
            let mut part = matrix.clone();
            part.rows = kept.iter().map(|&row| matrix.rows[row].clone()).collect();
            GeneralMatrix::Sparse(part)
        }
    };
    let indexes = kept.iter().map(|&row| io.indexes[row]).collect();
    Ok(NnetIo { name: name.clone(), indexes, features })
}
