//! Options as people write them, on the command line and in Python.

use seqfeed_core::{Error, Extent, Kind, Result, SampleRates, Stream};

use super::ConvertOptions;
use seqfeed::Format;
use seqfeed::formats;

impl ConvertOptions {
    /// Sets an option of the format that is written, such as `compress`, `protocol` or `htk-kind`.
    ///
    /// # Errors
    ///
    /// Fails if the format does not take it, or not with this value.
    pub fn set(&mut self, option: &str, value: impl Into<String>) -> Result<()> {
        let (value, format) = (value.into(), self.target.format());
        if let Err(error) = takes(format, option, &value) {
            let mut others = formats().into_iter();
            let other = others.find(|other| takes(*other, option, &value).is_ok());
            let known = format.capabilities().options.contains(&option);
            return Err(match other.filter(|_| !known) {
                None => error,
                Some(other) => {
                    // What is meant is told by the value, unless that is any.
                    let value = if value == "auto" { String::new() } else { format!("={value}") };
                    let of = other.capabilities().called;
                    Error::usage(format!(
                        "--{option}{value} is for {of}, not for {}",
                        format.name()
                    ))
                }
            });
        }
        self.options.insert(option.to_owned(), value);
        Ok(())
    }

    /// Takes those of `streams` that are written and are floats for sound of so many samples a
    /// second, unless their rate is known already.
    ///
    /// # Errors
    ///
    /// Fails if what is written holds no sound.
    pub fn sound_at(&mut self, rate: u32, streams: &[Stream]) -> Result<()> {
        if !self.target.format().capabilities().sound {
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

/// Whether a format takes an option with a value.
fn takes(format: &dyn Format, option: &str, value: &str) -> Result<()> {
    if !format.capabilities().options.contains(&option) {
        return Err(Error::usage(format!("--{option} is not for {}", format.name())));
    }
    format.check_option(option, value)
}
