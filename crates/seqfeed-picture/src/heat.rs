//! Values over time and bins, and their colours.

use std::ops::Range;

use crate::colors::{self, Color};

/// Values over time (columns) and bins (rows, the first at the bottom).
#[derive(Clone, Debug)]
pub(crate) struct HeatMap {
    columns: usize,
    rows: usize,
    /// Column after column.
    values: Vec<f32>,
    range: (f64, f64),
}

/// Colours of pixels, row after row from the top.
#[derive(Clone, Debug)]
pub(crate) struct Raster {
    pub(crate) width: usize,
    pub(crate) height: usize,
    pub(crate) pixels: Vec<Color>,
}

impl HeatMap {
    /// A map with `rows` rows, and a column for each `rows` values.
    pub(crate) fn new(rows: usize, values: Vec<f32>) -> Self {
        let range = span(&values);
        Self { columns: values.len() / rows.max(1), rows, values, range }
    }

    /// A map whose colours range from one value to another.
    pub(crate) fn with_range(self, range: (f64, f64)) -> Self {
        Self { range, ..self }
    }

    pub(crate) fn rows(&self) -> usize {
        self.rows
    }

    pub(crate) fn columns(&self) -> usize {
        self.columns
    }

    /// The values at both ends of the colour range.
    pub(crate) fn range(&self) -> (f64, f64) {
        self.range
    }

    /// Its colours in this many pixels. Cells that share a pixel are averaged. NaN stays visible.
    pub(crate) fn raster(&self, width: usize, height: usize) -> Raster {
        let (low, high) = self.range;
        let scale = if high > low { 1.0 / (high - low) } else { 0.0 };
        let mut pixels = Vec::with_capacity(width * height);
        for y in 0..height {
            let rows = share(height - 1 - y, height, self.rows);
            for x in 0..width {
                let mean = self.mean(share(x, width, self.columns), rows.clone());
                pixels.push(match mean.is_nan() {
                    true => colors::NOT_A_NUMBER,
                    false => {
                        colors::of_value(if scale == 0.0 { 0.5 } else { (mean - low) * scale })
                    }
                });
            }
        }
        Raster { width, height, pixels }
    }

    fn mean(&self, columns: Range<usize>, rows: Range<usize>) -> f64 {
        let (mut sum, mut count) = (0.0, 0.0);
        for column in columns {
            let start = column * self.rows;
            for value in &self.values[start + rows.start..start + rows.end] {
                sum += f64::from(*value);
                count += 1.0;
            }
        }
        sum / count
    }
}

/// The cells of `count` that pixel number `pixel` of `pixels` shows: at least one.
pub(crate) fn share(pixel: usize, pixels: usize, count: usize) -> Range<usize> {
    let start = (pixel * count / pixels.max(1)).min(count.saturating_sub(1));
    let end = ((pixel + 1) * count / pixels.max(1)).clamp(start + 1, count.max(start + 1));
    start..end
}

/// The range of nearly all values, without the outermost half percent on both sides, which would
/// leave no colours for the others.
fn span(values: &[f32]) -> (f64, f64) {
    let mut finite: Vec<f32> = values.iter().copied().filter(|value| value.is_finite()).collect();
    if finite.is_empty() {
        return (0.0, 1.0);
    }
    let cut = finite.len() / 200;
    let last = finite.len() - 1 - cut;
    let low = *finite.select_nth_unstable_by(cut, f32::total_cmp).1;
    let high = *finite.select_nth_unstable_by(last, f32::total_cmp).1;
    (low.into(), high.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_become_pixels() {
        // Two columns of three bins.
        let map = HeatMap::new(3, vec![0.0, 1.0, 2.0, 3.0, 4.0, f32::NAN]).with_range((0.0, 4.0));
        let raster = map.raster(2, 3);
        let expected = [2.0, f64::NAN, 1.0, 4.0, 0.0, 3.0].map(|value: f64| match value.is_nan() {
            true => colors::NOT_A_NUMBER,
            false => colors::of_value(value / 4.0),
        });
        assert_eq!(raster.pixels, expected);
        // Larger: cells are repeated. Smaller: they are averaged.
        assert_eq!(map.raster(4, 6).pixels[4 * 5 + 1], colors::of_value(0.0));
        assert_eq!(map.raster(1, 3).pixels[2], colors::of_value(1.5 / 4.0));
    }

    #[test]
    fn outliers_do_not_take_the_colours() {
        let mut values: Vec<f32> = (0..1000).map(|value| value as f32).collect();
        values[0] = -1e30;
        values[1] = f32::INFINITY;
        assert!(matches!(span(&values), (low, high) if low > 0.0 && high < 1000.0));
        assert_eq!(span(&[f32::NAN]), (0.0, 1.0));
    }

    #[test]
    fn every_pixel_shows_something() {
        for (pixels, count) in [(1, 1), (7, 3), (3, 7), (100, 1), (1, 100)] {
            let shares: Vec<_> = (0..pixels).map(|pixel| share(pixel, pixels, count)).collect();
            assert!(shares.iter().all(|share| !share.is_empty() && share.end <= count));
            assert_eq!((shares[0].start, shares[pixels - 1].end), (0, count));
        }
    }
}
