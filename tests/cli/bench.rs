//! `bench` and `simulate`.

use super::support::{Place, REFUSED, USAGE};

#[test]
fn every_workload_runs_checks_itself_and_leaves_nothing() {
    let place = Place::new();
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_tephra"))
        .args([
            "bench",
            "--records",
            "3000",
            "--operations",
            "2000",
            "--threads",
            "2",
            "--json",
        ])
        .env("TMPDIR", place.path(""))
        .output()
        .unwrap();
    let facts = super::support::answer(output).json();
    let names: Vec<_> = facts
        .iter()
        .map(|fact| fact["workload"].as_str().unwrap())
        .collect();
    assert_eq!(
        names,
        [
            "fillseq",
            "fillrandom",
            "overwrite",
            "readrandom",
            "readmissing",
            "seekrandom",
            "readwhilewriting",
            "queue",
            "deleterange"
        ]
    );
    for fact in &facts {
        let figure = |name: &str| fact[name].as_f64().unwrap_or_else(|| panic!("{name}: {fact}"));
        assert!(
            figure("operations") > 0.0 && figure("operations_per_second") > 0.0,
            "{fact}"
        );
        assert!(
            figure("p50_us") <= figure("p99_us")
                && figure("p99_us") <= figure("p999_us")
                && figure("p999_us") <= figure("max_us"),
            "{fact}"
        );
    }
    assert_eq!(facts[0]["operations"], 3000);
    assert_eq!(facts[3]["operations"], 2000);
    assert_eq!(place.names(), [""; 0]);
}

#[test]
fn a_bench_in_a_directory_of_ones_own_stays_there() {
    let place = Place::new();
    let out = place
        .run("bench fillseq --records 500 --key-size 20 --value-size 10 --db here")
        .good();
    assert!(
        out.contains("500 records of 20 + 10 bytes, 1 thread,") && out.contains("p99.9"),
        "{out}"
    );
    assert_eq!(place.run("count --db here/01-fillseq").good(), "500\n");
    place
        .run("bench fillseq --records 500 --db here")
        .bad(REFUSED, &["here", "in the way"]);
    for (args, word) in [
        ("bench fillsideways", "fillsideways"),
        ("bench --records 5", "--records"),
        ("bench --key-size 3", "--key-size"),
        ("bench --threads 0", "--threads"),
    ] {
        place.run(args).bad(USAGE, &[word]);
    }
}

#[test]
fn the_simulator_gives_the_same_figures_for_the_same_seed() {
    let place = Place::new();
    let args = "simulate queue hot --operations 2000000 --memtable-mib 4 --json";
    let facts = place.run(args).json();
    assert_eq!(facts, place.run(args).json());
    assert_eq!(
        (&facts[0]["workload"], &facts[1]["workload"]),
        (&"queue".into(), &"hot".into())
    );
    assert!(facts[1]["write_amplification"].as_f64().unwrap() >= 1.0);
    let text = place.run("simulate delete-rich --operations 1000000").good();
    assert!(
        text.starts_with("workload") && text.lines().count() == 2,
        "{text}"
    );
    // What so short a run cannot measure is no figure; and sizes are the caller's.
    let short = place.run("simulate uniform --operations 1000 --json").fact();
    for name in [
        "read_amplification",
        "space_amplification",
        "space_amplification_max",
    ] {
        assert!(short[name].is_null(), "{name}: {short}");
    }
    let figures = |options: &str| {
        let line = format!("simulate uniform --operations 2000000 --memtable-mib 1 --json {options}");
        place.run(&line).fact()
    };
    let (default, small) = (
        figures(""),
        figures("--table-mib 1 --level-ratio 4 --l0-trigger 2"),
    );
    assert!(
        small["tables_max"].as_u64() > default["tables_max"].as_u64(),
        "{small}"
    );
    place
        .run("simulate --level-ratio 1")
        .bad(USAGE, &["--level-ratio"]);
    place.run("simulate --operations 0").bad(USAGE, &["--operations"]);
    place.run("simulate chaos").bad(USAGE, &["chaos"]);
    assert_eq!(place.names(), [""; 0], "it makes no file");
}
