//! Finds the sequences that the sources of a corpus have in common.

use std::sync::Arc;

use super::lookup::Lookup;
use super::{Chunking, JoinPolicy, JoinReport, LengthRule};
use crate::{Damage, Error, Extent, IndexBuilder, Key, Problem, Result, Source, Tolerance};

/// Joins sources by key. Returns for each source the numbers of the remaining sequences (none if
/// they are the same as in the corpus), their index, and the report of dropped sequences.
///
/// # Errors
///
/// The same as [`Corpus::join`](crate::Corpus::join).
pub(super) fn join(
    sources: &[Arc<dyn Source>],
    policy: &JoinPolicy,
) -> Result<(Vec<Vec<u32>>, IndexBuilder, JoinReport)> {
    let others = sources[1..].iter();
    let mut lookups: Vec<Lookup<'_>> =
        others.map(|source| lookup(source.as_ref(), policy)).collect::<Result<_>>()?;
    let first = sources[0].index();
    let most = match policy.chunks {
        Chunking::Samples(most) => most,
        Chunking::Primary => u64::MAX,
    };
    let mut join = Join {
        sources,
        policy,
        rows: vec![Rows::default(); sources.len()],
        builder: IndexBuilder::like(first, most),
        report: JoinReport::default(),
        missing: 0,
        numbers: Vec::new(),
        first_missing: None,
        wrong: 0,
    };
    for chunk in 0..first.chunk_count() {
        for sequence in first.chunk(chunk) {
            join.add(sequence, &mut lookups)?;
        }
        if policy.chunks == Chunking::Primary {
            join.builder.end_chunk();
        }
    }
    if join.builder.is_empty() {
        return Err(join.nothing_left());
    }
    let Join { rows, builder, report, .. } = join;
    Ok((rows.into_iter().map(|rows| rows.0).collect(), builder, report))
}

/// The numbers of the remaining sequences in a source; none as long as they are 0, 1, 2 ...
#[derive(Clone, Default)]
struct Rows(Vec<u32>);

impl Rows {
    /// Adds the number of the sequence that has number `place` in the corpus.
    fn push(&mut self, place: u32, number: u32) {
        if self.0.is_empty() {
            if place == number {
                return;
            }
            self.0.extend(0..place);
        }
        self.0.push(number);
    }
}

struct Join<'a> {
    sources: &'a [Arc<dyn Source>],
    policy: &'a JoinPolicy,
    rows: Vec<Rows>,
    builder: IndexBuilder,
    report: JoinReport,
    missing: u64,
    /// The numbers of the current sequence in the sources.
    numbers: Vec<u32>,
    /// The first key that a source lacks, and that source.
    first_missing: Option<(Key<'a>, &'a dyn Source)>,
    wrong: u64,
}

impl<'a> Join<'a> {
    fn add(&mut self, sequence: u32, lookups: &mut [Lookup<'_>]) -> Result<()> {
        let sources = self.sources;
        let key = sources[0].index().key(sequence);
        let mut numbers = std::mem::take(&mut self.numbers);
        numbers.clear();
        numbers.push(sequence);
        for (source, keys) in sources[1..].iter().zip(lookups) {
            match keys.find(key) {
                Some(number) => numbers.push(number),
                None => return self.drop_missing(key, source.as_ref()),
            }
        }
        let added = self.add_found(key, &numbers);
        self.numbers = numbers;
        added
    }

    /// Adds a sequence with these numbers in the sources.
    fn add_found(&mut self, key: Key<'a>, numbers: &[u32]) -> Result<()> {
        let (samples, masked) = match self.length(key, numbers)? {
            Some(samples) if self.check(key, numbers, samples)? => (samples, false),
            Some(samples) if self.policy.mask_wrong => (samples, true),
            _ => return Ok(()),
        };
        let place = self.builder.len() as u32;
        for (rows, &number) in self.rows.iter_mut().zip(numbers) {
            rows.push(place, number);
        }
        match masked {
            true => self.builder.push_masked(key, samples),
            false => self.builder.push(key, samples),
        }
        Ok(())
    }

    /// Whether a sequence is without fault in all sources. Fails if too many sequences are faulty.
    fn check(&mut self, key: Key<'_>, numbers: &[u32], samples: u32) -> Result<bool> {
        for (source, &number) in self.sources.iter().zip(numbers) {
            let found = source.index().samples(number);
            let stream = &source.streams()[0];
            let short = self.policy.length == LengthRule::Primary
                && stream.extent != Extent::Sequence
                && found < samples;
            let error = if short {
                let first = &self.sources[0].streams()[0].name;
                let name = &stream.name;
                Error::corpus(format!("{name} has {found} samples, but {first} has {samples}"))
                    .in_file(source.name())
                    .of_key(key)
            } else if let Some(error) = source.fault(number) {
                error
            } else {
                continue;
            };
            let error = error.damage()?;
            self.wrong += 1;
            if !self.policy.errors.allows(self.wrong) {
                let most = self.so_many(self.wrong, self.policy.errors);
                let error = error.into_error();
                return Err(match most.is_empty() {
                    true => error,
                    false => error.with_help(format!("that is{most}").replace(['(', ')'], "")),
                });
            }
            self.report.add("wrong", format!("{key} ({})", error.message()));
            return Ok(false);
        }
        Ok(true)
    }

    fn drop_missing(&mut self, key: Key<'a>, source: &'a dyn Source) -> Result<()> {
        let stream = &source.streams()[0].name;
        self.missing += 1;
        self.first_missing.get_or_insert((key, source));
        if self.policy.missing.allows(self.missing) {
            self.report.add(&format!("not in stream {stream}"), key.to_string());
            return Ok(());
        }
        let so_many = self.so_many(self.missing, self.policy.missing);
        let message = format!("the key is not in stream {stream}{so_many}");
        Err(because_left_out(message, key, source)
            .in_file(source.name())
            .of_key(key)
            .with_help("allow it with `missing = \"skip\"`, or give the missing data"))
    }

    /// The length that the streams agree on, or `None` if they do not and the policy allows it.
    fn length(&mut self, key: Key<'_>, numbers: &[u32]) -> Result<Option<u32>> {
        let sources = self.sources.iter().zip(numbers);
        let mut lengths = sources.map(|(source, &number)| source.index().samples(number));
        let samples = match self.policy.length {
            LengthRule::Agreed => return self.agreed_length(key, numbers),
            LengthRule::Longest => lengths.max(),
            LengthRule::Source(number) => lengths.nth(number),
            LengthRule::Primary => lengths.next(),
        };
        Ok(self.unless_empty(key, samples.unwrap_or(0)))
    }

    fn agreed_length(&mut self, key: Key<'_>, numbers: &[u32]) -> Result<Option<u32>> {
        let mut agreed: Option<(u32, &str, &str)> = None;
        let mut longest = None;
        for (source, &number) in self.sources.iter().zip(numbers) {
            let samples = source.index().samples(number);
            let of = |extent| source.streams().iter().find(|stream| stream.extent == extent);
            let Some(stream) = of(Extent::Samples) else {
                // Lengths of their own count only if there are no others.
                if of(Extent::Own).is_some() {
                    longest = longest.max(Some(samples));
                }
                continue;
            };
            match agreed {
                None => agreed = Some((samples, &stream.name, source.name())),
                Some((expected, first, _)) if expected != samples => {
                    self.wrong += 1;
                    let what = format!(
                        "{} has {samples} samples, but {first} has {expected}",
                        stream.name
                    );
                    if self.policy.errors.allows(self.wrong) {
                        self.report.add("of different lengths", format!("{key} ({what})"));
                        return Ok(None);
                    }
                    let message = what + &self.so_many(self.wrong, self.policy.errors);
                    return Err(Error::corpus(message)
                        .in_file(source.name())
                        .of_key(key)
                        .with_help(
                            "allow it with `errors = \"skip\"` or a number, or mend the data; \
                             transforms that change lengths belong to all streams (`transforms` \
                             at the top)",
                        ));
                }
                Some(_) => {}
            }
        }
        let samples = agreed.map(|(samples, ..)| samples).or(longest).unwrap_or(1);
        Ok(self.unless_empty(key, samples))
    }

    fn unless_empty(&mut self, key: Key<'_>, samples: u32) -> Option<u32> {
        if samples == 0 {
            self.report.add("empty", key.to_string());
            return None;
        }
        Some(samples)
    }

    fn so_many(&self, count: u64, tolerance: Tolerance) -> String {
        match tolerance {
            Tolerance::SkipUpTo(most) => {
                format!(" (number {count} of such sequences, at most {most} allowed)")
            }
            _ => String::new(),
        }
    }

    fn nothing_left(&self) -> Error {
        let names: Vec<&str> = self.sources.iter().map(|source| source.name()).collect();
        if self.report.dropped.is_empty() {
            return Error::corpus(format!("{} holds no sequences", names[0]));
        }
        let reasons: Vec<String> = self.report.dropped.iter().map(ToString::to_string).collect();
        let (names, reasons) = (names.join(" and "), reasons.join("; "));
        let message = format!("no sequence is left after joining {names}: {reasons}");
        match self.first_missing {
            Some((key, source)) => because_left_out(message, key, source),
            None => Error::corpus(message),
        }
    }
}

/// An error about a key that a source lacks. If the source left the key out, the error has the
/// reason and the place.
fn because_left_out(message: String, key: Key<'_>, source: &dyn Source) -> Error {
    let is_of_key = |fault: &Damage| fault.place().key.as_deref() == Some(&*key.to_string());
    match source.about().faults.into_iter().find(is_of_key).map(Damage::into_error) {
        Some(cause) => Error::corpus(format!("{message}; {key} was left out: {}", cause.message()))
            .placed_as(cause),
        None => Error::corpus(message),
    }
}

fn lookup<'a>(source: &'a dyn Source, policy: &JoinPolicy) -> Result<Lookup<'a>> {
    let (lookup, twice) = Lookup::new(source.index());
    match twice {
        Some(key) if policy.length == LengthRule::Agreed => {
            Err(Error::format("table", Problem::DuplicateKey)
                .in_file(source.name())
                .of_key(key)
                .with_help("a stream that others are joined to must have each key once"))
        }
        _ => Ok(lookup),
    }
}
