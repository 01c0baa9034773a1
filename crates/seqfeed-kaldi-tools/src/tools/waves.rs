//! `wav-copy`, `wav-to-duration`.

use seqfeed_core::Key;
use seqfeed_kaldi::{TableWriter, Wave, WaveInfo};

use crate::call::{Call, Outcome, Stop, some, throw};
use crate::number::G;
use crate::options::opt;
use crate::reading::are_tables;

const COPY_USAGE: &str = "Copies waves or tables of waves. They come out as 16-bit PCM.\n\
Usage: wav-copy [options] <wav-rspecifier> <wav-wspecifier>\n\
   or: wav-copy [options] <wav-rxfilename> <wav-wxfilename>\n\
e.g.: wav-copy scp:wav.scp ark:-\n\
  or: wav-copy wav.ark:123456 -\n\
See also: wav-to-duration, extract-segments\n";

pub(super) fn copy(call: &mut Call<'_>) -> Outcome {
    const PLACE: &str = "main():featbin/wav-copy.cc";
    let names = call.parse(COPY_USAGE, 2..=2, &mut [])?;
    if !are_tables(&names[0], &names[1], PLACE, "Cannot mix archives with regular files")? {
        let wave: Wave = call.read_object(&names[0])?;
        wave.warnings.iter().for_each(|warning| call.warn(PLACE, warning));
        call.write_object(&wave, &names[1], true)?;
        return Ok(0);
    }
    let table = call.table::<Wave>(&names[0])?;
    let writer = call.create::<Wave>(&names[1])?;
    let copied = call.each(table, writer, |call, key, wave, writer| {
        wave.warnings.iter().for_each(|warning| call.warn(PLACE, format!("{key}: {warning}")));
        let clipped = wave.clipped();
        if clipped > 0 {
            call.warn(PLACE, format_args!("{key}: {clipped} samples were clipped to 16 bits"));
        }
        writer.write(key, wave)?;
        Ok(true)
    })?;
    call.log(PLACE, format_args!("Copied {} wave files", copied.done));
    some(copied.done)
}

const DURATION_USAGE: &str = "Writes the duration of each wave, in seconds.\n\
Usage: wav-to-duration [options] <wav-rspecifier> <duration-wspecifier>\n\
e.g.: wav-to-duration scp:wav.scp ark,t:-\n\
See also: wav-copy, extract-segments, feat-to-len\n";

/// Durations, and the messages about them.
struct Durations {
    sum: f64,
    min: f32,
    max: f32,
}

impl Durations {
    fn write(
        &mut self,
        duration: f32,
        key: Key<'_>,
        writer: &mut TableWriter<f32>,
    ) -> Result<bool, Stop> {
        self.sum += f64::from(duration);
        self.min = self.min.min(duration);
        self.max = self.max.max(duration);
        writer.write(key, &duration)?;
        Ok(true)
    }
}

pub(super) fn durations(call: &mut Call<'_>) -> Outcome {
    const PLACE: &str = "main():featbin/wav-to-duration.cc";
    let mut entire = false;
    let doc = "Read samples to their end, rather than believe the header";
    let names =
        call.parse(DURATION_USAGE, 2..=2, &mut [opt("read-entire-file", &mut entire, doc)])?;
    let writer = call.create::<f32>(&names[1])?;
    let mut all = Durations { sum: 0.0, min: f32::INFINITY, max: 0.0 };
    let written = if entire {
        let table = call.table::<Wave>(&names[0])?;
        call.each(table, writer, |_, key, wave, writer| all.write(wave.duration(), key, writer))?
    } else {
        let table = call.table::<WaveInfo>(&names[0])?;
        call.each(table, writer, |_, key, info, writer| match info.duration() {
            Some(duration) => all.write(duration, key, writer),
            None => throw(
                "main():featbin/wav-to-duration.cc:80",
                format_args!(
                    "Error: member {key} has no duration in header. Check the source, and/or try \
                     --read-entire-file."
                ),
            ),
        })?
    };
    let count = written.done;
    call.log(PLACE, format_args!("Printed duration for {count} audio files."));
    if count > 0 {
        let mean = G(all.sum / count as f64);
        let (min, max) = (G(f64::from(all.min)), G(f64::from(all.max)));
        let message = format!("Mean duration was {mean}, min and max durations were {min}, {max}");
        call.log(PLACE, message);
    }
    some(count)
}
