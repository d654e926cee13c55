//! Writes the log: appends under one short lock, syncs beside it.
//!
//! ```text
//!   segment 7                                        segment 8
//!   | header | Begin | Data | Data | Mark | ... | Seal(8) |   | header | Begin(7, end) | Data | ...
//!                                               ^ end ---------------------^
//! ```
//!
//! A segment lives through: [`PreparedSegment::new`] writes and syncs its header (ahead of time, on any thread);
//! [`LogWriter::begin`] or [`LogWriter::rotate`] puts it in use with a `Begin` record that says where the segment before it
//! ended; [`LogWriter::append`] fills it; the next rotation, or [`LogWriter::seal`], ends it.
//!
//! * After `append` returned, the record survives the death of the process; it costs two checksums, two copies and no
//!   system call.
//! * After `sync_through(position)` returned, everything appended before `position`, in this and in earlier segments,
//!   survives the loss of power. Callers share syncs (see `group_commit`).
//! * What replays is always a prefix of what was appended: a later segment counts only if the earlier one is whole up to
//!   the end that the `Begin` record names.

use std::io;
use std::sync::Arc;

use parking_lot::Mutex;

use crate::error::LogError;
use crate::group_commit::{GroupCommit, SyncTask, Unsynced};
use crate::header::{FileHeader, HEADER_LEN_BYTES};
use crate::record::{Framing, PAYLOAD_LEN_BYTES_MAX, RECORD_HEADER_LEN_BYTES, RecordKind};
use crate::segment::{LogSegment, SegmentSync};

/// Bytes of a `Begin` record: header, number and end of the segment before.
pub(crate) const BEGIN_LEN_BYTES: usize = RECORD_HEADER_LEN_BYTES + 16;
/// Bytes of a `SyncMark` record: header, offset.
pub(crate) const SYNC_MARK_LEN_BYTES: usize = RECORD_HEADER_LEN_BYTES + 8;
/// Bytes of the longest `Seal` record: header, number of the segment that follows.
pub(crate) const SEAL_LEN_BYTES: usize = RECORD_HEADER_LEN_BYTES + 8;

/// A place in the log, between two records. Ordered as the log is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct LogPosition {
    /// The segment's number.
    pub segment: u64,
    /// Bytes from the start of the segment.
    pub offset: u64,
}

/// Capacity of a segment that holds one record of this length: for records that are longer than the usual segment.
#[must_use]
pub fn segment_capacity_for(payload_len_bytes: u64) -> u64 {
    (HEADER_LEN_BYTES + BEGIN_LEN_BYTES + RECORD_HEADER_LEN_BYTES + SEAL_LEN_BYTES) as u64 + payload_len_bytes
}

/// A segment whose header is durable, ready to be put in use.
#[derive(Debug)]
pub struct PreparedSegment<S> {
    segment: S,
    header: FileHeader,
}

impl<S: LogSegment> PreparedSegment<S> {
    /// Writes and syncs the header. The caller has made, or then makes, the file's name durable.
    ///
    /// # Errors
    /// The storage failed, or the segment is too small for anything; it holds nothing then and is to be removed.
    pub fn new(mut segment: S, mut header: FileHeader) -> Result<Self, LogError> {
        let number = header.number;
        header.reserved_bytes = segment.reserved_bytes();
        let failed = |cause| LogError::SegmentFailed {
            segment: number,
            offset: 0,
            cause: Arc::new(cause),
        };
        if segment.capacity_bytes() < segment_capacity_for(0) {
            return Err(failed(io::Error::new(
                io::ErrorKind::InvalidInput,
                "the segment is too small",
            )));
        }
        if segment.len_bytes() != 0 {
            return Err(failed(io::Error::new(
                io::ErrorKind::InvalidInput,
                "the segment is not fresh",
            )));
        }
        segment.append(&header.encode()).map_err(failed)?;
        segment.syncer().sync().map_err(failed)?;
        Ok(Self { segment, header })
    }

    /// The number of the segment.
    pub fn number(&self) -> u64 {
        self.header.number
    }

    /// The longest payload that fits, as its first record.
    pub fn payload_len_bytes_max(&self) -> u64 {
        self.segment.capacity_bytes() - segment_capacity_for(0)
    }
}

/// The segment in use, and earlier ones that were not synced yet.
#[derive(Debug)]
struct Tail<S> {
    segment: S,
    syncer: Arc<dyn SegmentSync>,
    framing: Framing,
    number: u64,
    /// End of the last whole record. The segment's own length may be larger after a failed append.
    end: u64,
    /// End of the last record of the user, in this or the segment before.
    data_end: LogPosition,
    sealed: bool,
    failure: Option<LogError>,
    retired: Vec<Unsynced>,
    record_count: u64,
    payload_bytes: u64,
}

impl<S: LogSegment> Tail<S> {
    fn begin(prepared: PreparedSegment<S>, after: Option<LogPosition>) -> Result<Self, LogError> {
        let PreparedSegment { segment, header } = prepared;
        let mut tail = Self {
            syncer: segment.syncer(),
            end: segment.len_bytes(),
            segment,
            framing: Framing::new(header.salt),
            number: header.number,
            data_end: LogPosition::default(),
            sealed: false,
            failure: None,
            retired: Vec::new(),
            record_count: 0,
            payload_bytes: 0,
        };
        let after = after.unwrap_or_default();
        assert!(after.segment < tail.number, "segments are numbered upwards");
        let mut payload = [0; 16];
        payload[..8].copy_from_slice(&after.segment.to_le_bytes());
        payload[8..].copy_from_slice(&after.offset.to_le_bytes());
        tail.write(RecordKind::Begin, &payload, crc32fast::hash(&payload))?;
        Ok(tail)
    }

    fn position(&self) -> LogPosition {
        LogPosition {
            segment: self.number,
            offset: self.end,
        }
    }

    fn check(&self) -> Result<(), LogError> {
        match &self.failure {
            Some(failure) => Err(failure.clone()),
            None if self.sealed => Err(LogError::Sealed { segment: self.number }),
            None => Ok(()),
        }
    }

    /// Room for further records; the seal's own place is kept free.
    fn room_bytes(&self) -> u64 {
        (self.segment.capacity_bytes() - self.end).saturating_sub(SEAL_LEN_BYTES as u64)
    }

    fn write(&mut self, kind: RecordKind, payload: &[u8], payload_checksum: u32) -> Result<(), LogError> {
        self.check()?;
        let len = u32::try_from(payload.len()).map_err(|_| LogError::RecordTooLong {
            len_bytes: payload.len() as u64,
            max_bytes: PAYLOAD_LEN_BYTES_MAX,
        })?;
        let needed_bytes = (RECORD_HEADER_LEN_BYTES + payload.len()) as u64;
        self.make_room(kind, needed_bytes)?;
        let header = self.framing.header(self.end, kind, len, payload_checksum);
        let written = self
            .segment
            .append(&header)
            .and_then(|()| self.segment.append(payload));
        if let Err(cause) = written {
            return Err(self.fail(cause));
        }
        self.end += needed_bytes;
        Ok(())
    }

    /// Sees to it that a record, and the seal behind it, find room on the disk. On a full one the segment ends here, as it would at its
    /// capacity.
    fn make_room(&mut self, kind: RecordKind, needed_bytes: u64) -> Result<(), LogError> {
        let behind_bytes = match kind {
            RecordKind::Seal => 0,
            _ => SEAL_LEN_BYTES as u64,
        };
        match self.segment.make_room(needed_bytes + behind_bytes) {
            Err(cause) if cause.kind() == std::io::ErrorKind::StorageFull => Err(LogError::SegmentFull {
                segment: self.number,
                needed_bytes,
                room_bytes: 0,
            }),
            Err(cause) => Err(self.fail(cause)),
            Ok(()) => Ok(()),
        }
    }

    /// What is behind the end is not known any more: the segment takes nothing from here on.
    fn fail(&mut self, cause: std::io::Error) -> LogError {
        let failure = LogError::SegmentFailed {
            segment: self.number,
            offset: self.end,
            cause: Arc::new(cause),
        };
        self.failure = Some(failure.clone());
        failure
    }

    fn append(&mut self, payload: &[u8], payload_checksum: u32) -> Result<LogPosition, LogError> {
        self.check()?;
        let needed_bytes = (RECORD_HEADER_LEN_BYTES + payload.len()) as u64;
        let room_bytes = self.room_bytes();
        if needed_bytes > room_bytes {
            return Err(LogError::SegmentFull {
                segment: self.number,
                needed_bytes,
                room_bytes,
            });
        }
        self.write(RecordKind::Data, payload, payload_checksum)?;
        self.record_count += 1;
        self.payload_bytes += payload.len() as u64;
        self.data_end = self.position();
        Ok(self.data_end)
    }

    /// Notes in the log that it is durable up to `through`. Skipped where it does not fit or help.
    fn mark(&mut self, through: LogPosition) -> Result<(), LogError> {
        if self.number != through.segment
            || self.check().is_err()
            || (SYNC_MARK_LEN_BYTES as u64) > self.room_bytes()
        {
            return Ok(());
        }
        let payload = through.offset.to_le_bytes();
        self.write(RecordKind::SyncMark, &payload, crc32fast::hash(&payload))
    }

    /// Ends the segment; `next` is where the log goes on, if it does.
    fn seal(&mut self, next: Option<u64>) -> Result<(), LogError> {
        if !self.sealed {
            let next = next.map(u64::to_le_bytes);
            let payload = next.as_ref().map_or(&[][..], |number| &number[..]);
            self.write(RecordKind::Seal, payload, crc32fast::hash(payload))?;
            self.sealed = true;
        }
        Ok(())
    }
}

/// What a writer has done so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WriterStats {
    /// Records appended.
    pub record_count: u64,
    /// Bytes of their payloads.
    pub payload_bytes: u64,
    /// Calls of a sync.
    pub sync_count: u64,
}

/// The log, open for writing. Shared by reference among threads.
#[derive(Debug)]
pub struct LogWriter<S> {
    tail: Mutex<Tail<S>>,
    commit: GroupCommit,
}

impl<S: LogSegment> LogWriter<S> {
    /// Puts a first segment in use. `after` is where an earlier log ended that replay has to read before this one
    /// (see [`crate::ReplayReport::end`]), `None` if nothing before this segment counts any more.
    ///
    /// REQUIRES: the segments up to `after` are synced (their files, after the replay and before this call). A process that
    /// died may have left records in the system's cache that no later sync of this writer would reach.
    ///
    /// # Errors
    /// [`LogError::SegmentFailed`].
    pub fn begin(prepared: PreparedSegment<S>, after: Option<LogPosition>) -> Result<Self, LogError> {
        let durable = LogPosition {
            segment: prepared.number(),
            offset: HEADER_LEN_BYTES as u64,
        };
        let tail = Tail::begin(prepared, after)?;
        Ok(Self {
            tail: Mutex::new(tail),
            commit: GroupCommit::new(durable),
        })
    }

    /// Appends a record; returns the place behind it, for [`LogWriter::sync_through`]. No system call where the segment is a
    /// mapping.
    ///
    /// # Errors
    /// [`LogError::SegmentFull`] and [`LogError::RecordTooLong`], with nothing written; or why the log, or this segment, takes
    /// no more records.
    pub fn append(&self, payload: &[u8]) -> Result<LogPosition, LogError> {
        let checksum = crc32fast::hash(payload);
        let mut tail = self.tail.lock();
        self.commit.check()?;
        tail.append(payload, checksum)
    }

    /// Returns when everything before `position`, which an append returned, is durable. Blocks for at most two syncs of the
    /// log, shared with all callers of that time. Appends go on meanwhile.
    ///
    /// # Errors
    /// [`LogError::SyncFailed`], to every caller from the first failure on.
    pub fn sync_through(&self, position: LogPosition) -> Result<(), LogError> {
        let led = self.commit.sync_through(position, || {
            let mut tail = self.tail.lock();
            let mut segments = std::mem::take(&mut tail.retired);
            segments.push(Unsynced {
                segment: tail.number,
                syncer: Arc::clone(&tail.syncer),
            });
            SyncTask {
                through: tail.position(),
                segments,
            }
        })?;
        if let Some(durable) = led {
            // The records are durable whether or not the mark can be written; a failed segment says so at the next append.
            drop(self.tail.lock().mark(durable));
        }
        Ok(())
    }

    /// [`LogWriter::sync_through`] for everything appended so far. Free if that is durable already.
    ///
    /// # Errors
    /// [`LogError::SyncFailed`].
    pub fn sync(&self) -> Result<(), LogError> {
        let position = self.tail.lock().data_end;
        self.sync_through(position)
    }

    /// Ends the segment in use and goes on in `next`. Also the way out of a full or failed segment: its broken end is cut off by
    /// the `Begin` record of `next`. Returns the end of the old segment.
    ///
    /// # Errors
    /// [`LogError::SyncFailed`] once a sync failed; [`LogError::SegmentFailed`] if `next` cannot be written: the old segment goes on
    /// then, and another rotation may be tried.
    pub fn rotate(&self, next: PreparedSegment<S>) -> Result<LogPosition, LogError> {
        let mut tail = self.tail.lock();
        self.commit.check()?;
        let end = tail.position();
        let mut fresh = Tail::begin(next, Some(end))?;
        // From here on the next segment must be there. A seal that fails, as on a failed segment, is missed by nobody but him who
        // removes that segment by hand.
        drop(tail.seal(Some(fresh.number)));
        fresh.retired = std::mem::take(&mut tail.retired);
        fresh.retired.push(Unsynced {
            segment: tail.number,
            syncer: Arc::clone(&tail.syncer),
        });
        fresh.data_end = tail.data_end;
        fresh.record_count = tail.record_count;
        fresh.payload_bytes = tail.payload_bytes;
        *tail = fresh;
        Ok(end)
    }

    /// Segments up to `segment` are not needed any more, their contents being durable elsewhere: they need no sync.
    pub fn forget_through(&self, segment: u64) {
        self.tail
            .lock()
            .retired
            .retain(|unsynced| unsynced.segment > segment);
    }

    /// Ends the log: everything is durable, then says so, then sealed, and that is durable too. Further appends are refused.
    ///
    /// # Errors
    /// [`LogError::SyncFailed`] or [`LogError::SegmentFailed`]; what was acknowledged is as durable as before.
    pub fn seal(&self) -> Result<(), LogError> {
        self.sync_through(self.end())?;
        self.tail.lock().seal(None)?;
        self.sync_through(self.end())?;
        // Room that is not given back is no harm.
        drop(self.tail.lock().segment.trim());
        Ok(())
    }

    /// Where the next record will start.
    pub fn end(&self) -> LogPosition {
        self.tail.lock().position()
    }

    /// Everything before this is durable.
    pub fn durable(&self) -> LogPosition {
        self.commit.durable()
    }

    /// Bytes that the segment in use still takes, with the records' headers.
    pub fn room_bytes(&self) -> u64 {
        self.tail.lock().room_bytes()
    }

    /// Why the log takes no more records, if so.
    pub fn failure(&self) -> Option<LogError> {
        self.commit
            .check()
            .err()
            .or_else(|| self.tail.lock().failure.clone())
    }

    /// What was done so far.
    pub fn stats(&self) -> WriterStats {
        let sync_count = self.commit.sync_count();
        let tail = self.tail.lock();
        WriterStats {
            record_count: tail.record_count,
            payload_bytes: tail.payload_bytes,
            sync_count,
        }
    }
}
