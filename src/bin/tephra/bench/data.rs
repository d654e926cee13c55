//! Keys and values made of an index: whoever knows index and version knows what must be there.
//!
//! ```text
//! key      0000000000000042          the index in decimal, as long as asked for: key order is index order
//! value    version (1)  noise of index and version
//! ```

/// Lengths of keys and values.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape {
    pub(super) key_len_bytes: usize,
    pub(super) value_len_bytes: usize,
}

impl Shape {
    /// The key of an index.
    pub(super) fn key(&self, index: u64) -> Vec<u8> {
        let width = self.key_len_bytes;
        format!("{index:0width$}").into_bytes()
    }

    /// A key right behind that of an index, which no record has.
    pub(super) fn missing_key(&self, index: u64) -> Vec<u8> {
        let mut key = self.key(index);
        key.push(b'x');
        key
    }

    /// The value that a version of an index has.
    pub(super) fn value(&self, index: u64, version: u8) -> Vec<u8> {
        let mut value = Vec::with_capacity(self.value_len_bytes + 8);
        value.push(version);
        let mut state = index.wrapping_mul(2).wrapping_add(u64::from(version));
        while value.len() < self.value_len_bytes {
            state = mixed(state.wrapping_add(0x9e37_79b9_7f4a_7c15));
            value.extend_from_slice(&state.to_le_bytes());
        }
        value.truncate(self.value_len_bytes);
        value
    }

    /// Whether a value is one that some version up to `last_version` of an index has.
    pub(super) fn is_value(&self, index: u64, last_version: u8, value: &[u8]) -> bool {
        let version = value.first().copied().unwrap_or(u8::MAX);
        version <= last_version && value == self.value(index, version)
    }
}

/// Spreads the bits of a number over all of it (the finaliser of splitmix64).
fn mixed(mut bits: u64) -> u64 {
    bits = (bits ^ bits >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ bits >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ bits >> 31
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_rise_with_their_index_and_values_know_theirs() {
        let shape = Shape {
            key_len_bytes: 16,
            value_len_bytes: 20,
        };
        assert_eq!(shape.key(42), b"0000000000000042");
        assert!(shape.key(9) < shape.missing_key(9) && shape.missing_key(9) < shape.key(10));
        assert_eq!(shape.value(7, 1).len(), 20);
        assert!(shape.is_value(7, 1, &shape.value(7, 0)) && shape.is_value(7, 1, &shape.value(7, 1)));
        assert!(
            !shape.is_value(7, 0, &shape.value(7, 1)),
            "a version that was not written"
        );
        assert!(!shape.is_value(7, 1, &shape.value(8, 0)), "another key's");
        assert!(!shape.is_value(7, 1, b""));
    }
}
