//! The dispatcher: a command's arguments to the code that runs it.

use std::io::Write;

use crate::args::{Args, Command};
use crate::failure::Result;
use crate::{bench, completions, demo, dump, load, look_after, read, report, simulate, stress, table, write};

pub(crate) fn run(args: Args, out: &mut dyn Write) -> Result<()> {
    match args.command {
        Command::Demo(demo) => demo::run(&demo, out),
        Command::Load(load) => load::run(&load, out),
        Command::Dump(dump) => dump::dump(&dump, out),
        Command::Restore(restore) => dump::restore(&restore, out),
        Command::Get(get) => read::get(get, out),
        Command::Scan(scan) => read::scan(scan, out),
        Command::Count(count) => read::count(count, out),
        Command::Put(put) => write::put(put),
        Command::Delete(delete) => write::delete(delete),
        Command::DeleteRange(range) => write::delete_range(range),
        Command::Merge(merge) => write::merge(merge),
        Command::Keyspaces(keyspaces) => look_after::keyspaces(&keyspaces, out),
        Command::Compact(compact) => look_after::compact(compact, out),
        Command::Checkpoint(checkpoint) => look_after::checkpoint(&checkpoint, out),
        Command::Verify(verify) => look_after::verify(&verify, out),
        Command::Repair(repair) => look_after::repair(&repair, out),
        Command::Stats(stats) => look_after::stats(&stats, out),
        Command::Bench(bench) => bench::bench(&bench, out),
        Command::Simulate(simulate) => simulate::simulate(&simulate, out),
        Command::Completions(completions) => completions::completions(&completions, out),
        Command::Report(report) => report::run(&report, out),
        Command::Table(table) => table::run(&table, out),
        Command::Stress(stress) => stress::run(&stress, out),
    }
}
