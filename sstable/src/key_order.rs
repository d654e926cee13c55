//! The order of keys that do not live equally long.

use std::cmp::Ordering;

use crate::unit::Unit;

/// Compares two keys as unsigned unit strings, a proper prefix first.
#[inline]
pub(crate) fn compare<U: Unit>(a: U::Str<'_>, b: U::Str<'_>) -> Ordering {
    let same = U::lcp(a, b);
    U::get(a, same).cmp(&U::get(b, same))
}
