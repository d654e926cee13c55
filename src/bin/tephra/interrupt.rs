//! Ctrl-C: nothing half-made stays behind. (Other signals end the process at once, and leave what the next run does not trip over.)
//!
//! ```text
//! first     a command that can end at a good point is asked to                 ask_to_end: load, compact
//!           any other: what it has begun and not finished is removed           Unfinished: dumps, repairs, directories for a time
//!           and the process ends with exit code 130
//! second    as any other
//! ```
//!
//! The handler runs on a thread of its own, beside the command's. Where none can be set, an interrupt ends the process at once, which a
//! database survives too.

#![expect(
    clippy::disallowed_methods,
    reason = "removes what this command has made beside databases"
)]

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, Once, PoisonError};
use std::time::Duration;

use tephradb::Cancel;

/// The exit code of a command that an interrupt ended, as shells have it.
pub(crate) const INTERRUPTED: u8 = 130;

/// The command's threads, or a process that it started, may go on making files while they are removed: then it is tried again, a moment later.
const TRIES_MAX: usize = 100;
const MOMENT: Duration = Duration::from_millis(5);

static BOARD: Mutex<Board> = Mutex::new(Board {
    cancel: None,
    unfinished: Vec::new(),
});
static LISTENING: Once = Once::new();

#[derive(Debug)]
struct Board {
    cancel: Option<Cancel>,
    unfinished: Vec<PathBuf>,
}

fn board() -> MutexGuard<'static, Board> {
    BOARD.lock().unwrap_or_else(PoisonError::into_inner)
}

fn listen() {
    LISTENING.call_once(|| {
        let _ = ctrlc::set_handler(interrupted);
    });
}

/// The first interrupt raises the flag, and the command ends when it sees it.
pub(crate) fn ask_to_end(cancel: &Cancel) {
    board().cancel = Some(cancel.clone());
    listen();
}

/// A file or a directory with everything in it that goes if an interrupt ends the process while this lives.
#[derive(Debug)]
pub(crate) struct Unfinished(PathBuf);

impl Unfinished {
    /// Makes it. An interrupt meanwhile waits, so that there is no moment in which it would stay.
    pub(crate) fn make<T: AsRef<Path>, E>(make: impl FnOnce() -> Result<T, E>) -> Result<(T, Unfinished), E> {
        listen();
        let mut board = board();
        let made = make()?;
        board.unfinished.push(made.as_ref().to_path_buf());
        let path = made.as_ref().to_path_buf();
        Ok((made, Unfinished(path)))
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        board().unfinished.retain(|path| *path != self.0);
    }
}

fn interrupted() {
    // Held to the end: what is being finished now stays, or goes, as a whole.
    let mut board = board();
    if let Some(cancel) = board.cancel.take() {
        cancel.cancel();
        return;
    }
    for path in &board.unfinished {
        remove(path);
    }
    let _ = writeln!(io::stderr(), "tephra: interrupted; nothing half-made is left");
    std::process::exit(i32::from(INTERRUPTED));
}

/// Removes what a path names, and once more what is made there meanwhile: until nothing is there for a moment.
fn remove(path: &Path) {
    let mut was_gone = false;
    for _ in 0..TRIES_MAX {
        let kind = fs::symlink_metadata(path);
        if was_gone && kind.is_err() {
            return;
        }
        was_gone = kind.is_err();
        // What fails now is tried again.
        let _ = match kind {
            Ok(kind) if kind.is_dir() => fs::remove_dir_all(path),
            Ok(_) => fs::remove_file(path),
            Err(_) => Ok(()),
        };
        std::thread::sleep(MOMENT);
    }
}
