//! What was promised: the history of batches, and which of them a machine that went down must still have.
//!
//! ```text
//!   base          acknowledged, and durable by a sync or a flush: there after a power cut
//!   | events ...  acknowledged since: there after a kill; after a power cut a prefix of them
//!   | uncertain   the write that failed and stopped the writer: there, or not
//! ```
//!
//! An ingest whose edit failed is in doubt until an edit succeeds: a restart may find it, in its place, and readers do not see it
//! meanwhile. So may it find a keyspace that could not be created or dropped. One edit at most is in doubt at a time.
//!
//! A batch is one event over all keyspaces, so a state between two events is a torn batch or a hole, and is refused. Keyspaces
//! come and go durably, on their own: what is compared is what the keyspaces of now hold. Each creation of a keyspace is another
//! incarnation; writes to an incarnation that is gone count no more.

use std::collections::BTreeMap;

use super::plan::{Change, Key, NAMES, Records, Write};

pub(crate) type Map = BTreeMap<Key, Vec<u8>>;
/// Names one creation of a keyspace.
pub(crate) type Incarnation = u32;
/// The contents of all keyspaces.
pub(crate) type World = BTreeMap<Incarnation, Map>;
/// The keyspaces by name.
pub(crate) type Names = BTreeMap<usize, Incarnation>;
/// What a database says it holds, by name.
pub(crate) type Found = BTreeMap<String, Map>;

/// One batch.
#[derive(Clone, Debug)]
pub(crate) struct Event {
    writes: Vec<(Incarnation, Effect)>,
}

/// What a write does to a keyspace.
#[derive(Clone, Debug)]
enum Effect {
    Put(Key, Vec<u8>),
    Delete(Key),
    DeleteRange(Key, Key),
    Clear,
    Append(Key, Vec<u8>),
}

impl Effect {
    fn of(write: &Write) -> Effect {
        match &write.change {
            Change::Put(key, value) => Effect::Put(key.clone(), value.bytes_in(write.keyspace)),
            Change::Delete(key) => Effect::Delete(key.clone()),
            Change::DeleteRange(from, to) => Effect::DeleteRange(from.clone(), to.clone()),
            Change::Clear => Effect::Clear,
            Change::Merge(key, value) => Effect::Append(key.clone(), value.bytes_in(write.keyspace)),
        }
    }
}

impl Event {
    fn apply_to(&self, world: &mut World) {
        for (incarnation, effect) in &self.writes {
            let map = world.entry(*incarnation).or_default();
            match effect {
                Effect::Put(key, value) => drop(map.insert(key.clone(), value.clone())),
                Effect::Delete(key) => drop(map.remove(key)),
                Effect::DeleteRange(from, to) => map.retain(|key, _| key < from || key >= to),
                Effect::Clear => map.clear(),
                Effect::Append(key, value) => map.entry(key.clone()).or_default().extend(value),
            }
        }
    }
}

/// What a database held at an instant.
#[derive(Clone, Debug)]
pub(crate) struct State {
    names: Names,
    world: World,
}

impl State {
    /// How what was found differs from it.
    pub(crate) fn difference(&self, found: &Found) -> Option<String> {
        let expected = names_of(&self.names);
        if found.keys().ne(expected.iter()) {
            let found: Vec<&String> = found.keys().collect();
            return Some(format!("found the keyspaces {found:?}, expected {expected:?}"));
        }
        difference(&self.names, &self.world, found)
    }
}

/// See the head of the file.
#[derive(Clone, Debug, Default)]
pub(crate) struct Model {
    base: World,
    /// Events in `base`.
    base_count: usize,
    events: Vec<Event>,
    /// Events that survive a power cut: those in `base`, and more where an ingest among them is in doubt.
    durable_count: usize,
    /// Ingests of which one may be in force after a restart, each with the number of events before it.
    doubtful: Vec<(usize, Event)>,
    uncertain: Option<Event>,
    names: Names,
    /// What the keyspaces are if a creation or a drop that failed is in force after all.
    other_names: Option<Names>,
    next_incarnation: Incarnation,
    /// What readers see.
    now: World,
}

impl Model {
    /// A new database.
    pub(crate) fn new() -> Model {
        Model {
            names: BTreeMap::from([(0, 0)]),
            next_incarnation: 1,
            ..Model::default()
        }
    }

    pub(crate) fn names(&self) -> &Names {
        &self.names
    }

    /// Whether it is unknown which keyspaces there are.
    pub(crate) fn names_are_uncertain(&self) -> bool {
        self.other_names.is_some()
    }

    /// An edit that failed is not in force, and no restart will find it.
    pub(crate) fn is_settled(&mut self) {
        self.other_names = None;
        self.doubtful.clear();
        self.collapse();
    }

    /// What readers see in a keyspace.
    pub(crate) fn map(&self, incarnation: Incarnation) -> Map {
        self.now.get(&incarnation).cloned().unwrap_or_default()
    }

    /// What readers see everywhere.
    pub(crate) fn world(&self) -> World {
        self.now.clone()
    }

    /// What readers see, with the names.
    pub(crate) fn state(&self) -> State {
        State {
            names: self.names.clone(),
            world: self.now.clone(),
        }
    }

    /// Live keys in all keyspaces.
    pub(crate) fn key_count(&self) -> usize {
        self.names
            .values()
            .filter_map(|incarnation| self.now.get(incarnation))
            .map(Map::len)
            .sum()
    }

    /// The event of a batch, now.
    pub(crate) fn event(&self, writes: &[Write]) -> Event {
        let writes = writes.iter().map(|write| {
            let incarnation = self.names.get(&write.keyspace);
            let incarnation = incarnation.expect("only writes to keyspaces that exist are run");
            (*incarnation, Effect::of(write))
        });
        Event {
            writes: writes.collect(),
        }
    }

    /// The event of an ingest, now.
    pub(crate) fn event_of_records(&self, records: &Records) -> Event {
        let incarnation = self.names[&records.keyspace];
        let puts = records.sorted().into_iter();
        Event {
            writes: puts
                .map(|(key, value)| (incarnation, Effect::Put(key, value)))
                .collect(),
        }
    }

    /// An ingest failed, and its edit may be in the manifest.
    pub(crate) fn is_doubtful(&mut self, event: Event) {
        self.doubtful.push((self.acknowledged_count(), event));
    }

    /// A batch was acknowledged.
    pub(crate) fn acknowledge(&mut self, event: Event, is_durable: bool) {
        event.apply_to(&mut self.now);
        self.events.push(event);
        if is_durable {
            self.all_durable();
        }
    }

    /// A batch failed, and stopped the writer.
    pub(crate) fn is_uncertain(&mut self, event: Event) {
        self.uncertain = Some(event);
    }

    /// Readers may see a batch that failed. They do.
    pub(crate) fn uncertain_is_visible(&mut self) {
        if let Some(event) = &self.uncertain {
            event.apply_to(&mut self.now);
        }
    }

    /// Everything acknowledged survives a power cut from now on.
    pub(crate) fn all_durable(&mut self) {
        self.durable_through(self.acknowledged_count());
    }

    /// Events acknowledged so far.
    pub(crate) fn acknowledged_count(&self) -> usize {
        self.base_count + self.events.len()
    }

    /// So many of the acknowledged survive a power cut from now on.
    pub(crate) fn durable_through(&mut self, count: usize) {
        self.durable_count = self.durable_count.max(count);
        self.collapse();
    }

    /// Moves to the base what no restart can be without.
    fn collapse(&mut self) {
        let places = self.doubtful.iter().map(|(place, _)| *place);
        let count = places.fold(self.durable_count, usize::min);
        for event in self.events.drain(..count.saturating_sub(self.base_count)) {
            event.apply_to(&mut self.base);
            self.base_count += 1;
        }
    }

    /// A keyspace was created; or perhaps it was.
    pub(crate) fn create(&mut self, name: usize, is_certain: bool) {
        let mut names = self.names.clone();
        names.insert(name, self.next_incarnation);
        self.next_incarnation += 1;
        self.rename(names, is_certain);
    }

    /// A keyspace was dropped; or perhaps it was.
    pub(crate) fn drop_keyspace(&mut self, name: usize, is_certain: bool) {
        let mut names = self.names.clone();
        names.remove(&name);
        self.rename(names, is_certain);
    }

    fn rename(&mut self, names: Names, is_certain: bool) {
        if is_certain {
            self.names = names;
        } else {
            self.other_names = Some(names);
        }
    }

    /// Judges what came back after the machine went down, and goes on from there: all of it is durable now.
    pub(crate) fn recovered(&mut self, found: &Found, unsynced_may_be_lost: bool) -> Result<(), String> {
        let says = |names: &Names| found.keys().eq(names_of(names).iter());
        if !says(&self.names) {
            match self.other_names.take() {
                Some(other) if says(&other) => self.names = other,
                _ => {
                    let (found, expected) = (found.keys().collect::<Vec<_>>(), names_of(&self.names));
                    return Err(format!("found the keyspaces {found:?}, expected {expected:?}"));
                }
            }
        }
        self.other_names = None;
        let promised = if unsynced_may_be_lost {
            self.durable_count
        } else {
            self.acknowledged_count()
        };
        let base = std::mem::take(&mut self.base);
        let doubtful = std::mem::take(&mut self.doubtful);
        let events: Vec<Event> = self.events.drain(..).chain(self.uncertain.take()).collect();
        let mut state = None;
        let mut last_difference = None;
        for in_force in std::iter::once(None).chain(doubtful.iter().map(Some)) {
            let mut world = base.clone();
            for count in 0..=events.len() {
                if count > 0 {
                    events[count - 1].apply_to(&mut world);
                }
                if let Some((place, event)) = in_force
                    && *place == self.base_count + count
                {
                    event.apply_to(&mut world);
                }
                match difference(&self.names, &world, found) {
                    None if self.base_count + count >= promised => state = Some(world.clone()),
                    None => last_difference = Some(format!("it is the state after {count}")),
                    Some(different) => last_difference = last_difference.or(Some(different)),
                }
            }
        }
        let Some(mut state) = state else {
            return Err(format!(
                "what came back is no state of the last {} batches of which {} were promised: {}",
                events.len(),
                promised - self.base_count,
                last_difference.unwrap_or_default()
            ));
        };
        self.durable_count = self.base_count;
        state.retain(|incarnation, _| self.names.values().any(|live| live == incarnation));
        self.base = state.clone();
        self.now = state;
        Ok(())
    }
}

fn names_of(names: &Names) -> Vec<String> {
    let mut names: Vec<String> = names.keys().map(|&name| NAMES[name].to_owned()).collect();
    names.sort();
    names
}

/// The first difference between a state and what was found.
pub(crate) fn difference(names: &Names, world: &World, found: &Found) -> Option<String> {
    let empty = Map::new();
    names.iter().find_map(|(&name, incarnation)| {
        let expected = world.get(incarnation).unwrap_or(&empty);
        let found = found.get(NAMES[name]).unwrap_or(&empty);
        difference_of_maps(NAMES[name], expected, found)
    })
}

/// The first difference between two keyspaces.
pub(crate) fn difference_of_maps(name: &str, expected: &Map, found: &Map) -> Option<String> {
    if expected == found {
        return None;
    }
    let mut keys = expected.keys().chain(found.keys());
    let key = keys.find(|&key| expected.get(key) != found.get(key))?;
    Some(format!(
        "key \"{}\" of keyspace \"{name}\": expected {}, found {}",
        key.escape_ascii(),
        shown(expected.get(key).map(Vec::as_slice)),
        shown(found.get(key).map(Vec::as_slice))
    ))
}

/// A value for a message.
pub(crate) fn shown(value: Option<&[u8]>) -> String {
    value.map_or("nothing".to_owned(), |bytes| {
        let head = &bytes[..bytes.len().min(12)];
        format!("\"{}\" ({} bytes)", head.escape_ascii(), bytes.len())
    })
}
