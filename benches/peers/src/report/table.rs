//! Markdown: medians over rounds with least and most, engines beside each other, and how tephradb stands to the others.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::Line;

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
        let engines = in_order(of_shape.iter().map(|line| line.engine.as_str()));
        let engines: Vec<&str> = crate::engines::ORDER
            .iter()
            .copied()
            .filter(|name| engines.contains(name))
            .collect();
        let rows: Vec<(&str, Row)> = in_order(of_shape.iter().map(|line| line.workload.as_str()))
            .into_iter()
            .map(|workload| {
                let mut row = Row::new();
                for line in of_shape.iter().filter(|line| line.workload == workload) {
                    row.entry(line.engine.as_str()).or_default().push(line);
                }
                (workload, row)
            })
            .collect();
        writeln!(text, "## {shape} bytes, {records} records\n").unwrap();
        let wall = "Thousands a second, median of the rounds (least to most):";
        throughput(&mut text, wall, &engines, &rows, |line| line.ops_per_s / 1e3);
        let processor = "\nThousands a second of the asking threads' processor time, which leaves out waiting and other processes:";
        throughput(&mut text, processor, &engines, &rows, |line| {
            line.ops as f64 / line.thread_seconds / 1e3
        });
        for (title, of) in METRICS {
            writeln!(text, "\n{title}\n").unwrap();
            medians(&mut text, &engines, &rows, of);
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

fn throughput(text: &mut String, title: &str, engines: &[&str], rows: &[(&str, Row)], of: Metric) {
    writeln!(text, "{title}\n").unwrap();
    writeln!(
        text,
        "| workload | {} | best LSM | LMDB | best of all |",
        engines.join(" | ")
    )
    .unwrap();
    writeln!(text, "|---|{}---|---|---|", "---|".repeat(engines.len())).unwrap();
    for (workload, row) in rows {
        let spread = |engine: &str| {
            row.get(engine)
                .map(|lines| Spread::of(lines.iter().map(|line| of(line)).collect()))
        };
        write!(text, "| {workload} |").unwrap();
        for engine in engines {
            match spread(engine) {
                Some(Spread { median, min, max }) => {
                    write!(text, " {} ({} to {}) |", short(median), short(min), short(max)).unwrap();
                }
                None => text.push_str(" |"),
            }
        }
        let others = || row.iter().filter(|(engine, _)| **engine != OURS);
        let best = |of: &dyn Fn(&str, &Line) -> bool| {
            others()
                .filter(|(engine, lines)| of(engine, lines[0]))
                .filter_map(|(engine, _)| spread(engine))
                .map(|spread| spread.median)
                .max_by(f64::total_cmp)
        };
        let references = [
            best(&|_, line| line.family == "lsm"),
            best(&|engine, _| engine == MAPPED),
            best(&|_, _| true),
        ];
        for reference in references {
            match (spread(OURS), reference) {
                (Some(ours), Some(other)) => write!(text, " **{:.2}x** |", ours.median / other).unwrap(),
                _ => text.push_str(" |"),
            }
        }
        text.push('\n');
    }
    text.push_str("\nThe last columns: tephradb's median divided by that of the best other.\n");
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
