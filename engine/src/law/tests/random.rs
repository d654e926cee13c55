//! Random histories against a fold of the log from the left.

use std::collections::BTreeMap;

use super::{contents, get};
use crate::tests::{Rng, TestDb, manual};
use crate::{
    AddU64, AppendBytes, Background, Compose, Composed, Durability, Keyspace, KeyspaceOptions, LawFailure,
    Options,
};

/// Affine maps x -> a x + b over wrapping numbers, first the older, then the newer: associative, not commutative.
fn affine(older: &[u8], newer: &[u8]) -> Result<Composed, LawFailure> {
    let map = |bytes: &[u8]| -> Result<(u64, u64), LawFailure> {
        let number = |at: usize| {
            bytes
                .get(at..at + 8)
                .and_then(|part| part.try_into().ok())
                .map(u64::from_le_bytes)
        };
        number(0)
            .zip(number(8))
            .ok_or_else(|| LawFailure::new("not a map"))
    };
    let ((a, b), (c, d)) = (map(older)?, map(newer)?);
    let composed = [a.wrapping_mul(c), b.wrapping_mul(c).wrapping_add(d)];
    Ok(Composed::Owned(
        composed.iter().flat_map(|n| n.to_le_bytes()).collect(),
    ))
}

type Law = fn(&[u8], &[u8]) -> Result<Composed, LawFailure>;

fn append(older: &[u8], newer: &[u8]) -> Result<Composed, LawFailure> {
    AppendBytes.compose(older, newer)
}

fn add(older: &[u8], newer: &[u8]) -> Result<Composed, LawFailure> {
    AddU64.compose(older, newer)
}

/// Name, law, width of values.
const LAWS: [(&str, Law, Option<usize>); 3] = [
    ("append", append, None),
    ("affine", affine, Some(16)),
    ("add", add, Some(8)),
];

fn fold(law: Law, older: Option<&Vec<u8>>, newer: Vec<u8>) -> Vec<u8> {
    let Some(older) = older else { return newer };
    match law(older, &newer).expect("composes") {
        Composed::Older => older.clone(),
        Composed::Newer => newer,
        Composed::Owned(value) => value,
    }
}

struct History {
    db: TestDb,
    keyspaces: Vec<Keyspace>,
    models: Vec<BTreeMap<Vec<u8>, Vec<u8>>>,
}

impl History {
    fn open(options: Options) -> History {
        let options = LAWS
            .iter()
            .fold(options, |options, &(name, law, _)| options.law(name, law));
        let mut history = History {
            db: TestDb::open(options),
            keyspaces: Vec::new(),
            models: vec![BTreeMap::new(); LAWS.len()],
        };
        history.open_keyspaces();
        history
    }

    fn open_keyspaces(&mut self) {
        let open = |&(name, law, width): &(&str, Law, Option<usize>)| {
            let mut options = KeyspaceOptions::default()
                .compose(name, law)
                .target_table_bytes(2_000);
            if let Some(width) = width {
                options = options.value_width_bytes(width);
            }
            self.db.keyspace(name, options).expect("opens")
        };
        self.keyspaces = LAWS.iter().map(open).collect();
    }

    fn value(rng: &mut Rng, which: usize) -> Vec<u8> {
        let len = LAWS[which].2.unwrap_or_else(|| match rng.below(30) {
            0 => 3_000,
            1..4 => 0,
            _ => rng.below(12),
        });
        (0..len)
            .map(|_| u8::try_from(rng.below(256)).expect("a byte"))
            .collect()
    }

    fn write(&mut self, rng: &mut Rng, key_count: usize) {
        let mut batch = self.db.batch();
        for _ in 0..if rng.below(4) == 0 { 1 + rng.below(100) } else { 1 } {
            let which = rng.below(LAWS.len());
            let key = format!("key {}", rng.below(key_count)).into_bytes();
            let value = History::value(rng, which);
            let (keyspace, model) = (&self.keyspaces[which], &mut self.models[which]);
            match rng.below(21) {
                20 => {
                    let from = key;
                    let to = format!("key {}", rng.below(key_count)).into_bytes();
                    batch.delete_range(keyspace, from.clone()..to.clone());
                    model.retain(|key, _| *key < from || *key >= to);
                }
                0..3 => {
                    batch.put(keyspace, &key, &value);
                    model.insert(key, value);
                }
                3..6 => {
                    batch.delete(keyspace, &key);
                    model.remove(&key);
                }
                _ => {
                    batch.merge(keyspace, &key, &value);
                    let folded = fold(LAWS[which].1, model.get(&key), value);
                    model.insert(key, folded);
                }
            }
        }
        batch.commit(Durability::Process).expect("commits");
    }

    fn check(&self, seed: u64) {
        for (keyspace, model) in self.keyspaces.iter().zip(&self.models) {
            let expected: Vec<_> = model.iter().map(|(k, v)| (k.clone(), v.clone())).collect();
            assert!(
                contents(keyspace) == expected,
                "seed {seed}, keyspace {}",
                keyspace.name()
            );
        }
        self.db.assert_sound();
    }
}

#[test]
fn random_histories_are_folds_of_their_log() {
    for seed in 1..=14 {
        let mut rng = Rng::new(seed);
        let background = if seed % 3 == 0 {
            Background::Threads
        } else {
            Background::Manual
        };
        let options = manual()
            .background(background)
            .memtable_bytes([500, 4_000, 64 << 10][rng.below(3)])
            .l0_compaction_trigger(1 + rng.below(4))
            .frozen_memtables_max(1 + rng.below(3));
        let mut history = History::open(options);
        let key_count = [3, 40][rng.below(2)];
        let mut snapshots = Vec::new();
        for step in 0..400 {
            match rng.below(100) {
                0..70 => history.write(&mut rng, key_count),
                70..85 => {
                    let which = rng.below(LAWS.len());
                    let key = format!("key {}", rng.below(key_count)).into_bytes();
                    let found = get(&history.keyspaces[which], &key);
                    assert!(
                        found.as_ref() == history.models[which].get(&key),
                        "seed {seed}, step {step}"
                    );
                }
                85..90 => drop(history.db.run_background_step().expect("step")),
                90..93 => history.db.flush().expect("flush"),
                93..94 => history.db.compact().expect("compact"),
                94..96 => snapshots.push((history.db.snapshot(), history.models.clone())),
                96..98 => history.check(seed),
                _ => {
                    snapshots.clear();
                    history.keyspaces.clear();
                    history.db.reopen();
                    history.open_keyspaces();
                    history.check(seed);
                }
            }
        }
        for (snapshot, models) in &snapshots {
            for (keyspace, model) in history.keyspaces.iter().zip(models) {
                let seen = snapshot.iter(keyspace).map(|item| item.expect("an entry"));
                let seen: Vec<_> = seen.map(|(key, value)| (key.to_vec(), value.to_vec())).collect();
                assert!(seen.into_iter().eq(model.clone()), "seed {seed}");
            }
        }
        drop(snapshots);
        history.check(seed);
        history.db.compact().expect("compact");
        history.check(seed);
    }
}
