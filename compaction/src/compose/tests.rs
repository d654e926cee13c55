//! Laws as a merger takes them.

use std::sync::Arc;

use tephra_sstable::Byte;

use super::*;

struct Append;

impl ComposeValues<Byte> for Append {
    fn name(&self) -> &str {
        "append"
    }

    fn compose(&self, older: &[u8], newer: &[u8]) -> Result<Composed<Vec<u8>>, LawFailure> {
        Ok(Composed::Owned([older, newer].concat()))
    }
}

struct KeyFirst;

impl ComposeWithKey<Byte> for KeyFirst {
    fn name(&self) -> &str {
        "key-first"
    }

    fn compose(&self, key: &[u8], older: &[u8], _newer: &[u8]) -> Result<Composed<Vec<u8>>, LawFailure> {
        if key.is_empty() {
            return Err(LawFailure::new("an empty key"));
        }
        if older == b"panic" {
            std::panic::panic_any(17_u32);
        }
        Ok(Composed::Older)
    }
}

#[test]
fn a_law_behind_a_pointer_is_a_law() {
    let law: Arc<dyn ComposeValues<Byte>> = Arc::new(Append);
    let law = Values(law);
    assert_eq!(Law::<Byte>::name(&law), "append");
    let composed = call_law::<Byte, _>(&law, None, b"a", b"bc").unwrap();
    assert_eq!(composed, Composed::Owned(b"abc".to_vec()));
}

#[test]
fn failures_and_panics_are_told_apart() {
    let law = WithKey(Arc::new(KeyFirst));
    assert_eq!(
        call_law::<Byte, _>(&law, Some(b"k"), b"a", b"b").unwrap(),
        Composed::Older
    );
    let failed = call_law::<Byte, _>(&law, Some(b""), b"a", b"b").unwrap_err();
    assert_eq!(failed.to_string(), "it failed: an empty key");
    let panicked = call_law::<Byte, _>(&law, Some(b"k"), b"panic", b"b").unwrap_err();
    assert_eq!(panicked.to_string(), "it panicked: (no message)");
}

#[test]
fn replacing_needs_no_call() {
    const { assert!(<Replace as Law<Byte>>::REPLACES) };
    assert_eq!(size_of::<Replace>(), 0);
    assert_eq!(
        call_law::<Byte, _>(&Replace, None, b"a", b"b").unwrap(),
        Composed::Newer
    );
}
