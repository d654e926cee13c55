//! The next log segment, made ahead of time.
//!
//! Making a segment sets room aside and syncs twice, and a rotation happens under the commit lock. So the flush thread keeps one
//! ready. Segments must follow each other in ascending order of their numbers: a spare that does not serve (too small for a long
//! record, or finished too late) is thrown away, not kept for later.

use tephra_wal::{LogSegment, PreparedSegment};

use super::engine::Engine;
use super::write::prepare_segment;
use crate::error::Result;
use crate::file_name::FileName;

/// A segment ready to be put in use.
pub(crate) type Prepared = PreparedSegment<Box<dyn LogSegment>>;

impl Engine {
    /// Makes a spare segment if there is none. Called by the flush thread; a failure matters only when the segment is needed.
    pub(crate) fn prepare_spare(&self) {
        if self.spare.lock().is_some() || self.check_writable().is_err() {
            return;
        }
        // Ahead of need only where there is plenty of room: a flush needs it more.
        if let Ok(prepared) = self.prepare_segment(0, false) {
            let replaced = self.spare.lock().replace(prepared);
            replaced.into_iter().for_each(|spare| self.discard(spare));
        }
    }

    /// The segment after `active`, with room for a record of this length: the spare, or one made now. The caller holds the commit
    /// lock.
    pub(super) fn next_segment(&self, active: u64, payload_len_bytes: usize) -> Result<Prepared> {
        let serves = |spare: &Prepared| {
            // A spare that was finished while a rotation made a segment of its own has come too late.
            spare.number() > active && spare.payload_len_bytes_max() >= payload_len_bytes as u64
        };
        let spare = self.spare.lock().take();
        match spare {
            Some(spare) if serves(&spare) => Ok(spare),
            useless => {
                useless.into_iter().for_each(|spare| self.discard(spare));
                self.prepare_segment(payload_len_bytes, true)
            }
        }
    }

    fn prepare_segment(&self, payload_len_bytes: usize, may_be_small: bool) -> Result<Prepared> {
        let number = self.next_file_number();
        prepare_segment(
            &self.directory,
            self.options.memtable_bytes,
            number,
            payload_len_bytes,
            may_be_small,
        )
    }

    /// Removes a segment that was never in use. One that stays is removed at the next open.
    pub(super) fn discard(&self, segment: Prepared) {
        let number = segment.number();
        drop(segment);
        drop(self.directory.remove(FileName::Segment(number)));
    }

    /// Removes the spare, for the database is being closed, or its room is needed. Returns whether there was one.
    pub(crate) fn discard_spare(&self) -> bool {
        let spare = self.spare.lock().take();
        let had_one = spare.is_some();
        spare.into_iter().for_each(|spare| self.discard(spare));
        had_one
    }
}
