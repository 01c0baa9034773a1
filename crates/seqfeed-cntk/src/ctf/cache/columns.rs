//! A compact form of sequences: blocks of columns.
//!
//! ```text
//! block    256 sequences; the last one has what is left
//!          for each of the 4 columns: width:u8 low:u64
//!          for each of the 4 columns: its values less low, each in width (0, 1, 2, 4 or 8) bytes
//! columns  key less the key before; gap to the end of the sequence before; bytes; samples
//! ```
//!
//! All numbers are little-endian, and differences wrap around. Values of one width are unpacked
//! several at a time. This would not be possible if each value had its own length.

use crate::ctf::CtfSequence;

/// The number of sequences that share widths.
const BLOCK: usize = 256;

/// Key, gap, bytes, samples.
const COLUMNS: usize = 4;

/// Bytes before a block's values.
const HEAD: usize = COLUMNS * 9;

type Columns = [[u64; BLOCK]; COLUMNS];

/// The reason why sequences cannot be written, or are not accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Implausible {
    /// The bytes end too early.
    End,
    /// The width is not a possible one.
    Width,
    /// A sequence has no bytes or no samples, lies outside the file, or overlaps the one before.
    Sequence,
}

/// Appends sequences. They must follow one another inside a file of `file_bytes`.
pub(super) fn encode(
    sequences: &[CtfSequence],
    file_bytes: u64,
    out: &mut Vec<u8>,
) -> Result<(), Implausible> {
    let mut columns = [[0; BLOCK]; COLUMNS];
    let (mut key, mut end) = (0, 0);
    for block in sequences.chunks(BLOCK) {
        for (i, sequence) in block.iter().enumerate() {
            let gap = sequence.offset.checked_sub(end).ok_or(Implausible::Sequence)?;
            end = sequence
                .offset
                .checked_add(sequence.bytes.into())
                .filter(|&end| end <= file_bytes && sequence.bytes > 0 && sequence.samples > 0)
                .ok_or(Implausible::Sequence)?;
            columns[0][i] = sequence.key.wrapping_sub(key);
            columns[1][i] = gap;
            columns[2][i] = sequence.bytes.into();
            columns[3][i] = sequence.samples.into();
            key = sequence.key;
        }
        write_block(&mut columns, block.len(), out);
    }
    Ok(())
}

fn write_block(columns: &mut Columns, len: usize, out: &mut Vec<u8>) {
    let mut widths = [0; COLUMNS];
    for (column, width) in columns.iter_mut().zip(&mut widths) {
        let column = &mut column[..len];
        // Differences of keys may be negative.
        let low = column.iter().map(|&value| value as i64).min().unwrap_or(0) as u64;
        let mut all = 0;
        for value in column {
            *value = value.wrapping_sub(low);
            all |= *value;
        }
        *width = match all {
            0 => 0,
            1..=0xff => 1,
            0x100..=0xffff => 2,
            0x1_0000..=0xffff_ffff => 4,
            _ => 8,
        };
        out.push(*width);
        out.extend_from_slice(&low.to_le_bytes());
    }
    for (column, width) in columns.iter().zip(widths) {
        let column = &column[..len];
        match width {
            0 => {}
            1 => out.extend(column.iter().map(|&value| value as u8)),
            2 => out.extend(column.iter().flat_map(|&value| (value as u16).to_le_bytes())),
            4 => out.extend(column.iter().flat_map(|&value| (value as u32).to_le_bytes())),
            _ => out.extend(column.iter().flat_map(|&value| value.to_le_bytes())),
        }
    }
}

/// The fewest bytes that `count` sequences take.
pub(super) fn least_bytes(count: u64) -> u64 {
    count.div_ceil(BLOCK as u64).saturating_mul(HEAD as u64)
}

/// Reads `count` sequences of a file of `file_bytes`. Returns them and the bytes after them. A
/// sequence takes memory only when its bytes have been read.
pub(super) fn decode(
    mut bytes: &[u8],
    count: usize,
    file_bytes: u64,
) -> Result<(Vec<CtfSequence>, &[u8]), Implausible> {
    let mut sequences = Vec::with_capacity(count);
    let mut columns = [[0; BLOCK]; COLUMNS];
    let (mut key, mut end) = (0_u64, 0_u64);
    while sequences.len() < count {
        let len = BLOCK.min(count - sequences.len());
        let lows;
        (lows, bytes) = read_block(bytes, len, &mut columns)?;
        let [keys, gaps, sizes, samples] = &columns;
        let mut good = true;
        sequences.extend((0..len).map(|i| {
            key = key.wrapping_add(lows[0]).wrapping_add(keys[i]);
            let gap = lows[1].wrapping_add(gaps[i]);
            let size = lows[2].wrapping_add(sizes[i]);
            let samples = lows[3].wrapping_add(samples[i]);
            let offset = end.wrapping_add(gap);
            // After an error the rest of the block may be nonsense. It is thrown away.
            good &= gap <= file_bytes - end.min(file_bytes)
                && size <= file_bytes.wrapping_sub(offset)
                && size.wrapping_sub(1) < u64::from(u32::MAX)
                && samples.wrapping_sub(1) < u64::from(u32::MAX);
            end = offset.wrapping_add(size);
            CtfSequence { key, offset, bytes: size as u32, samples: samples as u32 }
        }));
        if !good {
            return Err(Implausible::Sequence);
        }
    }
    Ok((sequences, bytes))
}

/// The values of a block, less the lowest one, and the lowest one.
fn read_block<'a>(
    bytes: &'a [u8],
    len: usize,
    columns: &mut Columns,
) -> Result<([u64; COLUMNS], &'a [u8]), Implausible> {
    let (head, mut bytes) = bytes.split_first_chunk::<HEAD>().ok_or(Implausible::End)?;
    let mut lows = [0; COLUMNS];
    let (heads, _) = head.as_chunks::<9>();
    for ((column, head), low) in columns.iter_mut().zip(heads).zip(&mut lows) {
        let [width, bytes_of_low @ ..] = *head;
        *low = u64::from_le_bytes(bytes_of_low);
        let values = bytes.get(..len * usize::from(width)).ok_or(Implausible::End)?;
        bytes = &bytes[values.len()..];
        let column = &mut column[..len];
        match width {
            0 => column.fill(0),
            1 => unpack(column, values.as_chunks().0, u8::from_le_bytes),
            2 => unpack(column, values.as_chunks().0, u16::from_le_bytes),
            4 => unpack(column, values.as_chunks().0, u32::from_le_bytes),
            8 => unpack(column, values.as_chunks().0, u64::from_le_bytes),
            _ => return Err(Implausible::Width),
        }
    }
    Ok((lows, bytes))
}

#[inline]
fn unpack<const N: usize, T: Into<u64>>(
    column: &mut [u64],
    values: &[[u8; N]],
    value: impl Fn([u8; N]) -> T,
) {
    for (out, bytes) in column.iter_mut().zip(values) {
        *out = value(*bytes).into();
    }
}
