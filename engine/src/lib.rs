//! The engine of tephradb: an embedded, ordered key-value store over format-2 tables.
//!
//! ```text
//!  put, delete, batch                         get, range, snapshot
//!         |                                            ^
//!         v                                            |  an instant: immutable roots
//!    log segment --> active memtable                   |
//!                          | full: frozen --------> Layers: frozen memtables, version
//!                          v                           ^
//!              flush: tables + dead ordinals --edit----'  (manifest, then publication)
//!              compaction: fewer, sorted tables -edit--'
//! ```
//!
//! | part | what it does |
//! |---|---|
//! | `db` | the handle, the machine behind it, open and recovery, the life of a write, back-pressure |
//! | `law` | what a keyspace makes of several records of one key |
//! | `bit_keyspace`, `bit_key`, `unit_table` | keyspaces of bit strings: bits in tables, bytes of the same order elsewhere |
//! | `memtable`, `batch` | a persistent ordered map; the record of one batch in the log |
//! | `instant`, `snapshot`, `iter` | what readers hold: roots that never change, and merges over them |
//! | `flush` | a frozen memtable becomes tables; its deletes become dead ordinals in older tables |
//! | `ingest`, `checkpoint` | sorted records straight into tables; an instant as a database of its own |
//! | `compact` | runs what the picker decides, carries late kills along |
//! | `overlay` | what deletes killed in tables before their flush |
//! | `version`, `table_file`, `dead_set` | the tables in force, the manifest that remembers them |
//! | `repair` | a new database of what can be read of a damaged one |
//! | `stats`, `event`, `event_log`, `size_estimate`, `keyspace_info` | what the database tells of itself |
//! | `background` | the threads, what they are asked for, who waits for them |
//! | [`vfs`], [`clock`] | everything outside: files, locks, time; real and simulated |
//!
//! There are no sequence numbers and no tombstones in tables. An instant is a tuple of immutable roots, so a snapshot costs two
//! pointers; a record in a table is alive, or its ordinal is in the table's dead set.

mod background;
mod batch;
mod bit_key;
mod bit_keyspace;
mod byte_reader;
mod cancel;
mod checkpoint;
pub mod clock;
mod compact;
mod db;
mod dead_set;
mod directory;
mod error;
mod event;
mod event_log;
mod file_name;
mod flush;
mod ingest;
mod instant;
mod iter;
mod key;
mod keyspace;
mod keyspace_info;
mod law;
pub mod limits;
mod memtable;
mod options;
mod overlay;
#[cfg(feature = "planted-faults")]
mod planted;
mod read_counters;
mod repair;
mod settings;
mod size_estimate;
mod snapshot;
mod sorted_map;
mod stats;
mod table_facts;
mod table_file;
pub mod tables;
#[cfg(test)]
mod tests;
mod unit_table;
mod value;
mod verify;
mod version;
pub mod vfs;

pub use batch::Batch;
pub use bit_keyspace::{BitKeyspace, BitRange, BitValue};
pub use cancel::Cancel;
pub use compact::CompactionStats;
pub use db::Db;
pub use error::{Error, Result, Usability};
pub use event::{CompactionInput, Event, EventListener};
pub use event_log::{EventHistory, EventLine};
pub use ingest::{BitIngest, Ingest};
pub use iter::Range;
pub use key::{Key, KeyRange};
pub use keyspace::Keyspace;
pub use keyspace_info::{ExistingKeyspace, KeyspaceInfo};
pub use law::{AddU64, AppendBytes, Compose, ComposeWithKey, Composed, LawFailure, MaxU64};
pub use options::{Background, Durability, KeyspaceOptions, Options};
#[cfg(feature = "planted-faults")]
pub use planted::PlantedFault;
pub use repair::{Loss, RepairOptions, RepairReport, SetAside, Undeleted, repair, repair_with};
pub use size_estimate::SizeEstimate;
pub use snapshot::Snapshot;
pub use stats::{LevelStats, Stats};
pub use table_facts::TableFacts;
pub use tephra_sstable::{BitStr, BitString};
pub use value::Value;
pub use verify::VerifyReport;
