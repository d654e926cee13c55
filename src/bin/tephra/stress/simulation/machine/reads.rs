//! Look-ups and scans.

use super::super::model::{difference_of_maps, shown};
use super::super::plan::NAMES;
use super::{Check, Machine};

impl Machine<'_> {
    pub(super) fn get(&mut self, keyspace: usize, key: &[u8]) -> Check {
        let Some(handle) = self.session().keyspaces.get(&keyspace).cloned() else {
            return Ok(());
        };
        let expected = self.model.map(self.model.names()[&keyspace]);
        let expected = expected.get(key).map(Vec::as_slice);
        match self.session().read("a look-up", handle.get(key))? {
            Some(found) if found.as_deref() != expected => Err(format!(
                "a look-up: expected {}, found {}",
                shown(expected),
                shown(found.as_deref())
            )),
            _ => Ok(()),
        }
    }

    pub(super) fn scan(&mut self, keyspace: usize, from: &[u8], to: &[u8], is_backwards: bool) -> Check {
        let session = self.session.as_ref().expect("open between steps");
        let Some(handle) = session.keyspaces.get(&keyspace) else {
            return Ok(());
        };
        let Some(found) = session.read("a scan", handle.scan(from, to, is_backwards))? else {
            return Ok(());
        };
        let mut expected = self.model.map(self.model.names()[&keyspace]);
        expected.retain(|key, _| key.as_slice() >= from && key.as_slice() < to);
        difference_of_maps(NAMES[keyspace], &expected, &found).map_or(Ok(()), Err)
    }
}
