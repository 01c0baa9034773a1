//! Mean, deviation and extremes of columns of numbers.

use serde::Serialize;
use serde::ser::{SerializeStruct, Serializer};

/// Rows that are processed at once: a tile of their columns stays in registers, and the rows stay
/// in the cache.
const ROWS: usize = 256;
/// Columns of a tile.
const TILE: usize = 8;

/// Mean, deviation and extremes of the values of one column. Values that are not finite are
/// counted, but do not enter anything else.
///
/// The sums are kept as a mean and the squared differences from it, in 64 bits. They are joined by
/// the method of Chan, Golub and `LeVeque`. So a small deviation around a large mean is not lost,
/// and a constant column has a deviation of exactly 0.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Moments {
    count: u64,
    mean: f64,
    squares: f64,
    min: f64,
    max: f64,
    nan: u64,
    infinite: u64,
}

impl Default for Moments {
    fn default() -> Self {
        let (min, max) = (f64::INFINITY, f64::NEG_INFINITY);
        Self { count: 0, mean: 0.0, squares: 0.0, min, max, nan: 0, infinite: 0 }
    }
}

impl Moments {
    /// The number of finite values.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Their mean, if there are any.
    #[must_use]
    pub fn mean(&self) -> Option<f64> {
        (self.count > 0).then_some(self.mean)
    }

    /// Their standard deviation (divided by their number, not by one less).
    #[must_use]
    pub fn std(&self) -> Option<f64> {
        (self.count > 0).then(|| (self.squares / self.count as f64).sqrt())
    }

    /// The smallest.
    #[must_use]
    pub fn min(&self) -> Option<f64> {
        (self.count > 0).then_some(self.min)
    }

    /// The largest.
    #[must_use]
    pub fn max(&self) -> Option<f64> {
        (self.count > 0).then_some(self.max)
    }

    /// The number of NaN values.
    #[must_use]
    pub fn nan(&self) -> u64 {
        self.nan
    }

    /// The number of infinite values.
    #[must_use]
    pub fn infinite(&self) -> u64 {
        self.infinite
    }

    /// Adds the moments of another part of the column. The same parts in the same order give the
    /// same bits.
    pub fn merge(&mut self, other: &Self) {
        self.nan += other.nan;
        self.infinite += other.infinite;
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
        if other.count == 0 {
            return;
        }
        let (here, there) = (self.count as f64, other.count as f64);
        let (all, apart) = (here + there, other.mean - self.mean);
        self.count += other.count;
        self.mean = if here == 0.0 { other.mean } else { self.mean + apart * (there / all) };
        self.squares +=
            other.squares + if here == 0.0 { 0.0 } else { apart * apart * (here * there / all) };
    }

    /// Adds one value.
    fn add(&mut self, value: f64) {
        if value.is_nan() {
            self.nan += 1;
        } else if value.is_infinite() {
            self.infinite += 1;
        } else {
            let one = Self { count: 1, mean: value, min: value, max: value, ..Self::default() };
            self.merge(&one);
        }
    }
}

impl Serialize for Moments {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_struct("Moments", 7)?;
        fields.serialize_field("count", &self.count)?;
        fields.serialize_field("mean", &self.mean())?;
        fields.serialize_field("std", &self.std())?;
        fields.serialize_field("min", &self.min())?;
        fields.serialize_field("max", &self.max())?;
        fields.serialize_field("nan", &self.nan)?;
        fields.serialize_field("inf", &self.infinite)?;
        fields.end()
    }
}

/// A type of numbers that moments can be computed of.
pub(crate) trait Number: Copy + PartialOrd {
    fn f64(self) -> f64;
}

impl Number for f32 {
    #[inline]
    fn f64(self) -> f64 {
        f64::from(self)
    }
}

impl Number for f64 {
    #[inline]
    fn f64(self) -> f64 {
        self
    }
}

impl Number for i32 {
    #[inline]
    fn f64(self) -> f64 {
        f64::from(self)
    }
}

/// Adds rows with one value for each column.
pub(crate) fn add_rows<T: Number>(columns: &mut [Moments], values: &[T]) {
    let dim = columns.len();
    if dim == 0 {
        return;
    }
    if dim < TILE && TILE.is_multiple_of(dim) && values.len() >= TILE {
        // With few columns (audio has one), several rows side by side make a whole tile.
        let (wide, rest) = values.split_at(values.len() / TILE * TILE);
        let mut tile = [Moments::default(); TILE];
        add_columns(&mut tile, wide);
        tile.iter().enumerate().for_each(|(at, part)| columns[at % dim].merge(part));
        add_columns(columns, rest);
    } else {
        add_columns(columns, values);
    }
}

fn add_columns<T: Number>(columns: &mut [Moments], values: &[T]) {
    let dim = columns.len();
    for rows in values.chunks(ROWS * dim) {
        let mut first = 0;
        while first + TILE <= dim {
            add_tile::<T, TILE>(&mut columns[first..], rows, dim, first);
            first += TILE;
        }
        if first + TILE / 2 <= dim {
            add_tile::<T, { TILE / 2 }>(&mut columns[first..], rows, dim, first);
            first += TILE / 2;
        }
        while first < dim {
            add_tile::<T, 1>(&mut columns[first..], rows, dim, first);
            first += 1;
        }
    }
}

/// Adds `W` columns of some rows.
#[inline]
fn add_tile<T: Number, const W: usize>(
    columns: &mut [Moments],
    rows: &[T],
    dim: usize,
    first: usize,
) {
    let tile = |row: &[T]| -> Option<[T; W]> { row.get(first..first + W)?.try_into().ok() };
    let Some(start) = rows.get(..dim).and_then(tile) else { return };
    // Relative to the first value, sums stay small, and those of a constant are 0.
    let shift = start.map(T::f64);
    let (mut sum, mut squares) = ([0f64; W], [0f64; W]);
    let (mut min, mut max) = (start, start);
    for row in rows.chunks_exact(dim) {
        let Some(row) = tile(row) else { return };
        for i in 0..W {
            let value = row[i].f64() - shift[i];
            sum[i] += value;
            squares[i] += value * value;
            min[i] = if row[i] < min[i] { row[i] } else { min[i] };
            max[i] = if row[i] > max[i] { row[i] } else { max[i] };
        }
    }
    let count = (rows.len() / dim) as f64;
    for i in 0..W {
        if !squares[i].is_finite() {
            // Some value is not finite: add the values again, one by one.
            rows.chunks_exact(dim).for_each(|row| columns[i].add(row[first + i].f64()));
            continue;
        }
        let mean = sum[i] / count;
        columns[i].merge(&Moments {
            count: count as u64,
            mean: shift[i] + mean,
            squares: (squares[i] - sum[i] * mean).max(0.0),
            min: min[i].f64(),
            max: max[i].f64(),
            nan: 0,
            infinite: 0,
        });
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    /// Plain numbers out of a small generator.
    fn numbers(count: usize, scale: f64, offset: f64) -> Vec<f64> {
        let mut state = 1u64;
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 11) as f64 / (1u64 << 53) as f64
        };
        (0..count).map(|_| offset + scale * (next() + next() + next() - 1.5)).collect()
    }

    /// The plain computation, in two passes.
    fn two_passes(values: &[f64]) -> (f64, f64) {
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        (mean, (squares / values.len() as f64).sqrt())
    }

    #[test]
    fn as_a_plain_computation_in_two_passes() {
        for (dim, rows) in [(1, 1), (1, 5003), (2, 777), (3, 700), (8, 256), (13, 257), (40, 1000)]
        {
            for (scale, offset) in [(1.0, 0.0), (1e-3, 1e4), (1e8, -5.0)] {
                let values = numbers(dim * rows, scale, offset);
                let floats: Vec<f32> = values.iter().map(|&value| value as f32).collect();
                let mut columns = vec![Moments::default(); dim];
                // In uneven pieces, as sequences are.
                for piece in floats.chunks(dim * 97) {
                    add_rows(&mut columns, piece);
                }
                for (number, column) in columns.iter().enumerate() {
                    let own: Vec<f64> =
                        floats.iter().skip(number).step_by(dim).map(|&v| f64::from(v)).collect();
                    let (mean, std) = two_passes(&own);
                    let near = |a: f64, b: f64, by: f64| (a - b).abs() <= by;
                    assert_eq!(column.count(), rows as u64);
                    assert!(near(column.mean().unwrap(), mean, 1e-12 * (offset.abs() + scale)));
                    assert!(near(column.std().unwrap(), std, 1e-9 * scale), "{dim} {rows} {scale}");
                    assert_eq!(column.min().unwrap(), own.iter().copied().fold(f64::MAX, f64::min));
                    assert_eq!(column.max().unwrap(), own.iter().copied().fold(f64::MIN, f64::max));
                }
            }
        }
    }

    #[test]
    fn what_is_no_finite_number_is_counted_and_nothing_else() {
        let mut values = vec![1.0f32; 40 * 12];
        (values[3], values[12 + 3], values[24 + 3]) = (f32::NAN, f32::INFINITY, f32::NEG_INFINITY);
        values[11] = f32::NAN;
        let mut columns = vec![Moments::default(); 12];
        add_rows(&mut columns, &values);
        let counts = |c: &Moments| (c.count(), c.nan(), c.infinite(), c.mean(), c.std());
        assert_eq!(counts(&columns[0]), (40, 0, 0, Some(1.0), Some(0.0)));
        assert_eq!(counts(&columns[3]), (37, 1, 2, Some(1.0), Some(0.0)));
        assert_eq!(counts(&columns[11]), (39, 1, 0, Some(1.0), Some(0.0)));
        let mut nothing = vec![Moments::default(); 1];
        add_rows(&mut nothing, &[f64::NAN]);
        assert_eq!((nothing[0].mean(), nothing[0].min(), nothing[0].nan()), (None, None, 1));
    }

    #[test]
    fn a_constant_has_no_deviation_wherever_it_is_cut() {
        let values = vec![0.1f32; 7 * 1000];
        let mut columns = vec![Moments::default(); 7];
        values.chunks(7 * 33).for_each(|piece| add_rows(&mut columns, piece));
        assert!(columns.iter().all(|column| column.std() == Some(0.0)));
    }
}
