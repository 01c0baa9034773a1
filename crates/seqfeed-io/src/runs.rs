//! Ranges of a file that are read together.

use std::ops::Range;

/// The number of first ranges that are best read at once, and the range over all of them. They
/// ascend with gaps of at most `gap`, and take at most `most` together. The first range always
/// belongs to the run.
///
/// ```
/// use seqfeed_io::run_of;
///
/// let places = [10..20, 20..30, 33..40, 90..95];
/// assert_eq!(run_of(places.iter().cloned(), 100, 5), (3, 10..40));
/// assert_eq!(run_of(places.iter().cloned(), 25, 5), (2, 10..30));
/// assert_eq!(run_of(places.into_iter().rev(), 100, 5), (1, 90..95));
/// ```
pub fn run_of(
    places: impl IntoIterator<Item = Range<u64>>,
    most: u64,
    gap: u64,
) -> (usize, Range<u64>) {
    let mut places = places.into_iter();
    let Some(mut run) = places.next() else { return (0, 0..0) };
    let mut count = 1;
    for place in places {
        let joins =
            place.start >= run.end && place.start - run.end <= gap && place.end - run.start <= most;
        if !joins {
            break;
        }
        run.end = place.end;
        count += 1;
    }
    (count, run)
}
