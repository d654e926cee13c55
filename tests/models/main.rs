//! Models of the protocols between threads, run schedule by schedule: a scheduler decides at every lock, condition and yield who goes on.
//!
//! | file | protocol | code |
//! |---|---|---|
//! | `shared_syncs.rs` | shared syncs of the log: nobody returns before its record is durable, a failed sync reaches everybody | the log's own `writer.rs` and `group_commit.rs` on modelled locks and a modelled disk |
//! | `published_view.rs` | readers against commits, rotations and flushes | a model of `engine/src/db/engine.rs`, `engine/src/db/write.rs` and `engine/src/flush/mod.rs` |
//! | `dead_sets.rs` | deletes against compactions of the tables they kill records in | a model of `engine/src/compact/late_kills.rs` and `engine/src/compact/install.rs` with the engine's own `dead_set.rs` |
//!
//! Each model runs with faults planted in it as well, one at a time, and each must be found. `TEPHRA_SCHEDULES=100000 cargo test --profile ci
//! --test models -- --nocapture` runs more schedules than the ten thousand a model of a plain run.

#![expect(clippy::unwrap_used, reason = "a test: a surprise here is a failure")]
#![expect(clippy::print_stdout, reason = "figures of a run")]

// The files of the log that are compiled here ask for locks by this name: they get the scheduler's.
extern crate self as parking_lot;

#[path = "../../engine/src/dead_set.rs"]
mod dead_set;
mod dead_sets;
#[path = "../../wal/src/group_commit.rs"]
mod group_commit;
mod published_view;
mod shared_syncs;
mod sync;
#[expect(
    dead_code,
    unreachable_pub,
    reason = "the log's file, of which a model uses a part"
)]
#[path = "../../wal/src/writer.rs"]
mod writer;

// What those files find around them at home.
use tephra_wal as error;
use tephra_wal as header;
use tephra_wal as record;
use tephra_wal as segment;

pub use sync::{Condvar, Mutex};

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use shuttle::scheduler::{PctScheduler, RandomScheduler};
use shuttle::{Config, FailurePersistence, Runner};

/// Schedules of a model, half of them random ones and half with few preemptions at random depths, where nothing else is asked for.
const SCHEDULES: usize = 10_000;
/// Preemptions of the second half.
const PREEMPTIONS: usize = 3;

fn schedules() -> usize {
    let asked = std::env::var("TEPHRA_SCHEDULES").ok();
    asked.map_or(SCHEDULES, |text| text.parse().unwrap())
}

/// Of the schedulers: a run finds again what it found.
const SEED: u64 = 1;

/// Runs a model and prints the number of schedules.
fn explore(name: &str, model: impl Fn() + Send + Sync + Clone + 'static) {
    let each = schedules() / 2;
    let random = RandomScheduler::new_from_seed(SEED, each);
    let few_preemptions = PctScheduler::new_from_seed(SEED, PREEMPTIONS, each);
    let count = Runner::new(random, Config::default()).run(model.clone())
        + Runner::new(few_preemptions, Config::default()).run(model);
    println!("{name}: {count} schedules, all right");
    assert_eq!(count, each * 2);
}

/// Runs a model with a fault in it until that shows.
fn must_find(name: &str, model: impl Fn() + Send + Sync + Clone + 'static) {
    let runs = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&runs);
    let counted = move || {
        counter.fetch_add(1, Ordering::SeqCst);
        model();
    };
    let scheduler = RandomScheduler::new_from_seed(SEED, SCHEDULES);
    let mut config = Config::default();
    config.failure_persistence = FailurePersistence::None;
    let outcome = catch_unwind(AssertUnwindSafe(|| Runner::new(scheduler, config).run(counted)));
    assert!(outcome.is_err(), "{name} is not found in {SCHEDULES} schedules");
    println!("{name}: found in schedule {}", runs.load(Ordering::SeqCst));
}
