//! Closing a database, asked for or not.

use std::sync::atomic::Ordering;

use super::engine::Engine;
use crate::error::{Error, Result};

impl Engine {
    /// Refuses all further calls, tells background work to stop, and seals the log.
    ///
    /// Nothing is flushed: the log holds what the memtables hold, and is replayed at the next open.
    pub(crate) fn close(&self) -> Result<()> {
        if self.closed.swap(true, Ordering::AcqRel) {
            return Ok(());
        }
        self.work.stop();
        // Whoever is in the middle of an edit or a commit finishes it first.
        drop(self.versions.lock());
        let _writer = self.writer.lock();
        let sealed = match &self.log {
            Some(log) if self.stopped.get().is_none() => log.seal(),
            _ => Ok(()),
        };
        sealed.map_err(|failure| Error::from_log(&self.directory, failure))
    }

    /// Lets the next opener in. Called when the background threads have ended.
    pub(crate) fn release_lock(&self) {
        drop(self.directory_lock.lock().take());
    }
}
