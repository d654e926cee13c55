//! Merges the streams of tables into new tables of a level.
//!
//! ```text
//! inputs    |--------------------------------|
//!           |  part 0  |  part 1  |  part 2  |     ranges of keys of about one size, each cut into tables of its own
//!                ^          ^          ^
//!                '----------+----------'           done by the threads that are free; one file sink each
//! ```
//!
//! The parts depend on the inputs alone, so the tables hold the same records whatever the number of threads. The first failure
//! ends all parts, and then no file stays.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tephra_compaction::job::{plan_subranges, select_subrange};
use tephra_compaction::{
    CompactionError, Law, MergeError, MergeInput, MergeReport, MergeUnit, Observer, Replace, merge_tables,
};
use tephra_sstable::{Bit, Byte, Table, TableOptions, UnitKind};

use super::sink::{TableSink, open_tables};
use crate::background::run_all;
use crate::cancel::Cancel;
use crate::db::Engine;
use crate::error::{Error, Result};
use crate::keyspace::KeyspaceCore;
use crate::law::{NamedLaw, WithLaw};
use crate::sorted_map::SortedMap;
use crate::table_file::TableFile;
use crate::unit_table::UnitTable;
use crate::version::TableView;
use crate::vfs::FileBytes;

/// Bytes of inputs to a part, in target sizes of a table: enough that the last table of a part, which may be small, is one of
/// several.
const PART_TABLES: u64 = 4;

/// Most parts of one job.
const PARTS_MAX: u64 = 32;

/// Into how many parts a merge of so many bytes is split.
pub(super) fn part_count(input_bytes: u64, target_table_bytes: u64) -> usize {
    let parts = input_bytes / target_table_bytes.max(1).saturating_mul(PART_TABLES);
    usize::try_from(parts.clamp(1, PARTS_MAX)).expect("a small number")
}

/// One merge.
pub(super) struct Merge<'a> {
    pub(super) core: &'a KeyspaceCore,
    /// Oldest first, with their dead sets.
    pub(super) inputs: &'a [TableView],
    pub(super) level: u32,
    pub(super) threads: usize,
    pub(super) cancel: &'a Cancel,
}

impl Merge<'_> {
    /// Writes, syncs and opens the union of the inputs as tables of about the target size. Where it fails, no file stays.
    pub(super) fn run(&self, engine: &Engine) -> Result<SortedMap<u64, Arc<TableFile>>> {
        match self.core.settings.unit {
            UnitKind::Byte => self.run_in(engine, UnitTable::as_bytes, with_law),
            // No law composes bits.
            UnitKind::Bit => self.run_in(engine, UnitTable::as_bits, |_, part: Part<'_, '_, Bit>| {
                part.with(Replace)
            }),
        }
    }

    /// `table_of` gives the table of an open one that has the unit; `start` merges a part under the keyspace's law.
    fn run_in<U: MergeUnit>(
        &self,
        engine: &Engine,
        table_of: TableOf<U>,
        start: Start<U>,
    ) -> Result<SortedMap<u64, Arc<TableFile>>> {
        let alive: Vec<&TableView> = self
            .inputs
            .iter()
            .filter(|table| table.live_count() > 0)
            .collect();
        let law = match self.core.is_composing() {
            true => Some(self.core.law()?),
            false => None,
        };
        let tables: Vec<_> = alive.iter().map(|view| table_of(view.file.table())).collect();
        let parts = self.plan(engine, &alive, &tables)?;
        let has_failed = AtomicBool::new(false);
        let tasks: Vec<_> = parts
            .iter()
            .map(|ranges| {
                let (alive, tables, has_failed) = (&alive, &tables, &has_failed);
                move || {
                    let mut sink = TableSink::new(engine, self.core, self.level);
                    let watch = Watch {
                        engine,
                        cancel: self.cancel,
                        has_failed,
                    };
                    let dead = alive.iter().map(|view| view.dead.as_deref());
                    let given: Vec<_> = tables.iter().copied().zip(dead).collect();
                    let outcome = select_subrange(&given, ranges)
                        .map_err(CompactionError::from)
                        .and_then(|given| {
                            if given.is_empty() {
                                return Ok(());
                            }
                            let part = Part {
                                given: &given,
                                options: self.core.settings.table_options(0, 0, None),
                                cut_bytes: self.cut_bytes(engine, alive, ranges),
                                sink: &mut sink,
                                watch: &watch,
                            };
                            start(law, part).map(drop)
                        });
                    has_failed.fetch_or(outcome.is_err(), Ordering::Release);
                    (sink, outcome)
                }
            })
            .collect();
        let (sinks, outcomes): (Vec<_>, Vec<_>) = run_all(self.threads, tasks).into_iter().unzip();
        let opened = self
            .verdict(engine, outcomes)
            .and_then(|()| open_tables(engine, self.core.settings.unit, &sinks));
        if opened.is_err() {
            sinks.iter().for_each(TableSink::remove_files);
        }
        opened
    }

    /// The ranges of ordinals of each input, part by part.
    fn plan<U: MergeUnit>(
        &self,
        engine: &Engine,
        alive: &[&TableView],
        tables: &[&Table<FileBytes, U>],
    ) -> Result<Vec<Vec<Range<u64>>>> {
        if alive.is_empty() {
            return Ok(Vec::new());
        }
        for (view, table) in alive.iter().zip(tables) {
            // Checks every page of the stream against its checksum.
            table.verify_payload().map_err(|error| view.file.error(error))?;
        }
        let input_bytes = self.inputs.iter().map(|table| table.file.len_bytes()).sum();
        let parts = part_count(input_bytes, engine.target_table_bytes(self.core));
        plan_subranges(tables, parts as u64).map_err(|error| self.failed(error.into()))
    }

    /// Where the outputs of a part are cut: at the target size, or earlier where that gives as many tables of one size.
    fn cut_bytes(&self, engine: &Engine, alive: &[&TableView], ranges: &[Range<u64>]) -> u64 {
        let share = |(view, range): (&&TableView, &Range<u64>)| {
            let bytes = u128::from(view.file.len_bytes()) * u128::from(range.end - range.start);
            u64::try_from(bytes / u128::from(view.file.record_count().max(1))).unwrap_or(u64::MAX)
        };
        let part_bytes: u64 = alive.iter().zip(ranges).map(share).sum();
        let target_bytes = engine.target_table_bytes(self.core);
        let even_bytes = part_bytes / part_bytes.div_ceil(target_bytes.max(1)).max(1);
        // Somewhat more, so that what one table is short of does not become a table of its own.
        target_bytes.min(even_bytes.saturating_add(even_bytes / 8).max(1))
    }

    /// The failure to report: of those that are not the consequence of another, that of the smallest keys.
    fn verdict(
        &self,
        engine: &Engine,
        outcomes: Vec<std::result::Result<(), CompactionError>>,
    ) -> Result<()> {
        let is_consequence = |failure: &CompactionError| matches!(failure, CompactionError::Cancelled { .. });
        let failures = outcomes.into_iter().filter_map(|outcome| outcome.err());
        match failures.min_by_key(is_consequence) {
            None => Ok(()),
            Some(CompactionError::Cancelled { .. }) if engine.work.is_stopping() => Err(Error::Closed),
            Some(CompactionError::Cancelled { .. }) => Err(Error::CompactionCancelled {
                keyspace: self.core.name.clone(),
            }),
            Some(failure) => Err(self.failed(failure)),
        }
    }

    fn failed(&self, source: CompactionError) -> Error {
        if let CompactionError::Merge(MergeError::Law { .. } | MergeError::ValueWidth { .. }) = &source {
            return Error::LawStopsCompaction {
                keyspace: self.core.name.clone(),
                law: self.core.settings.law_name().to_owned(),
                source: Arc::new(source),
            };
        }
        Error::Compaction {
            keyspace: self.core.name.clone(),
            level: self.level,
            source: Arc::new(source),
        }
    }
}

type Outcome = std::result::Result<MergeReport, CompactionError>;

/// The table of an open one that has the unit.
type TableOf<U> = fn(&UnitTable) -> &Table<FileBytes, U>;

/// Merges a part under a law; `None` where newer values replace older ones.
type Start<U> = fn(Option<&NamedLaw>, Part<'_, '_, U>) -> Outcome;

/// A part that waits for its law.
struct Part<'a, 'e, U: MergeUnit> {
    given: &'a [MergeInput<'a, U>],
    options: TableOptions,
    cut_bytes: u64,
    sink: &'a mut TableSink<'e>,
    watch: &'a Watch<'a>,
}

impl<U: MergeUnit> Part<'_, '_, U> {
    fn with<L: Law<U>>(self, law: L) -> Outcome {
        merge_tables(
            self.given,
            law,
            self.cut_bytes,
            &self.options,
            self.sink,
            self.watch,
        )
    }
}

impl WithLaw for Part<'_, '_, Byte> {
    type Outcome = Outcome;

    fn run<L: Law<Byte>>(self, law: L) -> Outcome {
        self.with(law)
    }
}

/// Merges a part of a keyspace of byte strings.
fn with_law(law: Option<&NamedLaw>, part: Part<'_, '_, Byte>) -> Outcome {
    match law {
        Some(law) => law.apply(part),
        None => part.with(Replace),
    }
}

/// Ends a part early when the caller wants to, the database is being closed, or another part has failed.
struct Watch<'a> {
    engine: &'a Engine,
    cancel: &'a Cancel,
    has_failed: &'a AtomicBool,
}

impl Observer for Watch<'_> {
    fn is_cancelled(&self) -> bool {
        self.has_failed.load(Ordering::Acquire)
            || self.cancel.is_cancelled()
            || self.engine.work.is_stopping()
    }
}
