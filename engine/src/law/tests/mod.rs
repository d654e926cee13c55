//! Composing keyspaces, from a user's side.

mod concurrent;
mod crash;
mod failing;
mod random;
mod semantics;
mod unknown;
mod width;

use crate::tests::TestDb;
use crate::{AppendBytes, Composed, Keyspace, KeyspaceOptions, LawFailure};

/// A keyspace that appends.
fn appending(db: &TestDb) -> Keyspace {
    let options = KeyspaceOptions::default().compose(AppendBytes::NAME, AppendBytes);
    db.keyspace("logs", options).expect("opens")
}

fn get(keyspace: &Keyspace, key: impl AsRef<[u8]>) -> Option<Vec<u8>> {
    keyspace.get(key).expect("get").map(|value| value.to_vec())
}

/// Everything, from both ends, and by look-ups: all three must agree.
fn contents(keyspace: &Keyspace) -> Vec<(Vec<u8>, Vec<u8>)> {
    let owned = |item: crate::Result<(crate::Key, crate::Value)>| {
        let (key, value) = item.expect("an entry");
        (key.to_vec(), value.to_vec())
    };
    let forward: Vec<_> = keyspace.iter().map(owned).collect();
    let mut backward: Vec<_> = keyspace.iter().rev().map(owned).collect();
    backward.reverse();
    assert_eq!(forward, backward, "both directions give the same");
    let (mut range, mut lent) = (keyspace.iter(), Vec::new());
    while let Some((key, value)) = range.lend_next().expect("an entry") {
        lent.push((key.to_vec(), value.to_vec()));
    }
    assert_eq!(forward, lent, "what is lent is what is handed out");
    for (key, value) in &forward {
        assert_eq!(
            get(keyspace, key).as_ref(),
            Some(value),
            "key {}",
            key.escape_ascii()
        );
    }
    forward
}

/// Appends, but fails where either side contains "fail" and panics where either contains "panic".
fn touchy(older: &[u8], newer: &[u8]) -> Result<Composed, LawFailure> {
    let holds = |word: &[u8]| {
        [older, newer]
            .iter()
            .any(|side| side.windows(word.len()).any(|at| at == word))
    };
    if holds(b"fail") {
        return Err(LawFailure::new("not to my taste"));
    }
    if holds(b"panic") {
        std::panic::panic_any("out of my depth");
    }
    Ok(Composed::Owned([older, newer].concat()))
}
