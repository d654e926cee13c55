//! Checks files of golden encodings: `cargo run --release -p tephra-sstable --example conformance -- FILE...`
//!
//! Each line of a file is one case (see `tests/data/README.md` for the form). Every case is encoded and compared
//! field by field, and its own bytes are decoded and compared with its records. What differs is said on standard
//! error; the last line is `N passed, N failed`. The exit code is a failure when a case failed, when a file could
//! not be read, and when there was no case at all.

#[path = "../tests/support/vectors.rs"]
mod vectors;

use std::process::ExitCode;

/// Characters of a difference that are shown.
const DIFFERENCE_SHOWN_MAX: usize = 2000;

#[expect(
    clippy::disallowed_methods,
    reason = "an example for the command line reads the files it is given"
)]
#[expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "an example for the command line"
)]
fn main() -> ExitCode {
    let (mut passed, mut failed, mut unreadable) = (0u64, 0u64, 0u64);
    for path in std::env::args_os().skip(1) {
        let shown = path.to_string_lossy().into_owned();
        let contents = std::fs::read(&path).map_err(|error| error.to_string());
        let contents = contents.and_then(|bytes| String::from_utf8(bytes).map_err(|error| error.to_string()));
        let contents = contents.unwrap_or_else(|error| {
            eprintln!("{shown}: {error}");
            unreadable += 1;
            String::new()
        });
        for (index, line) in contents
            .lines()
            .enumerate()
            .filter(|(_, line)| !line.trim().is_empty())
        {
            match vectors::check_line(line) {
                Ok(()) => passed += 1,
                Err(difference) => {
                    failed += 1;
                    let difference: String = difference.chars().take(DIFFERENCE_SHOWN_MAX).collect();
                    eprintln!("{shown}:{}: {}: {difference}", index + 1, vectors::name(line));
                }
            }
        }
    }
    println!("{passed} passed, {failed} failed");
    if failed == 0 && unreadable == 0 && passed > 0 {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}
