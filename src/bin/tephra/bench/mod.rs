//! `tephra bench`: the usual workloads by their usual names, with percentiles, every answer checked.
//!
//! ```text
//! for each workload:   a fresh database  --prepare, untimed-->  records in tables  --run, each operation timed-->  percentiles
//!                                                                                  --check-->  what is in it now
//! ```
//!
//! * `data`: keys and values, made of an index, so that every answer can be checked without a copy.
//! * `workload`: what each of them does.
//! * `timing`: a histogram a thread, added up.

mod data;
mod timing;
mod workload;

use std::io::Write;
use std::path::PathBuf;

use clap::Args as ClapArgs;
use serde_json::json;

use crate::failure::{Failure, Result};
use crate::figures::grouped;
use crate::files::{check_fresh, temporary_directory};
use crate::output::{Json, facts, line};
use data::Shape;
use timing::Timing;
use workload::Workload;

const EXAMPLES: &str = "\
Examples:
  tephra bench                                          all of them, 200,000 records each
  tephra bench fillrandom readrandom --records 1000000
  tephra bench readwhilewriting --threads 4 --json
  tephra bench fillseq --db /mnt/disk/bench             on a disk of your choice; the databases stay there

Times are of this machine, this disk and this moment: compare figures of one run alone. A workload whose answers are wrong ends the bench
with exit code 1.";

#[derive(Debug, ClapArgs)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Bench {
    /// The workloads [default: each of them]
    #[arg(value_enum)]
    workloads: Vec<Workload>,
    /// Records of a database
    #[arg(long, value_name = "N", default_value_t = 200_000, value_parser = clap::value_parser!(u64).range(100..=1 << 40))]
    records: u64,
    /// Operations of the workloads that read or overwrite [default: as many as records]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    operations: Option<u64>,
    /// Bytes of a key
    #[arg(long, value_name = "BYTES", default_value_t = 16, value_parser = clap::value_parser!(u32).range(14..=4096))]
    key_size: u32,
    /// Bytes of a value
    #[arg(long, value_name = "BYTES", default_value_t = 100, value_parser = clap::value_parser!(u32).range(9..=1 << 20))]
    value_size: u32,
    /// Threads that work side by side
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=256))]
    threads: u32,
    /// Commits survive a power cut: each waits for the disk
    #[arg(long)]
    sync: bool,
    /// Seed of the random keys
    #[arg(long, value_name = "SEED", default_value_t = 1)]
    seed: u64,
    /// Directory for the databases, one a workload; must not exist, or be empty; they stay [default: a temporary one]
    #[arg(long, value_name = "DIR")]
    db: Option<PathBuf>,
    #[command(flatten)]
    json: Json,
}

/// What all workloads are told.
#[derive(Clone, Copy, Debug)]
struct Setting {
    shape: Shape,
    record_count: u64,
    operation_count: u64,
    thread_count: u64,
    is_sync: bool,
    seed: u64,
}

pub(crate) fn bench(args: &Bench, out: &mut dyn Write) -> Result<()> {
    let setting = Setting {
        shape: Shape {
            key_len_bytes: args.key_size as usize,
            value_len_bytes: args.value_size as usize,
        },
        record_count: args.records,
        operation_count: args.operations.unwrap_or(args.records),
        thread_count: u64::from(args.threads),
        is_sync: args.sync,
        seed: args.seed,
    };
    let temporary = match &args.db {
        Some(dir) => {
            check_fresh("bench", dir)?;
            None
        }
        None => Some(temporary_directory("tephra-bench-")?),
    };
    let folder = match (&args.db, &temporary) {
        (Some(dir), _) => dir.as_path(),
        (None, Some(temporary)) => temporary.path(),
        (None, None) => unreachable!("one of them is there"),
    };
    if !args.json.json {
        line(
            out,
            format_args!(
                "{} records of {} + {} bytes, {} thread{}, {}, seed {}; times in microseconds",
                grouped(setting.record_count),
                args.key_size,
                args.value_size,
                args.threads,
                if args.threads == 1 { "" } else { "s" },
                if args.sync {
                    "synced commits"
                } else {
                    "commits survive a killed process"
                },
                args.seed
            ),
        )?;
        line(out, HEADER)?;
    }
    let chosen = if args.workloads.is_empty() {
        Workload::ALL
    } else {
        &args.workloads[..]
    };
    for (number, &workload) in chosen.iter().enumerate() {
        let dir = folder.join(format!("{:02}-{}", number + 1, workload.name()));
        let timing = workload.run(&setting, &dir)?;
        if args.json.json {
            facts(out, &as_json(workload, &setting, &timing))?;
        } else {
            line(out, row(workload, &timing))?;
        }
        out.flush().map_err(Failure::Output)?;
    }
    Ok(())
}

const HEADER: &str =
    "workload            operations   seconds    ops/second   MB/s       p50       p99     p99.9         max";

fn row(workload: Workload, timing: &Timing) -> String {
    let seconds = timing.seconds.max(1e-9);
    let us = |ns: u64| ns_as_us(ns);
    format!(
        "{:<17} {:>12} {:>9.3} {:>13.0} {:>6.1} {:>9.1} {:>9.1} {:>9.1} {:>11.1}",
        workload.name(),
        grouped(timing.count()),
        seconds,
        timing.per_second(),
        timing.megabytes_per_second(),
        us(timing.percentile_ns(50.0)),
        us(timing.percentile_ns(99.0)),
        us(timing.percentile_ns(99.9)),
        us(timing.max_ns()),
    )
}

fn as_json(workload: Workload, setting: &Setting, timing: &Timing) -> serde_json::Value {
    json!({
        "workload": workload.name(),
        "records": setting.record_count,
        "key_bytes": setting.shape.key_len_bytes,
        "value_bytes": setting.shape.value_len_bytes,
        "threads": setting.thread_count,
        "sync": setting.is_sync,
        "seed": setting.seed,
        "operations": timing.count(),
        "seconds": timing.seconds,
        "operations_per_second": timing.per_second(),
        "megabytes_per_second": timing.megabytes_per_second(),
        "p50_us": ns_as_us(timing.percentile_ns(50.0)),
        "p99_us": ns_as_us(timing.percentile_ns(99.0)),
        "p999_us": ns_as_us(timing.percentile_ns(99.9)),
        "max_us": ns_as_us(timing.max_ns()),
    })
}

#[expect(clippy::cast_precision_loss, reason = "figures for people")]
fn ns_as_us(ns: u64) -> f64 {
    ns as f64 / 1e3
}
