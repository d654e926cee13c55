//! The log on the simulated machine: whatever power cuts, kills and failing disks do, what replays is a prefix of what was logged, and
//! contains everything that was synced.
//!
//! One seed is one history: appends, syncs and rotations, a disaster, a recovery that goes on in a new segment, and so on for a few
//! lives of the log. A failure names its seed. `SEEDS=n` in the environment runs more.

#[cfg(test)]
mod concurrent;
#[cfg(test)]
mod history;
#[cfg(test)]
mod killed;
#[cfg(test)]
mod lying_disk;

#[cfg(test)]
mod tests {
    use crate::history::{Disk, History};

    fn seeds() -> u64 {
        std::env::var("SEEDS")
            .ok()
            .map_or(4_000, |text| text.parse().expect("SEEDS is a number"))
    }

    #[test]
    fn what_replays_is_a_prefix_with_everything_synced() {
        let mut seen = crate::history::Coverage::default();
        for seed in 0..seeds() {
            if let Err(failure) = History::run(seed, Disk::Honest, &mut seen) {
                panic!("seed {seed}: {failure}");
            }
        }
        // The histories are worth something only if these happen in them.
        assert!(seen.power_cuts > 1_000 && seen.kills > 1_000, "{seen:?}");
        assert!(
            seen.records_lost > 1_000 && seen.torn_ends > 100 && seen.segments_given_up > 100,
            "{seen:?}"
        );
        assert!(seen.failed_syncs > 100 && seen.failed_appends > 100, "{seen:?}");
    }

    /// The canary: a disk that acknowledges syncs it does not do is caught, and soon.
    #[test]
    fn a_disk_that_skips_syncs_is_caught() {
        let mut caught = 0;
        for seed in 0..200 {
            caught += u32::from(History::run(seed, Disk::SkipsSyncs, &mut Default::default()).is_err());
        }
        assert!(
            caught > 50,
            "{caught} of 200 histories on a disk that lies were caught"
        );
    }

    /// The second canary: a writer that syncs the segment in use, but not those rotated away.
    #[test]
    fn a_disk_that_skips_syncs_of_old_segments_is_caught() {
        let mut caught = 0;
        for seed in 0..400 {
            caught += u32::from(History::run(seed, Disk::SkipsOldSegments, &mut Default::default()).is_err());
        }
        assert!(caught > 20, "{caught} of 400 histories were caught");
    }
}
