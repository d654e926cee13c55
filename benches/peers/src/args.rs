//! The command line.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

use crate::shape::{SHAPES, Shape};

/// tephradb and other embedded stores, measured side by side.
#[derive(Debug, Parser)]
#[command(version)]
pub(crate) struct Command {
    #[command(subcommand)]
    pub(crate) verb: Verb,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// Measures: rounds of all workloads, each by every engine in turn, each in a process of its own.
    Run(RunArgs),
    /// Makes Markdown of lines of JSON.
    Table(TableArgs),
    /// Names engines, workloads and shapes.
    List,
    /// What `run` starts.
    #[command(hide = true)]
    Child(ChildArgs),
}

#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    /// Only workloads whose names contain one of these texts, separated by commas.
    #[arg(long, value_delimiter = ',')]
    pub(crate) filter: Vec<String>,
    /// Only these engines, separated by commas.
    #[arg(long, value_delimiter = ',')]
    pub(crate) engines: Vec<String>,
    /// Only these shapes, separated by commas: bytes of key / bytes of value. Default 16/100.
    #[arg(long, value_delimiter = ',', default_value = "16/100", value_parser = shape)]
    pub(crate) shape: Vec<Shape>,
    /// Records. Default: what the shape says, 10^6 or 10^5.
    #[arg(long)]
    pub(crate) records: Option<u64>,
    /// Rounds.
    #[arg(long, default_value_t = 3)]
    pub(crate) rounds: u64,
    /// Seconds that a part of a workload may take; filling always ends.
    #[arg(long, default_value_t = 10.0)]
    pub(crate) seconds: f64,
    /// One round of 20,000 records (2,000 of 4 KiB), to see that all works. Its figures say nothing.
    #[arg(long)]
    pub(crate) quick: bool,
    /// Prints lines of JSON instead of the table.
    #[arg(long)]
    pub(crate) json: bool,
    /// Where the stores lie; use a real disk. Default: the system's place for temporary files.
    #[arg(long)]
    pub(crate) dir: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct TableArgs {
    /// Files of lines; standard input if none is named.
    pub(crate) files: Vec<PathBuf>,
}

#[derive(Clone, Debug, Args)]
pub(crate) struct ChildArgs {
    #[arg(long)]
    pub(crate) engine: String,
    #[arg(long)]
    pub(crate) workload: String,
    #[arg(long, value_parser = shape)]
    pub(crate) shape: Shape,
    #[arg(long)]
    pub(crate) records: u64,
    #[arg(long)]
    pub(crate) round: u64,
    #[arg(long)]
    pub(crate) seconds: f64,
    #[arg(long)]
    pub(crate) dir: PathBuf,
}

fn shape(name: &str) -> Result<Shape, String> {
    SHAPES
        .into_iter()
        .find(|shape| shape.name == name)
        .ok_or_else(|| {
            let names: Vec<_> = SHAPES.iter().map(|shape| shape.name).collect();
            format!("no such shape; there are {}", names.join(", "))
        })
}
