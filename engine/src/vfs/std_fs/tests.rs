//! What only the real file system can show: full disks, locks between processes, the boot.

use std::process::{Command, Stdio};

use tempfile::tempdir;

use super::StdFs;
use crate::vfs::{FileSystem, LockError, LockHolder, Operation};

#[test]
fn room_that_is_not_there_is_an_error_and_leaves_no_file() {
    let dir = tempdir().unwrap();
    let fs = StdFs::new();
    let path = dir.path().join("log");
    let error = fs.create_segment(&path, 1 << 56).unwrap_err();
    assert_eq!(error.operation, Operation::CreateSegment);
    assert!(!fs.exists(&path).unwrap());
}

/// A pipe in the place of a file once made an open wait for ever.
#[test]
fn what_is_no_regular_file_is_refused_without_waiting() {
    let dir = tempdir().unwrap();
    let fs = StdFs::new();
    let (pipe, socket) = (dir.path().join("pipe"), dir.path().join("socket"));
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let _listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
    for (path, word) in [
        (pipe.as_path(), "regular file"),
        (&socket, "regular file"),
        (dir.path(), "directory"),
    ] {
        let said = [
            fs.open_map(path).map(drop).map_err(|error| error.to_string()),
            fs.read(path).map(drop).map_err(|error| error.to_string()),
            fs.open_append(path).map(drop).map_err(|error| error.to_string()),
            fs.sync_file(path).map_err(|error| error.to_string()),
            fs.lock_exclusive(path)
                .map(drop)
                .map_err(|error| error.to_string()),
            fs.lock_shared(path).map(drop).map_err(|error| error.to_string()),
        ];
        for outcome in said {
            let said = outcome.unwrap_err();
            assert!(
                said.contains(word) && said.contains(path.to_str().unwrap()),
                "{said}"
            );
        }
    }
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
/// What a thread that forks meanwhile leaves open until its child executes a program.
#[test]
fn a_copy_of_the_file_does_not_keep_the_lock() {
    let dir = tempdir().unwrap();
    let path = dir.path().join("LOCK");
    let file = std::fs::File::create(&path).unwrap();
    file.try_lock().unwrap();
    let copy = file.try_clone().unwrap();
    let lock = super::StdLock { file };
    StdFs::new().lock_exclusive(&path).unwrap_err();
    drop(lock);
    StdFs::new().lock_exclusive(&path).unwrap();
    drop(copy);
}

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
