//! Minibatches as JSON, one object a line.
//!
//! Only real samples are printed, sequence after sequence, whatever the layout: padding is the
//! layout's matter.

use std::io::{self, Write};

use seqfeed::{Minibatch, SparseBatch, StreamBatch};

/// Writes one minibatch as a line.
pub(super) fn write(out: &mut impl Write, minibatch: &Minibatch) -> io::Result<()> {
    write!(
        out,
        "{{\"index\":{},\"sweep\":{},\"samples\":{},\"end_of_sweep\":{},\"keys\":[",
        minibatch.index(),
        minibatch.sweep(),
        minibatch.samples(),
        minibatch.end_of_sweep()
    )?;
    for (i, key) in minibatch.keys().enumerate() {
        comma(out, i)?;
        serde_json::to_writer(&mut *out, &key.to_text())?;
    }
    out.write_all(b"],\"starts\":[")?;
    for (i, segment) in minibatch.segments().iter().enumerate() {
        comma(out, i)?;
        write!(out, "{}", segment.first)?;
    }
    out.write_all(b"],\"streams\":{")?;
    for (i, batch) in minibatch.streams().enumerate() {
        comma(out, i)?;
        serde_json::to_writer(&mut *out, &batch.stream().name)?;
        write_stream(out, minibatch, batch)?;
    }
    out.write_all(b"}}\n")
}

fn write_stream(
    out: &mut impl Write,
    minibatch: &Minibatch,
    batch: StreamBatch<'_>,
) -> io::Result<()> {
    let stream = batch.stream();
    write!(
        out,
        ":{{\"kind\":\"{}\",\"dtype\":\"{}\",\"dim\":{},\"lengths\":[",
        stream.kind.name(),
        stream.element.name(),
        stream.dim
    )?;
    for segment in 0..minibatch.len() {
        comma(out, segment)?;
        write!(out, "{}", batch.rows_of(segment).1)?;
    }
    out.write_all(b"],\"data\":[")?;
    let values = Values::of(batch);
    let sparse = batch.as_sparse();
    let mut rows_before = 0;
    for segment in 0..minibatch.len() {
        let (start, rows) = batch.rows_of(segment);
        for row in start..start + rows {
            comma(out, rows_before)?;
            rows_before += 1;
            match sparse {
                Some(sparse) => write_pairs(out, values, sparse, row)?,
                None => write_row(out, values, row * stream.dim..(row + 1) * stream.dim)?,
            }
        }
    }
    out.write_all(b"]}")
}

/// All values of a stream.
#[derive(Clone, Copy)]
enum Values<'a> {
    F32(&'a [f32]),
    F64(&'a [f64]),
    I32(&'a [i32]),
}

impl<'a> Values<'a> {
    fn of(batch: StreamBatch<'a>) -> Self {
        let sparse = batch.as_sparse().map(|sparse| sparse.values);
        let f32s = batch.as_f32().or(sparse.and_then(|values| values.as_f32()));
        let f64s = batch.as_f64().or(sparse.and_then(|values| values.as_f64()));
        let i32s = batch.as_i32().or(sparse.and_then(|values| values.as_i32()));
        match (f32s, f64s) {
            (Some(values), _) => Values::F32(values),
            (_, Some(values)) => Values::F64(values),
            _ => Values::I32(i32s.unwrap_or_default()),
        }
    }

    fn write(self, out: &mut impl Write, number: usize) -> io::Result<()> {
        match self {
            Values::F32(values) => float(out, values[number], f32::is_finite),
            Values::F64(values) => float(out, values[number], f64::is_finite),
            Values::I32(values) => write!(out, "{}", values[number]),
        }
    }
}

fn write_row(
    out: &mut impl Write,
    values: Values<'_>,
    numbers: std::ops::Range<usize>,
) -> io::Result<()> {
    out.write_all(b"[")?;
    for (i, number) in numbers.enumerate() {
        comma(out, i)?;
        values.write(out, number)?;
    }
    out.write_all(b"]")
}

/// Writes a sparse sample: pairs of index and value.
fn write_pairs(
    out: &mut impl Write,
    values: Values<'_>,
    sparse: SparseBatch<'_>,
    row: usize,
) -> io::Result<()> {
    out.write_all(b"[")?;
    let (start, end) = (sparse.offsets[row] as usize, sparse.offsets[row + 1] as usize);
    for number in start..end {
        comma(out, number - start)?;
        write!(out, "[{},", sparse.indices[number])?;
        values.write(out, number)?;
        out.write_all(b"]")?;
    }
    out.write_all(b"]")
}

/// The shortest text that reads back to the same float. JSON has no numbers for infinities and NaN:
/// they are text, which every reader of JSON takes and none takes for a number.
fn float<T: Copy + serde::Serialize + std::fmt::Display>(
    out: &mut impl Write,
    value: T,
    is_finite: impl Fn(T) -> bool,
) -> io::Result<()> {
    if is_finite(value) {
        return Ok(serde_json::to_writer(out, &value)?);
    }
    match value.to_string().as_str() {
        "inf" => out.write_all(b"\"Infinity\""),
        "-inf" => out.write_all(b"\"-Infinity\""),
        _ => out.write_all(b"\"NaN\""),
    }
}

fn comma(out: &mut impl Write, i: usize) -> io::Result<()> {
    if i > 0 { out.write_all(b",") } else { Ok(()) }
}
