//! Label formats of other programs. HTK reads them when `SOURCELABEL` names them.

use seqfeed_core::{Error, Problem, Result};

use super::scan::number_prefix;
use super::{Labels, Transcription};

/// A label format other than HTK's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LabelFormat {
    /// TIMIT's: `start end name`, in samples of 16 kHz.
    Timit,
    /// SCRIBE's, of the SAM project: `LBB: start, centre, end, name`, in samples of 20 kHz. Blanks
    /// of a name become `_`. Only lines with `LBB:`, `LBA:` and `UTS:` are labels.
    Scribe,
    /// The format of ESPS and waves: a header up to a line with a single `#`, then
    /// `end color name`, in seconds. Each label starts where the one before ends.
    Esps,
}

/// Reads the labels from a file of another program. The text after a `;` is a comment.
///
/// ```
/// use seqfeed_htk::label::other::{LabelFormat, parse_other};
///
/// let transcription = parse_other(b"0 3050 h#\n3050 4559 sh\n", LabelFormat::Timit)?;
/// let second = transcription.alternatives[0].segment(1);
/// assert_eq!((second.start, second.end), (Some(1_906_250.0), Some(2_849_375.0)));
/// # Ok::<(), seqfeed_core::Error>(())
/// ```
///
/// # Errors
///
/// If a line has too few columns, or a time is not a number. The error has the line.
pub fn parse_other(data: &[u8], format: LabelFormat) -> Result<Transcription> {
    let mut labels = Labels::new();
    let mut body = format != LabelFormat::Esps;
    let mut last_end = 0.0;
    for (number, line) in data.split(|&byte| byte == b'\n').enumerate() {
        let comment = memchr::memchr(b';', line).unwrap_or(line.len());
        let line = line[..comment].trim_ascii();
        if !body {
            body = line == b"#";
            continue;
        }
        if line.is_empty() {
            continue;
        }
        let at = |problem| Error::format("label file", problem).at_line(number as u64 + 1);
        let time = |column: Option<&[u8]>, unit| time(column, unit).map_err(at);
        let mut words =
            line.split(|&byte| matches!(byte, b' ' | b'\t' | b'\r')).filter(|w| !w.is_empty());
        let (start, end, name) = match format {
            LabelFormat::Timit => {
                let (start, end) = (time(words.next(), 625.0)?, time(words.next(), 625.0)?);
                (start, end, words.next().unwrap_or_default().to_vec())
            }
            LabelFormat::Esps => {
                let (start, end) = (last_end, time(words.next(), 1e7)?);
                (start, end, words.nth(1).unwrap_or_default().to_vec())
            }
            LabelFormat::Scribe => {
                let labels = [b"LBB:", b"LBA:", b"UTS:"];
                let Some(rest) = labels.iter().find_map(|mark| line.strip_prefix(&mark[..])) else {
                    continue;
                };
                let mut columns = rest.splitn(4, |&byte| byte == b',').map(<[u8]>::trim_ascii);
                let start = time(columns.next(), 500.0)?;
                let end = time(columns.nth(1), 500.0)?;
                let words = columns.next().unwrap_or_default().split(u8::is_ascii_whitespace);
                let words: Vec<_> = words.filter(|word| !word.is_empty()).collect();
                (start, end, words.join(&b'_'))
            }
        };
        if name.is_empty() {
            let found = line.iter().take(40).copied().collect();
            return Err(at(Problem::Unexpected { expected: "times and a label".into(), found }));
        }
        labels.push(Some(start), Some(end), &name, 0.0);
        last_end = end;
    }
    let alternatives = if labels.is_empty() { Vec::new() } else { vec![labels] };
    Ok(Transcription { alternatives })
}

/// A time in units of `unit` times 100 ns.
fn time(column: Option<&[u8]>, unit: f64) -> Result<f64, Problem> {
    let column = column.unwrap_or_default();
    let number =
        str::from_utf8(number_prefix(column)).ok().and_then(|text| text.parse::<f64>().ok());
    number.map(|number| (number * unit).round()).ok_or_else(|| Problem::InvalidNumber {
        what: "a time",
        found: column.iter().take(40).copied().collect(),
    })
}
