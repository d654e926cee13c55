//! Holds every crate that we build with to `deny.toml`: licences, bans and sources.
//!
//! `cargo deny` reads the same file and sees more (advisories, licence texts); this test is there on every machine.

#![expect(clippy::unwrap_used, reason = "a test: a surprise here is a failure")]

use serde_json::Value;
use std::process::Command;
use toml::Table;

fn output(command: &mut Command) -> String {
    let out = command.output().unwrap();
    assert!(
        out.status.success(),
        "{command:?}: {}",
        String::from_utf8_lossy(&out.stderr)
    );
    String::from_utf8(out.stdout).unwrap()
}

/// Every package of the build for this machine, as `cargo metadata` tells it.
fn packages() -> Vec<Value> {
    let rustc = output(Command::new("rustc").arg("-vV"));
    let host = rustc
        .lines()
        .find_map(|line| line.strip_prefix("host: "))
        .unwrap();
    let metadata = output(
        Command::new(env!("CARGO"))
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .args([
                "metadata",
                "--format-version",
                "1",
                "--locked",
                "--all-features",
                "--filter-platform",
                host,
            ]),
    );
    let metadata: Value = serde_json::from_str(&metadata).unwrap();
    metadata["packages"].as_array().unwrap().clone()
}

fn strings(list: &toml::Value) -> Vec<&str> {
    list.as_array()
        .unwrap()
        .iter()
        .map(|v| v.as_str().unwrap())
        .collect()
}

/// Whether a licence expression (`A OR B`, `A AND B`, brackets, the old `A/B`) can be met by `allowed` alone.
fn satisfied(expression: &str, allowed: &[&str]) -> bool {
    let spaced = expression
        .replace('(', " ( ")
        .replace(')', " ) ")
        .replace('/', " OR ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let mut at = 0;
    let met = any_of(&words, &mut at, allowed);
    met && at == words.len()
}

fn any_of(words: &[&str], at: &mut usize, allowed: &[&str]) -> bool {
    let mut met = all_of(words, at, allowed);
    while words.get(*at) == Some(&"OR") {
        *at += 1;
        met |= all_of(words, at, allowed);
    }
    met
}

fn all_of(words: &[&str], at: &mut usize, allowed: &[&str]) -> bool {
    let mut met = one(words, at, allowed);
    while words.get(*at) == Some(&"AND") {
        *at += 1;
        met &= one(words, at, allowed);
    }
    met
}

fn one(words: &[&str], at: &mut usize, allowed: &[&str]) -> bool {
    let word = words.get(*at).copied().unwrap_or("");
    *at += 1;
    if word == "(" {
        let met = any_of(words, at, allowed);
        let closed = words.get(*at) == Some(&")");
        *at += 1;
        return met && closed;
    }
    // `MPL-2.0+`: that version will do, and so will a later one.
    let met = allowed.contains(&word.strip_suffix('+').unwrap_or(word));
    if words.get(*at) == Some(&"WITH") {
        // An exception only widens what the licence permits.
        *at += 2;
    }
    met
}

/// What is wrong with one package, if anything.
fn objections(package: &Value, rules: &Table) -> Vec<String> {
    let name = package["name"].as_str().unwrap();
    let mut wrong = Vec::new();
    let licence = package["license"].as_str().unwrap_or("(none stated)");
    let mut allowed = strings(&rules["licenses"]["allow"]);
    for exception in rules["licenses"]["exceptions"].as_array().unwrap() {
        if exception["crate"].as_str() == Some(name) {
            allowed.extend(strings(&exception["allow"]));
        }
    }
    if !satisfied(licence, &allowed) {
        wrong.push(format!("{name}: licence {licence} is not in deny.toml"));
    }
    for ban in rules["bans"]["deny"].as_array().unwrap() {
        let banned = ban["name"].as_str().unwrap();
        let reason = ban["reason"].as_str().unwrap();
        // Some crates of others may use it; ours may not.
        let is_excused = ban.get("wrappers").is_some();
        if banned == name && !is_excused {
            wrong.push(format!("{name}: banned: {reason}"));
        }
        let is_ours = package["source"].is_null();
        let dependencies = package["dependencies"].as_array().into_iter().flatten();
        if is_ours && dependencies.clone().any(|d| d["name"].as_str() == Some(banned)) {
            wrong.push(format!("{name}: depends on {banned}: {reason}"));
        }
    }
    // Packages of this repository have no source.
    if let Some(source) = package["source"].as_str() {
        let from = source.strip_prefix("registry+").unwrap_or(source);
        if !strings(&rules["sources"]["allow-registry"]).contains(&from) {
            wrong.push(format!("{name}: comes from {source}"));
        }
    }
    wrong
}

fn rules() -> Table {
    include_str!("../deny.toml").parse().unwrap()
}

#[test]
fn every_dependency_meets_the_rules() {
    let packages = packages();
    assert!(
        packages.len() >= 10,
        "cargo metadata tells of {} packages only",
        packages.len()
    );
    let rules = rules();
    let wrong: Vec<_> = packages.iter().flat_map(|p| objections(p, &rules)).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn canary_bad_dependencies_are_seen() {
    let crates_io = "registry+https://github.com/rust-lang/crates.io-index";
    let package = |name: &str, licence: Option<&str>, source: &str| serde_json::json!({ "name": name, "license": licence, "source": source });
    let rules = rules();
    assert_eq!(
        objections(&package("good", Some("MIT OR Apache-2.0"), crates_io), &rules),
        Vec::<String>::new()
    );
    for bad in [
        package("a", Some("GPL-3.0-only"), crates_io),
        package("another-imbl", Some("MPL-2.0+"), crates_io),
        package("b", None, crates_io),
        package("anyhow", Some("MIT"), crates_io),
        package("c", Some("MIT"), "git+https://example.org/c#0123"),
        serde_json::json!({ "name": "ours", "license": "MIT", "dependencies": [{ "name": "byteorder" }] }),
    ] {
        assert_eq!(objections(&bad, &rules).len(), 1, "{bad}");
    }
}

#[test]
fn licence_expressions_are_understood() {
    let allowed = ["MIT", "Apache-2.0", "Unicode-3.0"];
    for (expression, met) in [
        ("MIT", true),
        ("MIT/Apache-2.0", true),
        ("GPL-2.0 OR MIT", true),
        ("GPL-2.0 AND MIT", false),
        ("(MIT OR Apache-2.0) AND Unicode-3.0", true),
        ("(MIT OR Apache-2.0) AND OpenSSL", false),
        ("Apache-2.0 WITH LLVM-exception OR GPL-2.0", true),
        ("Apache-2.0+", true),
        ("MIT MIT", false),
        ("", false),
    ] {
        assert_eq!(satisfied(expression, &allowed), met, "{expression:?}");
    }
}

#[test]
fn the_library_alone_pulls_nothing_of_the_command() {
    let names = |features: &[&str]| -> std::collections::BTreeSet<String> {
        let mut cargo = Command::new(env!("CARGO"));
        cargo.current_dir(env!("CARGO_MANIFEST_DIR"));
        cargo.args([
            "tree",
            "--locked",
            "--package",
            "tephradb",
            "--edges",
            "normal",
            "--prefix",
            "none",
            "--format",
            "{p}",
        ]);
        let tree = output(cargo.args(features));
        tree.lines()
            .filter_map(|line| Some(line.split(' ').next()?.to_owned()))
            .collect()
    };
    let (with, without) = (names(&[]), names(&["--no-default-features"]));
    let of_the_command = [
        "clap",
        "clap_complete",
        "csv",
        "ctrlc",
        "data-encoding",
        "hdrhistogram",
        "indicatif",
        "serde_json",
        "tempfile",
    ];
    for name in of_the_command {
        assert!(with.contains(name), "{name} is not of the command any more");
        assert!(!without.contains(name), "{name} comes with the library");
    }
    assert!(
        without.contains("tephra-engine") && without.len() < with.len() / 2 + 10,
        "{without:?}"
    );
}
