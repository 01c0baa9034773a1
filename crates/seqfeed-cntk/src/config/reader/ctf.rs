//! Sections for CNTK's text format.

use seqfeed_core::Result;

use super::super::section::Section;
use super::known::{self, WithoutEffect};
use super::words::{one_of, positive};
use super::{CtfDeserializer, CtfFormat, CtfInput, Precision};

/// The settings of the reader that its deserializers share.
#[derive(Clone, Copy, Debug)]
pub(super) struct Common {
    pub(super) frame_mode: bool,
    pub(super) precision: Precision,
    /// The reader's own, if it has one.
    pub(super) trace_level: Option<i64>,
}

impl Common {
    /// The same with the settings of a deserializer's section that the reader lacks.
    pub(super) fn of_deserializer(self, section: &Section) -> Result<Self> {
        let trace_level = match self.trace_level {
            Some(level) => Some(level),
            None => section.i64("traceLevel")?,
        };
        Ok(Self { trace_level, ..self })
    }
}

pub(super) const CHUNK_SIZE: u64 = 32 << 20;

/// Reads the section of a deserializer, or of a stand-alone reader.
pub(super) fn deserializer(
    section: &Section,
    common: Common,
    names: &mut WithoutEffect,
) -> Result<CtfDeserializer> {
    let deserializer = CtfDeserializer {
        inputs: inputs(section, names)?,
        file: section.require("file")?.text()?,
        skip_sequence_ids: section.boolean("skipSequenceIds")?.unwrap_or(false),
        max_errors: section.u64("maxErrors")?.unwrap_or(0),
        trace_level: common.of_deserializer(section)?.trace_level.unwrap_or(1),
        chunk_size_in_bytes: chunk_size(section, CHUNK_SIZE)?,
        cache_index: section.boolean("cacheIndex")?.unwrap_or(false),
        frame_mode: common.frame_mode,
        precision: common.precision,
        keep_data_in_memory: section.boolean("keepDataInMemory")?.unwrap_or(false),
        longer_than_inputs: section.boolean("longerThanInputs")?.unwrap_or(false),
    };
    let main: Vec<&str> = deserializer
        .inputs
        .iter()
        .filter(|input| input.defines_mb_size)
        .map(|input| input.name.as_str())
        .collect();
    if main.len() > 1 {
        let (count, names) = (main.len(), main.join(", "));
        let message = format!(
            "Only a single stream is allowed to define the minibatch size, but {count} found: \
             {names}."
        );
        return Err(section.error(message).with_help("set definesMBSize for one of them"));
    }
    Ok(deserializer)
}

/// `chunkSizeInBytes`. CNTK divides by it.
pub(super) fn chunk_size(section: &Section, default: u64) -> Result<u64> {
    let Some(value) = section.get("chunkSizeInBytes")? else { return Ok(default) };
    match value.u64()? {
        0 => Err(value
            .error("chunkSizeInBytes must not be 0".into())
            .with_help(format!("the default is {default}"))),
        size => Ok(size),
    }
}

fn inputs(section: &Section, names: &mut WithoutEffect) -> Result<Vec<CtfInput>> {
    const EXAMPLE: &str = "input = [ features = [ dim = 5 ; format = \"dense\" ] ]";
    const READER: &str = "CNTKTextFormatReader configuration";
    let Some(input) = section.own("input")? else {
        let message = format!("{READER} does not contain \"input\" section.");
        return Err(section.error(message).with_help(EXAMPLE));
    };
    let input = input.section()?;
    if input.is_empty() {
        let message = format!("{READER} contains an empty \"input\" section.");
        return Err(section.error(message).with_help(EXAMPLE));
    }
    let mut inputs: Vec<CtfInput> = Vec::new();
    for name in input.names() {
        let stream = one_input(&input, name, names)?;
        if let Some(other) = inputs.iter().find(|other| other.alias == stream.alias) {
            let message =
                format!("Alias {} is already mapped to input {}.", stream.alias, other.name);
            return Err(input.require(name)?.error(message).with_help("give it another alias"));
        }
        inputs.push(stream);
    }
    Ok(inputs)
}

fn one_input(input: &Section, name: &str, names: &mut WithoutEffect) -> Result<CtfInput> {
    let missing = || {
        format!(
            "Input section for input '{name}' does not specify all the required parameters, \
             \"dim\" and \"format\"."
        )
    };
    let Some(value) = input.own(name)? else { return Err(input.error(missing())) };
    let section = value.section()?;
    names.collect(&section, known::CTF_INPUT)?;
    let (Some(dim), Some(format)) = (section.own("dim")?, section.own("format")?) else {
        let help = format!("{name} = [ dim = 5 ; format = \"dense\" ]");
        return Err(value.error(missing()).with_help(help));
    };
    let dimension = positive(&dim)?;
    let formats = [("dense", CtfFormat::Dense), ("sparse", CtfFormat::Sparse)];
    let message = "'format' parameter must be set either to 'dense' or 'sparse'.";
    let format = one_of(&format, &formats, message)?;
    let largest = i32::MAX as u64;
    if format == CtfFormat::Sparse && dimension > largest {
        let message = format!(
            "Sample dimension ({dimension}) for sparse input '{name}' exceeds the maximum allowed \
             value ({largest})."
        );
        return Err(dim.error(message).with_help("dim is an upper bound of the indices"));
    }
    let alias = match section.own("alias")? {
        Some(alias) => {
            let text = alias.text()?;
            if text.is_empty() {
                return Err(alias
                    .error(format!("Alias value for input '{name}' is empty."))
                    .with_help("leave alias out: it is the name then"));
            }
            text
        }
        None => name.to_owned(),
    };
    let defines_mb_size = section.boolean("definesMBSize")?.unwrap_or(false);
    Ok(CtfInput { name: name.to_owned(), alias, dim: dimension, format, defines_mb_size })
}
