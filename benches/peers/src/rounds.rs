//! The process that a person starts: it starts a process of its own for each measurement, engines in turn.
//!
//! ```text
//! shape, round:   fillrandom: A B C   each leaves its settled store, which the other workloads of the round begin with
//!                 readrandom: B C A   the first engine changes from workload to workload
//!                 overwrite:  C A B   on a copy
//! ```

use std::collections::HashMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tempfile::TempDir;

use crate::args::RunArgs;
use crate::engines;
use crate::report::{Line, table};
use crate::shape::Shape;
use crate::workload::{self, Base, LOAD};

const QUICK_SHARE: u64 = 50;
const QUICK_SECONDS: f64 = 1.0;

/// Measures what the arguments name and prints it.
pub(crate) fn run(args: &RunArgs) {
    let place = args.dir.clone().unwrap_or_else(std::env::temp_dir);
    if is_in_memory(&place) {
        eprintln!(
            "{} is in memory: syncs cost nothing there and bytes written are not counted; see --dir",
            place.display()
        );
    }
    let chosen: Vec<&str> = engines::LISTED
        .iter()
        .map(|engine| engine.name)
        .filter(|&name| args.engines.is_empty() || args.engines.iter().any(|engine| engine == name))
        .collect();
    for name in &args.engines {
        assert!(chosen.contains(&name.as_str()), "no engine {name} was built in");
    }
    let mut lines = Vec::new();
    for &shape in &args.shape {
        let records = args.records.unwrap_or(if args.quick {
            shape.records / QUICK_SHARE
        } else {
            shape.records
        });
        for round in 0..if args.quick { 1 } else { args.rounds } {
            let folder = TempDir::with_prefix_in("peers-", &place).unwrap();
            let run = Round {
                args,
                shape,
                records,
                round,
                folder: folder.path(),
                engines: &chosen,
            };
            run.run(&mut lines);
        }
    }
    if !args.json {
        print!("{}", table(&lines));
    }
}

struct Round<'a> {
    args: &'a RunArgs,
    shape: Shape,
    records: u64,
    round: u64,
    folder: &'a Path,
    engines: &'a [&'a str],
}

impl Round<'_> {
    fn run(&self, lines: &mut Vec<Line>) {
        let wanted = |name: &str| {
            let filter = &self.args.filter;
            filter.is_empty() || filter.iter().any(|text| name.contains(text.as_str()))
        };
        let is_load_needed = workload::LISTED
            .iter()
            .any(|listed| wanted(listed.name) && listed.base != Base::Empty);
        let mut loaded = HashMap::new();
        for (index, listed) in workload::LISTED.iter().enumerate() {
            let is_load = listed.name == LOAD;
            if !wanted(listed.name) && !(is_load && is_load_needed) {
                continue;
            }
            for turn in 0..self.engines.len() {
                let engine = self.engines[(turn + index + self.round as usize) % self.engines.len()];
                let dir = self.folder.join(format!("{engine}-{index}"));
                let dir = match listed.base {
                    Base::Empty => {
                        std::fs::create_dir(&dir).unwrap();
                        dir
                    }
                    Base::Copied => {
                        let from: &PathBuf = &loaded[engine];
                        // Holes stay holes, and blocks are shared where the file system can.
                        command("cp", [OsStr::new("-a"), from.as_os_str(), dir.as_os_str()]);
                        dir
                    }
                    Base::Loaded => PathBuf::clone(&loaded[engine]),
                };
                let measured = self.child(engine, listed.name, &dir);
                if wanted(listed.name) {
                    for line in measured {
                        if self.args.json {
                            println!("{}", serde_json::to_string(&line).unwrap());
                        }
                        lines.push(line);
                    }
                }
                if is_load {
                    loaded.insert(engine, dir);
                } else if listed.base != Base::Loaded {
                    std::fs::remove_dir_all(&dir).unwrap();
                }
            }
        }
    }

    /// One workload on one engine.
    fn child(&self, engine: &str, workload: &str, dir: &Path) -> Vec<Line> {
        if !self.args.quick {
            // What others have written meanwhile does not wait for this one's syncs.
            command("sync", []);
        }
        let seconds = if self.args.quick {
            QUICK_SECONDS
        } else {
            self.args.seconds
        };
        let mut child = Command::new(std::env::current_exe().unwrap());
        child.args([
            "child",
            "--engine",
            engine,
            "--workload",
            workload,
            "--shape",
            self.shape.name,
        ]);
        child.args([
            "--records",
            &self.records.to_string(),
            "--round",
            &self.round.to_string(),
        ]);
        child.args(["--seconds", &seconds.to_string(), "--dir"]).arg(dir);
        let output = child
            .stdin(Stdio::null())
            .stderr(Stdio::inherit())
            .output()
            .unwrap();
        assert!(
            output.status.success(),
            "{workload} on {engine}: {}",
            output.status
        );
        let lines: Vec<Line> = String::from_utf8(output.stdout)
            .unwrap()
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        for line in &lines {
            eprintln!(
                "{} round {}: {} {}: {:.0} {} a second, p99.9 {:.0} us",
                line.shape, line.round, line.workload, engine, line.ops_per_s, line.unit, line.p999_us
            );
        }
        lines
    }
}

fn command<'a>(program: &str, args: impl IntoIterator<Item = &'a OsStr>) {
    let status = Command::new(program).args(args).status().unwrap();
    assert!(status.success(), "{program}: {status}");
}

fn is_in_memory(place: &Path) -> bool {
    let output = Command::new("stat")
        .args(["-f", "-c", "%T"])
        .arg(place)
        .output()
        .unwrap();
    output.stdout.starts_with(b"tmpfs")
}
