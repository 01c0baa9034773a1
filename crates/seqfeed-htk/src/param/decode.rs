//! Converts stored values to the machine's numbers.

use seqfeed_core::{Error, Result};

use super::header::HEADER;
use super::{ByteOrder, Checksum, Layout, ReadOptions, Storage};

/// Turns stored frames into the machine's numbers.
///
/// There is one loop for each storage; the compiler turns it into vector instructions.
#[derive(Clone, Debug)]
pub struct Decoder {
    storage: Storage,
    order: ByteOrder,
    columns: usize,
    /// With `_C`: a divisor and a summand for each column.
    a: Vec<f32>,
    b: Vec<f32>,
}

impl Decoder {
    /// A decoder for the frames of a file, from its layout and the bytes at [`Layout::scales`].
    ///
    /// # Errors
    ///
    /// Fails if the number of bytes is not that of the scales.
    pub fn new(layout: &Layout, scales: &[u8]) -> Result<Self> {
        let (order, columns) = (layout.header().order, layout.columns());
        let range = layout.scales();
        if scales.len() as u64 != range.end - range.start {
            return Err(Error::usage("a decoder needs all bytes of the scales, and no more"));
        }
        let (values, _) = scales.as_chunks::<4>();
        let values: Vec<f32> = values.iter().map(|&v| f32::from_bits(order.u32(v))).collect();
        let (a, b) = values.split_at(values.len() / 2);
        Ok(Self { storage: layout.storage(), order, columns, a: a.to_vec(), b: b.to_vec() })
    }

    /// Decodes frames to floats. Waveforms and symbols become floats of the same value.
    ///
    /// `_C` is decoded as by the 64-bit builds of HTK: a 32-bit addition, then a 32-bit division.
    ///
    /// # Errors
    ///
    /// Fails if the bytes are not whole frames, or if `out` has another size than they need.
    pub fn decode(&self, bytes: &[u8], out: &mut [f32]) -> Result<()> {
        self.decode_to_bytes(bytes, bytemuck::cast_slice_mut(out))
    }

    /// The same, with the floats as bytes in the machine's order, as in blocks.
    ///
    /// # Errors
    ///
    /// As [`decode`](Self::decode).
    pub fn decode_to_bytes(&self, bytes: &[u8], out: &mut [u8]) -> Result<()> {
        let (out, rest) = out.as_chunks_mut::<4>();
        if !rest.is_empty() {
            return Err(Error::usage("room for floats is a multiple of 4 bytes"));
        }
        self.check(bytes, out.len())?;
        match (self.storage, self.order) {
            (Storage::Floats, ByteOrder::Big) => floats(bytes, out, u32::from_be_bytes),
            (Storage::Floats, ByteOrder::Little) => floats(bytes, out, u32::from_le_bytes),
            (_, ByteOrder::Big) => self.shorts(bytes, out, i16::from_be_bytes),
            (_, ByteOrder::Little) => self.shorts(bytes, out, i16::from_le_bytes),
        }
        Ok(())
    }

    /// Decodes waveforms and symbols.
    ///
    /// # Errors
    ///
    /// As [`decode`](Self::decode), and if the values are not of this kind ([`Storage::Shorts`]).
    pub fn decode_i16(&self, bytes: &[u8], out: &mut [i16]) -> Result<()> {
        if self.storage != Storage::Shorts {
            return Err(Error::usage("only waveforms and symbols are integers")
                .with_help("other kinds are read as floats"));
        }
        self.check(bytes, out.len())?;
        let pairs = out.iter_mut().zip(bytes.as_chunks::<2>().0);
        match self.order {
            ByteOrder::Big => pairs.for_each(|(o, &v)| *o = i16::from_be_bytes(v)),
            ByteOrder::Little => pairs.for_each(|(o, &v)| *o = i16::from_le_bytes(v)),
        }
        Ok(())
    }

    /// Whether stored frames are floats, which can be decoded in place.
    pub(super) fn is_in_place(&self) -> bool {
        self.storage == Storage::Floats
    }

    /// Decodes floats in place.
    pub(super) fn decode_in_place(&self, bytes: &mut [u8]) {
        if !self.order.is_native() {
            let (values, _) = bytes.as_chunks_mut::<4>();
            values.iter_mut().for_each(|v| *v = u32::from_ne_bytes(*v).swap_bytes().to_ne_bytes());
        }
    }

    fn check(&self, bytes: &[u8], values: usize) -> Result<()> {
        let fits = values.checked_mul(self.storage.bytes()) == Some(bytes.len());
        if fits && values.is_multiple_of(self.columns) {
            return Ok(());
        }
        Err(Error::usage(format!(
            "{} bytes are not {values} values in whole frames of {}",
            bytes.len(),
            self.columns
        )))
    }

    /// Decodes 16-bit integers of any meaning.
    fn shorts(&self, bytes: &[u8], out: &mut [[u8; 4]], value: impl Fn([u8; 2]) -> i16) {
        let (bytes, _) = bytes.as_chunks::<2>();
        match self.storage {
            Storage::Compressed => {
                let frames = bytes.chunks_exact(self.columns);
                for (out, frame) in out.chunks_exact_mut(self.columns).zip(frames) {
                    let scales = self.a.iter().zip(&self.b);
                    for ((out, &v), (&a, &b)) in out.iter_mut().zip(frame).zip(scales) {
                        *out = ((f32::from(value(v)) + b) / a).to_ne_bytes();
                    }
                }
            }
            Storage::Scaled => {
                for (out, &v) in out.iter_mut().zip(bytes) {
                    *out = (f32::from(value(v)) / 32767.0).to_ne_bytes();
                }
            }
            Storage::Shorts | Storage::Floats => {
                for (out, &v) in out.iter_mut().zip(bytes) {
                    *out = f32::from(value(v)).to_ne_bytes();
                }
            }
        }
    }
}

fn floats(bytes: &[u8], out: &mut [[u8; 4]], value: impl Fn([u8; 4]) -> u32) {
    for (out, &v) in out.iter_mut().zip(bytes.as_chunks::<4>().0) {
        *out = value(v).to_ne_bytes();
    }
}

/// Decodes a whole file in memory: its layout, and its frames one after another.
///
/// # Errors
///
/// As [`Layout::find`], and if a checksum that is to be [verified](ReadOptions::verify) is wrong.
pub fn decode(file: &[u8], options: &ReadOptions) -> Result<(Layout, Vec<f32>)> {
    let layout = Layout::find(file, file.len() as u64, options)?;
    // The layout was checked against the length, so it lies inside the file.
    let part = |start: u64, end: u64| &file[start as usize..end as usize];
    if let Some(offset) = layout.checksum_offset().filter(|_| options.verify) {
        let mut sum = Checksum::new(layout.header().order);
        sum.update(part(HEADER as u64, offset));
        let stored = part(offset, offset + 2);
        layout.compare_checksum(offset, sum.value(), [stored[0], stored[1]])?;
    }
    let decoder = Decoder::new(&layout, part(HEADER as u64, layout.data_offset()))?;
    let mut values = vec![0.0; layout.frames() as usize * layout.columns()];
    decoder.decode(part(layout.data_offset(), layout.data_end()), &mut values)?;
    Ok((layout, values))
}
