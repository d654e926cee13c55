//! What all handles of one open database share; the last of them closes it.

use std::path::Path;
use std::sync::Arc;

use super::engine::Engine;
use crate::background::Workers;
use crate::error::{Error, Result};
use crate::keyspace::Keyspace;
use crate::options::{Background, Options};
use crate::vfs::FileSystem;

/// The engine with its threads.
#[derive(Debug)]
pub(crate) struct DbHandle {
    engine: Arc<Engine>,
    workers: Workers,
}

impl DbHandle {
    pub(crate) fn open(
        file_system: Arc<dyn FileSystem>,
        path: &Path,
        options: Options,
    ) -> Result<Arc<DbHandle>> {
        let has_threads = options.background == Background::Threads && !options.read_only;
        let engine = Engine::open(file_system, path, options)?;
        let workers = if has_threads {
            Workers::start(&engine).map_err(|source| Error::Thread {
                source: Arc::new(source),
            })?
        } else {
            Workers::default()
        };
        Ok(Arc::new(DbHandle { engine, workers }))
    }

    pub(crate) fn engine(&self) -> &Engine {
        &self.engine
    }

    pub(crate) fn default_keyspace(self: &Arc<Self>) -> Keyspace {
        Keyspace::new(Arc::clone(self), self.engine.default_keyspace())
    }

    /// Closes the engine, waits for the threads and lets the next opener in. A second call does nothing.
    pub(crate) fn close(&self) -> Result<()> {
        let closed = self.engine.close();
        self.workers.join();
        self.engine.release_lock();
        closed
    }
}

impl Drop for DbHandle {
    fn drop(&mut self) {
        // Errors of a close that nobody asked for have nobody to go to; the log is replayed at the next open.
        drop(self.close());
    }
}
