//! What a reader collects of one key in a composing keyspace.
//!
//! ```text
//! active   merge d  merge e            collected, newest first:  e  d  c  b      (a put ends it; so do a delete and the oldest table)
//! frozen   merge c                     composed:                 compose(b, compose(c, compose(d, e)))
//! table    [b]
//! ```
//!
//! Composed from the newest on, which an associative law allows: the oldest record tends to be the largest, and is touched once.

use std::borrow::Cow;

use super::traits::Composed;
use crate::error::Result;
use crate::keyspace::KeyspaceCore;
use crate::memtable::EntryRef;
use crate::value::Value;

/// The records of one key, newest first.
#[derive(Debug, Default)]
pub(crate) struct History {
    newest_first: Vec<Value>,
}

impl History {
    /// Adds what a memtable says. Returns whether that ends the history: nothing older counts.
    pub(crate) fn add_entry(&mut self, entry: EntryRef<'_>) -> bool {
        if entry.is_live() {
            let newer = entry.newer_parts().iter().rev().cloned();
            self.newest_first.extend(newer.map(Value::of_part));
            self.newest_first.push(Value::in_memory(entry));
        }
        entry.ends_history()
    }

    /// Adds a live record of a table.
    pub(crate) fn add_record(&mut self, value: Value) {
        self.newest_first.push(value);
    }

    /// Whether nothing was added that is alive.
    pub(crate) fn is_empty(&self) -> bool {
        self.newest_first.is_empty()
    }

    /// Forgets everything.
    pub(crate) fn clear(&mut self) {
        self.newest_first.clear();
    }

    /// The value of the key. One record answers as it is, without a copy and without the law.
    ///
    /// # Errors
    /// There are several and the law is not known, or failed.
    pub(crate) fn compose(&self, keyspace: &KeyspaceCore, key: &[u8]) -> Result<Option<Value>> {
        let Some((newest, older)) = self.newest_first.split_first() else {
            return Ok(None);
        };
        let mut value = Cow::Borrowed(newest);
        for older in older {
            match keyspace.compose(key, older, &value)? {
                Composed::Older => value = Cow::Borrowed(older),
                Composed::Newer => {}
                Composed::Owned(owned) => value = Cow::Owned(Value::owned(owned)),
            }
        }
        Ok(Some(value.into_owned()))
    }
}
