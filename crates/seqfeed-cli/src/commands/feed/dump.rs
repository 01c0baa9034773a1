//! Prints minibatches as JSON, one object a line.
//!
//! Only real samples are printed, sequence after sequence, whatever the layout, and no padding.

use std::io::{self, Write};

use seqfeed::{Element, Minibatch, SparseBatch, StreamBatch, bf16, f16};

use crate::json::{comma, float, list};

/// Writes one minibatch as a line.
pub(super) fn write(out: &mut impl Write, minibatch: &Minibatch) -> io::Result<()> {
    write!(
        out,
        "{{\"index\":{},\"sweep\":{},\"samples\":{},\"end_of_sweep\":{},\"keys\":",
        minibatch.index(),
        minibatch.sweep(),
        minibatch.samples(),
        minibatch.end_of_sweep()
    )?;
    list(out, minibatch.keys(), |out, key| Ok(serde_json::to_writer(out, &key.to_text())?))?;
    out.write_all(b",\"starts\":")?;
    list(out, minibatch.segments(), |out, segment| write!(out, "{}", segment.first))?;
    out.write_all(b",\"streams\":{")?;
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
        ":{{\"kind\":\"{}\",\"dtype\":\"{}\",\"dim\":{},\"lengths\":",
        stream.kind.name(),
        stream.element.name(),
        stream.dim
    )?;
    let segments = 0..minibatch.len();
    list(out, segments.clone(), |out, segment| write!(out, "{}", batch.rows_of(segment).1))?;
    out.write_all(b",\"data\":")?;
    let values = Values::of(batch);
    let rows = segments.flat_map(|segment| {
        let (start, rows) = batch.rows_of(segment);
        start..start + rows
    });
    match batch.as_sparse() {
        Some(sparse) => list(out, rows, |out, row| write_pairs(out, values, sparse, row))?,
        None => list(out, rows, |out, row| {
            let numbers = row * stream.dim..(row + 1) * stream.dim;
            list(out, numbers, |out, number| values.write(out, number))
        })?,
    }
    out.write_all(b"}")
}

/// All values of a stream.
#[derive(Clone, Copy)]
enum Values<'a> {
    F32(&'a [f32]),
    F64(&'a [f64]),
    I32(&'a [i32]),
    F16(&'a [f16]),
    BF16(&'a [bf16]),
    I64(&'a [i64]),
}

impl<'a> Values<'a> {
    fn of(batch: StreamBatch<'a>) -> Self {
        // Sparse values are of none of these types.
        let half = batch.as_f16().map(Values::F16).or(batch.as_bf16().map(Values::BF16));
        if let Some(values) = half.or(batch.as_i64().map(Values::I64)) {
            return values;
        }
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
            Values::F32(values) => float(out, values[number].into(), Element::F32),
            Values::F64(values) => float(out, values[number], Element::F64),
            Values::I32(values) => write!(out, "{}", values[number]),
            Values::F16(values) => float(out, values[number].into(), Element::F32),
            Values::BF16(values) => float(out, values[number].into(), Element::F32),
            Values::I64(values) => write!(out, "{}", values[number]),
        }
    }
}

/// Writes a sparse sample: pairs of index and value.
fn write_pairs(
    out: &mut impl Write,
    values: Values<'_>,
    sparse: SparseBatch<'_>,
    row: usize,
) -> io::Result<()> {
    let (start, end) = (sparse.offsets[row] as usize, sparse.offsets[row + 1] as usize);
    list(out, start..end, |out, number| {
        write!(out, "[{},", sparse.indices[number])?;
        values.write(out, number)?;
        out.write_all(b"]")
    })
}
