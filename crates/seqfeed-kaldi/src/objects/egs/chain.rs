//! Examples for chain training.

use seqfeed_core::Result;

use super::supervision::{ChainSupervision, read_counted, write_counted};
use super::{Index, NnetIo, read_indexes, read_name, write_indexes, write_name};
use crate::holder::{Holder, Mode};
use crate::object_reader::ObjectReader;
use crate::objects::basic_vector::IntegerVector;
use crate::objects::vector::Vector;

/// An output of a network with its supervision: Kaldi's `NnetChainSupervision`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NnetChainSupervision {
    /// Name of the output.
    pub name: String,
    /// The meaning of each frame.
    pub indexes: Vec<Index>,
    /// The allowed paths.
    pub supervision: ChainSupervision,
    /// The weights of each frame's derivatives; if empty, all are 1.
    pub deriv_weights: Vector<f32>,
}

/// An example for chain training: Kaldi's `NnetChainExample`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NnetChainExample {
    /// Inputs.
    pub inputs: Vec<NnetIo>,
    /// Outputs.
    pub outputs: Vec<NnetChainSupervision>,
}

impl Holder for NnetChainSupervision {
    const TYPE: &'static str = "chain supervision of an output";

    fn read(reader: &mut ObjectReader, mode: Mode) -> Result<Self> {
        reader.expect_token("<NnetChainSup>", mode)?;
        let name = read_name(reader, mode)?;
        let indexes = read_indexes(reader, mode)?;
        let supervision = ChainSupervision::read(reader, mode)?;
        let mut deriv_weights = Vector::default();
        // Older files have other weights, or none.
        if reader.peek_token(mode)? == Some(b'D') {
            let start = reader.position();
            match &reader.read_token(mode)?[..] {
                b"<DW2>" | b"DW2>" => deriv_weights = Vector::read(reader, mode)?,
                b"<DW>" | b"DW>" if mode == Mode::Text => {
                    deriv_weights = Vector::read(reader, mode)?;
                }
                b"<DW>" | b"DW>" => {
                    let IntegerVector(bytes) = IntegerVector::<u8>::read(reader, mode)?;
                    let weight = |byte: u8| f32::from(byte) * (1.0 / 255.0);
                    deriv_weights = Vector(bytes.into_iter().map(weight).collect());
                }
                other => {
                    let expected = "\"<DW2>\" or \"<DW>\"".into();
                    let found = other[..other.len().min(32)].to_vec();
                    let problem = seqfeed_core::Problem::Unexpected { expected, found };
                    return Err(reader.error_at(start, crate::OBJECT, problem));
                }
            }
        }
        reader.expect_token("</NnetChainSup>", mode)?;
        Ok(Self { name, indexes, supervision, deriv_weights })
    }

    fn write(&self, out: &mut Vec<u8>, mode: Mode) -> Result<()> {
        out.extend_from_slice(b"<NnetChainSup> ");
        write_name(out, &self.name)?;
        write_indexes(out, &self.indexes, mode)?;
        self.supervision.write(out, mode)?;
        out.extend_from_slice(b"<DW2> ");
        self.deriv_weights.write(out, mode)?;
        out.extend_from_slice(b"</NnetChainSup> ");
        Ok(())
    }
}

impl Holder for NnetChainExample {
    const TYPE: &'static str = "chain example";

    fn read(reader: &mut ObjectReader, mode: Mode) -> Result<Self> {
        reader.expect_token("<Nnet3ChainEg>", mode)?;
        let inputs = read_counted(reader, "<NumInputs>", mode)?;
        let outputs = read_counted(reader, "<NumOutputs>", mode)?;
        reader.expect_token("</Nnet3ChainEg>", mode)?;
        Ok(Self { inputs, outputs })
    }

    fn write(&self, out: &mut Vec<u8>, mode: Mode) -> Result<()> {
        out.extend_from_slice(b"<Nnet3ChainEg> ");
        write_counted(out, "<NumInputs>", &self.inputs, mode)?;
        write_counted(out, "<NumOutputs>", &self.outputs, mode)?;
        out.extend_from_slice(b"</Nnet3ChainEg> ");
        Ok(())
    }
}
