//! Runs a plan on a database and on the model, and compares every answer.

use std::collections::{BTreeMap, VecDeque};
use std::ops::Bound;

use tephradb::{AppendBytes, Db, Durability, Keyspace, KeyspaceOptions, Range, Snapshot};

use crate::plan::{COMPOSING, KEYSPACES, Key, Op, Plan};

type Map = BTreeMap<Key, Vec<u8>>;
type Maps = [Map; KEYSPACES];
/// What a range must still give.
type Records = VecDeque<(Key, Vec<u8>)>;

/// A kind of wrong answer that the model gives, to see that the machine notices.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Fault {
    None,
    /// Deletes of present keys do nothing.
    DeleteForgotten,
    /// Range deletes do nothing.
    DeleteRangeForgotten,
    /// A merge replaces what was there.
    MergeForgetsOlder,
    /// Overwrites do nothing.
    OverwriteForgotten,
    /// An excluded end of a range is included.
    RangeEndIncluded,
    /// A prefix range ends before keys that go on with 0xFF.
    PrefixEndsAtFf,
    /// The last operation of a batch is lost.
    BatchTailLost,
    /// Snapshots see what is written after them.
    SnapshotMoves,
    /// The last record from the back is missing.
    BackwardsMissesFirst,
    /// The second keyspace is the first.
    KeyspacesMixed,
    /// Reopening loses the greatest key.
    ReopenLosesLast,
}

impl Fault {
    pub(crate) const PLANTED: [Fault; 11] = [
        Fault::DeleteForgotten,
        Fault::DeleteRangeForgotten,
        Fault::MergeForgetsOlder,
        Fault::OverwriteForgotten,
        Fault::RangeEndIncluded,
        Fault::PrefixEndsAtFf,
        Fault::BatchTailLost,
        Fault::SnapshotMoves,
        Fault::BackwardsMissesFirst,
        Fault::KeyspacesMixed,
        Fault::ReopenLosesLast,
    ];
}

/// What may be kept at most; the oldest goes first.
const KEPT_MAX: usize = 3;

struct Machine<'a> {
    plan: &'a Plan,
    fault: Fault,
    folder: tempfile::TempDir,
    db: Option<Db>,
    keyspaces: Vec<Keyspace>,
    maps: Maps,
    snapshots: VecDeque<(Snapshot, Maps)>,
    iterators: VecDeque<(Range, Records)>,
}

/// Runs all operations. `at` is always the number of the one that runs.
pub(crate) fn run(plan: &Plan, fault: Fault, at: &mut usize) -> Result<(), String> {
    let mut machine = Machine {
        plan,
        fault,
        folder: tempfile::tempdir().unwrap(),
        db: None,
        keyspaces: Vec::new(),
        maps: Maps::default(),
        snapshots: VecDeque::new(),
        iterators: VecDeque::new(),
    };
    machine.open()?;
    for (number, op) in plan.ops.iter().enumerate() {
        *at = number;
        machine.apply(op)?;
    }
    machine.check_everything()
}

fn told(error: tephradb::Error) -> String {
    format!("unexpected error: {error}")
}

impl Machine<'_> {
    fn open(&mut self) -> Result<(), String> {
        let db = Db::open(self.folder.path(), self.plan.options.build()).map_err(told)?;
        let second = db.keyspace("second", KeyspaceOptions::default()).map_err(told)?;
        let appending = KeyspaceOptions::default().compose(AppendBytes::NAME, AppendBytes);
        let third = db.keyspace("third", appending).map_err(told)?;
        self.keyspaces = vec![db.default_keyspace().clone(), second, third];
        self.db = Some(db);
        Ok(())
    }

    fn db(&self) -> &Db {
        self.db.as_ref().expect("open between operations")
    }

    fn map(&mut self, keyspace: usize) -> &mut Map {
        let mixed = self.fault == Fault::KeyspacesMixed;
        &mut self.maps[if mixed { 0 } else { keyspace }]
    }

    fn model_put(&mut self, keyspace: usize, key: &Key, value: &[u8]) {
        let keeps_old = self.fault == Fault::OverwriteForgotten && self.maps[keyspace].contains_key(key);
        if !keeps_old {
            self.map(keyspace).insert(key.clone(), value.to_vec());
        }
    }

    fn model_merge(&mut self, keyspace: usize, key: &Key, operand: &[u8]) {
        let forgets = self.fault == Fault::MergeForgetsOlder;
        let value = self.map(keyspace).entry(key.clone()).or_default();
        if forgets {
            value.clear();
        }
        value.extend_from_slice(operand);
    }

    fn model_delete(&mut self, keyspace: usize, key: &Key) {
        if self.fault != Fault::DeleteForgotten {
            self.map(keyspace).remove(key);
        }
    }

    fn apply(&mut self, op: &Op) -> Result<(), String> {
        match op {
            Op::Put { keyspace, key, value } => {
                self.keyspaces[*keyspace].put(key, value).map_err(told)?;
                self.model_put(*keyspace, key, value);
            }
            Op::Merge { key, operand } => {
                self.keyspaces[COMPOSING].merge(key, operand).map_err(told)?;
                self.model_merge(COMPOSING, key, operand);
            }
            Op::Delete { keyspace, key } => {
                self.keyspaces[*keyspace].delete(key).map_err(told)?;
                self.model_delete(*keyspace, key);
            }
            Op::Batch(writes) => self.batch(writes)?,
            Op::DeleteRange {
                keyspace,
                from,
                to,
                then,
            } => self.delete_range(*keyspace, from, to, then.as_ref())?,
            Op::Clear { keyspace } => {
                self.keyspaces[*keyspace].clear().map_err(told)?;
                if self.fault != Fault::DeleteRangeForgotten {
                    self.map(*keyspace).clear();
                }
            }
            Op::Get { keyspace, key } => {
                let found = self.keyspaces[*keyspace].get(key).map_err(told)?;
                let expected = self.map(*keyspace).get(key);
                same_value(key, found.as_deref(), expected)?;
            }
            Op::Range {
                keyspace,
                from,
                to,
                ends,
            } => {
                let range = self.keyspaces[*keyspace].range((from.clone(), to.clone()));
                drain(range, self.expected_range(*keyspace, from, to), ends, self.fault)?;
            }
            Op::Prefix {
                keyspace,
                prefix,
                ends,
            } => {
                let range = self.keyspaces[*keyspace].prefix(prefix);
                drain(range, self.expected_prefix(*keyspace, prefix), ends, self.fault)?;
            }
            Op::OpenIterator { keyspace } => {
                let expected = self.map(*keyspace).clone().into_iter().collect();
                self.iterators
                    .push_back((self.keyspaces[*keyspace].iter(), expected));
                self.iterators
                    .drain(..self.iterators.len().saturating_sub(KEPT_MAX));
            }
            Op::StepIterator { ends } => {
                if let Some((range, expected)) = self.iterators.front_mut() {
                    for &front in ends {
                        step(range, expected, front)?;
                    }
                }
            }
            Op::TakeSnapshot => {
                self.snapshots
                    .push_back((self.db().snapshot(), self.maps.clone()));
                self.snapshots
                    .drain(..self.snapshots.len().saturating_sub(KEPT_MAX));
            }
            Op::ReadSnapshot { keyspace, key } => self.read_snapshot(*keyspace, key)?,
            Op::DropSnapshot => {
                self.snapshots.pop_front();
            }
            Op::Flush => self.db().flush().map_err(told)?,
            Op::Compact => self.compact()?,
            Op::CompactRange { keyspace, from, to } => {
                let range = (from.clone(), to.clone());
                self.keyspaces[*keyspace].compact(range).map_err(told)?;
            }
            Op::BackgroundStep => {
                self.db().run_background_step().map_err(told)?;
            }
            Op::Verify => self.verify()?,
            Op::Reopen => self.reopen()?,
            Op::Ingest { keyspace, records } => self.ingest(*keyspace, records)?,
            Op::Checkpoint => self.checkpoint()?,
        }
        Ok(())
    }

    fn batch(&mut self, writes: &[(usize, Key, Option<Vec<u8>>)]) -> Result<(), String> {
        let mut batch = self.db().batch();
        for (keyspace, key, value) in writes {
            match value {
                Some(value) if *keyspace == COMPOSING => batch.merge(&self.keyspaces[*keyspace], key, value),
                Some(value) => batch.put(&self.keyspaces[*keyspace], key, value),
                None => batch.delete(&self.keyspaces[*keyspace], key),
            };
        }
        batch.commit(Durability::Process).map_err(told)?;
        let lost = usize::from(self.fault == Fault::BatchTailLost && !writes.is_empty());
        for (keyspace, key, value) in &writes[..writes.len() - lost] {
            match value {
                Some(value) if *keyspace == COMPOSING => self.model_merge(*keyspace, key, value),
                Some(value) => self.model_put(*keyspace, key, value),
                None => self.model_delete(*keyspace, key),
            }
        }
        Ok(())
    }

    fn delete_range(
        &mut self,
        keyspace: usize,
        from: &Bound<Key>,
        to: &Bound<Key>,
        then: Option<&(Key, Vec<u8>)>,
    ) -> Result<(), String> {
        let range = (from.clone(), to.clone());
        let of = &self.keyspaces[keyspace];
        match then {
            None => of.delete_range(range).map_err(told)?,
            Some((key, value)) => {
                let mut batch = self.db().batch();
                batch.delete_range(of, range);
                if keyspace == COMPOSING {
                    batch.merge(of, key, value);
                } else {
                    batch.put(of, key, value);
                }
                batch.commit(Durability::Process).map_err(told)?;
            }
        }
        if self.fault != Fault::DeleteRangeForgotten {
            for (key, _) in self.expected_range(keyspace, from, to) {
                self.map(keyspace).remove(&key);
            }
        }
        match then {
            Some((key, value)) if keyspace == COMPOSING => self.model_merge(keyspace, key, value),
            Some((key, value)) => self.model_put(keyspace, key, value),
            None => {}
        }
        Ok(())
    }

    fn ingest(&mut self, keyspace: usize, records: &[(Key, Vec<u8>)]) -> Result<(), String> {
        let mut ingest = self.keyspaces[keyspace].ingest().map_err(told)?;
        for (key, value) in records {
            ingest.put(key, value).map_err(told)?;
        }
        ingest.finish().map_err(told)?;
        for (key, value) in records {
            self.model_put(keyspace, key, value);
        }
        Ok(())
    }

    /// The copy must hold what the database holds, and be sound.
    fn checkpoint(&mut self) -> Result<(), String> {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("copy");
        self.db().checkpoint(&target).map_err(told)?;
        let copy = Db::open(&target, self.plan.options.build()).map_err(told)?;
        let second = copy
            .keyspace("second", KeyspaceOptions::default())
            .map_err(told)?;
        for (number, keyspace) in [copy.default_keyspace(), &second].into_iter().enumerate() {
            let expected = self.map(number).clone().into_iter().collect();
            drain(keyspace.iter(), expected, &[true], self.fault)?;
        }
        let report = copy.verify().map_err(told)?;
        if report.is_sound() {
            Ok(())
        } else {
            Err(format!("verify finds {:#?} in a checkpoint", report.problems))
        }
    }

    /// One sorted run without dead records and nothing in memory: the approximate length is exact.
    fn compact(&mut self) -> Result<(), String> {
        self.db().compact().map_err(told)?;
        for (keyspace, map) in self.keyspaces.iter().zip(&self.maps) {
            let found = keyspace.approximate_len().map_err(told)?;
            if self.fault == Fault::None && found != map.len() as u64 {
                return Err(format!("{} keys, counted as {found}", map.len()));
            }
        }
        Ok(())
    }

    fn expected_range(&mut self, keyspace: usize, from: &Bound<Key>, to: &Bound<Key>) -> Records {
        let included = self.fault == Fault::RangeEndIncluded;
        let starts = |key: &Key| match from {
            Bound::Unbounded => true,
            Bound::Included(bound) => key >= bound,
            Bound::Excluded(bound) => key > bound,
        };
        let ends = |key: &Key| match to {
            Bound::Unbounded => true,
            Bound::Included(bound) => key <= bound,
            Bound::Excluded(bound) => key < bound || included && key == bound,
        };
        let records = self
            .map(keyspace)
            .iter()
            .filter(|(key, _)| starts(key) && ends(key));
        records.map(|(key, value)| (key.clone(), value.clone())).collect()
    }

    fn expected_prefix(&mut self, keyspace: usize, prefix: &Key) -> Records {
        let ends_early = self.fault == Fault::PrefixEndsAtFf;
        let missed = |key: &Key| ends_early && key.get(prefix.len()) == Some(&0xff);
        let records = self
            .map(keyspace)
            .iter()
            .filter(|(key, _)| key.starts_with(prefix) && !missed(key));
        records.map(|(key, value)| (key.clone(), value.clone())).collect()
    }

    fn read_snapshot(&mut self, keyspace: usize, key: &Key) -> Result<(), String> {
        let now = self.maps.clone();
        let Some((snapshot, then)) = self.snapshots.front() else {
            return Ok(());
        };
        let maps = if self.fault == Fault::SnapshotMoves {
            &now
        } else {
            then
        };
        let of = &self.keyspaces[keyspace];
        let found = snapshot.get(of, key).map_err(told)?;
        same_value(key, found.as_deref(), maps[keyspace].get(key))?;
        let expected = || maps[keyspace].clone().into_iter().collect();
        drain(snapshot.iter(of), expected(), &[true], self.fault)?;
        drain(snapshot.iter(of), expected(), &[false], self.fault)
    }

    fn verify(&mut self) -> Result<(), String> {
        let report = self.db().verify().map_err(told)?;
        if !report.is_sound() {
            return Err(format!("verify finds {:#?}", report.problems));
        }
        let keys: usize = self.maps.iter().map(Map::len).sum();
        if report.live_key_count != keys as u64 {
            return Err(format!(
                "verify counts {} keys, the model {keys}",
                report.live_key_count
            ));
        }
        Ok(())
    }

    /// Closes with everything that pins files let go of, and opens again.
    fn reopen(&mut self) -> Result<(), String> {
        self.snapshots.clear();
        self.iterators.clear();
        self.keyspaces.clear();
        self.db
            .take()
            .expect("open between operations")
            .close()
            .map_err(told)?;
        if self.fault == Fault::ReopenLosesLast {
            self.maps[0].pop_last();
        }
        self.open()?;
        self.check_everything()
    }

    fn check_everything(&mut self) -> Result<(), String> {
        for keyspace in 0..KEYSPACES {
            let expected: VecDeque<_> = self.map(keyspace).clone().into_iter().collect();
            for (key, value) in &expected {
                let found = self.keyspaces[keyspace].get(key).map_err(told)?;
                same_value(key, found.as_deref(), Some(value))?;
            }
            for ends in [&[true][..], &[false]] {
                drain(
                    self.keyspaces[keyspace].iter(),
                    expected.clone(),
                    ends,
                    self.fault,
                )?;
            }
        }
        self.verify()
    }
}

fn same_value(key: &Key, found: Option<&[u8]>, expected: Option<&Vec<u8>>) -> Result<(), String> {
    let shown = |value: Option<&[u8]>| {
        value.map_or("nothing".to_owned(), |v| {
            format!("{} bytes \"{}\"", v.len(), v[..v.len().min(12)].escape_ascii())
        })
    };
    let expected = expected.map(Vec::as_slice);
    if found == expected {
        return Ok(());
    }
    Err(format!(
        "key \"{}\": expected {}, found {}",
        key.escape_ascii(),
        shown(expected),
        shown(found)
    ))
}

/// One step from one end, compared.
fn step(range: &mut Range, expected: &mut Records, front: bool) -> Result<bool, String> {
    let found = if front { range.next() } else { range.next_back() };
    let expected = if front {
        expected.pop_front()
    } else {
        expected.pop_back()
    };
    let side = if front { "front" } else { "back" };
    match (found.transpose().map_err(told)?, expected) {
        (None, None) => Ok(false),
        (Some((key, value)), Some((expected_key, expected_value))) => {
            if key != expected_key {
                let (key, expected) = (key.escape_ascii(), expected_key.escape_ascii());
                return Err(format!(
                    "from the {side}: expected key \"{expected}\", found \"{key}\""
                ));
            }
            same_value(&expected_key, Some(&value), Some(&expected_value)).map(|()| true)
        }
        (Some((key, _)), None) => Err(format!(
            "from the {side}: expected the end, found key \"{}\"",
            key.escape_ascii()
        )),
        (None, Some((key, _))) => Err(format!(
            "from the {side}: expected key \"{}\", found the end",
            key.escape_ascii()
        )),
    }
}

/// Reads a range to its end with the given pattern of ends; the end stays the end from both sides.
fn drain(mut range: Range, mut expected: Records, ends: &[bool], fault: Fault) -> Result<(), String> {
    if fault == Fault::BackwardsMissesFirst && ends == [false] {
        expected.pop_front();
    }
    for &front in ends.iter().cycle() {
        if !step(&mut range, &mut expected, front)? {
            break;
        }
    }
    step(&mut range, &mut expected, true)?;
    step(&mut range, &mut expected, false)?;
    Ok(())
}
