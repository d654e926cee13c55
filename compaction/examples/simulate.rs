//! Prints what the picker costs: write, read and space amplification of made-up workloads, without a file.
//!
//! ```text
//! cargo run --release -p tephra-compaction --example simulate                       10^9 operations of 100 bytes
//! cargo run --release -p tephra-compaction --example simulate -- 20000000 delete-rich   so many, one workload
//! ```

#![expect(clippy::print_stdout, reason = "printing is its purpose")]

use tephra_compaction::picker::simulator::{Report, Setting, Workload, simulate};

const USAGE: &str = "usage: simulate [operations] [uniform|sequential|hot|queue|delete-rich]";

fn main() -> Result<(), String> {
    let mut arguments = std::env::args().skip(1);
    let operations = match arguments.next() {
        Some(text) => text.parse().map_err(|_| USAGE.to_owned())?,
        None => 1_000_000_000,
    };
    let wanted = arguments.next();
    let chosen: Vec<Workload> = Workload::ALL
        .into_iter()
        .filter(|workload| wanted.as_ref().is_none_or(|name| *name == workload.to_string()))
        .collect();
    if chosen.is_empty() || arguments.next().is_some() {
        return Err(USAGE.to_owned());
    }
    println!("{}", Report::HEADER);
    for workload in chosen {
        println!("{}", simulate(&Setting::new(workload, operations)));
    }
    Ok(())
}
