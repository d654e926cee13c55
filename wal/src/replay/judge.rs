//! Tells the end of what survived a crash from damage.
//!
//! After a loss of power any sector that was not synced may be missing, in any order, so valid records behind a bad
//! place are legal, and so is dropping them: they were not promised. After the death of a process nothing is missing but the end
//! of the record that was being written. A bad place is *damage* if one of these is found behind it:
//!
//! | evidence | why |
//! |---|---|
//! | a file shorter than its header says | it gets its length before it is used, and keeps it until it is sealed |
//! | a sync mark beyond the place | it had reached the disk |
//! | a valid record in a segment of today's boot | no power was lost since; a process writes in order |
//! | the next segment, begun in another boot than this one | recovery had read this one from the disk, and found it good |
//! | a valid record, and no lost sector between | a sector not written is zero from some byte to its end, in a fresh file |
//!
//! The last one holds also for the sector that was written back half filled: its rest is zero. A sector that holds bytes of
//! the later record is as new as that record, so only sectors that end before it can be missing.

use super::Segment;
use super::report::{DamageKind, Dropped, Evidence};
use crate::header::{BootId, HEADER_LEN_BYTES, array};
use crate::record::{RecordFault, RecordKind};
use crate::writer::LogPosition;

/// What a disk writes whole or not at all.
const SECTOR_LEN_BYTES: usize = 512;

/// A place without a valid record, which is not the ordinary end of the log.
#[derive(Debug)]
pub(super) struct BadPlace<'s, 'a> {
    pub(super) segments: &'s [Segment<'a>],
    pub(super) index: usize,
    pub(super) offset: usize,
    pub(super) limit: Option<usize>,
    pub(super) fault: RecordFault,
    pub(super) today: BootId,
}

impl BadPlace<'_, '_> {
    /// The damage, if it is one.
    pub(super) fn damage(&self) -> Option<DamageKind> {
        let evidence = self.was_cut_short();
        let evidence = evidence
            .or_else(|| self.was_synced())
            .or_else(|| self.was_followed());
        evidence.map(|evidence| DamageKind::Record {
            fault: self.fault,
            evidence,
        })
    }

    /// The bytes of the segment that count.
    fn bytes(&self) -> &[u8] {
        let bytes = self.segments[self.index].bytes;
        &bytes[..self.limit.unwrap_or(bytes.len()).min(bytes.len())]
    }

    /// The file has lost its end.
    fn was_cut_short(&self) -> Option<Evidence> {
        let segment = &self.segments[self.index];
        segment.is_cut_short().then_some(Evidence::CutShort {
            reserved_bytes: segment.reserved_bytes,
            found_bytes: segment.bytes.len() as u64,
        })
    }

    /// A mark behind the place that covers it; in a later segment every mark does.
    fn was_synced(&self) -> Option<Evidence> {
        for (index, segment) in self.segments.iter().enumerate().skip(self.index) {
            let own = index == self.index;
            let bytes = if own { self.bytes() } else { segment.bytes };
            let mut from = if own { self.offset } else { HEADER_LEN_BYTES };
            while let Some(record) = segment.framing.find_next(bytes, from) {
                let through = match (record.kind, record.payload.len()) {
                    (RecordKind::SyncMark, 8) => u64::from_le_bytes(array(record.payload)),
                    _ => 0,
                };
                if record.kind == RecordKind::SyncMark && (!own || through > self.offset as u64) {
                    return Some(Evidence::WasSynced {
                        mark: position(segment, record.offset),
                    });
                }
                from = usize::try_from(record.end()).expect("the record lies in memory");
            }
        }
        None
    }

    /// A valid record behind the place, where no crash leaves one.
    fn was_followed(&self) -> Option<Evidence> {
        let own = &self.segments[self.index];
        let bytes = self.bytes();
        let record = own.framing.find_next(bytes, self.offset);
        let next = record.map(|record| position(own, record.offset));
        if let Some(next) = next.filter(|_| own.boot_id.surely_same(self.today)) {
            return Some(Evidence::SameBoot { next });
        }
        if let Some(limit) = self.limit
            && let Some(later) = self.follower(limit as u64)
        {
            let next = position(later, HEADER_LEN_BYTES as u64);
            if later.boot_id.surely_same(self.today) {
                return Some(Evidence::SameBoot { next });
            }
            if later.boot_id.surely_different(own.boot_id) {
                return Some(Evidence::WasReplayed { next });
            }
        }
        let record = record?;
        let until = usize::try_from(record.offset).expect("the record lies in memory");
        let next = position(own, record.offset);
        (!lost_sector_within(bytes, self.offset, until)).then_some(Evidence::NotALostSector { next })
    }

    /// The segment whose `Begin` record says that this one was whole up to `limit`.
    fn follower(&self, limit: u64) -> Option<&Segment<'_>> {
        let end = LogPosition {
            segment: self.segments[self.index].number,
            offset: limit,
        };
        self.segments[self.index + 1..]
            .iter()
            .rfind(|later| later.begin == Some(end))
    }

    /// Everything from the place on, by segment.
    pub(super) fn dropped(&self) -> Vec<Dropped> {
        let mut dropped = Vec::new();
        for (index, segment) in self.segments.iter().enumerate().skip(self.index) {
            let own = index == self.index;
            let from = if own { self.offset } else { HEADER_LEN_BYTES };
            let used = segment
                .bytes
                .iter()
                .rposition(|&byte| byte != 0)
                .map_or(0, |last| last + 1);
            if own || used > from {
                let (from, to) = (from as u64, used.max(from) as u64);
                dropped.push(Dropped {
                    segment: segment.number,
                    from,
                    to,
                    fault: own.then_some(self.fault),
                });
            }
        }
        dropped
    }
}

fn position(segment: &Segment<'_>, offset: u64) -> LogPosition {
    LogPosition {
        segment: segment.number,
        offset,
    }
}

/// Does a sector that ends within `from..until` end in a zero, as one does that was not, or not wholly, written?
fn lost_sector_within(bytes: &[u8], from: usize, until: usize) -> bool {
    let first_end = (from / SECTOR_LEN_BYTES + 1) * SECTOR_LEN_BYTES;
    (first_end..=until)
        .step_by(SECTOR_LEN_BYTES)
        .any(|end| bytes[end - 1] == 0)
}
