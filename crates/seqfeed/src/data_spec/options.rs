//! The options of a data specification.

use seqfeed_core::{Error, Result, nearest_name};

use super::at_column;

/// The options of a data specification. An option that is not given is `None`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DataOptions {
    /// Frames of context to the left and to the right.
    pub context: Option<(usize, usize)>,
    /// Ranges of labels whose frames are left out, both ends included.
    pub ignore: Option<Vec<(i32, i32)>>,
    /// Ranges of labels, both ends included, with their new labels. Later ranges override earlier
    /// ones.
    pub map: Option<Vec<(i32, i32, i32)>>,
    /// Bytes in a partition.
    pub partition: Option<u64>,
    /// Whether one partition is kept in memory, not a whole file.
    pub stream: Option<bool>,
    /// Whether frames that are in memory together are shuffled.
    pub random: Option<bool>,
    /// A file of alignments.
    pub label: Option<String>,
    /// Seed of the shuffle.
    pub seed: Option<u64>,
    /// Whether each sweep has another order.
    pub reshuffle: Option<bool>,
    /// Frames in a minibatch.
    pub batch: Option<u64>,
}

impl DataOptions {
    /// The seed of all of PDNN's shuffles.
    pub const SEED: u64 = 18877;
    /// The size of a partition if none is given, in bytes.
    pub const PARTITION: u64 = 600 << 20;
    /// Frames in a minibatch if none are given.
    pub const BATCH: u64 = 256;

    /// The names of the options.
    pub const KEYS: [&str; 12] = [
        "context",
        "lcxt",
        "rcxt",
        "ignore-label",
        "map-label",
        "partition",
        "stream",
        "random",
        "label",
        "seed",
        "reshuffle",
        "batch",
    ];

    /// Parses the value of `ignore-label`: `0:2:7-9`.
    ///
    /// # Errors
    ///
    /// A usage error that points at the wrong part.
    pub fn parse_ignore(text: &str) -> Result<Vec<(i32, i32)>> {
        Value { all: text, at: 0, text }.labels()
    }

    /// Parses the value of `map-label`: `1:0/4-6:2`.
    ///
    /// # Errors
    ///
    /// The same as [`parse_ignore`](Self::parse_ignore).
    pub fn parse_map(text: &str) -> Result<Vec<(i32, i32, i32)>> {
        Value { all: text, at: 0, text }.label_map()
    }

    /// Parses the value of `partition`, in bytes: `600m`.
    ///
    /// # Errors
    ///
    /// The same as [`parse_ignore`](Self::parse_ignore).
    pub fn parse_partition(text: &str) -> Result<u64> {
        Value { all: text, at: 0, text }.megabytes()
    }
}

/// Parses options one after another.
pub(super) struct Parser<'a> {
    text: &'a str,
    options: DataOptions,
    warnings: Vec<String>,
}

impl<'a> Parser<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { text, options: DataOptions::default(), warnings: Vec::new() }
    }

    pub(super) fn finish(self) -> (DataOptions, Vec<String>) {
        (self.options, self.warnings)
    }

    /// Parses the option at byte `at`.
    pub(super) fn element(&mut self, at: usize, element: &'a str) -> Result<()> {
        let Some((key, value)) = element.split_once('=') else {
            let message = match element {
                "" => "an option is missing behind the comma".to_owned(),
                _ => format!("option `{element}` has no value"),
            };
            let error =
                Error::usage(message).with_help("write options as key=value, without blanks");
            return Err(at_column(error, self.text, at));
        };
        let value = match value.split_once('=') {
            None => value,
            Some((value, rest)) => {
                self.warn(at, &format!("`={rest}` has no effect: an option has one value"));
                value
            }
        };
        let value = Value { all: self.text, at: at + key.len() + 1, text: value };
        match key {
            "context" => self.options.context = Some(value.context()?),
            "lcxt" => {
                let (_, right) = self.options.context.unwrap_or_default();
                self.options.context = Some((value.frames()?, right));
            }
            "rcxt" => {
                let (left, _) = self.options.context.unwrap_or_default();
                self.options.context = Some((left, value.frames()?));
            }
            "ignore-label" => self.options.ignore = Some(value.labels()?),
            "map-label" => self.options.map = Some(value.label_map()?),
            "partition" => self.options.partition = Some(value.megabytes()?),
            "stream" => self.options.stream = Some(self.truth(&value)),
            "random" => self.options.random = Some(self.truth(&value)),
            "reshuffle" => self.options.reshuffle = Some(self.truth(&value)),
            "seed" => {
                self.options.seed = Some(value.number("a seed below 2^32", 0, u32::MAX.into())?);
            }
            "batch" => {
                self.options.batch = Some(value.number("a number of frames", 1, u64::MAX)?);
            }
            "label" if value.text.is_empty() => {
                return Err(value.wrong("a file of alignments"));
            }
            "label" => self.options.label = Some(value.text.to_owned()),
            unknown => self.unknown(at, unknown),
        }
        Ok(())
    }

    fn warn(&mut self, at: usize, message: &str) {
        self.warnings.push(format!("{} (column {} of {})", message, at + 1, self.text));
    }

    /// A warning, not an error: PDNN passes over unknown options, so such a specification has
    /// worked.
    fn unknown(&mut self, at: usize, key: &str) {
        let message = match nearest_name(key, DataOptions::KEYS) {
            Some(known) => format!("unknown option `{key}` has no effect; is `{known}` meant?"),
            None => format!("unknown option `{key}` has no effect"),
        };
        self.warn(at, &message);
    }

    /// True if it begins as `True`, `yes` or `1` do; any other text is false.
    fn truth(&mut self, value: &Value<'_>) -> bool {
        let is =
            |letters: &[u8]| value.text.as_bytes().first().is_some_and(|c| letters.contains(c));
        if !is(b"TtYy1") && !is(b"FfNn0") {
            self.warn(value.at, &format!("`{}` is taken as False", value.text));
        }
        is(b"TtYy1")
    }
}

/// A value, or a part of one.
#[derive(Clone, Copy)]
struct Value<'a> {
    all: &'a str,
    at: usize,
    text: &'a str,
}

impl<'a> Value<'a> {
    fn wrong(&self, expected: &str) -> Error {
        let found = match self.text {
            "" => "nothing".to_owned(),
            text => format!("`{text}`"),
        };
        at_column(Error::usage(format!("expected {expected}, found {found}")), self.all, self.at)
    }

    /// The parts between separators.
    fn split(self, separator: char) -> impl Iterator<Item = Value<'a>> {
        let mut at = self.at;
        self.text.split(separator).map(move |text| {
            let part = Value { all: self.all, at, text };
            at += text.len() + separator.len_utf8();
            part
        })
    }

    fn number(&self, expected: &str, low: u64, high: u64) -> Result<u64> {
        let number = self.text.parse().ok().filter(|number| (low..=high).contains(number));
        number.ok_or_else(|| self.wrong(expected))
    }

    fn frames(&self) -> Result<usize> {
        Ok(self.number("a number of frames, such as 5", 0, 10_000)? as usize)
    }

    fn context(self) -> Result<(usize, usize)> {
        let parts: Vec<Self> = self.split(':').collect();
        match &parts[..] {
            [both] => {
                let frames = both.number("frames of context, such as 5 or 5:1", 0, 10_000)?;
                Ok((frames as usize, frames as usize))
            }
            [left, right] => Ok((left.frames()?, right.frames()?)),
            _ => Err(self.wrong("frames of context, such as 5 or 5:1")),
        }
    }

    fn megabytes(&self) -> Result<u64> {
        let digits = self.text.replace('m', "");
        let bytes =
            digits.parse::<u64>().ok().filter(|&m| m > 0).and_then(|m| m.checked_mul(1 << 20));
        bytes.ok_or_else(|| {
            self.wrong("a size in megabytes, such as 600m").with_help(
                "the size is a whole number of 2^20 bytes, 1 at least; the letter `m` may follow it",
            )
        })
    }

    fn label(&self) -> Result<i32> {
        self.text.parse().map_err(|_| self.wrong("a label: a 32-bit integer"))
    }

    /// A label or a range. A minus sign at the beginning belongs to the number.
    fn range(&self) -> Result<(i32, i32)> {
        let dash = self.text.get(1..).and_then(|rest| rest.find('-')).map(|dash| dash + 1);
        match dash {
            None => self
                .label()
                .map(|label| (label, label))
                .map_err(|_| self.wrong("labels, such as 0 or 7-9")),
            Some(dash) => {
                let low = Value { text: &self.text[..dash], ..*self };
                let high = Value { at: self.at + dash + 1, text: &self.text[dash + 1..], ..*self };
                Ok((low.label()?, high.label()?))
            }
        }
    }

    fn labels(self) -> Result<Vec<(i32, i32)>> {
        self.split(':').map(|part| part.range()).collect()
    }

    fn label_map(self) -> Result<Vec<(i32, i32, i32)>> {
        let pair = |pair: Value<'a>| {
            let parts: Vec<Self> = pair.split(':').collect();
            match &parts[..] {
                [from, to] => {
                    let (low, high) = from.range()?;
                    Ok((low, high, to.label()?))
                }
                _ => Err(pair.wrong("old and new label, such as 1:0 or 4-6:2")),
            }
        };
        self.split('/').map(pair).collect()
    }
}
