//! `tephra stress`: the store on machines that fail.
//!
//! ```text
//! --simulate   simulation   whole histories in memory, one a seed: power cuts, failing disks, crashes of recoveries
//! --every-call               small histories of the same kind, every call of the file system crashed and failed
//! --kill       kill         real processes on a real directory, killed in the middle of their work
//! ```

mod args;
mod kill;
mod simulate;
mod simulation;

use std::io::Write;

use crate::failure::Result;
pub(crate) use args::Stress;

pub(crate) fn run(stress: &Stress, out: &mut dyn Write) -> Result<()> {
    match &stress.child {
        Some(dir) => kill::run_child(dir, out),
        None if stress.kill => kill::run(stress, out),
        None if stress.every_call => simulate::run_every_call(stress, out),
        None => simulate::run(stress, out),
    }
}
