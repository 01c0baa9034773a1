//! JSON that is written piece by piece, without a copy of the data.

use std::io::{self, Write};

use seqfeed::Element;

/// Writes a list: `write` writes each part.
pub(crate) fn list<W: Write, T>(
    out: &mut W,
    parts: impl IntoIterator<Item = T>,
    mut write: impl FnMut(&mut W, T) -> io::Result<()>,
) -> io::Result<()> {
    out.write_all(b"[")?;
    for (number, part) in parts.into_iter().enumerate() {
        comma(out, number)?;
        write(out, part)?;
    }
    out.write_all(b"]")
}

/// Writes what stands between a part of this number and the one before it.
pub(crate) fn comma(out: &mut impl Write, number: usize) -> io::Result<()> {
    if number > 0 { out.write_all(b",") } else { Ok(()) }
}

/// The shortest text that reads back to the same float of its type. JSON has no numbers for
/// infinities and NaN. They are text: every reader of JSON accepts it, none takes it for a number.
pub(crate) fn float(out: &mut impl Write, value: f64, element: Element) -> io::Result<()> {
    match (value.is_finite(), element) {
        (true, Element::F32) => Ok(serde_json::to_writer(out, &(value as f32))?),
        (true, _) => Ok(serde_json::to_writer(out, &value)?),
        (false, _) if value.is_nan() => out.write_all(b"\"NaN\""),
        (false, _) if value > 0.0 => out.write_all(b"\"Infinity\""),
        (false, _) => out.write_all(b"\"-Infinity\""),
    }
}
