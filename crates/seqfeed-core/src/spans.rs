//! The positions of the sequences of a block.

/// The position of a sequence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Span {
    /// 0: the block's own values; `n`: its shared memory number `n - 1`.
    pub(crate) buffer: u32,
    pub(crate) samples: u32,
    /// Offset of the first byte; for sparse samples, the number of the first sample.
    pub(crate) start: usize,
}

/// The spans of a block. While all are equally long and side by side, they take no memory: in many
/// corpora each sequence is a single sample.
#[derive(Default)]
pub(crate) struct Spans {
    count: usize,
    /// The first span, if it lies at the start of the block's own values. The others are like it.
    first: Option<Span>,
    /// The distance from one span to the next.
    step: usize,
    each: Vec<Span>,
}

impl Spans {
    pub(crate) fn clear(&mut self) {
        (self.count, self.first) = (0, None);
        self.each.clear();
    }

    pub(crate) fn len(&self) -> usize {
        self.count
    }

    pub(crate) fn bytes(&self) -> usize {
        self.each.capacity() * size_of::<Span>()
    }

    #[inline]
    pub(crate) fn get(&self, index: usize) -> Span {
        match self.first {
            Some(first) => {
                assert!(index < self.count, "one of the sequences");
                Span { start: index * self.step, ..first }
            }
            None => self.each[index],
        }
    }

    /// Replaces a span. Only spans in shared memory are replaced, and those are never all alike.
    pub(crate) fn set(&mut self, index: usize, span: Span) {
        self.each[index] = span;
    }

    /// Adds a span. The next one would start at `end`.
    pub(crate) fn push(&mut self, span: Span, end: usize) {
        if self.count == 0 && span.buffer == 0 && span.start == 0 {
            (self.first, self.step) = (Some(span), end);
        }
        if let Some(first) = self.first {
            let start = self.count * self.step;
            if (Span { start, ..first }) == span {
                self.count += 1;
                return;
            }
            self.each.extend((0..self.count).map(|i| Span { start: i * self.step, ..first }));
            self.first = None;
        }
        self.each.push(span);
        self.count += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(buffer: u32, samples: u32, start: usize) -> Span {
        Span { buffer, samples, start }
    }

    #[test]
    fn like_spans_take_no_memory() {
        let mut spans = Spans::default();
        for i in 0..100 {
            spans.push(span(0, 2, 8 * i), 8 * i + 8);
        }
        assert_eq!((spans.len(), spans.bytes(), spans.get(99)), (100, 0, span(0, 2, 792)));
    }

    #[test]
    fn all_spans_come_back() {
        let like = [span(0, 2, 0), span(0, 2, 8)];
        for other in [span(0, 3, 16), span(0, 2, 20), span(1, 2, 16)] {
            let mut spans = Spans::default();
            for _ in 0..2 {
                spans.clear();
                let all = [like[0], like[1], other, span(0, 2, 24)];
                for span in all {
                    spans.push(span, span.start + 8);
                }
                assert_eq!(spans.len(), 4);
                assert!(all.iter().enumerate().all(|(i, span)| spans.get(i) == *span));
            }
        }
        let mut spans = Spans::default();
        spans.push(span(1, 2, 0), 8);
        spans.push(span(1, 2, 8), 16);
        assert_eq!((spans.get(0), spans.get(1)), (span(1, 2, 0), span(1, 2, 8)));
    }

    #[test]
    fn empty_sequences_are_spans_too() {
        let mut spans = Spans::default();
        for (samples, start) in [(0, 0), (0, 0), (1, 0), (0, 4)] {
            spans.push(span(0, samples, start), start + 4 * samples as usize);
        }
        assert_eq!(
            (spans.get(1), spans.get(2), spans.get(3)),
            (span(0, 0, 0), span(0, 1, 0), span(0, 0, 4))
        );
    }
}
