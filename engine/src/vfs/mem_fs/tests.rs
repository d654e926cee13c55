//! What a power cut may take, and what it may not.

use std::collections::BTreeSet;
use std::io::Write as _;
use std::path::Path;

use super::MemFs;
use crate::vfs::{FileSystem, LockError};

const SEEDS: u64 = 400;

fn path(name: &str) -> std::path::PathBuf {
    Path::new("db").join(name)
}

/// A machine with a durable directory `db`.
fn machine() -> MemFs {
    let fs = MemFs::new();
    fs.create_dir_all(Path::new("db")).unwrap();
    fs.sync_dir(Path::new("")).unwrap();
    fs
}

fn write(fs: &MemFs, name: &str, bytes: &[u8], sync: bool) {
    let mut file = fs.create_new(&path(name)).unwrap();
    file.write_all(bytes).unwrap();
    if sync {
        file.sync().unwrap();
    }
}

/// The states that power cuts of a machine lead to, as seen by a reader.
fn outcomes<T: Ord>(fs: &MemFs, look: impl Fn(&MemFs) -> T) -> BTreeSet<T> {
    (0..SEEDS).map(|seed| look(&fs.after_power_cut(seed))).collect()
}

fn read(fs: &MemFs, name: &str) -> Option<Vec<u8>> {
    fs.read(&path(name)).ok()
}

#[test]
fn a_kill_keeps_what_was_written_and_frees_the_lock() {
    let fs = machine();
    write(&fs, "a", b"unsynced", false);
    let guard = fs.lock_exclusive(&path("LOCK")).unwrap();
    let after = fs.after_kill();
    assert_eq!(read(&after, "a").unwrap(), b"unsynced");
    assert_eq!(after.boot_id(), fs.boot_id());
    after.lock_exclusive(&path("LOCK")).unwrap();
    assert!(
        matches!(fs.lock_exclusive(&path("LOCK")), Err(LockError::Held { .. })),
        "the old one still holds it"
    );
    drop(guard);
}

#[test]
fn what_is_synced_survives_every_power_cut() {
    let fs = machine();
    write(&fs, "a", b"synced", true);
    fs.sync_dir(Path::new("db")).unwrap();
    assert_eq!(
        outcomes(&fs, |after| read(after, "a")),
        BTreeSet::from([Some(b"synced".to_vec())])
    );
    assert!(
        outcomes(&fs, FileSystem::boot_id)
            .iter()
            .all(|&boot| boot != fs.boot_id())
    );
}

#[test]
fn contents_and_names_are_synced_apart() {
    let fs = machine();
    write(&fs, "a", b"synced", true);
    let expected = BTreeSet::from([None, Some(b"synced".to_vec())]);
    assert_eq!(
        outcomes(&fs, |after| read(after, "a")),
        expected,
        "the name may be lost"
    );

    let fs = machine();
    write(&fs, "a", b"unsynced", false);
    fs.sync_dir(Path::new("db")).unwrap();
    let seen = outcomes(&fs, |after| read(after, "a").expect("the name is durable"));
    assert!(
        seen.contains(&b""[..]) && seen.contains(&b"unsynced"[..]) && seen.contains(&b"\0\0\0"[..]),
        "{seen:?}"
    );
}

#[test]
fn sectors_are_lost_each_on_its_own() {
    let fs = machine();
    let mut segment = fs.create_segment(&path("log"), 4 * 512).unwrap();
    segment.append(&[1; 700]).unwrap();
    segment.syncer().sync().unwrap();
    fs.sync_dir(Path::new("db")).unwrap();
    segment.append(&[2; 3 * 512 - 700]).unwrap();
    let seen = outcomes(&fs, |after| read(after, "log").unwrap());
    for bytes in &seen {
        assert_eq!(bytes.len(), 4 * 512, "preallocation was synced");
        assert!(bytes.starts_with(&[1; 700]) && bytes.ends_with(&[0; 512]));
    }
    let whole = |bytes: &[u8]| [bytes[1_023] == 2, bytes[3 * 512 - 1] == 2];
    let subsets: BTreeSet<_> = seen.iter().map(|bytes| whole(bytes)).collect();
    assert_eq!(subsets.len(), 4, "also the later without the earlier");
    let half_filled = |bytes: &Vec<u8>| bytes[1_024] == 2 && bytes[3 * 512 - 1] == 0;
    assert!(seen.iter().any(half_filled));
}

#[test]
fn a_rename_is_undone_whole_or_not_at_all() {
    let fs = machine();
    write(&fs, "CURRENT", b"old", true);
    fs.sync_dir(Path::new("db")).unwrap();
    write(&fs, "tmp", b"new", true);
    fs.rename(&path("tmp"), &path("CURRENT")).unwrap();
    let current = outcomes(&fs, |after| read(after, "CURRENT"));
    assert_eq!(
        current,
        BTreeSet::from([Some(b"new".to_vec()), Some(b"old".to_vec())])
    );
    fs.sync_dir(Path::new("db")).unwrap();
    let after = outcomes(&fs, |after| (read(after, "CURRENT"), read(after, "tmp")));
    assert_eq!(after, BTreeSet::from([(Some(b"new".to_vec()), None)]));
}

#[test]
fn a_removal_may_be_undone_and_new_names_come_independently() {
    let fs = machine();
    write(&fs, "gone", b"x", true);
    fs.sync_dir(Path::new("db")).unwrap();
    fs.remove(&path("gone")).unwrap();
    write(&fs, "a", b"a", true);
    write(&fs, "b", b"b", true);
    let exists = |after: &MemFs, name| after.exists(&path(name)).unwrap();
    let seen = outcomes(&fs, |after| {
        [exists(after, "gone"), exists(after, "a"), exists(after, "b")]
    });
    assert_eq!(seen.len(), 8);
    // A directory of an unsynced parent goes with all that is in it.
    fs.create_dir_all(Path::new("x/y")).unwrap();
    fs.sync_dir(Path::new("x")).unwrap();
    let seen = outcomes(&fs, |after| {
        [
            after.exists(Path::new("x")).unwrap(),
            after.exists(Path::new("x/y")).unwrap(),
        ]
    });
    assert_eq!(seen, BTreeSet::from([[false, false], [true, true]]));
}

#[test]
fn one_seed_is_one_outcome() {
    let fs = machine();
    for name in ["a", "b", "c"] {
        write(&fs, name, &[7; 5_000], false);
    }
    for seed in 0..50 {
        let look = || ["a", "b", "c"].map(|name| read(&fs.after_power_cut(seed), name));
        assert_eq!(look(), look());
    }
}

#[test]
fn bytes_of_a_failed_sync_are_lost_to_later_syncs() {
    let fs = machine();
    let mut file = fs.create_new(&path("a")).unwrap();
    fs.sync_dir(Path::new("db")).unwrap();
    file.write_all(b"one").unwrap();
    fs.fail_sync_after(1);
    file.sync().unwrap();
    file.write_all(b"two").unwrap();
    let error = file.sync().unwrap_err();
    assert_eq!(
        error.to_string(),
        format!("cannot sync {}: simulated device error", path("a").display())
    );
    file.write_all(b"three").unwrap();
    file.sync().unwrap();
    assert_eq!(
        read(&fs, "a").unwrap(),
        b"onetwothree",
        "the process sees nothing of it"
    );
    let on_disk = BTreeSet::from([Some(b"one\0\0\0three".to_vec())]);
    assert_eq!(outcomes(&fs, |after| read(after, "a")), on_disk);
    let fs = fs.after_kill();
    assert_eq!(outcomes(&fs, |after| read(after, "a")), on_disk);
    fs.sync_file(&path("a")).unwrap();
    assert_eq!(
        outcomes(&fs, |after| read(after, "a")),
        BTreeSet::from([Some(b"onetwothree".to_vec())])
    );
}
