//! A database's directory: where it is, what operates on it, and whose clock it lives by.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parking_lot::Mutex;
use tephra_sstable::TABLE_MAGIC;
use tephra_wal::{BootId, FileHeader, LOG_MAGIC};

use crate::clock::Clock;
use crate::error::{Error, Result};
use crate::event::{Event, Events};
use crate::file_name::FileName;
use crate::read_counters::ReadCounters;
use crate::version::ManifestState;
use crate::version::manifest::MANIFEST_MAGIC;
use crate::vfs::{FileKind, FileSystem};

/// The directory of one open database. Clones share it.
#[derive(Clone, Debug)]
pub(crate) struct Directory {
    pub(crate) file_system: Arc<dyn FileSystem>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) path: PathBuf,
    /// What look-ups in its tables came to.
    pub(crate) reads: Arc<ReadCounters>,
    /// Numbers that files of somebody else have: ours take others.
    pub(crate) taken: Arc<BTreeSet<u64>>,
    /// What is told to listeners.
    pub(crate) events: Arc<Events>,
    /// What is wrong with the database on purpose.
    #[cfg(feature = "planted-faults")]
    pub(crate) planted_fault: Option<crate::planted::PlantedFault>,
    /// Tables that left the version and wait for their last reader to be unlinked, with the length of their files.
    pinned: Arc<Mutex<BTreeMap<u64, u64>>>,
    /// Tables that somebody is writing beside flushes and compactions.
    building: Arc<Mutex<BTreeSet<u64>>>,
}

/// How far the numbers of files can run ahead of what the manifest says. Every edit says how far they have come; between two edits a flush
/// makes a table for each keyspace, and an ingest as many as it needs.
const NUMBERS_AHEAD_MAX: u64 = 1 << 16;

/// What lies in the directory.
#[derive(Clone, Debug, Default)]
pub(crate) struct Listing {
    /// Files with names of ours, sorted.
    pub(crate) own: Vec<FileName>,
    /// Everything else, directories included.
    pub(crate) foreign: Vec<String>,
}

impl Directory {
    pub(crate) fn new(file_system: Arc<dyn FileSystem>, clock: Arc<dyn Clock>, path: &Path) -> Self {
        Directory {
            file_system,
            clock,
            path: path.to_path_buf(),
            reads: Arc::default(),
            taken: Arc::default(),
            events: Arc::default(),
            #[cfg(feature = "planted-faults")]
            planted_fault: None,
            pinned: Arc::default(),
            building: Arc::default(),
        }
    }

    /// Tables that left the version and wait for their last reader to be unlinked, with the length of their files in bytes.
    pub(crate) fn pinned_files(&self) -> BTreeMap<u64, u64> {
        self.pinned.lock().clone()
    }

    /// Somebody begins to write a table, beside flushes and compactions.
    pub(crate) fn begin_table(&self, number: u64) {
        self.building.lock().insert(number);
    }

    /// That table is the version's now, or gone.
    pub(crate) fn end_table(&self, number: u64) {
        self.building.lock().remove(&number);
    }

    /// Tables being written beside flushes and compactions.
    pub(crate) fn building_tables(&self) -> BTreeSet<u64> {
        self.building.lock().clone()
    }

    /// A table leaves the version; see [`Directory::unlink_table`].
    pub(crate) fn pin_table(&self, number: u64, len_bytes: u64) {
        self.pinned.lock().insert(number, len_bytes);
    }

    /// The last reader of a table that left the version has let go of it.
    pub(crate) fn unlink_table(&self, number: u64) {
        // A file that cannot be removed now is an orphan, which the next open removes.
        drop(self.remove(FileName::Table(number)));
        self.pinned.lock().remove(&number);
        self.events.emit(|| Event::TableRemoved { number });
    }

    /// Path of one of our files.
    pub(crate) fn path_of(&self, name: FileName) -> PathBuf {
        name.in_dir(&self.path)
    }

    /// The files in the directory.
    pub(crate) fn list(&self) -> Result<Listing> {
        let mut listing = Listing::default();
        for entry in self.file_system.list(&self.path)? {
            let own = entry
                .name
                .to_str()
                .and_then(FileName::parse)
                .filter(|_| entry.kind == FileKind::File);
            match own {
                Some(name) => listing.own.push(name),
                None => listing.foreign.push(entry.name.to_string_lossy().into_owned()),
            }
        }
        listing.own.sort_unstable();
        Ok(listing)
    }

    /// Moves files that only have names like ours to the foreign ones, by their first bytes: those that no crash leaves in a file of ours. An
    /// empty file, or one that begins with zeros, may be one that a crash emptied; it is ours unless its number is far beyond all that were
    /// given out. What the manifest names is ours whatever it holds: if it is damaged, that is to be told.
    pub(crate) fn disown(&self, listing: &mut Listing, state: &ManifestState, manifest: Option<u64>) {
        let own = std::mem::take(&mut listing.own);
        for name in own {
            let is_foreign = match name {
                FileName::Table(number) => {
                    !state.tables.contains_key(&number) && self.is_foreign(name, number, state, TABLE_MAGIC)
                }
                FileName::Manifest(number) => {
                    manifest != Some(number) && self.is_foreign(name, number, state, MANIFEST_MAGIC)
                }
                FileName::Segment(number) => {
                    let may_count = (state.flushed_segment + 1..far(state)).contains(&number);
                    !may_count && self.is_foreign(name, number, state, LOG_MAGIC)
                }
                _ => false,
            };
            if is_foreign {
                listing.foreign.push(name.to_string());
            } else {
                listing.own.push(name);
            }
        }
    }

    fn is_foreign(&self, name: FileName, number: u64, state: &ManifestState, magic: [u8; 8]) -> bool {
        if number > u64::MAX >> 1 {
            // Nothing could be numbered behind it.
            return true;
        }
        let path = self.path_of(name);
        if self.file_system.len_bytes(&path).is_ok_and(|len| len == 0) {
            return number >= far(state);
        }
        let Ok(bytes) = self.file_system.open_map(&path) else {
            // What cannot be read is not touched.
            return true;
        };
        let start = &bytes[..bytes.len().min(magic.len())];
        if start.iter().all(|&byte| byte == 0) {
            return number >= far(state);
        }
        // A power cut may leave zeros in place of any bytes.
        !start
            .iter()
            .zip(magic)
            .all(|(&byte, ours)| byte == 0 || byte == ours)
    }

    /// Makes created, renamed and removed names durable.
    pub(crate) fn sync(&self) -> Result<()> {
        Ok(self.file_system.sync_dir(&self.path)?)
    }

    /// Removes a file; one that is gone already is no error.
    pub(crate) fn remove(&self, name: FileName) -> Result<()> {
        match self.file_system.remove(&self.path_of(name)) {
            Err(error) if !error.is_not_found() => Err(Error::from(error)),
            _ => Ok(()),
        }
    }

    /// The header of a framed file. Its salt differs from that of every other file, of this database or another, as far as
    /// number, clock and boot differ.
    pub(crate) fn framed_header(&self, magic: [u8; 8], number: u64) -> FileHeader {
        let boot_id = BootId(self.file_system.boot_id());
        let (boot_low, boot_high) = boot_id.0.split_at(8);
        let ingredients = [
            number,
            self.clock.wall_ms(),
            self.clock.now_ns(),
            u64::from_le_bytes(boot_low.try_into().expect("half of sixteen bytes")),
            u64::from_le_bytes(boot_high.try_into().expect("half of sixteen bytes")),
        ];
        let salt = ingredients
            .into_iter()
            .fold(0, |salt, ingredient| mix(salt ^ ingredient));
        FileHeader {
            magic,
            number,
            salt,
            boot_id,
            reserved_bytes: 0,
        }
    }
}

/// The first number that is far beyond all that were given out.
fn far(state: &ManifestState) -> u64 {
    state.next_file.saturating_add(NUMBERS_AHEAD_MAX)
}

/// Spreads every input bit over all output bits; a bijection (two rounds of multiply and shift).
fn mix(mut x: u64) -> u64 {
    x ^= x >> 32;
    x = x.wrapping_mul(0xD6E8_FEB8_6659_FD93);
    x ^= x >> 32;
    x = x.wrapping_mul(0xD6E8_FEB8_6659_FD93);
    x ^ (x >> 32)
}
