//! Walks one table's part of a range, and the parts of a sorted run of tables.

use std::ops::{Bound, Range};
use std::sync::Arc;

use super::Bounds;
use super::direction::Direction;
use super::early_kills::EarlyKills;
use crate::error::Result;
use crate::key::bound_as_slice;
use crate::memtable::Interval;
use crate::overlay::Overlay;
use crate::table_file::TableFile;
use crate::unit_table::Cursor;
use crate::value::Value;
use crate::version::{KeyspaceView, TableView};

self_cell::self_cell!(
    /// An open table together with a cursor that borrows it.
    struct TableAndCursor {
        owner: Arc<TableFile>,
        #[not_covariant]
        dependent: Cursor,
    }
);

/// Stands on one live record of a table, or behind the last.
///
/// The bounds are turned into ordinals once; after that no key is compared, and dead records are stepped over by
/// ordinal, without touching their blocks where a whole block is dead.
pub(crate) struct TableSource {
    cell: TableAndCursor,
    view: TableView,
    early_kills: EarlyKills,
    direction: Direction,
    /// The ordinals of the range that were not walked yet, the current one excluded.
    rest: Range<u64>,
    /// The ordinal stood on.
    ordinal: Option<u64>,
    /// The ordinal that the cursor was sent to by key, until that is looked at.
    landed: Option<u64>,
}

impl TableSource {
    /// Stands on the first live record between the bounds, in walking direction. A search a bound, and a seek where none of them
    /// was it.
    pub(crate) fn new(
        view: TableView,
        overlays: &[Overlay],
        bounds: &Bounds,
        direction: Direction,
    ) -> Result<Self> {
        let file = Arc::clone(&view.file);
        let mut cell = TableAndCursor::new(Arc::clone(&file), |file| file.cursor());
        let upper = bound_as_slice(&bounds.1);
        let (rest, landed) = match (direction, &bounds.0) {
            // The search for the bound is the seek.
            (Direction::Forward, Bound::Included(key)) => {
                let landed = cell.with_dependent_mut(|_, cursor| cursor.seek(key));
                let landed = landed.map_err(|error| file.error(error))?;
                let end = file.ordinals(Bound::Unbounded, upper)?.end;
                (landed..end.max(landed), Some(landed))
            }
            (_, lower) => (file.ordinals(bound_as_slice(lower), upper)?, None),
        };
        let mut source = TableSource {
            cell,
            early_kills: EarlyKills::new(overlays.iter(), view.file.number(), direction),
            view,
            direction,
            rest,
            ordinal: None,
            landed,
        };
        source.advance()?;
        Ok(source)
    }

    /// The key stood on; `None` behind the last.
    pub(crate) fn key(&self) -> Option<&[u8]> {
        self.ordinal?;
        Some(self.cell.with_dependent(|_, cursor| -> &[u8] {
            // The cursor's key lives as long as the borrow of the cell.
            cursor.key()
        }))
    }

    /// The value stood on.
    pub(crate) fn value(&self) -> Result<Value> {
        let range = self.cell.with_dependent(|_, cursor| cursor.value());
        Ok(Value::in_table(Arc::clone(&self.view.file), range))
    }

    /// The bytes in which that value lies.
    pub(crate) fn value_bytes(&self) -> &[u8] {
        let place = self.cell.with_dependent(|_, cursor| cursor.value());
        &self.view.file.bytes()[place.bytes]
    }

    /// Steps to the next live record of the range.
    pub(crate) fn advance(&mut self) -> Result<()> {
        let next = self.early_kills.next_live(&self.view.dead, self.rest.clone());
        let Some(next) = next else {
            self.rest = 0..0;
            self.ordinal = None;
            return Ok(());
        };
        let current = self.ordinal;
        let landed = self.landed.take();
        let moved = self.cell.with_dependent_mut(|_, cursor| {
            if landed == Some(next) {
                Ok(true)
            } else if current.is_some_and(|current| current + 1 == next) {
                cursor.next()
            } else if current.is_some_and(|current| next + 1 == current) {
                cursor.prev()
            } else {
                cursor.seek_ordinal(next)
            }
        });
        self.view.file.expect_record(moved, next)?;
        match self.direction {
            Direction::Forward => self.rest.start = next + 1,
            Direction::Backward => self.rest.end = next,
        }
        self.ordinal = Some(next);
        Ok(())
    }
}

impl TableSource {
    /// Steps to the next live record outside an interval that the key stood on lies in. One search.
    pub(crate) fn pass(&mut self, interval: &Interval) -> Result<()> {
        let inside = self.view.file.ordinals_in(interval)?;
        match self.direction {
            Direction::Forward => self.rest.start = self.rest.start.max(inside.end).min(self.rest.end),
            Direction::Backward => self.rest.end = self.rest.end.min(inside.start).max(self.rest.start),
        }
        self.advance()
    }
}

impl std::fmt::Debug for TableSource {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TableSource")
            .field("table", &self.view.file.number())
            .field("ordinal", &self.ordinal)
            .finish_non_exhaustive()
    }
}

/// Walks the tables of a sorted run one after the other; one is open at a time.
#[derive(Debug)]
pub(crate) struct RunSource {
    view: Arc<KeyspaceView>,
    overlays: Arc<[Overlay]>,
    level: usize,
    /// Indices of the run's tables that were not walked yet.
    rest: Range<usize>,
    bounds: Bounds,
    direction: Direction,
    open: Option<TableSource>,
}

impl RunSource {
    /// Stands on the first live record of a level between the bounds; `None` where no table of it overlaps them. Two searches
    /// over the level, then one table is opened.
    pub(crate) fn new(
        view: &Arc<KeyspaceView>,
        level: usize,
        overlays: &Arc<[Overlay]>,
        bounds: &Bounds,
        direction: Direction,
    ) -> Result<Option<Self>> {
        let rest = overlapping(&view.levels()[level], bounds);
        if rest.is_empty() {
            return Ok(None);
        }
        let (view, bounds) = (Arc::clone(view), bounds.clone());
        let mut source = RunSource {
            view,
            overlays: Arc::clone(overlays),
            level,
            rest,
            bounds,
            direction,
            open: None,
        };
        source.open_next()?;
        Ok(Some(source))
    }

    /// Opens tables until one has a live record in the range.
    fn open_next(&mut self) -> Result<()> {
        loop {
            let index = match self.direction {
                Direction::Forward => self.rest.next(),
                Direction::Backward => self.rest.next_back(),
            };
            self.open = match index {
                None => None,
                Some(index) => {
                    let table = self.view.levels()[self.level][index].clone();
                    Some(TableSource::new(
                        table,
                        &self.overlays,
                        &self.bounds,
                        self.direction,
                    )?)
                }
            };
            match &self.open {
                Some(source) if source.key().is_none() => {}
                _ => return Ok(()),
            }
        }
    }

    /// The key stood on; `None` behind the last.
    pub(crate) fn key(&self) -> Option<&[u8]> {
        self.open.as_ref()?.key()
    }

    /// The value stood on.
    pub(crate) fn value(&self) -> Result<Value> {
        self.open
            .as_ref()
            .expect("a value is asked for only where there is a key")
            .value()
    }

    /// The bytes in which that value lies; none behind the last.
    pub(crate) fn value_bytes(&self) -> &[u8] {
        self.open.as_ref().map_or(&[], TableSource::value_bytes)
    }

    /// Steps to the next live record of the run.
    pub(crate) fn advance(&mut self) -> Result<()> {
        let Some(open) = &mut self.open else { return Ok(()) };
        open.advance()?;
        if open.key().is_none() {
            self.open_next()
        } else {
            Ok(())
        }
    }
}

impl RunSource {
    /// Steps to the next live record outside an interval that the key stood on lies in. Tables within it are not opened.
    pub(crate) fn pass(&mut self, interval: &Interval) -> Result<()> {
        let Some(open) = &mut self.open else { return Ok(()) };
        open.pass(interval)?;
        if open.key().is_some() {
            return Ok(());
        }
        let tables = &self.view.levels()[self.level][self.rest.clone()];
        match self.direction {
            Direction::Forward => {
                self.rest.start +=
                    tables.partition_point(|table| interval.ends_behind(table.file.last_key()));
            }
            Direction::Backward => {
                let before = tables.partition_point(|table| table.file.first_key() < interval.start());
                self.rest.end = self.rest.start + before;
            }
        }
        self.open_next()?;
        match self.key() {
            Some(key) if interval.contains(key) => self.pass(interval),
            _ => Ok(()),
        }
    }
}

/// The tables of a sorted run that can hold a key between the bounds. Two binary searches.
fn overlapping(run: &[TableView], bounds: &Bounds) -> Range<usize> {
    let start = run.partition_point(|table| !ends_behind_start(table.file.last_key(), bounds));
    let end = run.partition_point(|table| starts_before_end(table.file.first_key(), bounds));
    start..end.max(start)
}

/// Whether a table whose keys lie in `first..=last` can hold a key between the bounds.
pub(crate) fn key_span_overlaps(first: &[u8], last: &[u8], bounds: &Bounds) -> bool {
    starts_before_end(first, bounds) && ends_behind_start(last, bounds)
}

fn starts_before_end(first: &[u8], bounds: &Bounds) -> bool {
    match &bounds.1 {
        Bound::Unbounded => true,
        Bound::Included(upper) => first <= &upper[..],
        Bound::Excluded(upper) => first < &upper[..],
    }
}

fn ends_behind_start(last: &[u8], bounds: &Bounds) -> bool {
    match &bounds.0 {
        Bound::Unbounded => true,
        Bound::Included(lower) => last >= &lower[..],
        Bound::Excluded(lower) => last > &lower[..],
    }
}
