//! The C program `examples/tour.c`, built by the C compiler with the header, linked with the shared and the static library, and run.
//!
//! It checks its answers itself, and calls every function that the header declares. The linker of a Rust toolchain is a C compiler, `cc`;
//! `CC` names another.

#![expect(clippy::unwrap_used, reason = "a test: a surprise here is a failure")]

use std::path::{Path, PathBuf};
use std::process::Command;

/// What a program has to link besides the static library, on Linux.
const SYSTEM_LIBRARIES: [&str; 3] = ["-lpthread", "-ldl", "-lm"];

fn package() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Where cargo puts the libraries of this package: beside this test.
fn libraries() -> PathBuf {
    std::env::current_exe().unwrap().parent().unwrap().to_owned()
}

fn run(command: &mut Command) -> String {
    let output = command
        .output()
        .unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let (out, err) = (
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
    );
    assert!(
        output.status.success(),
        "{command:?}: {}\n{out}{err}",
        output.status
    );
    out.into_owned()
}

/// Builds `source` with warnings as errors, linked with what `link` says, and runs it in a folder of its own.
fn build_and_run(source: &Path, link: &[&str]) -> String {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("program");
    let compiler = std::env::var("CC").unwrap_or_else(|_| "cc".to_owned());
    run(Command::new(compiler)
        .args(["-std=c11", "-Wall", "-Wextra", "-pedantic", "-Werror", "-g", "-I"])
        .arg(package().join("include"))
        .arg(source)
        .arg("-o")
        .arg(&program)
        .args(link));
    run(Command::new(program).arg(folder.path().join("db")))
}

#[test]
#[cfg(target_os = "linux")]
fn the_tour_runs_with_the_shared_library() {
    let libraries = libraries();
    let place = libraries.to_str().unwrap();
    let tour = package().join("examples/tour.c");
    let search = format!("-L{place}");
    let at_run_time = format!("-Wl,-rpath,{place}");
    let printed = build_and_run(&tour, &[&search, &at_run_time, "-ltephra"]);
    assert!(printed.ends_with("all answers are right\n"), "{printed}");
}

#[test]
#[cfg(target_os = "linux")]
fn the_tour_runs_with_the_static_library() {
    let library = libraries().join("libtephra.a");
    let tour = package().join("examples/tour.c");
    let link: Vec<&str> = std::iter::once(library.to_str().unwrap())
        .chain(SYSTEM_LIBRARIES)
        .collect();
    let printed = build_and_run(&tour, &link);
    assert!(printed.ends_with("all answers are right\n"), "{printed}");
}

#[test]
fn the_tour_calls_every_function() {
    let header = std::fs::read_to_string(package().join("include/tephra.h")).unwrap();
    let tour = std::fs::read_to_string(package().join("examples/tour.c")).unwrap();
    let calls = |text: &str| -> std::collections::BTreeSet<String> {
        let names = text.split(|c: char| !c.is_ascii_alphanumeric() && !"_(".contains(c));
        names
            .flat_map(|word| word.match_indices('(').map(move |(end, _)| &word[..end]))
            .filter_map(|before| before.rsplit('(').next())
            .filter(|name| name.starts_with("tephra_"))
            .map(str::to_owned)
            .collect()
    };
    let missing: Vec<_> = calls(&header).difference(&calls(&tour)).cloned().collect();
    assert!(missing.is_empty(), "not called: {missing:?}");
}
