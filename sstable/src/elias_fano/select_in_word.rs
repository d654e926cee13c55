//! The position of the n-th one of a word, without special instructions.

const ONES: u64 = 0x0101_0101_0101_0101;
const HIGH_BITS: u64 = 0x8080_8080_8080_8080;

/// Position of the one of rank `rank` (from zero) in a byte, for every byte and rank; 8 where there is none.
static SELECT_IN_BYTE: [[u8; 256]; 8] = select_in_byte_table();

const fn select_in_byte_table() -> [[u8; 256]; 8] {
    let mut table = [[8; 256]; 8];
    let mut byte = 0;
    while byte < 256 {
        let (mut bit, mut rank) = (0, 0);
        while bit < 8 {
            if byte >> bit & 1 == 1 {
                table[rank][byte] = bit;
                rank += 1;
            }
            bit += 1;
        }
        byte += 1;
    }
    table
}

/// Position of the one of rank `rank`, counted from zero and the least significant bit.
///
/// `rank` must be below the number of ones (checked in debug builds; otherwise the result is some number below 128).
///
/// The prefix sums of the bytes' popcounts come from one multiplication; a comparison of all eight with the rank at
/// once finds the byte, a table the bit in it.
#[inline]
pub(super) fn select_in_word(word: u64, rank: u32) -> u32 {
    debug_assert!(rank < word.count_ones(), "rank {rank} in {word:#x}");
    let pairs = word - ((word >> 1) & (ONES * 0x55));
    let nibbles = (pairs & (ONES * 0x33)) + ((pairs >> 2) & (ONES * 0x33));
    let bytes = (nibbles + (nibbles >> 4)) & (ONES * 0x0f);
    let sums = bytes.wrapping_mul(ONES);
    let not_past = (((u64::from(rank) * ONES) | HIGH_BITS) - sums) & HIGH_BITS;
    let byte_shift = (not_past >> 7).wrapping_mul(ONES) >> 53 & 0x38;
    let ones_before = (sums << 8 >> byte_shift & 0xff) as u32;
    let byte = (word >> byte_shift & 0xff) as usize;
    byte_shift as u32 + u32::from(SELECT_IN_BYTE[((rank - ones_before) & 7) as usize][byte])
}
