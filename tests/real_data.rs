//! Holds `data/unicode-names.tsv` to what `data/README.md` says of it: the demo, tests and benches rely on it.

use std::collections::HashSet;

const NAMES: &str = include_str!("../data/unicode-names.tsv");

/// What `data/README.md` states.
const LINE_COUNT: usize = 34_823;
const NAME_BYTES_TOTAL: usize = 900_300;
const CODE_BYTES_TOTAL: usize = 226_948;
const NAME_LEN_BYTES_MAX: usize = 88;

#[test]
fn every_line_is_a_unique_name_and_an_ascending_code_point() {
    let mut names = HashSet::new();
    let mut previous_code: Option<u32> = None;
    let (mut name_bytes, mut code_bytes, mut name_len_max) = (0, 0, 0);
    for (index, line) in NAMES.lines().enumerate() {
        let number = index + 1;
        let (name, code) = line
            .split_once('\t')
            .unwrap_or_else(|| panic!("line {number}: no TAB"));
        assert!(
            name.bytes()
                .all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b' ' || b == b'-'),
            "line {number}: {name:?} has a byte no Unicode name has"
        );
        assert!(names.insert(name), "line {number}: {name:?} comes twice");
        let digits = code
            .strip_prefix("U+")
            .unwrap_or_else(|| panic!("line {number}: {code:?} lacks U+"));
        assert!((4..=6).contains(&digits.len()), "line {number}: {code:?}");
        let value =
            u32::from_str_radix(digits, 16).unwrap_or_else(|e| panic!("line {number}: {code:?}: {e}"));
        assert!(
            previous_code.is_none_or(|p| p < value),
            "line {number}: {code} is not above its predecessor"
        );
        assert_eq!(
            code,
            format!("U+{value:04X}"),
            "line {number}: not the canonical form"
        );
        previous_code = Some(value);
        name_bytes += name.len();
        code_bytes += code.len();
        name_len_max = name_len_max.max(name.len());
    }
    assert_eq!(names.len(), LINE_COUNT);
    assert_eq!(name_bytes, NAME_BYTES_TOTAL);
    assert_eq!(code_bytes, CODE_BYTES_TOTAL);
    assert_eq!(name_len_max, NAME_LEN_BYTES_MAX);
    assert!(NAMES.ends_with('\n'), "the last line ends like every other");
}

#[test]
fn names_are_not_sorted_on_input() {
    assert!(
        !NAMES.lines().is_sorted(),
        "the file is input for sorting, in code point order"
    );
}

#[test]
fn the_readme_states_the_same_figures() {
    let readme = include_str!("../data/README.md");
    for figure in [
        "34,823 lines",
        "900,300 bytes",
        "226,948 bytes",
        "2 to 88 bytes",
        "25.9 on average",
    ] {
        assert!(
            readme.contains(figure),
            "data/README.md no longer says {figure:?}"
        );
    }
}
