//! Counters with a law: visits of pages, counted by several threads that never read what they count.
//!
//! `cargo run --release --example counters` counts in a folder of its own, shows the totals while the counting goes on, and checks them
//! at the end: after a flush, a compaction and a reopening they are what was counted.

#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use std::error::Error;
use std::sync::atomic::{AtomicU64, Ordering};

use tephradb::{AddU64, Composed, Db, Keyspace, KeyspaceOptions, LawFailure, MaxU64, Options};

const PAGES: [&str; 4] = ["/", "/ash", "/lapilli", "/bombs"];
const THREADS: u64 = 4;
const VISITS: u64 = 50_000;

/// Two ready laws and one of our own: the earliest and the latest visit, as a pair of numbers.
struct Counters {
    visits: Keyspace,
    longest: Keyspace,
    between: Keyspace,
}

impl Counters {
    fn open(db: &Db) -> tephradb::Result<Counters> {
        let number = || KeyspaceOptions::default().value_width_bytes(8);
        let pair = KeyspaceOptions::default().value_width_bytes(16);
        Ok(Counters {
            visits: db.keyspace("visits", number().compose(AddU64::NAME, AddU64))?,
            longest: db.keyspace("longest", number().compose(MaxU64::NAME, MaxU64))?,
            between: db.keyspace("between", pair.compose("earliest-latest", earliest_latest))?,
        })
    }
}

/// Associative: however pairs are grouped, the least first number and the greatest second one are left.
fn earliest_latest(older: &[u8], newer: &[u8]) -> Result<Composed, LawFailure> {
    let ((from_a, to_a), (from_b, to_b)) = (pair(older)?, pair(newer)?);
    Ok(Composed::Owned(pair_bytes(from_a.min(from_b), to_a.max(to_b))))
}

fn pair(bytes: &[u8]) -> Result<(u64, u64), LawFailure> {
    match (bytes.first_chunk(), bytes.last_chunk()) {
        (Some(from), Some(to)) if bytes.len() == 16 => {
            Ok((u64::from_le_bytes(*from), u64::from_le_bytes(*to)))
        }
        _ => Err(LawFailure::new("expected two numbers of 8 bytes")),
    }
}

fn pair_bytes(from: u64, to: u64) -> Vec<u8> {
    [from.to_le_bytes(), to.to_le_bytes()].concat()
}

fn number_of(keyspace: &Keyspace, page: &str) -> Result<u64, Box<dyn Error>> {
    match keyspace.get(page)? {
        None => Ok(0),
        Some(value) => Ok(u64::from_le_bytes(value.as_ref().try_into()?)),
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    // A law given here serves flushes and compactions before its keyspace is asked for. Ready laws are always known.
    let options = || {
        Options::default()
            .memtable_bytes(256 << 10)
            .law("earliest-latest", earliest_latest)
    };
    let db = Db::open(folder.path(), options())?;
    let counters = Counters::open(&db)?;
    let clock = AtomicU64::new(0);

    std::thread::scope(|scope| {
        let counting: Vec<_> = (0..THREADS)
            .map(|thread| {
                let (db, counters, clock) = (&db, &counters, &clock);
                scope.spawn(move || -> tephradb::Result<()> {
                    for visit in 0..VISITS {
                        let now = clock.fetch_add(1, Ordering::Relaxed);
                        let page = PAGES[usize::try_from((visit * (thread + 1)) % 7 % 4).unwrap_or(0)];
                        let mut batch = db.batch();
                        batch
                            .merge(&counters.visits, page, 1u64.to_le_bytes())
                            .merge(&counters.longest, page, (visit % 100).to_le_bytes())
                            .merge(&counters.between, page, pair_bytes(now, now));
                        batch.commit(tephradb::Durability::Process)?;
                    }
                    Ok(())
                })
            })
            .collect();
        // Readers see whole batches at any time, and wait for nobody.
        while counting.iter().any(|thread| !thread.is_finished()) {
            let snapshot = db.snapshot();
            let total: u64 = snapshot
                .iter(&counters.visits)
                .filter_map(Result::ok)
                .filter_map(|(_, value)| value.as_ref().try_into().ok().map(u64::from_le_bytes))
                .sum();
            println!("{total:>7} visits so far");
            std::thread::sleep(std::time::Duration::from_millis(50));
        }
        counting.into_iter().try_for_each(|thread| {
            thread
                .join()
                .map_err(|_| "a counting thread panicked")?
                .map_err(Box::<dyn Error>::from)
        })
    })?;

    db.flush()?;
    db.compact()?;
    drop(counters);
    db.close()?;

    let db = Db::open(folder.path(), options())?;
    let counters = Counters::open(&db)?;
    let mut total = 0;
    for page in PAGES {
        let visits = number_of(&counters.visits, page)?;
        let longest = number_of(&counters.longest, page)?;
        let between = counters.between.get(page)?.ok_or("every page was visited")?;
        let (first, last) = pair(&between)?;
        println!(
            "{page:<9} {visits:>7} visits, the longest of {longest} seconds, between {first} and {last}"
        );
        total += visits;
    }
    assert_eq!(total, THREADS * VISITS, "every visit is counted once");
    assert!(db.verify()?.is_sound());
    println!("{total} visits counted, none lost, none twice");
    Ok(())
}
