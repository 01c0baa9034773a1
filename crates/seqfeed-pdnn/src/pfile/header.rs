//! The text at the start of a PFile.

use std::fmt::Write;
use std::ops::Range;

use seqfeed_core::{Error, Problem, Result};

use super::PFILE;

/// The only possible size of the header, in bytes.
pub const HEADER_BYTES: usize = 32_768;

/// The first line of every PFile.
const MAGIC: &str = "-pfile_header version 0 size 32768";

/// The most columns: far more than anybody has. A record then has 64 MiB.
const MOST_COLUMNS: u64 = 1 << 24;

/// The header of a PFile: the numbers of sentences and frames, and the columns of a frame.
///
/// Columns are counted from 0. Columns 0 and 1 are the numbers of the sentence and of the frame in
/// it. Features and labels may stand anywhere after them, in either order, with gaps.
///
/// ```
/// use seqfeed_pdnn::pfile::{HEADER_BYTES, Header};
///
/// let header = Header::new(2, 3, 2, 1);
/// let bytes = header.to_bytes()?;
/// assert_eq!(bytes.len(), HEADER_BYTES);
/// assert!(bytes.starts_with(b"-pfile_header version 0 size 32768\n-num_sentences 2\n"));
/// assert_eq!(Header::parse(&bytes)?, header);
/// # Ok::<(), seqfeed_core::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// Number of sentences.
    pub sentences: u64,
    /// Number of frames in all.
    pub frames: u64,
    /// The column of the first feature.
    pub first_feature_column: usize,
    /// Number of features, 0 or more.
    pub features: usize,
    /// The column of the first label.
    pub first_label_column: usize,
    /// Number of labels, 0 or more.
    pub labels: usize,
    /// Number of columns.
    pub columns: usize,
    /// The offset of the sentence table after the header, in bytes, if there is one.
    pub table: Option<u64>,
}

impl Header {
    /// The header that QuickNet writes: features, then labels, then a sentence table.
    #[must_use]
    pub fn new(sentences: u64, frames: u64, features: usize, labels: usize) -> Self {
        let columns = 2 + features + labels;
        Self {
            sentences,
            frames,
            first_feature_column: 2,
            features,
            first_label_column: 2 + features,
            labels,
            columns,
            table: Some(frames.saturating_mul(4 * columns as u64)),
        }
    }

    /// Size of a frame in bytes.
    #[must_use]
    pub fn frame_bytes(&self) -> usize {
        4 * self.columns
    }

    /// Size of all frames in bytes.
    #[must_use]
    pub fn data_bytes(&self) -> u64 {
        self.frames.saturating_mul(self.frame_bytes() as u64)
    }

    /// The bytes of a frame that hold features.
    pub(super) fn feature_bytes(&self) -> Range<usize> {
        4 * self.first_feature_column..4 * (self.first_feature_column + self.features)
    }

    /// The bytes of a frame that hold labels.
    pub(super) fn label_bytes(&self) -> Range<usize> {
        4 * self.first_label_column..4 * (self.first_label_column + self.labels)
    }

    /// Parses the header from the first bytes of a file.
    ///
    /// Lines end with LF or CR LF. Keys come in any order; the first of several counts; unknown
    /// ones are skipped, and so is everything after a line `-end` or a NUL. (QuickNet looks for
    /// keys anywhere in the text, so there a comment can hide a key.)
    ///
    /// # Errors
    ///
    /// Fails if there are fewer than [`HEADER_BYTES`] bytes, if the first line is wrong, if a key
    /// is missing or not a number, or if numbers contradict each other. The error has the line if
    /// it is known.
    pub fn parse(bytes: &[u8]) -> Result<Self> {
        let Some(bytes) = bytes.get(..HEADER_BYTES) else {
            let missing = Some((HEADER_BYTES - bytes.len()) as u64);
            let problem = Problem::UnexpectedEnd { inside: "the header", missing };
            return Err(Error::format(PFILE, problem).at_byte(0));
        };
        let keys = Keys::of(bytes)?;
        let columns = keys.arguments("-data", &["size", "offset", "ndim", "nrow", "ncol"])?;
        let [size, offset, ndim, rows, ncol] = columns[..] else {
            return Err(contradiction("-data"));
        };
        let sentences = keys.number("-num_sentences")?;
        let frames = keys.number("-num_frames")?;
        let features = keys.number("-num_features")?;
        let first_feature_column = keys.number("-first_feature_column")?;
        let labels = if keys.has("-num_labels") { keys.number("-num_labels")? } else { 0 };
        let first_label_column = match labels {
            0 => 0,
            _ => keys.number("-first_label_column")?,
        };
        keys.same("-data", "ndim", 2, ndim)?;
        keys.same("-data", "offset", 0, offset)?;
        keys.same("-data", "nrow (which is -num_frames)", frames, rows)?;
        keys.at_most("-data", "ncol", ncol, MOST_COLUMNS)?;
        // The file's size bounds the number of frames. Only there it is known that sizes fit.
        keys.at_most("-num_frames", "-num_frames", frames, i64::MAX as u64 / 8 / ncol.max(1))?;
        keys.same("-data", "size (which is nrow times ncol)", rows * ncol, size)?;
        keys.at_most("-num_sentences", "-num_sentences", sentences, frames)?;
        let check_columns = |key, first: u64, count: u64| {
            match first.checked_add(count) {
            Some(end) if end <= ncol && (first >= 2 || count == 0) => Ok(first..end),
            _ => Err(keys.error(key, format!("{count} columns from {first}, but there are {ncol}, the first two of which are numbers"))),
        }
        };
        let feature_columns =
            check_columns("-first_feature_column", first_feature_column, features)?;
        let label_columns = match labels {
            0 => feature_columns.end..feature_columns.end,
            _ => check_columns("-first_label_column", first_label_column, labels)?,
        };
        let overlap =
            feature_columns.start < label_columns.end && label_columns.start < feature_columns.end;
        if overlap && features > 0 && labels > 0 {
            return Err(keys.error("-first_label_column", "labels are among the features".into()));
        }
        keys.check_format(ncol, &feature_columns, &label_columns)?;
        let table = match keys.has("-sent_table_data") {
            false => None,
            true => {
                let arguments = keys.arguments("-sent_table_data", &["size", "offset", "ndim"])?;
                let [size, offset, ndim] = arguments[..] else {
                    return Err(contradiction("-sent_table_data"));
                };
                keys.same("-sent_table_data", "ndim", 1, ndim)?;
                keys.same(
                    "-sent_table_data",
                    "size (one more than sentences)",
                    sentences + 1,
                    size,
                )?;
                if offset < rows * ncol || offset > i64::MAX as u64 / 8 {
                    return Err(keys.error(
                        "-sent_table_data",
                        "the sentence table lies inside the frames".into(),
                    ));
                }
                Some(offset * 4)
            }
        };
        Ok(Self {
            sentences,
            frames,
            first_feature_column: feature_columns.start as usize,
            features: features as usize,
            first_label_column: label_columns.start as usize,
            labels: labels as usize,
            columns: ncol as usize,
            table,
        })
    }

    /// The header in QuickNet's form.
    ///
    /// # Errors
    ///
    /// Fails with [`ErrorKind::Limit`](seqfeed_core::ErrorKind::Limit) if it has no room for the
    /// columns: each takes a letter.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let mut text = format!(
            "{MAGIC}\n-num_sentences {}\n-num_frames {}\n-first_feature_column {}\n-num_features {}\n\
             -first_label_column {}\n-num_labels {}\n-format ",
            self.sentences,
            self.frames,
            self.first_feature_column,
            self.features,
            self.first_label_column,
            self.labels,
        );
        let features = self.first_feature_column..self.first_feature_column + self.features;
        text.extend(
            (0..self.columns).map(|column| if features.contains(&column) { 'f' } else { 'd' }),
        );
        let (words, rows, columns) = (self.data_bytes() / 4, self.frames, self.columns);
        // Writing to a string cannot fail.
        let _ = write!(text, "\n-data size {words} offset 0 ndim 2 nrow {rows} ncol {columns}\n");
        if let Some(table) = self.table {
            let (size, offset) = (self.sentences + 1, table / 4);
            let _ = writeln!(text, "-sent_table_data size {size} offset {offset} ndim 1");
        }
        text.push_str("-end\n");
        let mut bytes = text.into_bytes();
        if bytes.len() > HEADER_BYTES {
            return Err(Error::new(seqfeed_core::ErrorKind::Limit {
                what: "the header of a PFile, with one letter a column",
                wanted: bytes.len() as u64,
                limit: HEADER_BYTES as u64,
            }));
        }
        bytes.resize(HEADER_BYTES, 0);
        Ok(bytes)
    }
}

fn contradiction(key: &str) -> Error {
    Error::format(
        PFILE,
        Problem::Unsupported(format!("the line {key} is not as it must be").into()),
    )
}

/// A line of a header: key, values, number from 1.
type Line<'a> = (&'a [u8], Vec<&'a [u8]>, u64);

/// The lines of a header.
struct Keys<'a>(Vec<Line<'a>>);

impl<'a> Keys<'a> {
    fn of(bytes: &'a [u8]) -> Result<Self> {
        let text = &bytes[..memchr::memchr(0, bytes).unwrap_or(bytes.len())];
        let mut lines = text.split(|&byte| byte == b'\n');
        let first = lines.next().unwrap_or_default();
        if first.trim_ascii_end() != MAGIC.as_bytes() {
            let problem = Problem::Unexpected {
                expected: format!("\"{MAGIC}\"").into(),
                found: first[..first.len().min(48)].to_vec(),
            };
            return Err(Error::format(PFILE, problem).at_line(1));
        }
        let mut keys = Vec::new();
        for (line, number) in lines.zip(2..) {
            let mut words = line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
            match words.next() {
                Some(b"-end") => break,
                Some(key) => keys.push((key, words.collect(), number)),
                None => {}
            }
        }
        Ok(Self(keys))
    }

    fn find(&self, key: &str) -> Option<&Line<'a>> {
        self.0.iter().find(|(name, ..)| *name == key.as_bytes())
    }

    fn has(&self, key: &str) -> bool {
        self.find(key).is_some()
    }

    fn get(&self, key: &str) -> Result<&Line<'a>> {
        self.find(key).ok_or_else(|| {
            let problem = Problem::Unsupported(format!("the header has no line {key}").into());
            Error::format(PFILE, problem).at_byte(0)
        })
    }

    fn error(&self, key: &str, what: String) -> Error {
        let error = Error::format(PFILE, Problem::Unsupported(format!("{key}: {what}").into()));
        match self.find(key) {
            Some((.., line)) => error.at_line(*line),
            None => error,
        }
    }

    fn number(&self, key: &'static str) -> Result<u64> {
        let (_, values, line) = self.get(key)?;
        let value = values.first().copied().unwrap_or_default();
        parse(value).ok_or_else(|| invalid(key, value).at_line(*line))
    }

    /// The numbers after names, in the order of the names.
    fn arguments(&self, key: &'static str, names: &[&str]) -> Result<Vec<u64>> {
        let (_, values, line) = self.get(key)?;
        let find = |name: &str| {
            let pair = values.chunks(2).find(|pair| pair[0] == name.as_bytes());
            let Some(value) = pair.and_then(|pair| pair.get(1)) else {
                return Err(self.error(key, format!("`{name}` and its number are missing")));
            };
            parse(value).ok_or_else(|| invalid(key, value).at_line(*line))
        };
        names.iter().map(|name| find(name)).collect()
    }

    fn same(&self, key: &str, what: &'static str, expected: u64, found: u64) -> Result<()> {
        if expected == found {
            return Ok(());
        }
        Err(self.error(key, format!("{what} is {found}, expected {expected}")))
    }

    fn at_most(&self, key: &str, what: &'static str, found: u64, limit: u64) -> Result<()> {
        if found <= limit {
            return Ok(());
        }
        Err(self.error(key, format!("{what} is {found}, expected {limit} at most")))
    }

    /// Checks the letters of `-format`, with or without repeat counts: `dd` first, then `f` for
    /// features and `d` for labels. Other columns may be either.
    fn check_format(&self, columns: u64, features: &Range<u64>, labels: &Range<u64>) -> Result<()> {
        let (_, values, line) = self.get("-format")?;
        let format = values.first().copied().unwrap_or_default();
        let mut column = 0u64;
        let mut rest = format;
        while let Some(at) = rest.iter().position(|byte| !byte.is_ascii_digit()) {
            let count = if at == 0 { Some(1) } else { parse(&rest[..at]) };
            let letter = rest[at];
            let Some(end) = count.and_then(|count| column.checked_add(count)) else {
                return Err(invalid("a repeat count of -format", &rest[..at]).at_line(*line));
            };
            let overlaps = |range: &Range<u64>| {
                column < range.end && range.start < end && range.start < range.end
            };
            let wrong = match letter {
                b'd' => overlaps(features).then_some("features must be `f`"),
                b'f' if overlaps(&(0..2)) => Some("the first two columns must be `d`"),
                b'f' => overlaps(labels).then_some("labels must be `d`"),
                _ => Some("columns are `d` (integers) or `f` (floats)"),
            };
            if let Some(wrong) = wrong {
                let letter = letter.escape_ascii();
                return Err(
                    self.error("-format", format!("`{letter}` for column {column}; {wrong}"))
                );
            }
            column = end;
            rest = &rest[at + 1..];
        }
        if column != columns || !rest.is_empty() {
            return Err(self.error("-format", format!("{column} columns, but ncol is {columns}")));
        }
        Ok(())
    }
}

/// A number of decimal digits only.
fn parse(text: &[u8]) -> Option<u64> {
    if !text.iter().all(u8::is_ascii_digit) {
        return None;
    }
    std::str::from_utf8(text).ok()?.parse().ok()
}

fn invalid(what: &'static str, found: &[u8]) -> Error {
    Error::format(
        PFILE,
        Problem::InvalidNumber { what, found: found[..found.len().min(32)].to_vec() },
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn padded(text: &str) -> Vec<u8> {
        let mut bytes = text.as_bytes().to_vec();
        bytes.resize(HEADER_BYTES, 0);
        bytes
    }

    const GOOD: &str = "-pfile_header version 0 size 32768\n-num_sentences 2\n-num_frames 3\n\
         -first_feature_column 3\n-num_features 2\n-first_label_column 2\n-num_labels 1\n\
         -format 3d2f\n-data size 15 offset 0 ndim 2 nrow 3 ncol 5\n-end\n";

    #[test]
    fn reads_any_order_of_columns() {
        let header = Header::parse(&padded(GOOD)).unwrap();
        assert_eq!((header.label_bytes(), header.feature_bytes()), (8..12, 12..20));
        assert_eq!(header.table, None);
        assert_eq!(Header::parse(&header.to_bytes().unwrap()).unwrap(), header);
        let windows = padded(&GOOD.replace('\n', "\r\n"));
        assert_eq!(Header::parse(&windows).unwrap(), header);
    }

    #[test]
    fn says_what_is_wrong() {
        let cases = [
            (
                "size 32768",
                "size 1024",
                "line 1: PFile: expected \"-pfile_header version 0 size 32768\"",
            ),
            (
                "-num_frames 3",
                "-num_frames x",
                "line 3: PFile: -num_frames is not a number that fits",
            ),
            (
                "-num_frames 3",
                "-num_frames 4",
                "-data: nrow (which is -num_frames) is 3, expected 4",
            ),
            ("-num_sentences 2", "-num_sentences 4", "-num_sentences is 4, expected 3 at most"),
            ("3d2f", "3df", "-format: 4 columns, but ncol is 5"),
            ("3d2f", "2d3f", "`f` for column 2; labels must be `d`"),
            ("3d2f", "3d2g", "`g` for column 3"),
            ("3d2f", "99999999999999999999d", "repeat count"),
            ("column 2", "column 4", "labels are among the features"),
            ("column 3", "column 4", "2 columns from 4, but there are 5"),
            ("column 2", "column 1", "1 columns from 1, but there are 5"),
            (
                "-num_labels 1\n",
                "-num_labels 1\n-sent_table_data size 2 offset 15 ndim 1\n",
                "expected 3",
            ),
            (
                "-num_labels 1\n",
                "-num_labels 1\n-sent_table_data size 3 offset 14 ndim 1\n",
                "inside the frames",
            ),
            ("ndim 2", "ndim 3", "ndim is 3, expected 2"),
            ("size 15", "size 14", "size (which is nrow times ncol) is 14, expected 15"),
            ("-data ", "-date ", "the header has no line -data"),
        ];
        for (from, to, message) in cases {
            let error =
                Header::parse(&padded(&GOOD.replacen(from, to, 1))).unwrap_err().to_string();
            assert!(error.contains(message), "{from} -> {to}: {error}");
        }
        assert!(
            Header::parse(&[b'-'; 99]).unwrap_err().to_string().contains("32669 bytes are missing")
        );
        assert!(Header::new(1, 1, 40_000, 0).to_bytes().is_err());
    }
}
