//! The sources of a merge: memtables, tables, sorted runs.

use std::sync::Arc;

use super::Bounds;
use super::direction::Direction;
use super::memory::MemorySource;
use super::shade::Shade;
use super::table::{RunSource, TableSource};
use crate::error::Result;
use crate::instant::Instant;
use crate::key::bound_as_slice;
use crate::law::History;
use crate::memtable::Interval;
use crate::overlay::Overlay;
use crate::value::Value;

/// One source; stands on an entry or behind its last.
#[derive(Debug)]
pub(crate) enum Source {
    Memory(MemorySource),
    Table(Box<TableSource>),
    Run(Box<RunSource>),
}

impl Source {
    /// The key stood on; `None` behind the last.
    pub(crate) fn key(&self) -> Option<&[u8]> {
        match self {
            Source::Memory(source) => source.entry().map(|entry| entry.key()),
            Source::Table(source) => source.key(),
            Source::Run(source) => source.key(),
        }
    }

    /// Whether the entry stood on says that its key is alive. Tables hold nothing else.
    pub(crate) fn is_live(&self) -> bool {
        match self {
            Source::Memory(source) => source.entry().is_some_and(|entry| entry.is_live()),
            Source::Table(_) | Source::Run(_) => true,
        }
    }

    /// Adds what the source says of the key stood on. Returns whether nothing older counts.
    pub(crate) fn add_to(&self, history: &mut History) -> Result<bool> {
        match self {
            Source::Memory(source) => Ok(source.entry().is_none_or(|entry| history.add_entry(entry))),
            Source::Table(_) | Source::Run(_) => {
                history.add_record(self.value()?);
                Ok(false)
            }
        }
    }

    /// The value of the live entry stood on.
    pub(crate) fn value(&self) -> Result<Value> {
        match self {
            Source::Memory(source) => {
                let entry = source
                    .entry()
                    .expect("a value is asked for only where there is a key");
                Ok(Value::in_memory(entry))
            }
            Source::Table(source) => source.value(),
            Source::Run(source) => source.value(),
        }
    }

    /// The bytes of that value; of an entry with several parts the oldest. Nothing behind the last entry.
    pub(crate) fn value_bytes(&self) -> &[u8] {
        match self {
            Source::Memory(source) => source.entry().map_or(&[], |entry| entry.value()),
            Source::Table(source) => source.value_bytes(),
            Source::Run(source) => source.value_bytes(),
        }
    }

    /// Steps to the next entry.
    pub(crate) fn advance(&mut self) -> Result<()> {
        match self {
            Source::Memory(source) => {
                source.advance();
                Ok(())
            }
            Source::Table(source) => source.advance(),
            Source::Run(source) => source.advance(),
        }
    }

    /// Steps past an interval that the key stood on lies in: to the next entry, in walking direction, outside it.
    pub(crate) fn pass(&mut self, interval: &Interval) -> Result<()> {
        match self {
            Source::Memory(source) => {
                source.pass(interval);
                Ok(())
            }
            Source::Table(source) => source.pass(interval),
            Source::Run(source) => source.pass(interval),
        }
    }
}

/// The shades of an instant's memtables, each with the number of sources it does not concern: the memtable itself and what
/// is newer. The newest first.
pub(crate) type Shades = Vec<(usize, Shade)>;

/// Every source of an instant that can hold keys of the range, newest first, each standing on its first entry; and what its range
/// deletes hide. The bounds must not be inverted.
pub(crate) fn open_all(
    instant: &Instant,
    keyspace: u32,
    bounds: &Bounds,
    direction: Direction,
) -> Result<(Vec<Source>, Shades)> {
    let slices = (bound_as_slice(&bounds.0), bound_as_slice(&bounds.1));
    let (mut sources, mut shades) = (Vec::new(), Vec::new());
    for root in instant.memtables() {
        if !root.is_empty() {
            sources.push(Source::Memory(MemorySource::new(
                root.clone(),
                keyspace,
                slices,
                direction,
            )));
        }
        if let Some(shade) = Shade::new(root, keyspace, direction) {
            shades.push((sources.len(), shade));
        }
    }
    let Some(view) = instant.version().keyspace(keyspace) else {
        return Ok((sources, shades));
    };
    let overlays: Arc<[Overlay]> = instant.overlays().iter().cloned().collect();
    for table in view.flushed_tables() {
        if table.file.overlaps(bounds) {
            sources.push(Source::Table(Box::new(TableSource::new(
                table.clone(),
                &overlays,
                bounds,
                direction,
            )?)));
        }
    }
    for level in 1..view.levels().len() {
        if let Some(source) = RunSource::new(view, level, &overlays, bounds, direction)? {
            sources.push(Source::Run(Box::new(source)));
        }
    }
    Ok((sources, shades))
}
