//! Markdown: medians over rounds (with least and most, where there were several), engines beside each other, and how many times as good as the
//! best of the others tephradb is.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::Line;
use crate::engines::ORDER;

const OURS: &str = "tephradb";
const MAPPED: &str = "lmdb";

/// Median, least and most of something over the rounds.
#[derive(Clone, Copy, Debug)]
struct Spread {
    median: f64,
    min: f64,
    max: f64,
}

impl Spread {
    fn of(mut values: Vec<f64>) -> Spread {
        values.sort_by(f64::total_cmp);
        let middle = values.len() / 2;
        let median = if values.len() % 2 == 1 {
            values[middle]
        } else {
            (values[middle - 1] + values[middle]) / 2.0
        };
        Spread {
            median,
            min: values[0],
            max: values[values.len() - 1],
        }
    }
}

/// The lines of one workload, by engine.
type Row<'a> = BTreeMap<&'a str, Vec<&'a Line>>;

/// All tables of the lines.
pub(crate) fn table(lines: &[Line]) -> String {
    let mut text = String::new();
    for (shape, records) in in_order(lines.iter().map(|line| (line.shape.as_str(), line.records))) {
        let of_shape: Vec<&Line> = lines
            .iter()
            .filter(|line| line.shape == shape && line.records == records)
            .collect();
        let present = in_order(of_shape.iter().map(|line| line.engine.as_str()));
        let engines: Vec<&str> = ORDER.into_iter().filter(|name| present.contains(name)).collect();
        let rows = in_order(of_shape.iter().map(|line| line.workload.as_str()))
            .into_iter()
            .map(|workload| {
                let mut row = Row::new();
                for line in of_shape.iter().filter(|line| line.workload == workload) {
                    row.entry(line.engine.as_str()).or_default().push(line);
                }
                (workload, row)
            });
        // One operation has a time rather than a rate.
        let (single, many): (Vec<_>, Vec<_>) =
            rows.partition(|(_, row)| row.values().flatten().all(|line| line.ops == 1));
        writeln!(text, "## {shape} bytes, {records} records\n").unwrap();
        let title = "Thousands a second:";
        compared(
            &mut text,
            title,
            &engines,
            &many,
            |line| line.ops_per_s / 1e3,
            f64::from,
        );
        let title = "\nThousands a second of the asking threads' processor time, which leaves out waiting and other processes:";
        compared(
            &mut text,
            title,
            &engines,
            &many,
            |line| line.ops as f64 / line.thread_seconds / 1e3,
            f64::from,
        );
        if !single.is_empty() {
            let title = "\nMilliseconds:";
            compared(
                &mut text,
                title,
                &engines,
                &single,
                |line| line.seconds * 1e3,
                f64::recip,
            );
        }
        for (title, of) in METRICS {
            writeln!(text, "\n{title}\n").unwrap();
            medians(&mut text, &engines, &many, of);
        }
        text.push('\n');
    }
    text
}

type Metric = fn(&Line) -> f64;

const METRICS: [(&str, Metric); 8] = [
    ("p99.9, microseconds:", |line| line.p999_us),
    ("p99, microseconds:", |line| line.p99_us),
    ("The longest operation, milliseconds:", |line| line.max_us / 1e3),
    ("Bytes on disk after settling, of keys and values:", |line| {
        line.disk_bytes as f64 / line.raw_bytes as f64
    }),
    ("Bytes written, of keys and values of the store:", |line| {
        line.write_bytes as f64 / line.raw_bytes as f64
    }),
    ("Most resident memory (heap and mapped files), MB:", |line| {
        line.peak_memory_bytes as f64 / 1e6
    }),
    ("Heap after settling, MB:", |line| line.heap_bytes as f64 / 1e6),
    ("Processor seconds, until settled:", |line| line.cpu_seconds),
];

/// Engines beside each other with median, least and most, and how many times as good as the others' best tephradb's median is: `good` makes of
/// a figure one that is better if greater.
fn compared(
    text: &mut String,
    title: &str,
    engines: &[&str],
    rows: &[(&str, Row)],
    of: Metric,
    good: fn(f64) -> f64,
) {
    writeln!(text, "{title}\n").unwrap();
    writeln!(
        text,
        "| workload | {} | to the best LSM | to LMDB | to the best |",
        engines.join(" | ")
    )
    .unwrap();
    writeln!(text, "|---|{}---|---|---|", "---|".repeat(engines.len())).unwrap();
    for (workload, row) in rows {
        let spread = |engine: &str| {
            let lines = row.get(engine)?;
            Some(Spread::of(lines.iter().map(|line| of(line)).collect()))
        };
        write!(text, "| {workload} |").unwrap();
        for engine in engines {
            match spread(engine) {
                Some(Spread { median, min, max }) if min < max => {
                    write!(text, " {} ({} to {}) |", short(median), short(min), short(max)).unwrap();
                }
                Some(Spread { median, .. }) => write!(text, " {} |", short(median)).unwrap(),
                None => text.push_str(" |"),
            }
        }
        let best = |is_meant: fn(&str, &Line) -> bool| {
            row.iter()
                .filter(|(engine, lines)| **engine != OURS && is_meant(engine, lines[0]))
                .filter_map(|(engine, _)| spread(engine))
                .map(|spread| good(spread.median))
                .max_by(f64::total_cmp)
        };
        let others = [
            best(|_, line| line.family == "lsm"),
            best(|engine, _| engine == MAPPED),
            best(|_, _| true),
        ];
        for other in others {
            match (spread(OURS), other) {
                (Some(ours), Some(other)) => {
                    write!(text, " **{:.2}x** |", good(ours.median) / other).unwrap()
                }
                _ => text.push_str(" |"),
            }
        }
        text.push('\n');
    }
}

fn medians(text: &mut String, engines: &[&str], rows: &[(&str, Row)], of: Metric) {
    writeln!(text, "| workload | {} |", engines.join(" | ")).unwrap();
    writeln!(text, "|---|{}", "---|".repeat(engines.len())).unwrap();
    for (workload, row) in rows {
        write!(text, "| {workload} |").unwrap();
        for engine in engines {
            match row.get(engine) {
                Some(lines) => {
                    let spread = Spread::of(lines.iter().map(|line| of(line)).collect());
                    write!(text, " {} |", short(spread.median)).unwrap();
                }
                None => text.push_str(" |"),
            }
        }
        text.push('\n');
    }
}

/// Three digits that mean something.
fn short(number: f64) -> String {
    let decimals = if number >= 100.0 {
        0
    } else if number >= 10.0 {
        1
    } else {
        2
    };
    let text = format!("{number:.decimals$}");
    // Thousands apart.
    let (whole, rest) = text
        .split_once('.')
        .map_or((text.as_str(), ""), |(whole, rest)| (whole, rest));
    let mut grouped = String::new();
    for (index, digit) in whole.chars().enumerate() {
        if index > 0
            && (whole.len() - index).is_multiple_of(3)
            && whole.chars().all(|digit| digit.is_ascii_digit())
        {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    if rest.is_empty() {
        grouped
    } else {
        format!("{grouped}.{rest}")
    }
}

fn in_order<T: PartialEq>(items: impl Iterator<Item = T>) -> Vec<T> {
    let mut distinct = Vec::new();
    for item in items {
        if !distinct.contains(&item) {
            distinct.push(item);
        }
    }
    distinct
}
