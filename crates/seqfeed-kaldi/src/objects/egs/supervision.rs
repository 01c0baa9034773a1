//! The supervision of chain training.

use seqfeed_core::{Error, Problem, Result};

use super::{read_size, write_count};
use crate::OBJECT;
use crate::holder::{Holder, Mode};
use crate::object_reader::ObjectReader;
use crate::objects::basic::Basic;
use crate::objects::basic_vector::IntegerVector;
use crate::objects::fst::{
    StdVectorFst, read_compact_acceptor, read_fst_text, write_compact_acceptor, write_fst_text,
};

/// Digits of weights inside an object with a `\0B`.
const DIGITS: usize = 7;

/// The supervision of one or more sequences: Kaldi's `chain::Supervision`.
#[derive(Clone, Debug, PartialEq)]
pub struct ChainSupervision {
    /// Its weight.
    pub weight: f32,
    /// Number of sequences.
    pub num_sequences: i32,
    /// Frames of each sequence, after subsampling.
    pub frames_per_sequence: i32,
    /// Number of labels (pdf-ids). In the transducers they run from 1 to this number.
    pub label_dim: i32,
    /// The allowed paths.
    pub fsts: SupervisionFsts,
    /// The pdf-ids of an alignment, if they were kept.
    pub alignment_pdfs: Vec<i32>,
}

/// The transducers of a supervision.
#[derive(Clone, Debug, PartialEq)]
pub enum SupervisionFsts {
    /// One acceptor for all sequences together.
    Whole(StdVectorFst),
    /// End to end: one for each sequence.
    EndToEnd(Vec<StdVectorFst>),
}

impl Default for ChainSupervision {
    fn default() -> Self {
        Self {
            weight: 1.0,
            num_sequences: 1,
            frames_per_sequence: -1,
            label_dim: -1,
            fsts: SupervisionFsts::Whole(StdVectorFst::default()),
            alignment_pdfs: Vec::new(),
        }
    }
}

impl Holder for ChainSupervision {
    const TYPE: &'static str = "chain supervision";

    fn read(reader: &mut ObjectReader, mode: Mode) -> Result<Self> {
        reader.expect_token("<Supervision>", mode)?;
        reader.expect_token("<Weight>", mode)?;
        let weight = reader.read_basic(mode)?;
        reader.expect_token("<NumSequences>", mode)?;
        let start = reader.position();
        let num_sequences: i32 = reader.read_basic(mode)?;
        if num_sequences < 0 {
            let (what, found) = ("number of sequences", num_sequences.into());
            let problem = Problem::OutOfRange { what, found, allowed: "0 or more".into() };
            return Err(reader.error_at(start, OBJECT, problem));
        }
        reader.expect_token("<FramesPerSeq>", mode)?;
        let frames_per_sequence = reader.read_basic(mode)?;
        reader.expect_token("<LabelDim>", mode)?;
        let label_dim = reader.read_basic(mode)?;
        // Files from before end-to-end training do not say it.
        let mut end_to_end = false;
        if peek_element(reader, mode)? == Some(b'E') {
            reader.expect_token("<End2End>", mode)?;
            end_to_end = reader.read_basic(mode)?;
        }
        let fsts = if end_to_end {
            reader.expect_token("<Fsts>", mode)?;
            let mut fsts = Vec::new();
            for _ in 0..num_sequences {
                fsts.push(read_fst(reader, mode)?);
            }
            reader.expect_token("</Fsts>", mode)?;
            SupervisionFsts::EndToEnd(fsts)
        } else {
            SupervisionFsts::Whole(read_fst(reader, mode)?)
        };
        let mut alignment_pdfs = Vec::new();
        if reader.peek_token(mode)? == Some(b'A') {
            reader.expect_token("<AlignmentPdfs>", mode)?;
            alignment_pdfs = IntegerVector::read(reader, mode)?.0;
        }
        reader.expect_token("</Supervision>", mode)?;
        Ok(Self { weight, num_sequences, frames_per_sequence, label_dim, fsts, alignment_pdfs })
    }

    fn write(&self, out: &mut Vec<u8>, mode: Mode) -> Result<()> {
        out.extend_from_slice(b"<Supervision> <Weight> ");
        self.weight.write_basic(out, mode);
        out.extend_from_slice(b"<NumSequences> ");
        self.num_sequences.write_basic(out, mode);
        out.extend_from_slice(b"<FramesPerSeq> ");
        self.frames_per_sequence.write_basic(out, mode);
        out.extend_from_slice(b"<LabelDim> ");
        self.label_dim.write_basic(out, mode);
        out.extend_from_slice(b"<End2End> ");
        matches!(self.fsts, SupervisionFsts::EndToEnd(_)).write_basic(out, mode);
        match &self.fsts {
            SupervisionFsts::Whole(fst) => write_fst(fst, out, mode)?,
            SupervisionFsts::EndToEnd(fsts) => {
                if i32::try_from(fsts.len()) != Ok(self.num_sequences) {
                    let what =
                        format!("{} sequences, but {} transducers", self.num_sequences, fsts.len());
                    return Err(Error::format(OBJECT, Problem::Unsupported(what.into())));
                }
                out.extend_from_slice(b"<Fsts> ");
                fsts.iter().try_for_each(|fst| write_fst(fst, out, mode))?;
                out.extend_from_slice(b"</Fsts> ");
            }
        }
        if !self.alignment_pdfs.is_empty() {
            out.extend_from_slice(b"<AlignmentPdfs> ");
            IntegerVector(self.alignment_pdfs.clone()).write(out, mode)?;
        }
        out.extend_from_slice(b"</Supervision> ");
        Ok(())
    }
}

fn read_fst(reader: &mut ObjectReader, mode: Mode) -> Result<StdVectorFst> {
    match mode {
        Mode::Binary => read_compact_acceptor(reader),
        Mode::Text => read_fst_text(reader),
    }
}

fn write_fst(fst: &StdVectorFst, out: &mut Vec<u8>, mode: Mode) -> Result<()> {
    match mode {
        Mode::Binary => write_compact_acceptor(fst, out),
        Mode::Text => write_fst_text(fst, out, DIGITS),
    }
}

/// The first byte of the next token. `None` if a transducer as text is next; it begins with the end
/// of a line.
fn peek_element(reader: &mut ObjectReader, mode: Mode) -> Result<Option<u8>> {
    if mode == Mode::Text {
        reader.skip_blanks()?;
        if reader.peek()? == Some(b'\n') {
            return Ok(None);
        }
    }
    reader.peek_token(mode)
}

/// Reads a count, then that many elements.
pub(super) fn read_counted<T: Holder>(
    reader: &mut ObjectReader,
    token: &'static str,
    mode: Mode,
) -> Result<Vec<T>> {
    reader.expect_token(token, mode)?;
    let count = read_size(reader, mode)?;
    let mut all = Vec::new();
    for _ in 0..count {
        all.push(T::read(reader, mode)?);
    }
    Ok(all)
}

/// Writes the count of elements, then a line for each.
pub(super) fn write_counted<T: Holder>(
    out: &mut Vec<u8>,
    token: &'static str,
    all: &[T],
    mode: Mode,
) -> Result<()> {
    let end_line = |out: &mut Vec<u8>| {
        if mode == Mode::Text {
            out.push(b'\n');
        }
    };
    out.extend_from_slice(token.as_bytes());
    out.push(b' ');
    write_count(out, all.len(), mode)?;
    end_line(out);
    for one in all {
        one.write(out, mode)?;
        end_line(out);
    }
    Ok(())
}
