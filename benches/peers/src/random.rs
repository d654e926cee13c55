//! Random numbers whose seeds stay seeds, orders that visit every number once, and skewed choices.

/// A good hash of 64 bits (the finaliser of SplitMix64).
#[inline]
pub(crate) fn mix(number: u64) -> u64 {
    let mut hash = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    hash = (hash ^ (hash >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    hash = (hash ^ (hash >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    hash ^ (hash >> 31)
}

/// SplitMix64.
#[derive(Clone, Debug)]
pub(crate) struct Random {
    state: u64,
}

impl Random {
    pub(crate) fn new(seed: u64) -> Random {
        Random { state: mix(seed) }
    }

    #[inline]
    pub(crate) fn next(&mut self) -> u64 {
        let number = mix(self.state);
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        number
    }

    /// A number below `end`.
    #[inline]
    pub(crate) fn below(&mut self, end: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(end)) >> 64) as u64
    }
}

/// Every number below `len` once, in random order and without a table: a Feistel network of four rounds over the next
/// larger power of four, asked again where it leaves the range.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Order {
    len: u64,
    half_bits: u32,
    seed: u64,
}

impl Order {
    pub(crate) fn new(len: u64, seed: u64) -> Order {
        let bits = u64::BITS - len.saturating_sub(1).leading_zeros();
        Order {
            len,
            half_bits: bits.div_ceil(2).max(1),
            seed: mix(seed),
        }
    }

    #[inline]
    pub(crate) fn at(&self, index: u64) -> u64 {
        let mask = (1 << self.half_bits) - 1;
        let mut number = index;
        loop {
            let (mut left, mut right) = (number >> self.half_bits, number & mask);
            for round in 0..4 {
                let hash = (right ^ self.seed.rotate_left(round * 16)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
                (left, right) = (
                    right,
                    left ^ ((hash ^ hash >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 32 & mask),
                );
            }
            number = left << self.half_bits | right;
            if number < self.len {
                return number;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_order_visits_every_number_once() {
        for len in [1, 2, 3, 10, 1_000, 4_097] {
            let mut visited: Vec<u64> = (0..len).map(|index| Order::new(len, 5).at(index)).collect();
            visited.sort_unstable();
            assert!(visited.iter().copied().eq(0..len));
        }
    }
}
