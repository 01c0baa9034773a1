//! Prints the values of a sequence as text and as JSON.

use std::io::{self, Write};

use seqfeed::{Element, Sample, Sequence, SequenceStream};

use crate::json::{comma, float, list};
use crate::report::count;

/// Labels in a line.
const LABELS: usize = 20;

/// Writes a sequence for people: each sample after its number.
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

/// In Kaldi's form of floats: seven digits; doubles with all digits.
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
            ":{{\"kind\":\"{}\",\"dtype\":\"{}\",\"dim\":{},\"first\":{},\"samples\":{},\"data\":",
            of.kind.name(),
            of.element.name(),
            of.dim,
            range.start,
            range.len()
        )?;
        list(out, stream.samples(), |out, sample| write_sample(out, stream, &sample))?;
        out.write_all(b"}")?;
    }
    out.write_all(b"}}\n")
}

fn write_sample(out: &mut impl Write, stream: &SequenceStream, sample: &Sample) -> io::Result<()> {
    let element = stream.stream().element;
    match sample {
        Sample::Label(label) => write!(out, "[{label}]"),
        Sample::Dense(values) => list(out, values, |out, &value| float(out, value, element)),
        Sample::Sparse(given) => list(out, given, |out, &(index, value)| {
            write!(out, "[{index},")?;
            float(out, value, element)?;
            out.write_all(b"]")
        }),
    }
}
