//! Settings of a database and of a keyspace.
//!
//! Everything that touches the outside world, or happens at its own time, comes through [`Options`]: a test chooses
//! a simulated file system ([`Db::open_with`](crate::Db::open_with)) and [`Background::Manual`], and the whole
//! database becomes a deterministic machine that it steps through itself.

use std::sync::Arc;

use tephra_sstable::UnitKind;

use crate::clock::Clock;
use crate::error::{Error, Result};
use crate::event::EventListener;
use crate::event_log::EVENT_LOG_BYTES_MAX;
use crate::law::{Compose, ComposeWithKey, Laws, NamedLaw};
use crate::settings::KeyspaceSettings;

/// What a commit survives once it has been acknowledged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Durability {
    /// A killed process. The record is in the log's mapping, owned by the operating system; a power cut may take the
    /// latest commits with it (always a suffix: what is left is a state the database went through).
    #[default]
    Process,
    /// A power cut. The commit is acknowledged after the log has been synced; concurrent committers share one sync.
    Sync,
}

/// Who runs flushes and compactions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Background {
    /// Threads of the database's own: one flushes, the others compact.
    #[default]
    Threads,
    /// Nobody: the caller runs [`Db::run_background_step`](crate::Db::run_background_step). A writer that meets a
    /// full memtable backlog runs the pending flush itself instead of waiting.
    Manual,
}

/// Settings of a database; a builder with defaults that suit a desktop program.
///
/// ```
/// use tephra_engine::{Durability, Options};
/// let options = Options::default().memtable_bytes(1 << 20).durability(Durability::Sync);
/// ```
#[derive(Clone, Debug)]
pub struct Options {
    pub(crate) memtable_bytes: usize,
    pub(crate) target_table_bytes: u64,
    pub(crate) l0_compaction_trigger: usize,
    pub(crate) pending_deletes_max: usize,
    pub(crate) frozen_memtables_max: usize,
    pub(crate) l0_tables_max: usize,
    pub(crate) tables_max: usize,
    pub(crate) compaction_threads: Option<usize>,
    pub(crate) durability: Durability,
    pub(crate) create_if_missing: bool,
    pub(crate) error_if_exists: bool,
    pub(crate) read_only: bool,
    pub(crate) background: Background,
    pub(crate) manifest_bytes: u64,
    pub(crate) clock: Option<Arc<dyn Clock>>,
    pub(crate) laws: Laws,
    pub(crate) listeners: Vec<Arc<dyn EventListener>>,
    pub(crate) event_log_bytes: u64,
    #[cfg(feature = "planted-faults")]
    pub(crate) planted_fault: Option<crate::planted::PlantedFault>,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            memtable_bytes: 64 << 20,
            target_table_bytes: 64 << 20,
            l0_compaction_trigger: 4,
            pending_deletes_max: 32 << 10,
            frozen_memtables_max: 3,
            l0_tables_max: 24,
            tables_max: crate::limits::TABLE_COUNT_MAX,
            compaction_threads: None,
            durability: Durability::Process,
            create_if_missing: true,
            error_if_exists: false,
            read_only: false,
            background: Background::Threads,
            manifest_bytes: 4 << 20,
            clock: None,
            laws: Laws::default(),
            listeners: Vec::new(),
            event_log_bytes: 1 << 20,
            #[cfg(feature = "planted-faults")]
            planted_fault: None,
        }
    }
}

impl Options {
    /// Bytes of keys and values (with a fixed overhead an entry) after which the memtable is frozen and flushed.
    /// Default 64 MiB.
    #[must_use]
    pub fn memtable_bytes(mut self, bytes: usize) -> Self {
        self.memtable_bytes = bytes;
        self
    }

    /// Deletes and range deletes that may wait in a memtable to be looked up in older tables: at so many the memtable is frozen and
    /// flushed, whatever its size. They wait a few milliseconds ordinarily, longer where an unflushed memtable still holds what
    /// they delete, and without background threads until a step is run. A scan steps over the keys of those that wait. Default
    /// 32,768.
    #[must_use]
    pub fn pending_deletes_max(mut self, deletes: usize) -> Self {
        self.pending_deletes_max = deletes;
        self
    }

    /// Size at which a compaction starts its next output table. Default 64 MiB.
    #[must_use]
    pub fn target_table_bytes(mut self, bytes: u64) -> Self {
        self.target_table_bytes = bytes;
        self
    }

    /// Number of freshly flushed tables of one keyspace that starts a compaction. Default 4.
    #[must_use]
    pub fn l0_compaction_trigger(mut self, tables: usize) -> Self {
        self.l0_compaction_trigger = tables;
        self
    }

    /// Frozen memtables that may wait for the flush before writers wait too. Default 3.
    #[must_use]
    pub fn frozen_memtables_max(mut self, memtables: usize) -> Self {
        self.frozen_memtables_max = memtables;
        self
    }

    /// Freshly flushed tables of one keyspace at which writers wait for a compaction; they slow down from half of it.
    /// Default 24.
    #[must_use]
    pub fn l0_tables_max(mut self, tables: usize) -> Self {
        self.l0_tables_max = tables;
        self
    }

    /// Tables of all keyspaces together from which puts and merges are refused ([`Error::TooManyTables`](crate::Error::TooManyTables)) until
    /// compactions have merged some. What memtables hold by then still becomes tables. Each table is a mapping, of which the system gives
    /// a process so many. Default [`limits::TABLE_COUNT_MAX`](crate::limits::TABLE_COUNT_MAX).
    #[must_use]
    pub fn tables_max(mut self, tables: usize) -> Self {
        self.tables_max = tables;
        self
    }

    /// Threads that compactions use together: jobs that have nothing in common run side by side, and a large one is split by
    /// key over those that are free. The flush has a thread of its own besides. Default: 2, or 1 on a machine with one processor or with
    /// [`Background::Manual`].
    #[must_use]
    pub fn compaction_threads(mut self, threads: usize) -> Self {
        self.compaction_threads = Some(threads);
        self
    }

    /// Durability of `put` and `delete`; a batch names its own at commit. Default [`Durability::Process`].
    #[must_use]
    pub fn durability(mut self, durability: Durability) -> Self {
        self.durability = durability;
        self
    }

    /// Whether opening a path without a database creates one. Default yes.
    #[must_use]
    pub fn create_if_missing(mut self, create: bool) -> Self {
        self.create_if_missing = create;
        self
    }

    /// Whether opening an existing database is an error. Default no.
    #[must_use]
    pub fn error_if_exists(mut self, error: bool) -> Self {
        self.error_if_exists = error;
        self
    }

    /// Opens without writing anything: the log is replayed in memory, nothing is flushed or cleaned up. Keeps writers out
    /// while it is open; readers share it. Default no.
    #[must_use]
    pub fn read_only(mut self, read_only: bool) -> Self {
        self.read_only = read_only;
        self
    }

    /// Who runs flushes and compactions. Default [`Background::Threads`].
    #[must_use]
    pub fn background(mut self, background: Background) -> Self {
        self.background = background;
        self
    }

    /// Size at which the manifest is rewritten as one snapshot. Default 4 MiB.
    #[must_use]
    pub fn manifest_bytes(mut self, bytes: u64) -> Self {
        self.manifest_bytes = bytes;
        self
    }

    /// The clock that statistics and delays go by. Default: the system's.
    #[must_use]
    pub fn clock(mut self, clock: Arc<dyn Clock>) -> Self {
        self.clock = Some(clock);
        self
    }

    /// Gives a composition law from the start: whatever a keyspace of that law holds in log and tables is flushed and compacted before the
    /// keyspace is asked for. [`AddU64`](crate::AddU64), [`MaxU64`](crate::MaxU64) and [`AppendBytes`](crate::AppendBytes) are always
    /// known by their names. A database whose laws are not all known opens too; see [`Error::LawUnknown`].
    #[must_use]
    pub fn law(mut self, name: &str, law: impl Compose + 'static) -> Self {
        self.laws.add(NamedLaw::values(name, law));
        self
    }

    /// As [`Options::law`], for a law that sees the key.
    #[must_use]
    pub fn law_with_key(mut self, name: &str, law: impl ComposeWithKey + 'static) -> Self {
        self.laws.add(NamedLaw::with_key(name, law));
        self
    }

    /// Adds a listener that is told of flushes, compactions, stalls, tables and failures. Default none.
    #[must_use]
    pub fn listener(mut self, listener: Arc<dyn EventListener>) -> Self {
        self.listeners.push(listener);
        self
    }

    /// Size at which the event log `EVENTS` begins anew, in bytes; the lines before stay in `EVENTS.old`, so that the two take about
    /// twice as much. 0 keeps none; at most 64 MiB. It is written beside commits, and a disk that refuses it harms nothing. Default
    /// 1 MiB.
    #[must_use]
    pub fn event_log_bytes(mut self, bytes: u64) -> Self {
        self.event_log_bytes = bytes;
        self
    }

    /// Checks the values against each other.
    pub(crate) fn validate(&self) -> Result<()> {
        self.laws.check()?;
        let at_least_one = [
            ("memtable_bytes", self.memtable_bytes as u64),
            ("target_table_bytes", self.target_table_bytes),
            ("l0_compaction_trigger", self.l0_compaction_trigger as u64),
            ("tables_max", self.tables_max as u64),
            ("pending_deletes_max", self.pending_deletes_max as u64),
            ("frozen_memtables_max", self.frozen_memtables_max as u64),
            ("compaction_threads", self.compaction_threads.unwrap_or(1) as u64),
        ];
        for (option, value) in at_least_one {
            if value == 0 {
                return Err(Error::InvalidOption {
                    option,
                    reason: "must be at least 1".into(),
                });
            }
        }
        if self.event_log_bytes > EVENT_LOG_BYTES_MAX {
            return Err(Error::InvalidOption {
                option: "event_log_bytes",
                reason: format!("must be at most {EVENT_LOG_BYTES_MAX}"),
            });
        }
        if self.l0_tables_max < self.l0_compaction_trigger {
            let reason = format!(
                "must be at least l0_compaction_trigger ({})",
                self.l0_compaction_trigger
            );
            return Err(Error::InvalidOption {
                option: "l0_tables_max",
                reason,
            });
        }
        Ok(())
    }
}

/// Settings of a keyspace, fixed when it is created. Opening it with others is an error that names both.
///
/// By default a keyspace holds byte strings with values of any length, and the newer value of a key replaces the older. The default
/// keyspace of a database is such a one.
///
/// ```
/// # fn main() -> Result<(), tephra_engine::Error> {
/// # let folder = tempfile::tempdir().expect("a temporary directory");
/// # let path = folder.path();
/// use tephra_engine::{AddU64, Db, KeyspaceOptions, Options};
///
/// let db = Db::open(path, Options::default())?;
/// let counter = KeyspaceOptions::default().value_width_bytes(8).compose(AddU64::NAME, AddU64);
/// let hits = db.keyspace("hits", counter.clone())?;
/// hits.merge("/", 1u64.to_le_bytes())?;
/// hits.merge("/", 2u64.to_le_bytes())?;
/// assert_eq!(hits.get("/")?.as_deref(), Some(&3u64.to_le_bytes()[..]));
/// assert!(hits.put("/", "not eight bytes long").is_err());
/// assert!(db.keyspace("hits", KeyspaceOptions::default()).is_err(), "made with other settings");
/// assert!(db.keyspace("hits", counter).is_ok());
/// # Ok(()) }
/// ```
#[derive(Clone, Debug, Default)]
pub struct KeyspaceOptions {
    settings: KeyspaceSettings,
    law: Option<NamedLaw>,
    /// The unit in which the width of values was given.
    width_unit: Option<UnitKind>,
}

impl KeyspaceOptions {
    /// Gives every value one width in bytes: tables then store no length a record, and a value of another width is refused. At most
    /// [`limits::VALUE_LEN_BYTES_MAX`](crate::limits::VALUE_LEN_BYTES_MAX). Default: values of any width.
    #[must_use]
    pub fn value_width_bytes(mut self, width_bytes: usize) -> Self {
        self.settings.value_width_units = Some(width_bytes as u64);
        self.width_unit = Some(UnitKind::Byte);
        self
    }

    /// As [`KeyspaceOptions::value_width_bytes`], for a keyspace of bit strings.
    #[must_use]
    pub fn value_width_bits(mut self, width_bits: u64) -> Self {
        self.settings.value_width_units = Some(width_bits);
        self.width_unit = Some(UnitKind::Bit);
        self
    }

    /// Size at which a compaction of this keyspace starts its next output table. Default: that of the database,
    /// [`Options::target_table_bytes`].
    #[must_use]
    pub fn target_table_bytes(mut self, bytes: u64) -> Self {
        self.settings.target_table_bytes = Some(bytes);
        self
    }

    /// Composes the records of a key by a law over values alone, and so allows [`Keyspace::merge`](crate::Keyspace::merge). The name is
    /// stored: opening the keyspace with another is an error, and it is by this name that [`Options::law`] gives the law before the
    /// keyspace is asked for. Whoever gives the law of a name first, its law is used until the database is closed. Default: the newer value
    /// replaces the older.
    ///
    /// The law must be associative; see [`Compose`].
    #[must_use]
    pub fn compose(mut self, name: &str, law: impl Compose + 'static) -> Self {
        self.settings.law = Some(name.to_owned());
        self.law = Some(NamedLaw::values(name, law));
        self
    }

    /// As [`KeyspaceOptions::compose`], for a law that sees the key.
    #[must_use]
    pub fn compose_with_key(mut self, name: &str, law: impl ComposeWithKey + 'static) -> Self {
        self.settings.law = Some(name.to_owned());
        self.law = Some(NamedLaw::with_key(name, law));
        self
    }

    /// Composes by the law of a name without giving it: for tools that handle databases of other programs. Where the law is not known
    /// ([`Options::law`]), puts, deletes and reads of single records work, and what would have to compose is
    /// [`Error::LawUnknown`](crate::Error::LawUnknown).
    #[must_use]
    pub fn law_by_name(mut self, name: &str) -> Self {
        self.settings.law = Some(name.to_owned());
        self.law = None;
        self
    }

    /// The law, if it was given.
    pub(crate) fn law(&self) -> Option<&NamedLaw> {
        self.law.as_ref()
    }

    /// The settings of a keyspace of a unit, checked.
    pub(crate) fn settings(&self, unit: UnitKind) -> Result<KeyspaceSettings> {
        match (&self.law, &self.settings.law) {
            (Some(law), _) => law.check()?,
            (None, Some(name)) => NamedLaw::check_name(name)?,
            (None, None) => {}
        }
        if unit == UnitKind::Bit && self.settings.law.is_some() {
            return Err(Error::InvalidOption {
                option: "compose",
                reason: "laws compose values of bytes; in a keyspace of bit strings the newer value replaces the older".into(),
            });
        }
        let option = match self.width_unit {
            Some(UnitKind::Bit) => "value_width_bits",
            _ => "value_width_bytes",
        };
        let refuse = |reason: String| Err(Error::InvalidOption { option, reason });
        if self.width_unit.is_some_and(|width_unit| width_unit != unit) {
            return refuse("counts another unit than the keyspace's strings consist of".into());
        }
        let width_max = crate::limits::VALUE_LEN_BYTES_MAX as u64 / unit.bits() * 8;
        if self
            .settings
            .value_width_units
            .is_some_and(|width| width > width_max)
        {
            return refuse(format!("must be at most {width_max}"));
        }
        if self.settings.target_table_bytes == Some(0) {
            return Err(Error::InvalidOption {
                option: "target_table_bytes",
                reason: "must be at least 1".into(),
            });
        }
        Ok(KeyspaceSettings {
            unit,
            ..self.settings.clone()
        })
    }
}
