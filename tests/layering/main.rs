//! The rules between the parts, checked by reading manifests and sources.
//!
//! ```text
//!   tephradb ──> tephra-engine ──┬──> tephra-compaction ──> tephra-sstable
//!                                ├──> tephra-wal
//!   tephra-c ──> tephra-engine   └──> tephra-sstable
//! ```
//!
//! * `manifests`: imports point downwards only; every crate takes lints and versions from the workspace.
//! * `owners`: files, clocks, threads, processes, randomness and `unsafe` stay in the files that own them.
//! * `source`: the reader of Rust sources that the second rule rests on.
//!
//! Each rule is a function from text to a list of violations. Beside each test that the repository has none
//! stands a canary: a planted violation which the same function must see.

#![expect(clippy::unwrap_used, reason = "a test: a surprise here is a failure")]

mod manifests;
mod owners;
mod source;

use std::path::{Path, PathBuf};

/// Folders that hold no source of ours.
const SKIPPED_FOLDERS: [&str; 2] = ["target", ".git"];

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// Every file below `folder` whose name passes, as paths relative to the repository's root, sorted.
#[expect(
    clippy::disallowed_methods,
    reason = "a test that reads the repository itself"
)]
fn files_below(folder: &Path, passes: impl Fn(&str) -> bool + Copy) -> Vec<String> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display())) {
            let entry = entry.unwrap();
            let name = entry.file_name().into_string().unwrap();
            if entry.file_type().unwrap().is_dir() {
                if !SKIPPED_FOLDERS.contains(&name.as_str()) {
                    folders.push(entry.path());
                }
            } else if passes(&name) {
                let path = entry.path();
                let relative = path.strip_prefix(root()).unwrap().to_str().unwrap();
                found.push(relative.replace('\\', "/"));
            }
        }
    }
    found.sort();
    found
}

fn read(relative: &str) -> String {
    std::fs::read_to_string(root().join(relative)).unwrap_or_else(|e| panic!("{relative}: {e}"))
}
