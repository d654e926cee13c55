//! Range deletes of a memtable: intervals of keys whose older records are dead.
//!
//! ```text
//! delete_range(c..f)   delete_range(e..k)   delete_range(p..)
//! keys       a  b  c  d  e  f  g  h  i  j  k  l  m  n  o  p  q  ...
//! intervals        [-----------------------)              [---------->      disjoint, and never adjacent
//! entries       b        e                                   q              newer than the interval they lie in
//! ```
//!
//! A bound is always "this key and all above": the smallest key above `k` is `k` with a zero byte, so every kind of bound
//! becomes a half-open interval. A new interval swallows those it touches, so the list never holds more intervals than there
//! are gaps between deleted stretches.
//!
//! Invariant: a range delete removes the map's entries in its interval when it is applied, and a delete of a covered key leaves no
//! entry. So an entry is newer than the interval it lies in, and a covered key without an entry is dead in this generation.
//!
//! Look-ups are O(log intervals); `clone` is O(1) and frozen for ever.

use std::ops::Bound;
use std::sync::Arc;

use super::entry::{Probe, head_of};
use crate::iter::Bounds;

/// The keys of one keyspace from `start` on, up to `end` and without it; without an end, all of them.
#[derive(Clone)]
pub(crate) struct Interval {
    keyspace: u32,
    head: u64,
    start: Arc<[u8]>,
    end: Option<Arc<[u8]>>,
}

/// Bytes an interval is taken to cost beside its bounds.
const INTERVAL_OVERHEAD_BYTES: usize = size_of::<Interval>() + 2 * 16 + 8;

impl Interval {
    /// The interval between two keys.
    pub(crate) fn new(keyspace: u32, start: &[u8], end: Option<&[u8]>) -> Interval {
        Interval {
            keyspace,
            head: head_of(start),
            start: Arc::from(start),
            end: end.map(Arc::from),
        }
    }

    /// The keys between two bounds.
    pub(crate) fn of_bounds(keyspace: u32, bounds: &Bounds) -> Interval {
        let above = |key: &[u8]| [key, &[0]].concat();
        let start = match &bounds.0 {
            Bound::Unbounded => Vec::new(),
            Bound::Included(key) => key.to_vec(),
            Bound::Excluded(key) => above(key),
        };
        let end = match &bounds.1 {
            Bound::Unbounded => None,
            Bound::Included(key) => Some(above(key)),
            Bound::Excluded(key) => Some(key.to_vec()),
        };
        Interval::new(keyspace, &start, end.as_deref())
    }

    /// Number of the keyspace.
    pub(crate) fn keyspace(&self) -> u32 {
        self.keyspace
    }

    /// The first key.
    pub(crate) fn start(&self) -> &[u8] {
        &self.start
    }

    /// The first key behind it; `None` if there is none.
    pub(crate) fn end(&self) -> Option<&[u8]> {
        self.end.as_deref()
    }

    /// Whether no key can lie in it.
    pub(crate) fn is_empty(&self) -> bool {
        self.end().is_some_and(|end| end <= self.start())
    }

    /// Whether a key of its keyspace lies in it.
    pub(crate) fn contains(&self, key: &[u8]) -> bool {
        self.start() <= key && self.ends_behind(key)
    }

    /// Whether it ends behind a key.
    pub(crate) fn ends_behind(&self, key: &[u8]) -> bool {
        self.end().is_none_or(|end| key < end)
    }

    /// Whether all keys of `first..=last` lie in it.
    pub(crate) fn covers_span(&self, first: &[u8], last: &[u8]) -> bool {
        self.start() <= first && self.ends_behind(last)
    }

    /// Whether a key of `first..=last` can lie in it.
    pub(crate) fn overlaps_span(&self, first: &[u8], last: &[u8]) -> bool {
        self.start() <= last && self.ends_behind(first)
    }

    /// Its bounds, as ranges have them.
    pub(crate) fn bounds(&self) -> (Bound<&[u8]>, Bound<&[u8]>) {
        let end = self.end().map_or(Bound::Unbounded, Bound::Excluded);
        (Bound::Included(self.start()), end)
    }

    /// Memory the interval is taken to cost, in bytes.
    fn cost_bytes(&self) -> usize {
        self.start.len() + self.end().map_or(0, <[u8]>::len) + INTERVAL_OVERHEAD_BYTES
    }

    fn as_probe(&self) -> Probe<'_> {
        Probe::of_parts(self.keyspace, self.head, &self.start)
    }
}

impl std::fmt::Debug for Interval {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: \"{}\"..", self.keyspace, self.start().escape_ascii())?;
        match self.end() {
            Some(end) => write!(f, "\"{}\"", end.escape_ascii()),
            None => Ok(()),
        }
    }
}

/// Intervals are ordered, and equal, by keyspace and start alone: a list holds disjoint ones.
impl Ord for Interval {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.as_probe().cmp(&other.as_probe())
    }
}

impl PartialOrd for Interval {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Interval {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == std::cmp::Ordering::Equal
    }
}

impl Eq for Interval {}

impl equivalent::Equivalent<Interval> for Probe<'_> {
    fn equivalent(&self, interval: &Interval) -> bool {
        *self == interval.as_probe()
    }
}

impl equivalent::Comparable<Interval> for Probe<'_> {
    fn compare(&self, interval: &Interval) -> std::cmp::Ordering {
        self.cmp(&interval.as_probe())
    }
}

/// Disjoint intervals with gaps between them, of any keyspaces.
#[derive(Clone, Debug, Default)]
pub(crate) struct Intervals {
    set: imbl::OrdSet<Interval>,
    cost_bytes: usize,
}

impl Intervals {
    /// Adds the keys of an interval, which must not be empty. O(log n) for each interval that it touches; those become one.
    pub(crate) fn insert(&mut self, added: Interval) {
        let mut united = added;
        if let Some(before) = self.at_or_before(united.keyspace, &united.start)
            && before.end().is_none_or(|end| end >= united.start())
        {
            united = Interval {
                end: later_end(&before.end, &united.end),
                ..before.clone()
            };
        }
        while let Some(touched) = self.first_from(united.keyspace, &united.start)
            && united.end().is_none_or(|end| touched.start() <= end)
        {
            let touched = touched.clone();
            united.end = later_end(&united.end, &touched.end);
            self.set.remove(&touched.as_probe());
            self.cost_bytes -= touched.cost_bytes();
        }
        self.cost_bytes += united.cost_bytes();
        self.set.insert(united);
    }

    /// Whether just this interval is in the list.
    pub(crate) fn holds(&self, interval: &Interval) -> bool {
        let held = self.set.get(&interval.as_probe());
        held.is_some_and(|held| held.end == interval.end)
    }

    /// Takes an interval out.
    pub(crate) fn remove(&mut self, interval: &Interval) {
        if let Some(removed) = self.set.remove(&interval.as_probe()) {
            self.cost_bytes -= removed.cost_bytes();
        }
    }

    /// The interval in which a key lies.
    pub(crate) fn covering(&self, keyspace: u32, key: &[u8]) -> Option<&Interval> {
        if self.set.is_empty() {
            return None;
        }
        self.at_or_before(keyspace, key)
            .filter(|interval| interval.ends_behind(key))
    }

    /// The last interval that starts at a key or before it.
    pub(crate) fn at_or_before(&self, keyspace: u32, key: &[u8]) -> Option<&Interval> {
        self.set
            .get_prev(&Probe::new(keyspace, key))
            .filter(|interval| interval.keyspace == keyspace)
    }

    /// The first interval that starts at a key or behind it.
    pub(crate) fn first_from(&self, keyspace: u32, key: &[u8]) -> Option<&Interval> {
        self.set
            .get_next(&Probe::new(keyspace, key))
            .filter(|interval| interval.keyspace == keyspace)
    }

    /// Whether one interval covers all keys of another.
    pub(crate) fn covers_whole(&self, other: &Interval) -> bool {
        let covering = self.covering(other.keyspace, other.start());
        covering.is_some_and(|interval| match (interval.end(), other.end()) {
            (None, _) => true,
            (Some(_), None) => false,
            (Some(end), Some(other_end)) => other_end <= end,
        })
    }

    /// All intervals in order: keyspace, then start.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Interval> {
        self.set.iter()
    }

    /// The first interval of any keyspace that starts behind another.
    pub(crate) fn after(&self, interval: &Interval) -> Option<&Interval> {
        let from = (Bound::Excluded(interval.as_probe()), Bound::Unbounded);
        self.set.range::<_, Probe<'_>>(from).next()
    }

    /// Whether there is none.
    pub(crate) fn is_empty(&self) -> bool {
        self.set.is_empty()
    }

    /// Number of intervals.
    pub(crate) fn len(&self) -> usize {
        self.set.len()
    }

    /// Memory they are taken to cost, in bytes.
    pub(crate) fn cost_bytes(&self) -> usize {
        self.cost_bytes
    }
}

fn later_end(a: &Option<Arc<[u8]>>, b: &Option<Arc<[u8]>>) -> Option<Arc<[u8]>> {
    match (a, b) {
        (Some(a), Some(b)) => Some(Arc::clone(if a >= b { a } else { b })),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::Rng;

    /// Keys of one byte `0..=200`, and an interval as a pair of them.
    fn interval(keyspace: u32, start: u8, end: Option<u8>) -> Interval {
        Interval::new(keyspace, &[start], end.as_ref().map(std::slice::from_ref))
    }

    #[test]
    fn agrees_with_a_table_of_flags_and_stays_disjoint() {
        for seed in 0..200 {
            let mut rng = Rng::new(seed);
            let (mut intervals, mut flags) = (Intervals::default(), [[false; 256]; 2]);
            for _ in 0..rng.below(30) {
                let keyspace = rng.below(2);
                let start = u8::try_from(rng.below(200)).expect("small");
                let end =
                    (rng.below(20) > 0).then(|| start + 1 + u8::try_from(rng.below(30)).expect("small"));
                flags[keyspace][usize::from(start)..end.map_or(256, usize::from)].fill(true);
                intervals.insert(interval(u32::try_from(keyspace).expect("small"), start, end));
            }
            for (keyspace, flags) in (0..).zip(&flags) {
                for key in 0..=255u8 {
                    let covering = intervals.covering(keyspace, &[key]);
                    assert_eq!(covering.is_some(), flags[usize::from(key)], "seed {seed}, {key}");
                    let next = intervals.first_from(keyspace, &[key]);
                    let starts = (key..=255)
                        .find(|&k| flags[usize::from(k)] && (k == 0 || !flags[usize::from(k) - 1]));
                    assert_eq!(next.map(|next| next.start()[0]), starts, "seed {seed}, {key}");
                }
            }
            let listed: Vec<&Interval> = intervals.iter().collect();
            for pair in listed
                .windows(2)
                .filter(|pair| pair[0].keyspace == pair[1].keyspace)
            {
                assert!(
                    pair[0].end().is_some_and(|end| end < pair[1].start()),
                    "seed {seed}: {listed:?}"
                );
            }
            let cost: usize = listed.iter().map(|interval| interval.cost_bytes()).sum();
            assert_eq!(
                (intervals.len(), intervals.cost_bytes()),
                (listed.len(), cost),
                "seed {seed}"
            );
        }
    }

    #[test]
    fn every_kind_of_bound_becomes_the_same_keys() {
        use std::ops::RangeBounds;
        let keys: [&[u8]; 7] = [b"", b"\0", b"a", b"a\0", b"a\0\0", b"b", b"\xff"];
        let mut bounds: Vec<Bound<crate::Key>> = vec![Bound::Unbounded];
        for key in keys {
            bounds.extend([Bound::Included(key.into()), Bound::Excluded(key.into())]);
        }
        for lower in &bounds {
            for upper in &bounds {
                let interval = Interval::of_bounds(0, &(lower.clone(), upper.clone()));
                let slices = (
                    crate::key::bound_as_slice(lower),
                    crate::key::bound_as_slice(upper),
                );
                for key in keys {
                    assert_eq!(
                        interval.contains(key),
                        slices.contains(key),
                        "{lower:?} {upper:?} {key:?}"
                    );
                }
                if crate::key::bounds_are_empty(lower, upper) {
                    assert!(interval.is_empty(), "{interval:?}");
                }
            }
        }
    }

    #[test]
    fn coalesces_what_touches_and_knows_what_it_covers() {
        let mut intervals = Intervals::default();
        for start in (0..100).step_by(2) {
            intervals.insert(interval(0, start, Some(start + 1)));
        }
        assert_eq!(intervals.len(), 50);
        intervals.insert(interval(1, 0, None));
        intervals.insert(interval(0, 10, Some(50)));
        assert_eq!(intervals.len(), 5 + 1 + 24 + 1);
        assert!(
            intervals.covers_whole(&interval(0, 10, Some(51)))
                && intervals.covers_whole(&interval(1, 7, None))
        );
        assert!(
            !intervals.covers_whole(&interval(0, 10, Some(52)))
                && !intervals.covers_whole(&interval(0, 10, None))
        );
        intervals.insert(interval(0, 0, None));
        assert_eq!(intervals.len(), 2);
        assert!(intervals.holds(&interval(0, 0, None)) && !intervals.holds(&interval(0, 0, Some(9))));
        intervals.remove(&interval(0, 0, None));
        intervals.remove(&interval(0, 5, None));
        assert_eq!(
            (intervals.len(), intervals.covering(0, &[3]).is_some()),
            (1, false)
        );
    }
}
