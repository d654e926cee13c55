//! Range deletes that were flushed while compactions ran, kept until those have ended.
//!
//! ```text
//! edits           41      42          43           44
//! flushes                 delete c..f              delete k..m
//! compaction A    started at 41 ------------------------------------>  concerned by both
//! compaction B                        started at 43 ---------------->  by the second
//! ```
//!
//! A compaction asks for those flushed by later edits than the one it started at, and deletes their keys in its outputs: exact,
//! because the outputs hold only what its inputs held then. With no compaction running nothing is kept.

use std::sync::Arc;

use parking_lot::Mutex;

use crate::db::Engine;
use crate::memtable::{Interval, Intervals};
use crate::sorted_map::SortedMap;
use crate::version::Version;

/// The range deletes that running compactions may have to apply.
#[derive(Debug, Default)]
pub(crate) struct RangeKills {
    kept: Mutex<Kept>,
}

#[derive(Debug, Default)]
struct Kept {
    /// By the count of edits at their start, how many compactions run.
    running: SortedMap<u64, usize>,
    /// By the edit that flushed them, in order.
    flushed: Vec<(u64, Interval)>,
}

/// The version a compaction starts from. While it lives, range deletes flushed since are kept.
#[derive(Debug)]
pub(crate) struct CompactionStart<'a> {
    kills: &'a RangeKills,
    version: Arc<Version>,
}

impl RangeKills {
    /// Remembers range deletes that an edit flushed, if a compaction runs.
    pub(crate) fn record<'i>(&self, edit_count: u64, intervals: impl Iterator<Item = &'i Interval>) {
        let mut kept = self.kept.lock();
        if !kept.running.is_empty() {
            kept.flushed
                .extend(intervals.map(|interval| (edit_count, interval.clone())));
        }
    }

    #[cfg(test)]
    fn kept_count(&self) -> usize {
        self.kept.lock().flushed.len()
    }
}

impl Engine {
    /// Begins a compaction at the version in force.
    pub(crate) fn start_compaction(&self) -> CompactionStart<'_> {
        let mut kept = self.range_kills.kept.lock();
        // Read while the list is locked: whatever is flushed after this version will be kept.
        let version = Arc::clone(&self.layers().version);
        *kept
            .running
            .get_or_insert_with(version.edit_count(), Default::default) += 1;
        CompactionStart {
            kills: &self.range_kills,
            version,
        }
    }
}

impl CompactionStart<'_> {
    /// The version to take inputs from.
    pub(crate) fn version(&self) -> &Arc<Version> {
        &self.version
    }

    /// The range deletes in a keyspace that were flushed since. The caller holds the version set.
    pub(crate) fn range_kills_since(&self, keyspace: u32) -> Intervals {
        let mut intervals = Intervals::default();
        for (edit_count, interval) in &self.kills.kept.lock().flushed {
            if *edit_count > self.version.edit_count() && interval.keyspace() == keyspace {
                intervals.insert(interval.clone());
            }
        }
        intervals
    }
}

impl Drop for CompactionStart<'_> {
    fn drop(&mut self) {
        let mut kept = self.kills.kept.lock();
        let edit_count = self.version.edit_count();
        if let Some(count) = kept.running.get_mut(&edit_count) {
            *count -= 1;
            if *count == 0 {
                kept.running.remove(&edit_count);
            }
        }
        let oldest = kept.running.keys().next().copied();
        match oldest {
            None => kept.flushed = Vec::new(),
            Some(oldest) => kept.flushed.retain(|(edit_count, _)| *edit_count > oldest),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::tests::{TestDb, manual};

    #[test]
    fn range_deletes_are_kept_for_the_compactions_that_they_concern_and_no_longer() {
        let db = TestDb::open(manual());
        let engine = db.default_keyspace().handle().engine();
        let flush_a_range = |from: &str, to: &str| {
            db.put("x", "something to shield").expect("put");
            db.flush().expect("flush");
            db.delete_range(from..to).expect("deletes");
            db.put("y", "something to flush").expect("put");
            db.flush().expect("flush");
        };
        let kept = || engine.range_kills.kept_count();
        flush_a_range("a", "z");
        assert_eq!(kept(), 0, "nobody runs");
        let first = engine.start_compaction();
        flush_a_range("a", "z");
        let second = engine.start_compaction();
        flush_a_range("b", "z");
        assert_eq!(kept(), 2);
        assert_eq!(first.range_kills_since(0).len(), 1, "united");
        assert!(first.range_kills_since(0).covering(0, b"a").is_some());
        assert!(second.range_kills_since(0).covering(0, b"a").is_none());
        assert!(second.range_kills_since(0).covering(0, b"b").is_some());
        assert_eq!(second.range_kills_since(1).len(), 0);
        drop(first);
        assert_eq!(kept(), 1);
        drop(second);
        assert_eq!(kept(), 0);
    }
}
