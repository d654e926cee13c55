//! Disks that are really full: a small tmpfs filled to the last page, and a limit on the length of files.
//!
//! ```text
//! the test       starts itself again, as one test, on a file system of its own (unshare, mount: where that is allowed)
//! that process   fills the disk but for N bytes -> everything that writes fails, and says at which file; reads go on
//!                makes room -> everything works; nothing that was acknowledged is lost, also after a reopening
//! ```
//!
//! A tmpfs is what a mapped log segment has to fear: a page without room behind it would end the process by a signal, not by an error.
//! The limit on lengths (`RLIMIT_FSIZE`) needs no rights and is tried everywhere that has `prlimit`; its signal is ignored, as the shell can arrange.

#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test: a surprise here is a failure")]
#![expect(
    clippy::disallowed_methods,
    reason = "fills a real disk and copies real files"
)]
#![expect(clippy::print_stdout, reason = "what failed, and what is skipped")]

#[path = "support/rng.rs"]
mod rng;

use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use rng::Rng;
use tephradb::{Db, Durability, Error, Options, Usability};

type State = BTreeMap<Vec<u8>, Vec<u8>>;

/// Tells the second process which directory it has to itself.
const DIRECTORY: &str = "TEPHRA_FULL_DISK_DIRECTORY";
/// Room on the small disk: a few log segments and tables.
const DISK_BYTES: u64 = 4 << 20;
/// What is left of the room while the disk is full.
const LEFT_BYTES: [u64; 6] = [0, 4 << 10, 24 << 10, 72 << 10, 112 << 10, 160 << 10];
/// Files may not grow beyond these lengths.
const LIMITS_BYTES: [u64; 3] = [0, 16 << 10, 100 << 10];

fn options() -> Options {
    Options::default()
        .memtable_bytes(128 << 10)
        .target_table_bytes(64 << 10)
        .l0_compaction_trigger(3)
}

/// What makes a disk full, and not full any more.
trait Disk {
    fn fill(&self);
    fn make_room(&self);
}

/// A file that takes all room but for some bytes.
struct Filled {
    file: PathBuf,
    left_bytes: u64,
}

impl Disk for Filled {
    fn fill(&self) {
        let mut file = fs::File::create(&self.file).unwrap();
        let page = [1; 4096];
        while file.write_all(&page).is_ok() {}
        let len = file.metadata().unwrap().len();
        file.set_len(len.saturating_sub(self.left_bytes)).unwrap();
    }

    fn make_room(&self) {
        fs::remove_file(&self.file).unwrap();
    }
}

/// A limit on the length of this process's files.
struct Limited {
    bytes: u64,
}

impl Limited {
    fn set(limit: &str) {
        let own = std::process::id().to_string();
        let status = Command::new("prlimit")
            .args(["--pid", &own, limit])
            .status()
            .unwrap();
        assert!(status.success());
    }
}

impl Disk for Limited {
    fn fill(&self) {
        Limited::set(&format!("--fsize={}:unlimited", self.bytes));
    }

    fn make_room(&self) {
        Limited::set("--fsize=unlimited:unlimited");
    }
}

struct Tried<'a> {
    db: &'a Db,
    state: State,
    rng: Rng,
    /// Part of the path of all files.
    dir: String,
    failure_count: usize,
}

impl Tried<'_> {
    /// A key and bytes that no table makes smaller.
    fn record(&mut self) -> (Vec<u8>, Vec<u8>) {
        let key = format!("{:06}", self.rng.below(1_000_000)).into_bytes();
        let value = (0..25).flat_map(|_| self.rng.next().to_be_bytes()).collect();
        (key, value)
    }

    fn put(&mut self) -> Result<(), Error> {
        let (key, value) = self.record();
        let durability = if self.rng.one_in(16) {
            Durability::Sync
        } else {
            Durability::Process
        };
        self.db.default_keyspace().put_with(&key, &value, durability)?;
        self.state.insert(key, value);
        Ok(())
    }

    /// An error of a full disk says what could not be done to which file, and costs nothing else.
    fn judge(&mut self, what: &str, outcome: Result<(), Error>) {
        if let Err(error) = outcome {
            self.failure_count += 1;
            let text = error.to_string();
            assert!(text.contains(&self.dir), "{what} names no file: {text}");
            assert!(
                ["write", "create", "append", "sync", "link", "lock"]
                    .iter()
                    .any(|operation| text.contains(operation)),
                "{what} names no operation: {text}"
            );
            assert_eq!(error.usability(), Usability::Usable, "{what}: {text}");
            println!("    {what}: {text}");
        }
        self.check_reads(what);
    }

    fn check_reads(&self, what: &str) {
        assert_eq!(contents(self.db), self.state, "after {what}");
    }

    /// Everything that writes, once.
    fn write_all(&mut self, copy: &Path) {
        let put = (0..2000).try_for_each(|_| self.put());
        self.judge("put", put);
        self.judge("flush", self.db.flush());
        self.judge("compact", self.db.compact());
        let ingested: BTreeMap<_, _> = (0..600).map(|_| self.record()).collect();
        let outcome = self.ingest(&ingested);
        if outcome.is_ok() {
            self.state.extend(ingested);
        }
        self.judge("ingest", outcome);
        let outcome = self.db.checkpoint(copy);
        if outcome.is_ok() {
            let copied = Db::open_read_only(copy, options()).unwrap();
            assert_eq!(contents(&copied), self.state, "the checkpoint");
        }
        self.judge("checkpoint", outcome);
        drop(fs::remove_dir_all(copy));
    }

    fn ingest(&self, records: &State) -> Result<(), Error> {
        let mut ingest = self.db.default_keyspace().ingest()?;
        for (key, value) in records {
            ingest.put(key, value)?;
        }
        ingest.finish()
    }
}

fn contents(db: &Db) -> State {
    let items = db.iter().map(|item| item.unwrap());
    items
        .map(|(key, value)| (key.into_vec(), value.to_vec()))
        .collect()
}

/// Fills the disk under an open database, tries everything, makes room, tries everything again. Returns the number of failures.
fn full_and_not(dir: &Path, disk: &dyn Disk, seed: u64) -> usize {
    let db = Db::open(dir.join("db"), options()).unwrap();
    let mut tried = Tried {
        db: &db,
        state: State::new(),
        rng: Rng::new(seed),
        dir: dir.to_str().unwrap().to_owned(),
        failure_count: 0,
    };
    for _ in 0..1500 {
        tried.put().unwrap();
    }
    // Settled, so that no compaction in the background gives room back.
    db.compact().unwrap();
    disk.fill();
    tried.write_all(&dir.join("copy"));
    let keys: Vec<Vec<u8>> = tried.state.keys().cloned().collect();
    for _ in 0..20 {
        let key = tried.rng.pick(&keys);
        let outcome = db.delete(key);
        if outcome.is_ok() {
            tried.state.remove(key);
        }
        tried.judge("delete", outcome);
    }
    let failure_count = tried.failure_count;
    disk.make_room();
    db.resume().unwrap();
    for _ in 0..300 {
        tried.put().unwrap();
    }
    tried.write_all(&dir.join("copy"));
    assert_eq!(tried.failure_count, failure_count, "with room nothing fails");
    let report = db.verify().unwrap();
    assert!(report.is_sound(), "{report:#?}");
    let state = std::mem::take(&mut tried.state);
    db.close().unwrap();
    let db = Db::open(dir.join("db"), options()).unwrap();
    assert_eq!(contents(&db), state, "reopened");
    db.close().unwrap();
    fs::remove_dir_all(dir.join("db")).unwrap();
    failure_count
}

/// A database that was left by a process that died is opened on a full disk: an error, or right; and right when there is room.
fn opened_when_full(dir: &Path, disk: &dyn Disk) {
    let db = Db::open(dir.join("db"), options()).unwrap();
    for number in 0..3000u32 {
        db.put(number.to_be_bytes(), [7; 50]).unwrap();
    }
    let state = contents(&db);
    // Its files, as a kill would leave them now.
    fs::create_dir(dir.join("left")).unwrap();
    db.flush().unwrap();
    db.put("last", "in the log").unwrap();
    for entry in fs::read_dir(dir.join("db")).unwrap() {
        let entry = entry.unwrap();
        if entry.file_name() != "LOCK" {
            fs::copy(entry.path(), dir.join("left").join(entry.file_name())).unwrap();
        }
    }
    db.close().unwrap();
    disk.fill();
    let left = dir.join("left");
    match Db::open(&left, options()) {
        Ok(db) => assert_eq!(contents(&db).len(), state.len() + 1),
        Err(error) => {
            let text = error.to_string();
            assert!(
                text.contains(left.to_str().unwrap()),
                "the open names no file: {text}"
            );
            println!("    open: {text}");
        }
    }
    let reading = Db::open_read_only(&left, options()).unwrap();
    assert_eq!(contents(&reading).len(), state.len() + 1, "reading needs no room");
    drop(reading);
    disk.make_room();
    let db = Db::open(&left, options()).unwrap();
    assert_eq!(contents(&db).len(), state.len() + 1);
    db.close().unwrap();
    fs::remove_dir_all(left).unwrap();
    fs::remove_dir_all(dir.join("db")).unwrap();
}

/// The directory of a second process; `None` in the first.
fn own_directory() -> Option<PathBuf> {
    std::env::var_os(DIRECTORY).map(PathBuf::from)
}

#[test]
#[ignore = "run by the test of small disks, in a process that has one"]
fn on_a_small_disk() {
    let dir = own_directory().unwrap();
    for left_bytes in LEFT_BYTES {
        println!("  {left_bytes} bytes left:");
        let disk = Filled {
            file: dir.join("filler"),
            left_bytes,
        };
        let failure_count = full_and_not(&dir, &disk, left_bytes);
        assert!(failure_count >= 3, "{failure_count} failures");
        opened_when_full(&dir, &disk);
    }
}

#[test]
#[ignore = "run by the test of limited files, in a process of its own"]
fn with_limited_files() {
    let dir = own_directory().unwrap();
    for bytes in LIMITS_BYTES {
        println!("  files of at most {bytes} bytes:");
        let failure_count = full_and_not(&dir, &Limited { bytes }, bytes);
        assert!(failure_count >= 3, "{failure_count} failures");
    }
}

/// Runs one of the tests above in a process that `shell` sets up; `$0` is its directory, `"$@"` the command.
fn run_in(launcher: &[&str], shell: &str, dir: &Path, test: &str) -> Output {
    let mut command = Command::new(launcher[0]);
    command.args(&launcher[1..]).args(["sh", "-c", shell]).arg(dir);
    command.arg(std::env::current_exe().unwrap());
    command.args(["--exact", test, "--ignored", "--nocapture", "--test-threads=1"]);
    command.env(DIRECTORY, dir).output().unwrap()
}

fn assert_passed(output: &Output) {
    let [out, err] = [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes));
    print!("{out}");
    assert!(
        output.status.success() && out.contains("1 passed"),
        "{}: {err}",
        output.status
    );
}

#[test]
fn a_disk_without_room_loses_nothing_and_says_what_it_could_not_do() {
    let dir = tempfile::tempdir().unwrap();
    let mount = format!("mount -t tmpfs -o size={DISK_BYTES} tmpfs \"$0\"");
    // With the rights of root, or as the root of a user namespace. The disk goes with the process.
    let launchers: [&[&str]; 2] = [
        &["unshare", "--mount"],
        &["unshare", "--user", "--map-root-user", "--mount"],
    ];
    for launcher in launchers {
        let can = Command::new(launcher[0])
            .args(&launcher[1..])
            .args(["sh", "-c", &mount])
            .arg(dir.path())
            .output();
        if can.is_ok_and(|output| output.status.success()) {
            let output = run_in(
                launcher,
                &format!("{mount} && exec \"$@\""),
                dir.path(),
                "on_a_small_disk",
            );
            return assert_passed(&output);
        }
    }
    println!("skipped: this user may not mount a file system, not even in a namespace of its own");
}

#[test]
fn files_that_may_not_grow_lose_nothing_and_say_what_could_not_be_done() {
    let dir = tempfile::tempdir().unwrap();
    if Command::new("prlimit").arg("--version").output().is_err() {
        println!("skipped: there is no prlimit here");
        return;
    }
    let output = run_in(
        &["env"],
        "trap '' XFSZ && exec \"$@\"",
        dir.path(),
        "with_limited_files",
    );
    assert_passed(&output);
}
