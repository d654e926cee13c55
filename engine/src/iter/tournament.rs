//! Which of several sources stands on the next key: a tournament in which a key is compared with another only from where
//! both leave the last one.
//!
//! ```text
//! last key   a s h
//! source 0   a s h e s      3 bytes in common with it, then "es"     the most in common comes next, in either direction:
//! source 1   a t o l l      1, then "toll"                           what has less in common has left the last key earlier
//! source 2   a u g i t e    1, then "ugite"                          equally much: the bytes behind it decide
//!
//!            winner: 0
//!            /      \
//!       loser: 1     ...         a loser remembers how it stands to the key that beat it
//! ```
//!
//! When the winner moves on, how its new key stands to the old one is known, and everybody on its way up the tree was
//! beaten by that old key: so two integers a level, what is in common and the seven bytes behind it, tell who is next, and keys are
//! compared only where these are equal. Keys that are equal meet once; the newer source, that of the lower index, wins.

use std::cmp::Ordering;

use tephra_sstable::{Byte, Unit as _};

use super::direction::Direction;

/// A source, and how its key stands to the last winner's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Standing {
    source: usize,
    /// One more than the bytes that its key has in common with the key that last won; 0 behind the source's end.
    code: usize,
    /// What comes behind these.
    next: NextBytes,
}

/// The next seven bytes of a key, most significant first and zeros behind its end, then how many there are. Ordered as the strings are
/// that it has of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct NextBytes(u64);

impl NextBytes {
    /// Most bytes that are kept.
    const MAX: usize = 7;

    fn of(key: &[u8], from: usize) -> Self {
        let rest = &key[from..];
        let (bytes, count) = match rest.first_chunk::<8>() {
            Some(bytes) => (*bytes, Self::MAX),
            None => {
                let mut bytes = [0; 8];
                bytes[..rest.len()].copy_from_slice(rest);
                (bytes, rest.len())
            }
        };
        NextBytes(u64::from_be_bytes(bytes) & !0xff | count as u64)
    }

    fn count(self) -> usize {
        (self.0 & 0xff) as usize
    }

    /// How many bytes two that differ have in common.
    fn common_with(self, other: Self) -> usize {
        let same = (self.0 ^ other.0).leading_zeros() as usize / 8;
        same.min(self.count()).min(other.count())
    }
}

/// See the head of the file.
#[derive(Debug)]
pub(super) struct Tournament {
    direction: Direction,
    /// The winner, then the losers of nodes 1 to `len - 1`; node `n` is the parent of `2 n` and `2 n + 1`, source `i` is the leaf
    /// `len + i`.
    nodes: Vec<Standing>,
}

impl Tournament {
    /// A tournament of sources that each stand on a key, or behind their end. `key` gives it. One comparison a source.
    pub(super) fn new<'k>(
        direction: Direction,
        source_count: usize,
        key: &impl Fn(usize) -> Option<&'k [u8]>,
    ) -> Self {
        let mut tournament = Tournament {
            direction,
            nodes: vec![Standing::at_end(0); source_count],
        };
        if source_count > 0 {
            tournament.nodes[0] = tournament.play_below(1, key);
        }
        tournament
    }

    /// The source that stands on the next key, and how many bytes of it the last winner's key had; `None` when all are at their
    /// ends.
    pub(super) fn winner(&self) -> Option<(usize, usize)> {
        let winner = self.nodes.first()?;
        Some((winner.source, winner.code.checked_sub(1)?))
    }

    /// The winner has moved on. Its new key has `common_len_bytes` bytes in common with the old one; `None` behind its end.
    pub(super) fn replay<'k>(
        &mut self,
        common_len_bytes: Option<usize>,
        key: &impl Fn(usize) -> Option<&'k [u8]>,
    ) {
        let source = self.nodes[0].source;
        let mut winner = match (common_len_bytes, key(source)) {
            (Some(len), Some(key)) => Standing::new(source, key, len),
            _ => Standing::at_end(source),
        };
        let mut node = (self.nodes.len() + winner.source) / 2;
        while node > 0 {
            let (next, loser) = self.play(winner, self.nodes[node], key);
            self.nodes[node] = loser;
            winner = next;
            node /= 2;
        }
        self.nodes[0] = winner;
    }

    /// Plays everything below a node, and tells who wins.
    fn play_below<'k>(&mut self, node: usize, key: &impl Fn(usize) -> Option<&'k [u8]>) -> Standing {
        if let Some(source) = node.checked_sub(self.nodes.len()) {
            return key(source).map_or(Standing::at_end(source), |key| Standing::new(source, key, 0));
        }
        let (left, right) = (self.play_below(2 * node, key), self.play_below(2 * node + 1, key));
        let (winner, loser) = self.play(left, right, key);
        self.nodes[node] = loser;
        winner
    }

    /// The winner of two, as it stood; the loser, as it stands to the winner.
    #[inline]
    fn play<'k>(
        &self,
        a: Standing,
        b: Standing,
        key: &impl Fn(usize) -> Option<&'k [u8]>,
    ) -> (Standing, Standing) {
        match a.code.cmp(&b.code) {
            Ordering::Greater => (a, b),
            Ordering::Less => (b, a),
            Ordering::Equal if a.code == 0 => (a, b),
            Ordering::Equal => {
                let keys = key(a.source).zip(key(b.source));
                let (key_a, key_b) = keys.expect("a source with a code stands on a key");
                let from = a.code - 1;
                let (same, order) = if a.next == b.next {
                    compare_from(key_a, key_b, from + a.next.count())
                } else {
                    (from + a.next.common_with(b.next), a.next.cmp(&b.next))
                };
                let order = match self.direction {
                    Direction::Forward => order,
                    Direction::Backward => order.reverse(),
                };
                match order.then(a.source.cmp(&b.source)) {
                    Ordering::Less => (a, Standing::new(b.source, key_b, same)),
                    _ => (b, Standing::new(a.source, key_a, same)),
                }
            }
        }
    }
}

/// How many bytes two keys have in common that agree before `from`, and their order.
#[inline(never)]
fn compare_from(a: &[u8], b: &[u8], from: usize) -> (usize, Ordering) {
    let same = from + common_len_bytes(&a[from..], &b[from..]);
    (same, a[same..].cmp(&b[same..]))
}

impl Standing {
    /// A source whose key has so many bytes in common with the key that it stands to.
    fn new(source: usize, key: &[u8], common_len_bytes: usize) -> Self {
        Standing {
            source,
            code: common_len_bytes + 1,
            next: NextBytes::of(key, common_len_bytes),
        }
    }

    fn at_end(source: usize) -> Self {
        Standing {
            source,
            code: 0,
            next: NextBytes::default(),
        }
    }
}

/// How many bytes two keys have in common.
pub(super) fn common_len_bytes(a: &[u8], b: &[u8]) -> usize {
    usize_of(Byte::lcp(a, b))
}

fn usize_of(len: u64) -> usize {
    usize::try_from(len).expect("a length in memory")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::Rng;

    /// Merges lists by a tournament; gives the keys with the sources they came from.
    fn merged(lists: &[Vec<Vec<u8>>], direction: Direction) -> Vec<(Vec<u8>, usize)> {
        let mut places = vec![0; lists.len()];
        let key = |places: &[usize], source: usize| lists[source].get(places[source]).map(Vec::as_slice);
        let mut tournament = Tournament::new(direction, lists.len(), &|source| key(&places, source));
        let mut out: Vec<(Vec<u8>, usize)> = Vec::new();
        while let Some((source, common)) = tournament.winner() {
            let won = key(&places, source).expect("the winner stands on a key").to_vec();
            let last = out.last().map_or(&[][..], |(key, _)| key);
            assert_eq!(
                common,
                common_len_bytes(&won, last),
                "what the winner has in common with the last key"
            );
            places[source] += 1;
            let next = key(&places, source).map(|next| common_len_bytes(next, &won));
            out.push((won, source));
            tournament.replay(next, &|source| key(&places, source));
        }
        out
    }

    #[test]
    fn lists_merge_in_order_newest_first_in_both_directions() {
        for seed in 0..300 {
            let mut rng = Rng::new(seed);
            let lists: Vec<Vec<Vec<u8>>> = (0..rng.below(9))
                .map(|_| {
                    let mut list: Vec<Vec<u8>> = (0..rng.below(30))
                        .map(|_| {
                            // Zero bytes, ends and long common runs are what next bytes could take for one another.
                            let mut key = vec![b'a'; if rng.below(3) == 0 { rng.below(12) } else { 0 }];
                            key.extend((0..rng.below(6)).map(|_| [0, b'a', b'b', 0xff][rng.below(4)]));
                            key
                        })
                        .collect();
                    list.sort();
                    list.dedup();
                    list
                })
                .collect();
            for direction in [Direction::Forward, Direction::Backward] {
                let walked: Vec<Vec<Vec<u8>>> = lists
                    .iter()
                    .map(|list| match direction {
                        Direction::Forward => list.clone(),
                        Direction::Backward => list.iter().rev().cloned().collect(),
                    })
                    .collect();
                let mut expected: Vec<(Vec<u8>, usize)> = walked
                    .iter()
                    .enumerate()
                    .flat_map(|(source, list)| list.iter().map(move |key| (key.clone(), source)))
                    .collect();
                expected.sort_by(|a, b| direction.compare(&a.0, &b.0).then(a.1.cmp(&b.1)));
                assert_eq!(merged(&walked, direction), expected, "seed {seed}, {direction:?}");
            }
        }
    }
}
