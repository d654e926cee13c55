//! The matrix of damaged files: every file of a small database, damaged in every way, and everything that can then be asked.
//!
//! ```text
//! files      CURRENT LOCK MANIFEST EVENTS  log segment  tables of bytes, bits, fixed widths, a law; dead sets; an unflushed log
//! damages    flips  cuts  zeros over the end, zeros and garbage behind it  pieces exchanged  removed  replaced by a directory
//!            exchanged with every other file  counts and offsets forged, checksums computed again
//! asked      open for reading and for writing, look-ups, walks both ways in all keyspaces, verify
//! allowed    an error that names a file of the database; the right answer; an older state where the end of the manifest is gone
//! never      a panic, a wrong answer, an allocation out of proportion
//! ```
//!
//! A forger with right checksums can say anything that is well formed, so of forgeries no right answer is asked, but that nothing breaks.
//! `TEPHRA_DAMAGE=full` flips every bit and cuts at every length; without it, one bit of each byte and every third length; a build that is not
//! optimised takes one in seven of these.

#![expect(clippy::unwrap_used, reason = "a test: a surprise here is a failure")]

mod counting;
mod database;
mod forge;

use std::collections::BTreeMap;
use std::fmt;
use std::panic::AssertUnwindSafe;
use std::path::Path;

use database::{DIR, Database, Outcome, files_of};
use tephradb::vfs::{FileSystem, MemFs};

/// Bytes that one interrogation may allocate at once. The log's room, the largest thing there is, is 64 KiB.
const LARGEST_LEN_BYTES: usize = 2 << 20;
/// Bytes that it may allocate in all.
const TOTAL_LEN_BYTES: u64 = 64 << 20;

#[derive(Default)]
struct Counts {
    error_count: u64,
    right_count: u64,
    older_count: u64,
    largest_len_bytes: usize,
    most_len_bytes: u64,
    /// What must not be.
    failures: Vec<String>,
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Counts {
            error_count,
            right_count,
            older_count,
            ..
        } = self;
        let (largest, most) = (self.largest_len_bytes, self.most_len_bytes);
        write!(
            f,
            "{error_count} errors, {right_count} right answers, {older_count} older states; "
        )?;
        write!(f, "at most {largest} bytes at once, {most} in one run")
    }
}

/// What may come of a damage.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Allowed {
    ErrorOrRight,
    OlderToo,
    Anything,
}

/// Runs one damage through everything that can be asked.
fn run(
    counts: &mut Counts,
    database: &Database,
    machine: &MemFs,
    what: &str,
    allowed: Allowed,
    writes: bool,
) {
    let asked = AssertUnwindSafe(|| counting::allocations_of(|| database.ask(machine, writes)));
    let Ok((outcome, allocated)) = std::panic::catch_unwind(asked) else {
        counts.failures.push(format!("{what}: a panic"));
        return;
    };
    counts.largest_len_bytes = counts.largest_len_bytes.max(allocated.largest_len_bytes);
    counts.most_len_bytes = counts.most_len_bytes.max(allocated.total_len_bytes);
    let mut fail = |failure: String| counts.failures.push(format!("{what}: {failure}"));
    if allocated.largest_len_bytes > LARGEST_LEN_BYTES || allocated.total_len_bytes > TOTAL_LEN_BYTES {
        let (largest, total) = (allocated.largest_len_bytes, allocated.total_len_bytes);
        fail(format!("{largest} bytes allocated at once, {total} in all"));
    }
    match outcome {
        Outcome::Right => counts.right_count += 1,
        Outcome::Error(error) => {
            if allowed != Allowed::Anything && !error.contains(DIR) {
                fail(format!("no file named: {error}"));
            }
            counts.error_count += 1;
        }
        Outcome::Other(what_else) => {
            if allowed == Allowed::ErrorOrRight {
                fail(what_else);
            }
            counts.older_count += 1;
        }
    }
}

/// The bytes of a file that say something: of a log segment not the room that nobody used.
fn used(bytes: &[u8]) -> usize {
    let last = bytes.iter().rposition(|&byte| byte != 0);
    last.map_or(0, |last| (last + 2).min(bytes.len()))
}

#[test]
fn every_file_damaged_in_every_way_is_an_error_or_a_right_answer() {
    let is_full = std::env::var_os("TEPHRA_DAMAGE").is_some_and(|value| value == "full");
    let one_in = if cfg!(debug_assertions) && !is_full { 7 } else { 1 };
    let database = Database::new();
    let originals = files_of(&database.machine);
    let kinds = ["LOCK", "CURRENT", "MANIFEST", ".log", ".table"];
    for kind in kinds {
        assert!(
            originals.keys().any(|name| name.contains(kind)),
            "{kind} in {:?}",
            originals.keys()
        );
    }
    let mut by_kind = BTreeMap::<&str, Counts>::new();
    for (name, bytes) in &originals {
        let is_manifest = name.contains("MANIFEST");
        let replaced = |bytes: &[u8]| database.with(name, Some(bytes));
        let mut ask = |kind, machine: &MemFs, what: &str, allowed, writes| {
            let counts = by_kind.entry(kind).or_default();
            run(
                counts,
                &database,
                machine,
                &format!("{name}, {what}"),
                allowed,
                writes,
            );
        };
        let end = used(bytes);
        for at in (0..end).step_by(one_in) {
            for bit in (0..8).filter(|bit| is_full || *bit == at % 8) {
                let mut damaged = bytes.clone();
                damaged[at] ^= 1 << bit;
                let what = format!("bit {bit} of byte {at} of {}", bytes.len());
                ask(
                    "flipped bits",
                    &replaced(&damaged),
                    &what,
                    Allowed::ErrorOrRight,
                    is_full || at % 11 == 0,
                );
            }
        }
        for len in (0..end).filter(|len| is_full || len % (3 * one_in) == 0) {
            let allowed = if is_manifest {
                Allowed::OlderToo
            } else {
                Allowed::ErrorOrRight
            };
            let what = format!("cut to {len} of {}", bytes.len());
            ask(
                "cuts",
                &replaced(&bytes[..len]),
                &what,
                allowed,
                is_full || len % 11 == 0,
            );
            let mut damaged = bytes.clone();
            damaged[len..].fill(0);
            ask(
                "zeros over the end",
                &replaced(&damaged),
                &format!("zeros from {len} on"),
                allowed,
                len % 11 == 0,
            );
        }
        for more in [&[0; 1][..], &[0; 4096], &[0xa5; 1], &[0x5a; 513], bytes] {
            let damaged = [bytes, more].concat();
            ask(
                "appended",
                &replaced(&damaged),
                &format!("{} bytes more", more.len()),
                Allowed::ErrorOrRight,
                true,
            );
        }
        for from in (0..end).step_by(64 * one_in) {
            for to in (from + 64..end).step_by(if is_full { 64 } else { 192 }) {
                let mut damaged = bytes.clone();
                let len = 64.min(end - to);
                for at in 0..len {
                    damaged.swap(from + at, to + at);
                }
                let what = format!("64 bytes at {from} exchanged with those at {to}");
                ask(
                    "pieces exchanged",
                    &replaced(&damaged),
                    &what,
                    Allowed::ErrorOrRight,
                    false,
                );
            }
        }
        ask(
            "removed",
            &database.with(name, None),
            "removed",
            Allowed::ErrorOrRight,
            true,
        );
        let machine = database.with(name, None);
        machine.create_dir_all(&Path::new(DIR).join(name)).unwrap();
        ask(
            "replaced by a directory",
            &machine,
            "a directory",
            Allowed::ErrorOrRight,
            true,
        );
        for (other, others_bytes) in &originals {
            let machine = database.with(name, Some(others_bytes));
            database.replace(&machine, other, bytes);
            ask(
                "exchanged",
                &machine,
                &format!("exchanged with {other}"),
                Allowed::ErrorOrRight,
                true,
            );
            ask(
                "copied over",
                &replaced(others_bytes),
                &format!("a copy of {other}"),
                Allowed::ErrorOrRight,
                true,
            );
        }
        for (what, forged) in forge::forgeries(name, bytes, is_full).into_iter().step_by(one_in) {
            ask("forged", &replaced(&forged), &what, Allowed::Anything, false);
        }
    }
    for (kind, counts) in &by_kind {
        println!("{kind:<24} {counts}");
        for failure in counts.failures.iter().take(10) {
            println!("    {}", failure.chars().take(400).collect::<String>());
        }
        let least = if *kind == "appended" { 0 } else { 1 };
        assert!(counts.error_count >= least, "{kind}: nothing was noticed");
    }
    let failure_count: usize = by_kind.values().map(|counts| counts.failures.len()).sum();
    assert_eq!(failure_count, 0, "listed above");
}
