//! Files, clocks, threads, processes, randomness and `unsafe` stay in the files that own them.
//!
//! Read are the sources of the libraries and the command (`src/` of every package), without their unit tests
//! (`tests.rs`, `tests/`, `#[cfg(test)]` modules) and without benches, which may use threads and folders of their own. Everything that touches the world
//! passes one of the owners below: that is what lets a whole database run on a simulated machine.

use super::source::uses;
use super::{files_below, read, root};

/// A thing only its owners may touch: a use counts if its path starts with, or ends with, one of the patterns.
struct Resource {
    name: &'static str,
    starts_with: &'static [&'static str],
    ends_with: &'static [&'static str],
}

const RESOURCES: [Resource; 7] = [
    Resource {
        name: "files",
        starts_with: &[
            "std::fs", "std::os", "std::net", "memmap2", "libc", "rustix", "nix", "tempfile", "fs",
        ],
        ends_with: &["File::open", "File::create", "File::options", "OpenOptions::new"],
    },
    Resource {
        name: "clocks",
        starts_with: &["std::time::SystemTime"],
        ends_with: &["Instant::now", "SystemTime::now", "UNIX_EPOCH"],
    },
    Resource {
        name: "threads",
        starts_with: &[
            "std::thread",
            "crossbeam::thread",
            "crossbeam_utils::thread",
            "rayon",
        ],
        ends_with: &[
            "thread::spawn",
            "thread::scope",
            "thread::sleep",
            "thread::Builder",
            "thread::park",
        ],
    },
    Resource {
        name: "processes",
        starts_with: &["std::process"],
        ends_with: &["process::exit", "process::abort"],
    },
    Resource {
        name: "environment",
        starts_with: &["std::env"],
        ends_with: &["env::var", "env::args"],
    },
    Resource {
        name: "randomness",
        starts_with: &["getrandom", "rand::rng", "rand::random"],
        ends_with: &["thread_rng", "OsRng", "SysRng", "from_os_rng", "RandomState"],
    },
    Resource {
        name: "unsafe",
        starts_with: &["unsafe"],
        ends_with: &[],
    },
];

/// (resource, file or folder ending in `/`, why). An entry that is not needed is refused.
const OWNERS: &[(&str, &str, &str)] = &[
    (
        "files",
        "engine/src/vfs/",
        "the port to the file system and its implementations",
    ),
    (
        "unsafe",
        "sstable/src/elias_fano/scan.rs",
        "calls the scan compiled for processors that count ones",
    ),
    (
        "unsafe",
        "sstable/src/prefetch.rs",
        "asking the processor for memory ahead has no safe interface",
    ),
    (
        "unsafe",
        "sstable/src/writer/framing/burst/",
        "stores into reserved memory behind the frames",
    ),
    (
        "unsafe",
        "engine/src/memtable/arena.rs",
        "entries hold bare addresses: an allocation an entry is what a write would wait for",
    ),
    (
        "unsafe",
        "engine/src/memtable/entry.rs",
        "reads what those addresses say, where it has the arena beside them",
    ),
    (
        "unsafe",
        "engine/src/vfs/mmap.rs",
        "mapping a file has no safe interface",
    ),
    (
        "processes",
        "engine/src/vfs/std_fs.rs",
        "the lock file names the process that holds it",
    ),
    (
        "unsafe",
        "sstable/src/writer/framing/byte.rs",
        "stores of byte frames over reserved slack",
    ),
    (
        "unsafe",
        "sstable/src/writer/framing/bit.rs",
        "stores of bit frames over reserved slack",
    ),
    (
        "unsafe",
        "sstable/src/bits/shift.rs",
        "copies of shifted bits into reserved memory",
    ),
    (
        "unsafe",
        "sstable/src/elias_fano/scan.rs",
        "calls a function compiled for an instruction that was asked for",
    ),
    (
        "unsafe",
        "c/src/",
        "exported functions carry an unmangled name, by an unsafe attribute; addresses are read in border.rs alone (c/tests/header.rs)",
    ),
    (
        "files",
        "c/src/border.rs",
        "a path of C is any bytes, which a path of the system is made of; no file is opened",
    ),
    ("clocks", "engine/src/clock.rs", "the port to the system's clocks"),
    (
        "threads",
        "engine/src/background/worker.rs",
        "the flush thread and the compaction threads",
    ),
    (
        "threads",
        "engine/src/background/parallel.rs",
        "the parts of one merge on threads that end before it does",
    ),
    (
        "files",
        "src/bin/tephra/files.rs",
        "what is loaded, dumps, directories for a time",
    ),
    (
        "files",
        "src/bin/tephra/interrupt.rs",
        "removes what an interrupted command has not finished",
    ),
    (
        "processes",
        "src/bin/tephra/interrupt.rs",
        "ends the process at an interrupt",
    ),
    (
        "files",
        "src/bin/tephra/load/records.rs",
        "holds the open file that is loaded",
    ),
    (
        "threads",
        "src/bin/tephra/interrupt.rs",
        "waits a moment for those that still make the files it removes",
    ),
    (
        "environment",
        "src/bin/tephra/demo/setting.rs",
        "where this command is",
    ),
    (
        "environment",
        "src/bin/tephra/files.rs",
        "the folder of temporary files",
    ),
    (
        "environment",
        "src/bin/tephra/colour.rs",
        "whether colours are wanted",
    ),
    (
        "threads",
        "src/bin/tephra/bench/workload.rs",
        "clients of a database side by side",
    ),
    (
        "threads",
        "src/bin/tephra/stress/simulate.rs",
        "runs simulated histories, each of one thread, on all processors",
    ),
    (
        "threads",
        "src/bin/tephra/stress/kill/",
        "writers that are killed, and the wait before it",
    ),
    (
        "processes",
        "src/bin/tephra/stress/kill/parent.rs",
        "starts the processes that it kills",
    ),
    (
        "environment",
        "src/bin/tephra/stress/kill/parent.rs",
        "where this command is, and the folder of temporary files",
    ),
    (
        "files",
        "src/bin/tephra/report/output.rs",
        "writes the page of a report, and keeps it out of the database",
    ),
    ("clocks", "src/bin/tephra/stopwatch.rs", "times what people read"),
    ("processes", "src/bin/tephra/main.rs", "the exit code"),
    (
        "processes",
        "src/bin/tephra/failure.rs",
        "the exit code a failure means",
    ),
];

fn is_library_source(file: &str) -> bool {
    let in_tests = file.ends_with("/tests.rs") || file.contains("/tests/") || file.starts_with("benches/");
    (file.starts_with("src/") || file.contains("/src/")) && file.ends_with(".rs") && !in_tests
}

fn owns(owner: &str, file: &str) -> bool {
    if owner.ends_with('/') {
        file.starts_with(owner)
    } else {
        file == owner
    }
}

fn touches(resource: &Resource, path: &str) -> bool {
    let begins =
        |pattern: &&str| path == *pattern || path.strip_prefix(*pattern).is_some_and(|r| r.starts_with("::"));
    let ends =
        |pattern: &&str| path == *pattern || path.strip_suffix(*pattern).is_some_and(|r| r.ends_with("::"));
    resource.starts_with.iter().any(begins) || resource.ends_with.iter().any(ends)
}

/// (resource, file, line) of every use of a resource in one source.
fn touched(file: &str, text: &str) -> Vec<(&'static str, usize, String)> {
    let mut found = Vec::new();
    for used in uses(file, text) {
        for resource in RESOURCES.iter().filter(|r| touches(r, &used.path)) {
            found.push((resource.name, used.line, used.path.clone()));
        }
    }
    found
}

/// Uses outside the owners, as `file:line: what`.
fn trespasses(file: &str, text: &str, owners: &[(&str, &str, &str)]) -> Vec<String> {
    touched(file, text)
        .into_iter()
        .filter(|(resource, ..)| {
            !owners
                .iter()
                .any(|(r, owner, _)| r == resource && owns(owner, file))
        })
        .map(|(resource, line, path)| format!("{file}:{line}: `{path}`: {resource} are owned by other files"))
        .collect()
}

fn library_sources() -> Vec<String> {
    files_below(&root(), |name| name.ends_with(".rs"))
        .into_iter()
        .filter(|f| is_library_source(f))
        .collect()
}

#[test]
fn the_world_is_touched_by_its_owners_alone() {
    let sources = library_sources();
    assert!(
        sources.len() >= 5,
        "the crates' sources were not found: {sources:?}"
    );
    let wrong: Vec<_> = sources
        .iter()
        .flat_map(|file| trespasses(file, &read(file), OWNERS))
        .collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn every_owner_is_known_needed_and_says_why() {
    let sources = library_sources();
    for (resource, owner, why) in OWNERS {
        assert!(
            RESOURCES.iter().any(|r| r.name == *resource),
            "{owner}: no resource is called {resource}"
        );
        assert!(why.len() >= 10, "{owner}: no reason");
        let needed = sources
            .iter()
            .filter(|file| owns(owner, file))
            .any(|file| touched(file, &read(file)).iter().any(|(r, ..)| r == resource));
        assert!(
            needed,
            "{owner} is listed as an owner of {resource} and touches none"
        );
    }
}

#[test]
fn canary_trespasses_are_seen() {
    let planted = [
        ("files", "fn f() { let x = std::fs::read(\"a\"); }"),
        ("files", "use std::{io, fs::File};"),
        (
            "files",
            "fn f() { let m = unsafe_free(memmap2::MmapOptions::new()); }",
        ),
        ("files", "fn f() { let x = File::open(\"a\"); }"),
        ("clocks", "fn f() { let t = std::time::Instant::now(); }"),
        ("clocks", "use std::time::{Duration, SystemTime};"),
        ("threads", "fn f() { std::thread::spawn(|| ()); }"),
        ("threads", "use std::{sync::Arc, thread};"),
        ("threads", "fn f() { thread::sleep(d); }"),
        ("processes", "fn f() { std::process::exit(1) }"),
        ("environment", "fn f() { let v = std::env::var(\"A\"); }"),
        ("randomness", "fn f() { let r = rand::rng(); }"),
        ("unsafe", "fn f(p: *const u8) -> u8 { unsafe { *p } }"),
        ("unsafe", "mod a { mod b { unsafe impl Send for X {} } }"),
    ];
    for (resource, text) in planted {
        let file = "sstable/src/planted.rs";
        let seen = trespasses(file, text, &[]);
        assert_eq!(seen.len(), 1, "{text}: {seen:?}");
        assert!(seen[0].contains(resource), "{text}: {seen:?}");
        assert!(trespasses(file, text, &[(resource, file, "owner of the canary")]).is_empty());
        assert!(trespasses(file, text, &[(resource, "sstable/src/", "owner of the canary")]).is_empty());
    }
    let harmless = "//! std::fs\n#![deny(unsafe_code)]\nuse std::time::{Duration, Instant};\n\
                    fn f(i: Instant) -> &'static str { \"std::process::exit\" }";
    assert_eq!(
        trespasses("sstable/src/harmless.rs", harmless, &[]),
        Vec::<String>::new()
    );
}

#[test]
fn canary_only_library_sources_are_read() {
    for (file, is_source) in [
        ("src/lib.rs", true),
        ("wal/src/replay.rs", true),
        ("wal/src/replay/tests.rs", false),
        ("engine/src/db/tests/open.rs", false),
        ("tests/model.rs", false),
        ("benches/writer.rs", false),
    ] {
        assert_eq!(is_library_source(file), is_source, "{file}");
    }
}
