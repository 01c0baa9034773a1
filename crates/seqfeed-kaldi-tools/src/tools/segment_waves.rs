//! `extract-segments`.

use seqfeed_core::Key;
use seqfeed_kaldi::{Matrix, Wave};

use crate::call::{Call, Outcome, throw};
use crate::number::G;
use crate::options::opt;
use crate::segments::Segments;
use crate::writing::close;

const USAGE: &str = "Cuts waves into segments.\n\
Usage: extract-segments [options] <wav-rspecifier> <segments-file> <wav-wspecifier>\n\
Lines of the segments file: segment recording start end [channel]\n\
e.g. call-861225-A-0050-0065 call-861225-A 5.0 6.5\n\
The channel (0, 1) is needed where there are several. An end of -1 is that of the recording.\n\
See also: extract-feature-segments, wav-copy, wav-to-duration\n";

const PLACE: &str = "main():featbin/extract-segments.cc";

pub(super) fn run(call: &mut Call<'_>) -> Outcome {
    let (mut min_length, mut max_overshoot) = (0.1f32, 0.5f32);
    let names = call.parse(
        USAGE,
        3..=3,
        &mut [
            opt("min-segment-length", &mut min_length, "Shorter segments (in seconds) are left out"),
            opt(
                "max-overshoot",
                &mut max_overshoot,
                "Segments that end less than this (in seconds) behind the end are cut off, others left out",
            ),
        ],
    )?;
    let mut reader = call.random::<Wave>(&names[0])?;
    let mut writer = call.create::<Wave>(&names[2])?;
    let mut segments = Segments::open(call, &names[1], PLACE, true)?;
    let mut done = 0u64;
    while let Some(segment) = segments.next(call)? {
        let (key, recording) = (Key(&segment.key), Key(&segment.recording));
        let Some(wave) = reader.get(recording)? else {
            let message = format!("Could not find recording {recording}, skipping segment {key}");
            call.warn(PLACE, message);
            continue;
        };
        let (rate, channels, samples) = (wave.sample_rate, wave.samples.rows, wave.samples.cols);
        // In seconds.
        let length = f64::from(samples as f32 / rate);
        let line = &segment.line;
        let start = segment.start;
        if start > length {
            let message = format!(
                "Segment start is out of file data range [0, {}s]; skipping segment '{line}'",
                G(length)
            );
            call.warn(PLACE, message);
            continue;
        }
        // The sum has 32 bits in Kaldi.
        if segment.end > f64::from(length as f32 + max_overshoot) {
            let message = format!(
                "Segment end is too far out of file data range [0,{}s]; skipping segment '{line}'",
                G(length)
            );
            call.warn(PLACE, message);
            continue;
        }
        let end = if segment.end < 0.0 { length } else { segment.end.min(length) };
        if end - start < f64::from(min_length) {
            call.warn(PLACE, format_args!("Segment {key} too short, skipping it."));
            continue;
        }
        let channel = match segment.channel {
            None if channels == 1 => 0,
            None => {
                return throw(
                    PLACE,
                    format_args!(
                        "Your data has multiple channels. You must specify the channel in the segments file. \
                         Skipping segment {key}"
                    ),
                );
            }
            Some(channel) if channel < channels => channel,
            Some(channel) => {
                let message =
                    format!("Invalid channel {channel} >= {channels}. Skipping segment {key}");
                call.warn(PLACE, message);
                continue;
            }
        };
        let sample = |seconds: f64| (seconds * f64::from(rate) + 0.5) as usize;
        let last = sample(end).min(samples);
        let part = &wave.samples.row(channel)[sample(start).min(last)..last];
        let samples = Matrix { rows: 1, cols: part.len(), values: part.to_vec() };
        let part = Wave { sample_rate: rate, samples, warnings: Vec::new() };
        writer.write(key, &part)?;
        done += 1;
    }
    close(writer)?;
    let count = segments.count;
    call.log(
        PLACE,
        format_args!("Successfully processed {done} lines out of {count} in the segments file. "),
    );
    Ok(0)
}
