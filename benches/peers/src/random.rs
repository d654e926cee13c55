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

/// Ranks below `len`, small ones far more often: the Zipfian choice of the YCSB workloads, with its constant 0.99.
#[derive(Clone, Debug)]
pub(crate) struct Zipfian {
    len: f64,
    alpha: f64,
    zeta: f64,
    eta: f64,
}

impl Zipfian {
    const THETA: f64 = 0.99;

    /// Takes some 30 ns a rank.
    pub(crate) fn new(len: u64) -> Zipfian {
        let zeta_of = |len: u64| {
            (1..=len)
                .map(|rank| (rank as f64).powf(-Self::THETA))
                .sum::<f64>()
        };
        let zeta = zeta_of(len);
        let eta = (1.0 - (2.0 / len as f64).powf(1.0 - Self::THETA)) / (1.0 - zeta_of(2) / zeta);
        Zipfian {
            len: len as f64,
            alpha: 1.0 / (1.0 - Self::THETA),
            zeta,
            eta,
        }
    }

    pub(crate) fn rank(&self, random: &mut Random) -> u64 {
        let uniform = (random.next() >> 11) as f64 / (1_u64 << 53) as f64;
        let scaled = uniform * self.zeta;
        if scaled < 1.0 {
            return 0;
        }
        if scaled < 1.0 + 0.5_f64.powf(Self::THETA) {
            return 1;
        }
        let rank = self.len * (self.eta * uniform - self.eta + 1.0).powf(self.alpha);
        (rank as u64).min(self.len as u64 - 1)
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

    #[test]
    fn small_ranks_are_chosen_most() {
        let zipfian = Zipfian::new(1_000);
        let mut random = Random::new(3);
        let mut counts = [0_u32; 1_000];
        for _ in 0..100_000 {
            counts[zipfian.rank(&mut random) as usize] += 1;
        }
        // The first of 1,000 ranks has a share of 1 / zeta(1,000) = 13 %.
        assert!((11_000..15_000).contains(&counts[0]), "{}", counts[0]);
        assert!(counts[0] > counts[9] && counts[9] > counts[500]);
    }
}
