//! The checksum of `_K` files.

use super::ByteOrder;

/// The modulus of the checksum.
const MODULUS: u32 = 36897;

/// The number of words to add before the next remainder.
const BLOCK: usize = 64;

/// `WEIGHTS[i]` is 65536 to the power of `BLOCK - 1 - i`, modulo [`MODULUS`].
const WEIGHTS: [u32; BLOCK] = {
    let mut weights = [1; BLOCK];
    let mut i = BLOCK - 1;
    while i > 0 {
        weights[i - 1] = weights[i] * 65536 % MODULUS;
        i -= 1;
    }
    weights
};

/// 65536 to the power of `BLOCK`.
const SHIFT: u32 = WEIGHTS[0] * 65536 % MODULUS;

/// HTK's checksum: the bytes after the header, read as one long number of 16-bit digits, modulo
/// 36897.
///
/// Digits are in the file's byte order, so the same values have another checksum in each order.
///
/// ```
/// use seqfeed_htk::param::{ByteOrder, Checksum};
///
/// let mut sum = Checksum::new(ByteOrder::Big);
/// sum.update(&[0, 1, 0]);
/// sum.update(&[2]);
/// assert_eq!(sum.value(), ((65536 + 2) % 36897) as u16);
/// ```
#[derive(Clone, Debug)]
pub struct Checksum {
    sum: u32,
    order: ByteOrder,
    /// The first byte of a word whose second byte has not come yet.
    half: Option<u8>,
}

impl Checksum {
    /// The checksum of nothing.
    #[must_use]
    pub fn new(order: ByteOrder) -> Self {
        Self { sum: 0, order, half: None }
    }

    /// Adds bytes, in parts of any length.
    pub fn update(&mut self, mut bytes: &[u8]) {
        if let Some(first) = self.half {
            let [second, rest @ ..] = bytes else { return };
            self.half = None;
            self.add_word([first, *second]);
            bytes = rest;
        }
        let (words, rest) = bytes.as_chunks::<2>();
        let (blocks, words) = words.as_chunks::<BLOCK>();
        self.sum = match self.order {
            ByteOrder::Big => add_blocks(self.sum, blocks, u16::from_be_bytes),
            ByteOrder::Little => add_blocks(self.sum, blocks, u16::from_le_bytes),
        };
        for &word in words {
            self.add_word(word);
        }
        self.half = rest.first().copied();
    }

    fn add_word(&mut self, word: [u8; 2]) {
        // No sum is too large: 65536 * 36896 + 65535 < 2^32.
        self.sum = (self.sum * 65536 + u32::from(self.order.u16(word))) % MODULUS;
    }

    /// The checksum of everything that was added. A last odd byte does not count.
    #[must_use]
    pub fn value(&self) -> u16 {
        self.sum as u16
    }
}

/// Adds many words with one remainder a block: products are below 2^32, the sum of 65 below 2^39.
fn add_blocks(sum: u32, blocks: &[[[u8; 2]; BLOCK]], word: impl Fn([u8; 2]) -> u16) -> u32 {
    blocks.iter().fold(sum, |sum, block| {
        let products = block.iter().zip(&WEIGHTS);
        let added: u64 = products.map(|(&w, &weight)| u64::from(u32::from(word(w)) * weight)).sum();
        ((u64::from(sum) * u64::from(SHIFT) + added) % u64::from(MODULUS)) as u32
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_and_pieces_make_no_difference() {
        let bytes: Vec<u8> = (0..1001_u32).map(|i| (i * i * 31 + 255 * (i & 1)) as u8).collect();
        for order in [ByteOrder::Big, ByteOrder::Little] {
            let expected = bytes
                .chunks_exact(2)
                .fold(0, |sum, w| (sum * 65536 + u32::from(order.u16([w[0], w[1]]))) % MODULUS);
            for piece in [1, 2, 3, 127, 128, 129, 1001] {
                let mut sum = Checksum::new(order);
                bytes.chunks(piece).for_each(|piece| sum.update(piece));
                assert_eq!(u32::from(sum.value()), expected, "{piece}");
            }
        }
    }

    #[test]
    fn the_largest_words_do_not_overflow() {
        let mut sum = Checksum::new(ByteOrder::Big);
        sum.update(&[255; 1 << 12]);
        assert!(u32::from(sum.value()) < MODULUS);
    }
}
