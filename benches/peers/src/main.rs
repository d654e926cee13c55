//! tephradb and other embedded stores, measured side by side: see `README.md`.

mod args;
mod child;
mod engine;
mod engines;
mod measure;
mod random;
mod report;
mod rounds;
mod shape;
mod workload;

use std::io::Read as _;

use args::{Command, TableArgs, Verb};
use clap::Parser as _;

fn main() {
    match Command::parse().verb {
        Verb::Run(args) => rounds::run(&args),
        Verb::Child(args) => child::run(&args),
        Verb::Table(args) => print!("{}", report::table(&read_lines(&args))),
        Verb::List => list(),
    }
}

fn read_lines(args: &TableArgs) -> Vec<report::Line> {
    let mut text = String::new();
    if args.files.is_empty() {
        std::io::stdin().read_to_string(&mut text).unwrap();
    }
    for file in &args.files {
        text.push_str(&std::fs::read_to_string(file).unwrap());
    }
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

fn list() {
    println!(
        "engines:   {}",
        engines::LISTED
            .iter()
            .map(|engine| engine.name)
            .collect::<Vec<_>>()
            .join(", ")
    );
    println!("shapes:    {}", shape::SHAPES.map(|shape| shape.name).join(", "));
    println!("workloads:");
    for listed in workload::LISTED {
        println!("    {:20}{}", listed.name, listed.about);
    }
}
