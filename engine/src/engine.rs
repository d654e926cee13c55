//! The machine behind the handles. (Bodies follow; the signatures stand.)

use std::path::Path;
use std::sync::Arc;

use crate::batch::record::RecordBuilder;
use crate::error::Result;
use crate::instant::Instant;
use crate::keyspace::{Keyspace, KeyspaceCore};
use crate::options::{Durability, KeyspaceOptions, Options};
use crate::stats::Stats;
use crate::value::Value;
use crate::verify::VerifyReport;
use crate::vfs::FileSystem;

#[derive(Debug)]
pub(crate) struct Engine {
    options: Options,
}

impl Engine {
    pub(crate) fn open(_fs: Arc<dyn FileSystem>, _path: &Path, _options: Options) -> Result<Arc<Engine>> {
        todo!("open and recovery")
    }
    pub(crate) fn options(&self) -> &Options {
        &self.options
    }
    pub(crate) fn default_keyspace(&self) -> Arc<KeyspaceCore> {
        todo!("keyspaces")
    }
    pub(crate) fn keyspace(&self, _name: &str, _options: &KeyspaceOptions) -> Result<Arc<KeyspaceCore>> {
        todo!("keyspaces")
    }
    pub(crate) fn keyspace_names(&self) -> Vec<String> {
        todo!("keyspaces")
    }
    pub(crate) fn instant(&self) -> Instant {
        todo!("reads")
    }
    pub(crate) fn get(&self, _keyspace: u32, _key: &[u8]) -> Result<Option<Value>> {
        todo!("reads")
    }
    pub(crate) fn commit(&self, _: &RecordBuilder, _: &[Keyspace], _: Durability) -> Result<()> {
        todo!("writes")
    }
    pub(crate) fn flush_all(&self) -> Result<()> {
        todo!("flush")
    }
    pub(crate) fn compact_all(&self) -> Result<()> {
        todo!("compaction")
    }
    pub(crate) fn run_background_step(&self) -> Result<bool> {
        todo!("background work")
    }
    pub(crate) fn verify(&self) -> Result<VerifyReport> {
        todo!("verify")
    }
    pub(crate) fn stats(&self) -> Stats {
        todo!("statistics")
    }
    pub(crate) fn close(&self) -> Result<()> {
        todo!("close")
    }
}
