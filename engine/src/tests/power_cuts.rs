//! What a power cut takes is a tail of the history: nothing durable outlives what came before it.

use std::sync::Arc;

use super::{DIR, TestDb, assert_sound, manual};
use crate::vfs::{Calls, Fault, FaultFs, Gate, MemFs, Operation, Rule};
use crate::{Db, Durability, KeyspaceOptions, Usability};

/// Machines after power cuts of different seeds.
fn cuts(machine: &MemFs) -> impl Iterator<Item = Db> {
    (0..30).map(|seed| {
        let machine = machine.after_power_cut(seed);
        Db::open_with(Arc::new(machine), DIR, manual()).expect("a plain open succeeds")
    })
}

/// Cause: the edit of an ingest was durable, and the log was not synced before it. Loss: with a power cut, batches committed before the
/// ingest went and the ingest stayed. Mended: the log is synced before the edit.
#[test]
fn an_ingest_does_not_outlive_what_was_committed_before_it() {
    let db = TestDb::open(manual());
    let other = db.keyspace("other", KeyspaceOptions::default()).expect("creates");
    db.default_keyspace()
        .put_with("before", "v", Durability::Process)
        .expect("put");
    other.put_with("before", "v", Durability::Process).expect("put");
    let mut ingest = other.ingest().expect("begins");
    ingest.put("ingested", "v").expect("put");
    ingest.finish().expect("finishes");
    for db in cuts(&db.machine) {
        let other = db.keyspace("other", KeyspaceOptions::default()).expect("there");
        assert!(other.contains("ingested").expect("get"), "it is durable");
        assert!(other.contains("before").expect("get") && db.contains("before").expect("get"));
        assert_sound(&db);
    }
}

/// Cause: a drop was durable, and the log was not synced before it. Loss: records copied from a keyspace to another were gone after a
/// power cut, and the keyspace they came from too. Mended: the log is synced before the edit.
#[test]
fn a_drop_does_not_outlive_what_was_committed_before_it() {
    let db = TestDb::open(manual());
    let old = db.keyspace("old", KeyspaceOptions::default()).expect("creates");
    old.put_with("k", "v", Durability::Sync).expect("put");
    let copied = old.get("k").expect("get").expect("there");
    db.default_keyspace()
        .put_with("k", &copied, Durability::Process)
        .expect("put");
    db.drop_keyspace(&old).expect("drops");
    for db in cuts(&db.machine) {
        assert_eq!(db.keyspace_names(), [""]);
        assert_eq!(db.get("k").expect("get").as_deref(), Some(&b"v"[..]));
    }
}

/// Cause: a flush that had nothing to flush made no edit, and so did not settle one that had failed. Loss: after it a restart could still
/// find a keyspace whose creation had failed. Mended: a flush settles first.
#[test]
fn a_flush_settles_a_failed_creation_also_with_nothing_to_flush() {
    let machine = MemFs::new();
    let disk = FaultFs::new(Arc::new(machine.clone()));
    let db = Db::open_with(Arc::new(disk.clone()), DIR, manual()).expect("opens");
    // The edit is in the manifest and not known to be durable, and no new manifest can be made.
    disk.add(Rule::once(Calls::Only(Operation::Sync), Fault::StorageFull).on("MANIFEST"));
    disk.add(Rule::always(Calls::Only(Operation::Create), Fault::StorageFull).on("MANIFEST"));
    let outcome = db.keyspace("new", KeyspaceOptions::default());
    let error = outcome.expect_err("the manifest takes no edit");
    assert_eq!(error.usability(), Usability::Usable, "{error}");
    let names = || {
        let again = Db::open_with(Arc::new(machine.after_kill()), DIR, manual()).expect("opens");
        again.keyspace_names()
    };
    assert_eq!(names(), ["", "new"], "until it is settled");
    disk.heal();
    db.flush().expect("settles");
    assert_eq!(names(), [""]);
}

/// Each durable commit has its sync, also after a keyspace was dropped, a flush and a checkpoint.
#[test]
fn a_durable_commit_is_synced_whatever_came_before_it() {
    let machine = MemFs::new();
    let disk = FaultFs::new(Arc::new(machine.clone()));
    let db = Db::open_with(Arc::new(disk.clone()), DIR, manual()).expect("opens");
    for round in 0..4u32 {
        let gone = db.keyspace("gone", KeyspaceOptions::default()).expect("creates");
        gone.put("k", "v").expect("put");
        match round {
            1 => db.flush().expect("flush"),
            2 => db.checkpoint("/copy").expect("checkpoints"),
            _ => {}
        }
        db.drop_keyspace(&gone).expect("drops");
        let syncs = || disk.call_count(Calls::Only(Operation::SyncSegment));
        let before = syncs();
        let put = db
            .default_keyspace()
            .put_with(round.to_be_bytes(), "v", Durability::Sync);
        put.expect("put");
        assert!(syncs() > before, "round {round}");
        for db in cuts(&machine) {
            assert_eq!(db.iter().count(), round as usize + 1);
        }
    }
}

/// A sync that failed may have left the log's bytes in the system's cache alone. An open that shows them makes them durable first.
#[test]
fn what_an_open_shows_after_a_failed_sync_survives_a_power_cut() {
    let machine = MemFs::new();
    let disk = FaultFs::new(Arc::new(machine.clone()));
    let db = Db::open_with(Arc::new(disk.clone()), DIR, manual()).expect("opens");
    disk.add(Rule::always(
        Calls::Only(Operation::SyncSegment),
        Fault::DeviceError,
    ));
    let put = db.default_keyspace().put_with("k", "v", Durability::Sync);
    put.expect_err("the sync fails");
    drop(db);
    let db = Db::open_with(Arc::new(machine.clone()), DIR, manual()).expect("opens");
    assert!(db.contains("k").expect("get"), "the process alone has died");
    drop(db);
    for db in cuts(&machine) {
        assert!(db.contains("k").expect("get"), "it was seen");
    }
}

/// A sync that stalls holds up whoever asked for it, and no reader.
#[test]
fn readers_go_on_while_a_sync_stalls() {
    let disk = FaultFs::new(Arc::new(MemFs::new()));
    let db = Db::open_with(Arc::new(disk.clone()), DIR, manual()).expect("opens");
    db.put("k", "v").expect("put");
    db.flush().expect("flush");
    let gate = Gate::new();
    disk.add(Rule::once(
        Calls::Only(Operation::SyncSegment),
        Fault::Stall(gate.clone()),
    ));
    std::thread::scope(|scope| {
        let stalled = scope.spawn(|| db.default_keyspace().put_with("later", "v", Durability::Sync));
        gate.wait_for(1);
        assert!(db.contains("k").expect("get"));
        assert_eq!(db.snapshot().iter(&db).count(), 2, "what is logged is seen");
        assert!(!stalled.is_finished());
        gate.open();
        stalled.join().expect("ends").expect("put");
    });
}

/// A file that takes no bytes is an error that says so, not a loop.
#[test]
fn a_write_that_takes_nothing_is_an_error_and_the_next_try_works() {
    let disk = FaultFs::new(Arc::new(MemFs::new()));
    let db = Db::open_with(Arc::new(disk.clone()), DIR, manual()).expect("opens");
    db.put("k", "v").expect("put");
    for path in [".table", "MANIFEST"] {
        disk.add(Rule::once(Calls::Only(Operation::Write), Fault::ZeroWrite).on(path));
        let error = db.flush().expect_err("nothing is written");
        assert_eq!(error.usability(), Usability::Usable, "{error}");
        assert!(error.to_string().contains(path), "{error}");
        assert!(db.contains("k").expect("get"));
    }
    db.flush().expect("the disk is well again");
    assert_eq!(db.stats().table_count, 1);
    assert_sound(&db);
}
