//! `tephra stress`: the store on machines that fail.
//!
//! ```text
//! --simulate   simulation   whole histories in memory, one a seed: power cuts, failing disks, crashes of recoveries
//! ```

mod simulate;
mod simulation;

use std::io::Write;

use crate::args;
use crate::failure::Result;

pub(crate) fn run(stress: &args::Stress, out: &mut dyn Write) -> Result<()> {
    simulate::run(stress, out)
}
