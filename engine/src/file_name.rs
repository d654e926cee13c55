//! The names of the files in a database's directory.
//!
//! ```text
//! CURRENT             the name of the manifest in force, one line
//! LOCK                held while the database is open
//! MANIFEST-000004     edits of the version
//! 000007.log          a segment of the write-ahead log
//! 000012.table        a table
//! CURRENT.tmp         a CURRENT being written
//! EVENTS              what the database did, for people and tools: event_log/mod.rs
//! EVENTS.old          the lines before those of EVENTS
//! ```
//!
//! Manifests, segments and tables draw their numbers from one counter and no number is used twice, so an age and an
//! identity can be read off a name. A name that is not exactly of these forms belongs to somebody else and is left
//! alone.

use std::path::{Path, PathBuf};

/// Names the manifest in force.
pub(crate) const CURRENT: &str = "CURRENT";
/// A `CURRENT` under construction.
pub(crate) const CURRENT_TMP: &str = "CURRENT.tmp";
/// The lock file.
pub(crate) const LOCK: &str = "LOCK";
/// The event log.
pub(crate) const EVENTS: &str = "EVENTS";
/// The event log's older lines.
pub(crate) const EVENTS_OLD: &str = "EVENTS.old";

/// What a file of the database is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum FileName {
    Current,
    CurrentTmp,
    Lock,
    Events,
    EventsOld,
    Manifest(u64),
    Segment(u64),
    Table(u64),
}

impl FileName {
    /// Reads a name; `None` for a file that is not the database's.
    pub(crate) fn parse(name: &str) -> Option<FileName> {
        match name {
            CURRENT => return Some(FileName::Current),
            CURRENT_TMP => return Some(FileName::CurrentTmp),
            LOCK => return Some(FileName::Lock),
            EVENTS => return Some(FileName::Events),
            EVENTS_OLD => return Some(FileName::EventsOld),
            _ => {}
        }
        let parsed = if let Some(number) = name.strip_prefix("MANIFEST-") {
            FileName::Manifest(number.parse().ok()?)
        } else if let Some(number) = name.strip_suffix(".log") {
            FileName::Segment(number.parse().ok()?)
        } else {
            FileName::Table(name.strip_suffix(".table")?.parse().ok()?)
        };
        // Only the canonical spelling is ours: "7.log" or "+00007.log" is somebody else's.
        (parsed.to_string() == name).then_some(parsed)
    }

    /// The number in the name, if it has one.
    pub(crate) fn number(self) -> Option<u64> {
        match self {
            FileName::Manifest(number) | FileName::Segment(number) | FileName::Table(number) => Some(number),
            FileName::Current
            | FileName::CurrentTmp
            | FileName::Lock
            | FileName::Events
            | FileName::EventsOld => None,
        }
    }

    /// The path of the file in a database's directory.
    pub(crate) fn in_dir(self, dir: &Path) -> PathBuf {
        dir.join(self.to_string())
    }
}

impl std::fmt::Display for FileName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            FileName::Current => f.write_str(CURRENT),
            FileName::CurrentTmp => f.write_str(CURRENT_TMP),
            FileName::Lock => f.write_str(LOCK),
            FileName::Events => f.write_str(EVENTS),
            FileName::EventsOld => f.write_str(EVENTS_OLD),
            FileName::Manifest(number) => write!(f, "MANIFEST-{number:06}"),
            FileName::Segment(number) => write!(f, "{number:06}.log"),
            FileName::Table(number) => write!(f, "{number:06}.table"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_parse_back_and_foreign_ones_do_not_parse() {
        let names = [
            FileName::Current,
            FileName::CurrentTmp,
            FileName::Lock,
            FileName::Events,
            FileName::EventsOld,
            FileName::Manifest(1),
            FileName::Segment(12),
            FileName::Table(1_234_567),
            FileName::Table(u64::MAX),
        ];
        for name in names {
            assert_eq!(FileName::parse(&name.to_string()), Some(name));
        }
        let foreign = [
            "",
            ".DS_Store",
            "._000001.table",
            "Thumbs.db",
            "000009.sst~",
            "7.log",
            "0000007.log",
            "+00007.log",
            "-00001.table",
            "000007.LOG",
            "MANIFEST-",
            "MANIFEST-1",
            "CURRENT~",
            "EVENTS.1",
            "events",
            "00007a.table",
            " 000007.table",
            "99999999999999999999.table",
        ];
        for name in foreign {
            assert_eq!(FileName::parse(name), None, "{name:?}");
        }
    }
}
