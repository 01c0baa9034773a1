//! `extract-feature-segments`.

use seqfeed_core::Key;
use seqfeed_kaldi::Matrix;

use crate::call::{Call, Outcome, abort};
use crate::frames;
use crate::options::opt;
use crate::segments::Segments;
use crate::writing::close;

const USAGE: &str = "Cuts features into segments. (Ranges in script files do the same without a copy.)\n\
Usage: extract-feature-segments [options] <feats-rspecifier> <segments-file> <feats-wspecifier>\n\
Lines of the segments file: segment utterance 1.10 2.36\n\
See also: extract-segments\n";

const PLACE: &str = "main():featbin/extract-feature-segments.cc";

pub(super) fn run(call: &mut Call<'_>) -> Outcome {
    let (mut min_length, mut max_overshoot) = (0.1f32, 0.0f32);
    let (mut frame_shift, mut frame_length, mut snip_edges) = (10, 25, true);
    let names = call.parse(
        USAGE,
        3..=3,
        &mut [
            opt("min-segment-length", &mut min_length, "Shorter segments (in seconds) are left out"),
            opt("frame-length", &mut frame_length, "Length of a frame in milliseconds"),
            opt("frame-shift", &mut frame_shift, "Time from frame to frame in milliseconds"),
            opt(
                "max-overshoot",
                &mut max_overshoot,
                "Segments that end less than this (in seconds) behind the end are cut off, others left out",
            ),
            opt(
                "snip-edges",
                &mut snip_edges,
                "Take only frames that lie in the segment to their end: leave out the last \
                 ceil((frame-length - frame-shift) / frame-shift)",
            ),
        ],
    )?;
    if frame_shift <= 0 {
        return abort(format_args!("--frame-shift={frame_shift}: must be more than 0"));
    }
    let shift = f64::from(frame_shift);
    // To the nearest frame; halves away from zero.
    let frames_of = |seconds: f64| (seconds * 1000.0 / shift).round() as i64;
    let snipped =
        if snip_edges { ((f64::from(frame_length) - shift) / shift).ceil() as i64 } else { 0 };
    let mut writer = call.create::<Matrix<f32>>(&names[2])?;
    let mut reader = call.random::<Matrix<f32>>(&names[0])?;
    let mut segments = Segments::open(call, &names[1], PLACE, false)?;
    let mut done = 0u64;
    while let Some(segment) = segments.next(call)? {
        let (key, utterance) = (Key(&segment.key), Key(&segment.recording));
        let Some(features) = reader.get(utterance)? else {
            let message =
                format!("Did not find features for utterance {utterance}, skipping segment {key}");
            call.warn("main():featbin/extract-feature-segments.cc:155", message);
            continue;
        };
        let size = format!("[length:] {}x{}", features.rows, features.cols);
        let length = features.rows as i64;
        let start = frames_of(segment.start);
        let mut end = frames_of(segment.end).saturating_sub(snipped);
        if start >= length {
            let message =
                format!("Start sample out of range {start} {size}, skipping segment {key}");
            call.warn(PLACE, message);
            continue;
        }
        if end > length {
            if end >= length.saturating_add(frames_of(f64::from(max_overshoot))) {
                let message =
                    format!("End sample too far out of range {end} {size}, skipping segment {key}");
                call.warn(PLACE, message);
                continue;
            }
            end = length;
        }
        if end <= start.saturating_add(frames_of(f64::from(min_length))) {
            call.warn(
                "main():featbin/extract-feature-segments.cc:207",
                format_args!("Segment {key} too short, skipping it."),
            );
            continue;
        }
        writer.write(key, &frames::rows(features, start as usize..end as usize))?;
        done += 1;
    }
    close(writer)?;
    let count = segments.count;
    call.log(
        "main():featbin/extract-feature-segments.cc:218",
        format_args!("Successfully processed {done} lines out of {count} in the segments file. "),
    );
    Ok(if done == 0 { 255 } else { 0 })
}
