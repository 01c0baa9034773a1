//! Numbers with units, in descriptions and options.

use seqfeed_core::{Error, Result};
use seqfeed_feed::{Epoch, Window};

use crate::data_spec::DataOptions;

/// Parses a number of bytes: `1000000`, `512 MB`, `2 GiB`.
pub(crate) fn bytes(text: &str) -> Result<u64> {
    let (number, unit) = split(text);
    let scale: u64 = match unit.to_ascii_lowercase().as_str() {
        "" | "b" => 1,
        "k" | "kb" => 1_000,
        "m" | "mb" => 1_000_000,
        "g" | "gb" => 1_000_000_000,
        "t" | "tb" => 1_000_000_000_000,
        "ki" | "kib" => 1 << 10,
        "mi" | "mib" => 1 << 20,
        "gi" | "gib" => 1 << 30,
        "ti" | "tib" => 1 << 40,
        _ => return Err(bad(text, "a number of bytes, such as 800000000, 512 MB or 2 GiB")),
    };
    let number: f64 =
        number.parse().map_err(|_| bad(text, "a number of bytes, such as 512 MB or 2 GiB"))?;
    Ok((number * scale as f64) as u64)
}

/// Parses a window: `32 chunks`, `200000 samples`, `corpus`.
pub(crate) fn window(text: &str) -> Result<Window> {
    let expected = "a window, such as `32 chunks`, `200000 samples` or `corpus`";
    let (number, unit) = split(text);
    if number.is_empty() {
        return match unit.to_ascii_lowercase().as_str() {
            "corpus" | "all" => Ok(Window::Corpus),
            _ => Err(bad(text, expected)),
        };
    }
    let number: u64 = number.parse().map_err(|_| bad(text, expected))?;
    if number == 0 {
        return Err(bad(text, expected));
    }
    match unit.to_ascii_lowercase().as_str() {
        "chunk" | "chunks" | "c" => Ok(Window::Chunks(number)),
        "sample" | "samples" | "frame" | "frames" | "" => Ok(Window::Samples(number)),
        _ => Err(bad(text, expected)),
    }
}

/// Parses an epoch: `run`, `sweep`, or a number of samples.
pub(crate) fn epoch(text: &str) -> Result<Epoch> {
    match text.trim() {
        "run" => Ok(Epoch::Run),
        "sweep" => Ok(Epoch::Sweep),
        number => match number.parse() {
            Ok(samples) if samples > 0 => Ok(Epoch::Samples(samples)),
            _ => Err(bad(text, "an epoch: `run`, `sweep` or a number of samples")),
        },
    }
}

/// Parses a partition: `600m` (2^20 bytes of features, context counted) or `4096 frames`.
pub(crate) fn partition(text: &str) -> Result<Partition> {
    let (number, unit) = split(text);
    if matches!(unit, "frames" | "frame" | "samples") {
        let frames = number.parse().ok().filter(|&frames| frames > 0);
        let expected = "a partition, such as 600m or `4096 frames`";
        return frames.map(Partition::Frames).ok_or_else(|| bad(text, expected));
    }
    DataOptions::parse_partition(text).map(Partition::Bytes)
}

/// The size of a partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Partition {
    Bytes(u64),
    Frames(u64),
}

/// Parses a context: `5` (on both sides) or `5:3` (left, right).
pub(crate) fn context(text: &str) -> Result<(usize, usize)> {
    let number = |part: &str| {
        part.trim()
            .parse::<usize>()
            .ok()
            .filter(|&frames| frames <= 10_000)
            .ok_or_else(|| bad(text, "a context in frames, such as 5 or 5:3"))
    };
    match text.split_once(':') {
        Some((left, right)) => Ok((number(left)?, number(right)?)),
        None => number(text).map(|frames| (frames, frames)),
    }
}

fn split(text: &str) -> (&str, &str) {
    let text = text.trim();
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    (&text[..end], text[end..].trim())
}

fn bad(found: &str, expected: &str) -> Error {
    Error::usage(format!("expected {expected}, found `{found}`"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_bytes() {
        let cases = [("12", 12), ("512 MB", 512_000_000), ("2GiB", 2 << 30), ("1.5k", 1500)];
        for (text, expected) in cases {
            assert_eq!(bytes(text).unwrap(), expected, "{text}");
        }
        for text in ["", "MB", "12 parsecs", "-1", "1.2.3"] {
            assert!(bytes(text).is_err(), "{text}");
        }
    }

    #[test]
    fn reads_windows() {
        assert_eq!(window("32 chunks").unwrap(), Window::Chunks(32));
        assert_eq!(window("1chunk").unwrap(), Window::Chunks(1));
        assert_eq!(window("200000 samples").unwrap(), Window::Samples(200_000));
        assert_eq!(window("5").unwrap(), Window::Samples(5));
        assert_eq!(window("corpus").unwrap(), Window::Corpus);
        for text in ["", "0", "0 chunks", "big", "1.5 chunks", "3 houses", "-2"] {
            assert!(window(text).is_err(), "{text}");
        }
    }

    #[test]
    fn reads_contexts() {
        assert_eq!(context("5").unwrap(), (5, 5));
        assert_eq!(context("3:0").unwrap(), (3, 0));
        for text in ["", "-1", "1:2:3", "a", "99999999"] {
            assert!(context(text).is_err(), "{text}");
        }
    }
}
