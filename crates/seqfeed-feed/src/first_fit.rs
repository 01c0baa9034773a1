//! CNTK's layout of sequences in parallel rows: each sequence goes into the first row with room.
//!
//! ```text
//!        0                 width (the longest)
//! row 0  ┌───────a───────┐          a fills row 0, so b begins another;
//! row 1  ┌──b──┐┌───c───┐          c has room behind b, d has not
//! row 2  ┌────d────┐
//! ```
//!
//! A tree over the rows holds the most room of each branch. So finding the first row with enough
//! room takes as many steps as the tree is deep, however many sequences there are.

/// The position of a sequence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cell {
    /// Row, from 0.
    pub(crate) row: u32,
    /// Column of its first sample.
    pub(crate) begin: u32,
}

/// Arranges sequences in rows, and keeps its memory for the next minibatch.
#[derive(Default)]
pub(crate) struct FirstFit {
    /// The room left in each row, and the most room in each branch. Node `i` has the branches `2i`
    /// and `2i + 1`; the last half are the rows. There are as many rows as sequences; unused rows
    /// are empty.
    room: Vec<u32>,
}

impl FirstFit {
    /// Gives each sequence its position, in order. Returns the number of rows and their width,
    /// which is the length of the longest sequence.
    pub(crate) fn lay_out(&mut self, lengths: &[u32], places: &mut Vec<Cell>) -> (usize, u32) {
        places.clear();
        let width = lengths.iter().copied().max().unwrap_or(0);
        if width > 0 && lengths.iter().all(|&length| length == width) {
            // If all sequences are equally long, each has a row of its own.
            places.extend((0..lengths.len() as u32).map(|row| Cell { row, begin: 0 }));
            return (lengths.len(), width);
        }
        let leaves = lengths.len().next_power_of_two();
        self.room.clear();
        self.room.resize(2 * leaves, width);
        let mut rows = 0;
        places.reserve(lengths.len());
        for &length in lengths {
            let row = self.take(length, leaves);
            rows = rows.max(row + 1);
            // The room left behind the sequence tells where it begins.
            let begin = width - self.room[leaves + row] - length;
            places.push(Cell { row: row as u32, begin });
        }
        (rows, width)
    }

    /// Takes `length` out of the first row with enough room.
    fn take(&mut self, length: u32, leaves: usize) -> usize {
        // There is always such a row: an unused row is as wide as the longest sequence.
        let mut node = 1;
        while node < leaves {
            node *= 2;
            if self.room[node] < length {
                node += 1;
            }
        }
        let row = node - leaves;
        self.room[node] -= length;
        while node > 1 {
            node /= 2;
            let most = self.room[2 * node].max(self.room[2 * node + 1]);
            if self.room[node] == most {
                break;
            }
            self.room[node] = most;
        }
        row
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// CNTK's loop.
    fn naive(lengths: &[u32]) -> (Vec<Cell>, usize) {
        let width = lengths.iter().copied().max().unwrap_or(0);
        let mut rows: Vec<u32> = Vec::new();
        let places = lengths.iter().map(|&length| {
            let row = rows.iter().position(|used| used + length <= width).unwrap_or(rows.len());
            if row == rows.len() {
                rows.push(0);
            }
            rows[row] += length;
            Cell { row: row as u32, begin: rows[row] - length }
        });
        (places.collect(), rows.len())
    }

    #[test]
    fn no_sequences_have_no_rows() {
        let mut places = vec![Cell { row: 1, begin: 1 }];
        assert_eq!(FirstFit::default().lay_out(&[], &mut places), (0, 0));
        assert!(places.is_empty());
    }

    #[test]
    fn the_largest_lengths_do_not_overflow() {
        let mut places = Vec::new();
        let lengths = [u32::MAX, 1, u32::MAX - 1, u32::MAX];
        assert_eq!(FirstFit::default().lay_out(&lengths, &mut places), (3, u32::MAX));
        let found: Vec<_> = places.iter().map(|place| (place.row, place.begin)).collect();
        assert_eq!(found, [(0, 0), (1, 0), (1, 1), (2, 0)]);
    }

    #[test]
    fn a_hundred_thousand_rows_are_no_trouble() {
        // All but the first take more than half a row: the naive loop would look at 5 * 10^9 rows.
        let mut lengths = vec![60; 100_000];
        lengths[0] = 100;
        let mut places = Vec::new();
        assert_eq!(FirstFit::default().lay_out(&lengths, &mut places), (100_000, 100));
    }

    proptest! {
        #[test]
        fn equals_the_naive_loop(
            batches in prop::collection::vec(prop::collection::vec(0u32..50, 0..200), 1..4),
        ) {
            let (mut first_fit, mut places) = (FirstFit::default(), Vec::new());
            for lengths in batches {
                let (expected, rows) = naive(&lengths);
                let width = lengths.iter().copied().max().unwrap_or(0);
                prop_assert_eq!(first_fit.lay_out(&lengths, &mut places), (rows, width));
                prop_assert_eq!(&places, &expected);
            }
        }
    }
}
