//! Converts the machine's values to files.

use std::path::Path;

use seqfeed_core::{Error, Result};
use seqfeed_io::{shown_name, write_atomically};

use super::header::HEADER;
use super::{Base, ByteOrder, Checksum, Header, ParamKind};

/// The form of written parameter files. Files are byte for byte the same as `HCopy` makes from the
/// same values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Encoding {
    /// The kind. It also decides the storage: `_C` compresses, `_K` adds a checksum.
    pub kind: ParamKind,
    /// The time from one frame to the next, in units of 100 ns.
    pub period: i32,
    /// The byte order.
    pub order: ByteOrder,
}

impl Default for Encoding {
    /// USER, 10 ms, big-endian.
    fn default() -> Self {
        Self { kind: Base::User.into(), period: 100_000, order: ByteOrder::Big }
    }
}

/// Values to write, frame by frame.
#[derive(Clone, Copy, Debug)]
pub enum Values<'a> {
    /// For all kinds but waveforms and symbols.
    Floats(&'a [f32]),
    /// For waveforms and symbols.
    Shorts(&'a [i16]),
}

/// Appends values as floats.
pub(super) fn append_floats(order: ByteOrder, values: &[f32], out: &mut Vec<u8>) {
    let bits = values.iter().map(|value| value.to_bits());
    match order {
        ByteOrder::Big => out.extend(bits.flat_map(u32::to_be_bytes)),
        ByteOrder::Little => out.extend(bits.flat_map(u32::to_le_bytes)),
    }
}

/// Converts values that were read as floats for a kind of 16-bit integers ([`Values::Shorts`]), and
/// appends them.
///
/// # Errors
///
/// Fails at a value that is not such an integer.
pub fn append_integers(values: &[f32], out: &mut Vec<i16>) -> Result<()> {
    out.reserve(values.len());
    for (number, &value) in values.iter().enumerate() {
        let integer = value as i16;
        if f32::from(integer) != value {
            return Err(Error::usage(format!(
                "value {number} is {value}, which is no 16-bit integer"
            ))
            .with_help("write another kind, such as USER: its values are floats"));
        }
        out.push(integer);
    }
    Ok(())
}

/// Appends integers.
pub(super) fn append_shorts(order: ByteOrder, values: &[i16], out: &mut Vec<u8>) {
    let values = values.iter().copied();
    match order {
        ByteOrder::Big => out.extend(values.flat_map(i16::to_be_bytes)),
        ByteOrder::Little => out.extend(values.flat_map(i16::to_le_bytes)),
    }
}

/// The largest number that values are scaled to.
const FULL: f64 = 32767.0;

impl Encoding {
    /// Appends a whole file with frames of `columns` values to `out`.
    ///
    /// `_C` scales each column to 16 bits by its largest and smallest value. IREFC is written as
    /// HTK's book says (32767 times the value), not as by `HCopy` 3.4.1. A `_N` in the kind is
    /// written (`HCopy` removes it).
    ///
    /// # Errors
    ///
    /// Fails if the values are not whole frames or not of the kind's type; if frames are empty or
    /// have more than 32767 bytes; if the kind has `_V`; or if values cannot be compressed, because
    /// they are not finite, or differ too little for their size. `out` is then unchanged.
    pub fn encode(&self, values: Values<'_>, columns: usize, out: &mut Vec<u8>) -> Result<()> {
        let start = out.len();
        let result = self.append(values, columns, out);
        if result.is_err() {
            out.truncate(start);
        }
        result
    }

    /// Writes a whole file. It appears under its name when it is complete.
    ///
    /// # Errors
    ///
    /// As [`encode`](Self::encode), and if the operating system fails to write.
    pub fn write(&self, path: &Path, values: Values<'_>, columns: usize) -> Result<()> {
        let mut bytes = Vec::new();
        self.encode(values, columns, &mut bytes)
            .map_err(|error| error.in_file(shown_name(path)))?;
        write_atomically(path, &bytes, false)
    }

    fn append(&self, values: Values<'_>, columns: usize, out: &mut Vec<u8>) -> Result<()> {
        let refuse = |what: String| Err(Error::usage(format!("{}: {what}", self.kind)));
        if self.kind.has(ParamKind::INDEXED) {
            return refuse("indexes into a codebook (_V) cannot be written".into());
        }
        if self.period < 0 {
            return refuse(format!("the sample period is {}", self.period));
        }
        let base = self.kind.base();
        let integers = matches!(base, Base::Waveform | Base::Discrete);
        let compressed = self.kind.has(ParamKind::COMPRESSED) && !integers;
        let value_bytes = if integers || compressed || base == Base::Irefc { 2 } else { 4 };
        let count = match values {
            Values::Floats(values) if !integers => values.len(),
            Values::Shorts(values) if integers => values.len(),
            Values::Floats(_) => return refuse("values of this kind are 16-bit integers".into()),
            Values::Shorts(_) => return refuse("values of this kind are floats".into()),
        };
        let sample_bytes = columns.checked_mul(value_bytes).and_then(|n| i16::try_from(n).ok());
        let Some(sample_bytes) = sample_bytes.filter(|&bytes| bytes > 0) else {
            let most = i16::MAX as usize / value_bytes;
            return refuse(format!("frames of {columns} values, possible are 1 to {most}"));
        };
        if base == Base::Waveform && columns != 1 {
            return refuse(format!("frames of {columns} values, expected 1"));
        }
        if !count.is_multiple_of(columns) {
            return refuse(format!("{count} values are not whole frames of {columns}"));
        }
        // The scales count as four samples.
        let samples = count / columns + if compressed { 4 } else { 0 };
        let Ok(samples) = i32::try_from(samples) else {
            return refuse(format!("{samples} samples, at most {} can be written", i32::MAX));
        };
        let header = Header {
            samples,
            period: self.period,
            sample_bytes: sample_bytes.cast_unsigned(),
            kind: self.kind,
            order: self.order,
        };
        let start = out.len();
        out.reserve(HEADER + (count + 4 * columns) * value_bytes + 2);
        out.extend_from_slice(&header.to_bytes());
        match values {
            Values::Shorts(values) => append_shorts(self.order, values, out),
            Values::Floats(values) if compressed => self.compress(values, columns, out)?,
            Values::Floats(values) if base == Base::Irefc => self.scale(values, columns, out)?,
            Values::Floats(values) => append_floats(self.order, values, out),
        }
        if header.has_checksum() {
            let mut sum = Checksum::new(self.order);
            sum.update(&out[start + HEADER..]);
            out.extend_from_slice(&self.order.of_u16(sum.value()));
        }
        Ok(())
    }

    /// Writes scales and compressed values.
    fn compress(&self, values: &[f32], columns: usize, out: &mut Vec<u8>) -> Result<()> {
        let mut ranges = vec![(f32::INFINITY, f32::NEG_INFINITY); columns];
        for frame in values.chunks_exact(columns) {
            for ((min, max), &value) in ranges.iter_mut().zip(frame) {
                (*min, *max) = (min.min(value), max.max(value));
            }
        }
        let empty = values.is_empty();
        let scales = ranges.into_iter().map(
            |(min, max)| {
                if empty { (1.0, 0.0) } else { scale_of(min, max) }
            },
        );
        let (a, b): (Vec<f32>, Vec<f32>) = scales.unzip();
        append_floats(self.order, &a, out);
        append_floats(self.order, &b, out);
        for (row, frame) in values.chunks_exact(columns).enumerate() {
            for (column, (&value, (&a, &b))) in frame.iter().zip(a.iter().zip(&b)).enumerate() {
                let Some(short) = round(f64::from(value * a - b)) else {
                    return Err(cannot_store(value, row, column));
                };
                out.extend_from_slice(&self.order.of_u16(short.cast_unsigned()));
            }
        }
        Ok(())
    }

    /// Writes reflection coefficients as integers.
    fn scale(&self, values: &[f32], columns: usize, out: &mut Vec<u8>) -> Result<()> {
        for (i, &value) in values.iter().enumerate() {
            let Some(short) = round(f64::from(value) * FULL) else {
                return Err(cannot_store(value, i / columns, i % columns));
            };
            out.extend_from_slice(&self.order.of_u16(short.cast_unsigned()));
        }
        Ok(())
    }
}

/// The scale of a column, rounded at the same steps as in HTK.
fn scale_of(min: f32, max: f32) -> (f32, f32) {
    let range = max - min;
    if range == 0.0 {
        return (1.0, max);
    }
    let a = 2.0 * FULL / f64::from(range);
    let b = f64::from(max + min) * FULL / f64::from(range);
    (a as f32, b as f32)
}

/// Rounds halves away from zero, if the result fits.
fn round(value: f64) -> Option<i16> {
    let rounded = (if value < 0.0 { value - 0.5 } else { value + 0.5 }).trunc();
    (rounded.abs() <= FULL).then_some(rounded as i16)
}

fn cannot_store(value: f32, row: usize, column: usize) -> Error {
    Error::usage(format!(
        "{value} in frame {row}, column {column} cannot be stored in 16 bits beside the others"
    ))
    .with_help("write the file as floats, without _C; or look for values that are too large")
}
