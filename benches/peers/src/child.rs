//! The process that runs one workload on one engine and prints what it measured.

use std::time::Instant;

use crate::args::ChildArgs;
use crate::engine::{Engine, Family};
use crate::engines::{self, with_engine};
use crate::measure::{Usage, disk_bytes, heap_bytes, peak_memory_bytes, wait_until_quiet};
use crate::report::Line;
use crate::shape::Data;
use crate::workload::{self, Job};

/// Runs, and prints a line of JSON a part.
pub(crate) fn run(args: &ChildArgs) {
    with_engine!(args.engine.as_str(), run_on(args));
}

fn run_on<E: Engine>(args: &ChildArgs) {
    let data = Data::new(args.shape, args.records);
    let raw_bytes = data.raw_bytes();
    let mut job = Job::new(args.dir.clone(), data, args.round, args.seconds);
    let engine: E = workload::run(&args.workload, &mut job);
    let begin = Instant::now();
    engine.settle();
    wait_until_quiet();
    let settle_seconds = begin.elapsed().as_secs_f64();
    let used = Usage::now().since(job.usage_before.expect("a workload has a part"));
    let (peak_memory_bytes, heap_bytes, disk_bytes) =
        (peak_memory_bytes(), heap_bytes(), disk_bytes(&job.dir));
    drop(engine);
    let listed = workload::LISTED
        .iter()
        .find(|listed| listed.name == args.workload);
    let family = engines::LISTED
        .iter()
        .find(|listed| listed.name == args.engine)
        .map(|listed| listed.family);
    for (part, timing) in &job.parts {
        let line = Line {
            bench: "peers".to_owned(),
            workload: format!("{}{part}", args.workload),
            engine: args.engine.clone(),
            family: if family == Some(Family::Lsm) {
                "lsm"
            } else {
                "btree"
            }
            .to_owned(),
            shape: args.shape.name.to_owned(),
            records: args.records,
            round: args.round,
            unit: listed.map_or("", |listed| listed.unit).to_owned(),
            ops: timing.ops,
            seconds: timing.seconds,
            thread_seconds: timing.thread_seconds,
            ops_per_s: timing.ops_per_s,
            p50_us: timing.p50_us,
            p99_us: timing.p99_us,
            p999_us: timing.p999_us,
            max_us: timing.max_us,
            peak_memory_bytes,
            heap_bytes,
            disk_bytes,
            raw_bytes,
            write_bytes: used.write_bytes,
            call_bytes: used.call_bytes,
            cpu_seconds: used.cpu_seconds,
            settle_seconds,
        };
        println!("{}", serde_json::to_string(&line).unwrap());
    }
}
