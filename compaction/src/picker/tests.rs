//! Text tests: each file of `testdata/` holds cases of levels and the decision they must give.
//!
//! ```text
//! # a remark
//! options trigger=4 ratio=10 base=100 bottom=6 rich=30
//! L0 1:a-f:50 2:c-k:50:8/2        number:first-last:bytes[:live/dead]   (10/0 unless given)
//! running L1 2 4                  a job holds tables 2 and 4 and writes between their keys to level 1
//! pick                            or: pick a-f   (a key range asked for), pick -, pick a-f up to 7
//! => merge L1[7] L0[1, 2] -> L1: level 0 holds 4 tables of at most 4
//! ```

use super::*;
use crate::test_rng::TestRng;

fn run_file(name: &str, text: &str) {
    let mut options = PickerOptions::default();
    let mut levels: Vec<LevelView> = Vec::new();
    let mut running = Running::default();
    let mut decision = None;
    let mut cases = 0;
    for (index, line) in text.lines().enumerate() {
        let place = format!("{name}:{}", index + 1);
        let line = line.split('#').next().unwrap().trim();
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        match word {
            "" => {
                levels.clear();
                running = Running::default();
            }
            "options" => options = parse_options(rest),
            "running" => running.start(&running_job(&levels, rest)),
            "pick" if rest.is_empty() => decision = Some(pick(&levels, &running, &options)),
            "pick" => {
                let (range, newest) = rest
                    .split_once(" up to ")
                    .map_or((rest, None), |(range, newest)| {
                        (range, Some(newest.parse().unwrap()))
                    });
                let (first, last) = range.split_once('-').unwrap();
                let bound = |text: &'_ str| (!text.is_empty()).then(|| text.as_bytes().to_vec());
                let (first, last) = (bound(first), bound(last));
                decision = Some(pick_range(
                    &levels,
                    &running,
                    &options,
                    RangeRequest {
                        first_key: first.as_deref(),
                        last_key: last.as_deref(),
                        newest_file_number: newest,
                    },
                ));
            }
            "=>" => {
                let found = decision
                    .take()
                    .expect("a decision before the expectation")
                    .to_string();
                assert_eq!(found, rest, "{place}");
                cases += 1;
            }
            level if level.starts_with('L') => {
                let tables = rest
                    .split(' ')
                    .filter(|text| !text.is_empty())
                    .map(parse_table)
                    .collect();
                levels.push(LevelView {
                    level: level[1..].parse().unwrap(),
                    tables,
                });
            }
            other => panic!("{place}: unknown word {other}"),
        }
    }
    assert!(cases > 0, "{name} holds no case");
}

fn parse_options(text: &str) -> PickerOptions {
    let mut options = PickerOptions::default();
    for pair in text.split(' ') {
        let (name, value) = pair.split_once('=').unwrap();
        let value: u64 = value.parse().unwrap();
        match name {
            "trigger" => options.level_zero_trigger = usize::try_from(value).unwrap(),
            "ratio" => options.size_ratio = value,
            "base" => options.base_level_bytes = value,
            "bottom" => options.bottom_level = u32::try_from(value).unwrap(),
            "rich" => options.dead_rich_percent = value,
            "table" => options.target_table_bytes = value,
            "asked" => options.manual_job_bytes = value,
            other => panic!("unknown option {other}"),
        }
    }
    options
}

/// A job as the file describes it: its output level and its tables.
fn running_job(levels: &[LevelView], text: &str) -> Job {
    let mut words = text.split(' ');
    let output_level = words.next().unwrap()[1..].parse().unwrap();
    let file_numbers: Vec<u64> = words.map(|number| number.parse().unwrap()).collect();
    let tables = levels.iter().flat_map(|view| &view.tables);
    let inputs: Vec<&TableShape> = tables
        .filter(|table| file_numbers.contains(&table.file_number))
        .collect();
    assert_eq!(inputs.len(), file_numbers.len(), "{text}");
    Job {
        kind: JobKind::Merge,
        first_key: inputs.iter().map(|table| table.first_key.clone()).min().unwrap(),
        last_key: inputs.iter().map(|table| table.last_key.clone()).max().unwrap(),
        inputs: vec![JobInput {
            level: output_level,
            file_numbers,
        }],
        output_level,
        score: 0,
        reason: Reason::Manual,
    }
}

fn parse_table(text: &str) -> TableShape {
    let fields: Vec<&str> = text.split(':').collect();
    let (first, last) = fields[1].split_once('-').unwrap();
    let (live, dead) = fields
        .get(3)
        .map_or(("10", "0"), |counts| counts.split_once('/').unwrap());
    TableShape {
        file_number: fields[0].parse().unwrap(),
        first_key: first.into(),
        last_key: last.into(),
        len_bytes: fields[2].parse().unwrap(),
        live: live.parse().unwrap(),
        dead: dead.parse().unwrap(),
    }
}

#[test]
fn level_zero_cases() {
    run_file("level_zero.txt", include_str!("testdata/level_zero.txt"));
}

#[test]
fn size_cases() {
    run_file("sizes.txt", include_str!("testdata/sizes.txt"));
}

#[test]
fn dead_record_cases() {
    run_file("dead_records.txt", include_str!("testdata/dead_records.txt"));
}

#[test]
fn small_table_cases() {
    run_file("small.txt", include_str!("testdata/small.txt"));
}

#[test]
fn manual_cases() {
    run_file("manual.txt", include_str!("testdata/manual.txt"));
}

#[test]
fn targets_grow_from_the_bottom_up() {
    let options = PickerOptions {
        base_level_bytes: 100,
        ..PickerOptions::default()
    };
    let level = |level, len_bytes| LevelView {
        level,
        tables: vec![TableShape {
            file_number: u64::from(level),
            first_key: b"a".to_vec(),
            last_key: b"z".to_vec(),
            len_bytes,
            live: 1,
            dead: 0,
        }],
    };
    let targets = LevelTargets::derive(&[], &options);
    assert_eq!((targets.base_level, targets.bytes), (6, vec![100]));
    let targets = LevelTargets::derive(&[level(6, 999)], &options);
    assert_eq!((targets.base_level, targets.bytes), (6, vec![999]));
    let targets = LevelTargets::derive(&[level(6, 100_000)], &options);
    assert_eq!(
        (targets.base_level, &targets.bytes),
        (3, &vec![100, 1000, 10_000, 100_000])
    );
    assert_eq!(targets.of(5), Some(10_000));
    assert_eq!(targets.of(2), None);
    // The bottom has shrunk: what is left above is pushed down.
    let targets = LevelTargets::derive(&[level(3, 50), level(6, 60)], &options);
    assert_eq!((targets.base_level, targets.bytes), (3, vec![0, 0, 0, 100]));
}

/// Applies decisions until the picker is idle; a store without writes must come to rest.
#[test]
fn a_store_without_writes_becomes_idle() {
    for seed in 0..200_u64 {
        let mut rng = TestRng::new(seed);
        let options = PickerOptions {
            base_level_bytes: rng.range(50, 500),
            bottom_level: u32::try_from(rng.range(1, 7)).unwrap(),
            target_table_bytes: rng.range(1, 400),
            ..PickerOptions::default()
        };
        let mut levels = random_levels(&mut rng, &options);
        let mut next_file_number = 1000;
        let mut steps = 0;
        while let Decision::Run(job) = pick(&levels, &Running::default(), &options) {
            apply(&mut levels, &job, &mut next_file_number, options.bottom_level);
            steps += 1;
            assert!(
                steps < 1000,
                "seed {seed}: still picking after {steps} jobs; last {job:?}"
            );
        }
        assert!(
            levels
                .iter()
                .filter(|view| view.level == 0)
                .all(|view| view.tables.len() < 4),
            "seed {seed}"
        );
    }
}

/// Jobs of one keyspace side by side, ending in any order: none meets another, and the store comes to rest.
#[test]
fn jobs_side_by_side_never_meet() {
    for seed in 0..300_u64 {
        let mut rng = TestRng::new(seed);
        let options = PickerOptions {
            base_level_bytes: rng.range(50, 500),
            bottom_level: u32::try_from(rng.range(1, 7)).unwrap(),
            target_table_bytes: rng.range(1, 400),
            ..PickerOptions::default()
        };
        let mut levels = random_levels(&mut rng, &options);
        let mut running = Running::default();
        let mut jobs: Vec<Job> = Vec::new();
        let mut next_file_number = 1000;
        for step in 0.. {
            assert!(step < 3000, "seed {seed}: still picking");
            let picked = if rng.one_in(2) || jobs.is_empty() {
                pick(&levels, &running, &options)
            } else {
                Decision::Idle
            };
            match picked {
                Decision::Run(job) => {
                    running.start(&job);
                    jobs.push(job);
                }
                Decision::Idle if jobs.is_empty() => break,
                Decision::Idle => {
                    let count = u64::try_from(jobs.len()).unwrap();
                    let ended = jobs.swap_remove(usize::try_from(rng.below(count)).unwrap());
                    running.end(&ended);
                    apply(&mut levels, &ended, &mut next_file_number, options.bottom_level);
                }
            }
        }
        assert!(running.is_empty() && pick(&levels, &running, &options) == Decision::Idle);
    }
}

#[test]
#[should_panic(expected = "a table is in one job at a time")]
fn two_jobs_on_one_table_are_refused() {
    let levels = [LevelView {
        level: 6,
        tables: vec![parse_table("1:a-f:50"), parse_table("2:g-h:50")],
    }];
    let mut running = Running::default();
    running.start(&running_job(&levels, "L6 1"));
    running.start(&running_job(&levels, "L6 2 1"));
}

#[test]
#[should_panic(expected = "written by one job at a time")]
fn two_jobs_over_one_range_are_refused() {
    let levels = [LevelView {
        level: 5,
        tables: vec![
            parse_table("1:a-c:50"),
            parse_table("2:g-h:50"),
            parse_table("3:d-e:50"),
        ],
    }];
    let mut running = Running::default();
    running.start(&running_job(&levels, "L6 1 2"));
    running.end(&running_job(&levels, "L6 1 2"));
    running.start(&running_job(&levels, "L6 1 2"));
    running.start(&running_job(&levels, "L6 3"));
}

fn random_levels(rng: &mut TestRng, options: &PickerOptions) -> Vec<LevelView> {
    let mut file_number = 0;
    (0..=options.bottom_level)
        .map(|level| {
            let mut start = 0;
            let mut tables = Vec::new();
            for _ in 0..rng.below(8) {
                let first = if level == 0 {
                    rng.below(100)
                } else {
                    start + rng.range(1, 10)
                };
                let last = first + rng.below(20);
                start = last;
                file_number += 1;
                let dead = if rng.one_in(4) { rng.below(11) } else { 0 };
                let key = |number: u64| vec![u8::try_from(number).unwrap()];
                tables.push(TableShape {
                    file_number,
                    first_key: key(first),
                    last_key: key(last),
                    len_bytes: rng.range(1, 200),
                    live: 10 - dead,
                    dead,
                });
            }
            LevelView { level, tables }
        })
        .collect()
}

/// Replaces a job's inputs by one table of their live records.
fn apply(levels: &mut Vec<LevelView>, job: &Job, next_file_number: &mut u64, bottom_level: u32) {
    assert!(job.output_level <= bottom_level);
    let numbers: std::collections::HashSet<u64> = job.file_numbers().collect();
    let mut taken = Vec::new();
    for view in levels.iter_mut() {
        view.tables.retain(|table| {
            let goes = numbers.contains(&table.file_number);
            if goes {
                taken.push(table.clone());
            }
            !goes
        });
    }
    assert_eq!(taken.len(), numbers.len(), "a job names tables that exist, once");
    if job.kind == JobKind::Drop {
        assert!(taken.iter().all(|table| table.live == 0));
        return;
    }
    if job.kind == JobKind::Move {
        assert!(taken.iter().all(|table| table.dead == 0));
        taken.into_iter().for_each(|table| insert(levels, job, table));
        return;
    }
    *next_file_number += 1;
    let merged = TableShape {
        file_number: *next_file_number,
        first_key: taken.iter().map(|table| table.first_key.clone()).min().unwrap(),
        last_key: taken.iter().map(|table| table.last_key.clone()).max().unwrap(),
        len_bytes: taken
            .iter()
            .map(|table| table.len_bytes - table.dead_bytes())
            .sum(),
        live: taken.iter().map(|table| table.live).sum(),
        dead: 0,
    };
    insert(levels, job, merged);
}

/// Puts a table into a job's output level.
fn insert(levels: &mut Vec<LevelView>, job: &Job, merged: TableShape) {
    if levels.iter().all(|view| view.level != job.output_level) {
        levels.push(LevelView {
            level: job.output_level,
            tables: Vec::new(),
        });
    }
    let view = levels
        .iter_mut()
        .find(|view| view.level == job.output_level)
        .unwrap();
    assert!(
        view.overlapping(&merged.first_key, &merged.last_key)
            .next()
            .is_none(),
        "outputs overlap nothing at their level: {job:?}"
    );
    view.tables.push(merged);
    view.tables
        .sort_by(|left, right| left.first_key.cmp(&right.first_key));
}
