//! Writes pickles of features and labels, for numpy.

use std::io::Write;

use seqfeed_core::{Error, ErrorKind, Result};
use seqfeed_io::{Opener, Output, WxFilename};

use super::{Array, Bytes, Dtype};

/// The protocol of a written pickle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// For Python 2 and 3. Bytes are written as UTF-8 text, which is about half as long again. So
    /// no array may be longer than 4 GiB as text.
    Two,
    /// For Python 3.8 and later. Bytes are written directly.
    Five,
}

impl TryFrom<u8> for Protocol {
    type Error = Error;

    /// The protocol with a number.
    fn try_from(number: u8) -> Result<Self> {
        match number {
            2 => Ok(Self::Two),
            5 => Ok(Self::Five),
            other => {
                Err(Error::usage(format!("pickles are written in protocol 2 or 5, not {other}")))
            }
        }
    }
}

/// Writes a tuple of two arrays, as PDNN reads it. The file appears under its name when it is
/// complete.
///
/// # Errors
///
/// Fails if writing fails, or if an array is too long for the protocol.
pub fn write_pickle(
    name: &WxFilename,
    features: &Array,
    labels: &Array,
    protocol: Protocol,
    opener: &Opener,
) -> Result<()> {
    let arrays = [features, labels];
    if protocol == Protocol::Two {
        for array in arrays {
            let wanted = text_len(array.data());
            let (what, limit) = ("bytes of an array as text (protocol 2)", u32::MAX.into());
            if wanted > limit {
                return Err(Error::new(ErrorKind::Limit { what, wanted, limit })
                    .in_file(name.to_string())
                    .with_help("write protocol 5, or several files"));
            }
        }
    }
    let mut output = Output::create(name, opener)?;
    let written = write(&mut output, arrays, protocol);
    written.map_err(|error| output.error(error))?;
    output.finish()
}

/// The length of bytes as text in UTF-8: those from 0x80 take two.
fn text_len(bytes: &Bytes) -> u64 {
    let high = |piece: &[u8]| piece.iter().map(|byte| u64::from(byte >> 7)).sum::<u64>();
    bytes.len() as u64 + high(bytes.as_slice())
}

fn global(out: &mut Vec<u8>, module: &str, name: &str) {
    out.extend_from_slice(format!("c{module}\n{name}\n").as_bytes());
}

fn text(out: &mut Vec<u8>, text: &str) {
    out.push(b'X');
    out.extend_from_slice(&(text.len() as u32).to_le_bytes());
    out.extend_from_slice(text.as_bytes());
}

fn integer(out: &mut Vec<u8>, value: u64) {
    out.extend_from_slice(&[0x8a, 8]);
    out.extend_from_slice(&value.to_le_bytes());
}

fn shape(out: &mut Vec<u8>, shape: &[u64]) {
    out.push(b'(');
    shape.iter().for_each(|&dim| integer(out, dim));
    out.push(b't');
}

/// `numpy.dtype('f4', False, True)` with the state `(3, '<', None, None, None, -1, -1, 0)`.
fn dtype(out: &mut Vec<u8>, dtype: Dtype) {
    global(out, "numpy", "dtype");
    out.push(b'(');
    text(out, dtype.number.code());
    out.extend_from_slice(b"\x89\x88tR(K\x03");
    text(out, &dtype.to_string()[..1]);
    out.extend_from_slice(b"NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\0tb");
}

/// The opcodes after the bytes of an array.
pub(super) const ARRAY_END: &[u8] = b"tb";
/// The opcodes after a pair of arrays.
pub(super) const PAIR_END: &[u8] = b"\x86.";

/// The first opcodes of a pickle.
pub(super) fn begin(protocol: Protocol) -> Vec<u8> {
    match protocol {
        Protocol::Two => b"\x80\x02".to_vec(),
        Protocol::Five => b"\x80\x05".to_vec(),
    }
}

/// The opcodes before the bytes of an array, in the form of Python 3. numpy 1 and 2 both know
/// `numpy.core.multiarray`.
pub(super) fn begin_array(out: &mut Vec<u8>, dims: &[u64], element: Dtype, fortran: bool) {
    global(out, "numpy.core.multiarray", "_reconstruct");
    global(out, "numpy", "ndarray");
    out.extend_from_slice(b"K\0\x85");
    encoded(out, "b");
    out.extend_from_slice(b"\x87R(K\x01");
    shape(out, dims);
    dtype(out, element);
    out.push(if fortran { 0x88 } else { 0x89 });
}

/// The opcode before direct bytes, for protocol 5.
pub(super) fn begin_bytes(out: &mut Vec<u8>, len: u64) {
    out.push(0x8e);
    out.extend_from_slice(&len.to_le_bytes());
}

/// The opcodes before bytes as text, for protocol 2. The text is encoded again when it is loaded;
/// it is `len` bytes long.
pub(super) fn begin_text(out: &mut Vec<u8>, len: u32) {
    global(out, "_codecs", "encode");
    out.push(b'X');
    out.extend_from_slice(&len.to_le_bytes());
}

/// The opcodes after the text of [`begin_text`].
pub(super) fn end_text(out: &mut Vec<u8>) {
    text(out, "latin1");
    out.extend_from_slice(b"\x86R");
}

/// Bytes as text in UTF-8.
pub(super) fn push_text(out: &mut Vec<u8>, bytes: &[u8]) {
    for &byte in bytes {
        match byte {
            0..0x80 => out.push(byte),
            _ => out.extend_from_slice(&[0xc0 | byte >> 6, 0x80 | byte & 0x3f]),
        }
    }
}

fn write(output: &mut Output, arrays: [&Array; 2], protocol: Protocol) -> std::io::Result<()> {
    let mut out = begin(protocol);
    for array in arrays {
        let shape: Vec<u64> = array.shape().iter().map(|&dim| dim as u64).collect();
        begin_array(&mut out, &shape, array.dtype(), array.is_fortran());
        match protocol {
            Protocol::Two => write_text(output, &mut out, array.data())?,
            Protocol::Five => {
                begin_bytes(&mut out, array.data().len() as u64);
                output.write_all(&out)?;
                output.write_all(array.data().as_slice())?;
                out.clear();
            }
        }
        out.extend_from_slice(ARRAY_END);
    }
    out.extend_from_slice(PAIR_END);
    output.write_all(&out)
}

/// Writes bytes as a text that is encoded again when it is loaded.
fn write_text(output: &mut Output, out: &mut Vec<u8>, data: &Bytes) -> std::io::Result<()> {
    begin_text(out, text_len(data) as u32);
    output.write_all(out)?;
    for piece in data.as_slice().chunks(32 << 10) {
        out.clear();
        push_text(out, piece);
        output.write_all(out)?;
    }
    out.clear();
    end_text(out);
    Ok(())
}

fn encoded(out: &mut Vec<u8>, ascii: &str) {
    global(out, "_codecs", "encode");
    text(out, ascii);
    text(out, "latin1");
    out.extend_from_slice(b"\x86R");
}
