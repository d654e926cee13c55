//! A map as a sorted vector: for few entries, and for keys that come in their order, as numbers of files do.
//!
//! ```text
//! [(3, a) (5, b) (9, c)]      get 5: binary search      insert 12: at the end      insert 4: moves what is behind it
//! ```
//!
//! A search takes log n comparisons. Inserting or removing moves the entries behind: nothing at the end, and less than a
//! B-tree's nodes cost while the entries fit a few cache lines. Maps that grow with the database and change in the middle,
//! such as the state of the manifest, are B-trees. Iteration is in the order of keys.
//!
//! It is here for what it does not have: each pair of types that a B-tree is made of adds some ten kilobytes to a program
//! and a tenth of a second to its build, mostly for splitting and joining nodes that these maps never have.

use std::borrow::Borrow;

/// The entries in the order of keys.
type Iter<'a, K, V> = std::iter::Map<std::slice::Iter<'a, (K, V)>, fn(&'a (K, V)) -> (&'a K, &'a V)>;

/// A map as a sorted vector.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SortedMap<K, V> {
    /// Keys rise strictly.
    entries: Vec<(K, V)>,
}

impl<K: Ord, V> SortedMap<K, V> {
    /// An empty map; allocates nothing.
    pub(crate) const fn new() -> Self {
        Self { entries: Vec::new() }
    }

    /// Where a key is, or else where it would go.
    fn place<Q: Ord + ?Sized>(&self, key: &Q) -> Result<usize, usize>
    where
        K: Borrow<Q>,
    {
        match self.entries.last() {
            Some((last, _)) if last.borrow() >= key => self
                .entries
                .binary_search_by(|(found, _)| found.borrow().cmp(key)),
            _ => Err(self.entries.len()),
        }
    }

    pub(crate) fn get<Q: Ord + ?Sized>(&self, key: &Q) -> Option<&V>
    where
        K: Borrow<Q>,
    {
        let place = self.place(key).ok()?;
        Some(&self.entries[place].1)
    }

    pub(crate) fn get_mut<Q: Ord + ?Sized>(&mut self, key: &Q) -> Option<&mut V>
    where
        K: Borrow<Q>,
    {
        let place = self.place(key).ok()?;
        Some(&mut self.entries[place].1)
    }

    pub(crate) fn contains_key<Q: Ord + ?Sized>(&self, key: &Q) -> bool
    where
        K: Borrow<Q>,
    {
        self.place(key).is_ok()
    }

    /// Sets the value of a key; gives the one it had.
    pub(crate) fn insert(&mut self, key: K, value: V) -> Option<V> {
        match self.place(&key) {
            Ok(place) => Some(std::mem::replace(&mut self.entries[place].1, value)),
            Err(place) => {
                self.entries.insert(place, (key, value));
                None
            }
        }
    }

    /// The value of a key, made now if there was none.
    pub(crate) fn get_or_insert_with(&mut self, key: K, make: impl FnOnce() -> V) -> &mut V {
        let place = self.place(&key).unwrap_or_else(|place| {
            self.entries.insert(place, (key, make()));
            place
        });
        &mut self.entries[place].1
    }

    pub(crate) fn remove<Q: Ord + ?Sized>(&mut self, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
    {
        let place = self.place(key).ok()?;
        Some(self.entries.remove(place).1)
    }

    /// Keeps the entries that `keep` says yes to.
    pub(crate) fn retain(&mut self, mut keep: impl FnMut(&K, &V) -> bool) {
        self.entries.retain(|(key, value)| keep(key, value));
    }
}

impl<K, V> SortedMap<K, V> {
    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    pub(crate) fn iter(&self) -> Iter<'_, K, V> {
        self.entries.iter().map(|(key, value)| (key, value))
    }

    pub(crate) fn keys(&self) -> impl DoubleEndedIterator<Item = &K> + Clone {
        self.entries.iter().map(|(key, _)| key)
    }

    pub(crate) fn values(&self) -> impl DoubleEndedIterator<Item = &V> + Clone {
        self.entries.iter().map(|(_, value)| value)
    }

    pub(crate) fn values_mut(&mut self) -> impl Iterator<Item = &mut V> {
        self.entries.iter_mut().map(|(_, value)| value)
    }

    pub(crate) fn into_values(self) -> impl Iterator<Item = V> {
        self.entries.into_iter().map(|(_, value)| value)
    }
}

impl<K, V> Default for SortedMap<K, V> {
    fn default() -> Self {
        Self { entries: Vec::new() }
    }
}

impl<K: Ord, V> Extend<(K, V)> for SortedMap<K, V> {
    fn extend<I: IntoIterator<Item = (K, V)>>(&mut self, entries: I) {
        for (key, value) in entries {
            self.insert(key, value);
        }
    }
}

impl<K: Ord, V> FromIterator<(K, V)> for SortedMap<K, V> {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(entries: I) -> Self {
        let mut map = Self::new();
        map.extend(entries);
        map
    }
}

impl<'a, K, V> IntoIterator for &'a SortedMap<K, V> {
    type Item = (&'a K, &'a V);
    type IntoIter = Iter<'a, K, V>;

    fn into_iter(self) -> Iter<'a, K, V> {
        self.iter()
    }
}

impl<K, V> IntoIterator for SortedMap<K, V> {
    type Item = (K, V);
    type IntoIter = std::vec::IntoIter<(K, V)>;

    fn into_iter(self) -> Self::IntoIter {
        self.entries.into_iter()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use rand::{RngExt, SeedableRng};
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::SortedMap;

    #[test]
    fn it_does_what_a_b_tree_does() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(31);
        let (mut map, mut model) = (SortedMap::new(), BTreeMap::new());
        for step in 0..5000_u32 {
            let key = random.random_range(0..40_u32);
            match random.random_range(0..6) {
                0 | 1 => assert_eq!(map.insert(key, step), model.insert(key, step)),
                2 => assert_eq!(map.remove(&key), model.remove(&key)),
                3 => {
                    *map.get_or_insert_with(key, || 0) += 1;
                    *model.entry(key).or_default() += 1;
                }
                4 => {
                    assert_eq!(map.get(&key), model.get(&key));
                    assert_eq!(map.contains_key(&key), model.contains_key(&key));
                    assert_eq!(map.get_mut(&key), model.get_mut(&key));
                }
                _ if step % 50 == 0 => {
                    map.retain(|key, _| key % 3 != 0);
                    model.retain(|key, _| key % 3 != 0);
                }
                _ => {}
            }
            assert_eq!((map.len(), map.is_empty()), (model.len(), model.is_empty()));
            assert!(map.iter().eq(&model), "step {step}");
            assert!(map.keys().eq(model.keys()) && map.values().rev().eq(model.values().rev()));
        }
        let collected: SortedMap<_, _> = map.iter().rev().map(|(&key, &value)| (key, value)).collect();
        assert!(collected.into_iter().eq(model));
    }
}
