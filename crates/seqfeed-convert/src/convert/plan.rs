//! Plans a conversion: what it writes, and what it would lose. Streams, keys and formats tell.

use std::collections::BTreeMap;
use std::sync::Arc;

use seqfeed_core::{Corpus, Element, Error, Extent, Index, Kind, Result, Source};

use super::{ConvertOptions, ConvertPlan};
use seqfeed::{Change, Draft, Format, Keys};
use seqfeed::{Loss, LossKind};

impl ConvertPlan {
    /// Plans the conversion of a corpus. Reads no data and writes nothing.
    ///
    /// # Errors
    ///
    /// Fails if the format cannot hold the corpus; if options contradict one another or the format;
    /// or if a file would be written that is [read](ConvertOptions::inputs), or written twice.
    pub fn new(corpus: &Arc<Corpus>, options: ConvertOptions) -> Result<Self> {
        check(&options)?;
        let format = options.target.format();
        let holds = format.capabilities();
        let about = corpus.about();
        let mut sample_rates = about.sample_rates;
        sample_rates.extend(options.sample_rates.clone());
        let mut draft = Draft {
            name: options.target.name(),
            others: &options.others,
            streams: corpus.streams(),
            dtype: options.dtype,
            options: &options.options,
            sample_rates: &sample_rates,
            picks: Vec::new(),
            names: Vec::new(),
            sound: BTreeMap::new(),
            silent: None,
            losses: Vec::new(),
            notes: Vec::new(),
        };
        pick(&mut draft, &options, format)?;
        precision(&mut draft, format)?;
        format.plan(&mut draft)?;
        sound(&mut draft, format)?;
        if !holds.stream_names {
            names(&mut draft);
        }
        let mut format_options = options.options.clone();
        for fact in about.facts {
            if fact.options.iter().any(|(name, _)| !holds.options.contains(name)) {
                let what = format!("that {} is not held by {}", fact.words, format.name());
                draft.lose(LossKind::Times, what, None);
                continue;
            }
            // Options that are not given come from the source.
            for (name, value) in fact.options {
                format_options.entry(name.to_owned()).or_insert(value);
            }
        }
        let keeps_keys = keys(&mut draft, holds.keys, corpus.index());
        let Draft { picks, names, sound, losses, notes, .. } = draft;
        if picks.is_empty() {
            return Err(Error::usage("no stream is left to be written"));
        }
        let wanted = options.describe || holds.several_files;
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
            names,
            sound,
            format_options,
            keeps_keys,
            losses,
            notes,
            description,
        };
        plan.check_outputs()?;
        Ok(plan)
    }

    /// The data that would be lost.
    #[must_use]
    pub fn losses(&self) -> &[Loss] {
        &self.losses
    }

    /// Losses that the options ask for, and other notes.
    #[must_use]
    pub fn notes(&self) -> &[String] {
        &self.notes
    }
}

fn check(options: &ConvertOptions) -> Result<()> {
    if !options.others.is_empty() && !options.target.format().capabilities().file_a_stream {
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

/// Chooses the streams that the format can hold.
fn pick(draft: &mut Draft<'_>, options: &ConvertOptions, format: &dyn Format) -> Result<()> {
    let (holds, streams) = (format.capabilities(), draft.streams);
    let mut selected = Vec::new();
    for name in &options.streams {
        let number = draft.find(name)?;
        if selected.contains(&number) {
            return Err(Error::usage(format!("stream {name} is named twice")));
        }
        selected.push(number);
    }
    if selected.is_empty() {
        selected.extend(0..streams.len());
    }
    for name in &options.classes {
        if streams[draft.find(name)?].kind != Kind::Sparse {
            return Err(Error::usage(format!(
                "stream {name} is not sparse, so it cannot become labels"
            )));
        }
    }
    let (mut dense, mut labels) = (0, 0);
    for number in selected {
        let stream = &streams[number];
        let named = options.classes.contains(&stream.name);
        let change = match stream.kind {
            Kind::Sparse if named || !holds.sparse => Change::Classes,
            _ => Change::None,
        };
        let (count, most) = match stream.kind {
            Kind::Dense => (&mut dense, holds.dense),
            _ => (&mut labels, holds.labels),
        };
        let of_frames = holds.per_sequence || stream.extent != Extent::Sequence;
        if *count < most && of_frames {
            *count += 1;
            draft.picks.push((number, change));
            continue;
        }
        let what = format!(
            "stream {} ({}{}) is left out: {} holds {}",
            stream.name,
            stream.kind.name(),
            if of_frames { "" } else { ", one sample a sequence" },
            format.name(),
            holds.words,
        );
        let cure = "name the streams to be written with --streams";
        draft.lose(LossKind::Stream, what, Some(cure));
    }
    let name = format.name();
    match holds.needs {
        Some(Kind::Dense) if dense == 0 => {
            Err(Error::usage(format!("there is no stream of floats, which {name} needs")))
        }
        Some(Kind::Label) if labels == 0 => Err(Error::usage(format!(
            "there is no stream of labels to be written as {}",
            holds.called
        ))),
        _ => Ok(()),
    }
}

fn precision(draft: &mut Draft<'_>, format: &dyn Format) -> Result<()> {
    let only_f32 = !format.capabilities().float64;
    for at in 0..draft.picks.len() {
        let (number, change) = draft.picks[at];
        let stream = &draft.streams[number];
        let (name, element) = (&stream.name, stream.element);
        if element == Element::I32 || change == Change::Classes {
            continue;
        }
        let wanted = draft.dtype.unwrap_or(if only_f32 { Element::F32 } else { element });
        if wanted == Element::F64 && only_f32 {
            let what = format!("{} holds float32 values, no others", format.name());
            return Err(Error::usage(what));
        }
        draft.picks[at].1 = match (element, wanted) {
            (Element::F64, Element::F32) => Change::Narrow,
            (Element::F32, Element::F64) => Change::Widen,
            _ => Change::None,
        };
        if element == Element::F64 && wanted == Element::F32 {
            let what = format!("stream {name}: float64 values become float32");
            match draft.dtype {
                Some(_) => draft.notes.push(format!("{what}, as asked for")),
                None => draft.lose(LossKind::Precision, what, None),
            }
        }
    }
    Ok(())
}

/// Warns about streams of sound whose rates the format does not hold.
fn sound(draft: &mut Draft<'_>, format: &dyn Format) -> Result<()> {
    for at in 0..draft.picks.len() {
        let stream = &draft.streams[draft.picks[at].0];
        let name = &stream.name;
        let Some(rates) = draft.sample_rates.get(name) else { continue };
        if stream.kind != Kind::Dense || stream.extent == Extent::Sequence {
            let what = format!("stream {name} is not sound: it has no sample rate");
            return Err(Error::usage(what));
        }
        if draft.sound.contains_key(&at) {
            continue;
        }
        let rate = match rates.range() {
            (least, most) if least == most => format!("{least}"),
            (least, most) => format!("{least} to {most}"),
        };
        let what = draft.silent.unwrap_or(format.name());
        let what = format!("that stream {name} has {rate} samples a second is not held by {what}");
        draft.lose(LossKind::Times, what, None);
    }
    Ok(())
}

/// Names of streams, if the format gives its own.
fn names(draft: &mut Draft<'_>) {
    let kind = |&(number, change): &(usize, Change)| {
        if change == Change::Classes { Kind::Label } else { draft.streams[number].kind }
    };
    let labels = draft.picks.iter().filter(|pick| kind(pick) == Kind::Label).count();
    let mut label = 0;
    for pick in draft.picks.clone() {
        let stream = &draft.streams[pick.0];
        let own = match kind(&pick) {
            Kind::Dense => "features".to_owned(),
            _ if labels == 1 => "labels".to_owned(),
            _ => {
                label += 1;
                format!("labels{}", label - 1)
            }
        };
        if stream.name != own {
            let what = format!("stream {} will be called {own}", stream.name);
            draft.lose(LossKind::Names, what, None);
        }
    }
}

/// Whether keys are kept. If not, notes the loss.
fn keys(draft: &mut Draft<'_>, keys: Keys, index: &Index) -> bool {
    let number = |sequence: u32| -> Option<u64> {
        let key = index.key(sequence).as_str()?;
        let number: u64 = key.parse().ok()?;
        // Only if the number is written as the key was.
        (number.to_string() == key).then_some(number)
    };
    let mut sequences = 0..index.len() as u32;
    let kept = match keys {
        Keys::Any => true,
        Keys::Numbers => sequences.all(|sequence| number(sequence).is_some()),
        Keys::Ordinals => sequences.all(|sequence| number(sequence) == Some(sequence.into())),
        Keys::OneSequence => index.len() == 1 && number(0) == Some(0),
    };
    if kept {
        return true;
    }
    let first = index.key(0);
    if keys == Keys::OneSequence && index.len() > 1 {
        let what = format!(
            "{} sequences become one: where they begin and end, and their keys ({first} ...)",
            index.len()
        );
        draft.lose(LossKind::Boundaries, what, None);
    } else {
        let comments = if keys == Keys::Numbers { "; they stand in comments" } else { "" };
        let what = format!("keys of sequences ({first} ...) become numbers from 0{comments}");
        draft.lose(LossKind::Keys, what, None);
    }
    false
}
