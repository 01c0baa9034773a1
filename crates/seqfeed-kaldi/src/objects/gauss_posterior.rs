//! Posteriors of the Gaussians of states.

use seqfeed_core::Result;

use crate::holder::{Holder, Mode};
use crate::object_reader::ObjectReader;
use crate::objects::basic::Basic;
use crate::objects::basic_vector::read_count;
use crate::objects::matrix::{size, write_size};
use crate::objects::vector::Vector;

/// For each frame, numbers (of a transition or a state), each with a vector of weights for its
/// Gaussians: Kaldi's `GaussPost`.
///
/// ```text
/// binary   04 frames:i32, for each: 04 n:i32, n times 04 number:i32 FV SP 04 dim:i32 weights
/// text     2 1 5 SP SP [ 0.5 0.5 ] LF     frames, n, number, weights, number, weights, n ...
///          1 7 SP SP [ 1 ] LF
///          LF
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GaussPosterior(
    /// The numbers of each frame with their weights.
    pub Vec<Vec<(i32, Vector<f32>)>>,
);

impl From<Vec<Vec<(i32, Vector<f32>)>>> for GaussPosterior {
    fn from(frames: Vec<Vec<(i32, Vector<f32>)>>) -> Self {
        Self(frames)
    }
}

impl Holder for GaussPosterior {
    const TYPE: &'static str = "posterior of Gaussians";

    fn read(reader: &mut ObjectReader, mode: Mode) -> Result<Self> {
        let mut frames = Vec::new();
        for _ in 0..count(reader, mode, 5)? {
            let mut frame = Vec::new();
            // The least size of an entry: a tagged number, "FV ", a tagged dimension.
            for _ in 0..count(reader, mode, 13)? {
                frame.push((reader.read_basic(mode)?, Vector::read(reader, mode)?));
            }
            frames.push(frame);
        }
        if mode == Mode::Text {
            reader.skip_blanks()?;
            match reader.ensure(2)? {
                [b'\r', b'\n', ..] => reader.consume(2),
                [b'\n', ..] => reader.consume(1),
                _ => {}
            }
        }
        Ok(Self(frames))
    }

    fn write(&self, out: &mut Vec<u8>, mode: Mode) -> Result<()> {
        write_count(out, self.0.len(), mode)?;
        for frame in &self.0 {
            write_count(out, frame.len(), mode)?;
            for (number, weights) in frame {
                number.write_basic(out, mode);
                weights.write(out, mode)?;
            }
        }
        if mode == Mode::Text {
            out.push(b'\n');
        }
        Ok(())
    }
}

/// Reads a count of elements that take at least `bytes` each in binary.
fn count(reader: &mut ObjectReader, mode: Mode, bytes: usize) -> Result<usize> {
    if mode == Mode::Binary {
        return read_count(reader, bytes);
    }
    reader.skip_space()?;
    let start = reader.position();
    let count: i32 = reader.read_basic(mode)?;
    size("number of elements", count).map_err(|error| error.in_file(reader.name()).at_byte(start))
}

fn write_count(out: &mut Vec<u8>, count: usize, mode: Mode) -> Result<()> {
    if mode == Mode::Binary {
        return write_size(out, count);
    }
    out.extend_from_slice(count.to_string().as_bytes());
    out.push(b' ');
    Ok(())
}
