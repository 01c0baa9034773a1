//! Options as text, from the command line and from Python.

use seqfeed_core::{Error, Extent, Kind, Result, SampleRates, Stream};

use super::ConvertOptions;
use seqfeed::Format;
use seqfeed::formats;

impl ConvertOptions {
    /// Sets an option of the written format, such as `compress`, `protocol` or `htk-kind`.
    ///
    /// # Errors
    ///
    /// Fails if the format does not take the option, or not with this value.
    pub fn set(&mut self, option: &str, value: impl Into<String>) -> Result<()> {
        let (value, format) = (value.into(), self.target.format());
        if let Err(error) = takes(format, option, &value) {
            let mut others = formats().into_iter();
            let other = others.find(|other| takes(*other, option, &value).is_ok());
            let known = format.capabilities().options.contains(&option);
            return Err(match other.filter(|_| !known) {
                None => error,
                Some(other) => {
                    // The value tells the meaning, unless it is `auto`.
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

    /// Treats the written float streams of `streams` as sound with this sample rate, unless their
    /// rate is known already.
    ///
    /// # Errors
    ///
    /// Fails if the target holds no sound.
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
