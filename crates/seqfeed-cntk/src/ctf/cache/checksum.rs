//! XXH64: a fast 64-bit checksum, by its published specification.

const PRIMES: [u64; 5] = [
    0x9e37_79b1_85eb_ca87,
    0xc2b2_ae3d_27d4_eb4f,
    0x1656_67b1_9e37_79f9,
    0x85eb_ca77_c2b2_ae63,
    0x27d4_eb2f_1656_67c5,
];

/// The bytes that are processed at once: four words, one for each lane.
const STRIPE: usize = 32;

/// The checksum of some bytes. The seed is the checksum of the bytes before them, or 0.
pub(crate) fn checksum(bytes: &[u8], seed: u64) -> u64 {
    let (stripes, mut rest) = bytes.as_chunks::<STRIPE>();
    let mut hash = seed.wrapping_add(PRIMES[4]);
    if !stripes.is_empty() {
        let mut lanes = [
            seed.wrapping_add(PRIMES[0]).wrapping_add(PRIMES[1]),
            seed.wrapping_add(PRIMES[1]),
            seed,
            seed.wrapping_sub(PRIMES[0]),
        ];
        for stripe in stripes {
            let (words, _) = stripe.as_chunks::<8>();
            for (lane, word) in lanes.iter_mut().zip(words) {
                *lane = round(*lane, u64::from_le_bytes(*word));
            }
        }
        hash = (lanes[0].rotate_left(1))
            .wrapping_add(lanes[1].rotate_left(7))
            .wrapping_add(lanes[2].rotate_left(12))
            .wrapping_add(lanes[3].rotate_left(18));
        for lane in lanes {
            hash = (hash ^ round(0, lane)).wrapping_mul(PRIMES[0]).wrapping_add(PRIMES[3]);
        }
    }
    hash = hash.wrapping_add(bytes.len() as u64);
    while let Some((word, behind)) = rest.split_first_chunk() {
        hash = (hash ^ round(0, u64::from_le_bytes(*word))).rotate_left(27);
        hash = hash.wrapping_mul(PRIMES[0]).wrapping_add(PRIMES[3]);
        rest = behind;
    }
    if let Some((word, behind)) = rest.split_first_chunk() {
        let word = u64::from(u32::from_le_bytes(*word));
        hash = (hash ^ word.wrapping_mul(PRIMES[0])).rotate_left(23);
        hash = hash.wrapping_mul(PRIMES[1]).wrapping_add(PRIMES[2]);
        rest = behind;
    }
    for &byte in rest {
        hash = (hash ^ u64::from(byte).wrapping_mul(PRIMES[4])).rotate_left(11);
        hash = hash.wrapping_mul(PRIMES[0]);
    }
    hash = (hash ^ hash >> 33).wrapping_mul(PRIMES[1]);
    hash = (hash ^ hash >> 29).wrapping_mul(PRIMES[2]);
    hash ^ hash >> 32
}

fn round(lane: u64, word: u64) -> u64 {
    lane.wrapping_add(word.wrapping_mul(PRIMES[1])).rotate_left(31).wrapping_mul(PRIMES[0])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gives_what_the_reference_implementation_gives() {
        let bytes: Vec<u8> = (0..=255).collect();
        let cases = [
            (0, 0, 0xef46_db37_51d8_e999),
            (1, 77, 0xe7ab_ed67_aeee_60e8),
            (4, 0, 0xffce_d860_4453_cc1e),
            (7, 77, 0x2cfc_22cf_7ce3_4cfd),
            (8, 0, 0x884a_1736_14b8_1b8d),
            (31, 77, 0xbb72_cd93_ac33_adcf),
            (32, 0, 0xcbf5_9c51_16ff_32b4),
            (63, 77, 0x2a50_a490_bc0a_6d2d),
            (100, 0, 0x6ac1_e580_3216_6597),
            (256, 77, 0x2bf3_053f_9b06_4636),
        ];
        for (len, seed, expected) in cases {
            assert_eq!(checksum(&bytes[..len], seed), expected, "{len} bytes");
        }
    }
}
