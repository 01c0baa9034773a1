//! Draws sequences: features as a heat map over time and bins, audio as waveform and spectrogram,
//! labels as a track below. The output is PNG, SVG, or text for a terminal.
//!
//! All outputs draw the same scene, so they agree.

#![forbid(unsafe_code)]

mod colors;
mod heat;
mod layout;
mod pixels;
mod scene;
mod spectrogram;
mod svg;
mod terminal;
mod ticks;

use std::ops::Range;

use seqfeed::{Sample, Sequence, SequenceStream};
use seqfeed_core::{Error, Extent, Kind, Result, Stream};

use heat::HeatMap;

/// Samples that are closer than this many seconds are audio.
const AUDIO: f64 = 0.001;
/// Sparse streams with more possible values are not drawn.
const SPARSE: usize = 4096;
/// The most values of a stream to draw.
const VALUES: usize = 1 << 28;

/// A sequence as a picture.
///
/// ```no_run
/// use seqfeed::{Description, Key, Sequence, io::Opener};
/// use seqfeed_picture::Picture;
///
/// let opened = Description::of_name("corpus.toml")?.description.open(&Opener::default())?;
/// let corpus = opened.corpus().as_ref();
/// let number = Sequence::find(corpus, Key(b"utt1")).expect("a sequence of that key");
/// let picture = Picture::of(&[Sequence::load(corpus, number)?], &|_stream| 0.01)?;
/// std::fs::write("utt1.svg", picture.svg()?).unwrap();
/// # Ok::<(), seqfeed::Error>(())
/// ```
#[derive(Debug)]
pub struct Picture {
    groups: Vec<Group>,
}

/// The panels of one sequence.
#[derive(Debug)]
struct Group {
    title: String,
    detail: String,
    panels: Vec<Panel>,
}

/// A stream over time.
#[derive(Debug)]
struct Panel {
    name: String,
    /// Seconds at both ends.
    time: (f64, f64),
    content: Content,
}

#[derive(Debug)]
enum Content {
    /// Values over time and over `axis`.
    Heat { map: HeatMap, axis: Axis },
    /// Audio, relative to its largest magnitude.
    Wave { samples: Vec<f32>, most: f32 },
    /// Runs of samples with one label, and the number of samples.
    Labels { runs: Vec<(Range<usize>, i32)>, samples: usize },
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Axis {
    /// Each row is a value of a sample.
    Bins,
    /// From 0 to this many kHz; values are dB.
    Kilohertz(f64),
}

impl Picture {
    /// A picture of sequences, one below the other. `frame_shift` gives the distance of a stream's
    /// samples in seconds. If it is less than a millisecond and samples have one or two values,
    /// they are audio.
    /// values, they are audio.
    ///
    /// # Errors
    ///
    /// Fails if there is nothing to draw: no samples, or only streams that cannot be drawn.
    pub fn of(sequences: &[Sequence], frame_shift: &dyn Fn(&Stream) -> f64) -> Result<Self> {
        let groups: Vec<Group> =
            sequences.iter().map(|sequence| group(sequence, frame_shift)).collect::<Result<_>>()?;
        Ok(Self { groups })
    }

    /// The text of an SVG file.
    ///
    /// # Errors
    ///
    /// Fails if an image is too large for a PNG.
    pub fn svg(&self) -> Result<String> {
        svg::svg(&layout::scene(self))
    }

    /// The bytes of a PNG file.
    ///
    /// # Errors
    ///
    /// Fails if it is too large for a PNG.
    pub fn png(&self) -> Result<Vec<u8>> {
        pixels::png(&layout::scene(self))
    }

    /// Lines for a terminal with `columns` columns that shows Unicode and 24-bit colours.
    #[must_use]
    pub fn terminal(&self, columns: usize) -> String {
        terminal::text(self, columns)
    }
}

fn group(sequence: &Sequence, frame_shift: &dyn Fn(&Stream) -> f64) -> Result<Group> {
    let (mut panels, mut said) = (Vec::new(), Vec::new());
    for stream in sequence.streams() {
        let shift = frame_shift(stream.stream());
        let range = stream.range();
        let time = (range.start as f64 * shift, range.end as f64 * shift);
        let Stream { name, kind, dim, extent, .. } = stream.stream();
        if range.is_empty() {
            continue;
        }
        if range.len().saturating_mul(*dim) > VALUES && *kind == Kind::Dense {
            return Err(Error::usage(format!("{name} has too many values for a picture"))
                .of_key(sequence.key())
                .with_help("show a part of it (--range FROM:TO)"));
        }
        if *extent == Extent::Sequence {
            match (kind, stream.sample(range.start)) {
                (Kind::Label, Sample::Label(label)) => said.push(format!("{name} {label}")),
                _ => said.push(format!("{name} of {dim}")),
            }
            continue;
        }
        let panel = |name: String, content: Content| Panel { name, time, content };
        match kind {
            Kind::Label => {
                said.push(format!("{name} {}", range.len()));
                panels.push(panel(name.clone(), labels(stream)));
            }
            Kind::Dense if *dim <= 2 && shift < AUDIO => {
                let rate = 1.0 / shift;
                said.push(format!("{:.2} s at {:.0} Hz", time.1 - time.0, rate));
                for channel in 0..*dim {
                    let samples = dense(stream, channel..channel + 1);
                    let largest = samples.iter().filter(|value| value.is_finite());
                    let most = largest.fold(0f32, |most, value| most.max(value.abs()));
                    let map = spectrogram::spectrogram(&samples, rate);
                    let named = if *dim == 1 { name.clone() } else { format!("{name} {channel}") };
                    panels.push(panel(named, Content::Wave { samples, most }));
                    let axis = Axis::Kilohertz(rate / 2000.0);
                    panels.push(panel("kHz".to_owned(), Content::Heat { map, axis }));
                }
            }
            Kind::Dense => {
                said.push(format!("{name} {} x {dim}", range.len()));
                let map = HeatMap::new(*dim, dense(stream, 0..*dim));
                panels.push(panel(name.clone(), Content::Heat { map, axis: Axis::Bins }));
            }
            _ => match sparse(stream) {
                Some(content) => {
                    said.push(format!("{name} {} x {dim}", range.len()));
                    panels.push(panel(name.clone(), content));
                }
                None => said.push(format!("{name} {} x {dim}, not drawn", range.len())),
            },
        }
    }
    if panels.is_empty() {
        return Err(Error::usage("there is nothing to be drawn")
            .of_key(sequence.key())
            .with_help("show it as text, or another stream or range of it"));
    }
    // Labels lie below their features.
    panels.sort_by_key(|panel| matches!(panel.content, Content::Labels { .. }));
    Ok(Group { title: sequence.key().to_text(), detail: said.join(", "), panels })
}

fn dense(stream: &SequenceStream, values: Range<usize>) -> Vec<f32> {
    let mut all = Vec::with_capacity(stream.range().len() * values.len());
    for sample in stream.samples() {
        if let Sample::Dense(row) = sample {
            all.extend(row[values.clone()].iter().map(|&value| value as f32));
        }
    }
    all
}

fn labels(stream: &SequenceStream) -> Content {
    let classes = stream.samples().map(|sample| match sample {
        Sample::Label(label) => label,
        _ => 0,
    });
    runs(classes)
}

fn runs(classes: impl Iterator<Item = i32>) -> Content {
    let mut runs: Vec<(Range<usize>, i32)> = Vec::new();
    let mut samples = 0;
    for (number, label) in classes.enumerate() {
        samples = number + 1;
        match runs.last_mut() {
            Some((run, same)) if *same == label => run.end = samples,
            _ => runs.push((number..samples, label)),
        }
    }
    Content::Labels { runs, samples }
}

/// Samples with a single value each are labels (as in CNTK). Others are drawn with all their
/// values.
fn sparse(stream: &SequenceStream) -> Option<Content> {
    let dim = stream.stream().dim;
    let one = |sample: Sample| match sample {
        Sample::Sparse(given) => match given[..] {
            [(index, _)] => Some(index),
            _ => None,
        },
        _ => None,
    };
    if let Some(classes) = stream.samples().map(one).collect::<Option<Vec<i32>>>() {
        return Some(runs(classes.into_iter()));
    }
    if dim > SPARSE || stream.range().len().saturating_mul(dim) > VALUES {
        return None;
    }
    let mut values = vec![0f32; stream.range().len() * dim];
    for (row, sample) in values.chunks_exact_mut(dim).zip(stream.samples()) {
        if let Sample::Sparse(given) = sample {
            for (index, value) in given {
                if let Some(cell) = usize::try_from(index).ok().and_then(|index| row.get_mut(index))
                {
                    *cell = value as f32;
                }
            }
        }
    }
    Some(Content::Heat { map: HeatMap::new(dim, values), axis: Axis::Bins })
}
