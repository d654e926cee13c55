//! An instant of the store: a tuple of immutable roots.

use crate::error::Result;
use crate::value::Value;

#[derive(Clone, Debug)]
pub(crate) struct Instant {}

impl Instant {
    pub(crate) fn get(&self, _keyspace: u32, _key: &[u8]) -> Result<Option<Value>> {
        todo!("reads")
    }
}
