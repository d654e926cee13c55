//! What all handles of one open database share; the last of them closes it.

use std::path::Path;
use std::sync::Arc;

use crate::engine::Engine;
use crate::error::Result;
use crate::keyspace::Keyspace;
use crate::options::Options;
use crate::vfs::FileSystem;

/// The engine with its threads.
#[derive(Debug)]
pub(crate) struct DbHandle {
    engine: Arc<Engine>,
}

impl DbHandle {
    pub(crate) fn open(
        file_system: Arc<dyn FileSystem>,
        path: &Path,
        options: Options,
    ) -> Result<Arc<DbHandle>> {
        Ok(Arc::new(DbHandle {
            engine: Engine::open(file_system, path, options)?,
        }))
    }

    pub(crate) fn engine(&self) -> &Engine {
        &self.engine
    }

    pub(crate) fn default_keyspace(self: &Arc<Self>) -> Keyspace {
        Keyspace::new(Arc::clone(self), self.engine.default_keyspace())
    }

    pub(crate) fn close(&self) -> Result<()> {
        self.engine.close()
    }
}

impl Drop for DbHandle {
    fn drop(&mut self) {
        // Errors of a close that nobody asked for have nobody to go to; the log is replayed at the next open.
        let _ = self.close();
    }
}
