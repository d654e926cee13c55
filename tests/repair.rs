//! `tephra repair` as a user meets it: what it says, what it leaves alone, and its exit codes.

#![expect(clippy::unwrap_used, reason = "a test: a surprise here is a failure")]
#![expect(
    clippy::disallowed_methods,
    reason = "damages the files of a database behind its back"
)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use tephradb::{Background, Db, Options};

/// Runs a repair; exit code, standard output, standard error.
fn repair(dir: &Path, into: &Path, more: &[&str]) -> (i32, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tephra"));
    command.arg("repair").arg(dir).arg("--into").arg(into).args(more);
    let output = command.output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (
        output.status.code().unwrap(),
        text(output.stdout),
        text(output.stderr),
    )
}

/// 100 keys in a table, of which 50 are deleted, and 10 in the log.
fn database(dir: &Path) {
    let db = Db::open(dir, Options::default().background(Background::Manual)).unwrap();
    for number in 0..100 {
        db.put(format!("key {number:02}"), "a value").unwrap();
    }
    db.flush().unwrap();
    db.delete_range("key 50"..).unwrap();
    db.flush().unwrap();
    for number in 0..10 {
        db.put(format!("logged {number}"), "a value").unwrap();
    }
    db.close().unwrap();
}

fn file(dir: &Path, part: &str) -> PathBuf {
    let mut paths = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path());
    paths.find(|path| path.to_str().unwrap().contains(part)).unwrap()
}

fn count(dir: &Path) -> usize {
    let db = Db::open(dir, Options::default().create_if_missing(false)).unwrap();
    assert!(db.verify().unwrap().is_sound());
    let count = db.iter().count();
    db.close().unwrap();
    count
}

#[test]
fn a_whole_database_is_taken_whole_with_exit_code_0() {
    let folder = tempfile::tempdir().unwrap();
    let (dir, into) = (folder.path().join("db"), folder.path().join("new"));
    database(&dir);
    fs::remove_file(dir.join("CURRENT")).unwrap();
    let (code, out, err) = repair(&dir, &into, &[]);
    assert_eq!((code, err.as_str()), (0, ""), "{out}");
    assert!(
        out.contains("note: CURRENT") && out.contains("60 keys alive"),
        "{out}"
    );
    assert_eq!(count(&into), 60);
    let (code, out, err) = repair(&dir, &into, &[]);
    assert!(
        code == 3 && out.is_empty() && err.contains("does not exist or is empty"),
        "{err}"
    );
}

#[test]
fn what_is_lost_is_listed_and_the_exit_code_is_1() {
    let folder = tempfile::tempdir().unwrap();
    let (dir, into) = (folder.path().join("db"), folder.path().join("new"));
    database(&dir);
    fs::remove_file(file(&dir, "MANIFEST-")).unwrap();
    let (code, out, err) = repair(&dir, &into, &[]);
    assert_eq!(code, 1, "{out}{err}");
    for words in [
        "lost: MANIFEST",
        "DELETED KEYS MAY BE ALIVE AGAIN",
        "set aside: 0",
        "100 records",
    ] {
        assert!(out.contains(words), "no {words:?} in {out}");
    }
    assert!(err.contains("some of it is lost, tables are set aside"), "{err}");
    assert_eq!(
        count(&into),
        10,
        "what the log put; the table may hold deleted keys"
    );
    let accepted = folder.path().join("accepted");
    let (code, out, _) = repair(&dir, &accepted, &["--accept-undeleted"]);
    assert!(
        code == 1 && out.contains("taken as keyspace \"recovered "),
        "{out}"
    );
    assert_eq!(count(&accepted), 10);
}
