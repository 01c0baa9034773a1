//! Minibatches as JSON, one object a line.
//!
//! Only real samples are printed, sequence after sequence, whatever the layout: padding is the
//! layout's matter.

use std::io::{self, Write};

use seqfeed::{Extent, Kind, Minibatch, StreamBatch};

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
        serde_json::to_writer(&mut *out, &key.to_string())?;
    }
    out.write_all(b"],\"starts\":[")?;
    for (i, piece) in minibatch.pieces().iter().enumerate() {
        comma(out, i)?;
        write!(out, "{}", piece.first)?;
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
    for (i, piece) in minibatch.pieces().iter().enumerate() {
        comma(out, i)?;
        let length = if stream.extent == Extent::Sequence { 1 } else { piece.samples };
        write!(out, "{length}")?;
    }
    out.write_all(b"],\"data\":[")?;
    let mut first = true;
    for piece in 0..minibatch.len() {
        let (start, rows) = batch.rows_of(piece);
        for row in 0..rows {
            if !std::mem::take(&mut first) {
                out.write_all(b",")?;
            }
            write_row(out, batch, start + row * stream.dim, stream.dim)?;
        }
    }
    out.write_all(b"]}")
}

fn write_row(
    out: &mut impl Write,
    batch: StreamBatch<'_>,
    start: usize,
    dim: usize,
) -> io::Result<()> {
    out.write_all(b"[")?;
    debug_assert!(dim == 1 || batch.stream().kind != Kind::Label);
    for i in 0..dim {
        comma(out, i)?;
        if let Some(values) = batch.as_f32() {
            float(out, values[start + i], f32::is_finite)?;
        } else if let Some(values) = batch.as_f64() {
            float(out, values[start + i], f64::is_finite)?;
        } else if let Some(values) = batch.as_i32() {
            write!(out, "{}", values[start + i])?;
        }
    }
    out.write_all(b"]")
}

/// The shortest text that reads back to the same float. JSON has no infinities and no NaN: they
/// are written as most readers of JSON take them.
fn float<T: Copy + serde::Serialize + std::fmt::Display>(
    out: &mut impl Write,
    value: T,
    is_finite: impl Fn(T) -> bool,
) -> io::Result<()> {
    if is_finite(value) {
        return Ok(serde_json::to_writer(out, &value)?);
    }
    match value.to_string().as_str() {
        "inf" => out.write_all(b"Infinity"),
        "-inf" => out.write_all(b"-Infinity"),
        _ => out.write_all(b"NaN"),
    }
}

fn comma(out: &mut impl Write, i: usize) -> io::Result<()> {
    if i > 0 { out.write_all(b",") } else { Ok(()) }
}
