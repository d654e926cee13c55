//! Going on after a full disk.
//!
//! ```text
//! what failed            what is left                        what tries it again
//! a new log segment      the old one, sealed                 the next commit
//! a table of a flush     nothing; the memtable waits         the flush thread, after a pause
//! an output of a merge   nothing; the inputs stay            the compaction thread, after a pause
//! an edit                doubt (version/doubt.rs)            the next edit of anybody
//! ```
//!
//! So writing works again by itself. Only a sync that failed is final: the log's, or the manifest's if not for want of room.

use super::engine::Engine;
use crate::background::Job;
use crate::error::Result;

impl Engine {
    /// Does now what waits for its next try. The first failure ends it.
    pub(crate) fn resume(&self) -> Result<()> {
        self.check_writable()?;
        self.settle_doubt()?;
        while self.step(Job::Flush)? {}
        self.schedule.lock().end_pauses();
        // Every keyspace that waits has its next try: until then its failure refuses writes.
        while self.has_suspended() && self.step(Job::Compact)? {}
        self.work.request_compaction();
        Ok(())
    }

    /// Whether a keyspace's compaction has failed and was not tried again.
    fn has_suspended(&self) -> bool {
        self.schedule.lock().suspended_count() > 0
    }
}
