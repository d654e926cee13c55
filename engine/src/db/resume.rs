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
        let has_failed = {
            let mut schedule = self.schedule.lock();
            schedule.end_pauses();
            schedule.suspended_count() > 0
        };
        if has_failed {
            self.step(Job::Compact)?;
        }
        self.work.request_compaction();
        Ok(())
    }
}
