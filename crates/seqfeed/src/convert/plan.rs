//! What a conversion writes, and what it would lose, told from streams, keys and formats.

use std::collections::BTreeMap;
use std::sync::Arc;

use seqfeed_core::{
    Corpus, Element, Error, Extent, Index, Kind, Result, SampleRates, Source, Stream,
};

use super::shaped::Change;
use super::target::TargetFormat;
use super::{ConvertOptions, ConvertPlan, Loss, LossKind};

impl ConvertPlan {
    /// Plans the conversion of a corpus; reads no data and writes nothing.
    ///
    /// # Errors
    ///
    /// Fails if the format cannot hold the corpus, if options contradict one another or the format,
    /// or if a file would be written that is [read](ConvertOptions::inputs) or written twice.
    pub fn new(corpus: &Arc<Corpus>, options: ConvertOptions) -> Result<Self> {
        check(&options)?;
        let mut planning = Planning {
            options: &options,
            streams: corpus.streams(),
            picks: Vec::new(),
            waves: BTreeMap::new(),
            losses: Vec::new(),
            notes: Vec::new(),
        };
        planning.pick()?;
        let wspecifiers = planning.wspecifiers()?;
        planning.precision()?;
        planning.sound()?;
        planning.names();
        planning.times();
        let keeps_keys = planning.keys(corpus.index());
        let Planning { picks, waves, losses, notes, .. } = planning;
        if picks.is_empty() {
            return Err(Error::usage("no stream is left to be written"));
        }
        let wanted = options.describe
            || options.target.format().is_family() && options.target.wspecifier().is_none();
        let description = options.target.description_file().filter(|_| wanted);
        if options.describe && description.is_none() {
            return Err(Error::usage("a description stands beside a file, and this is none")
                .in_file(options.target.name()));
        }
        let corpus = Arc::clone(corpus);
        let plan = Self {
            corpus,
            options,
            picks,
            wspecifiers,
            waves,
            keeps_keys,
            losses,
            notes,
            description,
        };
        plan.check_outputs()?;
        Ok(plan)
    }

    /// What would be lost.
    #[must_use]
    pub fn losses(&self) -> &[Loss] {
        &self.losses
    }

    /// What is lost because it was asked for, and other things worth knowing.
    #[must_use]
    pub fn notes(&self) -> &[String] {
        &self.notes
    }
}

fn check(options: &ConvertOptions) -> Result<()> {
    let format = options.target.format();
    let is_kaldi = format == TargetFormat::Kaldi;
    #[cfg(not(feature = "arrow"))]
    if format.is_columnar() {
        return Err(crate::arrow_files::not_built(options.target.name()));
    }
    if options.zstd.is_some() && !format.is_columnar() {
        return Err(Error::usage(format!(
            "--compress=zstd is for Parquet and Arrow files, not for {}",
            format.name()
        )));
    }
    if options.compress.is_some() && format.is_columnar() {
        return Err(Error::usage("Kaldi's compression is for its tables")
            .with_help("--compress=zstd, or --compress=zstd:9 for less bytes and more time"));
    }
    if options.compress.is_some() && !is_kaldi {
        return Err(Error::usage(format!(
            "--compress is for Kaldi's tables, not for {}",
            format.name()
        )));
    }
    if options.compress.is_some() && options.target.is_kaldi_text() {
        return Err(Error::usage("compressed matrices have no form as text of their own")
            .with_help("leave out --compress, or the `t` of the wspecifier"));
    }
    if !options.others.is_empty() && options.target.wspecifier().is_none() {
        return Err(Error::usage("--to is for streams beside one that is written to a wspecifier")
            .with_help("name the sink ark:... or ark,scp:..., or leave out --to"));
    }
    if options.sharding.shards == 0 || options.sharding.jobs == 0 {
        return Err(Error::usage("there must be one shard and one job at least"));
    }
    if options.dtype == Some(Element::I32) {
        return Err(Error::usage("floats cannot become int32"));
    }
    Ok(())
}

struct Planning<'a> {
    options: &'a ConvertOptions,
    streams: &'a [Stream],
    picks: Vec<(usize, Change)>,
    /// Picks that are written as waves.
    waves: BTreeMap<usize, SampleRates>,
    losses: Vec<Loss>,
    notes: Vec<String>,
}

impl Planning<'_> {
    fn lose(&mut self, kind: LossKind, what: String, cure: Option<&'static str>) {
        self.losses.push(Loss::new(kind, what, cure));
    }

    fn find(&self, name: &str) -> Result<usize> {
        self.streams.iter().position(|stream| stream.name == *name).ok_or_else(|| {
            let names: Vec<&str> = self.streams.iter().map(|stream| stream.name.as_str()).collect();
            Error::usage(format!("the corpus has no stream `{name}`"))
                .with_help(format!("it has {}", names.join(", ")))
        })
    }

    /// Chooses the streams that the format can hold.
    fn pick(&mut self) -> Result<()> {
        let format = self.options.target.format();
        let selected = match &self.options.streams[..] {
            [] => (0..self.streams.len()).collect(),
            names => {
                let mut selected = Vec::new();
                for name in names {
                    let number = self.find(name)?;
                    if selected.contains(&number) {
                        return Err(Error::usage(format!("stream {name} is named twice")));
                    }
                    selected.push(number);
                }
                selected
            }
        };
        for name in &self.options.classes {
            if self.streams[self.find(name)?].kind != Kind::Sparse {
                return Err(Error::usage(format!(
                    "stream {name} is not sparse, so it cannot become labels"
                )));
            }
        }
        let (mut dense, mut labels) = (0, 0);
        let (most_dense, most_labels) = match format {
            _ if holds_any(format) => (usize::MAX, usize::MAX),
            TargetFormat::PFile => (1, usize::MAX),
            TargetFormat::Npy => (1, 0),
            TargetFormat::Alignments => (0, 1),
            _ => (1, 1),
        };
        let holds_sparse = holds_any(format);
        for number in selected {
            let stream = &self.streams[number];
            let named = self.options.classes.contains(&stream.name);
            let change = match stream.kind {
                Kind::Sparse if named || !holds_sparse => Change::Classes,
                _ => Change::None,
            };
            let (count, most) = match stream.kind {
                Kind::Dense => (&mut dense, most_dense),
                _ => (&mut labels, most_labels),
            };
            let of_frames = holds_sparse || stream.extent != Extent::Sequence;
            if *count < most && of_frames {
                *count += 1;
                self.picks.push((number, change));
                continue;
            }
            let what = format!(
                "stream {} ({}{}) is left out: {} holds {}",
                stream.name,
                stream.kind.name(),
                if of_frames { "" } else { ", one sample a sequence" },
                format.name(),
                holds(format),
            );
            self.lose(
                LossKind::Stream,
                what,
                Some("name the streams to be written with --streams"),
            );
        }
        let needs_dense =
            !holds_any(format) && !matches!(format, TargetFormat::PFile | TargetFormat::Alignments);
        if needs_dense && dense == 0 {
            return Err(Error::usage(format!(
                "there is no stream of floats, which {} needs",
                format.name()
            )));
        }
        if format == TargetFormat::Alignments && labels == 0 {
            return Err(Error::usage("there is no stream of labels to be written as alignments"));
        }
        Ok(())
    }

    /// Where each stream goes, with Kaldi's tables.
    fn wspecifiers(&mut self) -> Result<Vec<(usize, String)>> {
        let target = &self.options.target;
        if target.format() != TargetFormat::Kaldi {
            return Ok(Vec::new());
        }
        let Some(main) = target.wspecifier() else {
            // The names of streams become parts of file names.
            for &(number, _) in &self.picks {
                let name = &self.streams[number].name;
                if name.contains(['/', ',', '\0']) || name.trim() != name {
                    return Err(Error::usage(format!(
                        "stream {name:?} cannot be a part of a file name"
                    ))
                    .with_help("name files with ark:... and --to STREAM=ark:..."));
                }
            }
            return Ok(Vec::new());
        };
        for name in self.options.others.keys() {
            let number = self.find(name)?;
            if !self.picks.iter().any(|&(pick, _)| pick == number) {
                return Err(Error::usage(format!("stream {name} is not among those of --streams")));
            }
        }
        let other = |number: usize| self.options.others.get(&self.streams[number].name);
        let free: Vec<usize> = self
            .picks
            .iter()
            .map(|pick| pick.0)
            .filter(|&number| other(number).is_none())
            .collect();
        // The sink that is named first takes the features, or what there is.
        let main_stream = free
            .iter()
            .copied()
            .find(|&number| self.streams[number].kind == Kind::Dense)
            .or(free.first().copied());
        if main_stream.is_none() {
            return Err(Error::usage(format!(
                "no stream is left for {main}: --to names all of them"
            )));
        }
        let mut all = Vec::new();
        let mut picks = Vec::new();
        for (number, change) in std::mem::take(&mut self.picks) {
            let wspecifier = match self.options.others.get(&self.streams[number].name) {
                Some(other) => other.clone(),
                None if Some(number) == main_stream => main.to_owned(),
                None => {
                    let name = &self.streams[number].name;
                    let what = format!("stream {name} is left out: it has no table to go to");
                    let cure =
                        "name one with --to STREAM=ark:NAME, or what is wanted with --streams";
                    self.lose(LossKind::Stream, what, Some(cure));
                    continue;
                }
            };
            all.push((picks.len(), wspecifier));
            picks.push((number, change));
        }
        self.picks = picks;
        Ok(all)
    }

    fn precision(&mut self) -> Result<()> {
        let format = self.options.target.format();
        let only_f32 =
            matches!(format, TargetFormat::Htk | TargetFormat::HtkFiles | TargetFormat::PFile);
        for at in 0..self.picks.len() {
            let (number, change) = self.picks[at];
            let stream = &self.streams[number];
            let (name, element) = (&stream.name, stream.element);
            if element == Element::I32 || change == Change::Classes {
                continue;
            }
            let wanted =
                self.options.dtype.unwrap_or(if only_f32 { Element::F32 } else { element });
            if wanted == Element::F64 && only_f32 {
                return Err(Error::usage(format!(
                    "{} holds float32 values, no others",
                    format.name()
                )));
            }
            self.picks[at].1 = match (element, wanted) {
                (Element::F64, Element::F32) => Change::Narrow,
                (Element::F32, Element::F64) => Change::Widen,
                _ => Change::None,
            };
            if element == Element::F64 && wanted == Element::F32 {
                let what = format!("stream {name}: float64 values become float32");
                match self.options.dtype {
                    Some(_) => self.notes.push(format!("{what}, as asked for")),
                    None => self.lose(LossKind::Precision, what, None),
                }
            }
            let sparse = stream.kind == Kind::Sparse;
            if format == TargetFormat::Kaldi && sparse {
                if wanted == Element::F64 {
                    let what = format!("stream {name}: posteriors hold float32 weights");
                    self.lose(LossKind::Precision, what, None);
                }
                self.notes.push(format!(
                    "stream {name} becomes posteriors; if its samples are classes, --classes {name} makes labels of them"
                ));
            }
            if let Some(method) =
                self.options.compress.filter(|_| !sparse && stream.extent != Extent::Sequence)
            {
                self.notes.push(format!(
                    "stream {name}: values are rounded by compression method {}, as asked for",
                    method as i32
                ));
            }
            if self.options.target.is_kaldi_text() && format == TargetFormat::Kaldi {
                let what = format!("stream {name}: text of Kaldi's has 7 digits a value");
                self.lose(LossKind::Precision, what, Some("write binary, without `t`"));
            }
        }
        Ok(())
    }

    /// Streams of sound, which Kaldi's tables hold as waves.
    fn sound(&mut self) -> Result<()> {
        let options = self.options;
        let is_kaldi = options.target.format() == TargetFormat::Kaldi;
        let waves = is_kaldi
            && options.dtype.is_none()
            && options.compress.is_none()
            && !options.target.is_kaldi_text();
        for at in 0..self.picks.len() {
            let stream = &self.streams[self.picks[at].0];
            let name = &stream.name;
            let Some(rates) = options.sample_rates.get(name) else { continue };
            if stream.kind != Kind::Dense || stream.extent == Extent::Sequence {
                return Err(Error::usage(format!(
                    "stream {name} is not sound: it has no sample rate"
                )));
            }
            if waves {
                self.waves.insert(at, rates.clone());
                // 16-bit values are the same in either; others are found when they come.
                let change = &mut self.picks[at].1;
                *change =
                    if stream.element == Element::F64 { Change::Narrow } else { Change::None };
                self.notes.push(format!(
                    "stream {name} becomes waves of 16-bit samples; --dtype float32 makes matrices of it"
                ));
                continue;
            }
            let rate = match rates.range() {
                (least, most) if least == most => format!("{least}"),
                (least, most) => format!("{least} to {most}"),
            };
            let what = if is_kaldi { "matrices" } else { options.target.format().name() };
            let what =
                format!("that stream {name} has {rate} samples a second is not held by {what}");
            self.lose(LossKind::Times, what, None);
        }
        Ok(())
    }

    /// What HTK's headers say.
    fn times(&mut self) {
        let format = self.options.target.format();
        let Some((kind, period)) = self.options.parameters else { return };
        if !matches!(format, TargetFormat::Htk | TargetFormat::HtkFiles) {
            let what = format!(
                "that frames are of kind {kind}, one every {} ms, is not held by {}",
                f64::from(period) / 10_000.0,
                format.name()
            );
            self.lose(LossKind::Times, what, None);
        }
    }

    /// Names of streams, where the format gives its own.
    fn names(&mut self) {
        let format = self.options.target.format();
        let unnamed = matches!(
            format,
            TargetFormat::PFile | TargetFormat::Pickle | TargetFormat::Npy | TargetFormat::Npz
        );
        if !unnamed {
            return;
        }
        let kind = |change: Change, stream: &Stream| {
            if change == Change::Classes { Kind::Label } else { stream.kind }
        };
        let labels =
            self.picks.iter().filter(|(n, c)| kind(*c, &self.streams[*n]) == Kind::Label).count();
        let mut label = 0;
        for (number, change) in self.picks.clone() {
            let stream = &self.streams[number];
            let own = match kind(change, stream) {
                Kind::Dense => "features".to_owned(),
                _ if labels == 1 => "labels".to_owned(),
                _ => {
                    label += 1;
                    format!("labels{}", label - 1)
                }
            };
            if stream.name != own {
                let what = format!("stream {} will be called {own}", stream.name);
                self.lose(LossKind::Names, what, None);
            }
        }
    }

    /// Whether keys are kept; what becomes of them otherwise.
    fn keys(&mut self, index: &Index) -> bool {
        let format = self.options.target.format();
        let one_matrix =
            matches!(format, TargetFormat::Pickle | TargetFormat::Npy | TargetFormat::Npz);
        let number = |sequence: u32| -> Option<u64> {
            let key = index.key(sequence).as_str()?;
            let number: u64 = key.parse().ok()?;
            // Only what is written back as it was read.
            (itoa_len(number) == key.len() && !key.starts_with('+')).then_some(number)
        };
        let sequences = 0..index.len() as u32;
        let kept = match format {
            TargetFormat::Ctf => sequences.clone().all(|sequence| number(sequence).is_some()),
            TargetFormat::PFile => {
                sequences.clone().all(|sequence| number(sequence) == Some(sequence.into()))
            }
            _ if one_matrix => index.len() == 1 && number(0) == Some(0),
            _ => true,
        };
        if kept {
            return true;
        }
        let first = index.key(0);
        if one_matrix && index.len() > 1 {
            let what = format!(
                "{} sequences become one: where they begin and end, and their keys ({first} ...)",
                index.len()
            );
            self.lose(LossKind::Boundaries, what, None);
        } else {
            let comments =
                if format == TargetFormat::Ctf { "; they stand in comments" } else { "" };
            let what = format!("keys of sequences ({first} ...) become numbers from 0{comments}");
            self.lose(LossKind::Keys, what, None);
        }
        false
    }
}

fn itoa_len(number: u64) -> usize {
    number.checked_ilog10().map_or(1, |log| log as usize + 1)
}

/// Whether a format holds streams of all kinds, any number of them.
fn holds_any(format: TargetFormat) -> bool {
    format.is_columnar() || matches!(format, TargetFormat::Kaldi | TargetFormat::Ctf)
}

/// What a format holds, in words.
fn holds(format: TargetFormat) -> &'static str {
    match format {
        _ if holds_any(format) => "any",
        TargetFormat::PFile => "one stream of floats and labels, one a frame",
        TargetFormat::Npy => "one stream of floats",
        TargetFormat::Alignments => "one stream of labels",
        _ => "one stream of floats and one of labels",
    }
}
