//! The life of a write.
//!
//! ```text
//! commit    wait if flush or compaction lag            (pace.rs; no lock held)
//!           ask older layers which deletes need to shield something       (no lock held)
//!           -- writer lock ------------------------------------------------------------------
//!           compose operands with what the active memtable says     a refusal ends it here: nothing is logged
//!           memtable or segment full: rotate
//!           append one record to the log               survives a killed process
//!           apply its operations to the active memtable, in one step      visible
//!           ----------------------------------------------------------------------------------
//!           Sync: join a group sync of the log         survives a power cut
//! ```
//!
//! A segment belongs to exactly one memtable: a rotation freezes the active memtable together with its segment and
//! starts both anew.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use tephra_wal::{LogError, PreparedSegment, segment_capacity_for};

use super::engine::{Engine, Log, Writer};
use crate::batch::record::{self, Op, RecordBuilder};
use crate::error::{Error, Result};
use crate::file_name::FileName;
use crate::instant::{FrozenMemtable, Instant, Layers};
use crate::keyspace::Keyspace;
use crate::limits;
use crate::memtable::{Entry, EntryKind, Interval, Memtable, Refusals, Write, merged};
use crate::options::Durability;

/// Batches of more operations, and range deletes, are applied to a copy of the root beside the readers, not under their lock.
const APPLIED_UNDER_LOCK_MAX: usize = 64;

/// Smallest capacity of a log segment in bytes.
const SEGMENT_BYTES_MIN: u64 = 64 << 10;

/// What a commit does to the active memtable.
#[derive(Clone, Debug)]
enum Change<'a> {
    Write(Write<'a>),
    /// An operand with what the active memtable says under it.
    Insert(Entry),
    /// A delete of a key that no older layer can hold: the entry goes, and nothing is left behind.
    Forget(Write<'a>),
    /// The entries in the interval go; it is remembered only if an older layer can hold a key of it.
    DeleteRange {
        interval: Interval,
        shields: bool,
    },
    /// An operand, to be composed with what the active memtable says about the key.
    Merge(Write<'a>),
}

impl Engine {
    /// Commits the operations of a batch at one instant.
    pub(crate) fn commit(
        &self,
        batch: &RecordBuilder,
        touched: &[Keyspace],
        durability: Durability,
    ) -> Result<()> {
        let log = self.check_writable()?;
        if batch.op_count() == 0 {
            return Ok(());
        }
        let payload = batch.payload();
        let ops = record::decode(payload).expect("a batch encodes what it was given");
        let only_deletes = ops.iter().all(Op::is_delete);
        match self.pace_writer(touched) {
            Err(error) if only_deletes && error.is_storage_full() => {}
            outcome => outcome?,
        }
        let generation = self.active_segment.load(Ordering::Acquire);
        let ingest_count = self.ingest_count.load(Ordering::Acquire);
        self.check_room(&ops, touched)?;
        let changes = self.plan(ops, only_deletes)?;

        let position = {
            let mut writer = self.writer.lock();
            let log = self.check_writable()?;
            touched.iter().try_for_each(Keyspace::check_takes_writes)?;
            let has_merges = changes.iter().any(Change::is_merge);
            let composed_for = writer.segment;
            let composed = match has_merges {
                true => Some(self.compose_merges(&changes, touched, Refusals::Allowed)?),
                false => None,
            };
            let position = self.append(log, &mut writer, payload, only_deletes)?;
            let mut changes = match composed {
                Some(composed) if writer.segment == composed_for => composed,
                // Composed for the memtable before; the batch is logged, so there is no refusing it any more.
                Some(_) => self.compose_merges(&changes, touched, Refusals::TooLate)?,
                None => changes,
            };
            if writer.segment != generation || self.ingest_count.load(Ordering::Acquire) != ingest_count {
                // The memtable that was active when the layers were asked is one of them now, or tables were ingested: they may
                // hold the keys.
                changes.iter_mut().for_each(Change::keep_shield);
            }
            if self.apply(changes) {
                self.request_resolution();
            }
            position
        };
        self.counters.committed(batch.op_count(), payload.len());
        if durability == Durability::Sync {
            log.sync_through(position)
                .map_err(|failure| self.stop_writing(Error::from_log(&self.directory, failure)))?;
        }
        Ok(())
    }

    /// Refuses records for keyspaces that take none for now.
    fn check_room(&self, ops: &[Op<'_>], touched: &[Keyspace]) -> Result<()> {
        for keyspace in touched.iter().filter(|keyspace| keyspace.core().is_composing()) {
            let adds = |op: &Op<'_>| match op {
                Op::Write(write) => write.keyspace == keyspace.number() && write.is_live(),
                Op::DeleteRange(_) => false,
            };
            if ops.iter().any(adds) {
                let version = &self.layers().version;
                self.held_up
                    .check_room(keyspace.core(), version, self.options.l0_tables_max)?;
            }
        }
        Ok(())
    }

    /// Decides which deletes need an entry. Asks filters, so it runs before the commit lock is taken; the answers stay right as
    /// long as the same memtable is active and nothing is ingested, since flushes and compactions move keys and add none.
    ///
    /// # Errors
    /// As many tables are open as may be, and not all operations are deletes.
    fn plan<'a>(&self, ops: Vec<Op<'a>>, only_deletes: bool) -> Result<Vec<Change<'a>>> {
        let layers = self.layers();
        if !only_deletes {
            limits::check_table_count(layers.version.table_count(), self.options.tables_max)?;
        }
        let plan = |op| match op {
            Op::Write(write) if write.kind == EntryKind::Merge => Change::Merge(write),
            Op::Write(write) if write.is_live() || layers.may_hold(write.keyspace, write.key) => {
                Change::Write(write)
            }
            Op::Write(write) => Change::Forget(write),
            Op::DeleteRange(interval) => Change::DeleteRange {
                shields: layers.may_hold_in(&interval),
                interval,
            },
        };
        Ok(ops.into_iter().map(plan).collect())
    }

    /// The changes with every operand composed with what the active memtable and the changes before it say about its key. Calls laws
    /// without the lock of the published instant; the caller holds the commit lock, so the active memtable stays as it is.
    ///
    /// # Errors
    /// A law failed, and the memtable keeps no more operands of a key; only if refusals are allowed.
    fn compose_merges<'a>(
        &self,
        changes: &[Change<'a>],
        touched: &[Keyspace],
        refusals: Refusals,
    ) -> Result<Vec<Change<'a>>> {
        let active = self.instant().active;
        // What the changes so far say; of no use to a change that is alone.
        let mut latest = Memtable::default();
        let mut composed = Vec::with_capacity(changes.len());
        for change in changes {
            let change = match change {
                Change::Merge(operand) => {
                    let (number, key) = (operand.keyspace, operand.key);
                    let keyspace = touched.iter().find(|keyspace| keyspace.number() == number);
                    let core = keyspace.expect("a commit names all it touches").core();
                    let older = latest.state_of(number, key);
                    let older = older.or_else(|| active.state_of(number, key));
                    Change::Insert(merged(older, *operand, core, refusals)?)
                }
                other => other.clone(),
            };
            if changes.len() > 1 {
                change.note_in(&mut latest);
            }
            composed.push(change);
        }
        Ok(composed)
    }

    /// Appends a record to the log, rotating first where memtable or segment are full. Deletes go on in the old ones while a full
    /// disk has no room for new ones: they are what makes room. The caller holds the commit lock.
    fn append(
        &self,
        log: &Log,
        writer: &mut Writer,
        payload: &[u8],
        only_deletes: bool,
    ) -> Result<tephra_wal::LogPosition> {
        let is_full = {
            let active = &self.state.read().active;
            active.cost_bytes() >= self.options.memtable_bytes
                || active.pending_count() >= self.options.pending_deletes_max
        };
        if is_full {
            match self.rotate(log, writer, payload.len()) {
                Err(error) if only_deletes && error.is_storage_full() => {}
                outcome => outcome?,
            }
        }
        let position = match log.append(payload) {
            // The segment is at its end, or broken: the record goes into the next one.
            Err(LogError::SegmentFull { .. } | LogError::Sealed { .. } | LogError::SegmentFailed { .. }) => {
                self.rotate(log, writer, payload.len())?;
                log.append(payload)
            }
            outcome => outcome,
        };
        let position = position.map_err(|failure| self.log_failed(failure))?;
        writer.log_bytes += payload.len() as u64;
        Ok(position)
    }

    /// A failed sync stops the writer; other failures concern one record or one segment.
    fn log_failed(&self, failure: LogError) -> Error {
        let stops = matches!(failure, LogError::SyncFailed { .. });
        let error = Error::from_log(&self.directory, failure);
        if stops { self.stop_writing(error) } else { error }
    }

    /// Freezes the active memtable with its segment and starts both anew. The caller holds the commit lock. After an error
    /// nothing has changed.
    pub(crate) fn rotate(&self, log: &Log, writer: &mut Writer, payload_len_bytes: usize) -> Result<()> {
        let segment = self.next_segment(writer.segment, payload_len_bytes)?;
        let number = segment.number();
        log.rotate(segment).map_err(|failure| {
            // The segment was never in use; if it stays, the next open removes it.
            drop(self.directory.remove(FileName::Segment(number)));
            self.log_failed(failure)
        })?;
        let mut state = self.state.write();
        let root = std::mem::take(&mut state.active);
        let frozen = FrozenMemtable {
            root,
            older_segments: Vec::new(),
            segment: writer.segment,
            log_bytes: writer.log_bytes,
        };
        let mut all = vec![Arc::new(frozen)];
        all.extend(state.layers.frozen.iter().cloned());
        let version = Arc::clone(&state.layers.version);
        state.layers = Arc::new(Layers { frozen: all, version });
        self.active_segment.store(number, Ordering::Release);
        drop(state);
        *writer = Writer {
            segment: number,
            log_bytes: 0,
        };
        self.work.request_flush();
        Ok(())
    }

    /// Makes changes visible in one step. Returns whether deletes wait to be settled. The caller holds the commit lock, so
    /// nobody else changes the active memtable.
    fn apply(&self, changes: Vec<Change<'_>>) -> bool {
        let is_shield = |change: &Change<'_>| match change {
            Change::Write(write) => !write.is_live(),
            Change::Insert(entry) => !entry.as_ref().is_live(),
            Change::Forget(_) | Change::Merge(_) => false,
            Change::DeleteRange { shields, .. } => *shields,
        };
        let deletes_wait = changes.iter().any(is_shield);
        let is_range = |change: &Change<'_>| matches!(change, Change::DeleteRange { .. });
        if changes.len() <= APPLIED_UNDER_LOCK_MAX && !changes.iter().any(is_range) {
            let mut state = self.state.write();
            apply_to(&mut state.active, changes);
        } else {
            let Instant { mut active, .. } = self.instant();
            if changes.iter().all(|change| matches!(change, Change::Write(_))) {
                active.write_all(changes.iter().filter_map(Change::as_write));
            } else {
                apply_to(&mut active, changes);
            }
            let replaced = std::mem::replace(&mut self.state.write().active, active);
            drop(replaced);
        }
        deletes_wait
    }
}

impl<'a> Change<'a> {
    fn as_write(&self) -> Option<Write<'a>> {
        match self {
            Change::Write(write) => Some(*write),
            _ => None,
        }
    }

    fn is_merge(&self) -> bool {
        matches!(self, Change::Merge(_))
    }

    /// Makes a memtable say what the change says from then on; a key that is forgotten is deleted.
    fn note_in(&self, latest: &mut Memtable) {
        match self {
            Change::Insert(entry) => latest.insert(entry.clone()),
            Change::Write(write) | Change::Merge(write) | Change::Forget(write) => latest.write(*write),
            Change::DeleteRange { interval, .. } => latest.delete_range(interval.clone(), true),
        }
    }

    fn keep_shield(&mut self) {
        match self {
            Change::Write(_) | Change::Insert(_) | Change::Merge(_) => {}
            Change::Forget(write) => *self = Change::Write(*write),
            Change::DeleteRange { shields, .. } => *shields = true,
        }
    }
}

fn apply_to(memtable: &mut Memtable, changes: Vec<Change<'_>>) {
    for change in changes {
        match change {
            // An operand that nothing precedes is an entry as it is.
            Change::Write(write) | Change::Merge(write) => memtable.write(write),
            Change::Insert(entry) => memtable.insert(entry),
            Change::Forget(write) => memtable.delete_traceless(write.keyspace, write.key),
            Change::DeleteRange { interval, shields } => memtable.delete_range(interval, shields),
        }
    }
}

/// Makes a segment that holds at least one record of a length, durable under its name, not yet in use. Where the disk has no room
/// for the usual capacity and `may_be_small`, half of it is tried, and so on down: the last room goes to what writers want.
pub(crate) fn prepare_segment(
    directory: &crate::directory::Directory,
    memtable_bytes: usize,
    number: u64,
    payload_len_bytes: usize,
    may_be_small: bool,
) -> Result<PreparedSegment<Box<dyn tephra_wal::LogSegment>>> {
    let smallest_bytes = SEGMENT_BYTES_MIN.max(segment_capacity_for(payload_len_bytes as u64));
    let mut capacity_bytes = smallest_bytes.max(memtable_bytes as u64);
    let path = directory.path_of(FileName::Segment(number));
    let header = directory.framed_header(tephra_wal::LOG_MAGIC, number);
    let create = loop {
        match directory.file_system.create_segment(&path, capacity_bytes) {
            Err(error) if error.is_storage_full() && may_be_small && capacity_bytes > smallest_bytes => {
                drop(directory.remove(FileName::Segment(number)));
                capacity_bytes = smallest_bytes.max(capacity_bytes / 2);
            }
            created => break created,
        }
    };
    let prepare = || {
        let segment =
            PreparedSegment::new(create?, header).map_err(|failure| Error::from_log(directory, failure))?;
        directory.sync()?;
        Ok(segment)
    };
    prepare().inspect_err(|_| drop(directory.remove(FileName::Segment(number))))
}
