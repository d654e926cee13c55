//! Faults happen where and as often as the rules say, and nowhere else.

use std::io::{ErrorKind, Write as _};
use std::path::Path;
use std::sync::Arc;

use super::{Calls, Fault, FaultFs, Gate, Interlude, Rule};
use crate::clock::{Clock as _, ManualClock};
use crate::vfs::{FileSystem, MemFs, Operation};

/// Five calls that change something; says which failed.
fn history(fs: &FaultFs) -> [bool; 5] {
    let file = fs.create_new(Path::new("a"));
    let created = file.is_ok();
    let (written, synced) = match file {
        Ok(mut file) => (file.write_all(b"abcd").is_ok(), file.sync().is_ok()),
        Err(_) => (false, false),
    };
    let renamed = fs.rename(Path::new("a"), Path::new("b")).is_ok();
    [
        created,
        written,
        synced,
        renamed,
        fs.sync_dir(Path::new("")).is_ok(),
    ]
    .map(|done| !done)
}

fn fresh() -> FaultFs {
    FaultFs::new(Arc::new(MemFs::new()))
}

#[test]
fn each_call_fails_in_turn_once_or_for_ever() {
    let fs = fresh();
    assert_eq!(history(&fs), [false; 5]);
    assert_eq!((fs.call_count(Calls::Changing), fs.fault_count()), (5, 0));
    assert_eq!(fs.call_count(Calls::Only(Operation::Sync)), 1);
    for nth in 1..5_usize {
        let fs = fresh();
        fs.add(Rule::once(Calls::Changing, Fault::DeviceError).after(nth as u64));
        let failed = history(&fs);
        assert_eq!(
            (failed.iter().filter(|&&failed| failed).count(), failed[nth]),
            (1, true)
        );

        let fs = fresh();
        fs.add(Rule::always(Calls::Changing, Fault::DeviceError).after(nth as u64));
        let expected: Vec<bool> = (0..5).map(|call| call >= nth).collect();
        assert_eq!(history(&fs)[..], expected);
        assert!(
            fs.exists(Path::new(if nth > 3 { "b" } else { "a" })).unwrap(),
            "looking is no change"
        );
        fs.heal();
        fs.sync_dir(Path::new("")).unwrap();
    }
}

#[test]
fn a_rule_means_its_operation_and_its_paths() {
    let fs = fresh();
    fs.add(Rule::always(Calls::Only(Operation::Create), Fault::StorageFull).on(".tbl"));
    let error = fs.create_new(Path::new("7.tbl")).unwrap_err();
    assert!(error.is_storage_full());
    assert_eq!(error.to_string(), "cannot create 7.tbl: injected full disk");
    fs.create_new(Path::new("7.log")).unwrap();
    assert_eq!(fs.fault_count(), 1);
}

#[test]
fn writes_fail_in_their_own_ways() {
    let write = |fault| {
        let fs = fresh();
        fs.add(Rule::once(Calls::Only(Operation::Write), fault));
        let outcome = fs.create_new(Path::new("a")).unwrap().write_all(b"abcd");
        (
            outcome.map_err(|error| error.kind()),
            fs.read(Path::new("a")).unwrap(),
        )
    };
    assert_eq!(
        write(Fault::ShortWrite),
        (Ok(()), b"abcd".to_vec()),
        "the caller writes the rest"
    );
    assert_eq!(write(Fault::ZeroWrite), (Err(ErrorKind::WriteZero), vec![]));
    assert_eq!(write(Fault::DeviceError), (Err(ErrorKind::Other), vec![]));
    assert_eq!(
        write(Fault::StorageFull),
        (Err(ErrorKind::StorageFull), b"ab".to_vec())
    );
}

#[test]
fn reads_may_flip_a_bit() {
    let fs = fresh();
    fs.create_new(Path::new("a")).unwrap().write_all(&[0; 4]).unwrap();
    fs.add(Rule::once(Calls::Only(Operation::Read), Fault::FlipBit(9)));
    fs.add(Rule::once(Calls::Only(Operation::Map), Fault::FlipBit(33)));
    assert_eq!(fs.read(Path::new("a")).unwrap(), [0, 2, 0, 0]);
    assert_eq!(fs.open_map(Path::new("a")).unwrap().as_ref(), [2, 0, 0, 0]);
    assert_eq!(fs.read(Path::new("a")).unwrap(), [0; 4]);
}

#[test]
fn segments_fail_at_append_and_at_sync() {
    let fs = fresh();
    let mut segment = fs.create_segment(Path::new("log"), 4_096).unwrap();
    segment.append(b"good").unwrap();
    fs.add(Rule::once(Calls::Only(Operation::Append), Fault::StorageFull));
    let error = segment.append(b"half").unwrap_err();
    assert_eq!((error.kind(), segment.len_bytes()), (ErrorKind::StorageFull, 6));
    assert!(
        error.to_string().contains("append to the log segment log"),
        "{error}"
    );
    let syncer = segment.syncer();
    fs.add(Rule::once(
        Calls::Only(Operation::SyncSegment),
        Fault::DeviceError,
    ));
    syncer.sync().unwrap_err();
    syncer.sync().unwrap();
}

#[test]
fn a_stalled_call_holds_up_nobody_else() {
    let fs = fresh();
    let mut file = fs.create_new(Path::new("a")).unwrap();
    let gate = Gate::new();
    fs.add(Rule::once(
        Calls::Only(Operation::Sync),
        Fault::Stall(gate.clone()),
    ));
    std::thread::scope(|scope| {
        let stalled = scope.spawn(move || file.sync());
        gate.wait_for(1);
        fs.create_new(Path::new("b")).unwrap().sync().unwrap();
        assert!(fs.exists(Path::new("a")).unwrap() && !stalled.is_finished());
        gate.open();
        stalled.join().unwrap().unwrap();
    });
}

#[test]
fn slow_calls_take_their_time_and_do_their_work() {
    let fs = fresh();
    let clock = Arc::new(ManualClock::new());
    let begun = clock.now_ms();
    let slow = Fault::Slow(Arc::clone(&clock), 30);
    fs.add(Rule::always(Calls::Only(Operation::Sync), slow.clone()).after(1));
    fs.add(Rule::once(Calls::Only(Operation::Rename), slow));
    let mut file = fs.create_new(Path::new("a")).unwrap();
    file.write_all(b"abcd").unwrap();
    file.sync().unwrap();
    assert_eq!(clock.now_ms(), begun);
    file.sync().unwrap();
    file.sync().unwrap();
    fs.rename(Path::new("a"), Path::new("b")).unwrap();
    fs.rename(Path::new("b"), Path::new("a")).unwrap();
    assert_eq!((clock.now_ms() - begun, fs.fault_count()), (90, 0));
    assert_eq!(fs.read(Path::new("a")).unwrap(), b"abcd");
}

#[test]
fn a_skipped_call_succeeds_and_does_nothing() {
    let machine = MemFs::new();
    let fs = FaultFs::new(Arc::new(machine.clone()));
    let mut file = fs.create_new(Path::new("a")).unwrap();
    fs.add(Rule::once(Calls::Only(Operation::Write), Fault::Skipped));
    file.write_all(b"lost").unwrap();
    file.write_all(b"kept").unwrap();
    assert_eq!(fs.read(Path::new("a")).unwrap(), b"kept");
    fs.add(Rule::always(Calls::Only(Operation::SyncDir), Fault::Skipped));
    file.sync().unwrap();
    fs.sync_dir(Path::new("")).unwrap();
    let is_there = |seed| machine.after_power_cut(seed).exists(Path::new("a")).unwrap();
    assert!((0..20).any(|seed| !is_there(seed)), "the name was never synced");
    assert_eq!(fs.fault_count(), 2);
}

#[test]
fn an_interlude_is_played_before_its_call_and_may_call_too() {
    let fs = fresh();
    let inner = fs.clone();
    let play = move || drop(inner.create_new(Path::new("first")).unwrap());
    fs.add(Rule::once(
        Calls::Only(Operation::List),
        Fault::Interlude(Interlude::new(play)),
    ));
    assert_eq!(fs.list(Path::new("")).unwrap().len(), 1);
    assert_eq!(fs.list(Path::new("")).unwrap().len(), 1);
    assert_eq!(fs.fault_count(), 0, "nothing failed");
}
