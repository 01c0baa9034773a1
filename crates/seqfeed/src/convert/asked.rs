//! Options as people write them, on the command line and in Python.

use seqfeed_core::{Error, Extent, Kind, Result, SampleRates, Stream};
use seqfeed_kaldi::CompressionMethod;

use super::{ConvertOptions, TargetFormat};

/// The level of Zstandard where none is given: its own default.
const ZSTD: i32 = 3;

impl ConvertOptions {
    /// Compresses what is written: `auto` or a method of Kaldi's by its number, with its tables;
    /// `zstd` or `zstd:LEVEL`, with Parquet and Arrow files, where `auto` is `zstd`.
    ///
    /// # Errors
    ///
    /// Fails if it is none of these.
    pub fn compress_by(&mut self, text: &str) -> Result<()> {
        if text.starts_with("zstd") || self.target.format().is_columnar() {
            self.zstd = Some(zstd(text)?);
        } else {
            self.compress = Some(kaldi_compression(text)?);
        }
        Ok(())
    }

    /// Takes those of `streams` that are written and are floats for sound of so many samples a
    /// second, unless their rate is known already.
    ///
    /// # Errors
    ///
    /// Fails if what is written holds no waves.
    pub fn sound_at(&mut self, rate: u32, streams: &[Stream]) -> Result<()> {
        if self.target.format() != TargetFormat::Kaldi {
            return Err(Error::usage(
                "--sample-rate is for waves, which are written as Kaldi's tables",
            )
            .with_help("write ark:..., ark,scp:... or kaldi:..."));
        }
        for stream in streams {
            let chosen = self.streams.is_empty() || self.streams.contains(&stream.name);
            if chosen && stream.kind == Kind::Dense && stream.extent != Extent::Sequence {
                let rates = self.sample_rates.entry(stream.name.clone());
                rates.or_insert_with(|| SampleRates::all(rate));
            }
        }
        Ok(())
    }
}

/// A level of Zstandard: `zstd` or `zstd:9`.
fn zstd(text: &str) -> Result<i32> {
    match text.strip_prefix("zstd") {
        Some("") => Some(ZSTD),
        None if text == "auto" => Some(ZSTD),
        Some(level) => level.strip_prefix(':').and_then(|level| level.parse().ok()),
        None => None,
    }
    .filter(|level| (1..=22).contains(level))
    .ok_or_else(|| {
        Error::usage(format!("--compress={text}: expected a way to compress columns"))
            .with_help("zstd, or zstd:LEVEL with a level from 1 to 22")
    })
}

/// A compression method of Kaldi's, `auto` or by its number.
///
/// # Errors
///
/// Fails if it is none.
pub fn kaldi_compression(text: &str) -> Result<CompressionMethod> {
    if text == "auto" {
        return Ok(CompressionMethod::Auto);
    }
    let method = text.parse().ok().and_then(|number: i32| CompressionMethod::try_from(number).ok());
    method.ok_or_else(|| {
        Error::usage(format!("--compress={text}: expected a compression method of Kaldi's")).with_help(
            "1 or auto, 2 (speech features), 3 (two bytes), 4 (two bytes, integers), 5 (one byte), \
             6 (one byte, integers), 7 (one byte, 0 to 1)",
        )
    })
}
