//! Strings of units as text.

use tephradb::tables::{Unit, UnitKind};

use crate::escape::escape;

/// The units of a string, one a place: bytes, or zeros and ones.
pub(super) fn units<U: Unit>(string: U::Str<'_>) -> Vec<u8> {
    (0..U::len(string))
        .filter_map(|at| U::get(string, at).and_then(|unit| u8::try_from(unit).ok()))
        .collect()
}

/// Units as people read them: bytes escaped, bits as zeros and ones.
pub(super) fn text_of<U: Unit>(units: &[u8]) -> String {
    match U::KIND {
        UnitKind::Byte => escape(units),
        UnitKind::Bit => units
            .iter()
            .map(|bit| if *bit == 0 { '0' } else { '1' })
            .collect(),
    }
}

/// The same in quotes, cut to so many characters.
pub(super) fn quoted<U: Unit>(units: &[u8], len_chars_max: usize) -> String {
    // No unit takes fewer characters than one.
    let cut = &units[..units.len().min(len_chars_max + 1)];
    let text = text_of::<U>(cut);
    if text.chars().count() <= len_chars_max && cut.len() == units.len() {
        return format!("\"{text}\"");
    }
    let kept: String = text.chars().take(len_chars_max.saturating_sub(1)).collect();
    format!("\"{kept}\u{2026}\"")
}

/// The word for one or several units.
pub(super) fn unit_word<U: Unit>(count: u64) -> &'static str {
    match (U::KIND, count) {
        (UnitKind::Byte, 1) => "byte",
        (UnitKind::Byte, _) => "bytes",
        (UnitKind::Bit, 1) => "bit",
        (UnitKind::Bit, _) => "bits",
    }
}
