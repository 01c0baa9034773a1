//! What a label file says.

/// What a label file says: one list of labels, or several alternative ones.
///
/// A file without labels has no list at all.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Transcription {
    /// The lists. The first one is never empty in a file.
    pub alternatives: Vec<Labels>,
}

/// A list of labels, each with its times, score and auxiliary labels.
///
/// All names of a list stand side by side in one buffer.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Labels {
    /// Times, and where in `names` the labels of the segment end.
    segments: Vec<Row>,
    /// Where in `text` each name ends, and its score.
    names: Vec<(usize, f32)>,
    text: Vec<u8>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Row {
    start: Option<f64>,
    end: Option<f64>,
    names_end: usize,
}

/// A name and its score.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Name<'a> {
    /// The name: bytes, in whatever encoding the file has. Never with a NUL.
    pub text: &'a [u8],
    /// Its score (a log likelihood); 0 where there is none.
    pub score: f32,
}

/// One line of a label file.
#[derive(Clone, Copy, Debug)]
pub struct Segment<'a> {
    /// Where it starts, in units of 100 ns; HTK says -1 where this is missing.
    pub start: Option<f64>,
    /// Where it ends. Never without a start.
    pub end: Option<f64>,
    names: &'a [(usize, f32)],
    /// Where the first name starts in `text`.
    text_start: usize,
    text: &'a [u8],
}

impl Labels {
    /// An empty list.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// How many segments there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.segments.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.segments.is_empty()
    }

    /// How many labels the segment with the most has: 1 without auxiliary ones, 0 in an empty list.
    #[must_use]
    pub fn levels(&self) -> usize {
        self.segments().map(|segment| segment.levels()).max().unwrap_or(0)
    }

    /// A segment.
    ///
    /// # Panics
    ///
    /// When there are not so many.
    #[must_use]
    pub fn segment(&self, number: usize) -> Segment<'_> {
        let row = self.segments[number];
        let first = if number == 0 { 0 } else { self.segments[number - 1].names_end };
        Segment {
            start: row.start,
            end: row.end,
            names: &self.names[first..row.names_end],
            text_start: if first == 0 { 0 } else { self.names[first - 1].0 },
            text: &self.text,
        }
    }

    /// The segments in their order.
    pub fn segments(&self) -> impl ExactSizeIterator<Item = Segment<'_>> {
        (0..self.len()).map(|number| self.segment(number))
    }

    /// Appends a segment with one label; [`push_name`](Labels::push_name) adds auxiliary ones.
    ///
    /// An end without a start cannot be written in a file, and is left out. Names end before their
    /// first NUL, as they do for HTK.
    pub fn push(&mut self, start: Option<f64>, end: Option<f64>, name: &[u8], score: f32) {
        let end = end.filter(|_| start.is_some());
        self.segments.push(Row { start, end, names_end: self.names.len() });
        self.push_name(name, score);
    }

    /// Adds an auxiliary label, of the next higher level, to the last segment. Without segments
    /// nothing happens.
    pub fn push_name(&mut self, name: &[u8], score: f32) {
        let Some(segment) = self.segments.last_mut() else { return };
        let len = memchr::memchr(0, name).unwrap_or(name.len());
        self.text.extend_from_slice(&name[..len]);
        self.names.push((self.text.len(), score));
        segment.names_end += 1;
    }

    /// Scores the last name.
    pub(super) fn score_last(&mut self, score: f32) {
        if let Some((_, old)) = self.names.last_mut() {
            *old = score;
        }
    }
}

impl<'a> Segment<'a> {
    /// Its label.
    #[must_use]
    pub fn name(&self) -> Name<'a> {
        self.level(0).unwrap_or(Name { text: b"", score: 0.0 })
    }

    /// The label of a level: 0 is its own, the others are auxiliary. Nothing where the
    /// line has fewer.
    #[must_use]
    pub fn level(&self, level: usize) -> Option<Name<'a>> {
        let &(end, score) = self.names.get(level)?;
        let start = if level == 0 { self.text_start } else { self.names[level - 1].0 };
        Some(Name { text: &self.text[start..end], score })
    }

    /// How many labels it has.
    #[must_use]
    pub fn levels(&self) -> usize {
        self.names.len()
    }

    /// Its labels, its own first.
    pub fn names(&self) -> impl Iterator<Item = Name<'a>> {
        let segment = *self;
        (0..self.levels()).filter_map(move |level| segment.level(level))
    }
}
