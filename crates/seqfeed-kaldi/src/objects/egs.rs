//! Examples for training neural networks, for Kaldi's nnet3 and chain.
//!
//! ```text
//! <Nnet3Eg> <NumIo> n, n times <NnetIo>, </Nnet3Eg>
//! <NnetIo> name <I1V> indexes features </NnetIo>
//! <Nnet3ChainEg> <NumInputs> n, <NnetIo>s, <NumOutputs> n, <NnetChainSup>s, </Nnet3ChainEg>
//! <NnetChainSup> name <I1V> indexes <Supervision> ... </Supervision> <DW2> weights </NnetChainSup>
//! ```

mod chain;
mod index;
mod supervision;

use seqfeed_core::{Error, Problem, Result};

pub use self::chain::{NnetChainExample, NnetChainSupervision};
pub use self::index::Index;
use self::index::{read_indexes, write_indexes};
pub use self::supervision::{ChainSupervision, SupervisionFsts};
use crate::OBJECT;
use crate::holder::{Holder, Mode};
use crate::object_reader::{ObjectReader, is_token};
use crate::objects::basic::Basic;
use crate::objects::general_matrix::GeneralMatrix;
use crate::objects::matrix::size;

/// One input or output of a network: Kaldi's `NnetIo`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NnetIo {
    /// Its name: `input`, `ivector`, `output`.
    pub name: String,
    /// The meaning of each row of the features.
    pub indexes: Vec<Index>,
    /// A row for each index.
    pub features: GeneralMatrix,
}

/// An example for training: Kaldi's `NnetExample`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NnetExample {
    /// Inputs and outputs.
    pub io: Vec<NnetIo>,
}

impl Holder for NnetIo {
    const TYPE: &'static str = "input or output of a network";

    fn read(reader: &mut ObjectReader, mode: Mode) -> Result<Self> {
        reader.expect_token("<NnetIo>", mode)?;
        let name = read_name(reader, mode)?;
        let indexes = read_indexes(reader, mode)?;
        let features = GeneralMatrix::read(reader, mode)?;
        reader.expect_token("</NnetIo>", mode)?;
        Ok(Self { name, indexes, features })
    }

    fn write(&self, out: &mut Vec<u8>, mode: Mode) -> Result<()> {
        out.extend_from_slice(b"<NnetIo> ");
        write_name(out, &self.name)?;
        write_indexes(out, &self.indexes, mode)?;
        self.features.write(out, mode)?;
        out.extend_from_slice(b"</NnetIo> ");
        Ok(())
    }
}

impl Holder for NnetExample {
    const TYPE: &'static str = "nnet3 example";

    fn read(reader: &mut ObjectReader, mode: Mode) -> Result<Self> {
        reader.expect_token("<Nnet3Eg>", mode)?;
        reader.expect_token("<NumIo>", mode)?;
        let count = read_size(reader, mode)?;
        let mut io = Vec::new();
        for _ in 0..count {
            io.push(NnetIo::read(reader, mode)?);
        }
        reader.expect_token("</Nnet3Eg>", mode)?;
        Ok(Self { io })
    }

    fn write(&self, out: &mut Vec<u8>, mode: Mode) -> Result<()> {
        out.extend_from_slice(b"<Nnet3Eg> <NumIo> ");
        write_count(out, self.io.len(), mode)?;
        self.io.iter().try_for_each(|io| io.write(out, mode))?;
        out.extend_from_slice(b"</Nnet3Eg> ");
        Ok(())
    }
}

/// Reads a count.
fn read_size(reader: &mut ObjectReader, mode: Mode) -> Result<usize> {
    let start = reader.position();
    let count = reader.read_basic(mode)?;
    size("count", count).map_err(|error| error.in_file(reader.name()).at_byte(start))
}

/// The most parts that Kaldi reads of an example. It does not read examples without parts.
const MOST_PARTS: usize = 1_000_000;

/// Writes the number of parts of an example.
fn write_count(out: &mut Vec<u8>, count: usize, mode: Mode) -> Result<()> {
    if !(1..=MOST_PARTS).contains(&count) {
        let (what, found) = ("number of inputs or outputs", count as i64);
        let problem = Problem::OutOfRange { what, found, allowed: "1 to 1000000".into() };
        return Err(Error::format(OBJECT, problem));
    }
    write_size_of(out, count, mode)
}

/// Writes a count.
fn write_size_of(out: &mut Vec<u8>, count: usize, mode: Mode) -> Result<()> {
    let Ok(count) = i32::try_from(count) else {
        let what = format!("{count} are more than the format can say");
        return Err(Error::format(OBJECT, Problem::Unsupported(what.into())));
    };
    count.write_basic(out, mode);
    Ok(())
}

fn read_name(reader: &mut ObjectReader, mode: Mode) -> Result<String> {
    let start = reader.position();
    let name = reader.read_token(mode)?;
    String::from_utf8(name).map_err(|error| {
        let expected = "a name in UTF-8".into();
        let found = error.into_bytes();
        let problem = Problem::Unexpected { expected, found };
        reader.error_at(start, OBJECT, problem)
    })
}

fn write_name(out: &mut Vec<u8>, name: &str) -> Result<()> {
    if !is_token(name.as_bytes()) {
        let expected = "a name without white space and control characters".into();
        let problem = Problem::Unexpected { expected, found: name.into() };
        return Err(Error::format(OBJECT, problem));
    }
    out.extend_from_slice(name.as_bytes());
    out.push(b' ');
    Ok(())
}
