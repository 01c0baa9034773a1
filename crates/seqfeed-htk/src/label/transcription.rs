//! The contents of a label file.

/// The contents of a label file: one list of labels, or several alternative ones.
///
/// A file without labels has no list.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Transcription {
    /// The lists. The first one is never empty in a file.
    pub alternatives: Vec<Labels>,
}

/// A list of labels, each with its times, score and auxiliary labels.
///
/// All names of a list are stored in one buffer.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Labels {
    /// Times, and the end of the segment's labels in `names`.
    segments: Vec<Row>,
    /// The end of each name in `text`, and its score.
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
    /// The name: bytes in the encoding of the file. It has no NUL.
    pub text: &'a [u8],
    /// Its score (a log likelihood); 0 if there is none.
    pub score: f32,
}

/// One line of a label file.
#[derive(Clone, Copy, Debug)]
pub struct Segment<'a> {
    /// Its start, in units of 100 ns. HTK uses -1 if this is missing.
    pub start: Option<f64>,
    /// Its end. It needs a start.
    pub end: Option<f64>,
    names: &'a [(usize, f32)],
    /// The start of the first name in `text`.
    text_start: usize,
    text: &'a [u8],
}

impl Labels {
    /// An empty list.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The number of segments.
    #[must_use]
    pub fn len(&self) -> usize {
        self.segments.len()
    }

    /// Whether there are no segments.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.segments.is_empty()
    }

    /// The most labels of any segment: 1 without auxiliary ones, 0 in an empty list.
    #[must_use]
    pub fn levels(&self) -> usize {
        self.segments().map(|segment| segment.levels()).max().unwrap_or(0)
    }

    /// A segment.
    ///
    /// # Panics
    ///
    /// If there is no such segment.
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

    /// Appends a segment with one label. [`push_name`](Labels::push_name) adds auxiliary ones.
    ///
    /// An end without a start cannot be written in a file, and is left out. As in HTK, names end
    /// before their first NUL.
    pub fn push(&mut self, start: Option<f64>, end: Option<f64>, name: &[u8], score: f32) {
        let end = end.filter(|_| start.is_some());
        self.segments.push(Row { start, end, names_end: self.names.len() });
        self.push_name(name, score);
    }

    /// Adds an auxiliary label, of the next higher level, to the last segment. Does nothing without
    /// segments.
    pub fn push_name(&mut self, name: &[u8], score: f32) {
        let Some(segment) = self.segments.last_mut() else { return };
        let len = memchr::memchr(0, name).unwrap_or(name.len());
        self.text.extend_from_slice(&name[..len]);
        self.names.push((self.text.len(), score));
        segment.names_end += 1;
    }

    /// Sets the score of the last name.
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

    /// The label of a level: 0 is its own, the others are auxiliary. `None` if the line has fewer.
    #[must_use]
    pub fn level(&self, level: usize) -> Option<Name<'a>> {
        let &(end, score) = self.names.get(level)?;
        let start = if level == 0 { self.text_start } else { self.names[level - 1].0 };
        Some(Name { text: &self.text[start..end], score })
    }

    /// The number of its labels.
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
