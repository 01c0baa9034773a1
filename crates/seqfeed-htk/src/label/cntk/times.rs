//! The times of a line, in frames.

use seqfeed_core::Problem;

use crate::label::scan::number_prefix;

/// A line's first frame, the frame behind its last one, and the columns behind the times.
#[derive(Debug, PartialEq)]
pub(super) struct Times<'a> {
    pub(super) start: i64,
    pub(super) end: i64,
    /// The text behind the blank, if there is one.
    pub(super) rest: Option<&'a [u8]>,
}

/// 100 ns units in a frame of 10 ms.
const UNITS: u64 = 100_000;
/// Times with a larger difference are in 100 ns units; others are in frames.
const FAR: u64 = 99_999;
/// Whole numbers with at most this many digits are exact as doubles, with room for the arithmetic.
const EXACT_DIGITS: usize = 15;

/// Reads the two times of a line.
///
/// Columns are separated by one blank. In CNTK times are doubles. Most are whole numbers, for which
/// integers give the same.
#[inline]
pub(super) fn read_times(line: &[u8]) -> Result<Times<'_>, Problem> {
    if let Some((start, behind)) = digits(line)
        && let Some((end, rest)) = digits(behind.unwrap_or_default())
    {
        let (start, end) = if end >= start && end - start >= FAR {
            // There is no rounding error: both times have at most 15 digits.
            ((start + UNITS / 2) / UNITS, (end + UNITS / 2) / UNITS)
        } else {
            (start, end)
        };
        return Ok(Times { start: start as i64, end: end as i64, rest });
    }
    read_times_slowly(line)
}

/// A whole number that fills its column, and the text behind the blank, if there is one.
#[inline]
fn digits(text: &[u8]) -> Option<(u64, Option<&[u8]>)> {
    let mut value = 0;
    for (at, &byte) in text.iter().enumerate().take(EXACT_DIGITS + 1) {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return (byte == b' ' && at > 0).then(|| (value, Some(&text[at + 1..])));
        }
        value = value * 10 + u64::from(digit);
    }
    (!text.is_empty() && text.len() <= EXACT_DIGITS).then_some((value, None))
}

/// The same for any numbers.
#[cold]
fn read_times_slowly(line: &[u8]) -> Result<Times<'_>, Problem> {
    let mut columns = line.splitn(3, |&byte| byte == b' ');
    let mut time = |what| {
        let column = columns.next().ok_or_else(|| Problem::Unexpected {
            expected: "two times and a label".into(),
            found: line.iter().take(40).copied().collect(),
        })?;
        let number = str::from_utf8(number_prefix(column)).ok();
        number
            .and_then(|number| number.parse::<f64>().ok())
            .filter(|number| number.is_finite())
            .ok_or_else(|| Problem::InvalidNumber {
                what,
                found: column.iter().take(40).copied().collect(),
            })
    };
    let (start, end) = (time("the start time")?, time("the end time")?);
    let far = end - start >= FAR as f64;
    // Numbers beyond the type become its limits, which no utterance reaches.
    let frame = |time: f64| if far { (time / UNITS as f64 + 0.5) as i64 } else { time as i64 };
    Ok(Times { start: frame(start), end: frame(end), rest: columns.next() })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn units_are_told_by_the_distance() {
        for (line, start, end) in [
            ("0 100000 a", 0, 1),
            ("0 99999 a", 0, 1),
            ("0 99998 a", 0, 99998),
            ("3 17 a", 3, 17),
            ("149999 250000 a", 1, 3),
            ("150000 249999 a", 2, 2),
            ("1e5 3e5 a", 1, 3),
            ("100000.9 3e5x a", 1, 3),
            ("5 2 a", 5, 2),
            ("-0.5 2 a", 0, 2),
            ("+0 .2e1 a", 0, 2),
            ("99999999999900000 100000000000000000 a", 999_999_999_999, 1_000_000_000_000),
        ] {
            let times = read_times(line.as_bytes()).unwrap();
            assert_eq!(
                (times.start, times.end, times.rest),
                (start, end, Some(&b"a"[..])),
                "{line}"
            );
            let slowly = read_times_slowly(line.as_bytes()).unwrap();
            assert_eq!(slowly, times, "{line}");
        }
        for line in ["", "1", "1 ", " 1 2", "1  2", "1\t2", "a 1", "1 inf", "1 1e999"] {
            assert!(read_times(line.as_bytes()).is_err(), "{line}");
        }
        assert_eq!(read_times(b"1 2").unwrap().rest, None);
    }
}
