//! The options of one history, in a form that can be printed.

use std::sync::Arc;

use tephradb::clock::Clock;
use tephradb::{AppendBytes, Background, Durability, KeyspaceOptions, Options};

use super::plan::{COMPOSING, NAMES};
use super::rng::Rng;

/// The name of the composing keyspace's law.
const LAW: &str = "append";

/// Tiny, so that a hundred operations cross every border between log, memtable, flushed table, merged table and manifest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Settings {
    pub(crate) memtable_bytes: usize,
    pub(crate) target_table_bytes: u64,
    /// Of ordinary values. Long ones make tables of several pages.
    pub(crate) value_len_bytes_max: usize,
    pub(crate) l0_compaction_trigger: usize,
    pub(crate) l0_tables_max: usize,
    pub(crate) frozen_memtables_max: usize,
    pub(crate) manifest_bytes: u64,
    /// 0 for no event log.
    pub(crate) event_log_bytes: u64,
    /// Writers never have to help with the background's work, so that operations may run in the middle of it.
    pub(crate) is_roomy: bool,
}

impl Settings {
    pub(crate) fn random(rng: &mut Rng) -> Settings {
        let is_roomy = rng.below(3) > 0;
        let l0_compaction_trigger = 1 + rng.index(4);
        Settings {
            memtable_bytes: rng.pick(&[200, 400, 800, 1600, 6000, 20_000]),
            value_len_bytes_max: rng.pick(&[48, 48, 900]),
            target_table_bytes: rng.pick(&[150, 400, 1000, 5000, 40_000]),
            l0_compaction_trigger,
            l0_tables_max: if is_roomy {
                10_000
            } else {
                l0_compaction_trigger + rng.index(4)
            },
            frozen_memtables_max: if is_roomy { 10 } else { 1 + rng.index(4) },
            manifest_bytes: rng.pick(&[1, 300, 900, 3000, 100_000]),
            is_roomy,
            event_log_bytes: rng.pick(&[0, 300, 2_000]),
        }
    }

    pub(crate) fn build(&self, clock: Arc<dyn Clock>) -> Options {
        Options::default()
            .memtable_bytes(self.memtable_bytes)
            .target_table_bytes(self.target_table_bytes)
            .l0_compaction_trigger(self.l0_compaction_trigger)
            .l0_tables_max(self.l0_tables_max)
            .frozen_memtables_max(self.frozen_memtables_max)
            .manifest_bytes(self.manifest_bytes)
            .event_log_bytes(self.event_log_bytes)
            .background(Background::Manual)
            .durability(Durability::Process)
            .clock(clock)
            .law(LAW, AppendBytes)
    }
}

/// The settings of a keyspace.
pub(crate) fn options_of(name: &str) -> KeyspaceOptions {
    let options = KeyspaceOptions::default();
    if name == NAMES[COMPOSING] {
        options.compose(LAW, AppendBytes)
    } else {
        options
    }
}
