//! Closing a database, asked for or not.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::engine::Engine;
use crate::error::{Error, Result};
use crate::event::Event;

impl Engine {
    /// Refuses all further calls, tells background work to stop, and seals manifest and log.
    ///
    /// Nothing is flushed: the log holds what the memtables hold, and is replayed at the next open. Where the writer has stopped,
    /// nothing is sealed or synced either, and the error says so: what was not durable before may not be.
    pub(crate) fn close(&self) -> Result<()> {
        if self.closed.swap(true, Ordering::AcqRel) {
            return Ok(());
        }
        self.work.stop();
        if let Some(cause) = self.stopped.get() {
            let cause = Arc::clone(cause);
            return Err(Error::WriterStopped { cause });
        }
        let may_write = self.log.is_some();
        // Whoever is in the middle of an edit or a commit finishes it first.
        let sealed = {
            let mut versions = self.versions.lock();
            if may_write { versions.seal() } else { Ok(()) }
        };
        let _writer = self.writer.lock();
        if let Some(log) = self.log.as_ref().filter(|_| may_write) {
            log.seal()
                .map_err(|failure| Error::from_log(&self.directory, failure))?;
        }
        sealed
    }

    /// Lets the next opener in. Called when the background threads have ended.
    pub(crate) fn release_lock(&self) {
        self.discard_spare();
        let held = self.directory_lock.lock().take();
        // The first time; what was open for reading only tells nothing.
        if held.is_some() && self.log.is_some() {
            let reads = self.directory.reads.sum();
            self.events().emit(|| Event::Closed {
                filter_negative_count: reads.filtered,
                filter_true_positive_count: reads.found,
                filter_false_positive_count: reads.absent,
            });
            self.events().deliver();
            self.events().log().end();
        }
        drop(held);
    }
}
