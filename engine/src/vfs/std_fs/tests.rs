//! The real file system keeps the promises of the port.

use std::io::{ErrorKind, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};

use tempfile::tempdir;

use super::StdFs;
use crate::vfs::{FileKind, FileSystem, LockError, LockHolder, Operation};

fn write(fs: &dyn FileSystem, path: &Path, bytes: &[u8]) {
    let mut file = fs.create_new(path).unwrap();
    file.write_all(bytes).unwrap();
    file.sync().unwrap();
}

#[test]
fn a_mapping_equals_a_read_and_outlives_the_name() {
    let dir = tempdir().unwrap();
    let fs = StdFs::new();
    for len in [0, 1, 4_095, 4_096, 300_000] {
        let path = dir.path().join(len.to_string());
        let bytes: Vec<u8> = (0..len).map(|i| (i % 251) as u8).collect();
        write(&fs, &path, &bytes);
        let map = fs.open_map(&path).unwrap();
        assert_eq!(map.as_ref(), fs.read(&path).unwrap());
        let pin = map.clone();
        drop(map);
        fs.remove(&path).unwrap();
        assert_eq!(pin.as_ref(), bytes);
        assert!(!fs.exists(&path).unwrap());
    }
}

#[test]
fn errors_name_operation_and_path() {
    let dir = tempdir().unwrap();
    let fs = StdFs::new();
    let missing = dir.path().join("missing");
    let error = fs.open_map(&missing).unwrap_err();
    assert_eq!(
        (error.operation, error.kind()),
        (Operation::Map, ErrorKind::NotFound)
    );
    assert!(
        error
            .to_string()
            .starts_with(&format!("cannot map {}: ", missing.display())),
        "{error}"
    );
    let kept: std::io::Error = error.into();
    assert!(kept.kind() == ErrorKind::NotFound && kept.to_string().contains("missing"));
    assert_eq!(
        fs.open_map(dir.path()).unwrap_err().kind(),
        ErrorKind::IsADirectory
    );
    assert_eq!(fs.read(dir.path()).unwrap_err().kind(), ErrorKind::IsADirectory);
    write(&fs, &missing, b"now it is there");
    assert_eq!(
        fs.create_new(&missing).unwrap_err().kind(),
        ErrorKind::AlreadyExists
    );
    assert_eq!(
        fs.create_segment(&missing, 4_096).unwrap_err().kind(),
        ErrorKind::AlreadyExists
    );
    assert_eq!(fs.kind(&missing.join("below a file")).unwrap(), None);
    assert_eq!(fs.kind(dir.path()).unwrap(), Some(FileKind::Directory));
}

#[test]
fn a_listing_is_sorted_and_says_what_each_name_is() {
    let dir = tempdir().unwrap();
    let fs = StdFs::new();
    fs.create_dir_all(&dir.path().join("b/c")).unwrap();
    write(&fs, &dir.path().join("c"), b"");
    fs.hard_link(&dir.path().join("c"), &dir.path().join("a"))
        .unwrap();
    fs.sync_dir(dir.path()).unwrap();
    let list: Vec<_> = fs
        .list(dir.path())
        .unwrap()
        .into_iter()
        .map(|e| (e.name.into_string().unwrap(), e.kind))
        .collect();
    let expected = [
        ("a", FileKind::File),
        ("b", FileKind::Directory),
        ("c", FileKind::File),
    ];
    assert_eq!(list, expected.map(|(name, kind)| (name.to_owned(), kind)));
}

#[test]
fn a_segment_holds_what_was_appended_and_zeros_behind() {
    let dir = tempdir().unwrap();
    let fs = StdFs::new();
    let path = dir.path().join("log");
    let mut segment = fs.create_segment(&path, 5 << 20).unwrap();
    let mut expected = Vec::new();
    for i in 0..600_u32 {
        let piece = vec![(i % 255) as u8 + 1; 7_001];
        segment.append(&piece).unwrap();
        expected.extend(piece);
    }
    segment.syncer().sync().unwrap();
    assert_eq!(
        (segment.len_bytes(), segment.capacity_bytes()),
        (expected.len() as u64, 5 << 20)
    );
    let too_much = vec![1; (5 << 20) - expected.len() + 1];
    assert_eq!(
        segment.append(&too_much).unwrap_err().kind(),
        ErrorKind::StorageFull
    );
    segment.append(&too_much[1..]).unwrap();
    expected.extend(&too_much[1..]);
    assert_eq!(fs.read(&path).unwrap(), expected);

    let other = dir.path().join("other");
    let mut segment = fs.create_segment(&other, 1 << 20).unwrap();
    segment.append(b"short").unwrap();
    let bytes = fs.read(&other).unwrap();
    assert!(bytes.starts_with(b"short"));
    assert!(bytes[5..].iter().all(|&byte| byte == 0));
    segment.trim().unwrap();
    assert_eq!(fs.read(&other).unwrap(), b"short");
    assert_eq!(segment.append(b"x").unwrap_err().kind(), ErrorKind::StorageFull);
}

#[test]
fn room_that_is_not_there_is_an_error_and_leaves_no_file() {
    let dir = tempdir().unwrap();
    let fs = StdFs::new();
    let path = dir.path().join("log");
    let error = fs.create_segment(&path, 1 << 56).unwrap_err();
    assert_eq!(error.operation, Operation::CreateSegment);
    assert!(!fs.exists(&path).unwrap());
}

#[test]
fn a_second_lock_is_refused_in_the_same_process_and_names_it() {
    let dir = tempdir().unwrap();
    let fs = StdFs::new();
    let path = dir.path().join("LOCK");
    assert!(
        fs.lock_shared(&path).unwrap().is_none(),
        "nothing to lock, and nothing made"
    );
    assert!(!fs.exists(&path).unwrap());
    let guard = fs.lock_exclusive(&path).unwrap();
    for error in [
        fs.lock_exclusive(&path).unwrap_err(),
        fs.lock_shared(&path).unwrap_err(),
    ] {
        let LockError::Held { holder, .. } = &error else {
            panic!("{error}")
        };
        assert_eq!(*holder, LockHolder::ThisProcess(std::process::id()));
        assert!(
            error.to_string().contains("is already open by this process ("),
            "{error}"
        );
    }
    drop(guard);
    let reader = fs.lock_shared(&path).unwrap();
    let second = fs.lock_shared(&path).unwrap();
    assert!(reader.is_some() && second.is_some(), "readers share");
    assert!(matches!(fs.lock_exclusive(&path), Err(LockError::Held { .. })));
    drop((reader, second));
    fs.lock_exclusive(&path).unwrap();
}

/// Another process holds the lock; it is named, and its death frees the lock at once.
#[test]
#[cfg(target_os = "linux")]
fn a_killed_process_frees_its_lock() {
    let dir = tempdir().unwrap();
    let path = dir.path().join("LOCK");
    let script = "exec 9<>\"$0\"; flock -n 9; echo $$ > \"$0\"; echo held; exec sleep 60";
    let mut command = Command::new("bash");
    command.args(["-c", script]).arg(&path).stdout(Stdio::piped());
    std::fs::OpenOptions::new()
        .create(true)
        .write(true)
        .truncate(false)
        .open(&path)
        .unwrap();
    let mut child = command.spawn().unwrap();
    let mut line = String::new();
    std::io::BufRead::read_line(
        &mut std::io::BufReader::new(child.stdout.take().unwrap()),
        &mut line,
    )
    .unwrap();
    assert_eq!(line, "held\n");
    let error = StdFs::new().lock_exclusive(&path).unwrap_err();
    assert!(
        error
            .to_string()
            .ends_with(&format!("is already open by process {}", child.id())),
        "{error}"
    );
    child.kill().unwrap();
    child.wait().unwrap();
    StdFs::new().lock_exclusive(&path).unwrap();
}

#[test]
#[cfg(target_os = "linux")]
fn the_boot_id_is_known_and_stays() {
    assert_ne!(StdFs::new().boot_id(), [0; 16]);
    assert_eq!(StdFs::new().boot_id(), StdFs::new().boot_id());
}
