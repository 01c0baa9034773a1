//! The filter of a description: which sequences of the joined corpus stay.

use std::collections::HashSet;
use std::sync::Arc;

use seqfeed_core::{
    Chunking, Corpus, Draw, Error, JoinReport, Result, Source, Subset, nearest_name,
};
use seqfeed_io::{LineLimit, Opener, name_from_text};

use crate::description::{CorpusSpec, Description, Text};
use crate::settle::corpus_of;

/// Separates the draw that gives shares from the draws of transforms.
const SHARES: u64 = 0x7368_6172_6573;

/// The rules that a sequence is asked one after another.
struct Filter {
    keys: Option<HashSet<Vec<u8>>>,
    not_keys: Option<HashSet<Vec<u8>>>,
    /// The stream whose length counts.
    stream: Option<usize>,
    lengths: [Option<u32>; 2],
    share: Option<f64>,
    not_share: Option<f64>,
}

impl Description {
    /// Whether it has keys in `[filter]`.
    pub(crate) fn has_filter(&self) -> bool {
        let mut keys = CorpusSpec::OPTIONS.iter().filter(|option| option.section == "filter");
        keys.any(|option| self.corpus.get(option.key).is_some())
    }

    /// The corpus without the sequences that `[filter]` leaves out.
    pub(crate) fn filtered(&self, corpus: Corpus, opener: &Opener) -> Result<Corpus> {
        if !self.has_filter() {
            return Ok(corpus);
        }
        if self.is_mixture() {
            return Err(Error::usage("[filter] is not for a mixture as a whole")
                .with_help("give it in the descriptions of the corpora that are mixed"));
        }
        let filter = Filter::of(self, &corpus, opener)?;
        let mut report = JoinReport::default();
        let mut kept = Vec::new();
        for sequence in 0..corpus.index().len() as u32 {
            match filter.left_out(&corpus, sequence)? {
                None => kept.push(sequence),
                Some(why) => report.add(why, corpus.index().key(sequence).to_string()),
            }
        }
        if let Some(first) = &self.corpus.first {
            let first = number(first, kept.len())?;
            for &sequence in &kept[first.min(kept.len())..] {
                report.add("beyond the first ones", corpus.index().key(sequence).to_string());
            }
            kept.truncate(first);
        }
        if kept.is_empty() {
            let reasons =
                report.dropped.iter().map(|group| format!("{} {}", group.count, group.reason));
            let reasons = reasons.collect::<Vec<_>>().join(", ");
            return Err(Error::corpus(format!("[filter] leaves no sequence ({reasons})"))
                .in_file(corpus.name()));
        }
        // Readers and data specifications have chunks with a meaning of their own.
        let own_chunks = self.corpus.reader.is_some() || self.corpus.data.is_some();
        let chunks = match own_chunks {
            true => Chunking::Primary,
            false => Chunking::Samples(self.chunk_samples()?),
        };
        corpus_of(Arc::new(Subset::new(Arc::new(corpus), kept, chunks, report)))
    }
}

impl Filter {
    fn of(description: &Description, corpus: &Corpus, opener: &Opener) -> Result<Self> {
        let spec = &description.corpus;
        let read = |key: &str, name: &Option<String>| {
            let opener = description.opener_of(&format!("[filter] {key}"), opener);
            name.as_ref().map(|name| read_keys(name, &opener)).transpose()
        };
        let (least, most) = (&spec.min_length, &spec.max_length);
        let no_length = least.is_none() && most.is_none();
        for (key, given) in
            [("length-of", spec.length_of.is_some()), ("sample-time", spec.sample_time.is_some())]
        {
            if given && no_length {
                return Err(Error::usage(format!("[filter] {key} has no effect here"))
                    .with_help("give min-length or max-length, or leave it out"));
            }
        }
        let stream = spec.length_of.as_ref().map(|name| stream_of(corpus, name)).transpose()?;
        let shift =
            match &spec.sample_time {
                Some(text) => Some(seconds(text).ok_or_else(|| {
                    bad("sample-time", text, "a time such as `10 ms` or `0.01 s`")
                })?),
                None => corpus.about().frame_shift,
            };
        let length = |key, text: &Option<Text>| {
            text.as_ref().map(|text| samples(key, text, shift)).transpose()
        };
        let lengths = [length("min-length", least)?, length("max-length", most)?];
        if let [Some(least), Some(most)] = lengths
            && least > most
        {
            let what = format!("[filter] min-length is {least} samples, max-length is {most}");
            return Err(Error::usage(what));
        }
        let share = |key, text: &Option<Text>| {
            let expected = "a share such as `90 %`";
            let of = |text: &Text| percent(&text.text()).ok_or_else(|| bad(key, text, expected));
            text.as_ref().map(of).transpose()
        };
        Ok(Self {
            keys: read("keys", &spec.keys)?,
            not_keys: read("not-keys", &spec.not_keys)?,
            stream,
            lengths,
            share: share("share", &spec.share)?,
            not_share: share("not-share", &spec.not_share)?,
        })
    }

    /// The reason to leave a sequence out.
    fn left_out(&self, corpus: &Corpus, sequence: u32) -> Result<Option<&'static str>> {
        let key = corpus.index().key(sequence);
        if self.keys.as_ref().is_some_and(|keys| !keys.contains(key.0)) {
            return Ok(Some("not in keys"));
        }
        if self.not_keys.as_ref().is_some_and(|keys| keys.contains(key.0)) {
            return Ok(Some("in not-keys"));
        }
        if let [least, most] = self.lengths
            && (least.is_some() || most.is_some())
        {
            let length = match self.stream {
                None => Some(corpus.index().samples(sequence)),
                Some(stream) => Source::length(corpus, stream, sequence),
            };
            let Some(length) = length else {
                let name = &corpus.streams()[self.stream.unwrap_or(0)].name;
                let what = format!("[filter] the lengths of stream {name} are not known");
                return Err(Error::usage(what)
                    .in_file(corpus.name())
                    .with_help("they become known when it is loaded: choose another stream"));
            };
            if least.is_some_and(|least| length < least) {
                return Ok(Some("shorter than min-length"));
            }
            if most.is_some_and(|most| length > most) {
                return Ok(Some("longer than max-length"));
            }
        }
        // A number of at least 0 and below 1 that belongs to the key.
        let place = || Draw::default().within(SHARES).random(key).next_f64();
        if self.share.is_some_and(|share| place() >= share) {
            return Ok(Some("beyond the share"));
        }
        if self.not_share.is_some_and(|share| place() < share) {
            return Ok(Some("in not-share"));
        }
        Ok(None)
    }
}

/// The first word of each line.
fn read_keys(name: &str, opener: &Opener) -> Result<HashSet<Vec<u8>>> {
    let location = opener.place(name_from_text(name));
    let text = opener.read_list(&location, LineLimit::of_words)?;
    let first = |line: &[u8]| {
        let mut words = line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
        words.next().map(<[u8]>::to_vec)
    };
    let keys: HashSet<Vec<u8>> = text.split(|&byte| byte == b'\n').filter_map(first).collect();
    if keys.is_empty() {
        return Err(Error::corpus("there are no keys")
            .in_file(location.to_string())
            .with_help("give a file with a key at the beginning of each line"));
    }
    Ok(keys)
}

fn stream_of(corpus: &Corpus, name: &str) -> Result<usize> {
    let names = || corpus.streams().iter().map(|stream| stream.name.as_str());
    if let Some(number) = names().position(|known| known == name) {
        return Ok(number);
    }
    let error = Error::usage(format!("[filter] length-of: there is no stream {name}"));
    Err(match nearest_name(name, names()) {
        Some(near) => error.with_help(format!("did you mean `{near}`?")),
        None => {
            error.with_help(format!("the streams are {}", names().collect::<Vec<_>>().join(", ")))
        }
    })
}

/// A length in samples.
fn samples(key: &str, text: &Text, shift: Option<f64>) -> Result<u32> {
    if let Ok(samples) = text.text().trim().parse() {
        return Ok(samples);
    }
    let expected = "a length such as `200` (samples) or `0.5 s`";
    let Some(seconds) = seconds(text) else { return Err(bad(key, text, expected)) };
    let Some(shift) = shift.filter(|shift| *shift > 0.0) else {
        let what = format!("[filter] {key} is in seconds, but the files state no frame shift");
        return Err(Error::usage(what).with_help("give [filter] sample-time, such as \"10 ms\""));
    };
    let samples = (seconds / shift).round();
    if samples > f64::from(u32::MAX) {
        return Err(bad(key, text, expected));
    }
    Ok(samples as u32)
}

/// A time: `0.5 s`, `10 ms`.
fn seconds(text: &Text) -> Option<f64> {
    let text = text.text();
    let text = text.trim();
    let (number, scale) = match text.strip_suffix("ms") {
        Some(number) => (number, 1e-3),
        None => (text.strip_suffix('s')?, 1.0),
    };
    let seconds = number.trim().parse::<f64>().ok()? * scale;
    (seconds.is_finite() && seconds >= 0.0).then_some(seconds)
}

fn percent(text: &str) -> Option<f64> {
    let percent: f64 = text.trim().strip_suffix('%')?.trim().parse().ok()?;
    (0.0..=100.0).contains(&percent).then_some(percent / 100.0)
}

/// A number, or a share of all.
fn number(text: &Text, all: usize) -> Result<usize> {
    let given = text.text();
    let number = given.trim().parse().ok();
    let share = || percent(&given).map(|share| (share * all as f64).ceil() as usize);
    number.or_else(share).ok_or_else(|| bad("first", text, "a number or a share such as `10 %`"))
}

fn bad(key: &str, found: &Text, expected: &str) -> Error {
    Error::usage(format!("[filter] {key}: expected {expected}, found `{}`", found.text()))
}
