//! Transducers and lattices as text.

use seqfeed_core::number_text::ParseInteger;
use seqfeed_core::{Problem, Result};

use super::{AnyLattice, CompactLattice, FstArc, FstState, FstWeight, Lattice, VectorFst};
use crate::OBJECT;
use crate::object_reader::{ObjectReader, is_space};

/// A line: its place and its columns.
struct Line {
    start: u64,
    columns: Vec<Vec<u8>>,
}

/// The lines up to an empty one or the end.
fn read_lines(reader: &mut ObjectReader) -> Result<Vec<Line>> {
    reader.skip_blanks()?;
    if reader.peek()? == Some(b'\r') {
        reader.consume(1);
    }
    if reader.peek()? != Some(b'\n') {
        return Err(reader.unexpected(OBJECT, "the end of the line before a transducer's text"));
    }
    reader.consume(1);
    let (mut lines, mut line) = (Vec::new(), Vec::new());
    loop {
        let start = reader.position();
        reader.read_line(&mut line)?;
        let columns: Vec<Vec<u8>> = line
            .split(|&byte| is_space(byte))
            .filter(|column| !column.is_empty())
            .map(<[u8]>::to_vec)
            .collect();
        if columns.is_empty() {
            return Ok(lines);
        }
        lines.push(Line { start, columns });
    }
}

/// Most states that are believed beyond the number of lines: states are numbered one by one.
const LOOSE: usize = 1 << 16;

/// Makes a transducer of lines; the first state that is named is the start.
fn build<W: FstWeight>(reader: &ObjectReader, lines: &[Line]) -> Result<VectorFst<W>> {
    let mut fst = VectorFst::default();
    let most = 2 * lines.len() + LOOSE;
    for Line { start, columns } in lines {
        let wrong = |what: &'static str, found: &[u8]| {
            let found = found[..found.len().min(32)].to_vec();
            reader.error_at(*start, OBJECT, Problem::InvalidNumber { what, found })
        };
        let integer = |what, column: &[u8]| {
            let parsed = i32::parse_integer(column).filter(|&(_, len)| len == column.len());
            parsed.map(|(value, _)| value).ok_or_else(|| wrong(what, column))
        };
        let state = |fst: &mut VectorFst<W>, column: &[u8]| {
            let number = usize::try_from(integer("a state", column)?).ok();
            let number = number.filter(|&number| number < most);
            let number = number.ok_or_else(|| wrong("a state", column))?;
            if number >= fst.states.len() {
                fst.states.resize_with(number + 1, FstState::default);
            }
            Ok(number)
        };
        let weight = |column: Option<&Vec<u8>>| match column {
            None => Ok(W::one()),
            Some(column) => W::parse(column).ok_or_else(|| wrong("a weight", column)),
        };
        let from = state(&mut fst, &columns[0])?;
        fst.start.get_or_insert(from as u32);
        let labels = if W::ACCEPTOR { 1 } else { 2 };
        let arc = columns.len() >= 2 + labels;
        if !arc && columns.len() <= 2 {
            let weight = weight(columns.get(1))?;
            fst.states[from].final_weight = (weight != W::zero()).then_some(weight);
        } else if arc && columns.len() <= 3 + labels {
            let next_state = state(&mut fst, &columns[1])? as u32;
            let ilabel = integer("a label", &columns[2])?;
            let olabel = if W::ACCEPTOR { ilabel } else { integer("a label", &columns[3])? };
            let weight = weight(columns.get(2 + labels))?;
            fst.states[from].arcs.push(FstArc { ilabel, olabel, weight, next_state });
        } else {
            let expected = match W::ACCEPTOR {
                true => "1 or 2 columns (a final state), or 3 or 4 (an arc)",
                false => "1 or 2 columns (a final state), or 4 or 5 (an arc)",
            };
            let found = columns.join(&b' ');
            let found = found[..found.len().min(32)].to_vec();
            let problem = Problem::Unexpected { expected: expected.into(), found };
            return Err(reader.error_at(*start, OBJECT, problem));
        }
    }
    Ok(fst)
}

pub(crate) fn read_fst_text<W: FstWeight>(reader: &mut ObjectReader) -> Result<VectorFst<W>> {
    let lines = read_lines(reader)?;
    build(reader, &lines)
}

/// Reads a lattice of the kind that its lines have.
pub(super) fn read_lattice_text(reader: &mut ObjectReader) -> Result<AnyLattice> {
    let lines = read_lines(reader)?;
    let commas = |column: &[u8]| column.iter().filter(|&&byte| byte == b',').count();
    let compact = lines.iter().any(|Line { columns, .. }| match &columns[..] {
        [_, weight] => commas(weight) == 2,
        [_, _, _] => true,
        [_, _, _, last] => commas(last) > 0,
        _ => false,
    });
    Ok(match compact {
        true => AnyLattice::Compact(build::<_>(reader, &lines).map(|fst: CompactLattice| fst)?),
        false => AnyLattice::Plain(build::<_>(reader, &lines).map(|fst: Lattice| fst)?),
    })
}

pub(crate) fn write_fst_text<W: FstWeight>(
    fst: &VectorFst<W>,
    out: &mut Vec<u8>,
    digits: usize,
) -> Result<()> {
    fst.check()?;
    let mut number = itoa::Buffer::new();
    out.push(b'\n');
    let start = fst.start.map(|start| start as usize);
    // The start comes first: readers take the first state for it.
    let others = (0..fst.states.len()).filter(|&state| Some(state) != start);
    for state in start.into_iter().chain(others) {
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
        if let Some(weight) = final_weight {
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
