//! One open database on the simulated machine, and what may be asked of it.

use std::collections::{BTreeMap, VecDeque};
use std::path::Path;
use std::sync::Arc;

use tephradb::clock::ManualClock;
use tephradb::vfs::{Calls, Fault, FaultFs, FileSystem, MemFs, Operation, Rule};
use tephradb::{Db, Snapshot};

use super::handle::Handle;
use super::model::{Found, Incarnation, Model, Names, World, difference_of_maps, shown};
use super::plan::{BITS, Failing, Key, NAMES, Target, Trouble};
use super::settings::Settings;
use super::{Check, Planted};

/// Where the database lives on its machine.
pub(crate) const DIR: &str = "/data/db";
/// A file that is not the database's.
pub(crate) const FOREIGN: &str = "._000001.table";
/// Snapshots held at once; the oldest goes first.
const SNAPSHOTS_MAX: usize = 3;

/// A snapshot, what it must show, and the handles to ask it with.
pub(crate) struct Pinned {
    snapshot: Snapshot,
    keyspaces: BTreeMap<usize, Handle>,
    names: Names,
    world: World,
}

/// An open database. Dropping it closes everything.
pub(crate) struct Session {
    pub(crate) db: Db,
    pub(crate) disk: FaultFs,
    pub(crate) keyspaces: BTreeMap<usize, Handle>,
    pub(crate) snapshots: VecDeque<Pinned>,
    /// The writer has stopped after a failure; reads go on.
    pub(crate) is_stopped: bool,
    /// Bits may have been read wrong since the database was opened: a mapped page stays wrong.
    pub(crate) may_be_flipped: bool,
    /// Faults before the disk was healed last.
    pub(crate) forgiven_count: u64,
}

/// A disk that behaves.
pub(crate) fn disk_of(machine: &MemFs, planted: Planted) -> FaultFs {
    let disk = FaultFs::new(Arc::new(machine.clone()));
    planted.plant_in_disk(&disk);
    disk
}

/// Opens the database on a disk.
pub(crate) fn open(
    disk: &FaultFs,
    settings: &Settings,
    planted: Planted,
    clock: &Arc<ManualClock>,
) -> tephradb::Result<Db> {
    clock.advance_ms(7);
    let options = planted.plant_in_engine(settings.build(Arc::clone(clock) as Arc<_>));
    Db::open_with(Arc::new(disk.clone()), DIR, options)
}

/// Everything in a database, by name of the keyspace.
pub(crate) fn read_all(db: &Db) -> tephradb::Result<Found> {
    let names = db.keyspace_names().into_iter();
    names
        .map(|name| {
            let map = Handle::open(db, &name)?.read()?;
            Ok((name, map))
        })
        .collect()
}

/// Keys of a keyspace that histories often write to.
fn usual_keys(name: usize) -> Vec<Key> {
    (0..20)
        .map(|number| match name {
            BITS => format!("{number:05b}").into_bytes(),
            _ => format!("key{number:02}").into_bytes(),
        })
        .collect()
}

/// The rules of a failing disk.
pub(crate) fn rules_of(trouble: Trouble, clock: &Arc<ManualClock>) -> Vec<Rule> {
    use Operation::{Map, Read, Sync, SyncDir, SyncSegment, Write};
    let fault = match trouble.failing {
        Failing::Slow(ms) => Fault::Slow(Arc::clone(clock), ms),
        Failing::Device => Fault::DeviceError,
        Failing::Full => Fault::StorageFull,
        Failing::Short => Fault::ShortWrite,
        Failing::Zero => Fault::ZeroWrite,
        Failing::Flip(bit) => Fault::FlipBit(bit),
    };
    let calls = match trouble.target {
        Target::Changing => vec![Calls::Changing],
        Target::Writes => vec![Calls::Only(Write)],
        Target::Syncs => vec![Calls::Only(Sync), Calls::Only(SyncDir), Calls::Only(SyncSegment)],
        Target::Reads => vec![Calls::Only(Map), Calls::Only(Read)],
    };
    let rule = |calls| Rule {
        lasts: trouble.lasts,
        ..Rule::once(calls, fault.clone()).after(trouble.skip_count)
    };
    calls.into_iter().map(rule).collect()
}

impl Session {
    pub(crate) fn new(db: Db, disk: FaultFs, names: &Names) -> tephradb::Result<Session> {
        let open = |&name: &usize| Ok((name, Handle::open(&db, NAMES[name])?));
        let keyspaces = names.keys().map(open).collect::<tephradb::Result<_>>()?;
        Ok(Session {
            db,
            forgiven_count: disk.fault_count(),
            disk,
            keyspaces,
            snapshots: VecDeque::new(),
            is_stopped: false,
            may_be_flipped: false,
        })
    }

    /// Whether something failed since the disk was healed last.
    pub(crate) fn has_faults(&self) -> bool {
        self.disk.fault_count() > self.forgiven_count
    }

    /// An error of a read: pages that were read wrong are told, nothing else fails.
    pub(crate) fn read<T>(&self, what: &str, outcome: tephradb::Result<T>) -> Result<Option<T>, String> {
        match outcome {
            Ok(value) => Ok(Some(value)),
            Err(_) if self.may_be_flipped => Ok(None),
            Err(error) => Err(format!("{what} failed on a disk that reads well: {error}")),
        }
    }

    /// Everything readers see, compared.
    pub(crate) fn check_contents(&self, model: &Model) -> Check {
        for (&name, keyspace) in &self.keyspaces {
            let Some(found) = self.read("a scan", keyspace.read())? else {
                continue;
            };
            let expected = model.map(model.names()[&name]);
            if let Some(different) = difference_of_maps(NAMES[name], &expected, &found) {
                return Err(different);
            }
        }
        Ok(())
    }

    /// What readers see by look-ups, also of keys that are not there.
    pub(crate) fn check_lookups(&self, model: &Model) -> Check {
        for (&name, keyspace) in &self.keyspaces {
            let expected = model.map(model.names()[&name]);
            for key in expected.keys().cloned().chain(usual_keys(name)) {
                let Some(found) = self.read("a look-up", keyspace.get(&key))? else {
                    continue;
                };
                if found.as_deref() != expected.get(&key).map(Vec::as_slice) {
                    return Err(format!(
                        "a look-up of \"{}\" in keyspace \"{}\": expected {}, found {}",
                        key.escape_ascii(),
                        NAMES[name],
                        shown(expected.get(&key).map(Vec::as_slice)),
                        shown(found.as_deref())
                    ));
                }
            }
        }
        Ok(())
    }

    pub(crate) fn take_snapshot(&mut self, model: &Model) {
        self.hold_snapshot(self.db.snapshot(), model);
    }

    /// Holds a snapshot that was taken when the database was as the model is.
    pub(crate) fn hold_snapshot(&mut self, snapshot: Snapshot, model: &Model) {
        self.snapshots.push_back(Pinned {
            snapshot,
            keyspaces: self.keyspaces.clone(),
            names: model.names().clone(),
            world: model.world(),
        });
        let surplus = self.snapshots.len().saturating_sub(SNAPSHOTS_MAX);
        self.snapshots.drain(..surplus);
    }

    /// All snapshots show what they showed.
    pub(crate) fn check_snapshots(&self) -> Check {
        self.snapshots
            .iter()
            .try_for_each(|pinned| self.check_snapshot(pinned))
    }

    fn check_snapshot(&self, pinned: &Pinned) -> Check {
        for (&name, keyspace) in &pinned.keyspaces {
            let Some(found) = self.read("a snapshot", keyspace.read_at(&pinned.snapshot))? else {
                continue;
            };
            let incarnation: Incarnation = pinned.names[&name];
            let expected = pinned.world.get(&incarnation).cloned().unwrap_or_default();
            if let Some(different) = difference_of_maps(NAMES[name], &expected, &found) {
                return Err(format!("a snapshot changed: {different}"));
            }
        }
        Ok(())
    }

    /// The files in the directory are those that are needed, to the last one and to the last byte of a table.
    pub(crate) fn check_files(&self) -> Check {
        let stats = self.db.stats();
        let entries = self
            .disk
            .list(Path::new(DIR))
            .map_err(|error| format!("the directory cannot be listed: {error}"))?;
        let names: Vec<String> = entries
            .into_iter()
            .map(|entry| entry.name.to_string_lossy().into_owned())
            .filter(|name| name != FOREIGN)
            .collect();
        let count = |ending: &str| names.iter().filter(|name| name.ends_with(ending)).count();
        let manifests = names.iter().filter(|name| name.starts_with("MANIFEST-")).count();
        let expected = [
            ("tables", count(".table"), stats.table_count),
            ("log segments", count(".log"), 1 + stats.frozen_memtable_count),
            ("manifests", manifests, 1),
            ("CURRENT", count("CURRENT"), 1),
            ("CURRENT.tmp", count("CURRENT.tmp"), 0),
        ];
        for (what, found, expected) in expected {
            if found != expected {
                return Err(format!(
                    "{found} {what}, of which {expected} are needed: {names:?}"
                ));
            }
        }
        let len_of = |name: &String| self.disk.len_bytes(&Path::new(DIR).join(name)).unwrap_or(0);
        let table_bytes: u64 = names
            .iter()
            .filter(|name| name.ends_with(".table"))
            .map(len_of)
            .sum();
        if table_bytes != stats.table_bytes {
            return Err(format!(
                "tables of {table_bytes} bytes, of which {} are needed",
                stats.table_bytes
            ));
        }
        Ok(())
    }
}
