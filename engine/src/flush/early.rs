//! Settles deletes before their flush: looks them up in older tables, and puts what they kill into the overlay.
//!
//! ```text
//! active map    put  delete  put  delete  delete  [range)          frozen maps    put
//!                      |            |        '-------------------------------------'   shields a live entry: waits for its flush
//!                      '------------'--> ordinals in tables      found beside all locks, in sorted batches
//!
//! one step, under the commit lock:   map without these entries | overlay with these ordinals
//! ```
//!
//! The step is made only if the generation and the version are those that were looked at; otherwise it looks again. An entry that was
//! written again meanwhile is left as it is. Nothing reaches a disk: the log holds the deletes by key until the generation is flushed.
//!
//! Runs on a thread of its own, woken by the first delete that has to wait; it settles what there is and sleeps again. A table that
//! cannot be read leaves the delete where it is, for the flush to report.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use crate::db::Engine;
use crate::error::Result;
use crate::instant::Instant;
use crate::memtable::{Entry, EntryRef, Interval};
use crate::options::Background;

/// Deletes looked up before the ones found are settled: bounds how long writers wait for it.
const BATCH_DELETES: usize = 256;

/// How often a batch is looked up again when the version changed meanwhile.
const TRIES_MAX: usize = 3;

/// Something that waits in the active memtable.
#[derive(Clone, Debug)]
enum Pending {
    Delete(Entry),
    Range(Interval),
}

/// Runs of ordinals, each with its table.
type Runs = Vec<(u64, Range<u64>)>;

/// A pending delete with the records it kills.
type Settled = (Pending, Runs);

impl Engine {
    /// Asks for pending deletes to be settled, if nobody has asked since it was last begun.
    pub(crate) fn request_resolution(&self) {
        if self.options.background == Background::Threads
            && !self.resolution_requested.swap(true, Ordering::AcqRel)
        {
            self.work.request_resolution();
        }
    }

    /// From here on a delete has to ask again.
    pub(crate) fn accept_resolution_requests(&self) {
        self.resolution_requested.store(false, Ordering::Release);
    }

    /// Settles what waits in the active memtable and shields nothing there. Returns whether there was any.
    pub(crate) fn settle_pending_deletes(&self) -> bool {
        let (mut last, mut settled_count) = (None, 0);
        while let Some((next, count)) = self.settle_batch(last.as_ref()) {
            (last, settled_count) = (Some(next), settled_count + count);
        }
        self.counters.settled(settled_count);
        settled_count > 0
    }

    /// Settles the next few behind `last`. Returns the last one looked at, and how many were settled; `None` if there were none.
    fn settle_batch(&self, last: Option<&Pending>) -> Option<(Pending, u64)> {
        let _one_at_a_time = self.resolving.lock();
        for _ in 0..TRIES_MAX {
            let (instant, segment) = self.instant_and_segment();
            let batch = next_batch(&instant, last);
            let next = batch.last()?.clone();
            let found: Vec<Settled> = batch
                .into_iter()
                .filter_map(|pending| {
                    let killed = kills_of(&instant, &pending).ok()??;
                    Some((pending, killed))
                })
                .collect();
            if found.is_empty() {
                return Some((next, 0));
            }
            if let Some(count) = self.settle(&instant, segment, &found) {
                return Some((next, count));
            }
        }
        None
    }

    /// Makes the step, if nothing moved since the instant. Returns how many deletes were settled.
    fn settle(&self, instant: &Instant, segment: u64, found: &[Settled]) -> Option<u64> {
        let writer = self.writer.lock();
        if writer.segment != segment {
            return None;
        }
        // Nobody else changes the active memtable while the writer's lock is held.
        let mut active = self.state.read().active.clone();
        let mut count = 0;
        for (pending, killed) in found {
            let is_pending = match pending {
                Pending::Delete(entry) => active.settle_delete(entry.as_ref()),
                Pending::Range(interval) => active.settle_interval(interval),
            };
            if is_pending {
                count += 1;
                killed
                    .iter()
                    .for_each(|(table, ordinals)| active.kill(*table, ordinals.clone()));
            }
        }
        let replaced = {
            let mut state = self.state.write();
            if !Arc::ptr_eq(&state.layers.version, &instant.layers.version) {
                return None;
            }
            std::mem::replace(&mut state.active, active)
        };
        drop(writer);
        drop(replaced);
        Some(count)
    }
}

/// What waits behind `last`: deletes first, then ranges.
fn next_batch(instant: &Instant, last: Option<&Pending>) -> Vec<Pending> {
    let after = match last {
        None => None,
        Some(Pending::Delete(entry)) => Some(entry.as_ref()),
        Some(Pending::Range(interval)) => {
            let next = instant.active.intervals().after(interval);
            return next.cloned().map(Pending::Range).into_iter().collect();
        }
    };
    let deletes = instant.active.pending_deletes(after).take(BATCH_DELETES);
    let mut batch: Vec<Pending> = deletes.map(|entry| Pending::Delete(entry.to_entry())).collect();
    if batch.is_empty() {
        let first = instant.active.intervals().iter().next();
        batch.extend(first.cloned().map(Pending::Range));
    }
    batch
}

/// The records in tables that a pending delete kills; `None` if it shields a live entry of a frozen memtable, and has to stay.
fn kills_of(instant: &Instant, pending: &Pending) -> Result<Option<Runs>> {
    match pending {
        Pending::Delete(entry) => kills_of_key(instant, entry.as_ref()),
        Pending::Range(interval) => kills_of_interval(instant, interval),
    }
}

fn kills_of_key(instant: &Instant, entry: EntryRef<'_>) -> Result<Option<Runs>> {
    let mut kills = Vec::new();
    match instant.layers.frozen_answer(entry.keyspace(), entry.key()) {
        Some(true) => return Ok(None),
        // A frozen delete has all that is older.
        Some(false) => return Ok(Some(kills)),
        None => {}
    }
    let overlays = instant.overlays();
    if let Some(view) = instant.version().keyspace(entry.keyspace()) {
        for table in view.candidates(entry.key()) {
            if let Some(place) = table.file.find(entry.key())?
                && !table.is_dead(place.ordinal, overlays)
            {
                kills.push((table.file.number(), place.ordinal..place.ordinal + 1));
            }
        }
    }
    Ok(Some(kills))
}

fn kills_of_interval(instant: &Instant, interval: &Interval) -> Result<Option<Runs>> {
    if instant.layers.is_live_in_frozen(interval) {
        return Ok(None);
    }
    let mut kills = Vec::new();
    if let Some(view) = instant.version().keyspace(interval.keyspace()) {
        for table in view.overlapping(interval) {
            if table.live_ordinal_in(interval)?.is_some() {
                // Those that are dead already may lie in the run: it stays one.
                kills.push((table.file.number(), table.file.ordinals_in(interval)?));
            }
        }
    }
    Ok(Some(kills))
}
