//! The indexes of the rows of inputs and outputs.

use seqfeed_core::{Problem, Result};

use super::{read_size, write_size_of};
use crate::OBJECT;
use crate::holder::Mode;
use crate::object_reader::ObjectReader;
use crate::objects::basic::Basic;

/// The index of a row: Kaldi's nnet3 `Index`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Index {
    /// Number of the sequence in the minibatch.
    pub n: i32,
    /// Time step.
    pub t: i32,
    /// Any other coordinate; mostly 0.
    pub x: i32,
}

/// Times and their differences below this take one byte.
const SMALL: i32 = 125;

/// The mark of an index that follows as three numbers.
const WHOLE: u8 = 127;

/// Reads indexes with their `<I1V>`.
///
/// In binary, an index is one byte: the difference of its time from the one before, if nothing else
/// changes. Otherwise it is a byte 127 and the three numbers.
pub(super) fn read_indexes(reader: &mut ObjectReader, mode: Mode) -> Result<Vec<Index>> {
    reader.expect_token("<I1V>", mode)?;
    let count = read_size(reader, mode)?;
    if mode == Mode::Binary {
        reader.check_there(count as u64, "indexes")?;
    }
    let (mut indexes, mut last) = (Vec::new(), Index::default());
    for _ in 0..count {
        if mode == Mode::Text {
            reader.expect_token("<I1>", mode)?;
            last = read_whole(reader, mode)?;
        } else {
            let [step] = reader.read_array("indexes")?;
            let small = i32::from(step as i8);
            if step == WHOLE {
                last = read_whole(reader, mode)?;
            } else if small.abs() < SMALL {
                last.t = last.t.wrapping_add(small);
            } else {
                let at = reader.position() - 1;
                let allowed = "-124 to 124, or 127".into();
                let (what, found) = ("the step to an index", i64::from(small));
                let problem = Problem::OutOfRange { what, found, allowed };
                return Err(reader.error_at(at, OBJECT, problem));
            }
        }
        indexes.push(last);
    }
    Ok(indexes)
}

fn read_whole(reader: &mut ObjectReader, mode: Mode) -> Result<Index> {
    let (n, t) = (reader.read_basic(mode)?, reader.read_basic(mode)?);
    Ok(Index { n, t, x: reader.read_basic(mode)? })
}

pub(super) fn write_indexes(out: &mut Vec<u8>, indexes: &[Index], mode: Mode) -> Result<()> {
    out.extend_from_slice(b"<I1V> ");
    write_size_of(out, indexes.len(), mode)?;
    let mut last = Index::default();
    for &index in indexes {
        let step = index.t.wrapping_sub(last.t);
        let small = (1 - SMALL..SMALL).contains(&step) && (index.n, index.x) == (last.n, last.x);
        if mode == Mode::Binary && small {
            out.push(step as i8 as u8);
        } else {
            if mode == Mode::Binary {
                out.push(WHOLE);
            } else {
                out.extend_from_slice(b"<I1> ");
            }
            [index.n, index.t, index.x].iter().for_each(|number| number.write_basic(out, mode));
        }
        last = index;
    }
    Ok(())
}
