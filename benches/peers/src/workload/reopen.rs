//! Opening a store that is there.

use std::path::Path;
use std::process::{Command, Stdio};

use super::{Job, LEAVE_LOG};
use crate::engine::Engine;
use crate::random::Order;
use crate::shape::Kind;

const LOG_BYTES: u64 = 64 << 20;

/// Opens a store that was closed, and reads one record.
pub(super) fn clean<E: Engine>(job: &mut Job) -> E {
    // The files are a copy: whatever an engine does about that, it does now.
    drop(E::open(&job.dir));
    let dir = job.dir.clone();
    time_open(job, &dir)
}

/// Opens a store whose process went away without a word after it had put 64 MiB, and checks that all is there that must be.
pub(super) fn with_log<E: Engine>(job: &mut Job) -> E {
    let args = &job.args;
    let mut child = Command::new(std::env::current_exe().unwrap());
    child.args([
        "child",
        "--engine",
        &args.engine,
        "--workload",
        LEAVE_LOG,
        "--shape",
        args.shape.name,
    ]);
    child.args([
        "--records",
        &args.records.to_string(),
        "--round",
        &args.round.to_string(),
    ]);
    child
        .args(["--seconds", &args.seconds.to_string(), "--dir"])
        .arg(&args.dir);
    let status = child.stdin(Stdio::null()).status().unwrap();
    assert!(status.success(), "the process that leaves a log: {status}");
    let dir = job.dir.clone();
    let engine: E = time_open(job, &dir);
    if E::SURVIVES_KILL {
        let order = Order::new(job.data.records, job.seed(1));
        let data = &job.data;
        for index in 0..log_records(job) {
            let key = data.key(order.at(index), Kind::Loaded);
            assert!(
                engine.get(&key, |value| data.check(&key, value)).is_some(),
                "put {index} survived"
            );
        }
    }
    engine
}

/// Puts 64 MiB and leaves the process at once: nothing is closed.
pub(super) fn leave_log<E: Engine>(job: &Job) -> ! {
    let engine = E::open(&job.dir);
    let order = Order::new(job.data.records, job.seed(1));
    let mut buffer = Vec::new();
    for index in 0..log_records(job) {
        let key = job.data.key(order.at(index), Kind::Loaded);
        engine.put(&key, job.data.value(&key, 0, &mut buffer));
    }
    // SAFETY: ends this process, whatever its other threads do; that is the point.
    unsafe { libc::_exit(0) }
}

fn log_records(job: &Job) -> u64 {
    let shape = job.data.shape;
    (LOG_BYTES / (shape.key_bytes + shape.value_bytes) as u64).min(job.data.records)
}

fn time_open<E: Engine>(job: &mut Job, dir: &Path) -> E {
    job.time("", "opens", |data, recorder| {
        let engine = E::open(dir);
        let key = data.key(0, Kind::Loaded);
        engine.get(&key, |value| data.check(&key, value));
        recorder.done(1);
        engine
    })
}
