//! Early kills: deletes that were settled before their flush, in tables that a compaction replaces.
//!
//! ```text
//! overlay of the active memtable    12: 1..3                  input 12   a [b c] d        b and c are dead, but not durably so
//! output 40                         a b c d e                 the compaction has copied them
//! overlay afterwards                40: 1..3                  moved in the step that publishes the output
//! ```
//!
//! A compaction does not leave out what only an overlay kills: a power cut may still take the deletes back, and then the records must be
//! there. So the kills move to where the keys went. Found are they before any lock that a writer waits for; between that and
//! the publication no delete is settled (the engine's `resolving`).

use std::ops::Range;
use std::sync::Arc;

use super::late_kills::carry_over;
use crate::db::Engine;
use crate::dead_set::{live_runs, runs_of};
use crate::error::Result;
use crate::instant::{FrozenMemtable, Instant, Layers};
use crate::memtable::Memtable;
use crate::sorted_map::SortedMap;
use crate::table_file::TableFile;
use crate::version::{TableView, Version};

/// Where kills of overlays go when tables are replaced.
#[derive(Debug, Default)]
pub(super) struct MovedKills {
    /// The replaced tables.
    gone: Vec<u64>,
    /// By log segment, which names the generation: what is killed in the tables that replace them.
    moved: SortedMap<u64, Vec<(u64, Range<u64>)>>,
}

impl MovedKills {
    /// Looks the kills up. The caller holds the engine's `resolving`.
    pub(super) fn find(
        engine: &Engine,
        inputs: &[TableView],
        outputs: &SortedMap<u64, Arc<TableFile>>,
    ) -> Result<MovedKills> {
        let (instant, active_segment) = engine.instant_and_segment();
        let frozen = instant.layers.frozen.iter();
        let generations = frozen
            .map(|frozen| (frozen.segment, &frozen.root))
            .chain(std::iter::once((active_segment, &instant.active)));
        let mut kills = MovedKills {
            gone: inputs.iter().map(|input| input.file.number()).collect(),
            moved: SortedMap::new(),
        };
        for (segment, root) in generations {
            let overlay = root.overlay();
            let mut numbers = kills.gone.iter();
            if !numbers.any(|&number| overlay.concerns(number)) {
                continue;
            }
            let killed = |input: &'_ TableView, rest: Range<u64>| -> Vec<u64> {
                let runs = overlay.runs_of(input.file.number());
                let inside = runs.map(|run| run.start.max(rest.start)..run.end.min(rest.end));
                inside
                    .filter(|run| !run.is_empty())
                    .flat_map(|run| live_runs(&input.dead, run).flatten())
                    .collect()
            };
            let found = carry_over(inputs, root.settled(), outputs, |input, rest| {
                Box::new(killed(input, rest).into_iter())
            })?;
            let runs = found
                .iter()
                .flat_map(|(&table, ordinals)| runs_of(ordinals).map(move |run| (table, run)));
            kills.moved.insert(segment, runs.collect());
        }
        Ok(kills)
    }

    /// Makes the changes of one generation. Returns whether there were any.
    fn apply(&self, segment: u64, root: &mut Memtable) -> bool {
        let moved = self.moved.get(&segment);
        if let Some(moved) = moved {
            root.move_kills(&self.gone, moved);
        }
        moved.is_some()
    }
}

impl Engine {
    /// Publishes a version in which tables are replaced, with the overlays that fit it, in one step. The caller holds the version set
    /// and `resolving`.
    pub(super) fn publish_moving(&self, version: Arc<Version>, kills: &MovedKills) {
        if kills.moved.is_empty() {
            return self.publish(version, None);
        }
        // Nobody else changes memtables, or freezes one, for as long as this is held.
        let writer = self.writer.lock();
        let Instant { mut active, layers } = self.instant();
        kills.apply(writer.segment, &mut active);
        let frozen = layers.frozen.iter().map(|frozen| {
            let mut root = frozen.root.clone();
            if kills.apply(frozen.segment, &mut root) {
                Arc::new(FrozenMemtable {
                    root,
                    older_segments: frozen.older_segments.clone(),
                    ..**frozen
                })
            } else {
                Arc::clone(frozen)
            }
        });
        let frozen = frozen.collect();
        let published = Instant {
            active,
            layers: Arc::new(Layers { frozen, version }),
        };
        let retired = std::mem::replace(&mut *self.state.write(), published);
        drop(writer);
        self.work.announce_progress();
        drop((retired, layers));
    }
}
