//! From codes to values.

use std::ops::Range;

use crate::objects::compressed_matrix::CompressedHeader;
use crate::objects::float::Float;

/// Columns whose tables of values are held at a time: 16 KiB of them, which stay in the nearest cache,
/// and a line of the output.
const COLUMNS: usize = 16;

/// Rows from which a table of all 256 values of a column is worth its making.
const ROWS_FOR_TABLES: usize = 128;

impl CompressedHeader {
    /// Decompresses a range of rows and columns of `data` (all bytes behind the header) into `out`,
    /// row after row.
    ///
    /// # Panics
    ///
    /// If the ranges do not lie in the matrix, or `data` or `out` is too short.
    pub(crate) fn decompress<T: Float>(
        &self,
        data: &[u8],
        rows: Range<usize>,
        cols: Range<usize>,
        out: &mut [T],
    ) {
        if rows.is_empty() || cols.is_empty() {
            return;
        }
        if self.format == 1 {
            return self.decompress_columns(data, rows, cols, out);
        }
        // The constants are doubles in Kaldi; their product with the range is rounded once.
        let steps = if self.format == 2 { 65535.0 } else { 255.0 };
        let increment = (f64::from(self.range) * (1.0 / steps)) as f32;
        let value = |code: f32| T::from_f32(self.min + code * increment);
        let all_cols = self.cols as usize;
        for (row, out) in rows.zip(out.chunks_exact_mut(cols.len())) {
            let codes = row * all_cols + cols.start..row * all_cols + cols.end;
            if self.format == 2 {
                let codes = &data[2 * codes.start..2 * codes.end];
                for (out, code) in out.iter_mut().zip(codes.chunks_exact(2)) {
                    *out = value(f32::from(u16::from_le_bytes([code[0], code[1]])));
                }
            } else {
                for (out, &code) in out.iter_mut().zip(&data[codes]) {
                    *out = value(f32::from(code));
                }
            }
        }
    }

    fn decompress_columns<T: Float>(
        &self,
        data: &[u8],
        rows: Range<usize>,
        cols: Range<usize>,
        out: &mut [T],
    ) {
        let (all_rows, width) = (self.rows as usize, cols.len());
        let (headers, codes) = data.split_at(8 * self.cols as usize);
        let column = |col: usize| &codes[col * all_rows + rows.start..col * all_rows + rows.end];
        if rows.len() < ROWS_FOR_TABLES {
            for (at, col) in cols.enumerate() {
                let curve = self.curve(&headers[8 * col..]);
                let out = out[at..].iter_mut().step_by(width);
                for (out, &code) in out.zip(column(col)) {
                    *out = T::from_f32(curve.value(code));
                }
            }
            return;
        }
        let mut tables = [[0.0f32; 256]; COLUMNS];
        let mut first = cols.start;
        while first < cols.end {
            let block = first..cols.end.min(first + COLUMNS);
            for (table, col) in tables.iter_mut().zip(block.clone()) {
                self.curve(&headers[8 * col..]).fill(table);
            }
            let mut columns = [&codes[..0]; COLUMNS];
            for (slot, col) in columns.iter_mut().zip(block.clone()) {
                *slot = column(col);
            }
            let at = first - cols.start;
            if block.len() == COLUMNS {
                for (row, out) in out.chunks_exact_mut(width).enumerate() {
                    let out: &mut [T] = &mut out[at..at + COLUMNS];
                    for ((out, table), column) in out.iter_mut().zip(&tables).zip(&columns) {
                        *out = T::from_f32(table[column[row] as usize]);
                    }
                }
            } else {
                let count = block.len();
                for (row, out) in out.chunks_exact_mut(width).enumerate() {
                    let out = &mut out[at..at + count];
                    for ((out, table), column) in out.iter_mut().zip(&tables).zip(&columns) {
                        *out = T::from_f32(table[column[row] as usize]);
                    }
                }
            }
            first = block.end;
        }
    }

    /// What the codes of a column mean, from its four percentiles.
    pub(crate) fn curve(&self, header: &[u8]) -> Curve {
        let percentile =
            |i: usize| self.percentile(u16::from_le_bytes([header[2 * i], header[2 * i + 1]]));
        Curve { p0: percentile(0), p25: percentile(1), p75: percentile(2), p100: percentile(3) }
    }

    /// The value of a percentile in a column's header.
    pub(crate) fn percentile(&self, code: u16) -> f32 {
        self.min + (self.range * 1.525_902_2e-5_f32) * f32::from(code)
    }
}

/// Three straight lines: from the smallest value of a column to its lower quartile (64 codes), to its
/// upper quartile (128), to its largest (63).
pub(crate) struct Curve {
    pub(crate) p0: f32,
    pub(crate) p25: f32,
    pub(crate) p75: f32,
    pub(crate) p100: f32,
}

impl Curve {
    fn value(&self, code: u8) -> f32 {
        match code {
            0..=64 => between(self.p0, self.p25, code, 1.0 / 64.0),
            65..=192 => between(self.p25, self.p75, code - 64, 1.0 / 128.0),
            _ => between(self.p75, self.p100, code - 192, 1.0 / 63.0),
        }
    }

    fn fill(&self, table: &mut [f32; 256]) {
        let (low, rest) = table.split_at_mut(65);
        let (middle, high) = rest.split_at_mut(128);
        let fill = |values: &mut [f32], start: f32, end: f32, first: u8, scale: f64| {
            for (step, value) in (first..=u8::MAX).zip(values) {
                *value = between(start, end, step, scale);
            }
        };
        fill(low, self.p0, self.p25, 0, 1.0 / 64.0);
        fill(middle, self.p25, self.p75, 1, 1.0 / 128.0);
        fill(high, self.p75, self.p100, 1, 1.0 / 63.0);
    }
}

/// A point of a line; the difference times the steps is rounded to 32 bits, the rest to 64.
#[inline]
fn between(start: f32, end: f32, steps: u8, scale: f64) -> f32 {
    (f64::from(start) + f64::from((end - start) * f32::from(steps)) * scale) as f32
}
