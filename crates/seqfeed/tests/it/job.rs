//! A reader's job with what is expected of it: one line of `tests/random_jobs.py`.

use std::collections::BTreeMap;
use std::path::Path;
use std::{env, fs};

use seqfeed::io::Opener;
use seqfeed::{Description, Key, Minibatch, State, StreamBatch};
use serde::Deserialize;

/// A job and its outcome.
#[derive(Deserialize)]
pub(crate) struct Job {
    /// Its number, from which it can be made again.
    pub(crate) job: u64,
    files: BTreeMap<String, String>,
    /// Files that are no text, in hexadecimal digits.
    #[serde(default)]
    binary: BTreeMap<String, String>,
    reader: serde_json::Value,
    options: seqfeed::Table,
    /// The reader as a configuration, of which it is the only one.
    section: Option<String>,
    /// After so many minibatches, which other options the run goes on with from its state.
    #[serde(default)]
    changes: Vec<(usize, seqfeed::Table)>,
    /// Why it fails, if it does.
    error: Option<String>,
    #[serde(default)]
    minibatches: Vec<Expected>,
    /// Why nothing is expected of it.
    crash: Option<String>,
}

#[derive(Deserialize)]
struct Expected {
    end_of_sweep: bool,
    keys: Vec<String>,
    streams: BTreeMap<String, ExpectedStream>,
}

#[derive(Deserialize)]
struct ExpectedStream {
    /// Parallel rows.
    rows: usize,
    /// Samples in a row.
    width: usize,
    /// Row, column and length of each sequence, one after another.
    places: Vec<usize>,
    /// For each sample its values; or, of a sparse stream, indices and values in turn.
    values: Vec<Vec<f64>>,
}

/// How a job came out, where it came out right.
pub(crate) enum Outcome {
    Minibatches(usize),
    Fails,
    /// Not compared.
    Unknown,
}

impl Job {
    /// Runs the job in an empty directory of its own and compares everything.
    pub(crate) fn run(&self) -> Result<Outcome, String> {
        if self.crash.is_some() {
            return Ok(Outcome::Unknown);
        }
        let directory = tempfile::tempdir().unwrap();
        let bytes = |digits: &String| -> Vec<u8> {
            let pairs = digits.as_bytes().chunks_exact(2).map(|pair| str::from_utf8(pair).unwrap());
            pairs.map(|pair| u8::from_str_radix(pair, 16).unwrap()).collect()
        };
        let texts = self.files.iter().map(|(name, text)| (name, text.clone().into_bytes()));
        let binary = self.binary.iter().map(|(name, digits)| (name, bytes(digits)));
        for (name, content) in texts.chain(binary) {
            let path = directory.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, content).unwrap();
        }
        let json = self.reader.to_string();
        let (name, text) = match &self.section {
            Some(section) => ("reader.cntk", section),
            None => ("reader.json", &json),
        };
        let reader = directory.path().join(name);
        fs::write(&reader, text).unwrap();
        let mut found = 0;
        let failed = self.feed(&reader, &mut found)?;
        match (&self.error, failed) {
            (Some(_), Some(_)) => Ok(Outcome::Fails),
            (None, None) if found == self.minibatches.len() => Ok(Outcome::Minibatches(found)),
            (None, None) => Err(format!("{found} minibatches, not {}", self.minibatches.len())),
            (Some(error), None) => Err(format!("CNTK fails ({error}), we don't")),
            (None, Some(error)) => Err(format!("fails after {found} minibatches: {error}")),
        }
    }

    /// Compares minibatches until the first difference or error; the latter.
    fn feed(&self, reader: &Path, found: &mut usize) -> Result<Option<String>, String> {
        let mut table = self.options.clone();
        table.insert("reader".into(), reader.display().to_string().into());
        // CNTK takes it for every reader; here it is refused where it has no effect.
        let one_rank = table.get("ranks").is_none_or(|ranks| ranks.as_integer() == Some(1));
        if self.reader["truncated"] == true && one_rank {
            table.remove("cross-sweeps");
        }
        let open = |table: &seqfeed::Table, state: Option<&State>| {
            let description = Description::from_options(table.clone())?;
            description.open(&Opener::default())?.feed(state)
        };
        let mut feed = match open(&table, None) {
            Ok(feed) => feed,
            Err(error) => return Ok(Some(error.to_string())),
        };
        let mut changes = self.changes.iter().peekable();
        while let Some(minibatch) = feed.next() {
            let minibatch = match minibatch {
                Ok(minibatch) => minibatch,
                Err(error) => return Ok(Some(error.to_string())),
            };
            // A run that fails gives nothing to compare with.
            if self.error.is_none() {
                let Some(expected) = self.minibatches.get(*found) else {
                    return Err(format!("more than {found} minibatches"));
                };
                expected
                    .compare(&minibatch)
                    .map_err(|what| format!("minibatch {found}: {what}"))?;
            }
            *found += 1;
            if let Some((_, options)) = changes.next_if(|(after, _)| after == found) {
                table.extend(options.clone());
                let state = State::from_json(&feed.state().to_json()).unwrap();
                feed = match open(&table, Some(&state)) {
                    Ok(feed) => feed,
                    Err(error) => return Ok(Some(error.to_string())),
                };
            }
        }
        Ok(None)
    }

    /// For the report of a difference: the files and settings.
    pub(crate) fn describe(&self) -> String {
        let mut text = format!("reader {}\noptions {}", self.reader, self.options);
        text.push_str(self.section.as_deref().unwrap_or_default());
        text.push_str(&format!("changes {:?}", self.changes));
        for (name, file) in &self.files {
            text.push_str(&format!("\n--- {name}\n{file}"));
        }
        text
    }
}

impl Expected {
    fn compare(&self, minibatch: &Minibatch) -> Result<(), String> {
        let keys: Vec<String> = minibatch.keys().map(name).collect();
        if keys != self.keys {
            return Err(format!("keys {keys:?}, not {:?}", self.keys));
        }
        if minibatch.end_of_sweep() != self.end_of_sweep {
            return Err(format!("the end of the sweep is {}", self.end_of_sweep));
        }
        // One without data has no streams with CNTK.
        if keys.is_empty() {
            return Ok(());
        }
        if minibatch.streams().len() != self.streams.len() {
            return Err("another number of streams".into());
        }
        for (name, expected) in &self.streams {
            let stream = minibatch.stream(name).ok_or(format!("no stream {name}"))?;
            expected.compare(stream).map_err(|what| format!("{name}: {what}"))?;
        }
        Ok(())
    }
}

fn name(key: Key<'_>) -> String {
    key.to_string()
}

impl ExpectedStream {
    fn compare(&self, stream: StreamBatch<'_>) -> Result<(), String> {
        let dim = stream.stream().dim;
        let shape = stream.shape();
        let expected = [self.rows, self.width, dim];
        // Single frames have no second axis.
        if shape != expected && !(self.width == 1 && shape == [self.rows, dim]) {
            return Err(format!("shape {shape:?}, not {expected:?}"));
        }
        let mut values = self.values.iter();
        let mut filled = vec![false; self.rows * self.width];
        for (segment, place) in self.places.chunks_exact(3).enumerate() {
            let (first, samples) = stream.rows_of(segment);
            let found = [first / self.width, first % self.width, samples];
            if found != place {
                return Err(format!("segment {segment} lies at {found:?}, not {place:?}"));
            }
            for (row, filled) in (first..).zip(&mut filled[first..first + samples]) {
                let found = sample(stream, row, dim);
                let expected = values.next().ok_or("too few values are expected")?;
                if found != *expected {
                    return Err(format!("segment {segment}: {found:?}, not {expected:?}"));
                }
                *filled = true;
            }
        }
        for (row, _) in filled.iter().enumerate().filter(|&(_, filled)| !filled) {
            if sample(stream, row, dim).iter().any(|&value| value != 0.0) {
                return Err(format!("the padding of sample {row} is not zero"));
            }
        }
        Ok(())
    }
}

/// The values of a sample, or, where the stream is sparse, indices and values in turn.
fn sample(stream: StreamBatch<'_>, row: usize, dim: usize) -> Vec<f64> {
    let Some(sparse) = stream.as_sparse() else {
        let range = row * dim..(row + 1) * dim;
        return match (stream.as_f32(), stream.as_f64()) {
            (Some(values), _) => values[range].iter().copied().map(f64::from).collect(),
            (_, Some(values)) => values[range].to_vec(),
            _ => panic!("streams of CTF files are of floats"),
        };
    };
    let range = sparse.offsets[row] as usize..sparse.offsets[row + 1] as usize;
    let value = |at: usize| match (sparse.values.as_f32(), sparse.values.as_f64()) {
        (Some(values), _) => f64::from(values[at]),
        (_, Some(values)) => values[at],
        _ => panic!("streams of CTF files are of floats"),
    };
    range.flat_map(|at| [f64::from(sparse.indices[at]), value(at)]).collect()
}

/// A directory of the shared material, or `None` (said loudly) where it is missing.
pub(crate) fn shared(directory: &str) -> Option<std::path::PathBuf> {
    let root = env::var_os("SEQFEED_SHARED").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared"),
        std::path::PathBuf::from,
    );
    let directory = root.join(directory);
    if directory.exists() {
        return Some(directory);
    }
    eprintln!("SKIPPED: {} is missing; set SEQFEED_SHARED", directory.display());
    None
}
