//! Faults planted on purpose, in builds with the feature `planted-faults` alone: the canaries of the simulation.
//!
//! | fault | where it is in force | what it costs |
//! |---|---|---|
//! | [`PlantedFault::LostLateKill`] | `compact/install.rs` | a key deleted while its table was being compacted comes back |
//! | [`PlantedFault::AssignedKillList`] | `version/version.rs` | keys deleted in a table come back at the next deletes in it |
//! | [`PlantedFault::UncheckedPage`] | `table_file.rs` | what a disk reads wrong is believed |
//!
//! A database has the fault that its options name, and each place asks the directory that all its parts share. Without the feature
//! neither the option nor the places are compiled.

use std::sync::Arc;

use roaring::RoaringTreemap;

use crate::dead_set::DeadSet;
use crate::options::Options;
use crate::sorted_map::SortedMap;
use crate::table_file::TableFile;
use crate::unit_table::UnitTable;

/// A fault that a simulation must find.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlantedFault {
    /// Of the deletes that were flushed while a compaction ran, one is not carried over to its outputs.
    LostLateKill,
    /// In memory a table's dead set becomes the ordinals of the latest edit, instead of growing by them.
    AssignedKillList,
    /// The pages of tables are not checked against their CRC-32, but for those that opening looks at.
    UncheckedPage,
}

impl Options {
    /// Plants a fault in the database. Default none.
    #[must_use]
    pub fn planted_fault(mut self, fault: PlantedFault) -> Self {
        self.planted_fault = Some(fault);
        self
    }
}

impl TableFile {
    fn has_planted(&self, fault: PlantedFault) -> bool {
        self.directory().planted_fault == Some(fault)
    }
}

/// Loses one of the kills of some outputs.
pub(crate) fn lose_late_kill(
    outputs: &SortedMap<u64, Arc<TableFile>>,
    mut kills: SortedMap<u64, RoaringTreemap>,
) -> SortedMap<u64, RoaringTreemap> {
    let mut outputs = outputs.values();
    if outputs.any(|output| output.has_planted(PlantedFault::LostLateKill))
        && let Some(ordinals) = kills.values_mut().find(|ordinals| !ordinals.is_empty())
        && let Some(last) = ordinals.max()
    {
        ordinals.remove(last);
    }
    kills
}

/// What of a table's dead set new kills are added to.
pub(crate) fn dead_before_kill<'a>(table: &TableFile, dead: &'a DeadSet) -> &'a DeadSet {
    if table.has_planted(PlantedFault::AssignedKillList) {
        &None
    } else {
        dead
    }
}

/// Has a table that was opened believe its pages.
pub(crate) fn leave_pages_unchecked(fault: Option<PlantedFault>, table: &UnitTable) {
    if fault == Some(PlantedFault::UncheckedPage) {
        table.leave_pages_unchecked();
    }
}
