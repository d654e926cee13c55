//! Faults planted to see that the simulation notices: the canaries.
//!
//! The one of the file system is there in every build; those of the engine are compiled with the feature `planted-faults` alone.

use tephradb::Options;
#[cfg(feature = "planted-faults")]
use tephradb::PlantedFault;
use tephradb::vfs::{Calls, Fault, FaultFs, Operation, Rule};

/// What is wrong on purpose.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Planted {
    #[default]
    None,
    /// Directories are never synced, and the file system says they are.
    SkippedDirectorySync,
    /// In the engine.
    #[cfg(feature = "planted-faults")]
    Engine(PlantedFault),
}

impl Planted {
    /// Every fault of this build: its name, and the number of histories within which it must be noticed.
    pub(crate) const ALL: &[(&str, Planted, u64)] = &[
        ("skipped-directory-sync", Planted::SkippedDirectorySync, 20),
        #[cfg(feature = "planted-faults")]
        ("lost-late-kill", Planted::Engine(PlantedFault::LostLateKill), 60),
        #[cfg(feature = "planted-faults")]
        (
            "assigned-kill-list",
            Planted::Engine(PlantedFault::AssignedKillList),
            60,
        ),
        #[cfg(feature = "planted-faults")]
        (
            "unchecked-page",
            Planted::Engine(PlantedFault::UncheckedPage),
            2_000,
        ),
    ];

    /// The fault of a name.
    pub(crate) fn named(name: &str) -> Option<Planted> {
        let mut all = Planted::ALL.iter();
        all.find(|(known, ..)| *known == name)
            .map(|&(_, planted, _)| planted)
    }

    /// Puts the file system's fault in force.
    pub(super) fn plant_in_disk(self, disk: &FaultFs) {
        if self == Planted::SkippedDirectorySync {
            disk.add(Rule::always(Calls::Only(Operation::SyncDir), Fault::Skipped));
        }
    }

    /// Puts the engine's fault in force.
    pub(super) fn plant_in_engine(self, options: Options) -> Options {
        match self {
            Planted::None | Planted::SkippedDirectorySync => options,
            #[cfg(feature = "planted-faults")]
            Planted::Engine(fault) => options.planted_fault(fault),
        }
    }
}
