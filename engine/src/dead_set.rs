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
    for ordinal in added {
        bitmap.insert(ordinal);
    }
    Some(Arc::new(bitmap))
}

/// Number of dead records.
pub(crate) fn dead_count(dead: &DeadSet) -> u64 {
    dead.as_ref().map_or(0, |bitmap| bitmap.dead_count())
}

/// Whether a record is dead.
pub(crate) fn is_dead(dead: &DeadSet, ordinal: u64) -> bool {
    dead.as_ref().is_some_and(|bitmap| bitmap.contains(ordinal))
}

/// The ordinals that are dead now and were alive in an earlier state of the same set.
pub(crate) fn added_since(earlier: &DeadSet, now: &DeadSet) -> Vec<u64> {
    match now {
        None => Vec::new(),
        Some(bitmap) => bitmap
            .iter()
            .filter(|&ordinal| !is_dead(earlier, ordinal))
            .collect(),
    }
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
        assert_eq!(added_since(&first, &second), [64]);
        assert_eq!(added_since(&None, &first), [3, 99]);
        assert_eq!(added_since(&second, &None), [0; 0]);
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
