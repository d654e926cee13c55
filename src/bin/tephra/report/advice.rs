//! What to change: one function a rule, each of which says nothing where all is well.

#[cfg(test)]
use tephradb::Options;

use super::facts::{Facts, ratio};
use crate::database::shown_name;

/// How much it matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Weight {
    /// Something is broken or stands still.
    Act,
    /// It costs time or room.
    Consider,
}

/// One piece of advice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Advice {
    pub(super) weight: Weight,
    /// Name of the rule.
    pub(super) rule: &'static str,
    /// What was seen.
    pub(super) seen: String,
    /// What to do, with the names of options and calls.
    pub(super) advice: &'static str,
}

type Found = Option<(Weight, String, &'static str)>;
type Rule = (&'static str, fn(&Facts) -> Found);

const RULES: [Rule; 12] = [
    ("stopped", stopped),
    ("failures", failures),
    ("level-0", level_zero),
    ("stalls", stalls),
    ("slowdowns", slowdowns),
    ("dead-records", dead_records),
    ("write-amplification", write_amplification),
    ("small-flushes", small_flushes),
    ("short-runs", short_runs),
    ("many-small-tables", many_small_tables),
    ("filters", filters),
    ("event-log", event_log),
];

/// All that should be said, the most urgent first.
pub(super) fn advise(facts: &Facts) -> Vec<Advice> {
    let said = RULES.iter().filter_map(|(rule, find)| {
        let (weight, seen, advice) = find(facts)?;
        Some(Advice {
            weight,
            rule,
            seen,
            advice,
        })
    });
    let mut all: Vec<Advice> = said.collect();
    all.sort_by_key(|advice| advice.weight);
    all
}

fn stopped(facts: &Facts) -> Found {
    let error = facts.history.stopped.as_ref()?;
    Some((
        Weight::Act,
        format!("writing stopped for good: {error}"),
        "Look at the disk first. Then open the database again: what was acknowledged as durable is there. Db::verify reads everything.",
    ))
}

fn failures(facts: &Facts) -> Found {
    let last = facts.history.failures.last()?;
    let count = facts.history.failures.len();
    Some((
        Weight::Act,
        format!("{count} flushes or compactions failed, the last: {last}"),
        "Make room, or mend the disk. The work is tried again by itself; Db::resume does it at once.",
    ))
}

/// Tables of one keyspace in level 0 that are more than compaction should leave there.
fn level_zero(facts: &Facts) -> Found {
    const TABLES_MAX: usize = 12;
    let mut counts = std::collections::BTreeMap::<&str, usize>::new();
    for table in facts.tables.iter().filter(|table| table.level == 0) {
        *counts.entry(&table.keyspace).or_default() += 1;
    }
    let (keyspace, count) = counts.into_iter().max_by_key(|&(_, count)| count)?;
    (count > TABLES_MAX).then(|| (Weight::Consider, format!("{count} flushed tables of keyspace {} wait in level 0; each is one more look-up for a read", shown_name(keyspace)),
        "Compaction lags behind. Give it more threads (compaction_threads), or larger flushes (memtable_bytes); Db::compact catches up now."))
}

fn stalls(facts: &Facts) -> Found {
    let history = &facts.history;
    let share = ratio(history.stall_us / 1_000, history.open_ms.max(1));
    (history.stall_us > 100_000 && share > 0.01).then(|| (Weight::Consider,
        format!("writers stood still for {:.1} s (commits stopped: {}), {:.0} % of the time the log covers", seconds(history.stall_us), history.stall_commits, 100.0 * share.min(1.0)),
        "Flush or compaction could not keep up. Raise compaction_threads if processors are idle, memtable_bytes for fewer and larger flushes, frozen_memtables_max and l0_tables_max to ride out bursts."))
}

fn slowdowns(facts: &Facts) -> Found {
    let history = &facts.history;
    let share = ratio(history.slowdown_us / 1_000, history.open_ms.max(1));
    (history.slowdown_us > 1_000_000 && share > 0.05).then(|| (Weight::Consider,
        format!("writers were slowed down by {:.1} s together", seconds(history.slowdown_us)),
        "Writers come near what compaction can do. Raise l0_tables_max to slow down later, or compaction_threads to be done sooner."))
}

fn dead_records(facts: &Facts) -> Found {
    let share = ratio(facts.all.dead_records, facts.all.records);
    (share > 0.3 && facts.all.dead_bytes > 1 << 20).then(|| (Weight::Consider,
        format!("{:.0} % of the records in tables are dead and hold {} MiB", 100.0 * share, facts.all.dead_bytes >> 20),
        "Compaction takes tables whose records are dead by itself, one after the other. Db::compact, or Keyspace::compact of the range that was deleted, gives the room back now."))
}

fn write_amplification(facts: &Facts) -> Found {
    let factor = facts.write_amplification()?;
    (factor > 15.0 && facts.history.bytes_in() > 16 << 20).then(|| (Weight::Consider,
        format!("each byte that came in was written {factor:.1} times"),
        "Larger flushes reach the bottom in fewer steps: raise memtable_bytes. Sorted data is cheapest as Keyspace::ingest."))
}

fn small_flushes(facts: &Facts) -> Found {
    const FLUSHES_MIN: u64 = 20;
    const BYTES_MIN: u64 = 256 << 10;
    let history = &facts.history;
    let mean = history.flush_bytes / history.flush_count.max(1);
    // An open flushes what short programs have left, however small it is.
    let is_asked_for = history.flush_count > history.open_count;
    (is_asked_for && history.flush_count >= FLUSHES_MIN && mean < BYTES_MIN).then(|| (Weight::Consider,
        format!("{} flushes wrote {} KiB each on the mean", history.flush_count, mean >> 10),
        "Small tables are merged again and again. Raise memtable_bytes, call Db::flush less often (the log keeps commits), and raise pending_deletes_max if deletes wait behind snapshots."))
}

fn short_runs(facts: &Facts) -> Found {
    const OPENS_MIN: u64 = 100;
    const OPEN_MS_MAX: u64 = 1_000;
    let history = &facts.history;
    let mean_ms = history.open_ms / history.open_count.max(1);
    (history.open_count >= OPENS_MIN && mean_ms < OPEN_MS_MAX).then(|| (Weight::Consider,
        format!("programs opened the database {} times, for {mean_ms} ms on the mean", history.open_count),
        "Each open writes a manifest and a log segment, which costs more than a record does. Keep the database open in one program, or give many records to one tephra load."))
}

fn many_small_tables(facts: &Facts) -> Found {
    let below: Vec<_> = facts.tables.iter().filter(|table| table.level > 0).collect();
    let bytes: u64 = below.iter().map(|table| table.file_bytes).sum();
    let mean = bytes / (below.len() as u64).max(1);
    (below.len() > 1_000 && mean < 1 << 20).then(|| (Weight::Consider,
        format!("{} tables below level 0 hold {} KiB each on the mean", below.len(), mean >> 10),
        "Every table is an open file with a filter and an index. Raise target_table_bytes, or gather small keyspaces into one with a prefix a keyspace."))
}

fn filters(facts: &Facts) -> Found {
    let (measured, expected) = (facts.measured_rate()?, facts.all.expected_rate()?);
    (measured > 3.0 * expected && measured > 0.02).then(|| (Weight::Consider,
        format!("filters let {:.1} % of look-ups of absent keys pass; {:.1} % were expected", 100.0 * measured, 100.0 * expected),
        "Look-ups of keys that are absent read tables in vain. If keys repeat, ask once and remember the answer; if not, tephra table info of the largest table shows its bits a key."))
}

fn event_log(facts: &Facts) -> Found {
    if let Some(reason) = facts.history.unreadable_files.first() {
        return Some((
            Weight::Consider,
            format!("the event log could not be read: {reason}"),
            "There is no timeline, and figures that come from the log are missing. Move away what stands at that name, or give this user the right to read it; the database begins a new log by itself.",
        ));
    }
    let lost = facts.history.lost_event_count;
    (lost > 0).then(|| (Weight::Consider, format!("{lost} events are missing from the log"),
        "The disk refused EVENTS for a while, so figures of this page that come from it are too small. Make room; event_log_bytes sets its size."))
}

fn seconds(us: u64) -> f64 {
    super::facts::as_float(us) / 1e6
}

/// What the advice must not name wrongly: options that exist. Never called; it is enough that it compiles.
#[cfg(test)]
fn _names_of_options() -> Options {
    Options::default()
        .compaction_threads(1)
        .memtable_bytes(1)
        .frozen_memtables_max(1)
        .l0_tables_max(1)
        .pending_deletes_max(1)
        .target_table_bytes(1)
        .event_log_bytes(1)
}

#[cfg(test)]
mod tests {
    use tephradb::TableFacts;

    use super::*;

    fn table(level: u32, file_bytes: u64, record_count: u64, dead_record_count: u64) -> TableFacts {
        let mut table = TableFacts::default();
        (table.level, table.file_bytes) = (level, file_bytes);
        (table.record_count, table.dead_record_count) = (record_count, dead_record_count);
        table
    }

    fn rules(facts: &Facts) -> Vec<&'static str> {
        advise(facts).iter().map(|advice| advice.rule).collect()
    }

    #[test]
    fn a_healthy_and_an_empty_database_get_no_advice() {
        assert_eq!(rules(&Facts::default()), [""; 0]);
        let mut facts = Facts::of_tables(vec![table(6, 64 << 20, 1_000_000, 10_000); 40]);
        facts.history.flush_count = 30;
        facts.history.flush_bytes = 30 << 24;
        facts.history.open_ms = 60_000;
        facts.history.compaction_bytes.insert(6, 90 << 24);
        assert_eq!(rules(&facts), [""; 0]);
    }

    #[test]
    fn each_rule_speaks_where_it_should_and_alone() {
        let with = |change: &dyn Fn(&mut Facts)| {
            let mut facts = Facts::default();
            facts.history.open_ms = 10_000;
            change(&mut facts);
            rules(&facts)
        };
        assert_eq!(
            with(&|facts| facts.history.stopped = Some("a sync failed".into())),
            ["stopped"]
        );
        assert_eq!(
            with(&|facts| facts.history.failures.push("no room".into())),
            ["failures"]
        );
        assert_eq!(with(&|facts| facts.history.stall_us = 900_000), ["stalls"]);
        assert_eq!(
            with(&|facts| facts.history.slowdown_us = 5_000_000),
            ["slowdowns"]
        );
        assert_eq!(with(&|facts| facts.history.lost_event_count = 1), ["event-log"]);
        assert_eq!(
            with(&|facts| facts
                .history
                .unreadable_files
                .push("EVENTS is a directory".into())),
            ["event-log"]
        );
        // Short programs, whose leftovers the next ones flush.
        assert_eq!(
            with(&|facts| {
                facts.history.open_count = 400;
                facts.history.flush_count = 25;
                facts.history.flush_bytes = 25 << 10;
            }),
            ["short-runs"]
        );
        assert_eq!(
            with(&|facts| {
                facts.history.flush_count = 100;
                facts.history.flush_bytes = 100 << 10;
            }),
            ["small-flushes"]
        );
        assert_eq!(
            with(&|facts| {
                facts.history.flush_count = 10;
                facts.history.flush_bytes = 20 << 20;
                facts.history.compaction_bytes.insert(6, 400 << 20);
            }),
            ["write-amplification"]
        );
        assert_eq!(
            rules(&Facts::of_tables(vec![table(0, 1 << 20, 10, 0); 13])),
            ["level-0"]
        );
        assert_eq!(
            rules(&Facts::of_tables(vec![table(0, 1 << 20, 10, 0); 12])),
            [""; 0]
        );
        assert_eq!(
            rules(&Facts::of_tables(vec![table(6, 8 << 20, 100, 40)])),
            ["dead-records"]
        );
        assert_eq!(
            rules(&Facts::of_tables(vec![table(6, 100 << 10, 10, 0); 1_001])),
            ["many-small-tables"]
        );
        let mut filtered = table(6, 8 << 20, 100_000, 0);
        filtered.filter_bytes = 32 + 200_000;
        let mut facts = Facts::of_tables(vec![filtered]);
        facts.history.probes.filtered = 5_000;
        facts.history.probes.in_vain = 10;
        assert_eq!(rules(&facts), [""; 0]);
        facts.history.probes.in_vain = 1_000;
        assert_eq!(rules(&facts), ["filters"]);
    }

    #[test]
    fn what_is_urgent_comes_first_and_every_advice_says_what_to_do() {
        let mut facts = Facts::of_tables(vec![table(0, 8 << 20, 100, 40); 13]);
        facts.history.failures.push("no room".into());
        let all = advise(&facts);
        assert_eq!((all.len(), all[0].rule), (3, "failures"));
        assert!(
            all.iter()
                .all(|advice| advice.advice.len() > 40 && !advice.seen.is_empty())
        );
    }
}
