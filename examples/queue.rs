//! A queue: pushed at the tail, popped at the head by a scan and a delete, for as long as you like.
//!
//! ```text
//! cargo run --example queue
//!
//!        pop <-- | 41 | 42 | 43 | ... | 1040 | <-- push         key: a growing number, big-endian
//! ```
//!
//! In stores that write a record for a delete, the scan for the head steps over everything popped so far. Here popped records
//! are ordinals in a set beside their table within milliseconds, and runs of neighbours are passed in one step.

#![expect(clippy::print_stdout, reason = "an example shows what it does")]
#![expect(clippy::unwrap_used, reason = "an example stops at the first error")]
#![expect(
    clippy::disallowed_methods,
    reason = "an example may time itself by the system's clock"
)]

use std::time::{Duration, Instant};

use tephradb::{Db, Keyspace, KeyspaceOptions, Options, Value};

/// A queue in a keyspace of its own.
struct Queue {
    jobs: Keyspace,
    /// The number of the next job.
    next: u64,
}

impl Queue {
    /// Opens the queue; goes on behind the last job there is.
    fn open(db: &Db, name: &str) -> tephradb::Result<Queue> {
        let jobs = db.keyspace(name, KeyspaceOptions::default())?;
        let last = jobs.iter().next_back().transpose()?;
        let next = last.map_or(0, |(key, _)| u64::from_be_bytes(key[..].try_into().unwrap()) + 1);
        Ok(Queue { jobs, next })
    }

    fn push(&mut self, job: &str) -> tephradb::Result<()> {
        self.jobs.put(self.next.to_be_bytes(), job)?;
        self.next += 1;
        Ok(())
    }

    fn pop(&self) -> tephradb::Result<Option<Value>> {
        let Some((key, job)) = self.jobs.iter().next().transpose()? else {
            return Ok(None);
        };
        self.jobs.delete(&key)?;
        Ok(Some(job))
    }
}

fn main() -> tephradb::Result<()> {
    let folder = tempfile::tempdir().unwrap();
    // A small memtable, so that a short run crosses many flushes.
    let db = Db::open(folder.path(), Options::default().memtable_bytes(256 << 10))?;
    let mut queue = Queue::open(&db, "jobs")?;
    for number in 0..1_000 {
        queue.push(&format!("job {number}"))?;
    }
    println!(
        "{:>10}  {:>12}  {:>8}  {:>12}",
        "popped", "a pop", "tables", "table bytes"
    );
    let mut popped = 0;
    for _ in 0..10 {
        let mut spent = Duration::ZERO;
        for _ in 0..10_000 {
            queue.push(&format!("job {}", queue.next))?;
            let began = Instant::now();
            let job = queue.pop()?.expect("a thousand jobs are waiting");
            spent += began.elapsed();
            assert_eq!(
                &job[..],
                format!("job {popped}").as_bytes(),
                "in order, each once"
            );
            popped += 1;
        }
        let stats = db.stats();
        println!(
            "{popped:>10}  {:>9.2} us  {:>8}  {:>12}",
            spent.as_secs_f64() * 1e6 / 10_000.0,
            stats.table_count,
            stats.table_bytes
        );
    }
    assert_eq!(queue.jobs.iter().count(), 1_000);

    // The queue goes on where it stood.
    drop(queue);
    db.close()?;
    let db = Db::open(folder.path(), Options::default())?;
    let queue = Queue::open(&db, "jobs")?;
    assert_eq!(queue.pop()?.as_deref(), Some(format!("job {popped}").as_bytes()));
    println!("reopened: the next job was number {popped}");
    Ok(())
}
