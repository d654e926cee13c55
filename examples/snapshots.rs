//! Snapshots: instants of a database that stay as they were, whatever is written since; and a checkpoint, an instant on disk.
//!
//! `cargo run --release --example snapshots` keeps two instants of a small stock, sells and clears it, compacts everything away, and
//! still counts what was there; the statistics show what the snapshots pin. A checkpoint is then opened as a database of its own.

#![expect(clippy::print_stdout, reason = "an example shows what it does")]
#![expect(clippy::unwrap_used, reason = "an example stops at the first error")]

use tephradb::{Db, KeyspaceOptions, Options, Snapshot};

/// Pieces of all articles at an instant.
fn pieces(stock: &tephradb::Keyspace, instant: &Snapshot) -> tephradb::Result<u64> {
    let mut sum = 0;
    for item in instant.iter(stock) {
        let (_, count) = item?;
        sum += u64::from_be_bytes(count[..].try_into().unwrap());
    }
    Ok(sum)
}

fn main() -> tephradb::Result<()> {
    let folder = tempfile::tempdir().unwrap();
    let db = Db::open(folder.path().join("stock"), Options::default())?;
    let stock = db.keyspace("stock", KeyspaceOptions::default())?;

    for article in 0..10_000u64 {
        stock.put(format!("article {article:05}"), 5u64.to_be_bytes())?;
    }
    db.flush()?;
    let morning = db.snapshot();

    // Every other article is sold out; a batch of further keyspaces would be seen as whole by any snapshot, too.
    for article in (0..10_000u64).step_by(2) {
        stock.delete(format!("article {article:05}"))?;
    }
    let noon = db.snapshot();
    stock.clear()?;
    db.compact()?;

    let evening = db.snapshot();
    for (name, instant, expected) in [
        ("morning", &morning, 50_000),
        ("noon", &noon, 25_000),
        ("evening", &evening, 0),
    ] {
        let pieces = pieces(&stock, instant)?;
        println!("{name:>8}: {pieces} pieces");
        assert_eq!(pieces, expected);
    }
    let stats = db.stats();
    println!(
        "pinned by {} snapshots: {} files of {} bytes",
        stats.snapshot_count, stats.pinned_file_count, stats.pinned_file_bytes
    );
    assert!(stats.pinned_file_bytes > 0);
    drop((morning, noon, evening));
    assert_eq!(
        db.stats().pinned_file_bytes,
        0,
        "the files go with the last snapshot"
    );

    // An instant that outlives the process: tables get a second name, nothing is copied.
    stock.put("article 00000", 1u64.to_be_bytes())?;
    let copy = folder.path().join("copy");
    db.checkpoint(&copy)?;
    stock.clear()?;
    let copy = Db::open_read_only(&copy, Options::default())?;
    let of_copy = copy.keyspace("stock", KeyspaceOptions::default())?;
    println!("    copy: {} article", of_copy.iter().count());
    assert!(of_copy.contains("article 00000")? && !stock.contains("article 00000")?);
    Ok(())
}
