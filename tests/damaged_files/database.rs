//! The small database that is damaged, and everything that it can be asked.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;

use tephradb::vfs::{FileSystem, MemFs};
use tephradb::{AddU64, Background, BitString, Db, KeyspaceOptions, Options};

pub(crate) const DIR: &str = "/db";

/// Everything in a database: by keyspace, keys and values as text.
type State = BTreeMap<String, Vec<(String, String)>>;

/// What came of asking everything.
pub(crate) enum Outcome {
    Right,
    Error(String),
    /// Another answer.
    Other(String),
}

/// A closed database on a machine in memory.
pub(crate) struct Database {
    pub(crate) machine: MemFs,
    state: State,
}

fn options() -> Options {
    Options::default()
        .background(Background::Manual)
        .memtable_bytes(32 << 10)
        .law("add-u64", AddU64)
}

fn bits(number: u64) -> BitString {
    let mut string = BitString::default();
    string.push_bits(number, 11);
    string
}

impl Database {
    pub(crate) fn new() -> Database {
        let machine = MemFs::new();
        let db = Db::open_with(Arc::new(machine.clone()), DIR, options()).unwrap();
        let keyspace = |name, options| db.keyspace(name, options).unwrap();
        let plain = KeyspaceOptions::default;
        let counters = keyspace("counters", plain().compose("add-u64", AddU64));
        let fixed = keyspace("fixed", plain().value_width_bytes(2));
        let strings = db.bit_keyspace("bits", plain()).unwrap();
        for number in 0..60u32 {
            db.put(format!("shared/prefix/{number:02}"), format!("value {number}"))
                .unwrap();
            fixed.put(number.to_be_bytes(), [7, 9]).unwrap();
            strings
                .put(bits(u64::from(number) * 3).as_str(), bits(1).as_str())
                .unwrap();
            counters
                .merge([b'c', (number % 5) as u8], 1u64.to_le_bytes())
                .unwrap();
        }
        db.flush().unwrap();
        for number in (0..60u32).step_by(4) {
            db.delete(format!("shared/prefix/{number:02}")).unwrap();
            strings.delete(bits(u64::from(number) * 3).as_str()).unwrap();
            db.put(format!("shared/prefix/{:02}", number + 1), "newer")
                .unwrap();
            counters.merge([b'c', 1], 10u64.to_le_bytes()).unwrap();
        }
        fixed
            .delete_range(10u32.to_be_bytes()..20u32.to_be_bytes())
            .unwrap();
        db.flush().unwrap();
        db.put("shared/prefix/logged", "later").unwrap();
        db.delete("shared/prefix/33").unwrap();
        counters.merge([b'c', 2], 100u64.to_le_bytes()).unwrap();
        strings.put(bits(2047).as_str(), bits(5).as_str()).unwrap();
        fixed.put("a", "zz").unwrap();
        let state = state_of(&db).unwrap();
        drop((counters, fixed, strings));
        db.close().unwrap();
        Database { machine, state }
    }

    /// A copy in which a file has other bytes, or is missing.
    pub(crate) fn with(&self, name: &str, bytes: Option<&[u8]>) -> MemFs {
        let machine = self.machine.after_kill();
        match bytes {
            Some(bytes) => self.replace(&machine, name, bytes),
            None => machine.remove(&Path::new(DIR).join(name)).unwrap(),
        }
        machine
    }

    /// Gives a file other bytes.
    pub(crate) fn replace(&self, machine: &MemFs, name: &str, bytes: &[u8]) {
        let path = Path::new(DIR).join(name);
        machine.remove(&path).unwrap();
        machine.create_new(&path).unwrap().write_all(bytes).unwrap();
    }

    /// Opens a damaged copy and asks it everything.
    pub(crate) fn ask(&self, machine: &MemFs, writes: bool) -> Outcome {
        let mut errors = Vec::new();
        let options = options().create_if_missing(false).read_only(!writes);
        let db = match Db::open_with(Arc::new(machine.clone()), DIR, options) {
            Ok(db) => db,
            Err(error) => return Outcome::Error(error.to_string()),
        };
        let mut other = None;
        match state_of(&db) {
            Ok(found) if found == self.state => {}
            Ok(found) => other = Some(format!("another answer: {found:?}")),
            Err(error) => errors.push(error.to_string()),
        }
        for (key, value) in &self.state[""] {
            match db.get(unescaped(key)) {
                Ok(Some(found)) if found.escape_ascii().to_string() == *value => {}
                Ok(found) => other = Some(format!("a look-up of {key} gives {found:?}")),
                Err(error) => errors.push(error.to_string()),
            }
        }
        match db.verify() {
            Ok(report) => errors.extend(report.problems),
            Err(error) => errors.push(error.to_string()),
        }
        match (other, errors.into_iter().next()) {
            (Some(other), _) => Outcome::Other(other),
            (None, Some(error)) => Outcome::Error(error),
            (None, None) => Outcome::Right,
        }
    }
}

/// The keys of the default keyspace are plain text.
fn unescaped(key: &str) -> &[u8] {
    key.as_bytes()
}

/// Walks all keyspaces, in both directions.
fn state_of(db: &Db) -> tephradb::Result<State> {
    let mut state = State::new();
    for name in db.keyspace_names() {
        let options = KeyspaceOptions::default;
        let mut both = Vec::new();
        if name == "bits" {
            let keyspace = db.bit_keyspace(&name, options())?;
            let text = |item: tephradb::Result<(BitString, tephradb::BitValue)>| {
                item.map(|(key, value)| (format!("{:?}", key.as_str()), format!("{:?}", value.bits())))
            };
            let forward = keyspace.iter().map(text).collect::<tephradb::Result<Vec<_>>>()?;
            let mut backward = keyspace
                .iter()
                .rev()
                .map(text)
                .collect::<tephradb::Result<Vec<_>>>()?;
            backward.reverse();
            both.extend([forward, backward]);
        } else {
            let options = match name.as_str() {
                "counters" => options().compose("add-u64", AddU64),
                "fixed" => options().value_width_bytes(2),
                _ => options(),
            };
            let keyspace = db.keyspace(&name, options)?;
            let text = |item: tephradb::Result<(tephradb::Key, tephradb::Value)>| {
                item.map(|(key, value)| (key.escape_ascii().to_string(), value.escape_ascii().to_string()))
            };
            let forward = keyspace.iter().map(text).collect::<tephradb::Result<Vec<_>>>()?;
            let mut backward = keyspace
                .iter()
                .rev()
                .map(text)
                .collect::<tephradb::Result<Vec<_>>>()?;
            backward.reverse();
            both.extend([forward, backward]);
        }
        let backward = both.pop().unwrap();
        let forward = both.pop().unwrap();
        let records = if forward == backward {
            forward
        } else {
            vec![("both ways".into(), "differ".into())]
        };
        state.insert(name, records);
    }
    Ok(state)
}

/// The files in the directory.
pub(crate) fn files_of(machine: &MemFs) -> BTreeMap<String, Vec<u8>> {
    let entries = machine.list(Path::new(DIR)).unwrap();
    let read = |name: String| {
        let bytes = machine.read(&Path::new(DIR).join(&name)).unwrap();
        (name, bytes)
    };
    entries
        .into_iter()
        .map(|entry| read(entry.name.into_string().unwrap()))
        .collect()
}
