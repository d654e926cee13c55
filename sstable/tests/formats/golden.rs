//! The golden encodings of `tests/data`, in both directions.

use crate::vectors;

fn check_all(lines: &str, cases: usize) {
    let mut failed = Vec::new();
    for line in lines.lines() {
        if let Err(difference) = vectors::check_line(line) {
            let difference: String = difference.chars().take(1000).collect();
            failed.push(format!("{}: {difference}", vectors::name(line)));
        }
    }
    assert!(
        failed.is_empty(),
        "{} of {cases} cases differ:\n{}",
        failed.len(),
        failed.join("\n")
    );
    assert_eq!(lines.lines().count(), cases, "cases in the file");
}

#[test]
fn byte_streams() {
    check_all(include_str!("../../../tests/data/byte.jsonl"), 44);
}

#[test]
fn bit_streams() {
    check_all(include_str!("../../../tests/data/bit.jsonl"), 77);
}

#[test]
fn redundant_streams_are_read_and_become_ordinary() {
    check_all(include_str!("../../../tests/data/redundant.jsonl"), 37);
}

#[test]
fn streamed_without_a_declared_width() {
    check_all(include_str!("../../../tests/data/writer.jsonl"), 10);
}

#[test]
fn sparse_directories() {
    check_all(include_str!("../../../tests/data/big.jsonl"), 2);
}

#[test]
fn a_changed_case_is_noticed() {
    let line = include_str!("../../../tests/data/byte.jsonl")
        .lines()
        .find(|line| !line.contains("\"records\":[]"));
    let line = line.expect("most cases have records");
    for (field, change) in [
        ("\"extent\":", "1"),
        ("\"payload_hex\":\"", "00"),
        ("\"universe\":", "7"),
    ] {
        let changed = line.replacen(field, &format!("{field}{change}"), 1);
        assert!(vectors::check_line(&changed).is_err(), "{field} changed");
    }
}
