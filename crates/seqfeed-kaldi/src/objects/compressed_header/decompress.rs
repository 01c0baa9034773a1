//! Decompression, bit for bit as by Kaldi: each step that Kaldi rounds to 32 bits is rounded here.

use std::array;
use std::ops::Range;

use super::CompressedHeader;
use super::levels::{self, LEVEL_BYTES, LevelCodes};
use crate::objects::float::Float;

/// The number of columns that are decompressed side by side. Their tables, 16 KiB of 32-bit floats,
/// fit into the first-level cache, and a row of them is a cache line.
const COLUMNS: usize = 16;

/// The number of columns that the innermost loop writes.
const TOGETHER: usize = 4;

/// The number of rows that are decompressed before the next columns: their part of the output fits
/// into the cache too.
const ROWS: usize = 64;

/// Fewer rows than this are computed one by one: a table of 256 values would take longer.
const FEW_ROWS: usize = 64;

impl CompressedHeader {
    /// Decompresses a range of rows and columns of `data` (all bytes after the header) to `out`,
    /// row after row.
    ///
    /// # Panics
    ///
    /// If the ranges do not lie in the matrix, or `data` or `out` are too short.
    pub(crate) fn decompress<T: Float>(
        &self,
        data: &[u8],
        rows: Range<usize>,
        cols: Range<usize>,
        out: &mut [T],
    ) {
        let out = &mut out[..rows.len() * cols.len()];
        if out.is_empty() {
            return;
        }
        // The constants are doubles in Kaldi. Their product with the range is rounded once.
        let increment = |steps: f64| (f64::from(self.range) * (1.0 / steps)) as f32;
        let min = self.min;
        match self.format {
            1 => self.decompress_columns(data, rows, cols, out),
            2 => {
                let increment = increment(65535.0);
                self.for_parts(data.as_chunks::<2>().0, rows, cols, out, |&bytes| {
                    min + f32::from(u16::from_le_bytes(bytes)) * increment
                });
            }
            _ => {
                let increment = increment(255.0);
                self.for_parts(data, rows, cols, out, |&code| min + f32::from(code) * increment);
            }
        }
    }

    /// Decompresses codes in the order of rows.
    #[inline]
    fn for_parts<T: Float, C>(
        &self,
        codes: &[C],
        rows: Range<usize>,
        cols: Range<usize>,
        out: &mut [T],
        value: impl Fn(&C) -> f32,
    ) {
        let all = self.cols as usize;
        let decompress = |codes: &[C], out: &mut [T]| {
            for (out, code) in out.iter_mut().zip(codes) {
                *out = T::from_f64(f64::from(value(code)));
            }
        };
        if cols.len() == all {
            decompress(&codes[rows.start * all..rows.end * all], out);
            return;
        }
        for (row, out) in rows.zip(out.chunks_exact_mut(cols.len())) {
            decompress(&codes[row * all + cols.start..row * all + cols.end], out);
        }
    }

    /// Decompresses bytes in the order of columns.
    fn decompress_columns<T: Float>(
        &self,
        data: &[u8],
        rows: Range<usize>,
        cols: Range<usize>,
        out: &mut [T],
    ) {
        let all_rows = self.rows as usize;
        let (levels, bytes) = data.split_at(self.cols as usize * LEVEL_BYTES);
        let levels = &levels.as_chunks::<LEVEL_BYTES>().0[cols.clone()];
        let column = |at: usize| {
            let start = (cols.start + at) * all_rows;
            &bytes[start + rows.start..start + rows.end]
        };
        let width = cols.len();
        if rows.len() < FEW_ROWS {
            for (at, &levels) in levels.iter().enumerate() {
                let scale = Scale::new(self, levels::parse(levels));
                for (row, &byte) in out.chunks_exact_mut(width).zip(column(at)) {
                    row[at] = T::from_f64(f64::from(scale.value(byte)));
                }
            }
            return;
        }
        let mut tables = [[T::default(); 256]; COLUMNS];
        for (block, levels) in levels.chunks(COLUMNS).enumerate() {
            let first = block * COLUMNS;
            for (table, &levels) in tables.iter_mut().zip(levels) {
                Scale::new(self, levels::parse(levels)).fill(table);
            }
            let columns: [&[u8]; COLUMNS] =
                array::from_fn(|at| if at < levels.len() { column(first + at) } else { &[] });
            for (part, out) in out.chunks_mut(ROWS * width).enumerate() {
                let part = part * ROWS..part * ROWS + out.len() / width;
                let mut at = 0;
                while at < levels.len() {
                    let out = &mut out[first + at..];
                    if levels.len() - at >= TOGETHER {
                        let (tables, columns) = (&tables[at..], &columns[at..]);
                        look_up_four(tables, columns, part.clone(), out, width);
                        at += TOGETHER;
                    } else {
                        let bytes = &columns[at][part.clone()];
                        for (row, &byte) in out.chunks_mut(width).zip(bytes) {
                            row[0] = tables[at][usize::from(byte)];
                        }
                        at += 1;
                    }
                }
            }
        }
    }
}

/// Looks the first four columns up in their tables.
fn look_up_four<T: Float>(
    tables: &[[T; 256]],
    columns: &[&[u8]],
    part: Range<usize>,
    out: &mut [T],
    width: usize,
) {
    let ([a, b, c, d, ..], [e, f, g, h, ..]) = (tables, columns) else { return };
    let [e, f, g, h] = [e, f, g, h].map(|column| &column[part.clone()]);
    let codes = e.iter().zip(f).zip(g.iter().zip(h));
    for (row, ((&e, &f), (&g, &h))) in out.chunks_mut(width).zip(codes) {
        if let Some(four) = row.first_chunk_mut() {
            *four = [a[usize::from(e)], b[usize::from(f)], c[usize::from(g)], d[usize::from(h)]];
        }
    }
}

/// The values of the bytes of a column: three straight lines between its levels.
struct Scale {
    /// The beginnings of the lines.
    starts: [f32; 3],
    /// The rises of the lines.
    rises: [f32; 3],
}

impl Scale {
    fn new(header: &CompressedHeader, codes: LevelCodes) -> Self {
        let [least, lower, upper, greatest] = levels::values(header, codes);
        Self {
            starts: [least, lower, upper],
            rises: [lower - least, upper - lower, greatest - upper],
        }
    }

    #[inline]
    fn value(&self, byte: u8) -> f32 {
        match byte {
            0..=64 => self.on(0, byte, 1.0 / 64.0),
            65..=192 => self.on(1, byte - 64, 1.0 / 128.0),
            _ => self.on(2, byte - 192, 1.0 / 63.0),
        }
    }

    #[inline]
    fn on(&self, line: usize, step: u8, scale: f64) -> f32 {
        let rise = self.rises[line] * f32::from(step);
        (f64::from(self.starts[line]) + f64::from(rise) * scale) as f32
    }

    fn fill<T: Float>(&self, table: &mut [T; 256]) {
        let mut fill = |line: usize, first: u8, last: u8, start: u8, scale: f64| {
            let values = &mut table[usize::from(first)..=usize::from(last)];
            for (value, step) in values.iter_mut().zip(first - start..) {
                *value = T::from_f64(f64::from(self.on(line, step, scale)));
            }
        };
        fill(0, 0, 64, 0, 1.0 / 64.0);
        fill(1, 65, 192, 64, 1.0 / 128.0);
        fill(2, 193, 255, 192, 1.0 / 63.0);
    }
}
