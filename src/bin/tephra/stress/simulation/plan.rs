//! A history before it runs: the steps, as plain data that can be printed, thinned out and run again.
//!
//! ```text
//! step       an operation of one of the eight clients, or of the administrator
//!            a step of background work
//!            operations in the middle of a flush, a compaction, a checkpoint  (an interlude)
//!            a fault from here on, or the end of all faults
//!            a crash some file-system calls from here, and what happens during the recovery from it
//! ```
//!
//! A step that makes no sense where it stands (a write to a keyspace that does not exist) is left out when it runs. So every
//! subsequence of a history is a history, which is what shrinking needs.

use std::collections::BTreeMap;
use std::fmt;

use tephradb::Durability;

pub(crate) type Key = Vec<u8>;

/// The names of keyspaces. The first always exists.
pub(crate) const NAMES: [&str; 5] = ["", "ash", "basalt", "cinder", "dust"];

/// The keyspace whose values are composed.
pub(crate) const COMPOSING: usize = 3;

/// The keyspace of bit strings: its keys and values are texts of zeros and ones.
pub(crate) const BITS: usize = 4;

/// A value that no other write of the history writes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Value {
    pub(crate) number: u32,
    pub(crate) len_bytes: usize,
}

impl Value {
    /// The value as a keyspace holds it.
    pub(crate) fn bytes_in(self, keyspace: usize) -> Vec<u8> {
        if keyspace == BITS {
            return format!("{:0len$b}", self.number, len = self.len_bytes).into_bytes();
        }
        let mut bytes = self.number.to_string().into_bytes();
        bytes.resize(self.len_bytes.max(bytes.len()), b'.');
        bytes
    }
}

impl fmt::Debug for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "value {} of {} bytes", self.number, self.len_bytes)
    }
}

/// One operation of a batch.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Write {
    pub(crate) keyspace: usize,
    pub(crate) change: Change,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Change {
    Put(Key, Value),
    Delete(Key),
    /// From the first key to before the second.
    DeleteRange(Key, Key),
    Clear,
    /// In the composing keyspace alone: the value goes behind the one that is there.
    Merge(Key, Value),
}

impl fmt::Debug for Write {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = NAMES[self.keyspace];
        match &self.change {
            Change::Put(key, value) => write!(f, "put \"{name}\"/\"{}\" = {value:?}", key.escape_ascii()),
            Change::Delete(key) => write!(f, "delete \"{name}\"/\"{}\"", key.escape_ascii()),
            Change::DeleteRange(from, to) => {
                let (from, to) = (from.escape_ascii(), to.escape_ascii());
                write!(f, "delete \"{name}\" from \"{from}\" to \"{to}\"")
            }
            Change::Clear => write!(f, "clear \"{name}\""),
            Change::Merge(key, value) => write!(f, "merge \"{name}\"/\"{}\" + {value:?}", key.escape_ascii()),
        }
    }
}

/// Operations committed together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Commit {
    pub(crate) writes: Vec<Write>,
    pub(crate) durability: Durability,
}

/// Records that go past the log: at most one of a key, sorted when they go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Records {
    pub(crate) keyspace: usize,
    pub(crate) records: Vec<(Key, Value)>,
}

impl Records {
    /// The records as they go in.
    pub(crate) fn sorted(&self) -> Vec<(Key, Vec<u8>)> {
        let records = self.records.iter();
        let sorted: BTreeMap<Key, Vec<u8>> = records
            .map(|(key, value)| (key.clone(), value.bytes_in(self.keyspace)))
            .collect();
        sorted.into_iter().collect()
    }
}

/// A part of a keyspace: from the first key to before the second.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Part {
    pub(crate) keyspace: usize,
    pub(crate) from: Key,
    pub(crate) to: Key,
}

/// What may happen in the middle of something else.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Meanwhile {
    Commit(Commit),
    TakeSnapshot,
    DropKeyspace(usize),
    /// Ends the compaction that this is in the middle of, if it is one of a part.
    Cancel,
    /// This and what follows never in the middle of a flush: one runs at a time.
    Flush,
    Ingest(Records),
    Checkpoint,
}

/// How a machine goes down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Down {
    /// The process is killed.
    Kill,
    /// The power goes; the seed says what of the unsynced is lost.
    PowerCut(u64),
}

/// Which calls of the file system a fault means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    /// Those that change something.
    Changing,
    /// Writes to files under construction.
    Writes,
    /// Syncs of files and directories.
    Syncs,
    /// Reads and maps.
    Reads,
}

/// How a call fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Failing {
    Device,
    Full,
    Short,
    Zero,
    /// The call goes through, and takes so many milliseconds.
    Slow(u64),
    /// Reads only: this bit is read wrong.
    Flip(u64),
}

/// A failing disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Trouble {
    pub(crate) target: Target,
    pub(crate) failing: Failing,
    /// So many calls pass first.
    pub(crate) skip_count: u64,
    /// All calls fail from then on, not only one.
    pub(crate) lasts: bool,
}

/// What happens during a recovery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Setback {
    /// The machine goes down again after so many calls that change something.
    Crash(u64, Down),
    /// A call fails, the database is opened again.
    Fault(Trouble),
}

/// A machine that goes down.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Crash {
    /// After so many calls that change something.
    pub(crate) after_calls: u64,
    /// Or after so many steps, if it did not come to those calls.
    pub(crate) steps_max: usize,
    pub(crate) down: Down,
    /// Calls of the recovery are crashed in turn, and of the recovery from that: one in so many at each depth.
    pub(crate) strides: Vec<u64>,
    /// What happens during the recovery, one after the other.
    pub(crate) setbacks: Vec<Setback>,
}

/// One step of a history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    Commit {
        client: u8,
        commit: Commit,
    },
    Get {
        keyspace: usize,
        key: Key,
    },
    /// Everything between two keys, from one of the ends.
    Scan {
        keyspace: usize,
        from: Key,
        to: Key,
        backwards: bool,
    },
    TakeSnapshot,
    ReadSnapshot,
    DropSnapshot,
    CreateKeyspace(usize),
    DropKeyspace(usize),
    Flush,
    Compact,
    Background,
    CompactPart(Part),
    Ingest(Records),
    /// A copy of the database, with operations in its middle.
    Checkpoint(Vec<Meanwhile>),
    /// A flush with operations in its middle, so many calls after its start.
    FlushWhile(u8, Vec<Meanwhile>),
    /// A compaction of everything or of a part, with operations in its middle, so many calls after its start.
    CompactWhile(u8, Option<Part>, Vec<Meanwhile>),
    Verify,
    /// All background work done, nothing pinned: are there files that nothing names?
    Settle,
    Reopen,
    Trouble(Trouble),
    Heal,
    Crash(Crash),
}
