//! Imports point downwards only, and every crate takes lints and versions from the workspace.

use super::{files_below, read, root};
use toml::{Table, Value};

/// One package of this repository and the packages of ours that it may import.
struct Layer {
    manifest: &'static str,
    package: &'static str,
    may_import: &'static [&'static str],
    /// Beyond `may_import`, for tests, benches and examples alone.
    may_import_for_tests: &'static [&'static str],
}

/// Every manifest of the repository. One that is missing here is refused.
const LAYERS: [Layer; 6] = [
    Layer {
        manifest: "sstable/Cargo.toml",
        package: "tephra-sstable",
        may_import: &[],
        may_import_for_tests: &[],
    },
    Layer {
        manifest: "wal/Cargo.toml",
        package: "tephra-wal",
        may_import: &[],
        may_import_for_tests: &[],
    },
    Layer {
        manifest: "compaction/Cargo.toml",
        package: "tephra-compaction",
        may_import: &["tephra-sstable"],
        may_import_for_tests: &[],
    },
    Layer {
        manifest: "engine/Cargo.toml",
        package: "tephra-engine",
        may_import: &["tephra-compaction", "tephra-wal", "tephra-sstable"],
        may_import_for_tests: &[],
    },
    Layer {
        manifest: "c/Cargo.toml",
        package: "tephra-c",
        may_import: &["tephra-engine"],
        may_import_for_tests: &[],
    },
    Layer {
        manifest: "Cargo.toml",
        package: "tephradb",
        // `tephra simulate` shows the picker's simulator.
        may_import: &["tephra-engine", "tephra-compaction"],
        // The benches time writer and merger without an engine around them.
        may_import_for_tests: &["tephra-wal", "tephra-sstable"],
    },
];

/// Packages beside the workspace, and why. They may import any of ours, nothing may import them, and they are not published.
const OUTSIDE: [(&str, &str); 2] = [
    (
        "benches/peers/Cargo.toml",
        "building the engines that tephradb is measured against takes longer than all of it",
    ),
    (
        "tests/fuzz/Cargo.toml",
        "fuzz targets need a nightly compiler; seeded loops in the tests run the same bodies",
    ),
];

const OUR_PREFIX: &str = "tephra";

fn parse(manifest: &str, text: &str) -> Table {
    text.parse().unwrap_or_else(|e| panic!("{manifest}: {e}"))
}

/// Every (table name, dependency's package name, its declaration), target-specific tables included.
fn dependencies(manifest: &Table) -> Vec<(String, String, Value)> {
    let mut found = Vec::new();
    let mut collect = |owner: &Table, prefix: &str| {
        for kind in ["dependencies", "dev-dependencies", "build-dependencies"] {
            let Some(table) = owner.get(kind).and_then(Value::as_table) else {
                continue;
            };
            for (name, declared) in table {
                let package = declared.get("package").and_then(Value::as_str).unwrap_or(name);
                found.push((format!("{prefix}{kind}"), package.to_owned(), declared.clone()));
            }
        }
    };
    collect(manifest, "");
    if let Some(targets) = manifest.get("target").and_then(Value::as_table) {
        for (target, owner) in targets {
            collect(owner.as_table().unwrap(), &format!("target.{target}."));
        }
    }
    found
}

/// What `layer` imports that it may not.
fn upward_imports(layer: &Layer, text: &str) -> Vec<String> {
    let manifest = parse(layer.manifest, text);
    dependencies(&manifest)
        .into_iter()
        .filter(|(_, package, _)| package.starts_with(OUR_PREFIX))
        .filter(|(kind, package, _)| {
            let for_tests = kind.ends_with("dev-dependencies");
            let allowed = layer.may_import.contains(&package.as_str());
            let allowed_for_tests = layer.may_import_for_tests.contains(&package.as_str());
            !(allowed || for_tests && allowed_for_tests)
        })
        .map(|(kind, package, _)| {
            format!(
                "{}: [{kind}] {package} is not below {}",
                layer.manifest, layer.package
            )
        })
        .collect()
}

/// What a manifest states by itself though the workspace states it for all.
fn not_inherited(layer: &Layer, text: &str) -> Vec<String> {
    let manifest = parse(layer.manifest, text);
    let mut wrong = Vec::new();
    let inherits =
        |value: Option<&Value>| value.and_then(|v| v.get("workspace")).and_then(Value::as_bool) == Some(true);
    if !inherits(manifest.get("lints")) {
        wrong.push(format!("{}: no `[lints] workspace = true`", layer.manifest));
    }
    let package = manifest.get("package").and_then(Value::as_table).unwrap();
    for field in ["version", "edition", "rust-version", "license"] {
        if !inherits(package.get(field)) {
            wrong.push(format!(
                "{}: `{field}` is not inherited from the workspace",
                layer.manifest
            ));
        }
    }
    if package
        .get("description")
        .and_then(Value::as_str)
        .is_none_or(str::is_empty)
    {
        wrong.push(format!("{}: no description", layer.manifest));
    }
    for (kind, name, declared) in dependencies(&manifest) {
        if !inherits(Some(&declared)) {
            wrong.push(format!(
                "{}: [{kind}] {name} does not take its version from the workspace",
                layer.manifest
            ));
        }
    }
    wrong
}

/// Lines of `[workspace.dependencies]` that name a crate of others without saying what it is for.
fn dependencies_without_reason(root_manifest: &str) -> Vec<String> {
    root_manifest
        .lines()
        .skip_while(|line| line.trim() != "[workspace.dependencies]")
        .skip(1)
        .take_while(|line| !line.starts_with('['))
        .filter(|line| {
            line.contains('=') && !line.trim_start().starts_with('#') && !line.starts_with(OUR_PREFIX)
        })
        .filter(|line| {
            line.split_once(" # ")
                .is_none_or(|(_, reason)| reason.trim().len() < 8)
        })
        .map(str::to_owned)
        .collect()
}

fn layer(package: &str) -> &'static Layer {
    LAYERS.iter().find(|l| l.package == package).unwrap()
}

#[test]
fn imports_point_downwards_only() {
    let wrong: Vec<_> = LAYERS
        .iter()
        .flat_map(|l| upward_imports(l, &read(l.manifest)))
        .collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn canary_upward_imports_are_seen() {
    let head = "[package]\nname = \"x\"\n";
    let planted = [
        ("tephra-sstable", "[dependencies]\ntephra-engine.workspace = true"),
        (
            "tephra-sstable",
            "[dev-dependencies]\ntephra-compaction = { path = \"../compaction\" }",
        ),
        ("tephra-wal", "[dependencies]\ntephra-sstable.workspace = true"),
        (
            "tephra-compaction",
            "[target.'cfg(unix)'.dependencies]\ntephra-wal.workspace = true",
        ),
        (
            "tephra-engine",
            "[dev-dependencies]\nharmless = { package = \"tephradb\", path = \"..\" }",
        ),
        ("tephradb", "[dependencies]\ntephra-sstable.workspace = true"),
    ];
    for (package, lines) in planted {
        let seen = upward_imports(layer(package), &format!("{head}{lines}\n"));
        assert_eq!(seen.len(), 1, "{package} with {lines}: {seen:?}");
    }
    let allowed =
        "[dev-dependencies]\ntephra-sstable.workspace = true\n[dependencies]\ntephra-engine.workspace = true";
    assert!(upward_imports(layer("tephradb"), allowed).is_empty());
}

#[test]
fn every_manifest_is_known() {
    let found = files_below(&root(), |name| name == "Cargo.toml");
    let outside = OUTSIDE.iter().map(|(manifest, _)| *manifest);
    let mut known: Vec<_> = LAYERS.iter().map(|l| l.manifest).chain(outside).collect();
    known.sort_unstable();
    assert_eq!(
        found, known,
        "a package that neither LAYERS nor OUTSIDE knows, or the reverse"
    );
    for (manifest, why) in OUTSIDE {
        assert!(why.len() >= 20, "{manifest}: no reason");
        let parsed = parse(manifest, &read(manifest));
        assert!(
            parsed.contains_key("workspace"),
            "{manifest}: not a workspace of its own"
        );
        let publish = parsed["package"].get("publish").and_then(Value::as_bool);
        assert_eq!(publish, Some(false), "{manifest}: may be published");
    }
    for layer in &LAYERS {
        let manifest = parse(layer.manifest, &read(layer.manifest));
        assert_eq!(manifest["package"]["name"].as_str(), Some(layer.package));
    }
}

#[test]
fn every_manifest_inherits_lints_and_versions() {
    let wrong: Vec<_> = LAYERS
        .iter()
        .flat_map(|l| not_inherited(l, &read(l.manifest)))
        .collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn canary_what_is_not_inherited_is_seen() {
    let good = "[package]\nname = \"x\"\ndescription = \"x\"\nversion.workspace = true\nedition.workspace = true\n\
                rust-version.workspace = true\nlicense.workspace = true\n[dependencies]\nd.workspace = true\n\
                [lints]\nworkspace = true\n";
    let layer = layer("tephra-wal");
    assert_eq!(not_inherited(layer, good), Vec::<String>::new());
    for (from, to) in [
        ("[lints]\nworkspace = true\n", ""),
        (
            "[lints]\nworkspace = true\n",
            "[lints.rust]\nunsafe_code = \"warn\"\n",
        ),
        ("edition.workspace = true", "edition = \"2021\""),
        ("license.workspace = true\n", ""),
        ("description = \"x\"\n", ""),
        ("d.workspace = true", "d = \"1\""),
    ] {
        let planted = good.replace(from, to);
        assert_ne!(planted, good);
        assert_eq!(not_inherited(layer, &planted).len(), 1, "{planted}");
    }
}

#[test]
fn every_dependency_says_what_it_is_for() {
    let wrong = dependencies_without_reason(&read("Cargo.toml"));
    assert!(
        wrong.is_empty(),
        "lines without a reason as trailing comment: {wrong:#?}"
    );
    let planted =
        "[workspace.dependencies]\na = \"1\"\nb = \"1\" # hashes keys for the filter\n\n[other]\nc = \"1\"\n";
    assert_eq!(dependencies_without_reason(planted), ["a = \"1\""]);
}
