//! `tephra simulate`: what compaction costs, by the real picker over made-up data, without a file.

use std::io::Write;

use clap::{Args as ClapArgs, ValueEnum};
use serde_json::json;
use tephra_compaction::picker::simulator::{Report, Setting, Workload, simulate as run_simulation};

use crate::failure::Result;
use crate::output::{Json, facts, line};
use crate::progress::Spinner;

const ABOUT: &str = "\
Examples:
  tephra simulate                                       all workloads
  tephra simulate delete-rich --operations 200000000
  tephra simulate uniform --memtable-mib 16 --table-mib 32 --level-ratio 8 --json

Columns: write, bytes written by flushes and merges for each byte flushed; read, tables whose key range holds a key that is there (mean);
space, bytes of tables for each byte of live records (mean, and the most); jobs of each kind; the largest merge; the most tables of level
0; the tables by level at the end. \"-\": not measured, for the store stayed smaller than four memtables (space), or saw fewer than 16 flushes
(read): raise --operations or lower --memtable-mib. The same setting and seed give the same figures on every machine.";

/// A made-up history.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Name {
    /// Puts of random keys, each about twice
    Uniform,
    /// Puts of ascending keys, each once
    Sequential,
    /// Puts of random keys, nine tenths of them to a hundredth of the keys
    Hot,
    /// Puts at the tail and deletes at the head
    Queue,
    /// Puts and deletes of random keys, four of ten operations delete
    DeleteRich,
}

impl Name {
    fn workload(self) -> Workload {
        match self {
            Name::Uniform => Workload::Uniform,
            Name::Sequential => Workload::Sequential,
            Name::Hot => Workload::Hot,
            Name::Queue => Workload::Queue,
            Name::DeleteRich => Workload::DeleteRich,
        }
    }
}

#[derive(Debug, ClapArgs)]
#[command(after_help = ABOUT)]
pub(crate) struct Simulate {
    /// What is written [default: each of them]
    #[arg(value_enum)]
    workloads: Vec<Name>,
    /// Puts and deletes of each
    #[arg(long, value_name = "N", default_value_t = 100_000_000, value_parser = clap::value_parser!(u64).range(1..=100_000_000_000))]
    operations: u64,
    /// Bytes of a record
    #[arg(long, value_name = "BYTES", default_value_t = 100, value_parser = clap::value_parser!(u64).range(1..=1 << 20))]
    record_bytes: u64,
    /// Size of a memtable in MiB
    #[arg(long, value_name = "MIB", default_value_t = 64, value_parser = clap::value_parser!(u64).range(1..=1 << 20))]
    memtable_mib: u64,
    /// Size in MiB at which merges cut their output into tables
    #[arg(long, value_name = "MIB", default_value_t = 64, value_parser = clap::value_parser!(u64).range(1..=1 << 20))]
    table_mib: u64,
    /// How many times larger each level is than the one above
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u64).range(2..=1_000))]
    level_ratio: u64,
    /// Flushed tables that start a compaction
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u64).range(1..=1_000))]
    l0_trigger: u64,
    /// Bytes that compactions may write for each byte flushed, on a slow machine [default: as many as are due]
    #[arg(long, value_name = "BYTES")]
    compaction_budget: Option<u64>,
    /// Seed of the random keys
    #[arg(long, value_name = "SEED", default_value_t = 1)]
    seed: u64,
    #[command(flatten)]
    json: Json,
}

pub(crate) fn simulate(args: &Simulate, out: &mut dyn Write) -> Result<()> {
    let all = Name::value_variants();
    let chosen = if args.workloads.is_empty() {
        all
    } else {
        &args.workloads
    };
    if !args.json.json {
        line(out, Report::HEADER)?;
    }
    for name in chosen {
        let mut setting = Setting::new(name.workload(), args.operations);
        setting.record_bytes = args.record_bytes;
        setting.memtable_bytes = args.memtable_mib << 20;
        setting.picker.target_table_bytes = args.table_mib << 20;
        // As the engine has it: the smallest level holds four tables.
        setting.picker.base_level_bytes = setting.picker.target_table_bytes.saturating_mul(4);
        setting.picker.size_ratio = args.level_ratio;
        setting.picker.level_zero_trigger = usize::try_from(args.l0_trigger).unwrap_or(usize::MAX);
        setting.compaction_bytes_per_flushed = args.compaction_budget;
        setting.seed = args.seed;
        let spinner = Spinner::new(format!("simulating {}", setting.workload));
        let report = run_simulation(&setting);
        spinner.end();
        if args.json.json {
            facts(out, &as_json(&report))?;
        } else {
            line(out, &report)?;
        }
        out.flush().map_err(crate::failure::Failure::Output)?;
    }
    Ok(())
}

fn as_json(report: &Report) -> serde_json::Value {
    let [merges, moves, drops] = report.jobs;
    json!({
        "workload": report.workload.to_string(),
        "operations": report.operations,
        "write_amplification": report.write_amplification,
        "level_write_amplification": report.level_write_amplification,
        "read_amplification": report.read_amplification,
        "space_amplification": report.space_amplification,
        "space_amplification_max": report.space_amplification_max,
        "level_tables": report.level_tables,
        "level_zero_max": report.level_zero_max,
        "tables_max": report.tables_max,
        "merges": merges, "moves": moves, "drops": drops,
        "largest_job_bytes": report.largest_job_bytes,
        "table_bytes": report.table_bytes,
        "live_bytes": report.live_bytes,
    })
}
