//! The values of a sequence as text and as JSON.

use std::io::{self, Write};

use seqfeed::{Element, Sample, Sequence, SequenceStream};

use crate::report::count;

/// Labels in a line.
const LABELS: usize = 20;

/// Writes a sequence for people: each sample behind its number.
pub(super) fn write_text(out: &mut impl Write, sequence: &Sequence) -> io::Result<()> {
    writeln!(out, "{}", sequence.key())?;
    for stream in sequence.streams() {
        let (of, range) = (stream.stream(), stream.range());
        writeln!(
            out,
            "  {}: {} {} x {}, samples {} to {}",
            of.name,
            of.kind.name(),
            of.element.name(),
            of.dim,
            range.start,
            range.end.saturating_sub(1)
        )?;
        let width = count(range.end as u64).len().max(5);
        let mut labels = Vec::new();
        for (number, sample) in range.zip(stream.samples()) {
            match sample {
                Sample::Label(label) => {
                    labels.push((number, label));
                    continue;
                }
                Sample::Dense(values) => {
                    write!(out, "  {number:>width$} ")?;
                    for value in values {
                        write!(out, " {}", significant(value, of.element))?;
                    }
                }
                Sample::Sparse(given) => {
                    write!(out, "  {number:>width$} ")?;
                    for (index, value) in given {
                        write!(out, " {index}:{}", significant(value, of.element))?;
                    }
                }
            }
            writeln!(out)?;
        }
        for line in labels.chunks(LABELS) {
            write!(out, "  {:>width$} ", line[0].0)?;
            for (_, label) in line {
                write!(out, " {label}")?;
            }
            writeln!(out)?;
        }
    }
    Ok(())
}

/// As Kaldi writes floats: seven digits; doubles with all of theirs.
fn significant(value: f64, element: Element) -> String {
    let mut text = Vec::new();
    match element {
        Element::F64 => return value.to_string(),
        _ => seqfeed::float_text::write_g(&mut text, value, 7),
    }
    String::from_utf8(text).unwrap_or_default()
}

/// Writes a sequence as one line of JSON.
pub(super) fn write_json(out: &mut impl Write, sequence: &Sequence) -> io::Result<()> {
    out.write_all(b"{\"key\":")?;
    serde_json::to_writer(&mut *out, &sequence.key().to_text())?;
    out.write_all(b",\"streams\":{")?;
    for (number, stream) in sequence.streams().iter().enumerate() {
        let (of, range) = (stream.stream(), stream.range());
        comma(out, number)?;
        serde_json::to_writer(&mut *out, &of.name)?;
        write!(
            out,
            ":{{\"kind\":\"{}\",\"dtype\":\"{}\",\"dim\":{},\"first\":{},\"samples\":{},\"data\":[",
            of.kind.name(),
            of.element.name(),
            of.dim,
            range.start,
            range.len()
        )?;
        for (number, sample) in stream.samples().enumerate() {
            comma(out, number)?;
            write_sample(out, stream, &sample)?;
        }
        out.write_all(b"]}")?;
    }
    out.write_all(b"}}\n")
}

fn write_sample(out: &mut impl Write, stream: &SequenceStream, sample: &Sample) -> io::Result<()> {
    let element = stream.stream().element;
    match sample {
        Sample::Label(label) => write!(out, "[{label}]"),
        Sample::Dense(values) => {
            out.write_all(b"[")?;
            for (number, &value) in values.iter().enumerate() {
                comma(out, number)?;
                float(out, value, element)?;
            }
            out.write_all(b"]")
        }
        Sample::Sparse(given) => {
            out.write_all(b"[")?;
            for (number, &(index, value)) in given.iter().enumerate() {
                comma(out, number)?;
                write!(out, "[{index},")?;
                float(out, value, element)?;
                out.write_all(b"]")?;
            }
            out.write_all(b"]")
        }
    }
}

/// The shortest text that reads back to the same float of its type. JSON has no numbers for NaN and
/// infinities: they are strings, as in dumps.
fn float(out: &mut impl Write, value: f64, element: Element) -> io::Result<()> {
    match (value.is_finite(), element) {
        (true, Element::F32) => Ok(serde_json::to_writer(out, &(value as f32))?),
        (true, _) => Ok(serde_json::to_writer(out, &value)?),
        (false, _) if value.is_nan() => out.write_all(b"\"NaN\""),
        (false, _) => {
            out.write_all(if value > 0.0 { &b"\"Infinity\""[..] } else { b"\"-Infinity\"" })
        }
    }
}

fn comma(out: &mut impl Write, number: usize) -> io::Result<()> {
    if number > 0 { out.write_all(b",") } else { Ok(()) }
}
