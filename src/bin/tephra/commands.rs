//! The dispatcher: a command's arguments to the code that runs it.

use std::io::Write;

use crate::args::{Args, Command};
use crate::failure::Result;
use crate::{demo, load, look_after, read, stress, write};

pub(crate) fn run(args: Args, out: &mut dyn Write) -> Result<()> {
    match args.command {
        Command::Demo(demo) => demo::run(&demo, out),
        Command::Load(load) => load::run(&load, out),
        Command::Get(get) => read::get(get, out),
        Command::Scan(scan) => read::scan(scan, out),
        Command::Put(put) => write::put(put),
        Command::Delete(delete) => write::delete(delete),
        Command::Verify(verify) => look_after::verify(&verify, out),
        Command::Repair(repair) => look_after::repair(&repair, out),
        Command::Stats(stats) => look_after::stats(&stats, out),
        Command::Stress(stress) => stress::run(&stress, out),
    }
}
