//! Writes transcriptions as text.

use std::io::Write;

use seqfeed_core::number_text::write_integer;
use seqfeed_core::{Error, Result};

use super::scan::{is_number, number};
use super::{Labels, Name, Transcription};

/// The first line of a master label file.
pub const MLF_HEADER: &[u8] = b"#!MLF!#\n";

/// Appends a transcription in the form of HTK's tools.
///
/// Names that would not read back unchanged are quoted: empty ones, and names with blanks or that
/// look like numbers (HTK 3.4.1 writes them unquoted, and cannot read them again). Whole times are
/// written as whole numbers. Scores have six decimals if these are exact. Otherwise numbers have as
/// many digits as needed to read back the same number. If any label of a level has a score, all
/// lines have one. A score that is NaN is written as 0, a time that is NaN is left out.
///
/// ```
/// use seqfeed_htk::label::{Labels, Transcription, write};
///
/// let mut labels = Labels::new();
/// labels.push(Some(0.0), Some(2_500_000.0), b"sil", 0.0);
/// labels.push(Some(2_500_000.0), Some(3_600_000.0), b"two words", 0.0);
/// let mut text = Vec::new();
/// write(&mut text, &Transcription { alternatives: vec![labels] })?;
/// assert_eq!(text, b"0 2500000 sil\n2500000 3600000 \"two words\"\n");
/// # Ok::<(), seqfeed_core::Error>(())
/// ```
///
/// # Errors
///
/// If the first of several alternatives is empty: the format cannot hold this.
pub fn write(out: &mut Vec<u8>, transcription: &Transcription) -> Result<()> {
    if let [first, _, ..] = &transcription.alternatives[..]
        && first.is_empty()
    {
        return Err(Error::usage("the first of several alternative transcriptions is empty")
            .with_help("label files can have empty alternatives, but not as the first one"));
    }
    for (number, labels) in transcription.alternatives.iter().enumerate() {
        if number > 0 {
            out.extend_from_slice(b"///\n");
        }
        write_labels(out, labels);
    }
    Ok(())
}

/// Appends an entry of an MLF: the name of a label file (or a pattern such as `*/a.lab`), its
/// transcription, and the dot. [`MLF_HEADER`] must stand before the first one.
///
/// # Errors
///
/// As [`write`](fn@write), and for a name that is empty or contains quotes or line ends, which
/// cannot be written.
pub fn write_mlf_entry(
    out: &mut Vec<u8>,
    name: &[u8],
    transcription: &Transcription,
) -> Result<()> {
    if name.is_empty() || name.iter().any(|byte| matches!(byte, b'"' | b'\n' | b'\r')) {
        let name = name.escape_ascii();
        return Err(Error::usage(format!("\"{name}\" cannot be the name of an entry of an MLF"))
            .with_help("names of entries have no quotes and no line ends, and are not empty"));
    }
    out.push(b'"');
    out.extend_from_slice(name);
    out.extend_from_slice(b"\"\n");
    write(out, transcription)?;
    out.extend_from_slice(b".\n");
    Ok(())
}

fn write_labels(out: &mut Vec<u8>, labels: &Labels) {
    let mut scored = vec![false; labels.levels()];
    for segment in labels.segments() {
        for (scored, name) in scored.iter_mut().zip(segment.names()) {
            *scored |= name.score != 0.0 && !name.score.is_nan();
        }
    }
    for segment in labels.segments() {
        let start = segment.start.filter(|time| !time.is_nan());
        let end = segment.end.filter(|time| start.is_some() && !time.is_nan());
        for time in [start, end].into_iter().flatten() {
            write_time(out, time);
            out.push(b' ');
        }
        let alone = segment.levels() == 1 && start.is_none() && !scored[0];
        if alone && segment.name().text == b"///" {
            // Alone on a line it would separate alternatives, even in quotes.
            out.push(b' ');
        }
        for (level, (name, scored)) in segment.names().zip(&scored).enumerate() {
            if level > 0 {
                out.push(b' ');
            }
            write_name(out, name, start.is_none() && level == 0);
            if *scored {
                out.push(b' ');
                write_score(out, name.score);
            }
        }
        out.push(b'\n');
    }
}

/// Writes a name. `first` says that it is the first word of the line.
fn write_name(out: &mut Vec<u8>, name: Name<'_>, first: bool) {
    let text = name.text;
    let quotes = |quote| memchr::memchr(quote, text).is_some();
    let quote = match text.first() {
        // The other kind of quote, as in HTK.
        Some(b'"') => Some(b'\''),
        Some(b'\'') => Some(b'"'),
        None => Some(b'"'),
        _ if quotes(b' ') || is_number(text) || (first && text == b".") => {
            Some(if quotes(b'"') && !quotes(b'\'') { b'\'' } else { b'"' })
        }
        _ => None,
    };
    out.extend(quote);
    for &byte in text {
        match byte {
            b'\\' => out.extend_from_slice(b"\\\\"),
            b' '..=b'~' => {
                if Some(byte) == quote {
                    out.push(b'\\');
                }
                out.push(byte);
            }
            _ => {
                let digits = [byte >> 6, (byte >> 3) & 7, byte & 7];
                out.push(b'\\');
                out.extend(digits.map(|digit| b'0' + digit));
            }
        }
    }
    out.extend(quote);
}

fn write_time(out: &mut Vec<u8>, time: f64) {
    if time.fract() == 0.0 && time.abs() < 9e15 {
        write_integer(out, time as i64);
    } else {
        write_shown(out, format_args!("{time}"), time);
    }
}

fn write_score(out: &mut Vec<u8>, score: f32) {
    let score = if score.is_nan() { 0.0 } else { score };
    let start = out.len();
    let wide = f64::from(score);
    write_shown(out, format_args!("{wide:.6}"), wide);
    if number(&out[start..]) as f32 != score {
        out.truncate(start);
        write_shown(out, format_args!("{wide}"), wide);
    }
}

/// Writes a number as formatted, if it is finite.
fn write_shown(out: &mut Vec<u8>, text: std::fmt::Arguments<'_>, value: f64) {
    if value.is_infinite() {
        // There is no word for infinity, but this number reads back as it.
        out.extend_from_slice(if value > 0.0 { b"1e999" } else { b"-1e999" });
    } else {
        // Writing into memory does not fail.
        let _ = out.write_fmt(text);
    }
}
