//! Keys handed out by iterators, and ranges of keys handed in.

use std::ops::{Bound, Deref};

use smallvec::SmallVec;

/// Keys up to this length, in bytes, are handed out without an allocation.
const INLINE_LEN_BYTES: usize = 24;

/// A key found by an iterator. Owns its bytes: keys in tables are front-coded and exist nowhere in one piece. Short ones, of up to 24
/// bytes, lie in the handle itself.
///
/// ```
/// # fn main() -> Result<(), tephra_engine::Error> {
/// # let folder = tempfile::tempdir().expect("a temporary directory");
/// # let path = folder.path();
/// use tephra_engine::{Db, Options};
///
/// let db = Db::open(path, Options::default())?;
/// db.put("obsidian", "glass")?;
/// let (key, _) = db.iter().next().transpose()?.expect("put above");
/// assert!(key.starts_with(b"obs")); // it derefs to bytes
/// assert_eq!(key, "obsidian");
/// let bytes: Vec<u8> = key.into_vec();
/// # Ok(()) }
/// ```
#[derive(Clone, Eq, PartialOrd, Ord)]
pub struct Key(SmallVec<[u8; INLINE_LEN_BYTES]>);

impl Key {
    /// The bytes; those of a long key without a copy.
    #[must_use]
    pub fn into_vec(self) -> Vec<u8> {
        self.0.into_vec()
    }
}

impl Deref for Key {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.0
    }
}

impl AsRef<[u8]> for Key {
    fn as_ref(&self) -> &[u8] {
        self
    }
}

impl From<&[u8]> for Key {
    fn from(bytes: &[u8]) -> Key {
        Key(SmallVec::from_slice(bytes))
    }
}

impl std::fmt::Debug for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "b\"{}\"", self.0.as_slice().escape_ascii())
    }
}

impl<T: AsRef<[u8]> + ?Sized> PartialEq<T> for Key {
    fn eq(&self, other: &T) -> bool {
        **self == *other.as_ref()
    }
}

impl std::hash::Hash for Key {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.0.hash(state);
    }
}

/// A range of keys: everything `std` has a range syntax for, over anything that is bytes.
///
/// A range whose start lies behind its end is empty.
///
/// ```
/// # fn main() -> Result<(), tephra_engine::Error> {
/// # let folder = tempfile::tempdir().expect("a temporary directory");
/// # let path = folder.path();
/// use std::ops::Bound;
/// use tephra_engine::{Db, Options};
///
/// let db = Db::open(path, Options::default())?;
/// for key in ["a", "b", "c"] {
///     db.put(key, "")?;
/// }
/// assert_eq!(db.range("a".."c").count(), 2);
/// assert_eq!(db.range("b"..).count(), 2);
/// assert_eq!(db.range(..="b").count(), 2);
/// assert_eq!(db.range((Bound::Excluded("a"), Bound::Unbounded)).count(), 2);
/// # Ok(()) }
/// ```
pub trait KeyRange {
    /// The bounds, as owned keys.
    fn into_bounds(self) -> (Bound<Key>, Bound<Key>);
}

fn owned<K: AsRef<[u8]>>(key: K) -> Key {
    Key::from(key.as_ref())
}

impl KeyRange for std::ops::RangeFull {
    fn into_bounds(self) -> (Bound<Key>, Bound<Key>) {
        (Bound::Unbounded, Bound::Unbounded)
    }
}

impl<K: AsRef<[u8]>> KeyRange for std::ops::Range<K> {
    fn into_bounds(self) -> (Bound<Key>, Bound<Key>) {
        (
            Bound::Included(owned(self.start)),
            Bound::Excluded(owned(self.end)),
        )
    }
}

impl<K: AsRef<[u8]>> KeyRange for std::ops::RangeInclusive<K> {
    fn into_bounds(self) -> (Bound<Key>, Bound<Key>) {
        let (start, end) = self.into_inner();
        (Bound::Included(owned(start)), Bound::Included(owned(end)))
    }
}

impl<K: AsRef<[u8]>> KeyRange for std::ops::RangeFrom<K> {
    fn into_bounds(self) -> (Bound<Key>, Bound<Key>) {
        (Bound::Included(owned(self.start)), Bound::Unbounded)
    }
}

impl<K: AsRef<[u8]>> KeyRange for std::ops::RangeTo<K> {
    fn into_bounds(self) -> (Bound<Key>, Bound<Key>) {
        (Bound::Unbounded, Bound::Excluded(owned(self.end)))
    }
}

impl<K: AsRef<[u8]>> KeyRange for std::ops::RangeToInclusive<K> {
    fn into_bounds(self) -> (Bound<Key>, Bound<Key>) {
        (Bound::Unbounded, Bound::Included(owned(self.end)))
    }
}

impl<K: AsRef<[u8]>> KeyRange for (Bound<K>, Bound<K>) {
    fn into_bounds(self) -> (Bound<Key>, Bound<Key>) {
        (self.0.map(owned), self.1.map(owned))
    }
}

/// The bounds of all keys that start with `prefix`: up to the prefix with its last byte below 0xFF counted up and
/// everything behind it cut off; a prefix of 0xFF bytes alone has no upper bound.
pub(crate) fn prefix_bounds(prefix: &[u8]) -> (Bound<Key>, Bound<Key>) {
    let upper = match prefix.iter().rposition(|&byte| byte != 0xFF) {
        None => Bound::Unbounded,
        Some(last) => {
            let mut successor = prefix[..=last].to_vec();
            successor[last] += 1;
            Bound::Excluded(Key::from(&successor[..]))
        }
    };
    (Bound::Included(Key::from(prefix)), upper)
}

/// Whether no key can lie between the bounds.
pub(crate) fn bounds_are_empty(lower: &Bound<Key>, upper: &Bound<Key>) -> bool {
    slices_are_empty(bound_as_slice(lower), bound_as_slice(upper))
}

/// As [`bounds_are_empty`], of borrowed keys.
pub(crate) fn slices_are_empty(lower: Bound<&[u8]>, upper: Bound<&[u8]>) -> bool {
    match (lower, upper) {
        (Bound::Included(a), Bound::Included(b)) => a > b,
        (Bound::Included(a) | Bound::Excluded(a), Bound::Included(b) | Bound::Excluded(b)) => a >= b,
        (Bound::Unbounded, Bound::Excluded(b)) => b.is_empty(),
        (_, Bound::Unbounded) | (Bound::Unbounded, _) => false,
    }
}

/// Borrows the key of a bound.
pub(crate) fn bound_as_slice(bound: &Bound<Key>) -> Bound<&[u8]> {
    match bound {
        Bound::Unbounded => Bound::Unbounded,
        Bound::Included(key) => Bound::Included(key),
        Bound::Excluded(key) => Bound::Excluded(key),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ops::RangeBounds;

    #[test]
    fn prefix_bounds_hold_exactly_the_keys_with_the_prefix() {
        let alphabet = [0x00, 0x01, 0xAA, 0xFE, 0xFF];
        let mut keys: Vec<Vec<u8>> = vec![vec![]];
        for length in 1..4 {
            let shorter: Vec<_> = keys
                .iter()
                .filter(|key| key.len() == length - 1)
                .cloned()
                .collect();
            for key in shorter {
                keys.extend(alphabet.iter().map(|&byte| [&key[..], &[byte]].concat()));
            }
        }
        for prefix in keys.iter().filter(|key| key.len() < 3) {
            let (lower, upper) = prefix_bounds(prefix);
            let bounds = (bound_as_slice(&lower), bound_as_slice(&upper));
            for key in &keys {
                assert_eq!(
                    bounds.contains(&key[..]),
                    key.starts_with(prefix),
                    "{prefix:x?} {key:x?}"
                );
            }
        }
    }

    #[test]
    fn inverted_and_point_free_bounds_are_empty() {
        let (a, b) = (Key::from(&b"a"[..]), Key::from(&b"b"[..]));
        assert!(bounds_are_empty(
            &Bound::Included(b.clone()),
            &Bound::Included(a.clone())
        ));
        assert!(bounds_are_empty(
            &Bound::Included(a.clone()),
            &Bound::Excluded(a.clone())
        ));
        assert!(bounds_are_empty(
            &Bound::Excluded(a.clone()),
            &Bound::Excluded(a.clone())
        ));
        assert!(bounds_are_empty(
            &Bound::Excluded(a.clone()),
            &Bound::Included(a.clone())
        ));
        assert!(bounds_are_empty(
            &Bound::Unbounded,
            &Bound::Excluded(Key::from(&b""[..]))
        ));
        assert!(!bounds_are_empty(
            &Bound::Included(a.clone()),
            &Bound::Included(a.clone())
        ));
        assert!(!bounds_are_empty(&Bound::Excluded(a), &Bound::Excluded(b)));
        assert!(!bounds_are_empty(&Bound::Unbounded, &Bound::Unbounded));
    }
}
