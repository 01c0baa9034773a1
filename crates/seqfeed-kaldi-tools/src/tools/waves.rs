//! `wav-copy`, `wav-to-duration`.

use seqfeed_kaldi::{Wave, WaveInfo};

use crate::call::{Call, Outcome, some, throw};
use crate::number::G;
use crate::options::opt;
use crate::reading::{is_rspecifier, is_wspecifier};
use crate::tools::copy_matrix::read_count;
use crate::writing::close;

const COPY_USAGE: &str = "Copies waves or tables of waves. They come out as 16-bit PCM.\n\
Usage: wav-copy [options] <wav-rspecifier> <wav-wspecifier>\n\
   or: wav-copy [options] <wav-rxfilename> <wav-wxfilename>\n\
e.g.: wav-copy scp:wav.scp ark:-\n\
  or: wav-copy wav.ark:123456 -\n\
See also: wav-to-duration, extract-segments\n";

pub(super) fn copy(call: &mut Call<'_>) -> Outcome {
    const PLACE: &str = "main():featbin/wav-copy.cc";
    let names = call.parse(COPY_USAGE, 2..=2, &mut [])?;
    let tables = is_rspecifier(&names[0]);
    if tables != is_wspecifier(&names[1]) {
        return throw(PLACE, "Cannot mix archives with regular files");
    }
    if !tables {
        let wave: Wave = call.read_object(&names[0])?;
        wave.warnings.iter().for_each(|warning| call.warn(PLACE, warning));
        call.write_object(&wave, &names[1], true)?;
        return Ok(0);
    }
    let mut table = call.table::<Wave>(&names[0])?;
    let mut writer = call.create::<Wave>(&names[1])?;
    while let Some((key, wave)) = table.next()? {
        wave.warnings.iter().for_each(|warning| call.warn(PLACE, format!("{key}: {warning}")));
        let clipped = wave.clipped();
        if clipped > 0 {
            call.warn(PLACE, format_args!("{key}: {clipped} samples were clipped to 16 bits"));
        }
        writer.write(key, wave)?;
    }
    table.close()?;
    let done = read_count(&close(writer)?);
    call.log(PLACE, format_args!("Copied {done} wave files"));
    some(done)
}

const DURATION_USAGE: &str = "Writes the duration of each wave, in seconds.\n\
Usage: wav-to-duration [options] <wav-rspecifier> <duration-wspecifier>\n\
e.g.: wav-to-duration scp:wav.scp ark,t:-\n\
See also: wav-copy, extract-segments, feat-to-len\n";

/// Durations, and what is said of them.
struct Durations {
    sum: f64,
    min: f32,
    max: f32,
    count: u64,
}

impl Durations {
    fn add(&mut self, duration: f32) {
        self.sum += f64::from(duration);
        self.min = self.min.min(duration);
        self.max = self.max.max(duration);
        self.count += 1;
    }
}

pub(super) fn durations(call: &mut Call<'_>) -> Outcome {
    const PLACE: &str = "main():featbin/wav-to-duration.cc";
    let mut entire = false;
    let doc = "Read samples to their end, rather than believe the header";
    let names =
        call.parse(DURATION_USAGE, 2..=2, &mut [opt("read-entire-file", &mut entire, doc)])?;
    let mut writer = call.create::<f32>(&names[1])?;
    let mut all = Durations { sum: 0.0, min: f32::INFINITY, max: 0.0, count: 0 };
    if entire {
        let mut table = call.table::<Wave>(&names[0])?;
        while let Some((key, wave)) = table.next()? {
            let duration = wave.duration();
            writer.write(key, &duration)?;
            all.add(duration);
        }
        table.close()?;
    } else {
        let mut table = call.table::<WaveInfo>(&names[0])?;
        while let Some((key, info)) = table.next()? {
            let Some(duration) = info.duration() else {
                return throw(
                    "main():featbin/wav-to-duration.cc:80",
                    format_args!(
                        "Error: member {key} has no duration in header. Check the source, and/or try \
                         --read-entire-file."
                    ),
                );
            };
            writer.write(key, &duration)?;
            all.add(duration);
        }
        table.close()?;
    }
    close(writer)?;
    let count = all.count;
    call.log(PLACE, format_args!("Printed duration for {count} audio files."));
    if count > 0 {
        let mean = G(all.sum / count as f64);
        let (min, max) = (G(f64::from(all.min)), G(f64::from(all.max)));
        call.log(
            PLACE,
            format_args!("Mean duration was {mean}, min and max durations were {min}, {max}"),
        );
    }
    some(count)
}
