//! What the documents name exists: every path in back quotes, and every relative link.
//!
//! ARCHITECTURE.md shortens a path where its paragraph has named the crate: `db/open.rs` for `engine/src/db/open.rs`.

#![expect(clippy::unwrap_used, reason = "a test: a surprise here is a failure")]

use std::path::{Path, PathBuf};

/// The documents, relative to the root of the repository.
const DOCUMENTS: [&str; 15] = [
    "docs/compaction.md",
    "docs/format-by-example.md",
    "README.md",
    "ARCHITECTURE.md",
    "CONTRIBUTING.md",
    "docs/composition-laws.md",
    "docs/deletes.md",
    "docs/migrating.md",
    "docs/recipes.md",
    "docs/performance.md",
    "docs/tuning.md",
    "sstable/FORMAT.md",
    "wal/FORMAT.md",
    "docs/durability.md",
    "docs/dump-format.md",
];
/// Where a path may start.
const STARTS: [&str; 5] = ["", "sstable/src", "wal/src", "compaction/src", "engine/src"];
/// Endings that make a word in back quotes a path of this repository.
const ENDINGS: [&str; 11] = [
    ".rs", ".h", ".c", ".md", ".toml", ".tsv", ".sh", ".jsonl", "/", ".svg", ".png",
];

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// The words of a document that look like paths: in back quotes, or the target of a link.
fn named_paths(text: &str) -> Vec<String> {
    let prose: String = text.split("```").step_by(2).collect();
    let quoted = prose.split('`').skip(1).step_by(2);
    let linked = prose
        .split("](")
        .skip(1)
        .filter_map(|rest| rest.split(')').next());
    quoted
        .chain(linked)
        .filter(|word| !word.contains([' ', ':', '*', '<', '$', '\n']) && !word.starts_with('#'))
        .map(|word| word.split('#').next().unwrap().to_owned())
        .filter(|word| ENDINGS.iter().any(|ending| word.ends_with(ending)))
        .collect()
}

/// Those of the named paths that are nowhere, seen from the folder of the document and from each start.
fn missing(folder: &Path, text: &str) -> Vec<String> {
    let starts = STARTS.map(|start| root().join(start));
    named_paths(text)
        .into_iter()
        .filter(|path| !starts.iter().any(|start| start.join(path).exists()) && !folder.join(path).exists())
        .collect()
}

#[test]
fn every_path_in_the_documents_exists() {
    for document in DOCUMENTS {
        let path = root().join(document);
        let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{document}: {error}"));
        let missing = missing(path.parent().unwrap(), &text);
        assert!(
            missing.is_empty(),
            "{document} names what is not there: {missing:?}"
        );
    }
}

#[test]
fn a_planted_path_is_seen() {
    let text = "See `engine/src/gone.rs`, `data/`, [here](lost.md#part) and ```not `code.rs` in it```.";
    assert_eq!(missing(&root(), text), ["engine/src/gone.rs", "lost.md"]);
}
