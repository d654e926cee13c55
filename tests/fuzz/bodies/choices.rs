//! Bytes as choices: what a fuzzer, or a seed, decides.

/// Choices; zeros behind their end.
pub(crate) struct Choices<'b> {
    bytes: &'b [u8],
}

impl<'b> Choices<'b> {
    pub(crate) fn new(bytes: &'b [u8]) -> Self {
        Choices { bytes }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    pub(crate) fn next(&mut self) -> u8 {
        let Some((&first, rest)) = self.bytes.split_first() else {
            return 0;
        };
        self.bytes = rest;
        first
    }

    /// Whether to do something that is to be done one time in so many.
    pub(crate) fn one_in(&mut self, times: u8) -> bool {
        self.next().is_multiple_of(times)
    }

    pub(crate) fn below(&mut self, end: usize) -> usize {
        (usize::from(self.next()) << 8 | usize::from(self.next())) % end.max(1)
    }

    /// A number of any size: small ones and extremes are likely.
    pub(crate) fn number(&mut self) -> u64 {
        let by = u64::from(self.next());
        match self.next() % 6 {
            0 | 1 => by,
            2 => by << 8 | u64::from(self.next()),
            3 => u64::MAX - by,
            4 => 1 << (by % 64),
            _ => (0..8).fold(by, |number, _| number << 8 | u64::from(self.next())),
        }
    }

    pub(crate) fn take(&mut self, len: usize) -> Vec<u8> {
        (0..len).map(|_| self.next()).collect()
    }

    /// Changes bytes of a file in a few places, or its length.
    pub(crate) fn mutate(&mut self, file: &mut Vec<u8>) {
        for _ in 0..1 + self.next() % 4 {
            let (at, how) = (self.below(file.len()), self.next());
            match (how % 8, file.get_mut(at)) {
                (_, None) => {}
                (0..=3, Some(byte)) => *byte ^= 1 << (how >> 5),
                (4, Some(byte)) => *byte = self.next(),
                (5, Some(_)) => {
                    let number = self.number().to_le_bytes();
                    file.iter_mut()
                        .skip(at)
                        .zip(number)
                        .for_each(|(byte, new)| *byte = new);
                }
                (6, Some(_)) => file.truncate(at),
                (_, Some(_)) => {
                    let end = (at + 1 + self.below(600)).min(file.len());
                    file[at..end].fill(0);
                }
            }
        }
    }
}
