//! Transducers and lattices as text.

use seqfeed_core::number_text::ParseInteger;
use seqfeed_core::{Problem, Result};

use super::{CompactLattice, FstArc, FstState, FstWeight, Lattice, VectorFst};
use crate::OBJECT;
use crate::object_reader::{ObjectReader, is_space};

/// The most columns of a line: an arc with two labels and a weight.
const COLUMNS: usize = 5;

/// The most states beyond those that lines name: states are numbered one by one.
const LOOSE: usize = 1 << 10;

/// The contents of a line, and its state.
enum Entry<W> {
    Final(W),
    Arc(FstArc<W>),
}

/// The lines of a transducer. States are made when all lines are read: only then their number is
/// known.
struct Lines<W> {
    entries: Vec<(u32, Entry<W>)>,
    /// The highest number of a state, and the position of its line.
    highest: (u32, u64),
}

impl<W: FstWeight> Lines<W> {
    fn new() -> Self {
        Self { entries: Vec::new(), highest: (0, 0) }
    }

    /// Adds a line that begins at `start`.
    fn add(&mut self, start: u64, columns: &[&[u8]]) -> Result<(), Problem> {
        const STATE: &str = "a state";
        let labels = if W::ACCEPTOR { 1 } else { 2 };
        let weight = |at: usize| match columns.get(at) {
            None => Ok(W::one()),
            Some(column) => W::parse(column).ok_or_else(|| invalid("a weight", column)),
        };
        let (from, entry) = match columns {
            [from] | [from, _] => (state(STATE, from)?, Entry::Final(weight(1)?)),
            [from, to, ilabel, rest @ ..] if (labels..=labels + 1).contains(&(rest.len() + 1)) => {
                let (from, next_state) = (state(STATE, from)?, state(STATE, to)?);
                let ilabel = integer("a label", ilabel)?;
                let olabel = match rest {
                    [olabel, ..] if !W::ACCEPTOR => integer("a label", olabel)?,
                    _ => ilabel,
                };
                let weight = weight(2 + labels)?;
                (from, Entry::Arc(FstArc { ilabel, olabel, weight, next_state }))
            }
            _ => {
                let expected = match W::ACCEPTOR {
                    true => "1 or 2 columns (a final state), or 3 or 4 (an arc)",
                    false => "1 or 2 columns (a final state), or 4 or 5 (an arc)",
                };
                let found = columns.join(&b' ');
                let found = found[..found.len().min(32)].to_vec();
                return Err(Problem::Unexpected { expected: expected.into(), found });
            }
        };
        let to = if let Entry::Arc(arc) = &entry { arc.next_state } else { 0 };
        if from.max(to) > self.highest.0 {
            self.highest = (from.max(to), start);
        }
        self.entries.push((from, entry));
        Ok(())
    }

    /// Makes the transducer. The first state that is named is the start.
    fn finish(self, reader: &ObjectReader) -> Result<VectorFst<W>> {
        let (highest, line) = self.highest;
        let mut fst = VectorFst::default();
        let Some(&(start, _)) = self.entries.first() else { return Ok(fst) };
        if highest as usize > 2 * self.entries.len() + LOOSE {
            let what = "the number of a state that leaves most states before it out";
            let problem = Problem::InvalidNumber { what, found: highest.to_string().into() };
            return Err(reader.error_at(line, OBJECT, problem));
        }
        fst.start = Some(start);
        fst.states.resize_with(highest as usize + 1, FstState::default);
        for (from, entry) in self.entries {
            let state = &mut fst.states[from as usize];
            match entry {
                Entry::Final(weight) => {
                    state.final_weight = (weight != W::zero()).then_some(weight);
                }
                Entry::Arc(arc) => state.arcs.push(arc),
            }
        }
        Ok(fst)
    }
}

fn invalid(what: &'static str, found: &[u8]) -> Problem {
    Problem::InvalidNumber { what, found: found[..found.len().min(32)].to_vec() }
}

fn integer(what: &'static str, column: &[u8]) -> Result<i32, Problem> {
    match i32::parse_integer(column) {
        Some((value, len)) if len == column.len() => Ok(value),
        _ => Err(invalid(what, column)),
    }
}

fn state(what: &'static str, column: &[u8]) -> Result<u32, Problem> {
    u32::try_from(integer(what, column)?).map_err(|_| invalid(what, column))
}

/// Reads the end of a line before a transducer, then its lines up to an empty one or the end.
/// `take` gets the position of each line and its columns. If there are too many columns, it gets
/// one more than allowed.
fn read_lines(
    reader: &mut ObjectReader,
    mut take: impl FnMut(u64, &[&[u8]]) -> Result<(), Problem>,
) -> Result<()> {
    while reader.peek()?.is_some_and(|byte| is_space(byte) && byte != b'\n') {
        reader.consume(1);
    }
    if reader.peek()? != Some(b'\n') {
        return Err(reader.unexpected(OBJECT, "the end of the line before a transducer's text"));
    }
    reader.consume(1);
    let mut line = Vec::new();
    loop {
        let start = reader.position();
        reader.read_line(&mut line)?;
        let words = line.split(|&byte| is_space(byte)).filter(|word| !word.is_empty());
        let (mut columns, mut count) = ([&[][..]; COLUMNS + 1], 0);
        for (column, word) in columns.iter_mut().zip(words) {
            *column = word;
            count += 1;
        }
        if count == 0 {
            return Ok(());
        }
        take(start, &columns[..count])
            .map_err(|problem| reader.error_at(start, OBJECT, problem))?;
    }
}

pub(crate) fn read_fst_text<W: FstWeight>(reader: &mut ObjectReader) -> Result<VectorFst<W>> {
    let mut lines = Lines::new();
    read_lines(reader, |start, columns| lines.add(start, columns))?;
    lines.finish(reader)
}

/// Reads a lattice of the kind that its lines have. If they fit both kinds, both are returned.
pub(super) fn read_lattice_text(
    reader: &mut ObjectReader,
) -> Result<(Option<Lattice>, Option<CompactLattice>)> {
    let (mut plain, mut compact) = (Some(Lines::new()), Some(Lines::new()));
    read_lines(reader, |start, columns| {
        // The last possible kind gives the error for the line.
        let mut problem = None;
        if let Some(Err(found)) = plain.as_mut().map(|lines| lines.add(start, columns)) {
            (plain, problem) = (None, Some(found));
        }
        if let Some(Err(found)) = compact.as_mut().map(|lines| lines.add(start, columns)) {
            (compact, problem) = (None, Some(found));
        }
        problem.filter(|_| plain.is_none() && compact.is_none()).map_or(Ok(()), Err)
    })?;
    let plain = plain.map(|lines| lines.finish(reader)).transpose()?;
    Ok((plain, compact.map(|lines| lines.finish(reader)).transpose()?))
}

pub(crate) fn write_fst_text<W: FstWeight>(
    fst: &VectorFst<W>,
    out: &mut Vec<u8>,
    digits: usize,
) -> Result<()> {
    fst.check()?;
    let mut number = itoa::Buffer::new();
    out.push(b'\n');
    let Some(start) = fst.start.map(|start| start as usize) else {
        // Text cannot say that there is no start. Without a start nothing is written.
        out.push(b'\n');
        return Ok(());
    };
    // The start comes first, since readers take the first state as the start.
    let others = (0..fst.states.len()).filter(|&state| state != start);
    for state in std::iter::once(start).chain(others) {
        let FstState { final_weight, arcs } = &fst.states[state];
        for arc in arcs {
            for field in [state as i64, i64::from(arc.next_state), i64::from(arc.ilabel)] {
                out.extend_from_slice(number.format(field).as_bytes());
                out.push(b'\t');
            }
            if W::ACCEPTOR {
                out.pop();
            } else {
                out.extend_from_slice(number.format(arc.olabel).as_bytes());
            }
            write_weight(&arc.weight, out, digits);
        }
        // A state without arcs is always written.
        let zero = arcs.is_empty().then(W::zero);
        if let Some(weight) = final_weight.as_ref().or(zero.as_ref()) {
            out.extend_from_slice(number.format(state).as_bytes());
            write_weight(weight, out, digits);
        }
    }
    out.push(b'\n');
    Ok(())
}

fn write_weight<W: FstWeight>(weight: &W, out: &mut Vec<u8>, digits: usize) {
    if *weight != W::one() {
        out.push(b'\t');
        weight.write_text(out, digits);
    }
    out.push(b'\n');
}
