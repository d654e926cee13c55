//! The options of `tephra stress`.

use std::path::PathBuf;

use clap::Args as ClapArgs;
use clap::builder::PossibleValuesParser;

use super::simulation::Planted;

#[derive(Debug, ClapArgs)]
#[command(group = clap::ArgGroup::new("machine").required(true).args(["simulate", "every_call", "kill", "child"]))]
pub(crate) struct Stress {
    /// Random histories on simulated machines that lose power and fail; one seed is one history
    #[arg(long)]
    pub(crate) simulate: bool,
    /// Small histories on such machines, in which every call of the file system crashes and fails in turn, two recoveries deep
    #[arg(long)]
    pub(crate) every_call: bool,
    /// With --every-call: all calls of all recoveries, not a part of them
    #[arg(long, requires = "every_call")]
    pub(crate) complete: bool,
    /// Processes that write to a real directory and are killed
    #[arg(long)]
    pub(crate) kill: bool,
    /// Number of histories
    #[arg(long, value_name = "N", default_value_t = 1_000)]
    pub(crate) seeds: u64,
    /// Seed of the first history, or of the moments to kill at
    #[arg(long, value_name = "SEED", default_value_t = 0)]
    pub(crate) from: u64,
    /// Number of processes to kill
    #[arg(long, value_name = "N", default_value_t = 100)]
    pub(crate) rounds: u64,
    /// Directory of the database that the processes write to; must not exist, or be empty [default: a temporary one]
    #[arg(conflicts_with_all = ["simulate", "every_call", "child"])]
    pub(crate) dir: Option<PathBuf>,
    /// A process that writes until it is killed
    #[arg(long, hide = true, value_name = "DIR")]
    pub(crate) child: Option<PathBuf>,
    /// Plants a fault that must be found, to see the check at work
    #[arg(long, hide = true, value_name = "NAME", value_parser = planted_names())]
    pub(crate) plant: Option<String>,
}

/// The faults that `--plant` knows in this build.
fn planted_names() -> PossibleValuesParser {
    Planted::ALL.iter().map(|&(name, ..)| name).into()
}
