//! The promises of the port, kept alike by the real file system, the one in memory, and a wrapped one without faults.

use std::io::{ErrorKind, Write as _};
use std::path::Path;
use std::sync::Arc;

use tempfile::tempdir;

use super::{FaultFs, FileKind, FileSystem, LockError, MemFs, Operation, StdFs};

/// Runs a test on each file system, in an empty directory.
fn each(test: impl Fn(&dyn FileSystem, &Path)) {
    let dir = tempdir().unwrap();
    test(&StdFs::new(), dir.path());
    let root = Path::new("/some/where");
    for fs in [
        Arc::new(MemFs::new()) as Arc<dyn FileSystem>,
        Arc::new(FaultFs::new(Arc::new(MemFs::new()))),
    ] {
        fs.create_dir_all(root).unwrap();
        test(&*fs, root);
    }
}

fn write(fs: &dyn FileSystem, path: &Path, bytes: &[u8]) {
    let mut file = fs.create_new(path).unwrap();
    file.write_all(bytes).unwrap();
    file.sync().unwrap();
}

fn names(fs: &dyn FileSystem, dir: &Path) -> Vec<(String, FileKind)> {
    let list = fs.list(dir).unwrap();
    list.into_iter()
        .map(|entry| (entry.name.into_string().unwrap(), entry.kind))
        .collect()
}

#[test]
fn a_mapping_equals_a_read_and_outlives_the_name() {
    each(|fs, root| {
        for len in [0_u32, 1, 4_095, 4_096, 300_000] {
            let path = root.join(len.to_string());
            let bytes: Vec<u8> = (0..len).map(|i| i.to_le_bytes()[0] ^ 0x5A).collect();
            write(fs, &path, &bytes);
            let map = fs.open_map(&path).unwrap();
            assert_eq!(map.as_ref(), fs.read(&path).unwrap());
            assert_eq!(fs.len_bytes(&path).unwrap(), u64::from(len));
            let pin = map.clone();
            drop(map);
            fs.remove(&path).unwrap();
            fs.sync_dir(root).unwrap();
            assert_eq!(pin.as_ref(), bytes);
            assert!(!fs.exists(&path).unwrap());
        }
    });
}

#[test]
fn errors_name_operation_and_path() {
    each(|fs, root| {
        let missing = root.join("missing");
        let error = fs.open_map(&missing).unwrap_err();
        assert!(error.is_not_found() && error.operation == Operation::Map && error.path == missing);
        assert!(
            error
                .to_string()
                .starts_with(&format!("cannot map {}: ", missing.display())),
            "{error}"
        );
        let kept: std::io::Error = error.into();
        assert!(kept.kind() == ErrorKind::NotFound && kept.to_string().contains("missing"));
        for error in [
            fs.read(&missing).unwrap_err(),
            fs.len_bytes(&missing).unwrap_err(),
            fs.list(&missing).unwrap_err(),
            fs.remove(&missing).unwrap_err(),
            fs.sync_file(&missing).unwrap_err(),
            fs.sync_dir(&missing).unwrap_err(),
            fs.rename(&missing, &root.join("other")).unwrap_err(),
            fs.hard_link(&missing, &root.join("other")).unwrap_err(),
            fs.create_new(&missing.join("below nothing")).unwrap_err(),
        ] {
            assert!(error.is_not_found(), "{error}");
        }
        assert_eq!(fs.open_map(root).unwrap_err().kind(), ErrorKind::IsADirectory);
        assert_eq!(fs.read(root).unwrap_err().kind(), ErrorKind::IsADirectory);
        assert_eq!(fs.len_bytes(root).unwrap_err().kind(), ErrorKind::IsADirectory);

        write(fs, &missing, b"now it is there");
        write(fs, &root.join("second"), b"");
        for error in [
            fs.create_new(&missing).unwrap_err(),
            fs.create_segment(&missing, 4_096).unwrap_err(),
            fs.hard_link(&root.join("second"), &missing).unwrap_err(),
            fs.create_dir_all(&missing).unwrap_err(),
        ] {
            assert_eq!(error.kind(), ErrorKind::AlreadyExists, "{error}");
        }
        assert_eq!(fs.list(&missing).unwrap_err().kind(), ErrorKind::NotADirectory);
        assert_eq!(fs.kind(&missing.join("below a file")).unwrap(), None);
        assert_eq!(fs.kind(root).unwrap(), Some(FileKind::Directory));
    });
}

#[test]
fn names_are_listed_linked_renamed_and_removed() {
    each(|fs, root| {
        fs.create_dir_all(&root.join("b/c")).unwrap();
        fs.create_dir_all(&root.join("b")).unwrap();
        write(fs, &root.join("c"), b"sea");
        write(fs, &root.join("old"), b"old");
        fs.hard_link(&root.join("c"), &root.join("a")).unwrap();
        fs.rename(&root.join("c"), &root.join("old")).unwrap();
        fs.sync_dir(root).unwrap();
        let expected = [
            ("a", FileKind::File),
            ("b", FileKind::Directory),
            ("old", FileKind::File),
        ];
        assert_eq!(
            names(fs, root),
            expected.map(|(name, kind)| (name.to_owned(), kind))
        );
        fs.remove(&root.join("a")).unwrap();
        assert_eq!(fs.read(&root.join("old")).unwrap(), b"sea");
        fs.rename(&root.join("old"), &root.join("b/c/moved")).unwrap();
        assert_eq!(fs.read(&root.join("b/c/moved")).unwrap(), b"sea");
        assert_eq!(
            fs.remove_dir(&root.join("b")).unwrap_err().kind(),
            ErrorKind::DirectoryNotEmpty
        );
        fs.remove(&root.join("b/c/moved")).unwrap();
        fs.remove_dir(&root.join("b/c")).unwrap();
        fs.remove_dir(&root.join("b")).unwrap();
        assert!(names(fs, root).is_empty());
    });
}

#[test]
fn a_segment_holds_what_was_appended_and_zeros_behind() {
    each(|fs, root| {
        let path = root.join("log");
        let mut segment = fs.create_segment(&path, 5 << 20).unwrap();
        let mut expected = Vec::new();
        for i in 0..600_u32 {
            let piece = vec![i.to_le_bytes()[0] | 1; 7_001];
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
        assert!(fs.read(&path).unwrap() == expected);

        let other = root.join("other");
        let mut segment = fs.create_segment(&other, 1 << 20).unwrap();
        segment.append(b"short").unwrap();
        let bytes = fs.read(&other).unwrap();
        assert!(bytes.starts_with(b"short"));
        assert!(bytes[5..].iter().all(|&byte| byte == 0));
        segment.trim().unwrap();
        assert_eq!(fs.read(&other).unwrap(), b"short");
        assert_eq!(segment.append(b"x").unwrap_err().kind(), ErrorKind::StorageFull);
    });
}

#[test]
fn a_lock_is_exclusive_readers_share_and_nobody_waits() {
    each(|fs, root| {
        let path = root.join("LOCK");
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
            assert!(matches!(error, LockError::Held { .. }), "{error}");
            assert!(error.to_string().contains("is already open by "), "{error}");
        }
        drop(guard);
        let readers = (fs.lock_shared(&path).unwrap(), fs.lock_shared(&path).unwrap());
        assert!(readers.0.is_some() && readers.1.is_some());
        drop(readers.0);
        assert!(matches!(fs.lock_exclusive(&path), Err(LockError::Held { .. })));
        drop(readers.1);
        fs.lock_exclusive(&path).unwrap();
    });
}

#[test]
fn a_file_synced_from_outside_keeps_its_bytes() {
    each(|fs, root| {
        let path = root.join("a");
        let mut bytes = vec![0; 300_000];
        bytes[70_000..70_010].fill(7);
        bytes[299_999] = 1;
        write(fs, &path, &bytes);
        fs.sync_file(&path).unwrap();
        assert!(fs.read(&path).unwrap() == bytes);
    });
}

#[test]
fn appending_goes_on_at_the_end_and_makes_what_is_missing() {
    each(|fs, root| {
        let path = root.join("grows");
        for (round, expected) in [(b"one ", "one "), (b"two ", "one two ")] {
            let mut file = fs.open_append(&path).unwrap();
            file.write_all(round).unwrap();
            file.flush().unwrap();
            assert_eq!(fs.read(&path).unwrap(), expected.as_bytes());
        }
        let folder = root.join("folder");
        fs.create_dir_all(&folder).unwrap();
        let refused = fs.open_append(&folder).unwrap_err();
        assert_eq!(
            (refused.operation, &refused.path),
            (Operation::OpenAppend, &folder)
        );
    });
}
