//! Opening a database: lock, manifest, tables, log.
//!
//! ```text
//!  1  the directory, made durable if new; LOCK   a second opener is refused here
//!  2  CURRENT -> manifest -> state               none: a new database, unless files of one lie around
//!  3  every table of the state, opened           missing, or not the one the manifest means: an error
//!  4  log segments behind the flushed one        replayed into frozen memtables, small ones into one
//!  5  a new log segment, made but not in use     so that the new manifest can say that it must be there
//!  6  a new manifest with a snapshot, CURRENT    the old manifest's torn tail, if any, is left behind
//!     the new segment is put in use, behind the replayed ones
//!  7  files of ours that nothing names, removed; the first line in the event log; leftovers of many short programs flushed
//! ```
//!
//! A crash at any point leaves what a crash before leaves: nothing is removed before step 6 is durable, and replayed segments
//! stay until their memtables are flushed. Reading only does steps 1 to 4, with a shared lock.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use parking_lot::{Mutex, RwLock};
use tephra_wal::{HEADER_LEN_BYTES, LogWriter};

use super::engine::{Engine, Log, Writer, compaction_threads};
use super::recovery::{self, LEFT_SEGMENTS_MAX, Recovered};
use super::short_lock::ShortLock;
use super::write::prepare_segment;
use crate::background::{Job, Work};
use crate::clock::SystemClock;
use crate::compact::{CompactionCounters, HeldUpKeyspaces, RangeKills, Schedule};
use crate::directory::{Directory, Listing};
use crate::error::{Error, Result};
use crate::event::{Event, Events};
use crate::event_log::EventLog;
use crate::file_name::FileName;
use crate::instant::{Instant, Layers};
use crate::keyspace::{DEFAULT_KEYSPACE, Keyspaces};
use crate::memtable::Memtable;
use crate::options::{Background, Options};
use crate::sorted_map::SortedMap;
use crate::stats::Counters;
use crate::table_file::TableFile;
use crate::version::{Change, Edit, Manifest, ManifestState, VersionSet, cores_of, manifest};
use crate::vfs::{FileKind, FileSystem, LockGuard};

/// Bytes of log that an open flushes itself.
const LEFTOVERS_BYTES_MAX: u64 = 256 << 10;

impl Engine {
    /// Opens the database in a directory.
    pub(crate) fn open(
        file_system: Arc<dyn FileSystem>,
        path: &Path,
        options: Options,
    ) -> Result<Arc<Engine>> {
        options.validate()?;
        let clock = options
            .clock
            .clone()
            .unwrap_or_else(|| Arc::new(SystemClock::new()));
        let mut directory = Directory::new(file_system, clock, path);
        directory.events = Events::new(options.listeners.clone(), event_log(&directory, &options));
        let began_ns = directory.clock.now_ns();
        #[cfg(feature = "planted-faults")]
        {
            directory.planted_fault = options.planted_fault;
        }
        let lock = enter(&directory, &options)?;
        let state = read_state(&directory, &options)?;
        let tables = open_tables(&directory, &state)?;
        let mut listing = directory.list()?;
        let current = manifest::read_current(&directory)?;
        directory.disown(&mut listing, &state, current);
        let numbers = listing
            .foreign
            .iter()
            .filter_map(|name| FileName::parse(name)?.number());
        directory.taken = Arc::new(numbers.collect());
        let cores = cores_of(&state, &options.laws);
        let recovered = recovery::replay(&directory, &state, &listing, &cores, options.memtable_bytes)?;
        let found = Found {
            state,
            tables,
            cores,
            recovered,
        };
        if options.read_only {
            return open_for_reading(directory, options, lock, found);
        }
        let engine = open_for_writing(directory, options, lock, found, &listing)?;
        engine.tell_of_open(began_ns);
        engine.flush_leftovers();
        Ok(engine)
    }

    /// Flushes what many short programs have left, here and now where it is little. A failure is one of the background's, which
    /// tries again. Where the caller steps through the background's work, this is a part of it.
    fn flush_leftovers(&self) {
        let layers = self.layers();
        let [frozen] = &layers.frozen[..] else { return };
        if self.options.background == Background::Manual || frozen.segments().count() < LEFT_SEGMENTS_MAX {
            return;
        }
        if frozen.log_bytes > LEFTOVERS_BYTES_MAX || self.step(Job::Flush).is_err() {
            self.work.request_flush();
        }
    }

    /// The first event of the log.
    fn tell_of_open(&self, began_ns: u64) {
        self.events().log().begin();
        let layers = self.layers();
        self.events().emit(|| Event::Opened {
            table_count: layers.version.tables().count(),
            table_bytes: layers.version.tables().map(|table| table.file.len_bytes()).sum(),
            dropped_log_bytes: self.counters.dropped_log_bytes(),
            took: Duration::from_nanos(self.clock().now_ns().saturating_sub(began_ns)),
        });
        self.events().log().write();
    }
}

fn event_log(directory: &Directory, options: &Options) -> EventLog {
    let (file_system, clock) = (&directory.file_system, &directory.clock);
    EventLog::new(
        Arc::clone(file_system),
        Arc::clone(clock),
        &directory.path,
        options.event_log_bytes,
    )
}

/// Checks and makes the directory, and takes the lock.
fn enter(directory: &Directory, options: &Options) -> Result<Option<Box<dyn LockGuard>>> {
    let not_a_database = |reason| {
        Err(Error::NotADatabase {
            path: directory.path.clone(),
            reason,
        })
    };
    if directory.path.as_os_str().is_empty() {
        // It would be the current directory for some calls and nothing for others.
        return not_a_database("the path is empty");
    }
    let may_create = options.create_if_missing && !options.read_only;
    match directory.file_system.kind(&directory.path)? {
        Some(FileKind::Directory) => {
            let has_current = directory
                .file_system
                .exists(&directory.path_of(FileName::Current))?;
            if !has_current && !may_create {
                refuse_data_without_current(directory)?;
                return not_a_database("the directory holds no CURRENT file");
            }
            if !has_current {
                sync_ancestors(directory)?;
            }
        }
        Some(_) => return not_a_database("a file of that name is in the way"),
        None if may_create => make_directory(directory)?,
        None => return not_a_database("there is no such directory"),
    }
    let lock_path = directory.path_of(FileName::Lock);
    if options.read_only {
        Ok(directory.file_system.lock_shared(&lock_path)?)
    } else {
        Ok(Some(directory.file_system.lock_exclusive(&lock_path)?))
    }
}

/// Makes the directory and those above it that are missing, with names that survive a power cut.
pub(crate) fn make_directory(directory: &Directory) -> Result<()> {
    let mut missing = Vec::new();
    for path in directory
        .path
        .ancestors()
        .filter(|path| !path.as_os_str().is_empty())
    {
        if directory.file_system.exists(path)? {
            break;
        }
        missing.push(path);
    }
    directory.file_system.create_dir_all(&directory.path)?;
    missing
        .into_iter()
        .rev()
        .try_for_each(|path| sync_parent(directory, path))
}

/// Makes the name of a directory durable.
fn sync_parent(directory: &Directory, path: &Path) -> Result<()> {
    match path.parent() {
        None => Ok(()),
        Some(parent) if parent.as_os_str().is_empty() => {
            Ok(directory.file_system.sync_dir(Path::new("."))?)
        }
        Some(parent) => Ok(directory.file_system.sync_dir(parent)?),
    }
}

/// Makes the names of the directory and of those above it durable: an open that was cut short may have made them. Where we may not even
/// look, it was somebody else.
pub(crate) fn sync_ancestors(directory: &Directory) -> Result<()> {
    let ancestors = directory.path.ancestors();
    for path in ancestors.filter(|path| !path.as_os_str().is_empty()) {
        match sync_parent(directory, path) {
            Err(Error::Io { source, .. }) if source.kind() == std::io::ErrorKind::PermissionDenied => {}
            outcome => outcome?,
        }
    }
    Ok(())
}

/// Refuses a directory without `CURRENT` that holds data of a database: it has lost that file, and is no place for a new one.
fn refuse_data_without_current(directory: &Directory) -> Result<()> {
    let leftover = match directory.list() {
        // Its name was there and it is not, as a power cut may leave it.
        Err(Error::Io { source }) if source.is_not_found() => return Ok(()),
        listing => listing?.own,
    };
    // A first open that was cut short leaves a lock, perhaps a manifest and a segment that was never in use; never a table.
    let mut data = None;
    for name in leftover {
        let is_data = match name {
            FileName::Table(_) => true,
            FileName::Segment(_) => {
                let bytes = directory.file_system.read(&directory.path_of(name))?;
                bytes.iter().skip(HEADER_LEN_BYTES).any(|&byte| byte != 0)
            }
            _ => false,
        };
        data = data.or(is_data.then_some(name));
    }
    if let Some(data) = data {
        return Err(Error::Inconsistent {
            path: directory.path_of(FileName::Current),
            expected: format!("the name of a manifest, since {data} lies beside"),
            found: "no such file: it is lost, or this is a copy that was not finished".into(),
        });
    }
    Ok(())
}

/// The state in the manifest; that of a new database where there is none.
fn read_state(directory: &Directory, options: &Options) -> Result<ManifestState> {
    if let Some(number) = manifest::read_current(directory)? {
        if options.error_if_exists {
            return Err(Error::AlreadyExists {
                path: directory.path.clone(),
            });
        }
        let state = manifest::read(directory, number)?;
        if !state.keyspaces.contains_key(&DEFAULT_KEYSPACE) {
            return Err(Error::Inconsistent {
                path: directory.path_of(FileName::Manifest(number)),
                expected: "the default keyspace".into(),
                found: "a manifest without it".into(),
            });
        }
        return Ok(state);
    }
    refuse_data_without_current(directory)?;
    let mut state = ManifestState::default();
    let create = Change::CreateKeyspace {
        number: DEFAULT_KEYSPACE,
        name: String::new(),
        settings: crate::settings::KeyspaceSettings::default(),
    };
    state
        .apply(&Edit {
            changes: vec![create],
        })
        .expect("the first keyspace contradicts nothing");
    Ok(state)
}

fn open_tables(directory: &Directory, state: &ManifestState) -> Result<SortedMap<u64, Arc<TableFile>>> {
    let open = |table: &crate::version::TableState| {
        let unit = state.keyspaces[&table.record.keyspace].settings.unit;
        TableFile::open(directory, table.record.clone(), unit)
    };
    state
        .tables
        .iter()
        .map(|(&number, table)| Ok((number, open(table)?)))
        .collect()
}

/// What the directory held.
struct Found {
    state: ManifestState,
    tables: SortedMap<u64, Arc<TableFile>>,
    cores: Keyspaces,
    recovered: Recovered,
}

/// The parts that both ways of opening have in common.
struct Parts {
    directory: Directory,
    options: Options,
    lock: Option<Box<dyn LockGuard>>,
    versions: VersionSet,
    recovered: Recovered,
    next_file: u64,
    log: Option<(Log, u64)>,
}

impl Parts {
    fn assemble(self) -> Arc<Engine> {
        let version = Arc::clone(self.versions.current());
        let with_tables = self.versions.cores().values().filter(|core| {
            let view = version.keyspace(core.number);
            view.is_some_and(|view| view.tables().next().is_some())
        });
        let schedule = Schedule::new(compaction_threads(&self.options), with_tables.cloned());
        let layers = Arc::new(Layers {
            frozen: self.recovered.frozen,
            version,
        });
        let counters = Counters::default();
        counters.dropped_at_recovery(self.recovered.dropped_bytes);
        let (log, segment) = self.log.map_or((None, 0), |(log, segment)| (Some(log), segment));
        Arc::new(Engine {
            directory: self.directory,
            options: self.options,
            state: ShortLock::new(Instant {
                active: Memtable::default(),
                layers,
            }),
            writer: Mutex::new(Writer {
                segment,
                log_bytes: 0,
            }),
            log,
            active_segment: AtomicU64::new(segment),
            snapshots: Arc::default(),
            ingest_count: AtomicU64::new(0),
            hold_count: AtomicU64::new(0),
            spare: Mutex::new(None),
            versions: Mutex::new(self.versions),
            flushing: Mutex::new(()),
            compacting: RwLock::new(()),
            schedule: Mutex::new(schedule),
            compactions: CompactionCounters::default(),
            range_kills: RangeKills::default(),
            held_up: HeldUpKeyspaces::default(),
            resolving: Mutex::new(()),
            resolution_requested: AtomicBool::new(false),
            next_file: AtomicU64::new(self.next_file),
            work: Work::default(),
            counters,
            stopped: OnceLock::new(),
            closed: AtomicBool::new(false),
            directory_lock: Mutex::new(self.lock),
        })
    }
}

fn open_for_reading(
    directory: Directory,
    options: Options,
    lock: Option<Box<dyn LockGuard>>,
    found: Found,
) -> Result<Arc<Engine>> {
    let Found {
        state,
        tables,
        cores,
        recovered,
    } = found;
    let versions = VersionSet::new(directory.clone(), None, state, &tables, cores, &options);
    Ok(Parts {
        directory,
        options,
        lock,
        versions,
        recovered,
        next_file: 0,
        log: None,
    }
    .assemble())
}

fn open_for_writing(
    directory: Directory,
    options: Options,
    lock: Option<Box<dyn LockGuard>>,
    found: Found,
    listing: &Listing,
) -> Result<Arc<Engine>> {
    let Found {
        mut state,
        tables,
        cores,
        recovered,
    } = found;
    let largest = listing
        .own
        .iter()
        .filter_map(|name| name.number())
        .max()
        .unwrap_or(0);
    // Number 0 is never used: in the log it stands for "no segment".
    let first = state.next_file.max(largest.saturating_add(1)).max(1);
    let mut numbers = (first..u64::MAX).filter(|number| !directory.taken.contains(number));
    let (Some(manifest_number), Some(segment_number)) = (numbers.next(), numbers.next()) else {
        return Err(Error::Inconsistent {
            path: directory.path_of(FileName::Current),
            expected: "numbers left for files".into(),
            found: format!("the next one is {first}"),
        });
    };
    let next_file = segment_number + 1;
    state.next_file = next_file;
    // What was read may be the only copy in the system's memory; from here on it is relied upon.
    for &segment in &recovered.segments {
        directory
            .file_system
            .sync_file(&directory.path_of(FileName::Segment(segment)))?;
    }
    if recovered.frozen.is_empty() {
        state.flushed_segment = state.flushed_segment.max(segment_number - 1);
    }
    let segment = prepare_segment(&directory, options.memtable_bytes, segment_number, 0, true)?;
    state.log_segment = segment_number;
    let manifest = Manifest::create(&directory, manifest_number, &state)?;
    let log =
        LogWriter::begin(segment, recovered.end).map_err(|failure| Error::from_log(&directory, failure))?;
    remove_orphans(&directory, listing, &state, &recovered);
    let versions = VersionSet::new(directory.clone(), Some(manifest), state, &tables, cores, &options);
    let log = Some((log, segment_number));
    let wants_flush = recovered.wants_flush(&options);
    let engine = Parts {
        directory,
        options,
        lock,
        versions,
        recovered,
        next_file,
        log,
    }
    .assemble();
    if wants_flush {
        engine.work.request_flush();
    }
    engine.work.request_compaction();
    Ok(engine)
}

/// Removes what an earlier run left behind: every file of ours, of before this open, that nothing names. One that cannot be removed
/// is left for the next open.
fn remove_orphans(directory: &Directory, listing: &Listing, state: &ManifestState, recovered: &Recovered) {
    let needed: BTreeSet<u64> = recovered.segments.iter().copied().collect();
    let mut segments = Vec::new();
    for &name in &listing.own {
        let is_orphan = match name {
            FileName::Current | FileName::Lock | FileName::Events | FileName::EventsOld => false,
            FileName::CurrentTmp | FileName::Manifest(_) => true,
            FileName::Segment(number) if !needed.contains(&number) => {
                segments.push(name);
                false
            }
            FileName::Segment(_) => false,
            FileName::Table(number) => !state.tables.contains_key(&number),
        };
        if is_orphan {
            drop(directory.remove(name));
        }
    }
    remove_segments(directory, &segments);
}

/// Removes segments, given from the oldest to the newest. A power cut may undo each removal on its own, and a segment that comes
/// back names the one before it: so that one goes only when this one is gone for good.
fn remove_segments(directory: &Directory, segments: &[FileName]) {
    for (left, &segment) in segments.iter().enumerate().rev() {
        let is_gone = directory.remove(segment).is_ok() && (left == 0 || directory.sync().is_ok());
        if !is_gone {
            return;
        }
    }
}
