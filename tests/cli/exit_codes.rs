//! One table of what each command says to a script: 0 done, 1 the answer is no, 2 the command line is wrong, 3 a database, a file or
//! standard output refused.

use super::support::{NO, Place, REFUSED, USAGE};

const DONE: i32 = 0;

#[test]
fn every_command_has_the_exit_codes_of_the_help_text() {
    let place = Place::with_keyspaces();
    place.run("dump --db db all.dump").good();
    place.run("checkpoint --db db damaged").good();
    std::fs::write(place.path("damaged/CURRENT"), "nonsense").unwrap();
    place.file("bad.tsv", "no tab\n");
    place.file("text", "no table, and no dump either: only a line of text");
    // Those of the database go when it is compacted.
    let table = std::fs::read_dir(place.path("damaged")).unwrap();
    let table = table
        .map(|entry| entry.unwrap().path())
        .find(|path| path.extension().is_some_and(|ending| ending == "table"))
        .unwrap();
    let table = table.to_str().unwrap();
    for (args, code) in [
        ("--help", DONE),
        ("--version", DONE),
        ("help get", DONE),
        ("", USAGE),
        ("frobnicate", USAGE),
        ("load in.tsv --db db", DONE),
        ("load in.tsv --db db --format xml", USAGE),
        ("load in.tsv --db db --delimiter ;", USAGE),
        ("load bad.tsv --db db", REFUSED),
        ("load none.tsv --db db", REFUSED),
        ("load in.tsv --db db --keyspace counters", REFUSED),
        ("load in.tsv --db db --keyspace routes", REFUSED),
        ("load in.tsv --db db --merge", REFUSED),
        ("load in.tsv --db in.tsv", REFUSED),
        ("dump --db db new.dump", DONE),
        ("dump --db db all.dump", REFUSED),
        ("dump --db nowhere x.dump", REFUSED),
        ("dump --db db", USAGE),
        ("dump --db db - --json", USAGE),
        ("restore all.dump --db restored", DONE),
        ("restore all.dump --db db", REFUSED),
        ("restore text --db x", REFUSED),
        ("restore none --db x", REFUSED),
        ("restore --db x", USAGE),
        ("get --db db alpha", DONE),
        ("get --db db nothing", NO),
        ("get --db db --hex 0", USAGE),
        ("get --db db --keyspace nowhere alpha", REFUSED),
        ("get --db db --value-form number alpha", REFUSED),
        ("get --db nowhere alpha", REFUSED),
        ("scan --db db", DONE),
        ("scan --db db --prefix nothing", DONE),
        ("scan --db db --prefix a --from b", USAGE),
        ("scan --db db --value-form number", REFUSED),
        ("scan --db db --keyspace routes --hex", REFUSED),
        ("scan --db damaged", REFUSED),
        ("count --db db", DONE),
        ("count --db db --estimate --prefix a", USAGE),
        ("count --db nowhere", REFUSED),
        ("put --db db k v", DONE),
        ("put --db db k", USAGE),
        ("put --db db --value-form number k x", USAGE),
        ("put --db db --keyspace routes k v", REFUSED),
        ("put --db db k --value-file none", REFUSED),
        ("delete --db db k", DONE),
        ("delete --db db nothing", DONE),
        ("delete --db db", USAGE),
        ("delete --db db --keyspace nowhere k", REFUSED),
        ("delete-range --db db --prefix nothing", DONE),
        ("delete-range --db db", USAGE),
        ("delete-range --db nowhere --all", REFUSED),
        ("merge --db db --keyspace log events c", DONE),
        ("merge --db db --keyspace log events", USAGE),
        ("merge --db db k v", REFUSED),
        ("merge --db db --keyspace counters k v", REFUSED),
        ("merge --db db --keyspace routes 0 1", REFUSED),
        ("keyspaces list --db db", DONE),
        ("keyspaces list --db nowhere", REFUSED),
        ("keyspaces create --db db more", DONE),
        ("keyspaces create --db db more", REFUSED),
        ("keyspaces create --db db x --law add-u64 --value-width 4", USAGE),
        ("keyspaces create --db in.tsv x", REFUSED),
        ("keyspaces drop --db db more", DONE),
        ("keyspaces drop --db db more", REFUSED),
        ("keyspaces", USAGE),
        ("stats --db db", DONE),
        ("stats", USAGE),
        ("stats --db nowhere", REFUSED),
        ("compact --db db", DONE),
        ("compact --db db --prefix a --from b", USAGE),
        ("compact --db db --keyspace nowhere", REFUSED),
        ("checkpoint --db db copy", DONE),
        ("checkpoint --db db copy", REFUSED),
        ("checkpoint --db db", USAGE),
        ("verify --db db", DONE),
        ("verify --db damaged", NO),
        ("verify --db nowhere", REFUSED),
        ("verify", USAGE),
        ("repair db --into repaired", DONE),
        ("repair nowhere --into x", REFUSED),
        ("repair db", USAGE),
        ("report db --json", DONE),
        ("report db", USAGE),
        ("report nowhere --json", REFUSED),
        ("report db -o db/page.html", REFUSED),
        ("report", USAGE),
        ("table info TABLE", DONE),
        ("table info text", REFUSED),
        ("table info", USAGE),
        ("table keys TABLE", DONE),
        ("table keys none", REFUSED),
        ("table verify TABLE", DONE),
        ("table verify none", REFUSED),
        ("table anatomy TABLE", DONE),
        ("table anatomy TABLE --block 99", REFUSED),
        ("bench fillseq --records 100", DONE),
        ("bench nothing", USAGE),
        ("bench fillseq --records 100 --db in.tsv", REFUSED),
        ("simulate --help", DONE),
        ("simulate --nothing", USAGE),
        ("stress --nothing", USAGE),
        ("demo --data none", REFUSED),
        ("demo extra", USAGE),
        ("completions bash", DONE),
        ("completions tcsh", USAGE),
    ] {
        let answer = place.run(&args.replace("TABLE", table));
        assert_eq!(answer.code, code, "{args}: {}{}", answer.out, answer.err);
        assert_eq!(answer.err.is_empty(), code == DONE, "{args}: {}", answer.err);
        assert!(!answer.err.contains("panicked"), "{args}: {}", answer.err);
    }
    let help = place.run("--help").good();
    for code in ["\n  0 ", "\n  1 ", "\n  2 ", "\n  3 ", "\n  130 ", "\n  141 "] {
        assert!(help.contains(code), "{code}: {help}");
    }
}
