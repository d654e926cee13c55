//! The process that runs one workload on one engine and prints what it measured.

use std::time::Instant;

use crate::args::ChildArgs;
use crate::engine::{Engine, Family};
use crate::engines::{self, with_engine};
use crate::measure::{Usage, disk_bytes, heap_bytes, peak_memory_bytes, wait_until_quiet};
use crate::report::Line;
use crate::workload::{self, Job};

/// Runs, and prints a line of JSON a part; none if the engine has no such thing.
pub(crate) fn run(args: &ChildArgs) {
    #[cfg(feature = "lmdb")]
    if args.engine == "lmdb" && args.workload == workload::SNAPSHOTS {
        return run_on::<crate::engines::lmdb::Lmdb<heed::WithoutTls>>(args);
    }
    with_engine!(args.engine.as_str(), run_on(args));
}

fn run_on<E: Engine>(args: &ChildArgs) {
    let mut job = Job::new(args);
    let Some(engine) = workload::run::<E>(&args.workload, &mut job) else {
        return;
    };
    let begin = Instant::now();
    engine.settle();
    wait_until_quiet();
    let settle_seconds = begin.elapsed().as_secs_f64();
    let used = Usage::now().since(job.usage_before.expect("a workload has a part"));
    let (peak_memory_bytes, heap_bytes, disk_bytes) =
        (peak_memory_bytes(), heap_bytes(), disk_bytes(&job.dir));
    drop(engine);
    let listed = engines::LISTED.iter().find(|listed| listed.name == args.engine);
    let is_lsm = listed.is_some_and(|listed| listed.family == Family::Lsm);
    for part in &job.parts {
        let timing = part.timing;
        let line = Line {
            bench: "peers".to_owned(),
            workload: format!("{}{}", args.workload, part.name),
            engine: args.engine.clone(),
            family: if is_lsm { "lsm" } else { "btree" }.to_owned(),
            shape: args.shape.name.to_owned(),
            records: args.records,
            round: args.round,
            unit: part.unit.to_owned(),
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
            raw_bytes: job.data.raw_bytes(),
            write_bytes: used.write_bytes,
            call_bytes: used.call_bytes,
            cpu_seconds: used.cpu_seconds,
            settle_seconds,
        };
        println!("{}", serde_json::to_string(&line).unwrap());
    }
}
