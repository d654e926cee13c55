//! Dead sets: which records of a table were deleted since it was written.
//!
//! ```text
//! in memory    OrdinalBitmap, one bit a record, shared and never changed: a new version holds a new bitmap
//! in manifest  roaring's portable form, as what was added (an edit) or as the whole (a snapshot)
//! ```
//!
//! A set belongs to one table number for ever and only grows, by union.

use std::ops::Range;
use std::sync::Arc;

use roaring::RoaringTreemap;
use tephra_sstable::ordinal_bitmap::OrdinalBitmap;

/// A table's dead ordinals; `None` stands for an empty set, which most tables have.
pub(crate) type DeadSet = Option<Arc<OrdinalBitmap>>;

/// The union of a set with further ordinals, all below `record_count`. Costs a copy of the bitmap.
pub(crate) fn with_added(dead: &DeadSet, record_count: u64, added: &RoaringTreemap) -> DeadSet {
    if added.is_empty() {
        return dead.clone();
    }
    let mut bitmap = match dead {
        Some(bitmap) => OrdinalBitmap::clone(bitmap),
        None => OrdinalBitmap::new(record_count),
    };
    for run in runs_of(added) {
        bitmap.insert_range(run);
    }
    Some(Arc::new(bitmap))
}

/// The runs of consecutive ordinals of a set, in order. Costs a step a run, not one an ordinal.
pub(crate) fn runs_of(ordinals: &RoaringTreemap) -> impl Iterator<Item = Range<u64>> {
    ordinals.bitmaps().flat_map(|(high, bitmap)| {
        let mut iter = bitmap.iter();
        std::iter::from_fn(move || iter.next_range()).map(move |run| {
            let base = u64::from(high) << 32;
            base + u64::from(*run.start())..base + u64::from(*run.end()) + 1
        })
    })
}

/// The runs of live ordinals in a range. Costs a step a run and one for 64 dead records.
pub(crate) fn live_runs(dead: &DeadSet, ordinals: Range<u64>) -> impl Iterator<Item = Range<u64>> {
    let mut rest = ordinals;
    std::iter::from_fn(move || {
        let start = next_live(dead, rest.clone())?;
        let end = match dead {
            None => rest.end,
            Some(bitmap) => bitmap.next_dead(start).min(rest.end),
        };
        rest.start = end;
        Some(start..end)
    })
}

/// Those ordinals of a set that are alive.
pub(crate) fn live_part(dead: &DeadSet, ordinals: &RoaringTreemap) -> RoaringTreemap {
    let mut live = RoaringTreemap::new();
    for run in runs_of(ordinals).flat_map(|run| live_runs(dead, run)) {
        live.insert_range(run);
    }
    live
}

/// Number of dead records.
pub(crate) fn dead_count(dead: &DeadSet) -> u64 {
    dead.as_ref().map_or(0, |bitmap| bitmap.dead_count())
}

/// Whether a record is dead.
pub(crate) fn is_dead(dead: &DeadSet, ordinal: u64) -> bool {
    dead.as_ref().is_some_and(|bitmap| bitmap.contains(ordinal))
}

/// The ordinals of a range that are dead now and were alive in an earlier state of the same set.
pub(crate) fn added_since(
    earlier: &DeadSet,
    now: &DeadSet,
    ordinals: Range<u64>,
) -> impl Iterator<Item = u64> {
    let next_dead = move |from: u64| {
        let next = now.as_ref().map_or(ordinals.end, |bitmap| bitmap.next_dead(from));
        (next < ordinals.end).then_some(next)
    };
    std::iter::successors(next_dead(ordinals.start), move |&ordinal| next_dead(ordinal + 1))
        .filter(|&ordinal| !is_dead(earlier, ordinal))
}

/// The first ordinal of a range that is alive.
pub(crate) fn next_live(dead: &DeadSet, ordinals: Range<u64>) -> Option<u64> {
    let next = match dead {
        None => ordinals.start,
        Some(bitmap) => bitmap.next_live(ordinals.start),
    };
    (next < ordinals.end).then_some(next)
}

/// The last ordinal of a range that is alive.
pub(crate) fn previous_live(dead: &DeadSet, ordinals: Range<u64>) -> Option<u64> {
    let found = match dead {
        None => ordinals.end.checked_sub(1)?,
        Some(bitmap) => bitmap.previous_live(ordinals.end)?,
    };
    (found >= ordinals.start).then_some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_grow_by_union_and_leave_the_older_value_alone() {
        let first = with_added(&None, 100, &[3, 99].into_iter().collect());
        let second = with_added(&first, 100, &[3, 64].into_iter().collect());
        assert_eq!(
            (dead_count(&None), dead_count(&first), dead_count(&second)),
            (0, 2, 3)
        );
        assert!(is_dead(&second, 64) && !is_dead(&first, 64) && !is_dead(&None, 3));
        let added = |earlier, now, ordinals| added_since(earlier, now, ordinals).collect::<Vec<u64>>();
        assert_eq!(added(&first, &second, 0..100), [64]);
        assert_eq!(added(&None, &first, 0..100), [3, 99]);
        assert_eq!(added(&None, &first, 4..99), [0; 0]);
        assert_eq!(added(&second, &None, 0..100), [0; 0]);
    }

    #[test]
    fn runs_and_their_live_parts_are_exact() {
        let mut set = RoaringTreemap::new();
        set.insert_range(5..70_000);
        set.insert(70_001);
        set.insert_range((1 << 32) - 2..(1 << 32) + 3);
        let runs: Vec<Range<u64>> = runs_of(&set).collect();
        let high = 1 << 32;
        assert_eq!(runs, [5..70_000, 70_001..70_002, high - 2..high, high..high + 3]);
        let small: RoaringTreemap = (0..90).collect();
        let dead = with_added(&None, 100, &[0, 1, 50, 89].into_iter().collect());
        let live: Vec<u64> = live_part(&dead, &small).into_iter().collect();
        let expected: Vec<u64> = (2..89).filter(|&ordinal| ordinal != 50).collect();
        assert_eq!(live, expected);
        assert!(live_runs(&dead, 10..10).next().is_none() && live_part(&None, &small) == small);
    }

    #[test]
    fn live_ordinals_are_found_in_both_directions() {
        let dead: Vec<u64> = (0..300).filter(|n| (10..200).contains(n) || n % 3 == 0).collect();
        let set = with_added(&None, 300, &dead.iter().copied().collect());
        for start in 0..300 {
            for end in [start, start + 1, 64, 128, 191, 201, 299, 300] {
                let live: Vec<u64> = (start..end).filter(|ordinal| !dead.contains(ordinal)).collect();
                assert_eq!(
                    next_live(&set, start..end),
                    live.first().copied(),
                    "{start}..{end}"
                );
                assert_eq!(
                    previous_live(&set, start..end),
                    live.last().copied(),
                    "{start}..{end}"
                );
                assert_eq!(next_live(&None, start..end), (start < end).then_some(start));
                assert_eq!(previous_live(&None, start..end), (start < end).then(|| end - 1));
            }
        }
    }
}
