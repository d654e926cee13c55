//! `include/tephra.h` and the library agree: the same functions, each with the same arguments; the same codes.
//!
//! Signatures are compared as text: that of the header without comments, that of the source with its types put into C.

#![expect(clippy::unwrap_used, reason = "a test: a surprise here is a failure")]

use std::collections::BTreeMap;
use std::path::Path;

const SOURCES: [&str; 8] = [
    include_str!("../src/batch.rs"),
    include_str!("../src/border.rs"),
    include_str!("../src/database.rs"),
    include_str!("../src/iterator.rs"),
    include_str!("../src/keyspace.rs"),
    include_str!("../src/options.rs"),
    include_str!("../src/snapshot.rs"),
    include_str!("../src/value.rs"),
];

fn header() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("include/tephra.h");
    std::fs::read_to_string(path).unwrap()
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The header without comments, and without lines of the preprocessor.
fn code_of(header: &str) -> String {
    let mut code = String::new();
    for (index, part) in header.split("/*").enumerate() {
        code.push_str(if index == 0 {
            part
        } else {
            part.split_once("*/").unwrap().1
        });
    }
    let lines = code.lines().filter(|line| !line.starts_with('#'));
    lines.collect::<Vec<_>>().join("\n")
}

/// Name and declaration of every function that the header declares and does not define.
fn declared(header: &str) -> BTreeMap<String, String> {
    code_of(header)
        .split([';', '}'])
        .map(one_line)
        .filter(|statement| statement.contains("tephra_") && statement.contains('('))
        .filter(|statement| !statement.contains(['{', '=']) && !statement.starts_with("return"))
        .map(|statement| (name_of(&statement), statement))
        .collect()
}

fn name_of(declaration: &str) -> String {
    let before = declaration.split('(').next().unwrap();
    let name = before.rsplit([' ', '*']).next().unwrap();
    name.to_owned()
}

/// `TephraKeyspaceOptions` as `tephra_keyspace_options`.
fn snake(name: &str) -> String {
    let mut snake = String::new();
    for letter in name.chars() {
        if letter.is_uppercase() && !snake.is_empty() {
            snake.push('_');
        }
        snake.extend(letter.to_lowercase());
    }
    snake
}

/// A type of Rust, put before a name, in C.
fn in_c(rust: &str, name: &str) -> String {
    let inside = |prefix: &str| rust.strip_prefix(prefix).and_then(|rest| rest.strip_suffix('>'));
    if let Some(inner) = inside("Out<") {
        return in_c(inner, &format!("*{name}"));
    }
    if let Some(inner) = inside("Option<Box<").and_then(|rest| rest.strip_suffix('>')) {
        return in_c(inner, &format!("*{name}"));
    }
    if let Some(inner) = inside("Option<&mut ") {
        return in_c(inner, &format!("*{name}"));
    }
    if let Some(inner) = inside("Option<&") {
        return format!("const {}", in_c(inner, &format!("*{name}")));
    }
    if let Some(inner) = rust.strip_prefix("*mut ") {
        return in_c(inner, &format!("*{name}"));
    }
    if let Some(inner) = rust.strip_prefix("*const ") {
        return format!("const {}", in_c(inner, &format!("*{name}")));
    }
    let plain = match rust {
        "c_int" => "int",
        "c_char" => "char",
        "u64" => "uint64_t",
        "usize" => "size_t",
        "bool" => "bool",
        "()" => "void",
        "TephraString" => return format!("const char *{name}"),
        ours if ours.starts_with("Tephra") => return format!("{} {name}", snake(ours)),
        other => panic!("no type of C is known for {other}"),
    };
    format!("{plain} {name}")
}

/// Name and declaration, in C, of every function that a source exports.
fn exported(source: &str) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    for part in source.split("#[unsafe(no_mangle)]\n").skip(1) {
        let signature = one_line(part.split_once('{').unwrap().0);
        let signature = signature.strip_prefix("pub(crate) extern \"C\" fn ").unwrap();
        let (name, rest) = signature.split_once('(').unwrap();
        let (arguments, result) = rest.rsplit_once(')').unwrap();
        let result = result.trim().strip_prefix("-> ").unwrap_or("()");
        let mut put = Vec::new();
        for argument in arguments
            .split(", ")
            .map(|a| a.trim_end_matches(','))
            .filter(|a| !a.trim().is_empty())
        {
            let (name, kind) = argument.split_once(": ").unwrap();
            put.push(in_c(kind.trim(), name.trim()));
        }
        let arguments = if put.is_empty() {
            "void".to_owned()
        } else {
            put.join(", ")
        };
        let declaration = in_c(result.trim(), &format!("{name}({arguments})"));
        found.insert(name.to_owned(), declaration);
    }
    found
}

#[test]
fn header_and_library_declare_the_same_functions() {
    let declared = declared(&header());
    let exported: BTreeMap<_, _> = SOURCES.iter().flat_map(|source| exported(source)).collect();
    assert!(exported.len() > 50, "only {} functions found", exported.len());
    for (name, declaration) in &exported {
        assert_eq!(
            declared.get(name),
            Some(declaration),
            "{name}: header (left) and library (right)"
        );
    }
    for name in declared.keys() {
        assert!(
            exported.contains_key(name),
            "{name} is in the header and not in the library"
        );
    }
}

#[test]
fn header_and_library_agree_on_codes() {
    let header = header();
    let border = SOURCES[1];
    let mut compared = 0;
    for line in border.lines().filter(|line| line.contains("const TEPHRA_")) {
        let (name, value) = line
            .strip_prefix("pub(crate) const ")
            .and_then(|rest| rest.strip_suffix(';'))
            .and_then(|rest| rest.split_once(": c_int = "))
            .unwrap();
        let defined = header.lines().find_map(|line| {
            let mut words = line.split_whitespace();
            (words.next() == Some("#define") && words.next() == Some(name)).then(|| words.next().unwrap())
        });
        assert_eq!(defined, Some(value), "{name}");
        compared += 1;
    }
    assert_eq!(compared, 7);
}

#[test]
fn addresses_are_read_in_one_file() {
    let is_unsafe = |source: &str| source.contains("unsafe {") || source.contains("unsafe fn");
    let border = SOURCES[1];
    assert!(is_unsafe(border));
    for source in SOURCES.iter().filter(|source| **source != border) {
        assert!(!is_unsafe(source), "unsafe code beside border.rs: {source}");
    }
}

#[test]
fn canary_differences_are_seen() {
    let source = "#[unsafe(no_mangle)]\npub(crate) extern \"C\" fn tephra_a(\n    x: Option<&TephraDb>,\n    \
                  key: TephraSlice,\n    out: Out<*mut TephraValue>,\n) -> c_int {\n}\n";
    let right = "int tephra_a(const tephra_db *x, tephra_slice key, tephra_value **out);";
    assert_eq!(exported(source), declared(right));
    for wrong in [
        "int tephra_a(tephra_db *x, tephra_slice key, tephra_value **out);",
        "int tephra_a(const tephra_db *x, tephra_slice key, tephra_value *out);",
        "void tephra_a(const tephra_db *x, tephra_slice key, tephra_value **out);",
        "int tephra_a(const tephra_db *x, tephra_slice key);",
        "int tephra_b(const tephra_db *x, tephra_slice key, tephra_value **out);",
        "/* int tephra_a(const tephra_db *x, tephra_slice key, tephra_value **out); */",
    ] {
        assert_ne!(exported(source), declared(wrong), "{wrong}");
    }
}
