//! Invariants of simulated runs, and figures that are known.

use super::*;

/// A store of the default shape, a thousandth of its size.
fn small(workload: Workload, operations: u64, seed: u64) -> Setting {
    Setting {
        memtable_bytes: 64 << 10,
        picker: PickerOptions {
            base_level_bytes: 256 << 10,
            target_table_bytes: 64 << 10,
            ..PickerOptions::default()
        },
        seed,
        ..Setting::new(workload, operations)
    }
}

fn run(setting: Setting) -> Simulation {
    let mut simulation = Simulation::new(setting);
    simulation.run();
    simulation
}

#[test]
fn no_record_is_lost_revived_or_aged_whatever_the_workload() {
    for workload in Workload::ALL {
        for seed in 1..4 {
            for allowed in [None, Some(2)] {
                let mut simulation = run(Setting {
                    compaction_bytes_per_flushed: allowed,
                    ..small(workload, 60_000, seed)
                });
                let outcome = simulation.check();
                assert_eq!(outcome, Ok(()), "{workload}, seed {seed}, allowed {allowed:?}");
                simulation.delete_everything();
                assert_eq!(simulation.check(), Ok(()), "{workload}, seed {seed}: all deleted");
                if allowed.is_none() {
                    assert_eq!(simulation.report().tables_now(), 0, "{workload}, seed {seed}");
                }
            }
        }
    }
}

impl Report {
    fn tables_now(&self) -> usize {
        self.level_tables.iter().sum()
    }
}

#[test]
fn ascending_keys_are_written_once() {
    let report = run(small(Workload::Sequential, 100_000, 1)).report();
    assert_eq!(report.jobs[0], 0, "no merge: {report}");
    assert!(report.jobs[1] > 100, "tables sink by moving: {report}");
    assert_eq!(report.write_amplification.to_bits(), 1.0f64.to_bits());
    assert_eq!(
        report.space_amplification_max.map(f64::to_bits),
        Some(1.0f64.to_bits())
    );
    assert!(report.read_amplification.expect("measured") <= 1.0, "{report}");
}

#[test]
fn small_ascending_tables_are_put_together_a_few_times_each() {
    let report = run(Setting {
        memtable_bytes: 4 << 10,
        ..small(Workload::Sequential, 100_000, 1)
    })
    .report();
    // 2,500 flushes of a sixteenth of a table: each record may double its table four times.
    assert!(report.write_amplification < 5.0, "{report}");
    assert!(report.tables_now() < 2 * 160, "{report}");
}

#[test]
fn random_keys_stay_within_the_bounds_of_levels() {
    for seed in 1..4 {
        let report = run(small(Workload::Uniform, 200_000, seed)).report();
        // 10 MB over a base of 256 KB: three levels at most, each rewritten ratio + 1 times at most, and level 0.
        assert!((3.0..25.0).contains(&report.write_amplification), "{report}");
        assert!(report.space_amplification.expect("measured") < 1.3, "{report}");
        assert!(report.read_amplification.expect("measured") < 7.0, "{report}");
        assert!(report.level_zero_max < 4, "{report}");
        let bottom = report.level_tables.last().copied().unwrap_or(0);
        assert!(
            bottom * 3 > report.tables_now() * 2,
            "most lies at the bottom: {report}"
        );
    }
}

#[test]
fn a_queue_keeps_its_space_however_long_it_runs() {
    let peak = |operations: u64| {
        let setting = small(Workload::Queue, operations, 1);
        let live_max = operations / 20 * setting.record_bytes;
        let mut simulation = Simulation::new(setting);
        simulation.run();
        let report = simulation.report();
        (report.table_bytes, live_max, report.write_amplification)
    };
    for operations in [50_000, 100_000, 400_000] {
        let (table_bytes, live_max, write) = peak(operations);
        assert!(
            table_bytes < 2 * live_max,
            "{table_bytes} bytes for {live_max} live ones"
        );
        assert!(write < 2.5, "what is dead is not rewritten: {write}");
    }
}

#[test]
fn dead_records_do_not_pile_up() {
    for seed in 1..4 {
        let report = run(small(Workload::DeleteRich, 200_000, seed)).report();
        assert!(report.space_amplification.expect("measured") < 1.5, "{report}");
    }
}

#[test]
fn a_machine_too_slow_shows_it_in_level_0_which_slows_writers() {
    let fast = run(small(Workload::Uniform, 200_000, 1)).report();
    let slow = run(Setting {
        compaction_bytes_per_flushed: Some(1),
        ..small(Workload::Uniform, 200_000, 1)
    });
    let report = slow.report();
    assert!(report.level_zero_max > 4 * fast.level_zero_max, "{report}");
    // Rules compete by score, so no level below is further behind than level 0 was, which is what writers are slowed by.
    let picker = &slow.setting.picker;
    let targets = crate::picker::LevelTargets::derive(slow.store.levels(), picker);
    for view in slow
        .store
        .levels()
        .iter()
        .filter(|view| view.level > 0 && view.level < 6)
    {
        let target = targets.of(view.level).unwrap_or(0).max(picker.base_level_bytes);
        let level_zero_behind = report.level_zero_max as f64 / picker.level_zero_trigger as f64;
        let behind = view.len_bytes() as f64 / target as f64;
        assert!(
            behind < level_zero_behind,
            "level {}: {behind} of {report}",
            view.level
        );
    }
}

#[test]
fn same_setting_same_report() {
    let setting = small(Workload::Hot, 50_000, 9);
    assert_eq!(simulate(&setting), simulate(&setting));
}

#[test]
fn grains_keep_a_large_run_small() {
    let setting = Setting::new(Workload::Uniform, 1_000_000_000);
    assert_eq!(setting.records_per_grain(), 954);
    assert_eq!(Setting::new(Workload::Uniform, 1000).records_per_grain(), 1);
}

/// A run too small for a figure says so, rather than nought.
#[test]
fn what_a_short_run_cannot_measure_is_no_figure() {
    let report = simulate(&Setting::new(Workload::Uniform, 1_000));
    assert_eq!(report.read_amplification, None);
    assert_eq!(
        (report.space_amplification, report.space_amplification_max),
        (None, None)
    );
    assert!(report.to_string().contains(" - "), "{report}");
}
